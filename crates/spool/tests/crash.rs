//! Kills processes while they append results, and checks that no synchronised record is lost.
//!
//! This program is the test. If it is started with a directory as argument, it is the process to
//! kill.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::{append, contents, key, start};
use fleetblast_spool::{InvalidBytes, Reader, ResultIndex, Run, Writer};

/// Number of processes to kill.
const KILLS: u64 = 60;
/// Buffer size of the writers in bytes. Every fourth result is many times larger.
const BUFFER: usize = 16 * 1024;

fn result(block: u64) -> Vec<u8> {
    contents(block, if block % 4 == 3 { 2_000_000 } else { 2000 })
}

fn main() {
    match std::env::args_os().nth(1) {
        Some(root) if Path::new(&root).is_dir() => append_for_ever(Path::new(&root)),
        // Other arguments are options of the test harness, which this test does not use.
        _ => kill_and_look(),
    }
}

/// Resumes the job and appends the missing blocks. Prints the numbers of synchronised blocks, one
/// per line.
fn append_for_ever(root: &Path) {
    let job = start(root);
    let mut writer = Writer::new(job.run(), 0, BUFFER).expect("a writer");
    let mut output = std::io::stdout().lock();
    let mut unsynced = Vec::new();
    let (found, _) = index(job.run());
    for block in (0..).filter(|&block| found.shares_of_result(key(block)).is_none()) {
        append(&mut writer, block, &result(block)).expect("room");
        unsynced.push(block);
        if unsynced.len() as u64 > block % 4 {
            writer.sync().expect("room");
            // All lines are in one write, so that the parent gets whole lines.
            let lines: String = unsynced.drain(..).map(|block| format!("{block}\n")).collect();
            output.write_all(lines.as_bytes()).expect("the parent listens");
        }
    }
}

/// Returns the index of the records of all runs, and the number of files that end with an
/// incomplete record. Any other damage fails the test.
fn index(run: &Run) -> (ResultIndex, usize) {
    let mut index = ResultIndex::default();
    let mut tails = 0;
    for file in run.files().expect("readable") {
        let scan = run.scan(file).expect("readable");
        assert!(
            scan.invalid_bytes.iter().all(|fault| matches!(fault, InvalidBytes::Tail { .. })),
            "{scan:?}"
        );
        tails += scan.invalid_bytes.len();
        for place in scan.places {
            index.add(run, place).expect("equal results");
        }
    }
    (index, tails)
}

fn kill_and_look() {
    let root = tempfile::tempdir().expect("a directory");
    let mut acknowledged = Vec::new();
    for kill in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .arg(root.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        // Most processes append something. The others may be killed while they resume.
        let first = (kill % 6 > 0).then(|| lines.next().expect("a block").expect("readable"));
        thread::sleep(Duration::from_micros(kill * 7919 % 10_000));
        child.kill().expect("killed");
        child.wait().expect("dead");
        let blocks = first.into_iter().chain(lines.map(|line| line.expect("readable")));
        acknowledged.extend(blocks.map(|block| block.parse::<u64>().expect("a number")));
    }

    let job = start(root.path());
    let (index, tails) = index(job.run());
    let mut reader = Reader::new(job.run());
    for &block in &acknowledged {
        let places = index.shares_of_result(key(block)).expect("a record that counts");
        let read = places.iter().flat_map(|place| reader.read(place).expect("readable"));
        assert!(read.eq(result(block)), "block {block}");
    }
    println!(
        "test crash: {KILLS} kills, {} records counted, {} found, {tails} torn tails: ok",
        acknowledged.len(),
        index.complete().count()
    );
    job.remove().expect("removable");
    assert!(!root.path().exists());
}
