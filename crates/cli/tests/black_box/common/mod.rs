//! The oracle, and files on which the tests run the oracle and FleetBLAST.
#![allow(dead_code, reason = "each test program uses a part of this module")]

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use fleetblast_oracle::Oracle;
use tempfile::TempDir;

/// Two hand-made queries of no particular protein.
const QUERIES: &str =
    ">q1 one\nMKVLAADTGHIWQERTYPASDFGHKLCVNM\n>q2 two\nMKVLAADTGHIWQERTYPASDFGHKLCVNM\n";
/// Hand-made subjects that are similar to the queries.
const SUBJECTS: &str = ">s1\nMKVLAADTGHIWQERTYPASDFGHKLCVNMAA\n>s2\nGGHIWQERTYPASDFGHKL\n";

/// A directory with `q.fa`, its first query `one.fa`, `s.fa`, the database `db` (made by the
/// oracle), and a link `blastp` to the program under test.
pub struct Fixture {
    dir: TempDir,
    /// BLAST+ 2.12.0; `None` only where tests may run without it.
    pub oracle: Option<&'static Oracle>,
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
        let oracle = fleetblast_oracle::oracle();
        if let Some(oracle) = oracle {
            for (name, bytes) in database(oracle) {
                fs::write(dir.path().join(name), bytes).expect("a file of the database");
            }
        }
        Self { dir, oracle }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the path of the program under test, called `blastp`.
    pub fn ours(&self) -> PathBuf {
        self.path().join("blastp")
    }

    /// Returns the path of the program under test, called `name`.
    pub fn called(&self, name: &str) -> PathBuf {
        let link = self.path().join(name);
        if !link.exists() {
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fleetblast"), &link).expect("a link");
        }
        link
    }

    /// Runs a program in this directory with empty standard input.
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

    /// Splits a command line into words, which `|` separates.
    pub fn words(line: &str) -> Vec<OsString> {
        if line.is_empty() { vec![] } else { line.split('|').map(OsString::from).collect() }
    }
}

/// Compiles a library for `LD_PRELOAD` from a source beside this file.
pub fn compile_preload(source: &str, library: &Path) {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/black_box/common");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-shared", "-fPIC", "-o"]).arg(library);
    compiler.arg(Path::new(directory).join(source)).arg("-ldl");
    assert!(compiler.status().expect("a compiler").success());
}

/// Returns the files of the database `db`, which the oracle makes once for all fixtures.
fn database(oracle: &Oracle) -> &'static [(OsString, Vec<u8>)] {
    static FILES: OnceLock<Vec<(OsString, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a temporary directory");
        fs::write(dir.path().join("s.fa"), SUBJECTS).expect("subjects");
        let mut command = oracle.command("makeblastdb");
        command.args(["-in", "s.fa", "-dbtype", "prot", "-out", "db"]).current_dir(dir.path());
        let made = command.output().expect("makeblastdb");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        fs::remove_file(dir.path().join("s.fa")).expect("subjects");
        let files = fs::read_dir(dir.path()).expect("a directory");
        let files = files.map(|entry| entry.expect("a file"));
        files.map(|file| (file.file_name(), fs::read(file.path()).expect("bytes"))).collect()
    })
}

/// Prints what is not tested here. A macro cannot print it, because the test harness hides its
/// output.
pub fn not_tested(what: &str) {
    io::stderr().write_all(format!("NOT TESTED: {what}\n").as_bytes()).expect("standard error");
}

/// Formats standard error and exit code, for comparing and printing.
pub fn complaint(output: &Output) -> String {
    let text: String = output.stderr.escape_ascii().to_string().replace("\\n", "\n");
    format!("exit code {:?}\n{text}", output.status.code())
}
