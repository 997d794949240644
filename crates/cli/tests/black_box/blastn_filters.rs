//! `blastn`: HSP filters compare the HSPs of both strands of a query, as in the oracle.

use std::fs;

use fleetblast_oracle::sample;

use crate::blastn::{Bases, COLUMNS, compare, make_database, opposite};
use crate::common::Fixture;
use fastrand::Rng;

/// Options for HSP filters. Each but the first removes an HSP in these tests.
const FILTERS: &[&str] = &[
    "-max_hsps|500",
    "-culling_limit|1",
    "-culling_limit|2",
    "-culling_limit|7",
    "-best_hit_overhang|0.1|-best_hit_score_edge|0.1",
    "-best_hit_overhang|0.25|-best_hit_score_edge|0.25|-max_target_seqs|5",
    "-best_hit_score_edge|0.05|-max_target_seqs|1",
    "-subject_besthit",
    "-subject_besthit|-max_hsps|3",
    "-culling_limit|3|-subject_besthit",
];

/// Options of the searches to which the filters are added.
const SEARCHES: &[&str] = &[
    "-task|megablast",
    "-task|blastn",
    "-task|blastn|-ungapped",
    "-task|megablast|-word_size|7|-ungapped",
    "-task|blastn|-strand|minus",
    "-task|dc-megablast",
    "-task|blastn-short",
];

/// Returns a sequence of `count` repeats: copies in both directions and palindromes, some more
/// alike than others.
fn repeats(bases: &mut Bases, elements: &[Vec<u8>], count: usize) -> Vec<u8> {
    let mut sequence = Vec::new();
    for _ in 0..count {
        let element = &elements[bases.0.usize(..elements.len())];
        let copy = match bases.0.u64(..3) {
            0 => element.clone(),
            _ => bases.mutant(element),
        };
        match bases.0.u64(..4) {
            0 => sequence.extend(opposite(&copy)),
            1 => sequence.extend([&copy[..], &opposite(&copy)].concat()),
            _ => sequence.extend(copy),
        }
        let between = bases.0.usize(..30);
        sequence.extend(bases.sequence(between));
    }
    sequence
}

/// Makes a directory with `repeats.fa` and the database `repeats` of such sequences.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let mut bases = Bases(Rng::with_seed(5));
    let elements: Vec<Vec<u8>> =
        [24, 40, 60, 90, 140].map(|length| bases.sequence(length)).to_vec();
    let mut fasta = |name: &str, records: usize, count: usize| {
        let record = |number| {
            let sequence = repeats(&mut bases, &elements, count);
            format!(">{name}{number}\n{}\n", String::from_utf8_lossy(&sequence))
        };
        let text: String = (0..records).map(record).collect();
        fs::write(fixture.path().join(format!("{name}.fa")), text).expect("sequences");
    };
    fasta("repeats", 4, 5);
    fasta("subjects", 12, 6);
    make_database(&fixture, "subjects.fa", "nucl", "repeats");
    fixture
}

#[test]
fn filters_keep_what_the_oracle_keeps() {
    let lines = SEARCHES.iter().flat_map(|search| {
        FILTERS.iter().map(move |filter| {
            format!("-query|repeats.fa|-db|repeats|{search}|{filter}|-dust|no|-outfmt|{COLUMNS}")
        })
    });
    compare(&fixture(), sample(3, lines));
}
