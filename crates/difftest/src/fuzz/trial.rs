//! One random search: its parts, how it is run, and how it is kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::masks;
use crate::compare::{Difference, compare};
use crate::error::{Result, io_error, write};
use crate::fasta::{self, Record};
use crate::fleet::{CHECKPOINT, Shape, Spread};
use crate::process::{Outcome, Tool, Tools, must_run, shell};

/// Longest time one random search may take.
const LIMIT: Duration = Duration::from_secs(120);

/// The file that lists some of the subjects.
pub const LISTED: &str = "listed";

/// The file with their masks.
const MASKS: &str = "masks";

/// How the subjects are given to the programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A database without parsed identifiers.
    Plain,
    /// `-parse_seqids`.
    Parsed,
    /// The same with stored masks.
    Masked,
    /// Version 4.
    V4,
    /// The FASTA file itself, `-subject`.
    Subject,
}

/// A search that can be run, made smaller and kept.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The queries.
    pub queries: Vec<Record>,
    /// The subjects.
    pub subjects: Vec<Record>,
    /// How the subjects are given.
    pub target: Target,
    /// Options in groups that belong together (e.g. `-gapopen 9 -gapextend 1`).
    pub options: Vec<Vec<String>>,
    /// The ranks that FleetBLAST searches on.
    pub shape: Option<(Spread, Shape)>,
}

impl Trial {
    /// All arguments.
    pub fn args(&self) -> Vec<String> {
        let place =
            if self.target == Target::Subject { ["-subject", "db.fa"] } else { ["-db", "db"] };
        let fixed = ["-query", "query.fa"].iter().chain(&place).map(|s| s.to_string());
        fixed.chain(self.options.iter().flatten().cloned()).collect()
    }

    /// Sizes and command for a person.
    pub fn summary(&self) -> String {
        let residues = |records: &[Record]| records.iter().map(|r| r.seq.len()).sum::<usize>();
        format!(
            "{} queries ({} residues), {} subjects ({} residues), {:?}: blastp {}",
            self.queries.len(),
            residues(&self.queries),
            self.subjects.len(),
            residues(&self.subjects),
            self.target,
            shell(&self.args())
        ) + &self.shape.iter().map(|shape| format!(", on {shape:?}")).collect::<String>()
    }

    fn spread(&self) -> Spread {
        self.shape.as_ref().map_or(Spread::None, |&(spread, _)| spread)
    }

    /// FleetBLAST, whose program is `tested`, with all arguments.
    fn tested(&self, tested: &Tool) -> (Tool, Vec<String>) {
        match &self.shape {
            Some((spread, shape)) => shape.spread(tested, *spread, &self.args()),
            None => (tested.clone(), self.args()),
        }
    }

    fn makeblastdb(&self) -> Option<Vec<String>> {
        let more: &[&str] = match self.target {
            Target::Subject => return None,
            Target::Plain => &[],
            Target::Masked if masks::file(&self.subjects).is_some() => {
                &["-parse_seqids", "-mask_data", MASKS]
            }
            Target::Parsed | Target::Masked => &["-parse_seqids"],
            Target::V4 => &["-blastdb_version", "4"],
        };
        let fixed = ["-dbtype", "prot", "-in", "db.fa", "-out", "db"];
        Some(fixed.iter().chain(more).map(|s| s.to_string()).collect())
    }
}

/// A directory to run trials in, one at a time.
pub struct Bench<'a> {
    dir: PathBuf,
    tools: &'a Tools,
}

impl<'a> Bench<'a> {
    /// A bench in `dir`, which is made if needed.
    pub fn new(dir: PathBuf, tools: &'a Tools) -> Result<Self> {
        fs::create_dir_all(&dir).map_err(io_error("create", &dir))?;
        Ok(Bench { dir, tools })
    }

