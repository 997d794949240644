//! A database that is written to during a search. Results from before and after the change belong
//! to two databases. So there is no report, and a checkpoint keeps no such results.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{compile_preload, complaint};
use crate::family::{family, queries};
use crate::volumes::{FOUR, write};

const FILE: &str = "db.psq";
const LONGEST: Duration = Duration::from_secs(120);

fn search(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    command.args(["blastp", "-db", "db", "-num_threads", "1", "-outfmt", "6"]).args(arguments);
    command.current_dir(directory).env_remove("BLASTDB").stderr(Stdio::piped());
    command
}

/// Waits until `is_done` is true for a process that still runs.
fn wait_for(what: &str, child: &mut Child, is_done: impl Fn(u32) -> bool) {
    let start = Instant::now();
    while !is_done(child.id()) {
        assert!(child.try_wait().expect("a process").is_none(), "it ended before {what}");
        assert!(start.elapsed() < LONGEST, "it did not come to {what}");
        sleep(Duration::from_millis(2));
    }
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("a process");
}

/// Replaces some residues in an existing file of sequences.
fn change(file: &Path) {
    let mut bytes = fs::read(file).expect("residues");
    for code in bytes.iter_mut().skip(1).filter(|code| **code != 0).step_by(3) {
        *code = 1;
    }
    overwrite(file, &bytes);
}

fn overwrite(file: &Path, bytes: &[u8]) {
    let mut open = fs::File::options().write(true).open(file).expect("a file");
    open.write_all(bytes).expect("written");
}

fn ends_without_report(child: Child, out: &Path) {
    let output = child.wait_with_output().expect("an end");
    let message = complaint(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("db.psq) was changed while it was searched"), "{message}");
    assert_eq!(fs::read(out).map(|report| report.len()).unwrap_or_default(), 0, "{message}");
}

#[test]
fn a_change_between_two_queries_is_seen() {
    for ranks in [&[][..], &["-ranks", "2", "-partitions", "3"]] {
        let directory = tempfile::tempdir().expect("a directory");
        let directory = directory.path();
        write(directory, "db", &FOUR, &family(1, 12));
        let arguments = [&["-out", "report"], ranks].concat();
        let mut child =
            search(directory, &arguments).stdin(Stdio::piped()).spawn().expect("a start");
        let maps = |id| fs::read_to_string(format!("/proc/{id}/maps")).unwrap_or_default();
        wait_for("its database", &mut child, |id| maps(id).contains(FILE));
        change(&directory.join(FILE));
        let mut queue = child.stdin.take().expect("a pipe");
        queue.write_all(queries(2, 3).concat().as_bytes()).expect("queries are read");
        drop(queue);
        ends_without_report(child, &directory.join("report"));
    }
}

#[test]
fn a_checkpoint_keeps_nothing_of_a_changed_database() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    write(directory, "db", &FOUR, &family(1, 40));
    fs::write(directory.join("q.fa"), queries(2, 600).concat()).expect("queries");
    let file = directory.join(FILE);
    let sound = fs::read(&file).expect("residues");
    let right = search(directory, &["-query", "q.fa"]).output().expect("a report").stdout;
    let job = [
        "-query",
        "q.fa",
        "-out",
        "report",
        "-ranks",
        "2",
        "-checkpoint",
        "kept",
        "-block_residues",
        "5000",
    ];
    let mut child = search(directory, &job).spawn().expect("a start");
    let spool = |name: &str| directory.join("kept").join(name).exists();
    wait_for("its checkpoint", &mut child, |_| spool("job"));
    // The job is stopped during the change, so that it cannot end before, however busy the machine
    // is.
    signal(&child, Signal::STOP);
    change(&file);
    signal(&child, Signal::CONT);
    ends_without_report(child, &directory.join("report"));
    overwrite(&file, &sound);
    let resumed = search(directory, &[&job[..], &["-resume"]].concat()).output().expect("an end");
    assert!(resumed.status.success(), "{}", complaint(&resumed));
    assert!(fs::read(directory.join("report")).expect("a report") == right, "another report");
}

/// The files of a database are replaced one by one. The program opens some before, and one after
/// the replacement.
#[test]
fn files_of_two_databases_are_not_opened_as_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    compile_preload("late_open.c", &directory.join("late.so"));
    fs::create_dir(directory.join("other")).expect("a directory");
    fs::write(directory.join("q.fa"), queries(2, 3).concat()).expect("queries");
    for words in [
        &["blastp", "-query", "q.fa", "-db", "db", "-outfmt", "6 std stitle"][..],
        &["psiblast", "-query", "q.fa", "-db", "db", "-ranks", "2"],
        &["blastdbcmd", "-db", "db", "-entry", "all", "-outfmt", "%a %s"],
        &["dbcheck", "-db", "db"],
    ] {
        for late in ["db.psq", "db.phr"] {
            write(directory, "db", &FOUR, &family(1, 12));
            write(&directory.join("other"), "db", &FOUR, &family(3, 12));
            let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
            command.args(words).current_dir(directory).env_remove("BLASTDB");
            command.env("LD_PRELOAD", directory.join("late.so"));
            command.env("LATE_FILE", late).env("LATE_DIR", directory);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().expect("a start");
            wait_for("the late file", &mut child, |_| directory.join("waiting").exists());
            for file in ["db.pin", "db.psq", "db.phr"] {
                fs::rename(directory.join("other").join(file), directory.join(file))
                    .expect("a place");
            }
            fs::write(directory.join("go"), "").expect("a file");
            let output = child.wait_with_output().expect("an end");
            let message = complaint(&output);
            let is_reported = message.contains(") was replaced while the database was opened");
            assert!(is_reported, "{words:?}, {late}: {message}");
            // The exit code of `blastdbcmd` is 1 if it finds the replacement while it opens the
            // database.
            assert!(matches!(output.status.code(), Some(1 | 2)), "{message}");
            assert!(output.stdout.is_empty(), "{message}");
            for name in ["waiting", "go"] {
                fs::remove_file(directory.join(name)).expect("a file");
            }
        }
    }
}

/// The index was replaced before the program opened it, the other files only afterwards.
#[test]
fn files_of_a_half_replaced_database_are_not_searched() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    let reversed = family(1, 12).into_iter().map(|(title, letters)| {
        let letters: Vec<u8> = letters.into_iter().rev().collect();
        (title, letters)
    });
    fs::create_dir(directory.join("other")).expect("a directory");
    write(directory, "db", &FOUR, &family(1, 12));
    write(&directory.join("other"), "db", &FOUR, &reversed.collect::<Vec<_>>());
    let replace = |file: &str| {
        fs::rename(directory.join("other").join(file), directory.join(file)).expect("a place");
    };
    replace("db.pin");
    let mut child =
        search(directory, &["-out", "report"]).stdin(Stdio::piped()).spawn().expect("a start");
    let mut queue = child.stdin.take().expect("a pipe");
    let queries = queries(2, 3);
    queue.write_all(queries[0].as_bytes()).expect("a query is read");
    // The report begins when the database is open and there is a query.
    wait_for("its report", &mut child, |_| directory.join(".report-0.part").exists());
    ["db.psq", "db.phr"].into_iter().for_each(replace);
    queue.write_all(queries[1..].concat().as_bytes()).expect("queries are read");
    drop(queue);
    let output = child.wait_with_output().expect("an end");
    let message = complaint(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("was replaced while the database was opened"), "{message}");
    let report = fs::read(directory.join("report")).unwrap_or_default();
    assert!(report.is_empty(), "{message}");
}
