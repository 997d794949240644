//! The filters lose nothing, whatever the instructions and the options, and partitions merge to the whole.

use std::ops::Range;

use fleetblast_seq::seg::SegParams;
use fleetblast_stats::scoring::ScoringSystem;

use super::dense::{Candidate, FilterScratch, Group};
use super::kernel::Kernel;
use super::testing::{Random, kernels, related};
use super::*;
use crate::hits::PrelimHit;
use crate::params::{CompositionMode, DatabaseTotals, HspFilter, Params};
use crate::query::{Query, QueryInput};
use crate::subjects::{Masks, Subjects};

/// Residues, and hard masks of the first of them.
struct Sequences(Vec<Vec<u8>>, Vec<Vec<Range<u32>>>);

impl Subjects for Sequences {
    fn residues(&self, oid: u32) -> &[u8] {
        &self.0[oid as usize]
    }

    fn masks(&self, oid: u32) -> Masks<'_> {
        self.1.get(oid as usize).map_or(Masks::Soft(&[]), |stretches| Masks::Hard(stretches))
    }
}

fn params(matrix: &str) -> Params {
    Params {
        scoring: ScoringSystem::new(matrix, None, None).unwrap(),
        word_size: 3,
        threshold: fleetblast_stats::scoring::suggested_threshold(matrix),
        window: 40,
        xdrop_ungapped_bits: 7.0,
        xdrop_gapped_bits: 15.0,
        xdrop_final_bits: 25.0,
        gap_trigger_bits: 22.0,
        evalue: 10.0,
        composition: CompositionMode::Conditional,
        unified_p: false,
        ungapped: false,
        smith_waterman: false,
        hitlist_size: 500,
        max_hsps: None,
        qcov_hsp_perc: 0.0,
        subject_besthit: false,
        filter: HspFilter::Collect,
        seg: None,
        soft_masking: false,
        lcase_masking: false,
        search_space: None,
        finite_size: true,
    }
}

/// Queries and subjects of which some are related, and statistics as of a database of `db_length` residues.
fn data(seed: u64, db_length: i64) -> (Vec<QueryInput>, Sequences, DatabaseTotals) {
    let mut random = Random::new(seed);
    let (mut queries, mut subjects) = (Vec::new(), Vec::new());
    for _ in 0..8 {
        let len = 1 + random.below(250) as usize;
        let (residues, subject) = related(&mut random, len);
        queries.push(QueryInput { residues, lower_case: Vec::new() });
        subjects.push(subject);
        for len in [1, 2, 5, 63, 64, 65, 700] {
            let len = len + random.below(3) as usize;
            subjects.push(random.protein(len));
        }
    }
    let totals = DatabaseTotals {
        residues: db_length,
        space_residues: db_length,
        sequences: subjects.len() as i64,
        min_length: 10,
    };
    (queries, Sequences(subjects, Vec::new()), totals)
}

fn search(
    (queries, subjects, totals): &(Vec<QueryInput>, Sequences, DatabaseTotals),
    params: &Params,
    kernel: Option<Kernel>,
    parts: usize,
) -> Vec<Vec<PrelimHit>> {
    let queries: Vec<Query> = queries.iter().map(|q| Query::new(q, params, totals)).collect();
    let searcher = Searcher::new(&queries, &[queries.len()], params, totals, kernel);
    let mut lists = searcher.merger().empty_lists();
    let count = subjects.0.len();
    // Last part first: the order of arrival must not matter.
    for part in (0..parts).rev() {
        let oids = (count * part / parts) as u32..(count * (part + 1) / parts) as u32;
        let part = searcher.search(subjects, oids, &mut Scratch::default());
        searcher.merger().absorb(&mut lists, part);
    }
    searcher.merger().choose(lists)
}

