use fleetblast_seq::frame::Frame;

use super::*;

fn hsp(score: i32, q: (u32, u32), s_start: u32, evalue: f64) -> PrelimHsp {
    PrelimHsp {
        score,
        q_start: q.0,
        q_end: q.1,
        s_start,
        s_end: s_start + q.1 - q.0,
        q_seed: 0,
        s_seed: 0,
        evalue,
        linked: 1,
        context: 0,
        frame: Frame::Protein,
    }
}

fn hit(oid: u32, hsps: Vec<PrelimHsp>) -> PrelimHit {
    let evalue = hsps.iter().map(|h| h.evalue).fold(f64::INFINITY, f64::min);
    PrelimHit { oid, evalue, hsps }
}

fn protein(length: u32) -> WrittenQuery {
    WrittenQuery { length, contexts: QueryContexts::Protein }
}

fn oids(hits: &[PrelimHit]) -> Vec<u32> {
    hits.iter().map(|h| h.oid).collect()
}

#[test]
fn culling_keeps_the_best_at_each_place() {
    let hits = [
        hit(0, vec![hsp(90, (10, 60), 0, 1e-6), hsp(40, (100, 140), 70, 1.0)]),
        hit(1, vec![hsp(80, (12, 58), 0, 1e-5)]),
        hit(2, vec![hsp(50, (100, 140), 0, 1e-2)]),
    ];
    let kept = preliminary_culling(&hits, protein(200), 0..200, 1);
    assert_eq!(oids(&kept), [0, 2]);
    assert_eq!(kept[0].hsps, [hsp(90, (10, 60), 0, 1e-6)]);
    assert_eq!(
        oids(&preliminary_culling(&hits, protein(200), 0..200, 2)),
        [0, 1, 2],
        "2 allows for 3 more"
    );
}

#[test]
fn culling_twins_prefers_the_smaller_oid_and_the_earlier_place() {
    let twins = [
        hit(4, vec![hsp(50, (0, 30), 9, 1e-3), hsp(50, (0, 30), 40, 1e-3)]),
        hit(5, vec![hsp(50, (0, 30), 0, 1e-3)]),
    ];
    let kept = preliminary_culling(&twins, protein(30), 0..30, 1);
    assert_eq!(oids(&kept), [4]);
    assert_eq!(kept[0].hsps, [hsp(50, (0, 30), 9, 1e-3)]);
}

#[test]
fn culling_applies_to_items_that_a_fork_moved() {
    // Twenty disjoint HSPs fork the root; a long one then removes those that it covers, a whole
    // child at a time.
    let mut hits: Vec<PrelimHit> =
        (0..20).map(|i| hit(i, vec![hsp(30, (10 * i, 10 * i + 9), 0, 1.0)])).collect();
    assert_eq!(preliminary_culling(&hits, protein(400), 0..400, 1).len(), 20);
    hits.push(hit(20, vec![hsp(900, (0, 120), 0, 1e-9)]));
    let kept: Vec<u32> = {
        let mut kept = oids(&preliminary_culling(&hits, protein(400), 0..400, 1));
        kept.sort_unstable();
        kept
    };
    assert_eq!(kept, [12, 13, 14, 15, 16, 17, 18, 19, 20]);
}

#[test]
fn culling_is_the_same_wherever_a_piece_of_a_query_starts() {
    // The last HSP dominates none of the others, but covers the node with the first half of them.
    let survivors = |start: u32| {
        let at = |from, to| (start + from, start + to);
        let mut hits: Vec<PrelimHit> =
            (0..20).map(|i| hit(i, vec![hsp(60, at(20 * i, 20 * i + 19), 0, 1.0)])).collect();
        hits.push(hit(20, vec![hsp(61, at(0, 201), 0, 1.0)]));
        let mut kept =
            oids(&preliminary_culling(&hits, protein(start + 400), start..start + 400, 1));
        kept.sort_unstable();
        kept
    };
    let whole = survivors(0);
    assert_eq!(whole, (10..=20).collect::<Vec<u32>>());
    assert_eq!(survivors(9_951), whole);
}

