//! Runs random searches with both programs, and saves them.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use super::masks;
use crate::compare::{Difference, IN_ARCHIVES, ON_RANKS, UNCOUNTED, compare, is_refusal};
use crate::error::{Error, Result, io_error, write};
use crate::fasta::{self, Record};
use crate::fixtures::taxdb;
use crate::fleet::{CHECKPOINT, ParallelMode, SearchPaths};
use crate::process::{Outcome, Tool, Tools, must_run, shell};
use crate::program::{ALIASED, LISTED, SubjectForm, Trial, writes_archives};
use crate::rng::Draw;
use crate::written::run_with_output_files;
use fastrand::Rng;

/// Name of the directory for files that FleetBLAST writes besides its report.
const WRITTEN: &str = "written-tested";
/// Time limit of one random search.
const LIMIT: Duration = Duration::from_secs(120);

/// Name of the file with the subjects' masks.
const MASKS: &str = "masks";

/// Name of the file with the subjects' taxids.
const TAXIDS: &str = "taxids";

/// Number of query residues, and number of subjects, from which on a trial is heavy.
const HEAVY: (usize, usize) = (5_000, 300);

impl Trial {
    /// Returns all arguments of the search.
    pub fn args(&self) -> Vec<String> {
        let place = match self.subject_form {
            SubjectForm::Subject => ["-subject", "db.fa"],
            SubjectForm::Aliased => ["-db", ALIASED],
            _ => ["-db", "db"],
        };
        let brings_query = |group: &Vec<String>| ["-in_pssm", "-in_msa"].contains(&&*group[0]);
        let query: &[&str] =
            if self.options.iter().any(brings_query) { &[] } else { &["-query", "query.fa"] };
        let fixed = query.iter().chain(&place).map(|s| s.to_string());
        fixed.chain(self.options.iter().flatten().cloned()).collect()
    }

    /// Describes the trial for the log: sizes, command, and shape of the fleet.
    pub fn summary(&self) -> String {
        let residues = |records: &[Record]| records.iter().map(|r| r.seq.len()).sum::<usize>();
        format!(
            "{} queries ({} residues), {} subjects ({} residues), {:?}: {} {}",
            self.queries.len(),
            residues(&self.queries),
            self.subjects.len(),
            residues(&self.subjects),
            self.subject_form,
            self.program.name,
            shell(&self.args())
        ) + &self.shape.iter().map(|shape| format!(", on {shape:?}")).collect::<String>()
    }

    /// Whether BLAST+ takes long for the search.
    pub fn is_heavy(&self) -> bool {
        let residues: usize = self.queries.iter().map(|record| record.seq.len()).sum();
        residues >= HEAVY.0 || self.subjects.len() >= HEAVY.1
    }

    /// Whether an option of the trial names the file `file`.
    fn names(&self, file: &str) -> bool {
        self.options.iter().flatten().any(|word| word == file)
    }

    /// Returns the same search without options for threads; `None` if it has none.
    fn on_one_thread(&self) -> Option<Trial> {
        let of_threads = |group: &Vec<String>| ["-num_threads", "-mt_mode"].contains(&&*group[0]);
        let mut trial = self.clone();
        trial.options.retain(|group| !of_threads(group));
        (trial.options.len() < self.options.len()).then_some(trial)
    }

    fn parallel_mode(&self) -> ParallelMode {
        self.shape.as_ref().map_or(ParallelMode::None, |&(parallel_mode, _)| parallel_mode)
    }

    /// Returns the program to start for FleetBLAST, and all arguments. `tested` is FleetBLAST
    /// without ranks.
    fn tested(&self, tested: &Tool) -> (Tool, Vec<String>) {
        match &self.shape {
            Some((parallel_mode, shape)) => shape.command(tested, *parallel_mode, &self.args()),
            None => (tested.clone(), self.args()),
        }
    }

