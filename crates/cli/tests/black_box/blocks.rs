//! The cuts between blocks of queries change neither the report nor the messages.

use std::fmt::Write;
use std::fs;

use fleetblast_oracle::sample_from;

use crate::sandbox::{Sandbox, message, query};

/// Returns queries that fill several batches of BLAST+. Some of them cannot be searched.
fn queries() -> String {
    let usual = String::from_utf8(query()).expect("letters");
    let letters = usual.lines().nth(1).expect("a sequence");
    let mut queries = String::new();
    let mut number = 0;
    while queries.len() < 45_000 {
        let start = number * 7 % (letters.len() / 2);
        match number % 9 {
            3 => writeln!(queries, ">masked{number}\nXXXXXXXXXXXXXXXX"),
            5 => writeln!(queries, ">empty{number}\n"),
            7 => writeln!(queries, ">odd{number}\nOO{}", &letters[start..]),
            _ => writeln!(queries, ">q{number}\n{}", &letters[start..]),
        }
        .expect("a string");
        number += 1;
    }
    queries
}

/// Options that cut the queries into blocks.
const CUTS: [&str; 5] = [
    "-block_residues 1",
    "-ranks 1 -block_residues 1",
    "-ranks 3 -groups 2 -block_residues 10001",
    "-ranks 2 -block_residues 1000000",
    "-ranks 2",
];

#[test]
fn any_blocks_give_the_same_bytes_and_messages() {
    let sandbox = Sandbox::new();
    sandbox.write("q.fa", queries());
    let mut number = 0;
    for format in ["0", "5", "6"] {
        for masks in [&[][..], &["-seg", "yes", "-soft_masking", "false"]] {
            let run = |arguments: &[&str]| {
                let output = sandbox
                    .run(&[&["-outfmt", format, "-num_threads", "1"], masks, arguments].concat());
                assert!(output.status.success(), "{}", message(&output));
                (output.stdout.clone(), message(&output))
            };
            let (report, said) = run(&[]);
            assert!(report.len() > 10_000, "something is found");
            assert_eq!(format != "5", said.contains("Could not calculate"), "{said}");
            // Each format is tested with other cuts.
            number += 1;
            for arguments in sample_from(number, 2, CUTS) {
                let arguments: Vec<&str> = arguments.split(' ').collect();
                let (got, messages) = run(&arguments);
                assert!(got == report, "{format} {arguments:?}");
                assert_eq!(messages, said, "{format} {arguments:?}");
            }
        }
    }
}

/// Counts the blocks in the trace `t.json`.
fn blocks(sandbox: &Sandbox) -> usize {
    let trace = fs::read_to_string(sandbox.path("t.json")).expect("a trace");
    trace.matches("\"prepare block ").count()
}

#[test]
fn blocks_are_as_large_as_wished_and_end_with_a_batch() {
    let sandbox = Sandbox::new();
    sandbox.write("q.fa", queries());
    let of = |residues: &str| {
        let output = sandbox.run(&[
            "-ranks",
            "1",
            "-trace",
            "t.json",
            "-block_residues",
            residues,
            "-out",
            "o",
        ]);
        assert!(output.status.success(), "{}", message(&output));
        blocks(&sandbox)
    };
    let (batches, pairs, all) = (of("1"), of("20000"), of("1000000"));
    assert!((4..=5).contains(&batches), "{batches} batches of about 10,000 residues");
    assert_eq!((pairs, all), (batches.div_ceil(2), 1));
    let refused = sandbox.run(&["-block_residues", "0"]);
    assert_eq!(refused.status.code(), Some(1), "{}", message(&refused));
    assert!(message(&refused).contains("block_residues"), "{}", message(&refused));
}

/// A checkpoint keeps results by block, so a run on other ranks has to cut the queries in the same
/// way.
#[test]
fn a_resumed_job_keeps_its_blocks() {
    let sandbox = Sandbox::new();
    sandbox.write("q.fa", queries());
    let report = sandbox.run(&["-outfmt", "0"]).stdout;
    // The checkpoint has room for the record of the job, but not for the results of its first
    // block.
    let script = "ulimit -f 16; \"$@\"";
    let kept = ["-outfmt", "0", "-checkpoint", "kept", "-out", "o", "-ranks", "1"];
    let first =
        sandbox.shell(script, &[&kept[..], &["-block_residues", "20000"]].concat()).output();
    assert!(!first.expect("the program runs").status.success());
    assert!(sandbox.path("kept/job").is_file(), "{:?}", sandbox.names());
    let other = sandbox.run(&[&kept[..], &["-resume", "-block_residues", "30000"]].concat());
    assert!(!other.status.success());
    assert!(message(&other).contains("20000 residues"), "{}", message(&other));
    let kept = ["-outfmt", "0", "-checkpoint", "kept", "-out", "o", "-ranks", "4"];
    let resumed = sandbox.run(&[&kept[..], &["-resume", "-trace", "t.json"]].concat());
    assert!(resumed.status.success(), "{}", message(&resumed));
    assert_eq!(fs::read(sandbox.path("o")).expect("a report"), report);
    // Each of the five batches has a little more than 10,000 residues, and a block two batches.
    assert_eq!(blocks(&sandbox), 3, "of 20,000 residues");
}
