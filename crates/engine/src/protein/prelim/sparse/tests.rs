//! Tests that rows and table give the same matches, and that the scan finds all HSPs.

use fleetblast_seq::frame::Frame;
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::{self, ScoringSystem};

use super::lookup::Lookup;
use super::*;
use crate::protein::prelim::block::{SubjectBlock, SubjectFrame};
use crate::protein::prelim::testing::kernels;
use crate::protein::prelim::ungapped::Diagonal;
use crate::protein::prelim::words::WordRule;
use crate::scores::{ScoreRows, rows_of_letters};
use crate::subjects::Masks;
use crate::testing::RandomSequences;
use fastrand::Rng;

/// Returns all matches of a subject's words, in order: subject offset and query position.
fn matches(lookup: &Lookup<u16>, subject: &[u8]) -> Vec<(usize, u32)> {
    let mut matches = Vec::new();
    let mask = u16::MAX.into();
    let all = None::<fn(usize) -> bool>;
    lookup.word_hits(subject, all, mask, &mut LookupScratch::default(), |hits| {
        let (diagonals, offsets) = hits.parts();
        for (diagonal, &offset) in diagonals.iter().zip(offsets) {
            let offset = hits.first() + usize::from(offset);
            matches.push((offset, diagonal.wrapping_add(offset as u16).into()));
        }
    });
    matches.sort_unstable();
    matches
}

