//! Finds the repository, its build directory, and the real sequences.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::bases::{self, Bases};
use crate::error::{Error, Result, io_error};
use crate::fasta::{self, Record};

/// Maximal number of proteins in [`Source::proteins`]: about 2.5 million residues.
const SMALL: usize = 6_206;
/// Directory in which Debian's mmseqs2-examples puts 20,000 UniProt proteins and 500 queries.
const EXAMPLES: &str = "/usr/share/doc/mmseqs2/example-data";

/// The directories of the repository that the tester uses.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// Top directory of the repository.
    pub root: PathBuf,
    /// Cargo's build directory, to which the tester writes everything.
    pub target: PathBuf,
}

impl Workspace {
    /// Finds the repository, which is the current directory or one above it.
    ///
    /// # Errors
    /// If no parent directory contains this crate.
    pub fn find() -> Result<Self> {
        let here = env::current_dir().map_err(io_error("find", Path::new(".")))?;
        let root = here
            .ancestors()
            .find(|d| d.join("crates/difftest/Cargo.toml").is_file())
            .ok_or_else(|| {
                Error::Usage(format!("{} is not inside the FleetBLAST repository", here.display()))
            })?
            .to_path_buf();
        let target = env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), |d| here.join(d));
        Ok(Workspace { root, target })
    }

    /// Returns the path of FleetBLAST's release build.
    pub fn fleetblast(&self) -> PathBuf {
        self.target.join("release/fleetblast")
    }
}

/// Real sequences and their origin.
#[derive(Debug)]
pub struct Source {
    /// Name of the data, for messages of the tester.
    pub name: String,
    /// About a hundred queries of all kinds.
    pub queries: Vec<Record>,
    /// Up to a few thousand proteins for databases.
    pub proteins: Vec<Record>,
    /// FASTA file with the sequences of the largest database.
    pub big: PathBuf,
    /// Descriptions of the tests that these data cannot support as intended.
    pub missing: Vec<String>,
    /// Directory of the data.
    dir: PathBuf,
    bases: OnceLock<Bases>,
}

impl Source {
    /// Creates a source of the given sequences, without files.
    #[cfg(test)]
    pub fn from_records(name: &str, queries: Vec<Record>, proteins: Vec<Record>) -> Source {
        let (big, dir, missing) = (PathBuf::new(), PathBuf::new(), Vec::new());
        Source { name: name.into(), queries, proteins, big, missing, dir, bases: OnceLock::new() }
    }

    /// Returns the nucleic acids in the directory of the proteins, otherwise those of Debian's
    /// bowtie2-examples. Reads them on the first call.
    ///
    /// # Errors
    /// If there are none, or they cannot be read.
    pub fn bases(&self) -> Result<&Bases> {
        if self.bases.get().is_none() {
            let bases = bases::load(&self.dir)?;
            // Another thread may have stored the same data before.
            let _ = self.bases.set(bases);
        }
        self.bases.get().ok_or_else(|| Error::NoData(self.dir.display().to_string()))
    }
}

/// Loads real sequences from the directory `given`, otherwise `$FLEETBLAST_DATA`, otherwise
/// `../shared/data` beside the repository, otherwise Debian's mmseqs2-examples.
///
/// # Errors
/// If there is no data at any of these places, or it cannot be read.
pub fn load_source(workspace: &Workspace, given: Option<&Path>) -> Result<Source> {
    let own =
        given.map(Path::to_path_buf).or_else(|| env::var_os("FLEETBLAST_DATA").map(Into::into));
    if let Some(dir) = &own {
        return load_dir(dir)?.ok_or_else(|| Error::NoData(dir.display().to_string()));
    }
    let beside = workspace.root.join("../shared/data");
    if let Some(source) = load_dir(&beside)? {
        return Ok(source);
    }
    load_dir(Path::new(EXAMPLES))?
        .ok_or_else(|| Error::NoData(format!("{} and {EXAMPLES}", beside.display())))
}

/// Loads `queries_aa.fa`, `proteins_small.fa.gz` and `proteins.fa.gz`. Returns `None` if the
/// directory lacks the queries or both sets of proteins.
fn project_data(dir: &Path) -> Result<Option<Source>> {
    let queries = dir.join("queries_aa.fa");
    let (small, big) = (dir.join("proteins_small.fa.gz"), dir.join("proteins.fa.gz"));
    if !queries.is_file() || !(small.is_file() || big.is_file()) {
        return Ok(None);
    }
    let mut missing = Vec::new();
    if !small.is_file() {
        missing.push(format!("no {}: the first {SMALL} of the big set instead", small.display()));
    }
    if !big.is_file() {
        missing.push(format!(
            "no {}: `full` and `bench` use the small set, not 72 million residues",
            big.display()
        ));
    }
    Ok(Some(Source {
        name: dir.display().to_string(),
        queries: fasta::read(&queries, usize::MAX)?,
        proteins: fasta::read(if small.is_file() { &small } else { &big }, SMALL)?,
        big: if big.is_file() { big } else { small },
        missing,
        dir: dir.to_path_buf(),
        bases: OnceLock::new(),
    }))
}

/// Loads the sequences of a directory in either layout; `None` if it has neither.
fn load_dir(dir: &Path) -> Result<Option<Source>> {
    Ok(match project_data(dir)? {
        Some(source) => Some(source),
        None => debian_data(dir)?,
    })
}

/// Loads `DB.fasta.gz` and `QUERY.fasta.gz`, the files of mmseqs2-examples. Returns `None` if the
/// directory lacks them.
fn debian_data(dir: &Path) -> Result<Option<Source>> {
    let big = dir.join("DB.fasta.gz");
    if !big.is_file() {
        return Ok(None);
    }
    let queries = fasta::read(&dir.join("QUERY.fasta.gz"), usize::MAX)?;
    Ok(Some(Source {
        name: format!("{} (mmseqs2-examples)", dir.display()),
        queries: queries.into_iter().filter(|q| !q.seq.is_empty()).step_by(5).take(100).collect(),
        proteins: fasta::read(&big, SMALL)?.into_iter().filter(|p| !p.seq.is_empty()).collect(),
        big,
        missing: vec![
            "no proteins.fa.gz: `full` and `bench` use 20,000 proteins, not 176,606".to_string(),
            "no queries_aa.fa: the queries with real ambiguity letters are synthetic only"
                .to_string(),
        ],
        dir: dir.to_path_buf(),
        bases: OnceLock::new(),
    }))
}

/// Prints which data are used, and which tests cannot run as intended.
pub fn report_source(source: &Source) {
    println!(
        "data: {} ({} queries, {} proteins)",
        source.name,
        source.queries.len(),
        source.proteins.len()
    );
    for what in &source.missing {
        println!("NOT TESTED AS MEANT: {what}");
    }
}
