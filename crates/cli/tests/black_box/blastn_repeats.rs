//! `blastn` on queries full of repeats, together shorter and longer than 8,000 bases. For shorter
//! ones BLAST+ keeps the diagonals in a table. For longer ones it keeps them in a hash table that
//! loses some; the reports show which hits are lost.

use std::fs;

use fleetblast_oracle::sample;

use crate::blastn::{Bases, compare, make_database, opposite};
use crate::common::Fixture;
use fastrand::Rng;

const SEARCHES: &[&str] = &[
    "-task|blastn|-word_size|11",
    "-task|blastn|-word_size|16",
    "-task|megablast|-word_size|16",
    "-task|megablast|-word_size|20|-window_size|40",
    "-task|dc-megablast",
    "-task|dc-megablast|-window_size|0",
    "-task|blastn|-word_size|11|-window_size|30|-off_diagonal_range|4",
    "-task|blastn|-ungapped|-word_size|11",
];

/// Returns `length` bases of repeats. Some units follow each other several times.
fn repeats(bases: &mut Bases, units: &[Vec<u8>], length: usize) -> Vec<u8> {
    let mut sequence = Vec::new();
    while sequence.len() < length {
        let unit = &units[bases.0.usize(..units.len())];
        match bases.0.u64(..4) {
            0 => {
                let between = bases.0.usize(..40);
                sequence.extend(bases.sequence(between));
            }
            1 => {
                let times = bases.0.usize(1..=5);
                sequence.extend(bases.mutant(unit).repeat(times));
            }
            2 => sequence.extend(bases.mutant(unit)),
            _ => sequence.extend(opposite(unit)),
        }
    }
    sequence.truncate(length);
    sequence
}

#[test]
fn what_is_known_of_diagonals_is_forgotten_as_in_the_oracle() {
    let fixture = Fixture::new();
    let mut bases = Bases(Rng::with_seed(2));
    let units = [7, 13, 30, 61, 150].map(|length| bases.sequence(length)).to_vec();
    let mut write = |name: &str, lengths: &[usize]| {
        let record = |(number, &length): (usize, &usize)| {
            let sequence = repeats(&mut bases, &units, length);
            format!(">{name}{number}\n{}\n", String::from_utf8_lossy(&sequence))
        };
        let text: String = lengths.iter().enumerate().map(record).collect();
        fs::write(fixture.path().join(format!("{name}.fa")), text).expect("sequences");
    };
    // With both strands and the byte between them, the first sequences of `short` and `long` end at
    // 7,999 and 8,001. The other files reach about this length with one strand.
    write("short", &[3_999]);
    write("long", &[4_000, 1]);
    write("strand", &[7_998, 1]);
    write("many", &[350; 24]);
    write("subjects", &[900, 1_500, 300, 2_100, 700, 1_200]);
    make_database(&fixture, "subjects.fa", "nucl", "subjects");
    let queries = ["short", "long", "strand", "many"];
    let lines = SEARCHES.iter().flat_map(|search| {
        queries.iter().flat_map(move |query| {
            ["both", "plus", "minus"].map(|strand| {
                format!(
                    "-query|{query}.fa|-db|subjects|{search}|-strand|{strand}|-dust|no|-evalue|1e-5|-max_hsps|40|-outfmt|6 std score"
                )
            })
        })
    });
    compare(&fixture, sample(8, lines));
}