#[test]
fn best_hit_drops_what_lies_inside_a_denser_hsp() {
    let hits = [
        hit(0, vec![hsp(200, (10, 110), 0, 1e-20)]),
        hit(1, vec![hsp(100, (20, 90), 0, 1e-8)]),
        hit(2, vec![hsp(100, (80, 150), 0, 1e-8)]),
        hit(3, vec![hsp(95, (20, 69), 0, 1e-7)]),
    ];
    assert_eq!(oids(&preliminary_best_hit(&hits, protein(200), 0.1, 100)), [0, 2, 3]);
    let late = [hits[1].clone(), hit(5, hits[0].hsps.clone())];
    assert_eq!(
        oids(&preliminary_best_hit(&late, protein(200), 0.1, 100)),
        [5],
        "an old HSP is dropped, too"
    );
}

#[test]
fn overhang_widens_what_counts_as_inside() {
    let item = |begin, end, score, evalue, oid| Item { begin, end, s_start: 0, score, evalue, oid };
    let items = [item(10, 60, 50, 1e-3, 0), item(15, 115, 300, 1e-9, 1)];
    assert_eq!(besthit::survivors(&items, 0.0, 0.1, 100), [0, 1]);
    assert_eq!(besthit::survivors(&items, 0.1, 0.1, 100), [1]);
}

#[test]
fn a_renewed_list_forgets_the_overhang() {
    let item = |begin, end, score, evalue, oid| Item { begin, end, s_start: 0, score, evalue, oid };
    // The third item lies inside the first only because of the first one's overhang.
    let items =
        [item(50, 150, 300, 1e-9, 0), item(300, 340, 100, 1e-4, 1), item(45, 95, 60, 1e-3, 2)];
    assert_eq!(besthit::survivors(&items, 0.1, 0.1, 100), [0, 1]);
    assert_eq!(besthit::survivors(&items, 0.1, 0.1, 1), [2, 0, 1]);
}

#[test]
fn a_subject_keeps_its_best_hsp_of_each_query_range() {
    let mut list = vec![
        hsp(90, (10, 60), 0, 1.0),
        hsp(80, (7, 63), 100, 1.0),
        hsp(70, (6, 60), 200, 1.0),
        hsp(60, (9, 62), 300, 1.0),
    ];
    subject_best_hit(&mut list, protein(100));
    assert_eq!(list.iter().map(|h| h.score).collect::<Vec<_>>(), [90, 70]);
}

/// Applies the rule of `-subject_besthit` to all pairs, as the reference.
fn subject_best_hit_of_pairs(hsps: &[PrelimHsp], written: WrittenQuery) -> Vec<PrelimHsp> {
    let within = |inner: Range<u32>, outer: Range<u32>| {
        inner.start + RANGE_MARGIN >= outer.start && inner.end <= outer.end + RANGE_MARGIN
    };
    let mut same: Vec<PrelimHsp> = Vec::new();
    for hsp in hsps {
        let of_context = |outer: &&PrelimHsp| outer.context == hsp.context;
        if !same.iter().filter(of_context).any(|outer| within(range(hsp), range(outer))) {
            same.push(*hsp);
        }
    }
    if !(written.contexts == QueryContexts::Strands) {
        return same;
    }
    let mut both: Vec<PrelimHsp> = Vec::new();
    for hsp in &same {
        let of_other = |outer: &&PrelimHsp| outer.context != hsp.context;
        let is_within = |outer: &PrelimHsp| within(written.range(hsp), written.range(outer));
        if !both.iter().filter(of_other).any(is_within) {
            both.push(*hsp);
        }
    }
    both
}

