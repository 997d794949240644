//! A query that cannot be read: ranks report the queries before it like one process, for every
//! format, strategy and place of the query.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::family::{family, queries};
use crate::volumes::{FOUR, write};
use tempfile::TempDir;

const FORMATS: [&str; 5] = ["0", "5", "6", "7", "10"];
const STRATEGIES: [&str; 3] = ["merge", "individual", "collective"];
/// Exit code of a search whose queries cannot be read.
const INPUT: i32 = 1;
/// Number of queries: they fill a block of 50,000 residues and a part of the next.
const QUERIES: usize = 400;
/// Places of the bad query: first, at the ends of a block, inside a block, within batches of 10,000
/// residues, and last. At 160 residues a query, a batch has 63 queries and a block 315.
const PLACES: [usize; 7] = [0, 1, 100, 314, 315, 316, QUERIES];

fn fixture() -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path(), "db", &FOUR, &family(1, 6));
    let queries = queries(2, QUERIES);
    for place in PLACES {
        let (before, after) = queries.split_at(place);
        let text = before.concat() + ">bad\n%%%%%%%%%%%%%%\n" + &after.concat();
        fs::write(dir.path().join(format!("bad{place}.fa")), text).expect("queries");
    }
    dir
}

fn run(dir: &Path, mut command: Command, place: usize, arguments: &[&str]) -> Output {
    let query = format!("bad{place}.fa");
    command.args(["blastp", "-db", "db", "-num_threads", "1", "-query", &query]).args(arguments);
    command.current_dir(dir).env_remove("BLASTDB").output().expect("the program runs")
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fleetblast"))
}

/// Checks that both runs fail alike, with the same report and message.
fn assert_alike(serial: &Output, ranks: &Output, what: &str) {
    let message = String::from_utf8_lossy(&ranks.stderr);
    assert_eq!(serial.status.code(), Some(INPUT), "{what}");
    assert_eq!(ranks.status.code(), Some(INPUT), "{what}: {message}");
    let (serial_size, size) = (serial.stdout.len(), ranks.stdout.len());
    assert!(serial.stdout == ranks.stdout, "{what}: {size} bytes, without ranks {serial_size}");
    let expected = String::from_utf8_lossy(&serial.stderr);
    assert!(message.starts_with(&*expected), "{what}: {message}\nwithout ranks: {expected}");
}

#[test]
fn queries_before_a_bad_one_are_reported() {
    let dir = fixture();
    let mut reported = 0;
    // Each place is tested with two formats, and with the three strategies in turn. These are all
    // pairs of format and strategy but one.
    for turn in 0..2 * PLACES.len() {
        let (place, format) = (PLACES[turn / 2], FORMATS[turn % FORMATS.len()]);
        let serial = run(dir.path(), program(), place, &["-outfmt", format]);
        // This is more than the head of a report in XML.
        reported += usize::from(serial.stdout.len() > 2_500);
        let strategy = STRATEGIES[turn % STRATEGIES.len()];
        let ranks = ["1", "2", "5"][turn / 3 % 3];
        let arguments = ["-outfmt", format, "-ranks", ranks, "-output", strategy];
        let alike = run(dir.path(), program(), place, &arguments);
        assert_alike(&serial, &alike, &format!("{place} {arguments:?}"));
    }
    assert_eq!(reported, 10, "the last five places have queries before them");
}

#[test]
fn with_a_checkpoint_too() {
    let dir = fixture();
    for (turn, place) in PLACES.into_iter().enumerate() {
        let kept = format!("kept{place}");
        let serial = run(dir.path(), program(), place, &["-outfmt", "0"]);
        let (strategy, ranks) = (STRATEGIES[turn % 3], ["3", "1"][turn % 2]);
        let arguments =
            ["-outfmt", "0", "-ranks", ranks, "-output", strategy, "-checkpoint", &kept, "-resume"];
        // The second run takes all results from the checkpoint.
        for number in ["first", "second"] {
            let output = run(dir.path(), program(), place, &arguments);
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(INPUT), "{place} {message}");
            assert!(output.stdout == serial.stdout, "{place} {arguments:?}, {number} run");
            let finished = message.contains("finished already");
            assert_eq!(finished, number == "second", "{place}: {message}");
        }
    }
}

#[test]
fn no_report_in_a_file_is_taken_for_a_whole_one() {
    let dir = fixture();
    let report = dir.path().join("report");
    fs::write(&report, "an older one").expect("a file");
    for strategy in STRATEGIES {
        let arguments = ["-ranks", "3", "-output", strategy, "-out", "report"];
        let output = run(dir.path(), program(), 316, &arguments);
        assert_eq!(output.status.code(), Some(INPUT));
        assert_eq!(fs::read(&report).expect("a file"), b"an older one");
        let names = fs::read_dir(dir.path()).expect("the directory");
        let hidden = names.filter(|entry| {
            let name = entry.as_ref().expect("an entry").file_name();
            name.to_string_lossy().starts_with('.')
        });
        assert_eq!(hidden.count(), 0, "an unfinished report is left");
    }
}

#[cfg(feature = "mpi")]
#[test]
fn processes_do_the_same() {
    let dir = fixture();
    for (turn, place) in PLACES.into_iter().enumerate() {
        let (format, strategy) = (FORMATS[turn % 5], STRATEGIES[turn % 3]);
        let serial = run(dir.path(), program(), place, &["-outfmt", format]);
        let program = Path::new(env!("CARGO_BIN_EXE_fleetblast"));
        let arguments = ["-outfmt", format, "-output", strategy];
        let processes = run(dir.path(), crate::launched::launched(program, 3), place, &arguments);
        assert_alike(&serial, &processes, &format!("{place} {arguments:?}"));
    }
}
