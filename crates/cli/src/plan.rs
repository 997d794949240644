//! From what was typed to what to do: derived defaults, checks in the order of BLAST+, warnings.
//!
//! # Environment
//! `BATCH_SIZE` (residues of queries searched together) and `OLD_FSC` are honoured as in BLAST+; [`REFUSED_VARIABLES`]
//! change the results of BLAST+ in ways FleetBLAST does not follow, so a search is refused while one is set.
//! [`KERNEL`] and [`FLEETBLAST_THREADS`](crate::threads::FLEETBLAST_THREADS) are FleetBLAST's own. `BLAST_MT_QUERY_BATCH_SIZE`, which only cuts work for `-mt_mode 1`, is ignored, and so is `BLASTMAT`: the matrices of
//! `-matrix` are built in, in BLAST+ as here.

mod blastn;
mod blastp;
pub(crate) mod fleet;
mod format;
pub(crate) mod input;
mod metadata;
mod psiblast;
mod restrict;
mod search;
mod threads;
mod windowmasker;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use fleetblast_db::restrict::Restriction;
use fleetblast_engine::kernel::Kernel;
use fleetblast_fleet::config::Strategy;
use fleetblast_job::error::Error;
use fleetblast_job::output;
use fleetblast_job::plan::{BatchSize, Destination, Iteration, Plan, Source, Subjects};
use fleetblast_metadata::EncodingChoice;
use fleetblast_report::model::Format;

pub(crate) use self::fleet::refuse_other_checkpoint;
pub(crate) use self::metadata::{link, metadata};
use self::search::Searching;
use crate::cpus::Cpus;
use crate::options::load::wish;
use crate::options::number;
use crate::options::search::common::CommonOptions;
use crate::options::search::metadata::{self as told, MetadataOptions};
use crate::options::search::program::ProgramSpec;
use crate::options::search::{files, fleet as ranks, resources};

/// Variables that change what BLAST+ reports and that FleetBLAST does not know.
pub const REFUSED_VARIABLES: [&str; 5] =
    ["ADAPTIVE_CBS", "BL2SEQ_LEGACY", "CHUNK_SIZE", "CTOOLKIT_COMPATIBLE", "OVERLAP_CHUNK_SIZE"];

/// Entries of `[NCBI]` that limit a process of BLAST+, which then crashes or ends without a report.
const REFUSED_ENTRIES: [&str; 3] = ["MemorySizeLimit", "HeapSizeLimit", "CpuTimeLimit"];

/// Names the vector instructions to use: `avx512`, `avx2`, or `portable`.
pub const KERNEL: &str = "FLEETBLAST_KERNEL";

/// What a plan depends on besides the options.
pub struct Host<'a> {
    /// CPUs of the machine, and those that this process may use.
    pub cpus: Cpus,
    /// Whether this process is one of several that a launcher started together.
    pub is_rank: bool,
    /// The command line, a blank after each word.
    pub command: Vec<u8>,
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl Host<'static> {
    /// This process.
    pub fn current() -> Self {
        Self {
            cpus: Cpus::look(),
            is_rank: fleetblast_mpi::launched().is_some_and(|launch| launch.ranks > 1),
            command: command_line(),
            variable: &|name| std::env::var_os(name),
        }
    }
}

/// What was typed, as if the program had been run under its own name, for a report: without the `fleetblast` before it, and without
/// what has metadata made for the report. With that it is also without what it is that searches, and goes on: metadata are the same.
fn command_line() -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    let own = |word: &OsString| Path::new(word).file_name() == Some(OsStr::new("fleetblast"));
    let mut words = std::env::args_os().enumerate().filter(|(at, word)| *at > 0 || !own(word));
    let elsewhere = std::env::args_os().any(|word| named(&word, &told::INSTEAD).is_some());
    let mut line = Vec::new();
    let own = told::OPTIONS.iter().map(|option| option.name);
    let others = [ranks::RANKS.name(), ranks::CHECKPOINT.name()];
    let taken: Vec<&str> = own.chain(others.into_iter().filter(|_| elsewhere)).collect();
    while let Some((_, word)) = words.next() {
        match named(&word, &taken) {
            Some(true) => drop(words.next()),
            Some(false) => {}
            None if elsewhere && named(&word, &[ranks::RESUME.name()]).is_some() => {}
            None => line.extend([word.as_bytes(), b" "].concat()),
        }
    }
    line
}

/// Whether a word of the command line is one of these options; `true` if its value is the next one.
fn named(word: &OsStr, options: &[&str]) -> Option<bool> {
    use std::os::unix::ffi::OsStrExt;
    let name = word.as_bytes().strip_prefix(b"-").unwrap_or_default();
    let is = |option: &&str| match name.strip_prefix(option.as_bytes()) {
        Some(b"") => Some(true),
        Some([b'=', ..]) => Some(false),
        _ => None,
    };
    options.iter().find_map(is)
}

