//! Where things are: the repository, its build directory, and the real sequences.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::bases::{self, Bases};
use crate::error::{Error, Result, io_error};
use crate::fasta::{self, Record};

/// Most sequences taken from a big set when no small one is there: about 2.5 million residues.
const SMALL: usize = 6_206;
/// Where Debian's mmseqs2-examples puts 20,000 UniProt proteins and 500 queries.
const EXAMPLES: &str = "/usr/share/doc/mmseqs2/example-data";

/// Directories of the repository that the tester works in.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// Top of the repository.
    pub root: PathBuf,
    /// Cargo's build directory, where everything the tester writes goes.
    pub target: PathBuf,
}

impl Workspace {
    /// Finds the repository from the current directory upwards.
    ///
    /// # Errors
    /// If no parent directory holds this crate.
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

    /// The release build of FleetBLAST.
    pub fn fleetblast(&self) -> PathBuf {
        self.target.join("release/fleetblast")
    }
}

/// Real sequences and where they came from.
#[derive(Debug)]
pub struct Source {
    /// What a person calls this data.
    pub name: String,
    /// About a hundred queries of all sorts.
    pub queries: Vec<Record>,
    /// A few thousand proteins for databases.
    pub proteins: Vec<Record>,
    /// The FASTA file of the largest database there is.
    pub big: PathBuf,
    /// Parts of the tests that cannot run as meant, in words.
    pub missing: Vec<String>,
    /// Where the data are.
    dir: PathBuf,
    bases: OnceLock<Bases>,
}

impl Source {
    /// Sequences at hand, and no files.
    #[cfg(test)]
    pub fn of(name: &str, queries: Vec<Record>, proteins: Vec<Record>) -> Source {
        let (big, dir, missing) = (PathBuf::new(), PathBuf::new(), Vec::new());
        Source { name: name.into(), queries, proteins, big, missing, dir, bases: OnceLock::new() }
    }

    /// Nucleic acids beside the proteins, or Debian's bowtie2-examples; read when first asked for.
    ///
    /// # Errors
    /// If there are none, or they cannot be read.
    pub fn bases(&self) -> Result<&Bases> {
        if self.bases.get().is_none() {
            let bases = bases::load(&self.dir)?;
            // Another thread may have been quicker, with the same.
            let _ = self.bases.set(bases);
        }
        self.bases.get().ok_or_else(|| Error::NoData(self.dir.display().to_string()))
    }
}

/// Loads real data: `given`, else `$FLEETBLAST_DATA`, else `../shared/data` beside the
/// repository, else Debian's mmseqs2-examples.
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

/// `queries_aa.fa`, `proteins_small.fa.gz` and `proteins.fa.gz`.
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

/// The data of a directory in either layout; none if it has neither.
fn load_dir(dir: &Path) -> Result<Option<Source>> {
    Ok(match project_data(dir)? {
        Some(source) => Some(source),
        None => debian_data(dir)?,
    })
}

/// `DB.fasta.gz` and `QUERY.fasta.gz`, as in mmseqs2-examples.
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

/// Says loudly what is not tested.
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
