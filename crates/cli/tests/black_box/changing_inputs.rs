//! Files that grow while a program reads them: an error names the file, and nothing is published.
//!
//! The program is stopped when it has read a part of the file, and goes on when the file has grown.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::patience::{until_within, within};
use crate::sandbox::{Sandbox, message};

/// Longest wait: more than enough for a short search on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Exit codes: `INPUT` for faulty queries, subjects and options, `DATABASE` for faulty databases
/// and lists of their sequences.
const INPUT: i32 = 1;
const DATABASE: i32 = 2;
/// Sizes of files in megabytes, tried in turn: on a busy machine the test often notices too late
/// that a program has begun to read.
const SIZES: [u64; 12] = [20, 20, 20, 80, 80, 80, 80, 80, 160, 160, 160, 160];
/// Least number of bytes that a program has read when it is stopped. It reads the first bytes to
/// detect the format.
const BEGUN: u64 = 1 << 20;

/// A function that writes a file of about this size in bytes.
type Fill = fn(&Path, u64);

/// Writes zeros that take no space on the disk, for a file that is read before it is parsed.
fn zeros(path: &Path, size: u64) {
    File::create(path).expect("a file").set_len(size).expect("room");
}

/// Writes proteins in FASTA.
fn sequences(path: &Path, size: u64) {
    let one = |number| format!(">s{number}\n{}\n", "MKVLAAGIV".repeat(100));
    fs::write(path, (0..size / 910).map(one).collect::<String>()).expect("room");
}

/// Writes masks of one sequence.
fn masks(path: &Path, size: u64) {
    let one = |number| {
        format!("int {{ from {number}, to {number}, id local str \"s1\" }}{}", " ".repeat(4000))
    };
    let ranges: Vec<String> = (0..size / 4050).map(one).collect();
    let start = "Blast-db-mask-info ::= { algo-id 1, algo-program seg, algo-options \"\", ";
    let masks = format!("masks {{ masks {{ {} }}, more FALSE }} }}", ranges.join(","));
    fs::write(path, [start, &masks].concat()).expect("room");
}

/// Stops a program, and waits until all of its threads have stopped.
fn stop(child: &Child) {
    kill_process(Pid::from_child(child), Signal::STOP).expect("a process");
    let threads = Path::new("/proc").join(child.id().to_string()).join("task");
    let is_stopped = |thread: &Path| {
        let status = fs::read_to_string(thread.join("status")).unwrap_or_default();
        status.contains("\nState:\tT") || status.is_empty() || status.contains("\nState:\tZ")
    };
    until_within(PATIENCE, "the stop of all threads", || {
        let mut threads = fs::read_dir(&threads).expect("threads").filter_map(Result::ok);
        threads.all(|thread| is_stopped(&thread.path()))
    });
}

/// Stops a program while it reads a file of `length` bytes; returns false if it has read all of it
/// before.
fn stopped_amid(child: &mut Child, path: &Path, length: u64) -> bool {
    let process = Path::new("/proc").join(child.id().to_string());
    let position = || -> Option<u64> {
        let files = fs::read_dir(process.join("fd")).ok()?.filter_map(Result::ok);
        let mut files = files.filter(|it| fs::read_link(it.path()).is_ok_and(|to| to == path));
        let info = process.join("fdinfo").join(files.next()?.file_name());
        fs::read_to_string(info).ok()?.lines().next()?.strip_prefix("pos:")?.trim().parse().ok()
    };
    let is_amid = || position().is_some_and(|at| at > BEGUN && at < length);
    let seen = within(PATIENCE, || {
        let has_ended = child.try_wait().expect("a process").is_some();
        (has_ended || is_amid()).then_some(!has_ended)
    });
    if seen != Some(true) {
        return false;
    }
    stop(child);
    is_amid()
}

/// Runs a program whose file `name` grows while it is read. The program must refuse it with this
/// exit code, and must leave no other files than before.
fn assert_refused(program: &str, arguments: &[&str], (name, fill): (&str, Fill), code: i32) {
    let mut too_fast = String::new();
    for megabytes in SIZES {
        let sandbox = Sandbox::new();
        let path = sandbox.path(name);
        fill(&path, megabytes << 20);
        let before = sandbox.names();
        let length = fs::metadata(&path).expect("a file").len();
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
        command.arg(program).args(arguments).current_dir(sandbox.path(""));
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a start");
        if !stopped_amid(&mut child, &fs::canonicalize(&path).expect("a file"), length) {
            child.kill().expect("a process");
            too_fast = message(&child.wait_with_output().expect("an end"));
            continue;
        }
        File::options().append(true).open(&path).unwrap().write_all(b">more\nMKV\n").unwrap();
        kill_process(Pid::from_child(&child), Signal::CONT).expect("a process");
        let output = child.wait_with_output().expect("an end");
        let said = message(&output);
        assert_eq!(output.status.code(), Some(code), "{program} {arguments:?}: {said}");
        assert!(said.contains(name) && said.contains("the file has changed"), "{said}");
        assert!(fs::read(sandbox.path("report")).unwrap_or_default().is_empty(), "{said}");
        let left = sandbox.names().into_iter().filter(|name| name != "report");
        assert_eq!(left.collect::<Vec<_>>(), before, "{said}");
        return;
    }
    panic!("{program} {arguments:?} reads all before it can be stopped: {too_fast}");
}

#[test]
fn subjects() {
    let search = ["-query", "q.fa", "-subject", "s.fa", "-out", "report"];
    assert_refused("blastp", &search, ("s.fa", sequences), INPUT);
}

#[test]
fn alignments_and_matrices() {
    for option in ["-in_msa", "-in_pssm"] {
        let search = [option, "begin", "-db", "db", "-out", "report"];
        assert_refused("psiblast", &search, ("begin", zeros), INPUT);
    }
}

#[test]
fn lists_of_sequences() {
    for option in ["-seqidlist", "-gilist", "-taxidlist", "-negative_seqidlist"] {
        let search = ["-query", "q.fa", "-db", "db", option, "list", "-out", "report"];
        assert_refused("blastp", &search, ("list", zeros), DATABASE);
    }
}

#[test]
fn what_a_database_is_made_of() {
    let build = ["-in", "s.fa", "-dbtype", "prot", "-out", "new"];
    assert_refused("makeblastdb", &build, ("s.fa", sequences), INPUT);
    let build = ["-in", "q.fa", "-dbtype", "prot", "-out", "new"];
    let taxids = [&build[..], &["-taxid_map", "taxids", "-parse_seqids"]].concat();
    assert_refused("makeblastdb", &taxids, ("taxids", zeros), INPUT);
    let masked = [&build[..], &["-mask_data", "masks", "-parse_seqids"]].concat();
    assert_refused("makeblastdb", &masked, ("masks", masks), INPUT);
}

#[test]
fn entries_that_are_asked_for() {
    for option in ["-entry_batch", "-taxidlist"] {
        let wanted = ["-db", "db", option, "list", "-out", "report"];
        assert_refused("blastdbcmd", &wanted, ("list", zeros), INPUT);
    }
}
