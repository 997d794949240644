//! Files of a database that are cut short, or copied over, at random moments while a program reads
//! them. Its output is right, or there is none and an error names the file. No signal ends it, and
//! no temporary file is left.
//!
//! With `FLEETBLAST_SAMPLE=all` the tests try all moments of each way to read, otherwise a tenth.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Instant;

use fleetblast_oracle::{sample, seed};
use tempfile::TempDir;

use crate::common::complaint;
use crate::family::{family, queries};
use crate::volumes::{FOUR, write};
use fastrand::Rng;

/// Number of moments for each way to read.
const MOMENTS: usize = 50;
/// An ordinary test run tries one of every `SHARE` moments.
const SHARE: usize = 10;
const DATABASE: i32 = 2;
/// Exit code of `blastdbcmd` if a file is too short when it opens the database. This happens
/// briefly while another file is copied over the old one.
const UNOPENED: i32 = 1;
/// Files of the database; those listed twice are changed twice as often.
const FILES: [&str; 5] = ["db.psq", "db.psq", "db.phr", "db.phr", "db.pin"];
/// Contents of the report file before a search.
const OLDER: &[u8] = b"an older report";

/// A database, another one with files of about the same sizes, queries, and metadata of a search.
struct Databases(TempDir);

/// A change of a file.
#[derive(Debug)]
enum Change {
    /// The file is cut to this number of bytes.
    Cut(u64),
    /// The file is cut, and then filled up with zeros.
    CutAndFilled(u64),
    /// The file is overwritten with the corresponding file of another database.
    Overwritten,
}

impl Databases {
    fn new() -> Self {
        let databases = Databases(tempfile::tempdir().expect("a directory"));
        for (name, seed) in [("sound", 1), ("other", 3)] {
            fs::create_dir(databases.path(name)).expect("a directory");
            write(&databases.path(name), "db", &FOUR, &family(seed, 1500));
        }
        fs::create_dir(databases.path("work")).expect("a directory");
        databases.restore();
        fs::write(databases.path("work/q.fa"), queries(2, 4).concat()).expect("queries");
        let kept = ["-metadata", "hits", "-metadata_out", "hits"];
        let made = databases.command(SEARCH).args(kept).output().expect("metadata");
        assert!(made.status.success(), "{}", complaint(&made));
        databases
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Replaces the files of the database by sound ones.
    fn restore(&self) {
        for file in FILES {
            let (new, place) = (self.path("new"), self.path("work").join(file));
            fs::copy(self.path("sound").join(file), &new).expect("a copy");
            fs::rename(new, place).expect("a place");
        }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
        self.prepare(command.args(words));
        command
    }

    fn prepare(&self, command: &mut Command) {
        command.current_dir(self.path("work")).env_remove("BLASTDB");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    }

    fn change(&self, file: &str, change: &Change) {
        let place = self.path("work").join(file);
        let open = || File::options().write(true).open(&place).expect("a file");
        match change {
            Change::Cut(length) => open().set_len(*length).expect("a shorter file"),
            Change::CutAndFilled(length) => {
                let whole = fs::metadata(&place).expect("a file").len();
                open().set_len(*length).expect("a shorter file");
                open().set_len(whole).expect("a longer file");
            }
            Change::Overwritten => {
                let copy =
                    Command::new("cp").arg(self.path("other").join(file)).arg(&place).status();
                assert!(copy.expect("cp").success());
            }
        }
    }
}

const SEARCH: &[&str] =
    &["blastp", "-query", "q.fa", "-db", "db", "-num_threads", "1", "-outfmt", "6 std stitle"];
const TO_FILE: &[&str] = &["-out", "report"];

/// Changes files while a command runs that writes `report`, or to standard output. Checks the
/// output.
fn attack(turn: u64, make: impl Fn(&Databases) -> Command) {
    let databases = Databases::new();
    let start = Instant::now();
    let (right, is_file) = run(&databases, make(&databases), None, || {});
    assert!(right.status.success(), "{}", complaint(&right));
    let (right, lasted) = (right.stdout, start.elapsed());
    let seed = seed();
    // Like the one of BLAST+, this command empties its output before it opens a database.
    let empties = make(&databases).get_args().any(|word| word == "blastdbcmd");
    for number in sample(SHARE, 0..MOMENTS) {
        let mut random = Rng::with_seed(1 + seed * 1_000_003 + turn * 1_009 + number as u64);
        let file = FILES[random.usize(..FILES.len())];
        let length = fs::metadata(databases.path("sound").join(file)).expect("a file").len();
        let shorter = random.u64(..length);
        let change = match random.u64(..3) {
            0 => Change::Cut(shorter),
            1 => Change::CutAndFilled(shorter),
            _ => Change::Overwritten,
        };
        let moment = lasted.mul_f64(1.1 * random.f64());
        let older = (is_file && random.u64(..3) == 0).then_some(OLDER);
        databases.restore();
        let (output, _) = run(&databases, make(&databases), older, || {
            sleep(moment);
            databases.change(file, &change);
        });
        let message = complaint(&output);
        let tried = format!("moment {number}: {file} {change:?} after {moment:?}: {message}");
        let code = output.status.code();
        let is_right = match code {
            Some(0) => output.stdout == right,
            Some(code) if code == DATABASE || empties && code == UNOPENED => {
                let is_kept = match is_file {
                    true => output.stdout == older.unwrap_or_default(),
                    // The output already has the blocks that were searched before.
                    false => right.starts_with(&output.stdout),
                };
                message.contains(file) && (is_kept || empties && output.stdout.is_empty())
            }
            Some(_) => false,
            None => panic!("{:?}, {tried}", output.status),
        };
        if !is_right {
            // The file may have changed before the command opened it. Then another run gives the
            // same output.
            let (again, _) = run(&databases, make(&databases), older, || {});
            assert_eq!(again.status.code(), code, "{tried}");
            assert!(again.stdout == output.stdout, "other output, {tried}");
        }
    }
}

/// Runs a command, and `act` meanwhile. Returns how the command ended, with the bytes of the report
/// in place of its standard output, and whether there is a report.
fn run(
    databases: &Databases,
    mut command: Command,
    older: Option<&[u8]>,
    act: impl FnOnce(),
) -> (Output, bool) {
    let report = databases.path("work/report");
    let _ = fs::remove_file(&report);
    older.iter().for_each(|older| fs::write(&report, older).expect("an older report"));
    let child = command.spawn().expect("a start");
    act();
    let mut output = child.wait_with_output().expect("an end");
    let is_file = report.exists();
    if is_file {
        output.stdout = fs::read(&report).expect("a report");
    }
    let left = hidden_names(&databases.path("work"));
    assert!(left.is_empty(), "{left:?} is left: {}", complaint(&output));
    (output, is_file)
}

/// Returns the names that begin with a dot, as those of unfinished files do.
fn hidden_names(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).expect("a directory");
    let names =
        names.map(|entry| entry.expect("a name").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with('.')).collect()
}

