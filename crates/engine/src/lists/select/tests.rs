use crate::filters::QueryContexts;
use fleetblast_seq::frame::Frame;

use super::*;
use crate::hits::{Adjustment, Alignment};
use crate::params::INCLUSION_EVALUE;

fn selector(limit: usize, queries: usize) -> Selector {
    let query = WrittenQuery { length: 100, contexts: QueryContexts::Protein };
    Selector {
        heaps: true,
        by_subject: false,
        queries: (0..queries)
            .map(|_| QueryHits { query, kept: BinaryHeap::new(), overflowed: false })
            .collect(),
        unreported: BTreeSet::new(),
        rules: Rules {
            hitlist_size: limit,
            capacity: 1050,
            filter: HspFilter::Collect,
            max_hsps: None,
            qcov_hsp_perc: 0.0,
            subject_besthit: false,
            filters_before_order: false,
            inclusion: INCLUSION_EVALUE,
        },
    }
}

fn alignment(score: i32, evalue: f64, query: std::ops::Range<u32>) -> Alignment {
    Alignment {
        score,
        bit_score: 0.0,
        evalue,
        linked: 1,
        subject: query.clone(),
        query,
        context: 0,
        frame: Frame::Protein,
        edits: Vec::new(),
        computation_index: 0,
        pattern_occurrence: 0,
        adjustment: Adjustment::Scaled,
        positives: None,
        stored: None,
    }
}

/// Creates a candidate with one alignment, whose scaled score is 32 times `score` plus `rest`.
fn candidate(oid: u32, evalue: f64, score: i32, rest: i32) -> CandidateHit {
    CandidateHit {
        oid,
        key: Some(HitKey { evalue, score: 32 * score + rest, oid }),
        smith_waterman_key: None,
        alignments: vec![alignment(score, evalue, 0..50)],
        is_reported: true,
    }
}

fn oids(hits: &[SubjectHit]) -> Vec<u32> {
    hits.iter().map(|hit| hit.oid).collect()
}

#[test]
fn a_full_heap_drops_the_worst() {
    let mut selector = selector(2, 1);
    for (oid, evalue) in [(1, 3.0), (2, 1.0), (3, 2.0), (4, 5.0)] {
        selector.offer(0, candidate(oid, evalue, 10, 0));
    }
    assert_eq!(oids(&selector.finish()[0]), [2, 3]);
}

#[test]
fn by_subject_a_query_may_be_stopped_while_another_goes_on() {
    let chosen = |oids: &[u32]| -> Vec<PrelimHit> {
        oids.iter().map(|&oid| PrelimHit { oid, evalue: 1.0, hsps: Vec::new() }).collect()
    };
    let chosen = [chosen(&[9, 1]), chosen(&[9, 2])];
    let found = |by_subject| {
        let mut selector = Selector { by_subject, ..selector(1, 2) };
        let of = |hits: &Vec<PrelimHit>| {
            // The larger OID is the better hit.
            let made = |hit: &PrelimHit| {
                Some(candidate(hit.oid, 1e-3 / f64::from(hit.oid), hit.oid as i32, 0))
            };
            hits.iter().map(made).collect()
        };
        selector.replay(&chosen, chosen.iter().map(of).collect());
        selector.finish().iter().map(|hits| oids(hits)).collect::<Vec<_>>()
    };
    // Subject 9 comes last and is no longer wanted, as both queries have enough hits.
    assert_eq!(found(true), [[1], [2]]);
    assert_eq!(found(false), [[9], [9]]);
}

#[test]
fn ties_go_by_scaled_score_and_then_to_the_larger_oid() {
    let mut selector = selector(1, 1);
    selector.offer(0, candidate(1, 1.0, 10, 0));
    selector.offer(0, candidate(0, 1.0, 10, 0));
    assert_eq!(selector.queries[0].kept.peek().unwrap().hit.oid, 1);
    selector.offer(0, candidate(2, 1.0, 10, 0));
    assert_eq!(selector.queries[0].kept.peek().unwrap().hit.oid, 2);
    selector.offer(0, candidate(0, 1.0, 10, 1));
    assert_eq!(selector.queries[0].kept.peek().unwrap().hit.oid, 0);
}

#[test]
fn below_the_inclusion_threshold_the_heap_grows_but_the_hits_do_not() {
    let mut selector = selector(1, 1);
    selector.offer(0, candidate(1, 1e-3, 10, 0));
    selector.offer(0, candidate(2, 2e-3, 10, 0));
    assert_eq!(selector.queries[0].kept.len(), 2);
    selector.offer(0, candidate(3, 2.1e-3, 10, 0));
    assert_eq!(selector.queries[0].kept.len(), 2);
    assert_eq!(oids(&selector.finish()[0]), [1]);
}

