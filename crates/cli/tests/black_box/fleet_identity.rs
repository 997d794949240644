//! A checkpoint is resumed only by the same job: the same database to the byte, the same options,
//! environment and build. The program refuses every change and names it, and accepts the same
//! inputs once they are put back.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::family::{family, queries};
use crate::volumes::{FOUR, write};
use tempfile::TempDir;

/// Exit code of a refusal, and of a search whose last query cannot be read.
const INPUT: i32 = 1;

/// A job with a last query that cannot be read, at which it stops however often it is resumed. Its
/// checkpoint has the results of all queries before.
struct Job {
    dir: TempDir,
    report: Vec<u8>,
}

impl Job {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        write(dir.path(), "db", &FOUR, &family(1, 12));
        write(dir.path(), "more", &FOUR, &family(3, 9));
        fs::write(dir.path().join("al.pal"), "TITLE together\nDBLIST db more\n").expect("an alias");
        let text = queries(2, 330).concat() + ">bad\n%%%%%%%%%%%%%%\n";
        fs::write(dir.path().join("q.fa"), text).expect("queries");
        let mut job = Job { dir, report: Vec::new() };
        let first = job.run(&["-ranks", "3", "-partitions", "4"]);
        assert_eq!(first.status.code(), Some(INPUT), "{}", message(&first));
        assert!(first.stdout.len() > 100_000, "{}", message(&first));
        job.report = first.stdout;
        job.goes_on();
        job
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(["blastp", "-query", "q.fa", "-db", "al", "-num_threads", "1", "-resume"]);
        command.args(["-checkpoint", "kept"]).args(arguments);
        command.current_dir(self.dir.path()).env_remove("BLASTDB");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_fleetblast"));
        self.command(program, arguments).output().expect("the program runs")
    }

    /// Checks that the program recognizes the job, on any ranks, and writes the same report.
    fn goes_on(&self) {
        for arguments in [&["-ranks", "2", "-partitions", "7"][..], &["-ranks", "1"]] {
            let output = self.run(arguments);
            let message = message(&output);
            assert!(message.contains("finished already"), "{arguments:?}: {message}");
            assert!(output.stdout == self.report, "{arguments:?}: other bytes");
        }
    }

    fn is_refused(&self, output: &Output, words: &str) {
        let message = message(output);
        assert_eq!(output.status.code(), Some(INPUT), "{message}");
        assert!(message.contains("the results of another job"), "{words}: {message}");
        assert!(message.contains(words), "no '{words}' in: {message}");
        assert!(output.stdout.is_empty(), "{words}: a report was written");
    }

    /// Replaces a file by another one of the same name, size and time. Checks that the program
    /// refuses it with `words`, and accepts the old file again.
    fn refuses_change(&self, name: &str, words: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let path = self.path(name);
        let (old, time) = (fs::read(&path).expect("a file"), modification_time(&path));
        let mut new = old.clone();
        change(&mut new);
        assert_ne!(old, new);
        put(&path, &new, time);
        self.is_refused(&self.run(&["-ranks", "3"]), words);
        put(&path, &old, time);
        self.goes_on();
    }
}

fn modification_time(path: &Path) -> std::time::SystemTime {
    fs::metadata(path).and_then(|data| data.modified()).expect("a time")
}

fn put(path: &Path, bytes: &[u8], time: std::time::SystemTime) {
    fs::write(path, bytes).expect("a file");
    File::options()
        .write(true)
        .open(path)
        .and_then(|file| file.set_modified(time))
        .expect("a time");
}

fn message(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("panicked"), "{text}");
    text
}

#[test]
fn a_database_that_has_changed_is_refused() {
    let job = Job::new();
    job.refuses_change("db.psq", "the checksum of the sequences in db was", |bytes| {
        bytes[500] = if bytes[500] == 7 { 8 } else { 7 };
    });
    // This is the last residue of the last volume.
    job.refuses_change("more.psq", "the checksum of the sequences in more was", |bytes| {
        let at = bytes.len() - 2;
        bytes[at] = if bytes[at] == 7 { 8 } else { 7 };
    });
    job.refuses_change("db.phr", "the checksum of the headers in db was", |bytes| {
        let at = bytes.windows(9).position(|word| word == b"of a fami").expect("a title");
        bytes[at] = b'i';
    });
    job.refuses_change("db.pin", "the checksum of the index in db was", |bytes| {
        let at = bytes.windows(4).position(|word| word == b"four").expect("a title");
        bytes[at] = b'F';
    });
    job.refuses_change("al.pal", "what aliases, lists and masks make of the database", |bytes| {
        bytes[6] = b'T';
    });
}

#[test]
fn a_database_made_again_is_refused_if_it_is_another() {
    let job = Job::new();
    // The new database has the same date, sizes and numbers.
    let old = fs::read(job.path("db.psq")).expect("a file");
    write(job.dir.path(), "db", &FOUR, &family(9, 12));
    assert_eq!(fs::read(job.path("db.psq")).expect("a file").len(), old.len());
    job.is_refused(&job.run(&["-ranks", "3"]), "the checksum of the sequences in db was");
    write(job.dir.path(), "db", &FOUR, &family(1, 12));
    job.goes_on();
}

#[test]
fn a_database_may_be_elsewhere() {
    let job = Job::new();
    let elsewhere = job.path("elsewhere");
    fs::create_dir(&elsewhere).expect("a directory");
    for name in ["db.pin", "db.psq", "db.phr", "more.pin", "more.psq", "more.phr", "al.pal"] {
        fs::rename(job.path(name), elsewhere.join(name)).expect("a file");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_fleetblast"));
    let output = job.command(program, &[]).env("BLASTDB", &elsewhere).output().expect("it runs");
    assert!(message(&output).contains("finished already"), "{}", message(&output));
    assert!(output.stdout == job.report);
}

#[test]
fn another_build_is_refused() {
    let job = Job::new();
    let other = job.path("another");
    fs::copy(env!("CARGO_BIN_EXE_fleetblast"), &other).expect("a copy");
    let output = job.command(&other, &[]).output().expect("it runs");
    assert!(message(&output).contains("finished already"), "the same build: {}", message(&output));
    let mut file = File::options().append(true).open(&other).expect("a program");
    file.write_all(b"another").expect("a program");
    drop(file);
    let output = job.command(&other, &[]).output().expect("it runs");
    job.is_refused(&output, "the build of FleetBLAST was");
}

#[test]
fn another_environment_is_refused_if_it_matters() {
    let job = Job::new();
    let program = Path::new(env!("CARGO_BIN_EXE_fleetblast"));
    let with = |name: &str, value: &str| {
        job.command(program, &[]).env(name, value).output().expect("it runs")
    };
    job.is_refused(&with("OLD_FSC", "1"), "OLD_FSC");
    job.is_refused(&with("BATCH_SIZE", "500"), "BATCH_SIZE");
    for (name, value) in [("FLEETBLAST_KERNEL", "portable"), ("BLASTMAT", "/nowhere")] {
        let output = with(name, value);
        assert!(message(&output).contains("finished already"), "{name}: {}", message(&output));
        assert!(output.stdout == job.report, "{name}");
    }
}
