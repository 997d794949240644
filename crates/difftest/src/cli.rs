//! The command line of the tester.

use std::path::PathBuf;
use std::time::Duration;

use lexopt::{Arg, Parser, ValueExt};

use crate::error::{Error, Result};
use crate::fleet::ParallelMode;
use crate::kind::MetadataKind;
use crate::process::{Tool, Tools};
use crate::program::Program;
use crate::programs::{self, BLASTP};
use crate::through::MetadataRoute;
use crate::workspace::Workspace;
use crate::{bench, dbcmd, full, fuzz, kills, load, makedb, table, tools, usage};

/// Help text.
pub const USAGE: &str = "\
difftest: compares FleetBLAST with NCBI BLAST+ 2.12.0, byte for byte

  difftest table [PROGRAM] [--quick] [--sample SEED] [--part I/N] [--filter TEXT] [--jobs N]
                 [--ranks | --mpi] [--resume] [--through oids|hits|report|auto [--io | --link]]
                 [--formatter]
      Every case of crates/difftest/cases/PROGRAM/*.tsv (blastp, blastn, blastx, tblastn, tblastx, psiblast; all programs) with both: standard output, exit code
      and, where marked, standard error. --quick leaves out the slow cases. --sample takes an
      eighth of a sample in which any two options, queries, databases and formats meet that meet in
      some case; the other eighths have the other seeds with the same SEED/8. --part takes every
      N-th, from the I-th. --ranks and --mpi search on ranks in one process, or on processes that mpirun
      starts, in many shapes; --resume interrupts each as soon as something is kept in its
      checkpoint, and resumes it on other ranks; --through has each write metadata of that kind, of which
      'fleetblast expand' makes the report, or with --io ranks of the same job, or with --link
      'fleetblast receive' at the other end of a link; --formatter compares the reports that
      blast_formatter of both makes of archives of BLAST+.
  difftest dbcmd [--filter TEXT]
      blastdbcmd on databases of real proteins, genomes and transcripts: every case of
      crates/difftest/cases/dbcmd.tsv. Needs genomes.fa.gz and transcripts.fa beside the proteins;
      --oracle is BLAST+'s blastdbcmd here.
  difftest aliastool [--filter TEXT]
      blastdb_aliastool on databases of real proteins and transcripts: every case of
      crates/difftest/cases/aliastool.tsv, with the files that it makes, and what searches find with them.
      Needs transcripts.fa beside the proteins.
  difftest dbcheck [--filter TEXT]
      blastdbcheck on the same databases: every case of crates/difftest/cases/dbcheck.tsv.
  difftest masker [--filter TEXT]
      segmasker, dustmasker and convert2blastmask on the same sequences: every case of crates/difftest/cases/masker.tsv.
      For these three, --oracle is the directory with BLAST+'s programs.
  difftest usage [--filter TEXT]
      Usage, help and messages for wrong arguments of all programs.
  difftest fuzz [PROGRAM] [--seconds S] [--seed N] [--jobs N] [--effort N] [--only ITEM[:SEARCH]]
                [--ranks | --mpi]
      Random queries, databases and options until the time is over, which each program has. A difference is made
      small with at most --effort searches (300) and kept under target/fuzzdiff/. --only runs
      one item of a seed again. --ranks and --mpi: on ranks, in random shapes.
  difftest kills [PROGRAM] [--quick] [--count N] [--seed N] [--ranks | --mpi]
      Searches with a checkpoint on ranks in random shapes, killed N times (200) at random times,
      one rank or all, resumed in other shapes. Each must end with BLAST+'s bytes. --quick: in a
      third of the database.
  difftest full [PROGRAM] [--filter TEXT]
      All queries against all of the data, in all formats; blastn in four tasks, with transcripts
      and a genome as well. The first time, the oracle needs about ten minutes for 176,606 proteins
      and as long for 83 million bases; its results are kept.
  difftest bench [--full | --single | --fleet | --peers | --blastn [--filter TEXT]
                  | --psiblast [--filter TEXT] | --translated [--filter TEXT]]
      Interleaved timing of both programs with 1 and 2 threads; --full: all kinds of searches,
      with all vector instructions (about half an hour); --single: one query; --fleet: on ranks
      that mpirun starts, or in one process where it is not found (a quarter of an hour); --peers:
      beside DIAMOND and MMseqs2 (half an hour); --blastn: kinds of nucleotide searches and how they grow, --psiblast:
      searches in rounds, --translated: searches of translated sequences, or those of any of these
      whose names have TEXT in them; else 20 queries (below 5 minutes).
  difftest load [--copies N] [--rounds N]
      Loading and searching from a cold disk, at several settings of the read-ahead, against dd
      and BLAST+. The database is N mutated copies (16) of the largest one. Sets the read-ahead
      of the whole machine where it may: run it only when that is idle.

  difftest makedb [--quick]
      Databases of the real sequences with many options, file by file, and whether BLAST+ reads
      ours as its own. --quick: the small protein set only.

Options of all:
  --program PATH  FleetBLAST (default: target/release/fleetblast; called as PATH blastp ...)
  --release R     compare with this release of BLAST+, whose programs --oracle names (default: 2.12.0)
  --oracle PATH   BLAST+'s program, or the directory with its programs (default: the first in PATH; FleetBLAST under that name is passed over)
  $MPIRUN         what starts processes (default: mpirun)
  --data DIR      directory with queries_aa.fa, proteins_small.fa.gz, proteins.fa.gz, queries_nt.fa and genomes.fa.gz
                  (default: $FLEETBLAST_DATA, ../shared/data, Debian's mmseqs2-examples and bowtie2-examples)

Exit code: 0 no difference, 1 differences, 2 the test could not run. Without BLAST+ 2.12.0 it cannot, unless
FLEETBLAST_TESTS_WITHOUT_ORACLE=1: then it says what was not tested.
";

/// The subcommand to run, with its options.
#[derive(Debug)]
pub enum Command {
    /// Print [`USAGE`].
    Help,
    /// `table`: runs the cases of the tables with both programs.
    Table(table::TableOptions),
    /// `aliastool`, `dbcheck` and `masker`: compare blastdb_aliastool, blastdbcheck and the
    /// programs for masks.
    Tools(tools::ToolOptions),
    /// `usage`: compares help and usage errors of all programs.
    Usage(usage::UsageOptions),
    /// `dbcmd`: compares blastdbcmd.
    Dbcmd(dbcmd::DbcmdOptions),
    /// `fuzz`: compares random searches.
    Fuzz(fuzz::FuzzOptions),
    /// `full`: searches with all queries in all data.
    Full(full::FullOptions),
    /// `bench`: measures time and memory.
    Bench(bench::BenchOptions),
    /// `kills`: kills searches and resumes them.
    Kills(kills::KillOptions),
    /// `load`: measures the loading of databases.
    Load(load::LoadOptions),
    /// `makedb`: compares makeblastdb.
    Makedb(makedb::MakedbOptions),
}

/// The parsed command line.
#[derive(Debug)]
pub struct CommandLine {
    /// The subcommand.
    pub command: Command,
    /// Directory of real sequences, if the user named one.
    pub data: Option<PathBuf>,
}

/// The values of all options, before they are assigned to a subcommand.
struct Raw {
    subcommand: Option<String>,
    searching: Option<String>,
    quick: bool,
    size: Option<bench::Size>,
    sample: Option<u64>,
    part: Option<(usize, usize)>,
    filter: Option<String>,
    parallel_mode: ParallelMode,
    resume: bool,
    formatter: bool,
    through: Option<MetadataKind>,
    way: MetadataRoute,
    jobs: Option<usize>,
    seconds: u64,
    seed: u64,
    only: Option<(u64, Option<usize>)>,
    effort: usize,
    count: usize,
    copies: usize,
    rounds: usize,
    program: Option<PathBuf>,
    oracle: Option<PathBuf>,
    release: Option<String>,
    data: Option<PathBuf>,
}

/// Parses the command line.
///
/// # Errors
/// [`Error::Usage`] for unknown words, bad numbers and a missing subcommand.
pub fn parse(mut parser: Parser, workspace: &Workspace) -> Result<CommandLine> {
    let raw = read(&mut parser).map_err(|e| Error::Usage(e.to_string()))?;
    // The programs run in another directory, so relative paths become absolute here.
    let whole =
        |p: PathBuf| if p.components().count() > 1 { p.canonicalize().unwrap_or(p) } else { p };
    let program = whole(raw.program.unwrap_or_else(|| workspace.fleetblast()));
    let given = raw.oracle.map(whole);
    let release = raw.release.as_deref().unwrap_or(fleetblast_oracle::VERSION);
    if release != fleetblast_oracle::VERSION && given.is_none() {
        return Err(Error::Usage("--release goes with --oracle".into()));
    }
    let oracle = |name: &str| Tool::oracle(name, given.as_deref(), release);
    let compat: Vec<String> =
        raw.release.iter().map(|release| format!("FLEETBLAST_COMPAT={release}")).collect();
    let fleetblast =
        |name: &str| Tool::fleetblast_as(program.clone(), name).with_environment(&compat);
    let tools_of = |searching: &'static Program| -> Result<Tools> {
        Ok(Tools { tested: fleetblast(searching.name), oracle: oracle(searching.name)? })
    };
    let tools = || tools_of(&BLASTP);
    let programs = || -> Result<Vec<(&'static Program, Tools)>> {
        let named = programs::named(raw.searching.as_deref())?.into_iter();
        let crosses =
            |it: &&Program| raw.through.is_none_or(|kind| it.metadata_kinds.contains(&kind));
        let named: Vec<_> = named.filter(crosses).collect();
        if named.is_empty() {
            return Err(Error::Usage("this program writes no such metadata".into()));
        }
        named.into_iter().map(|searching| Ok((searching, tools_of(searching)?))).collect()
    };
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let jobs = raw.jobs.unwrap_or(cores).max(1);
    let command = match raw.subcommand.as_deref() {
        Some("help") => Command::Help,
        Some("table") => {
            let programs = programs()?;
            let (quick, filter, sample, part) = (raw.quick, raw.filter, raw.sample, raw.part);
            // Only searches on ranks have checkpoints or I/O ranks.
            let resume = raw.resume;
            let parallel_mode = if resume || raw.way == MetadataRoute::Job {
                ranks_at_least(raw.parallel_mode)
            } else {
                raw.parallel_mode
            };
            if raw.way != MetadataRoute::File && raw.through.is_none() {
                return Err(Error::Usage("--io and --link go with --through".into()));
            }
            Command::Table(table::TableOptions {
                quick,
                sample,
                part,
                filter,
                jobs,
                parallel_mode,
                resume,
                through: raw.through,
                formatters: match raw.formatter {
                    true => Some(Tools {
                        tested: Tool::fleetblast_as(program.clone(), "blast_formatter")
                            .with_environment(&compat),
                        oracle: oracle("blast_formatter")?,
                    }),
                    false => None,
                },
                route: raw.way,
                programs,
            })
        }
        Some(name @ ("aliastool" | "dbcheck" | "masker")) => Command::Tools(tools::ToolOptions {
            table: match name {
                "aliastool" => &tools::ALIASTOOL,
                "dbcheck" => &tools::DBCHECK,
                _ => &tools::MASKER,
            },
            filter: raw.filter,
            tested: program.clone(),
            oracle: given.clone(),
            release: release.to_owned(),
            environment: compat,
        }),
        Some("usage") => {
            let oracles = usage::PROGRAMS
                .iter()
                .map(|&name| Ok((name, oracle(name)?)))
                .collect::<Result<_>>()?;
            let (filter, environment) = (raw.filter, compat);
            Command::Usage(usage::UsageOptions { filter, program, environment, oracles })
        }
        Some("dbcmd") => Command::Dbcmd(dbcmd::DbcmdOptions {
            filter: raw.filter,
            tested: fleetblast("blastdbcmd"),
            oracle: oracle("blastdbcmd")?,
            release: release.to_owned(),
        }),
        Some("fuzz") => Command::Fuzz(fuzz::FuzzOptions {
            programs: programs()?,
            time: Duration::from_secs(raw.seconds),
            seed: raw.seed,
            only: raw.only,
            effort: raw.effort,
            jobs,
            parallel_mode: raw.parallel_mode,
        }),
        Some("kills") => {
            let (quick, count, seed) = (raw.quick, raw.count, raw.seed);
            let parallel_mode = ranks_at_least(raw.parallel_mode);
            Command::Kills(kills::KillOptions {
                quick,
                count,
                seed,
                parallel_mode,
                programs: programs()?,
            })
        }
        Some("full") => {
            Command::Full(full::FullOptions { programs: programs()?, filter: raw.filter })
        }
        Some("load") => {
            let (copies, rounds) = (raw.copies.max(1), raw.rounds.max(1));
            Command::Load(load::LoadOptions { copies, rounds, tools: tools()? })
        }
        Some("makedb") => {
            let (tested, oracle) = (fleetblast("makeblastdb"), oracle("makeblastdb")?);
            Command::Makedb(makedb::MakedbOptions { quick: raw.quick, tested, oracle })
        }
        Some("bench") => {
            let size = raw.size.unwrap_or(bench::Size::Quick);
            if raw.filter.is_some() && !size.has_rows() {
                let what = "bench takes --filter with --blastn, --psiblast and --translated only";
                return Err(Error::Usage(what.into()));
            }
            Command::Bench(bench::BenchOptions { size, filter: raw.filter, tools: tools()? })
        }
        Some(other) => return Err(Error::Usage(format!("unknown subcommand `{other}`"))),
        None => return Err(Error::Usage("no subcommand given".into())),
    };
    Ok(CommandLine { command, data: raw.data })
}

fn read(parser: &mut Parser) -> std::result::Result<Raw, lexopt::Error> {
    let mut raw = Raw {
        subcommand: None,
        searching: None,
        quick: false,
        size: None,
        sample: None,
        part: None,
        filter: None,
        parallel_mode: ParallelMode::None,
        resume: false,
        formatter: false,
        through: None,
        way: MetadataRoute::File,
        jobs: None,
        seconds: 60,
        seed: 1,
        only: None,
        effort: 300,
        count: 200,
        copies: 16,
        rounds: 3,
        program: None,
        oracle: None,
        release: None,
        data: None,
    };
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("help") | Arg::Short('h') => raw.subcommand = Some("help".into()),
            Arg::Long("quick") => raw.quick = true,
            Arg::Long("full") => raw.size = Some(bench::Size::Full),
            Arg::Long("single") => raw.size = Some(bench::Size::Single),
            Arg::Long("fleet") => raw.size = Some(bench::Size::Fleet),
            Arg::Long("peers") => raw.size = Some(bench::Size::Peers),
            Arg::Long("blastn") => raw.size = Some(bench::Size::Blastn),
            Arg::Long("psiblast") => raw.size = Some(bench::Size::Psiblast),
            Arg::Long("translated") => raw.size = Some(bench::Size::Translated),
            Arg::Long("sample") => raw.sample = Some(parser.value()?.parse()?),
            Arg::Long("part") => raw.part = Some(parser.value()?.parse_with(part)?),
            Arg::Long("filter") => raw.filter = Some(parser.value()?.string()?),
            Arg::Long("ranks") => raw.parallel_mode = ParallelMode::Ranks,
            Arg::Long("mpi") => raw.parallel_mode = ParallelMode::Processes,
            Arg::Long("resume") => raw.resume = true,
            Arg::Long("formatter") => raw.formatter = true,
            Arg::Long("through") => raw.through = Some(parser.value()?.parse_with(through)?),
            Arg::Long("io") => raw.way = MetadataRoute::Job,
            Arg::Long("link") => raw.way = MetadataRoute::Link,
            Arg::Long("jobs") => raw.jobs = Some(parser.value()?.parse()?),
            Arg::Long("seconds") => raw.seconds = parser.value()?.parse()?,
            Arg::Long("seed") => raw.seed = parser.value()?.parse()?,
            Arg::Long("only") => raw.only = Some(parser.value()?.parse_with(item)?),
            Arg::Long("effort") => raw.effort = parser.value()?.parse()?,
            Arg::Long("count") => raw.count = parser.value()?.parse()?,
            Arg::Long("copies") => raw.copies = parser.value()?.parse()?,
            Arg::Long("rounds") => raw.rounds = parser.value()?.parse()?,
            Arg::Long("program") => raw.program = Some(parser.value()?.into()),
            Arg::Long("release") => raw.release = Some(parser.value()?.string()?),
            Arg::Long("oracle") => raw.oracle = Some(parser.value()?.into()),
            Arg::Long("data") => raw.data = Some(parser.value()?.into()),
            Arg::Value(word) if raw.subcommand.is_none() => raw.subcommand = Some(word.string()?),
            Arg::Value(word)
                if raw.searching.is_none()
                    && matches!(
                        raw.subcommand.as_deref(),
                        Some("table" | "fuzz" | "full" | "kills")
                    ) =>
            {
                raw.searching = Some(word.string()?)
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(raw)
}

/// Selects ranks in one process, unless the user asked for processes.
fn ranks_at_least(parallel_mode: ParallelMode) -> ParallelMode {
    if parallel_mode == ParallelMode::None { ParallelMode::Ranks } else { parallel_mode }
}

/// Parses `I/N` with I from 1 to N.
fn part(text: &str) -> std::result::Result<(usize, usize), String> {
    let numbers = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    numbers.filter(|(i, n)| (1..=*n).contains(i)).ok_or("not I/N with I from 1 to N".to_owned())
}

fn through(text: &str) -> std::result::Result<MetadataKind, String> {
    let kind = MetadataKind::ALL.into_iter().find(|kind| kind.name() == text);
    kind.ok_or("not oids, hits, report or auto".to_owned())
}

/// Parses `ITEM` or `ITEM:SEARCH`.
fn item(text: &str) -> std::result::Result<(u64, Option<usize>), std::num::ParseIntError> {
    match text.split_once(':') {
        Some((item, search)) => Ok((item.parse()?, Some(search.parse()?))),
        None => Ok((text.parse()?, None)),
    }
}