    fn makeblastdb(&self) -> Option<Vec<String>> {
        let more: &[&str] = match self.subject_form {
            SubjectForm::Subject => return None,
            SubjectForm::Plain => &[],
            SubjectForm::Masked if masks::file(&self.subjects, self.program.masker).is_some() => {
                &["-parse_seqids", "-taxid_map", TAXIDS, "-mask_data", MASKS]
            }
            SubjectForm::Parsed | SubjectForm::Masked | SubjectForm::Aliased => {
                &["-parse_seqids", "-taxid_map", TAXIDS]
            }
            SubjectForm::V4 => &["-blastdb_version", "4", "-taxid", "562"],
        };
        let fixed = ["-dbtype", self.program.molecule.name(), "-in", "db.fa", "-out", "db"];
        Some(fixed.iter().chain(more).map(|s| s.to_string()).collect())
    }
}

/// A directory in which trials run, one at a time.
pub struct Bench<'a> {
    dir: PathBuf,
    tools: &'a Tools,
}

impl<'a> Bench<'a> {
    /// Creates a bench in `dir`, and the directory if needed.
    pub fn new(dir: PathBuf, tools: &'a Tools) -> Result<Self> {
        fs::create_dir_all(&dir).map_err(io_error("create", &dir))?;
        Ok(Bench { dir, tools })
    }

    /// Writes the query file, the database, and the files that the options may name.
    pub fn write(&self, trial: &Trial) -> Result<()> {
        write_inputs(trial, &self.dir)?;
        // The database of an earlier trial may have files that this one lacks.
        let ours = format!("db.{}", trial.program.molecule.prefix());
        for entry in fs::read_dir(&self.dir).map_err(io_error("list", &self.dir))? {
            let path = entry.map_err(io_error("list", &self.dir))?.path();
            if path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&ours)) {
                fs::remove_file(&path).map_err(io_error("remove", &path))?;
            }
        }
        if let Some(args) = trial.makeblastdb() {
            must_run("makeblastdb", &args, &self.dir)?;
        }
        self.prepare(trial)
    }

    /// Lets the oracle write the file with which later searches of the trial begin. If the oracle
    /// fails, there is no such file.
    fn prepare(&self, trial: &Trial) -> Result<()> {
        let args: Vec<String> = trial.program.prepare_args.iter().map(|s| s.to_string()).collect();
        let Some(name) = args.last() else { return Ok(()) };
        // The file may be from an earlier trial.
        drop(fs::remove_file(self.dir.join(name)));
        self.tools.oracle.run(&args, &self.dir, None, LIMIT).map(drop)
    }

    /// Runs both programs on the files that [`Bench::write`] wrote last.
    pub fn search(&self, trial: &Trial) -> Result<TrialResult> {
        let (expected, actual) = self.both(trial)?;
        Ok(compare_outcomes(trial, &expected, &actual))
    }

    /// Runs both programs. Returns the results of the oracle and of FleetBLAST.
    fn both(&self, trial: &Trial) -> Result<(Outcome, Outcome)> {
        // A failed search may have left a checkpoint.
        let _ = fs::remove_dir_all(self.dir.join(CHECKPOINT));
        let (expected, actual) = thread::scope(|scope| {
            let expected = scope.spawn(|| self.oracle(trial));
            let actual = self.tested(trial);
            let panicked = |_| Error::Tool {
                program: "difftest".into(),
                reason: "the thread that runs the oracle panicked".into(),
            };
            (expected.join().map_err(panicked).flatten(), actual)
        });
        let (mut expected, mut actual) = (expected?, actual?);
        if !compare_outcomes(trial, &expected, &actual).differences.is_empty()
            && let Some(alone) = trial.on_one_thread()
        {
            // BLAST+'s report can depend on the number of threads. FleetBLAST's report is that of
            // one thread.
            expected = self.oracle(&alone)?;
        }
        // If the oracle cannot finish a search in time or crashes, the search shows nothing about
        // FleetBLAST.
        if expected.timed_out || expected.code < 0 {
            actual = expected.clone();
        }
        Ok((expected, actual))
    }

    fn tested(&self, trial: &Trial) -> Result<Outcome> {
        let tested = &self.tools.tested;
        let Some((parallel_mode, shape)) = &trial.shape else {
            return self.run(tested, trial, WRITTEN);
        };
        let place = SearchPaths { cwd: &self.dir, stdin: None, records: self.dir.join("records") };
        run_with_output_files(&trial.args(), &self.dir.join(WRITTEN), |args| {
            shape.run(tested, *parallel_mode, args, &place, LIMIT)
        })
    }

    fn oracle(&self, trial: &Trial) -> Result<Outcome> {
        self.run(&self.tools.oracle, trial, "written-oracle")
    }

    fn run(&self, tool: &Tool, trial: &Trial, written: &str) -> Result<Outcome> {
        run_with_output_files(&trial.args(), &self.dir.join(written), |args| {
            tool.run(args, &self.dir, None, LIMIT)
        })
    }

    /// Runs a trial again and saves it so that people can run it by hand. Returns its differences.
    pub fn keep(&self, trial: &Trial, to: &Path) -> Result<TrialResult> {
        self.write(trial)?;
        let (expected, actual) = self.both(trial)?;
        fs::create_dir_all(to).map_err(io_error("create", to))?;
        write_inputs(trial, to)?;
        let mut script = "#!/bin/sh\n# Runs the search with: sh run.sh PROGRAM...\n".to_string();
        script += "cd \"$(dirname \"$0\")\" || exit\n";
        if let Some(args) = trial.makeblastdb() {
            script += &format!("makeblastdb {} >/dev/null\n", shell(&args));
        }
        if let Some(name) = trial.program.prepare_args.last().filter(|name| trial.names(name)) {
            // The file is missing if there was nothing to write.
            drop(fs::copy(self.dir.join(name), to.join(name)));
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
        Ok(compare_outcomes(trial, &expected, &actual))
    }
}