#[test]
fn filters_lose_nothing() {
    let mut found = 0;
    for seed in 0..2 {
        for db_length in [20_000, 100_000_000] {
            let data = data(seed, db_length);
            for change in changes() {
                let params = change(params("BLOSUM62"));
                let unfiltered = search(&data, &params, None, 1);
                for kernel in kernels() {
                    assert_eq!(
                        search(&data, &params, Some(kernel), 1),
                        unfiltered,
                        "seed {seed} {kernel:?}"
                    );
                }
                found += unfiltered.iter().flatten().count();
            }
        }
    }
    assert!(found > 200, "{found} hits are too few to show anything");
}

/// Up to three stretches of a sequence, in order.
fn stretches(random: &mut Random, len: usize) -> Vec<Range<u32>> {
    let mut stretches: Vec<Range<u32>> = Vec::new();
    for _ in 0..random.below(4) {
        let start = stretches.last().map_or(0, |last| last.end) + random.below(60) as u32;
        let end = (start + 1 + random.below(40) as u32).min(len as u32);
        if start < end {
            stretches.push(start..end);
        }
    }
    stretches
}

#[test]
fn filters_lose_nothing_between_hard_masks() {
    let (mut found, mut hidden) = (0, 0);
    for seed in 20..23 {
        let mut data = data(seed, 20_000);
        let mut random = Random::new(seed);
        data.1.1 = data.1.0.iter().map(|subject| stretches(&mut random, subject.len())).collect();
        for change in changes() {
            let params = change(params("BLOSUM62"));
            let unfiltered = search(&data, &params, None, 1);
            for kernel in kernels() {
                assert_eq!(
                    search(&data, &params, Some(kernel), 3),
                    unfiltered,
                    "{seed} {kernel:?}"
                );
            }
            for hit in unfiltered.iter().flatten() {
                let (masks, len) = (&data.1.1[hit.oid as usize], data.1.0[hit.oid as usize].len());
                // Words are looked for in a single mask that reaches the end.
                let open = masks.first().is_some_and(|mask| mask.end as usize == len);
                let apart = hit.hsps.iter().all(|hsp| {
                    masks.iter().all(|mask| mask.end <= hsp.s_start || hsp.s_end <= mask.start)
                });
                assert!(apart || open, "{hit:?} {masks:?}");
                found += 1;
                hidden += usize::from(!masks.is_empty() && !open);
            }
        }
    }
    assert!(
        found > 200 && hidden > 100,
        "{found} hits, {hidden} beside masks: too few to show anything"
    );
}

#[test]
fn a_choice_of_subjects_is_searched_like_each_by_itself() {
    let data = data(30, 20_000);
    let params = params("BLOSUM62");
    let queries: Vec<Query> =
        data.0.iter().map(|query| Query::new(query, &params, &data.2)).collect();
    let searcher =
        Searcher::new(&queries, &[queries.len()], &params, &data.2, Some(Kernel::detect()));
    let mut scratch = Scratch::default();
    let oids: Vec<u32> =
        (0..data.1.0.len() as u32).filter(|oid| oid % 8 == 0 || oid % 3 == 0).collect();
    let together = searcher.search(&data.1, oids.iter().copied(), &mut scratch);
    let mut apart = searcher.merger().empty_lists();
    for oid in oids {
        searcher.merger().absorb(&mut apart, searcher.search(&data.1, [oid], &mut scratch));
    }
    let [together, apart] = [together, apart].map(|lists| searcher.merger().choose(lists));
    assert!(together.iter().flatten().count() > 5, "{together:?}");
    assert_eq!(together, apart);
}

