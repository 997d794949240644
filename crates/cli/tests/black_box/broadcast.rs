//! Processes that load the database together give the report of a single process, and read each
//! byte once.
use std::fs;
use std::path::Path;
use std::process::Output;

use crate::launched::launched;
use crate::volumes::{FOUR, protein, write};
use fastrand::Rng;
use tempfile::TempDir;

/// Makes the databases `one` and `two` of proteins, and queries that are copies of some of them.
fn database() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut random = Rng::with_seed(5);
    let (mut entries, mut queries) = (Vec::new(), String::new());
    for number in 0..400 {
        let protein = protein(&mut random, 50 + number % 300);
        if number % 40 == 7 {
            queries += &format!(">q{number}\n{}\n", String::from_utf8_lossy(&protein));
        }
        entries.push((format!("s{number} a protein"), protein));
    }
    write(dir.path(), "one", &FOUR, &entries[..150]);
    write(dir.path(), "two", &FOUR, &entries[150..]);
    fs::write(dir.path().join("q.fa"), queries).expect("queries");
    dir
}

/// Runs a search on this number of processes; for 0, one process without a launcher.
fn run(dir: &Path, processes: u32, arguments: &[&str]) -> Output {
    launched(Path::new(env!("CARGO_BIN_EXE_fleetblast")), processes)
        .args([
            "blastp",
            "-query",
            "q.fa",
            "-db",
            "one two",
            "-num_threads",
            "1",
            "-evalue",
            "1000",
        ])
        .args(arguments)
        .current_dir(dir)
        .env_remove("BLASTDB")
        .output()
        .expect("the program runs")
}

#[test]
fn the_report_is_the_same_and_each_byte_is_read_once() {
    let dir = database();
    let serial = run(dir.path(), 0, &[]);
    assert!(serial.status.success() && serial.stdout.len() > 10_000);
    let size: u64 = ["one.psq", "two.psq"]
        .iter()
        .map(|name| fs::metadata(dir.path().join(name)).expect("a file").len())
        .sum();
    for (processes, replicas, partitions) in
        [(1, "1", "1"), (2, "2", "1"), (3, "1", "7"), (4, "2", "61"), (4, "3", "5"), (3, "3", "2")]
    {
        let shape = ["-replicas", replicas, "-partitions", partitions, "-out", "report"];
        let more = [&["-loader", "broadcast", "-timing", "t.json"], &shape[..]].concat();
        let output = run(dir.path(), processes, &more);
        assert!(output.status.success(), "{more:?}: {}", String::from_utf8_lossy(&output.stderr));
        let report = fs::read(dir.path().join("report")).expect("the report");
        assert!(report == serial.stdout, "{processes} processes, {more:?}");
        let timing = fs::read_to_string(dir.path().join("t.json")).expect("the timing");
        let timing: serde_json::Value = serde_json::from_str(&timing).expect("JSON");
        let loading = &timing["loading"];
        assert_eq!(loading["method"], "broadcast");
        assert_eq!(loading["bytes_received"], 0, "there is one host");
        // The bytes read include the offsets of all sequences, four bytes each, and the bytes that
        // adjacent partitions share.
        let read = loading["bytes_read"].as_u64().expect("a number");
        assert!((size + 4 * 400..size + 4 * 400 + 5 * 63 + 16).contains(&read), "{read} of {size}");
    }
}

#[test]
fn what_does_not_fit_is_refused_once() {
    let dir = database();
    let output = run(dir.path(), 3, &["-loader", "broadcast", "-memory", "10K", "-replicas", "1"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert_eq!(message.matches("the database does not fit").count(), 1, "{message}");
}

#[test]
fn the_plan_shows_the_bytes_to_read() {
    let dir = database();
    let plan = |more: &[&str]| {
        let output = run(
            dir.path(),
            0,
            &[&["-plan", "-ranks", "6", "-memory", "1G", "-replicas", "6"], more].concat(),
        );
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = |name: &str| {
            let line = text.lines().find_map(|line| line.trim().strip_prefix(name));
            line.map(|rest| rest.trim().to_owned()).unwrap_or_default()
        };
        (line("loading"), line("got from other hosts"))
    };
    assert_eq!(plan(&[]), ("each host for itself".to_owned(), "0 bytes".to_owned()));
    let (loading, sent) = plan(&["-loader", "broadcast"]);
    assert!(loading == "all ranks together" && sent.ends_with("kB"), "{loading} {sent}");
}