/// The result of a random search.
#[derive(Debug)]
pub struct TrialResult {
    /// Whether FleetBLAST refused the search with an accepted message.
    pub refused: bool,
    /// Differences between the programs.
    pub differences: Vec<Difference>,
}

fn compare_outcomes(trial: &Trial, expected: &Outcome, actual: &Outcome) -> TrialResult {
    let on_ranks = trial.program.may_refuse(trial.parallel_mode(), &trial.args());
    let refused = is_refusal(on_ranks, ON_RANKS, actual)
        || is_refusal(true, UNCOUNTED, actual)
        || is_refusal(writes_archives(&trial.args()), IN_ARCHIVES, actual);
    let mut expected = expected.clone();
    if expected.code > 0 && writes_archives(&trial.args()) {
        // BLAST+ adds an archive of its messages (docs/differences.md).
        expected.stdout.clone_from(&actual.stdout);
    }
    let differences = if refused { Vec::new() } else { differences(trial, &expected, actual) };
    TrialResult { refused, differences }
}

/// Returns the differences. A trial that the oracle could not finish has none. With `-mt_mode 1`,
/// BLAST+'s threads put numbers of queries before their warnings, and FleetBLAST does not. If such
/// a thread fails, the oracle still exits with 0, but FleetBLAST must not.
fn differences(trial: &Trial, expected: &Outcome, actual: &Outcome) -> Vec<Difference> {
    let shared_out = trial.options.iter().flatten().any(|word| word == "-mt_mode");
    let gave_up = String::from_utf8_lossy(&expected.stderr).contains("exit with error (");
    if expected.timed_out || shared_out && gave_up && actual.code > 0 {
        return Vec::new();
    }
    let in_order = !shared_out && !has_messages_about_subjects(trial);
    compare(expected, actual, in_order && trial.parallel_mode().keeps_stderr())
}

/// Whether the programs print messages about a FASTA file of subjects. FleetBLAST reads the file
/// after it has checked the other options, BLAST+ before that (docs/differences.md).
fn has_messages_about_subjects(trial: &Trial) -> bool {
    trial.subject_form == SubjectForm::Subject
        && trial.subjects.iter().any(|it| it.seq.contains(&b'-'))
}