#[test]
fn subject_best_hit_drops_what_the_comparison_of_all_pairs_drops() {
    let (mut kept, mut dropped) = (0, 0);
    for seed in 1..=60u64 {
        let mut random = fastrand::Rng::with_seed(seed);
        let contexts = if seed % 3 == 0 { QueryContexts::Protein } else { QueryContexts::Strands };
        let written = WrittenQuery { length: random.u32(20..420), contexts };
        let mut hsps: Vec<PrelimHsp> = Vec::new();
        for score in (0..120).rev() {
            let start = random.u32(..written.length - 10);
            let end = start + random.u32(1..=(written.length - start).min(60));
            let context = if contexts == QueryContexts::Strands { random.u8(..2) } else { 0 };
            let new = hsp(score, (start, end.min(written.length)), random.u32(..500), 0.1);
            hsps.push(PrelimHsp { context, ..new });
        }
        let expected = subject_best_hit_of_pairs(&hsps, written);
        dropped += hsps.len() - expected.len();
        kept += expected.len();
        subject_best_hit(&mut hsps, written);
        assert_eq!(hsps, expected, "seed {seed}");
    }
    assert!(kept > 500 && dropped > 500, "{kept} {dropped}");
}

#[test]
fn ranges_within_others_are_not_kept() {
    let mut ranges = OuterRanges::default();
    for start in (0..1000).rev() {
        ranges.add(start..start + 100);
        ranges.add(start + 1..start + 99);
    }
    assert_eq!(ranges.0.len(), 1000);
    ranges.add(0..2000);
    assert_eq!(ranges.0.len(), 1);
    assert!(ranges.hold(0, 2000) && !ranges.hold(0, 2001));
}

#[test]
fn coverage_gains_half_a_per_cent_below_99() {
    assert_eq!(query_coverage(0, 50, 100), 50.5);
    assert_eq!(query_coverage(0, 99, 100), 99.0);
    assert_eq!(query_coverage(0, 0, 0), 0.0);
}

#[test]
fn only_hsps_of_one_context_cover_each_other() {
    let inner = hsp(40, (10, 20), 5, 0.1);
    let mut hsps = vec![hsp(50, (0, 30), 0, 0.1), PrelimHsp { context: 1, ..inner }, inner];
    subject_best_hit(&mut hsps, protein(100));
    assert_eq!(
        hsps.iter().map(|hsp| (hsp.score, hsp.context)).collect::<Vec<_>>(),
        [(50, 0), (40, 1)]
    );
}

#[test]
fn strands_are_laid_on_each_other() {
    let of = |context, score, q| PrelimHsp { context, ..hsp(score, q, 0, 0.1) };
    // On the query as written they lie at 10 to 40, 11 to 35, and 60 to 90.
    let all = vec![of(0, 50, (10, 40)), of(1, 45, (65, 89)), of(1, 40, (10, 40))];
    let written = WrittenQuery { length: 100, contexts: QueryContexts::Strands };
    let mut best = all.clone();
    subject_best_hit(&mut best, written);
    assert_eq!(best, [all[0], all[2]]);
    let kept = preliminary_culling(&[hit(0, all.clone())], written, 0..100, 1);
    assert_eq!(kept[0].hsps, [all[0], all[2]]);
}

#[test]
fn equal_hsps_leave_the_culling_tree_the_last_one_first() {
    let of = |context| PrelimHsp { context, ..hsp(50, (10, 40), 0, 0.1) };
    let written = WrittenQuery { length: 50, contexts: QueryContexts::Strands };
    let kept = preliminary_culling(&[hit(0, vec![of(0), of(1)])], written, 0..50, 2);
    assert_eq!(kept[0].hsps, [of(1), of(0)]);
}

/// Limits from the oracle: those with which `blastn -culling_limit N` drops hits.
#[test]
fn the_allowance_of_culling_wraps_around() {
    let most = i32::MAX.cast_unsigned();
    for (limit, expected) in
        [(0, 0), (1, 1), (2, 5), (most - 3, most), (most - 2, u32::MAX), (most - 1, 1), (most, 1)]
    {
        assert_eq!(preliminary_limit(limit), expected, "{limit}");
    }
}