    /// Writes the query file and makes the database.
    pub fn write(&self, trial: &Trial) -> Result<()> {
        write_inputs(trial, &self.dir)?;
        // A database of a former trial may have other files than this one's.
        for entry in fs::read_dir(&self.dir).map_err(io_error("list", &self.dir))? {
            let path = entry.map_err(io_error("list", &self.dir))?.path();
            let ours = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("db.p"));
            if ours {
                fs::remove_file(&path).map_err(io_error("remove", &path))?;
            }
        }
        match trial.makeblastdb() {
            Some(args) => must_run("makeblastdb", &args, &self.dir),
            None => Ok(()),
        }
    }

    /// Runs both programs on what was last written.
    pub fn search(&self, trial: &Trial) -> Result<Vec<Difference>> {
        let (expected, actual) = self.both(trial)?;
        Ok(differences(trial, &expected, &actual))
    }

    fn both(&self, trial: &Trial) -> Result<(Outcome, Outcome)> {
        let args = trial.args();
        let expected = self.tools.oracle.run(&args, &self.dir, None, LIMIT)?;
        // What the oracle cannot do in time, or what kills it, says nothing about FleetBLAST.
        if expected.timed_out || expected.code < 0 {
            return Ok((expected.clone(), expected));
        }
        let (tested, args) = trial.tested(&self.tools.tested);
        // What a search that failed has left, if there was one.
        let _ = fs::remove_dir_all(self.dir.join(CHECKPOINT));
        let actual = tested.run(&args, &self.dir, None, LIMIT)?;
        Ok((expected, actual))
    }

    /// Saves a trial so that it can be run again by hand; returns its differences.
    pub fn keep(&self, trial: &Trial, to: &Path) -> Result<Vec<Difference>> {
        self.write(trial)?;
        let (expected, actual) = self.both(trial)?;
        fs::create_dir_all(to).map_err(io_error("create", to))?;
        write_inputs(trial, to)?;
        let mut script = "#!/bin/sh\n# Runs the search with: sh run.sh PROGRAM...\n".to_string();
        script += "cd \"$(dirname \"$0\")\" || exit\n";
        if let Some(args) = trial.makeblastdb() {
            script += &format!("makeblastdb {} >/dev/null\n", shell(&args));
        }
        script += &format!("\"$@\" {}\n", shell(&trial.args()));
        let (tested, args) = trial.tested(&self.tools.tested);
        let typed =
            format!("{} {}\n", tested.program.display(), shell(&[tested.prefix, args].concat()));
        let files: [(&str, &[u8]); 6] = [
            ("args", typed.as_bytes()),
            ("run.sh", script.as_bytes()),
            ("expected.out", &expected.stdout),
            ("expected.err", &expected.stderr),
            ("actual.out", &actual.stdout),
            ("actual.err", &actual.stderr),
        ];
        for (name, bytes) in files {
            let path = to.join(name);
            write(&path, bytes)?;
        }
        Ok(differences(trial, &expected, &actual))
    }
}

/// A trial that the oracle could not finish counts as no difference. Threads that share out the queries head their warnings
/// with numbers of queries, which FleetBLAST does not; and when they cannot go on the oracle exits with 0 all the same,
/// where FleetBLAST must not.
fn differences(trial: &Trial, expected: &Outcome, actual: &Outcome) -> Vec<Difference> {
    let shared_out = trial.options.iter().flatten().any(|word| word == "-mt_mode");
    let gave_up = String::from_utf8_lossy(&expected.stderr).contains("exit with error (");
    if expected.timed_out || shared_out && gave_up && actual.code > 0 {
        return Vec::new();
    }
    compare(expected, actual, !shared_out && trial.spread().keeps_stderr())
}

fn write_inputs(trial: &Trial, dir: &Path) -> Result<()> {
    for (name, records) in [("query.fa", &trial.queries), ("db.fa", &trial.subjects)] {
        let path = dir.join(name);
        write(&path, fasta::to_bytes(records))?;
    }
    let path = dir.join(MASKS);
    write(&path, masks::file(&trial.subjects).unwrap_or_default())?;
    let path = dir.join(LISTED);
    write(&path, listed(&trial.subjects))
}

/// The identifiers of every third subject, one on a line.
fn listed(subjects: &[Record]) -> String {
    let ids = subjects.iter().step_by(3).filter_map(|record| record.header.split(' ').next());
    ids.map(|id| format!("{id}\n")).collect()
}
