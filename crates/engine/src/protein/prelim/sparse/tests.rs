//! Rows and table give the same matches.

use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::{self, ScoringSystem};

use super::*;
use crate::protein::prelim::testing::kernels;
use crate::scores::{ScoreRows, rows_of_letters};
use crate::testing::RandomSequences;
use fastrand::Rng;

/// All matches of a subject's words, in order.
fn matches(lookup: &Lookup, subject: &[u8]) -> Vec<(usize, u32)> {
    let mut matches = Vec::new();
    lookup.word_hits(subject, |offset, position| matches.push((offset, position)));
    matches.sort_unstable();
    matches
}

/// The lookup of a query with some ranges left out.
fn lookup(
    matrix: &str,
    (size, threshold): (usize, f64),
    query: &[u8],
    kernel: Option<Kernel>,
) -> Lookup {
    let scoring = ScoringSystem::new(&Release::V2_12_0, matrix, None, None).unwrap();
    let rows = ScoreRows::of_matrix(&scoring.scores);
    let alphabet = Alphabet::new(&Release::V2_12_0, &scoring, &rows, size, threshold).unwrap();
    let last = query.len().saturating_sub(size) as u32;
    let starts = (0..=last).filter(|start| start % 50 < 40).collect();
    let residues = [query, &[0]].concat();
    let words = Words {
        alphabet,
        size,
        rows: rows_of_letters(&residues),
        residues,
        starts,
        by_score: false,
    };
    Lookup::new(words, kernel)
}

#[test]
fn rows_find_what_the_table_finds() {
    let mut random = Rng::with_seed(5);
    let mut found = 0;
    for matrix in ["BLOSUM62", "PAM30", "BLOSUM45"] {
        let usual = scoring::suggested_word_threshold(matrix);
        let words = [(2, 9.0), (3, usual), (3, 0.0), (4, 15.0), (5, 22.0), (6, 21.0), (7, 25.0)];
        for word in words.into_iter().chain([(3, 40.0), (6, 400.0)]) {
            for len in [8, 33, 64, 700] {
                let query = random.protein(len);
                // Words of the query itself, and weak ones.
                let mut subject = random.protein(300);
                subject.extend_from_slice(&query[..8]);
                subject.extend([fleetblast_seq::alphabet::X; 8]);
                let by_table = lookup(matrix, word, &query, None);
                assert!(by_table.table_for(&subject).is_some());
                let expected = matches(&by_table, &subject);
                for kernel in kernels() {
                    let by_rows = lookup(matrix, word, &query, Some(kernel));
                    assert!(by_rows.table_for(&[]).is_none());
                    assert_eq!(
                        matches(&by_rows, &subject),
                        expected,
                        "{matrix} {word:?} {kernel:?}"
                    );
                }
                found += expected.len();
            }
        }
    }
    assert!(found > 1000, "{found} matches are too few to show anything");
}

#[test]
fn compressed_words_depend_on_the_release() {
    let early = Release { compressed_alphabet_min_word_size: 5, ..Release::V2_12_0 };
    let scoring = ScoringSystem::new(&early, "BLOSUM62", None, None).unwrap();
    let rows = ScoreRows::of_matrix(&scoring.scores);
    let letters =
        |release, size| Alphabet::new(release, &scoring, &rows, size, 20.0).unwrap().radix();
    assert_eq!([4, 5, 6, 7].map(|size| letters(&Release::V2_12_0, size)), [28, 28, 15, 10]);
    assert_eq!([4, 5, 6, 7].map(|size| letters(&early, size)), [28, 15, 15, 10]);
}

#[test]
fn a_table_is_filled_when_rows_have_cost_as_much() {
    let mut random = Rng::with_seed(6);
    let (query, subject) = (random.protein(400), random.protein(1000));
    let lookup = lookup("BLOSUM62", (3, 11.0), &query, Some(Kernel::Portable));
    let first = matches(&lookup, &subject);
    let filled = |_: &usize| lookup.table_for(&subject).is_some();
    let subjects = (1..100_000).find(filled).expect("a table after some subjects");
    assert!(subjects > 1, "not at once");
    assert!(lookup.table_for(&[]).is_some(), "and kept");
    assert_eq!(matches(&lookup, &subject), first);
}

#[test]
fn a_table_of_too_many_matches_is_never_filled() {
    let query = Rng::with_seed(7).protein(700);
    let lookup = lookup("BLOSUM62", (5, 1.0), &query, Some(Kernel::Portable));
    assert!((0..1000).all(|_| lookup.table_for(&query).is_none()));
}
