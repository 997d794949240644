//! Memory of a search on ranks must not grow with the number of queries, however short these are.

use std::fs;

use fleetblast_oracle::sample;

use crate::sandbox::Sandbox;
use crate::volumes::entries;

/// Number of residues of a query.
const LENGTH: usize = 12;
/// Allowed growth of memory from few queries to many. (The system does not get back all memory of
/// finished blocks.)
const BAR: f64 = 1.25;
/// Number of queries in the smaller search: more than may be unfinished at a time.
const FEW: usize = 12_000;
const MANY: usize = 4 * FEW;

/// Returns FASTA of tiny queries, which are parts of the database's sequences.
fn tiny(count: usize) -> String {
    let letters: Vec<Vec<u8>> = entries(11, 5).into_iter().map(|entry| entry.1).collect();
    let letters = String::from_utf8(letters.concat()).expect("letters");
    let piece = |number: usize| {
        let start = number * 7 % (letters.len() - LENGTH);
        format!(">q{number}\n{}\n", &letters[start..start + LENGTH])
    };
    (0..count).map(piece).collect()
}

/// Returns the bytes of memory that a search of `count` queries takes on two ranks.
fn peak(sandbox: &Sandbox, count: usize, more: &[&str]) -> f64 {
    sandbox.write("tiny.fa", tiny(count));
    let fixed = ["-query", "tiny.fa", "-ranks", "2", "-num_threads", "1", "-timing", "t.json"];
    let output = sandbox.run(&[&fixed, more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let timing = fs::read(sandbox.path("t.json")).expect("figures");
    let timing: serde_json::Value = serde_json::from_slice(&timing).expect("JSON");
    assert_eq!(timing["queries"].as_u64(), Some(count as u64));
    timing["peak_memory_bytes"].as_f64().expect("a number")
}

#[test]
fn tiny_queries_on_ranks_take_bounded_memory() {
    let sandbox = Sandbox::new();
    let options: [[&[&str]; 2]; 2] =
        [[&[], &[]], [&["-checkpoint", "few", "-out", "f"], &["-checkpoint", "many", "-out", "m"]]];
    for [few, many] in sample(2, options) {
        let (few, many) = (peak(&sandbox, FEW, few), peak(&sandbox, MANY, many));
        assert!(many < BAR * few, "{FEW} queries take {few} bytes, {MANY} take {many}");
    }
}
