//! Errors at which BLAST+ stops before all queries are searched: ranks report the queries before
//! them like one process.

use std::fs;
use std::process::Output;

use fleetblast_oracle::sample;

use super::{Bases, INPUT, MANY, Place, fasta, without_command};
use fastrand::Rng;

const SHAPES: [&str; 4] = [
    "-ranks 3 -block_residues 700 -output individual",
    "-ranks 4 -groups 2 -partitions 3 -block_residues 3000",
    "-ranks 1",
    "-ranks 2 -block_residues 50000 -output collective",
];

impl Place {
    fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().expect("the program runs")
    }

    /// Checks that ranks fail like one process, after the same report. Returns the length of the
    /// report in bytes.
    fn assert_stops_alike(&self, search: &str, shape: &str) -> usize {
        self.assert_stops_like(&self.run(search), search, shape)
    }

    fn assert_stops_like(&self, serial: &Output, search: &str, shape: &str) -> usize {
        let ranks = self.run(&format!("{search} {shape}"));
        let messages = String::from_utf8_lossy(&ranks.stderr);
        assert_eq!(ranks.status.code(), serial.status.code(), "{search} {shape}: {messages}");
        assert!(!ranks.status.success(), "{search}");
        let (expected, size) = (serial.stdout.len(), ranks.stdout.len());
        let same = without_command(&serial.stdout) == without_command(&ranks.stdout);
        assert!(same, "{search} {shape}: {size} bytes for {expected}");
        let expected = String::from_utf8_lossy(&serial.stderr);
        // Messages about the checkpoint come first.
        let is_alike = messages.starts_with(&*expected) || shape.contains("-checkpoint");
        assert!(is_alike, "{search} {shape}: {messages}\none process: {expected}");
        size
    }
}

/// Writes `stopped.fa`: all queries of `many.fa`, with the text `what` before one of them.
fn with(place: &Place, at: usize, what: &str) {
    let all = fs::read_to_string(place.path("many.fa")).expect("queries");
    let mut queries: Vec<String> = all.split('>').skip(1).map(|text| format!(">{text}")).collect();
    queries.insert(at.min(queries.len()), what.to_owned());
    place.write("stopped.fa", &queries.concat());
}

#[test]
fn queries_before_a_bad_one_are_reported() {
    let place = Place::with_repeats();
    let search = MANY.replace("many.fa", "stopped.fa");
    let mut sizes = Vec::new();
    for (turn, at) in [0, 20, 1000].into_iter().enumerate() {
        with(&place, at, ">bad\n%%%%%%%%%%%%%%\n");
        let serial = place.run(&search);
        assert_eq!(serial.status.code(), Some(INPUT));
        sizes.push(place.assert_stops_like(&serial, &search, SHAPES[turn % SHAPES.len()]));
    }
    // With more queries before the bad one, more batches are complete.
    assert!(sizes.is_sorted() && sizes[2] > sizes[1] && sizes[1] > sizes[0], "{sizes:?}");
    for format in sample(3, ["5", "6", "17"]) {
        let search = format!("{search} -outfmt {format} ").replace("-outfmt 0", "");
        let search = search.replace("-num_descriptions 3 -num_alignments 1", "");
        with(&place, 140, ">bad\n%%%%%%%%%%%%%%\n");
        place.assert_stops_alike(&search, SHAPES[0]);
    }
}

#[test]
fn with_a_checkpoint_too() {
    let place = Place::with_repeats();
    let search = MANY.replace("many.fa", "stopped.fa");
    with(&place, 150, ">bad\n%%%%%%%%%%%%%%\n");
    let serial = place.run(&search);
    for shapes in [["-ranks 3", "-ranks 4 -groups 2"], ["-ranks 1", "-ranks 3 -partitions 2"]] {
        for shape in shapes {
            let kept = "-checkpoint kept -resume -block_residues 700";
            place.assert_stops_like(&serial, &search, &format!("{shape} {kept}"));
        }
        fs::remove_dir_all(place.path("kept")).expect("a checkpoint");
    }
}

#[test]
fn a_batch_without_letters_ends_the_report() {
    let place = Place::new();
    let mut bases = Bases(Rng::with_seed(9));
    let sequence = bases.some(5000);
    place.database("db", std::slice::from_ref(&sequence));
    place.write("stopped.fa", &(fasta("q", std::slice::from_ref(&sequence)) + ">e\n>f\n"));
    for (format, shape) in ["0", "5", "6", "7", "17"].into_iter().zip(SHAPES.into_iter().cycle()) {
        let search = format!("-query stopped.fa -db db -outfmt {format}");
        let size = place.assert_stops_alike(&search, shape);
        assert!(size > 0, "{format}");
    }
    // These scores have no statistics for gapped alignments, so even the first batch fails.
    let unknown = "-query stopped.fa -db db -reward 1 -penalty -6 -outfmt 0";
    place.assert_stops_alike(unknown, SHAPES[0]);
    let nothing = fasta("n", &["N".repeat(6000)]);
    place.write("stopped.fa", &(nothing + &fasta("q", &[sequence])));
    place.assert_stops_alike(unknown, SHAPES[1]);
}