fn write_inputs(trial: &Trial, dir: &Path) -> Result<()> {
    for (name, records) in [("query.fa", &trial.queries), ("db.fa", &trial.subjects)] {
        let path = dir.join(name);
        write(&path, fasta::to_bytes(records))?;
    }
    for (name, bytes) in (trial.program.extra_files)(trial) {
        let path = dir.join(name);
        write(&path, bytes)?;
    }
    let path = dir.join(MASKS);
    write(&path, masks::file(&trial.subjects, trial.program.masker).unwrap_or_default())?;
    let path = dir.join(TAXIDS);
    write(&path, taxids(&trial.subjects))?;
    for (name, bytes) in taxdb::files() {
        let path = dir.join(name);
        match trial.named {
            true => write(&path, bytes)?,
            // The file may be from an earlier trial.
            false => drop(fs::remove_file(&path)),
        }
    }
    let alias = format!("{ALIASED}.{}al", trial.program.molecule.prefix());
    let path = dir.join(alias);
    write(&path, format!("DBLIST db\nSEQIDLIST {ALIASED}\n"))?;
    let path = dir.join(ALIASED);
    write(&path, aliased_identifiers(&trial.subjects))?;
    let path = dir.join(LISTED);
    write(&path, listed_identifiers(&trial.subjects))
}

/// Returns the identifiers of every other subject, beginning with the first, one per line. Half of
/// them lack their version.
fn aliased_identifiers(subjects: &[Record]) -> String {
    let line = |(number, record): (usize, &Record)| {
        let id = record.header.split(' ').next()?;
        let bare = id.rsplit_once('.').map_or(id, |(bare, _)| bare);
        Some(format!("{}\n", if number % 2 == 0 { bare } else { id }))
    };
    subjects.iter().step_by(2).enumerate().filter_map(line).collect()
}

/// Returns lines `id taxid` for the first subject and about three quarters of the others.
/// makeblastdb needs at least one.
fn taxids(subjects: &[Record]) -> String {
    let line = |(number, record): (usize, &Record)| {
        let id = record.header.split(' ').next()?;
        let mut rng = Rng::with_seed(xxh3_64(id.as_bytes()));
        let is_mapped = rng.chance(0.75) || number == 0;
        is_mapped.then(|| format!("{id} {}\n", rng.pick(&taxdb::TAXIDS)))
    };
    subjects.iter().enumerate().filter_map(line).collect()
}

/// Returns the identifiers of every third subject, one per line.
fn listed_identifiers(subjects: &[Record]) -> String {
    let ids = subjects.iter().step_by(3).filter_map(|record| record.header.split(' ').next());
    ids.map(|id| format!("{id}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::BLASTP;

    fn trial(options: &[&[&str]]) -> Trial {
        let words = |words: &&[&str]| words.iter().map(|word| word.to_string()).collect();
        Trial {
            program: &BLASTP,
            queries: vec![Record::new("q", &b"MKVL"[..])],
            subjects: vec![Record::new("s", &b"MKVL"[..])],
            subject_form: SubjectForm::Subject,
            options: options.iter().map(words).collect(),
            named: false,
            shape: None,
        }
    }

    /// Returns a tool that runs this shell script.
    fn says(script: &str) -> Tool {
        let prefix = vec!["-c".to_owned(), script.to_owned(), "sh".to_owned()];
        Tool { prefix, ..Tool::plain("sh".into()) }
    }

    #[test]
    fn an_oracle_that_differs_from_itself_is_asked_with_one_thread() {
        let dir = std::env::temp_dir().join(format!("difftest-threads-{}", std::process::id()));
        let by_threads = "case \"$*\" in *-num_threads*) echo two;; *) echo one;; esac";
        let found = |tested: &str, options: &[&[&str]]| {
            let tools = Tools { oracle: says(by_threads), tested: says(tested) };
            let bench = Bench::new(dir.clone(), &tools).unwrap();
            bench.search(&trial(options)).unwrap().differences.len()
        };
        let threads: &[&[&str]] = &[&["-num_threads", "2"], &["-mt_mode", "1"], &["-outfmt", "6"]];
        assert_eq!((found("echo one", threads), found("echo two", threads)), (0, 0));
        assert_eq!((found("echo three", threads), found("echo two", &threads[2..])), (1, 1));
        let alone = trial(threads).on_one_thread().unwrap();
        assert_eq!(alone.args()[4..], ["-outfmt", "6"]);
        assert!(alone.on_one_thread().is_none());
        fs::remove_dir_all(dir).unwrap();
    }
}