#[test]
fn with_each_loader() {
    for (turn, loader) in (0..).zip(["map", "read", "direct"]) {
        attack(turn, |at| at.command(&[SEARCH, &["-loader", loader], TO_FILE].concat()));
    }
    let few = ["-loader", "read", "-memory", "200K"];
    attack(3, |at| at.command(&[SEARCH, &few, TO_FILE].concat()));
}

#[test]
fn to_standard_output() {
    attack(4, |at| at.command(SEARCH));
}

#[test]
fn on_ranks() {
    attack(5, |at| at.command(&[SEARCH, &["-ranks", "3"], TO_FILE].concat()));
}

#[test]
fn where_the_report_is_made_of_metadata() {
    let words = ["expand", "-metadata", "hits", "-db", "db", "-outfmt", "6 std stitle"];
    attack(6, |at| at.command(&[&words, TO_FILE].concat()));
    let sites = ["-metadata", "hits", "-ranks", "3", "-io_ranks", "1"];
    attack(7, |at| at.command(&[SEARCH, &sites, TO_FILE].concat()));
}

#[test]
fn where_sequences_are_printed() {
    let words = ["blastdbcmd", "-db", "db", "-entry", "all", "-outfmt", "%o %t %s"];
    attack(8, |at| at.command(&[&words, TO_FILE].concat()));
    attack(9, |at| at.command(&words));
}

#[cfg(feature = "mpi")]
#[test]
fn on_processes() {
    use crate::launched::launched;
    for (turn, loader) in (10..).zip(["map", "broadcast"]) {
        attack(turn, |at| {
            let mut command = launched(Path::new(env!("CARGO_BIN_EXE_fleetblast")), 3);
            at.prepare(command.args([SEARCH, &["-loader", loader], TO_FILE].concat()));
            command
        });
    }
}
