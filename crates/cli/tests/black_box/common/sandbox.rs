//! A separate directory for runs of the program on unusable input.
#![allow(dead_code, reason = "each test program uses a part of this module")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fleetblast_db::VolumeBytes;
use tempfile::TempDir;

use crate::common::not_tested;
use crate::volumes::{FOUR, entries, volume};

/// Number of sequences in the database of a sandbox.
pub const SEQUENCES: usize = 5;
/// Arguments of every run, unless a test has another value for an option.
const USUAL: [&str; 6] = ["-query", "q.fa", "-db", "db", "-outfmt", "6"];

/// A temporary directory with the sound database `db`, and `q.fa` with one query that has hits in
/// it.
pub struct Sandbox {
    dir: TempDir,
}

impl Sandbox {
    pub fn new() -> Self {
        let sandbox = Self { dir: tempfile::tempdir().expect("a temporary directory") };
        sandbox.database("db", &sound());
        sandbox.write("q.fa", query());
        sandbox
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).expect("a file");
    }

    /// Writes the files of a database with one volume.
    pub fn database(&self, name: &str, bytes: &VolumeBytes) {
        self.write(&format!("{name}.pin"), &bytes.index);
        self.write(&format!("{name}.psq"), &bytes.residues);
        self.write(&format!("{name}.phr"), &bytes.headers);
    }

    /// Returns all file names, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path()).expect("the directory");
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<_> = entries.map(|entry| name(entry.expect("an entry"))).collect();
        names.sort();
        names
    }

    /// Returns a command that runs `blastp` in this directory with these arguments and empty
    /// standard input. Options left out have their usual values.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.command_of("blastp", arguments)
    }

    /// Like [`command`](Self::command), for another program than `blastp`.
    pub fn command_of(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
        self.prepare(&mut command);
        command.arg(program).args(with_usual(arguments));
        command
    }

    /// Returns a command that runs `script` in a shell. In it, `"$@"` is the program with its
    /// arguments.
    pub fn shell(&self, script: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("sh");
        self.prepare(&mut command);
        command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_fleetblast"), "blastp"]);
        command.args(with_usual(arguments));
        command
    }

    fn prepare(&self, command: &mut Command) {
        command.current_dir(self.dir.path()).env_remove("BLASTDB").stdin(Stdio::null());
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program runs")
    }

    /// Runs the program, which must refuse with this exit code and a message with all of `parts`.
    /// With `-out` it may leave an empty file under that name, as BLAST+ does, and no other file.
    /// Returns the message.
    pub fn assert_refused(&self, arguments: &[&str], code: i32, parts: &[&str]) -> String {
        let before = self.names();
        let output = self.run(arguments);
        let text = message(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(output.stdout.is_empty(), "{arguments:?} wrote a report: {text}");
        assert!(!text.is_empty() && text.lines().count() <= 2, "{arguments:?}: {text}");
        for part in parts {
            assert!(text.contains(part), "{arguments:?}: no '{part}' in: {text}");
        }
        if !arguments.contains(&"-out") {
            let again = self.run(&[arguments, &["-out", "report"]].concat());
            assert_eq!((again.status.code(), message(&again)), (Some(code), text.clone()));
            if let Ok(left) = fs::read(self.path("report")) {
                assert_eq!(left, b"", "{arguments:?} left a part of a report");
                fs::remove_file(self.path("report")).expect("it can be removed");
            }
        }
        assert_eq!(self.names(), before, "{arguments:?} left something");
        text
    }
}

/// Returns the volume of a sandbox's database.
pub fn sound() -> VolumeBytes {
    volume(&FOUR, &entries(11, SEQUENCES))
}

/// Returns a query with the letters of all sequences of the database, one after the other.
pub fn query() -> Vec<u8> {
    let letters: Vec<Vec<u8>> = entries(11, SEQUENCES).into_iter().map(|entry| entry.1).collect();
    [&b">q1 some of each\n"[..], &letters.concat(), b"\n"].concat()
}

/// Returns standard error as text; fails if it reports a panic.
pub fn message(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("panicked"), "{text}");
    text
}

fn with_usual<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let given = |name: &str| arguments.contains(&name);
    let mut all = Vec::new();
    for pair in USUAL.chunks(2) {
        if !(given(pair[0]) || pair[0] == "-db" && given("-subject")) {
            all.extend(pair);
        }
    }
    all.extend(arguments);
    all
}

/// Returns whether this process can read a file without permission to do so, as root can. If so,
/// prints that permissions are not tested.
pub fn is_above_permissions(unreadable: &Path) -> bool {
    let above = fs::File::open(unreadable).is_ok();
    if above {
        not_tested("permissions, as this user may read every file");
    }
    above
}
