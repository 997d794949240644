//! `blastn`: results that depend on statistics without gaps, which ambiguous letters change, equal
//! the oracle's. The statistics of the queries in a batch set the X-drop of each extension.

use std::fs;

use fleetblast_oracle::sample;

use crate::blastn::{Bases, COLUMNS, compare, make_database};
use crate::common::Fixture;
use fastrand::Rng;

/// Options for gap costs. Some costs have statistics of their own; the others have only the
/// ungapped ones.
const GAP_COSTS: &[&str] = &[
    "-no_greedy|-gapopen|5|-gapextend|2|-word_size|11",
    "-gapopen|5|-gapextend|2|-word_size|16",
    "-task|blastn|-gapopen|20|-gapextend|10",
    "-task|dc-megablast|-gapopen|7|-gapextend|5",
    "-task|blastn|-reward|1|-penalty|-1|-gapopen|5|-gapextend|5",
    "-task|blastn",
];

/// Options that limit by how many bits extensions may fall. Some are close to a change of the raw
/// score.
const DROPS: &[&str] = &[
    "",
    "|-xdrop_gap|10|-xdrop_gap_final|20",
    "|-xdrop_gap|7.7|-xdrop_gap_final|9.6",
    "|-xdrop_gap|13.45|-xdrop_gap_final|25",
    "|-xdrop_ungap|5",
];

/// Makes about `percent` of a hundred letters ambiguous.
fn blur_letters(bases: &mut Bases, mut sequence: Vec<u8>, percent: u64) -> Vec<u8> {
    for letter in &mut sequence {
        if bases.0.u64(..100) < percent {
            *letter = b"RYKMSWN"[bases.0.usize(..7)];
        }
    }
    sequence
}

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let mut bases = Bases(Rng::with_seed(77));
    let family = bases.sequence(1500);
    let (mut queries, mut subjects) = (String::new(), String::new());
    for number in 0..12 {
        let start = bases.0.usize(..1000);
        let query = bases.mutant(&family[start..start + 400]);
        let query = blur_letters(&mut bases, query, [0, 0, 2, 20, 50, 90][number % 6]);
        queries += &format!(">q{number}\n{}\n", String::from_utf8_lossy(&query));
        let far = (0..3).fold(family.clone(), |sequence, _| bases.mutant(&sequence));
        let far = blur_letters(&mut bases, far, [0, 1, 10][number % 3]);
        subjects += &format!(">s{number}\n{}\n", String::from_utf8_lossy(&far));
    }
    fs::write(fixture.path().join("blurred.fa"), queries).expect("queries");
    fs::write(fixture.path().join("far.fa"), subjects).expect("subjects");
    make_database(&fixture, "far.fa", "nucl", "far");
    fixture
}

#[test]
fn costs_of_gaps_count_for_nothing_without_gaps() {
    let costs = [
        "-task|blastn|-gapopen|20000000|-gapextend|20000000",
        "-task|blastn-short|-gapopen|5|-gapextend|2147483647",
        "-no_greedy|-gapopen|2147483647|-gapextend|2147483647",
    ];
    let line = |costs| format!("-query|blurred.fa|-db|far|-ungapped|{costs}|-outfmt|{COLUMNS}");
    compare(&fixture(), costs.map(line));
}

#[test]
fn extensions_fall_as_far_as_in_the_oracle() {
    let lines = DROPS.iter().flat_map(|drops| {
        GAP_COSTS.iter().map(move |costs| {
            format!("-query|blurred.fa|-db|far|{costs}{drops}|-dust|no|-outfmt|{COLUMNS}")
        })
    });
    compare(&fixture(), sample(3, lines));
}