/// What was typed for a search program: what each has of its own besides what is common to all.
pub trait SearchProgram {
    /// What it sets.
    fn spec(&self) -> &'static ProgramSpec;

    /// What was typed for any search.
    fn common(&self) -> &CommonOptions;

    /// The file of queries, and its option.
    fn query(&self) -> (&'static str, &OsStr) {
        (files::QUERY.name(), &self.common().files.query)
    }

    /// What was typed of a report at another site, if the program can be told there.
    fn metadata(&self) -> Option<&MetadataOptions> {
        None
    }

    /// Files that it writes beside the report, by option.
    fn writes(&self) -> Vec<(&'static str, &OsStr)> {
        Vec::new()
    }

    /// The option of the search with which metadata of these kinds is not supported yet, if any; an
    /// empty name if no search of the program has them.
    fn unsupported_as_metadata(&self, _: EncodingChoice) -> Option<&'static str> {
        None
    }

    /// A value that FleetBLAST does not support, with its option.
    fn unsupported(&self) -> Option<String>;

    /// Judges the filter of queries, which BLAST+ does before most of what is common.
    ///
    /// # Errors
    /// It makes no sense.
    fn check_filter(&self) -> Result<(), Error>;

    /// How to search, keeping so many subjects.
    ///
    /// # Errors
    /// Values that make no sense or do not go together.
    fn searching(&self, hitlist_size: usize, host: &Host<'_>) -> Result<Searching, Error>;

    /// Its own options on which the report depends, with their values.
    fn decisive(&self) -> Vec<fleet::Told>;
}

/// What the options name, and the format that BLAST+ looks at before.
struct Named {
    choice: format::Choice,
    subjects: Subjects,
    restriction: Option<Restriction>,
    query: Result<Source, Error>,
    out: Destination,
}

impl Named {
    fn new(program: &dyn SearchProgram) -> Result<Self, Error> {
        let options = program.common();
        let choice = format::Choice::parse(&options.formatting.outfmt)?;
        let subjects = input::subjects(&options.database)?;
        let restriction = restrict::restriction(&options.database)?;
        let (option, query) = program.query();
        let is_query = option == files::QUERY.name();
        let query = input::source(option, query);
        // What else a search begins with is opened when it is read (`CPsiBlastArgs::ExtractAlgorithmOptions`).
        let query = if is_query { Ok(query?) } else { query };
        let elsewhere = program.metadata().is_some_and(|it| it.io_ranks.is_some());
        let out = match options.fleet.output {
            // The I/O ranks look at it.
            _ if elsewhere => Destination::Stdout,
            Strategy::Records => input::records(files::OUT.name(), &options.files.out)?,
            _ => input::destination(files::OUT.name(), &options.files.out)?,
        };
        // Better now than after the search.
        for (option, file) in
            [(&resources::TIMING, &options.resources.timing), (&ranks::TRACE, &options.fleet.trace)]
        {
            if let Some(file) = file {
                let file = input::destination(option.name(), file)?;
                input::refuse_same_file((files::OUT.name(), &out), (option.name(), &file))?;
            }
        }
        if options.fleet.trace.as_ref().is_some_and(|trace| trace == "-") {
            return Err(Error::query_options("-trace needs a file, not standard output"));
        }
        Ok(Named { choice, subjects, restriction, query, out })
    }
}

/// Plans a run of a program. Warnings, complete lines for standard error, are added even if there is no plan in the end.
///
/// # Errors
/// The first thing wrong, in the order in which BLAST+ checks (`CBlastAppArgs::SetOptions`, blast_args.cpp): output
/// format, subjects, query and output files, filter, ranges, use of the format, what is the program's own, and then the
/// values that go together. Before all this, options and variables FleetBLAST does not support are refused by name.
pub fn plan(
    program: &dyn SearchProgram,
    host: &Host<'_>,
    warnings: &mut Vec<String>,
) -> Result<Plan, Error> {
    refuse_unsupported(program, host)?;
    let named = Named::new(program)?;
    let out = named.out.clone();
    let plan = with_files(named, program, host, warnings);
    // From here on BLAST+ has the report open.
    plan.inspect_err(|_| output::leave_empty(&out))
}