#[test]
fn a_good_candidate_replaces_a_bad_one_beyond_the_threshold() {
    let mut selector = selector(1, 1);
    selector.offer(0, candidate(1, 5.0, 10, 0));
    selector.offer(0, candidate(2, 1e-9, 10, 0));
    assert_eq!(selector.queries[0].kept.len(), 1);
    assert_eq!(oids(&selector.finish()[0]), [2]);
}

#[test]
fn matches_are_unwanted_only_when_every_query_has_its_fill() {
    let mut selector = selector(1, 2);
    selector.offer(0, candidate(1, 1e-9, 10, 0));
    assert!(selector.must_align(1.0));
    selector.offer(1, candidate(1, 1e-9, 10, 0));
    assert!(!selector.must_align(0.0101));
    assert!(selector.must_align(0.01), "only what lies above five times the threshold");
}

#[test]
fn without_heaps_everything_is_wanted() {
    let mut selector = Selector { heaps: false, ..selector(1, 1) };
    selector.offer(0, candidate(1, 1e-9, 10, 0));
    assert!(selector.must_align(1.0));
    selector.offer(0, candidate(2, 1e-10, 10, 0));
    assert_eq!(oids(&selector.finish()[0]), [2]);
}

#[test]
fn a_first_local_alignment_must_pass_the_heap_on_its_own() {
    let mut selector = selector(1, 1);
    selector.offer(0, candidate(1, 1.0, 10, 0));
    let weak = HitKey { evalue: 2.0, score: 320, oid: 2 };
    selector.offer(0, CandidateHit { smith_waterman_key: Some(weak), ..candidate(2, 0.5, 10, 0) });
    assert_eq!(oids(&selector.finish()[0]), [1]);
}

#[test]
fn trimming_takes_the_first_alignments_and_printing_orders_the_rest() {
    let mut rules = selector(5, 1).rules;
    rules.max_hsps = Some(3);
    rules.qcov_hsp_perc = 30.0;
    let of = SubjectHit::new;
    let hits = vec![
        of(1, vec![alignment(20, 1e-5, 0..29)]),
        of(
            2,
            vec![
                alignment(19, 3e-4, 0..60),
                alignment(19, 2e-4, 40..99),
                alignment(18, 1e-3, 0..29),
                alignment(18, 1e-9, 0..99),
            ],
        ),
    ];
    let kept =
        rules.finish(hits, WrittenQuery { length: 100, contexts: QueryContexts::Protein }, false);
    assert_eq!(oids(&kept), [2], "29.5 per cent are not 30");
    let ranges: Vec<_> = kept[0].alignments.iter().map(|a| a.query.clone()).collect();
    assert_eq!(ranges, [40..99, 0..60]);
}

#[test]
fn scores_that_round_to_zero_are_not_reported() {
    let rules = selector(5, 1).rules;
    let of = SubjectHit::new;
    let hits = vec![
        of(1, vec![alignment(1, 1e-2, 0..9), alignment(0, 2e-2, 20..29)]),
        of(2, vec![alignment(0, 1e-2, 0..9)]),
    ];
    let kept =
        rules.finish(hits, WrittenQuery { length: 100, contexts: QueryContexts::Protein }, false);
    assert_eq!(oids(&kept), [1]);
    assert_eq!(kept[0].alignments.len(), 1);
}

#[test]
fn what_is_not_reported_takes_a_place() {
    let mut selector = selector(2, 1);
    selector.offer(0, CandidateHit { is_reported: false, ..candidate(1, 1e-9, 50, 0) });
    selector.offer(0, candidate(2, 1e-8, 40, 0));
    selector.offer(0, candidate(3, 1e-7, 30, 0));
    assert_eq!(oids(&selector.finish()[0]), [2]);
}

/// Later releases order subjects after the last filters. But a subject keeps the e-value of an
/// alignment that `-max_hsps` removes; among linked HSPs it may be lower than that of the first.
#[test]
fn removed_alignments_still_order_subjects() {
    let hit = |oid, evalues: [f64; 2]| {
        let [first, second] = evalues;
        let alignments = vec![alignment(60, first, 0..50), alignment(50, second, 60..90)];
        SubjectHit::new(oid, alignments)
    };
    let hits = || vec![hit(1, [3.0, 1.0]), hit(2, [2.0, 2.0])];
    let query = WrittenQuery { length: 100, contexts: QueryContexts::Protein };
    let order = |max_hsps, qcov_hsp_perc, filters_before_order| {
        let rules = selector(10, 1).rules;
        let rules = Rules { max_hsps, qcov_hsp_perc, filters_before_order, ..rules };
        oids(&rules.finish(hits(), query, false))
    };
    for filters_before_order in [false, true] {
        assert_eq!(order(Some(1), 0.0, filters_before_order), [1, 2]);
    }
    assert_eq!(order(None, 40.0, false), [1, 2]);
    assert_eq!(order(None, 40.0, true), [2, 1]);
}
