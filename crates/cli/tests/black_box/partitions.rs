//! The report does not depend on the partitions of the database, nor on the number of threads.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fleetblast_oracle::sample_from;

use crate::common::complaint;
use crate::patience::output;
use fastrand::Rng;

/// A generator of families of synthetic proteins, so that a failure can be repeated.
struct Family(Rng);

impl Family {
    fn residue(&mut self) -> char {
        char::from(b"ARNDCQEGHILKMFPSTWYVLAGSEV"[self.0.usize(..26)])
    }

    /// Returns a copy of `parent` with about one residue in `every` replaced, and sometimes a
    /// residue lost or gained.
    fn mutate(&mut self, parent: &str, every: usize) -> String {
        let mut copy = String::new();
        for residue in parent.chars() {
            match self.0.usize(..every * 10) {
                0 => {}
                1 => copy.extend([residue, self.residue()]),
                n if n < 12 => copy.push(self.residue()),
                _ => copy.push(residue),
            }
        }
        copy
    }
}

/// Writes queries and subjects: families of many sizes (some larger than a short hit list),
/// repeats, and unrelated sequences.
fn write_data(dir: &Path) {
    let mut random = Family(Rng::with_seed(20_211));
    let (mut queries, mut subjects) = (String::new(), String::new());
    let mut number = 0;
    for family in 0..6 {
        let len = random.0.usize(60..360);
        let parent: String = (0..len).map(|_| random.residue()).collect();
        writeln!(queries, ">query{family} family of {len}\n{parent}").unwrap();
        for member in 0..25 * family {
            let copy = random.mutate(&parent, 2 + member % 9);
            let repeat = if member % 7 == 0 { random.mutate(&copy, 4) } else { String::new() };
            number += 1;
            writeln!(subjects, ">s{number}\n{copy}{repeat}").unwrap();
        }
        for _ in 0..20 {
            let stranger: String = (0..random.0.usize(5..405)).map(|_| random.residue()).collect();
            number += 1;
            writeln!(subjects, ">s{number} stranger\n{stranger}").unwrap();
        }
    }
    std::fs::write(dir.join("q.fa"), queries).unwrap();
    std::fs::write(dir.join("s.fa"), subjects).unwrap();
}

/// Runs a search that must end within a minute. Returns the report.
fn run_search(dir: &Path, options: &[&str], partitions: &str) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    command.args(["blastp", "-query", "q.fa", "-subject", "s.fa", "-partitions", partitions]);
    command.args(options).current_dir(dir);
    let run = output(command, Duration::from_secs(60));
    assert!(run.status.success(), "{options:?}: {}", complaint(&run));
    run.stdout
}

#[test]
fn more_partitions_than_subjects_take_no_more_time() {
    let dir = tempfile::tempdir().unwrap();
    write_data(dir.path());
    // Before there was a limit, this took ten seconds for every twenty million partitions.
    let most = i32::MAX.to_string();
    assert!(run_search(dir.path(), &[], "1") == run_search(dir.path(), &[], &most));
}

#[test]
fn more_ranks_than_a_process_can_be_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    write_data(dir.path());
    let io_ranks = ["-io_ranks", "2147483640"];
    for (options, most) in [
        (&[][..], "10000 in one process"),
        (&["-plan"], "1000000 in a plan"),
        (&io_ranks, "10000 in one process"),
        (&[&io_ranks[..], &["-plan"]].concat(), "1000000 in a plan"),
    ] {
        let run = Command::new(env!("CARGO_BIN_EXE_fleetblast"))
            .current_dir(dir.path())
            .args(["blastp", "-query", "q.fa", "-subject", "s.fa", "-ranks", "2147483647"])
            .args(options)
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{message}");
        assert!(message.contains(&format!("it must be from 1 to {most}")), "{message}");
    }
}

/// The stacks of all threads need more memory than there is.
#[test]
fn ranks_without_threads_are_an_error() {
    let dir = tempfile::tempdir().unwrap();
    write_data(dir.path());
    let search = "blastp -query q.fa -subject s.fa -ranks 3000 -io_ranks 2998";
    let script = format!("ulimit -v 3000000; exec timeout 60 \"$0\" {search}");
    let run = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_fleetblast")])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(4), "{message}");
    assert!(message.contains("BLAST ran out of memory"), "{message}");
}

#[test]
fn any_number_of_partitions_gives_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    write_data(dir.path());
    let lines: [&[&str]; 9] = [
        &["-outfmt", "0"],
        &["-outfmt", "5"],
        &["-outfmt", "6", "-evalue", "1000"],
        &["-outfmt", "6", "-max_target_seqs", "5"],
        &["-outfmt", "6", "-max_target_seqs", "3", "-comp_based_stats", "0"],
        &["-outfmt", "7", "-ungapped", "-comp_based_stats", "F", "-max_target_seqs", "20"],
        &["-outfmt", "6", "-culling_limit", "2"],
        &["-outfmt", "6", "-best_hit_overhang", "0.1", "-best_hit_score_edge", "0.1"],
        &["-outfmt", "6", "-use_sw_tback", "-max_target_seqs", "10"],
    ];
    for (turn, line) in lines.into_iter().enumerate() {
        let whole = run_search(dir.path(), line, "1");
        assert!(whole.len() > 500, "{line:?} finds something");
        for partitions in sample_from(turn, 3, ["2", "7", "64"]) {
            assert!(
                whole == run_search(dir.path(), line, partitions),
                "{line:?} in {partitions} parts"
            );
        }
    }
}