fn with_files(
    Named { choice, subjects, restriction, query, out }: Named,
    program: &dyn SearchProgram,
    host: &Host<'_>,
    warnings: &mut Vec<String>,
) -> Result<Plan, Error> {
    let (spec, options) = (program.spec(), program.common());
    program.check_filter()?;
    let query_range = input::range(options.queries.query_loc.as_deref(), "query")?;
    let (report, hitlist_size) =
        format::report(choice, spec, &options.formatting, &host.command, warnings)?;
    let has_db = options.database.db.is_some();
    let (threads, split) = threads::share(&options.threads, has_db, spec, host, warnings)?;
    let query = query?;
    let search = program.searching(hitlist_size, host)?;
    let again = if search.reads_again { warnings.clone() } else { Vec::new() };
    let iteration = search.iteration.map(|it| Iteration { warnings: again, ..it });
    let query_from = query_range.as_ref().map_or(0, |range| range.start as u32);
    let wished = match iteration {
        // BLAST+ has psiblast search one query at a time, whatever is wished.
        Some(_) => Ok(search.batch_size),
        None => batch_size(search.batch_size, host),
    };
    let (batch_size, batch_size_error) = match wished {
        Ok(size) => (size, None),
        Err(error) => (search.batch_size, Some(error)),
    };
    if matches!(report.options(options.queries.parse_deflines).format, Format::Pairwise)
        && has_long_seqids()
    {
        let what = "[BLAST] LONG_SEQID=1 in NCBI's configuration with -outfmt 0";
        return Err(Error::unsupported(spec.name, what));
    }
    if subjects == Subjects::Database(String::new()) {
        return Err(Error::database("Database name is required."));
    }
    Ok(Plan {
        program: spec.name,
        banner: spec.release.banner(search.reports_as.unwrap_or(spec.name)),
        query_kind: spec.queries,
        subject_kind: spec.subjects,
        params: search.params.of_queries_from(query_from),
        refusal: search.refusal,
        matrix_name: search.matrix_name,
        subjects,
        restriction,
        database_mask: restrict::mask(&options.database),
        dbsize: options.database.dbsize.filter(|&size| size != 0),
        query,
        query_range,
        parse_deflines: options.queries.parse_deflines,
        batch_size,
        batch_size_error,
        thread_letters: match batch_size {
            BatchSize::Fixed(letters) => letters,
            BatchSize::Adaptive { .. } => search.thread_letters,
        },
        papers: search.papers,
        identity_resets_composition: search.identity_resets_composition,
        iteration,
        report,
        out,
        metadata: None,
        threads,
        split,
        partitions: options.resources.partitions,
        fleet: fleet::plan(program, host)?,
        load: wish(options.resources.loader, options.resources.memory.as_deref())?,
        kernel: kernel(host)?,
        timing: options.resources.timing.clone().map(PathBuf::from),
    })
}

/// Whether NCBI's configuration asks for identifiers in FASTA style.
pub(crate) fn has_long_seqids() -> bool {
    fleetblast_db::configured("BLAST", "LONG_SEQID").is_some_and(|value| value == *"1")
}

fn refuse_unsupported(program: &dyn SearchProgram, host: &Host<'_>) -> Result<(), Error> {
    let unsupported = |what: &str| Err(Error::unsupported(program.spec().name, what));
    if let Some(error) = &program.common().unsupported {
        return Err(error.clone());
    }
    if let Some(what) = program.unsupported() {
        return unsupported(&what);
    }
    for entry in REFUSED_ENTRIES {
        // Empty ones have no effect (`x_HonorStandardSettings`, ncbiapp.cpp).
        if fleetblast_db::configured("NCBI", entry).is_some_and(|value| !value.is_empty()) {
            return unsupported(&format!("the entry [NCBI] {entry} of NCBI's configuration"));
        }
    }
    match REFUSED_VARIABLES.iter().find(|name| (host.variable)(name).is_some()) {
        Some(name) => unsupported(&format!("the environment variable {name}")),
        None => Ok(()),
    }
}

/// The best vector instructions there are, unless [`KERNEL`] tells otherwise: to measure and to test the others.
fn kernel(host: &Host<'_>) -> Result<Kernel, Error> {
    let Some(name) = (host.variable)(KERNEL) else { return Ok(Kernel::detect()) };
    Kernel::named(&name.to_string_lossy()).ok_or_else(|| {
        let name = name.to_string_lossy();
        Error::query_options(format_args!(
            "environment variable {KERNEL}: this processor has no '{name}'; it may be avx512, avx2, or portable"
        ))
    })
}

/// Whether the environment switches finite-size statistics off.
fn has_old_finite_size(host: &Host<'_>) -> bool {
    (host.variable)("OLD_FSC").is_some()
}

/// The environment may set the size of batches, for tests.
fn batch_size(default: BatchSize, host: &Host<'_>) -> Result<BatchSize, Error> {
    use std::os::unix::ffi::OsStrExt;
    let Some(text) = (host.variable)("BATCH_SIZE") else { return Ok(default) };
    match (number::parse_int4(text.as_bytes())?, default) {
        // Where the size is not fixed, 0 stands for none.
        (0, BatchSize::Adaptive { .. }) => Ok(default),
        // BLAST+ takes a negative number for a very large one.
        (size, _) => Ok(BatchSize::Fixed(usize::try_from(size).unwrap_or(usize::MAX))),
    }
}