/// Creates the look-up of a query with some ranges left out.
fn lookup(
    matrix: &str,
    (size, threshold): (usize, f64),
    query: &[u8],
    kernel: Option<Kernel>,
) -> Lookup<u16> {
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
    match kernel {
        Some(kernel) => {
            let cost = table::filling_cost(&words);
            Lookup::by_rows(words, kernel, cost)
        }
        None => Lookup::new(words, None),
    }
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
                assert!(by_table.table_for(subject.len()).is_some());
                let expected = matches(&by_table, &subject);
                for kernel in kernels() {
                    let by_rows = lookup(matrix, word, &query, Some(kernel));
                    assert!(by_rows.table_for(0).is_none());
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

/// Finds the HSPs of each context in a part, one diagonal after the other.
fn reference(
    contexts: &[ChunkContext],
    rule: &DiagonalRule,
    word_rule: &WordRule,
    part: &Part,
) -> Vec<(usize, UngappedHsp)> {
    let mut found = Vec::new();
    for (number, context) in contexts.iter().enumerate() {
        let limits = word_rule.limits(context, rule.scores);
        let (query, subject) = (context.residues(), part.residues);
        let last = subject.len().saturating_sub(rule.word_size) as isize;
        for diagonal in -last..context.len() as isize {
            let mut state = Diagonal::fresh(rule.window);
            for (s, word) in subject.windows(rule.word_size).enumerate() {
                let Ok(q) = usize::try_from(s as isize + diagonal) else { continue };
                let Some(own) = query.get(q..q + rule.word_size) else { break };
                let scores = own.iter().zip(word).map(|(&q, &s)| rule.scores.score(q.into(), s));
                let sum: i32 = scores.sum();
                if sum >= limits[q].into()
                    && word_rule.matches(limits[q], sum, || own == word)
                    && let Some(hsp) = rule.hit(&mut state, context, part, q, s)
                {
                    found.push((number, hsp));
                }
            }
        }
    }
    found
}

/// Checks that the scan finds what one diagonal after the other has. Returns the number of HSPs.
fn check_scan(
    group: &Group,
    contexts: &[ChunkContext],
    (rule, word_rule): (&DiagonalRule, &WordRule),
    subject: &[u8],
    scratch: &mut ScanScratch,
) -> usize {
    let frame = SubjectFrame {
        oid: 0,
        frame: Frame::Protein,
        subject_len: subject.len(),
        residues: subject,
        masks: Masks::None,
    };
    let mut block = SubjectBlock::default();
    block.push(frame, 3);
    let mut count = 0;
    for part in &block.parts {
        let mut found = Vec::new();
        group.scan(contexts, rule, part, scratch, |context, hsp| found.push((context, hsp)));
        let mut expected = reference(contexts, rule, word_rule, part);
        let key = |(context, hsp): &(usize, UngappedHsp)| (*context, hsp.order(0));
        found.sort_by_key(key);
        expected.sort_by_key(key);
        assert_eq!(found, expected, "window {}, {} residues", rule.window, subject.len());
        count += found.len();
    }
    count
}

/// Replaces about one in `among` residues by a random one.
fn mutate(random: &mut Rng, residues: &mut [u8], among: u8) {
    for residue in residues {
        if random.u8(..among) == 0 {
            *residue = random.residue();
        }
    }
}

#[test]
fn the_scan_finds_the_hsps_of_all_diagonals() {
    let mut random = Rng::with_seed(8);
    let scoring = ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None).unwrap();
    let scores = ScoreRows::of_matrix(&scoring.scores);
    let word_rule = WordRule { size: 3, threshold: 11 };
    // Too many positions for two bytes, in one context or in several.
    let many = vec![random.protein(66_000)];
    let long: Vec<_> = (0..4).map(|_| random.protein(17_000)).collect();
    let short: Vec<_> = (0..20).map(|_| random.protein(150)).collect();
    let mut found_in_all = 0;
    for (queries, window) in [(&short, 40), (&short, 0), (&short, 9), (&long, 40), (&many, 40)] {
        let mut contexts: Vec<_> = queries.iter().map(|q| ChunkContext::for_test(q)).collect();
        contexts.iter_mut().for_each(|context| context.cutoff_ungapped = 30);
        let members: Vec<usize> = (0..contexts.len()).collect();
        let alphabet = Alphabet::new(&Release::V2_12_0, &scoring, &scores, 3, 11.0).unwrap();
        let group = Group::new(&contexts, &members, alphabet, (3, window), None);
        let rule = DiagonalRule { scores: &scores, word_size: 3, window };
        let mut scratch = ScanScratch::default();
        // Short subjects between long ones have a shorter window.
        for len in [0, 3, 300, 4, 20, 700, 5, 30, 30, 400] {
            let query = &queries[random.usize(..queries.len())];
            let start = random.usize(..query.len().saturating_sub(len).max(1));
            let mut subject = query[start..query.len().min(start + len)].to_vec();
            mutate(&mut random, &mut subject, 3);
            found_in_all +=
                check_scan(&group, &contexts, (&rule, &word_rule), &subject, &mut scratch);
        }
    }
    assert!(found_in_all > 100, "{found_in_all} HSPs are too few to show anything");
}

/// Repeats have many seeds on each diagonal, whose extensions end before, within and after the
/// ranges that others cover.
#[test]
fn the_scan_finds_the_hsps_of_repeats() {
    let mut random = Rng::with_seed(9);
    let scoring = ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None).unwrap();
    let scores = ScoreRows::of_matrix(&scoring.scores);
    let word_rule = WordRule { size: 3, threshold: 11 };
    let mut found = 0;
    for round in 0..60 {
        let unit_len = random.usize(5..60);
        let unit = random.protein(unit_len);
        let mut contexts = Vec::new();
        for _ in 0..random.usize(1..6) {
            let mut query = unit.repeat(random.usize(1..8));
            mutate(&mut random, &mut query, 4);
            let mut context = ChunkContext::for_test(&query);
            context.cutoff_ungapped = random.i32(15..60);
            context.x_drop = random.choice([1, 7, 16, 40, 300]).unwrap();
            contexts.push(context);
        }
        let members: Vec<usize> = (0..contexts.len()).collect();
        let window = random.i32(4..60);
        let rule = DiagonalRule { scores: &scores, word_size: 3, window };
        let mut subject = unit.repeat(random.usize(1..12));
        mutate(&mut random, &mut subject, 4 + round % 3);
        for kernel in kernels() {
            let alphabet = Alphabet::new(&Release::V2_12_0, &scoring, &scores, 3, 11.0).unwrap();
            let group = Group::new(&contexts, &members, alphabet, (3, window), Some(kernel));
            let rules = (&rule, &word_rule);
            found += check_scan(&group, &contexts, rules, &subject, &mut ScanScratch::default());
        }
    }
    assert!(found > 1000, "{found} HSPs are too few to show anything");
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
    let filled = |_: &usize| lookup.table_for(subject.len()).is_some();
    let subjects = (1..100_000).find(filled).expect("a table after some subjects");
    assert!(subjects > 1, "not at once");
    assert!(lookup.table_for(0).is_some(), "and kept");
    assert_eq!(matches(&lookup, &subject), first);
}

#[test]
fn a_table_of_too_many_matches_is_never_filled() {
    let query = Rng::with_seed(7).protein(700);
    let lookup = lookup("BLOSUM62", (5, 1.0), &query, Some(Kernel::Portable));
    assert!((0..1000).all(|_| lookup.table_for(query.len()).is_none()));
}
