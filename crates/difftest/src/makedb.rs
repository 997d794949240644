//! `difftest makedb`: makes databases of real sequences with both programs. Compares the files, and
//! BLAST+'s output for both databases.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;

use fleetblast_oracle::Oracle;

use crate::cases::words;
use crate::error::{Error, Result, io_error, write};
use crate::fasta;
use crate::process::{Tool, must_run};
use crate::workspace::{self, Source, Workspace};

/// Number of runs of both programs before a difference counts. Files contain the minute of their
/// creation, so two runs may differ.
const ATTEMPTS: usize = 3;

/// Options of `difftest makedb`.
#[derive(Debug)]
pub struct MakedbOptions {
    /// Whether to use only the small set of proteins.
    pub quick: bool,
    /// FleetBLAST.
    pub tested: Tool,
    /// BLAST+.
    pub oracle: Tool,
}

/// Sets of further options, each used for every input.
const VARIANTS: &[&[&str]] = &[
    &[],
    &["-blastdb_version", "4"],
    &["-parse_seqids"],
    &["-parse_seqids", "-blastdb_version", "4"],
    &["-parse_seqids", "-hash_index", "-taxid_map", "map.txt"],
    &["-hash_index", "-taxid", "9606"],
    &["-parse_seqids", "-max_file_sz", "800KB"],
    // There is no variant with the hash index and without identifiers here. BLAST+ fails on it if a
    // volume has more sequences than the volume before.
    &["-max_file_sz", "800KB", "-blastdb_version", "4"],
];

/// Databases that are copied (`-input_type blastdb`): a name, and options of the oracle.
const SOURCES: &[(&str, &[&str])] = &[
    ("plain", &[]),
    ("plain4", &["-blastdb_version", "4"]),
    ("parsed", &["-parse_seqids", "-taxid", "9606"]),
    ("parsed4", &["-parse_seqids", "-blastdb_version", "4"]),
    ("volumes", &["-parse_seqids", "-max_file_sz", "800KB"]),
    ("masked", &["-parse_seqids", "-mask_data", "masks"]),
];

/// Sets of options of copies, each used for every source.
const COPIES: &[&[&str]] = &[
    &[],
    &["-blastdb_version", "4", "-hash_index"],
    &["-title", "a copy", "-parse_seqids", "-taxid_map", "map.txt"],
    &["-max_file_sz", "600KB", "-mask_data", "masks"],
];

/// Makes all databases. Returns true if all files are equal and BLAST+ prints the same for both.
///
/// # Errors
/// If inputs cannot be made or a program cannot be started.
pub fn run(workspace: &Workspace, source: &Source, options: &MakedbOptions) -> Result<bool> {
    workspace::report_source(source);
    let dir = workspace.target.join("difftest-makedb");
    fs::create_dir_all(&dir).map_err(io_error("create", &dir))?;
    write(&dir.join("small.fa"), fasta::to_bytes(&source.proteins))?;
    write(&dir.join("map.txt"), map(source).as_bytes())?;
    let mut inputs = vec![("small.fa", "prot")];
    if !options.quick {
        fasta::unpack(&source.big, &dir.join("big.fa"))?;
        inputs.push(("big.fa", "prot"));
        let genomes = source.big.with_file_name("genomes.fa.gz");
        if genomes.is_file() {
            fasta::unpack(&genomes, &dir.join("genomes.fa"))?;
            inputs.push(("genomes.fa", "nucl"));
        } else {
            println!(
                "no genomes.fa.gz beside {}: nucleotides were not compared",
                source.big.display()
            );
        }
    }
    let mut sound = true;
    for (input, kind) in inputs {
        for variant in VARIANTS {
            let arguments = [&["-in", input, "-dbtype", kind][..], variant].concat();
            sound &= print_comparison(&dir, options, input, &arguments)?;
        }
        sound &= copies(&dir, options, input, kind)?;
    }
    Ok(sound)
}

/// Copies databases of an input with both programs. Returns true if all files are equal.
fn copies(dir: &Path, options: &MakedbOptions, input: &str, kind: &str) -> Result<bool> {
    let masker = if kind == "prot" { "segmasker" } else { "dustmasker" };
    let line = format!("-in {input} -parse_seqids -outfmt maskinfo_asn1_bin -out masks");
    must_run(masker, &words(&line, "").map_err(Error::Usage)?, dir)?;
    let mut sound = true;
    for (name, made) in SOURCES {
        let source = format!("sources/{name}");
        let line = ["-in", input, "-dbtype", kind, "-out", &source];
        let line: Vec<String> = line.iter().chain(*made).map(|word| (*word).to_owned()).collect();
        must_run("makeblastdb", &line, dir)?;
        for copy in COPIES {
            let base = ["-in", &source, "-dbtype", kind, "-input_type", "blastdb"];
            sound &= print_comparison(dir, options, input, &[&base[..], copy].concat())?;
        }
    }
    Ok(sound)
}