/// Options that change words, cut-offs and extensions.
fn changes() -> Vec<fn(Params) -> Params> {
    vec![
        |p| p,
        |p| Params { window: 0, ..p },
        |p| Params { threshold: 14.0, ..p },
        |p| Params { word_size: 2, threshold: 9.0, ..p },
        |p| Params { word_size: 4, threshold: 15.0, ..p },
        |p| Params { xdrop_ungapped_bits: 3.0, ..p },
        |p| Params { evalue: 1e-9, ..p },
        |p| Params { evalue: 1e4, ..p },
        |p| Params { seg: Some(SegParams::QUERY), soft_masking: true, ..p },
        |p| Params { ungapped: true, composition: CompositionMode::Off, ..p },
        |p| Params { finite_size: false, search_space: Some(1_000_000), ..p },
        |p| Params {
            scoring: ScoringSystem::new("PAM30", None, None).unwrap(),
            threshold: 16.0,
            ..p
        },
        |p| Params {
            scoring: ScoringSystem::new("BLOSUM45", None, None).unwrap(),
            threshold: 14.0,
            ..p
        },
    ]
}

#[test]
fn partitions_merge_to_the_whole() {
    for seed in 10..13 {
        let data = data(seed, 1_000_000);
        for filter in [
            HspFilter::Collect,
            HspFilter::Culling(2),
            HspFilter::BestHit { overhang: 0.1, edge: 0.1 },
        ] {
            let params = Params { filter, hitlist_size: 2, evalue: 1e3, ..params("BLOSUM62") };
            let whole = search(&data, &params, Some(Kernel::detect()), 1);
            for parts in [2, 7, 64] {
                assert_eq!(search(&data, &params, Some(Kernel::detect()), parts), whole, "{parts}");
            }
        }
    }
}

/// The diagonals of a subject that reach the cut-off, straight from the definition.
fn passing(
    group: &Group,
    index: usize,
    subject: &[u8],
    contexts: &[context::Context],
    params: &Params,
) -> Vec<Candidate> {
    let scores = profile::pad(&params.scoring.scores);
    let mut passing = Vec::new();
    for (number, context) in contexts.iter().enumerate() {
        let (m, n) = (context.len() as i32, subject.len() as i32);
        for diagonal in 1 - n..m {
            let (mut run, mut best) = (0, 0);
            for q in diagonal.max(0)..m.min(n + diagonal) {
                let (a, b) = (context.residues()[q as usize], subject[(q - diagonal) as usize]);
                run = (run + scores[a as usize][b as usize]).max(0);
                best = best.max(run);
            }
            if best >= group.cutoff() {
                passing.push(Candidate { subject: index as u32, context: number as u32, diagonal });
            }
        }
    }
    passing
}

#[test]
fn kernels_agree_with_the_definition() {
    let params = params("BLOSUM62");
    let mut random = Random::new(99);
    for lengths in
        [vec![1], vec![62], vec![63, 64, 65], vec![300, 7, 500], vec![1500], vec![2600, 900]]
    {
        let mut contexts = Vec::new();
        for len in lengths {
            let query = QueryInput { residues: random.protein(len), lower_case: Vec::new() };
            let mut context = context::Context::for_test(&query.residues);
            context.cutoff_ungapped = 22;
            contexts.push(context);
        }
        let members: Vec<usize> = (0..contexts.len()).collect();
        // One that saturates (the query itself), one of sentinels, one residue, none, and longer than the contexts.
        let mut subjects = vec![contexts[0].residues().to_vec(), vec![0; 40], vec![20], vec![]];
        subjects.extend([3, 64, 400, 3_000].map(|len| random.protein(len)));
        let block: Vec<&[u8]> = subjects.iter().map(Vec::as_slice).collect();
        for kernel in kernels() {
            let scores = profile::pad(&params.scoring.scores);
            let group = Group::new(&contexts, &members, &scores, kernel).unwrap();
            let mut candidates: Vec<Candidate> = Vec::new();
            group.filter(&block, &mut FilterScratch::default(), &mut candidates);
            for (index, subject) in subjects.iter().enumerate() {
                let found: Vec<Candidate> =
                    candidates.iter().filter(|c| c.subject == index as u32).copied().collect();
                let expected = passing(&group, index, subject, &contexts, &params);
                assert_eq!(found, expected, "{kernel:?} {index}");
            }
        }
    }
}
