use fleetblast_seq::alphabet::encode;
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::ScoringSystem;

use super::alignment::{Cell, QueryAlignment, Row};
use super::*;

fn maker(pseudocount: i32) -> PssmMaker {
    let scoring =
        ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None).expect("a known matrix");
    PssmMaker::new(&scoring, pseudocount).expect("a matrix with frequencies")
}

/// Creates a row from letters, gaps (`-`) and positions without alignment (`.`).
fn row(text: &str) -> Row {
    let cell = |letter: u8| match letter {
        b'.' => Cell::NONE,
        letter => Cell::aligned(encode(letter).expect("a letter")),
    };
    text.bytes().map(cell).collect()
}

fn rows(texts: &[&str]) -> QueryAlignment {
    QueryAlignment::of_rows(texts.iter().map(|text| row(text)).collect())
}

/// Formats a number with 15 significant digits.
fn digits(value: f64) -> String {
    format!("{value:.14e}")
}

/// The alignment that the oracle reads by `psiblast -in_msa`.
const TYPED: [&str; 5] = [
    "MKVLAWGDEFHIRNPQSTYC",
    "MKILAWGDEFHLRNPQSTFC",
    "MRVLSWG-EFHIKNAQTTYC",
    "...LAYGNDYHVRDPESSYC",
    "MKVLAWGDEFHIRNPQSTYC",
];

// Values from `psiblast -in_msa TYPED -num_iterations 1 -out_pssm FILE -out_ascii_pssm FILE`.
#[test]
fn the_matrix_of_a_typed_alignment() {
    let rules = AlignmentRules {
        allows_unaligned_columns: true,
        keeps_observed: true,
        ..AlignmentRules::default()
    };
    let pssm = maker(0).make(rows(&TYPED), rules).expect("a matrix");
    let KarlinParameters { lambda, k, h, .. } = pssm.ungapped;
    assert_eq!(digits(lambda), "3.14889114871081e-1");
    assert_eq!(digits(k), "1.42648005893008e-1");
    assert_eq!(digits(h), "4.88438580875482e-1");
    assert_eq!(digits(pssm.gapped.k), "4.36603208008590e-2");
    let first = |letter| pssm.frequencies[0][usize::from(encode(letter).expect("a letter"))];
    assert_eq!(digits(first(b'A')), "5.60491822181280e-2");
    assert_eq!(digits(first(b'M')), "1.51325091148083e-1");
    let observed = pssm.observed.as_ref().expect("made here");
    assert_eq!(observed.intervals, [[20; 3].as_slice(), &[17; 17]].concat());
    assert_eq!(observed.letter_kinds_sum, [[29.0; 3].as_slice(), &[32.0; 17]].concat());
    assert_eq!(observed.matching, [[3; 3].as_slice(), &[4; 17]].concat());
    let information = observed.information.iter().map(|bits| format!("{bits:.2}"));
    assert_eq!(
        information.collect::<Vec<_>>().join(" "),
        "0.35 0.53 0.34 0.46 0.36 1.63 1.05 0.40 0.67 0.69 0.89 0.33 0.63 0.65 1.34 0.61 0.40 0.40 0.77 1.24"
    );
    let scores = |position: usize| {
        let letters = b"ARNDCQEGHILKMFPSTWYV".map(|letter| encode(letter).expect("a letter"));
        letters.map(|code| pssm.scores[position][usize::from(code)].to_string()).join(" ")
    };
    assert_eq!(scores(0), "-1 -2 -2 -3 -2 0 -2 -3 -2 1 2 -2 6 0 -3 -2 -1 -2 -1 1");
    assert_eq!(scores(5), "-3 -3 -3 -4 -3 -2 -3 -3 0 -2 -2 -3 -1 2 -4 -3 -2 11 5 -2");
    assert_eq!(scores(19), "-1 -4 -3 -4 10 -3 -4 -3 -3 -1 -1 -3 -2 -3 -3 -1 -1 -3 -3 -1");
}

#[test]
fn a_query_alone_scores_as_the_matrix_before_it_is_stretched() {
    let maker = maker(0);
    let pssm = maker.make(rows(&TYPED[..1]), AlignmentRules::default()).expect("a matrix");
    assert_eq!(pssm.frequencies, vec![[0.0; SIZE]; 20]);
    let fine = maker.fine_scores(&pssm.query, &pssm.frequencies);
    let whole = scores::times(&fine, |score| f64::from(score) / scores::FINE);
    for (&letter, row) in pssm.query.iter().zip(&whole) {
        let matrix = &maker.scoring.scores[usize::from(letter)];
        assert_eq!(row[1..20], matrix[1..20], "letter {letter}");
    }
}

fn purge(texts: &[&str]) -> Vec<String> {
    let mut alignment = rows(texts);
    purge::purge(&mut alignment);
    let letter = |cell: &Cell| match cell.is_aligned() {
        true => alphabet::decode(cell.letter()) as char,
        false => '.',
    };
    alignment.rows().iter().map(|row| row.iter().map(letter).collect()).collect()
}

#[test]
fn what_equals_the_query_is_dropped_region_by_region() {
    let query = "MKVLAWGDEF";
    assert_eq!(purge(&[query, query]), [query]);
    assert_eq!(purge(&[query, "MKVL..GDEW"]), [query, "......GDEW"]);
    // An `X` does not count, unless there is nothing else.
    assert_eq!(purge(&[query, "MKXL......"]), [query]);
    assert_eq!(purge(&[query, "XX........"]), [query, "XX........"]);
    // After a position without alignment, a region begins with the first known pair.
    assert_eq!(purge(&[query, "..XLAWGDEF"]), [query, "..X......."]);
}

#[test]
fn of_two_alike_the_later_one_goes() {
    let query = "MKVLAWGDEFHIRNPQSTYC";
    let one = "MKVLAWGDEWWWRNPQSTYC";
    let other = "MKVLAWGDEWWWRNPQSTYA";
    // 19 of 20 are alike.
    assert_eq!(purge(&[query, one, other]), [query, one]);
    let shorter = ".....WGDEWWWRNPQS...";
    assert_eq!(purge(&[query, one, shorter]), [query, one, shorter], "13 of 20");
    assert_eq!(purge(&[query, one, shorter, other]), [query, one, shorter]);
}

#[test]
fn alignments_that_blast_refuses() {
    let make = |texts: &[&str], rules| maker(0).make(rows(texts), rules).map(|_| ());
    let query = "MKVLAW";
    let plain = AlignmentRules::default();
    assert_eq!(make(&[query, "-RVLAW"], plain), Err(PssmError::StartingGap));
    assert_eq!(make(&[query, "MRVLA-"], plain), Err(PssmError::EndingGap));
    assert_eq!(make(&["MK.LAW", "MR.LAW"], plain), Err(PssmError::UnalignedColumn));
    assert_eq!(make(&["MK-LAW", "MR-LAW"], plain), Err(PssmError::ColumnOfGaps));
    assert_eq!(make(&["MK-LAW", "MRVLCW"], plain), Err(PssmError::GapInQuery));
}