/// Makes a database with both programs, and prints whether its files are equal. Returns true if
/// they are. `input` has the sequences of the database in FASTA.
fn print_comparison(
    dir: &Path,
    options: &MakedbOptions,
    input: &str,
    arguments: &[&str],
) -> Result<bool> {
    let differences = compare(dir, options, input, arguments)?;
    let verdict = if differences.is_empty() { "same" } else { "DIFFERENT" };
    println!("{verdict:<10}{}", arguments.join(" "));
    differences.iter().for_each(|difference| println!("          {difference}"));
    Ok(differences.is_empty())
}

/// Returns a map of taxids: a line `id taxid` for two of three proteins of the small set.
fn map(source: &Source) -> String {
    let records = source.proteins.iter().enumerate().filter(|(n, _)| n % 3 != 0);
    let line = |(n, record): (usize, &fasta::Record)| {
        let word = record.header.split_whitespace().next().unwrap_or_default();
        format!("{word} {}\n", n * 7919 % 3000 + 1)
    };
    records.map(line).collect()
}

/// Runs both programs with the same arguments. Returns descriptions of the differences.
fn compare(
    dir: &Path,
    options: &MakedbOptions,
    input: &str,
    arguments: &[&str],
) -> Result<Vec<String>> {
    let mut differences = Vec::new();
    for _ in 0..ATTEMPTS {
        let (oracle, ours) = (dir.join("oracle"), dir.join("ours"));
        for place in [&oracle, &ours] {
            if place.exists() {
                fs::remove_dir_all(place).map_err(io_error("remove", place))?;
            }
        }
        let wanted = output(dir, &options.oracle, &[arguments, &["-out", "oracle/x"]].concat())?;
        let found = output(dir, &options.tested, &[arguments, &["-out", "ours/x"]].concat())?;
        differences = differing_files(&oracle, &ours)?;
        if (wanted.status.code(), &wanted.stderr) != (found.status.code(), &found.stderr) {
            differences.push("exit code or standard error".to_owned());
        }
        if differences.is_empty() {
            return readable(dir, input, arguments);
        }
    }
    Ok(differences)
}

fn output(dir: &Path, tool: &Tool, arguments: &[&str]) -> Result<Output> {
    let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
    tool.command(&arguments, dir).output().map_err(io_error("run", &tool.program))
}

fn differing_files(oracle: &Path, ours: &Path) -> Result<Vec<String>> {
    let mut names = BTreeSet::new();
    for place in [oracle, ours] {
        for entry in fs::read_dir(place).map_err(io_error("read", place))? {
            names.insert(entry.map_err(io_error("read", place))?.file_name());
        }
    }
    let differs = |name: &std::ffi::OsString| {
        let read = |place: &Path| fs::read(place.join(name)).ok();
        read(oracle) != read(ours)
    };
    Ok(names.iter().filter(|name| differs(name)).map(|name| name.display().to_string()).collect())
}

/// Compares the output of BLAST+'s programs for the two databases: sequences, totals, and a search.
/// Returns descriptions of the differences.
fn readable(dir: &Path, input: &str, arguments: &[&str]) -> Result<Vec<String>> {
    let kind = arguments.get(3).copied().unwrap_or("prot");
    let search = if kind == "prot" { "blastp" } else { "blastn" };
    let query = dir.join("query.fa");
    let records = fasta::read(&dir.join(input), 3)?;
    write(&query, fasta::to_bytes(&records))?;
    let tasks: [(&str, &[&str]); 3] = [
        ("blastdbcmd", &["-dbtype", kind, "-entry", "all", "-outfmt", "%f"]),
        ("blastdbcmd", &["-dbtype", kind, "-info"]),
        (
            search,
            &["-query", "query.fa", "-outfmt", "6", "-evalue", "1e-20", "-max_target_seqs", "9"],
        ),
    ];
    let mut differences = Vec::new();
    for (program, task) in tasks {
        let reader = Tool::plain(Oracle::find()?.program(program));
        let answer = |db: &str| output(dir, &reader, &[&["-db", db], task].concat());
        let (wanted, found) = (answer("oracle/x")?, answer("ours/x")?);
        // The output of -info contains the path, and so do messages.
        let texts = |answer: &Output, place: &str| {
            let text =
                |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&format!("/{place}/x"), "/x");
            // An exception of BLAST+ has addresses that differ in every run.
            let stderr: &[u8] =
                if answer.status.code() == Some(255) { b"" } else { &answer.stderr };
            (text(&answer.stdout), text(stderr), answer.status.code())
        };
        // BLAST+ cannot use some copies: those with ordinals as identifiers, and those in which two
        // masking algorithms have the same description.
        let same = texts(&wanted, "oracle") == texts(&found, "ours");
        if !same {
            differences.push(format!("{program} {}", task.join(" ")));
        }
    }
    Ok(differences)
}
