//! The oracle and the files both programs are run on.
#![allow(dead_code, reason = "each test program uses a part of this module")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Two hand-made queries of no particular protein.
const QUERIES: &str =
    ">q1 one\nMKVLAADTGHIWQERTYPASDFGHKLCVNM\n>q2 two\nMKVLAADTGHIWQERTYPASDFGHKLCVNM\n";
/// Hand-made subjects like them.
const SUBJECTS: &str = ">s1\nMKVLAADTGHIWQERTYPASDFGHKLCVNMAA\n>s2\nGGHIWQERTYPASDFGHKL\n";

/// A directory with `q.fa`, its first query `one.fa`, `s.fa`, the database `db` (with the oracle), and the program under test as `blastp`.
pub struct Fixture {
    dir: TempDir,
    /// Whether BLAST+ 2.12.0 is installed.
    pub oracle: bool,
}

impl Fixture {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        fs::write(dir.path().join("q.fa"), QUERIES).expect("queries");
        let one = QUERIES.split_inclusive('\n').take(2).collect::<String>();
        fs::write(dir.path().join("one.fa"), one).expect("one query");
        fs::write(dir.path().join("s.fa"), SUBJECTS).expect("subjects");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fleetblast"), dir.path().join("blastp"))
            .expect("a link");
        let version = Command::new("blastp").arg("-version").output();
        let oracle = version.is_ok_and(|output| output.stdout.starts_with(b"blastp: 2.12.0+\n"));
        if oracle {
            let made = Command::new("makeblastdb")
                .args(["-in", "s.fa", "-dbtype", "prot", "-out", "db"])
                .current_dir(dir.path())
                .output()
                .expect("makeblastdb");
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        } else {
            eprintln!("SKIPPED: blastp 2.12.0 is not installed, nothing was compared with it");
        }
        Self { dir, oracle }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The program under test, called `blastp`.
    pub fn ours(&self) -> PathBuf {
        self.path().join("blastp")
    }

    /// Runs a program here with nothing to read on standard input.
    pub fn run(
        &self,
        program: &Path,
        arguments: &[OsString],
        variables: &[(&str, &str)],
    ) -> Output {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command.envs(variables.iter().copied()).output().expect("the program runs")
    }

    /// A command line of words parted by `|`.
    pub fn words(line: &str) -> Vec<OsString> {
        if line.is_empty() { vec![] } else { line.split('|').map(OsString::from).collect() }
    }
}

/// Standard error and exit code, for comparing and printing.
pub fn complaint(output: &Output) -> String {
    let text: String = output.stderr.escape_ascii().to_string().replace("\\n", "\n");
    format!("exit code {:?}\n{text}", output.status.code())
}
