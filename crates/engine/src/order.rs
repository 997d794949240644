//! The total orders on HSPs and on hits (rules 5.7, 5.8), and the rule of common end points.
//!
//! Results do not depend on the order in which hits and HSPs arrive, with one exception. Complete
//! ties within a list keep their order, as in the merge sort of the C library's `qsort`.

use std::cmp::Ordering;

use crate::hits::{Alignment, HitKey, PrelimHit, PrelimHsp};

/// E-values below this compare as equal, except in ORDER-R (`blast_hits.c`).
const EVALUE_FLOOR: f64 = 1e-180;

/// Upper limit of a subject's best e-value (`s_BlastGetBestEvalue`, `blast_hits.c`). It makes
/// larger e-values equal.
const EVALUE_CEILING: f64 = i32::MAX as f64;

/// Returns the e-value of a subject: the smallest e-value of its HSPs, but at most 2³¹ − 1.
pub fn best_evalue(evalues: impl IntoIterator<Item = f64>) -> f64 {
    evalues.into_iter().fold(EVALUE_CEILING, f64::min)
}

/// Box of an HSP: half-open ranges of the query and of the subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// First query residue.
    pub q_start: u32,
    /// One past the last query residue.
    pub q_end: u32,
    /// First subject residue.
    pub s_start: u32,
    /// One past the last subject residue.
    pub s_end: u32,
}

impl Bounds {
    /// Returns whether both corners of `inner` lie in this box. Ends count as part of the box, as
    /// in `blast_itree.c`.
    pub fn encloses(&self, inner: &Bounds) -> bool {
        self.q_start <= inner.q_start
            && inner.q_end <= self.q_end
            && self.s_start <= inner.s_start
            && inner.s_end <= self.s_end
            && inner.q_start <= self.q_end
            && inner.s_start <= self.s_end
            && inner.q_end >= self.q_start
            && inner.s_end >= self.s_start
    }
}

/// An HSP as a box with a raw score.
pub trait Hsp {
    /// Returns the ranges of the query and of the subject that the HSP covers.
    fn bounds(&self) -> Bounds;
    /// Returns the raw score.
    fn score(&self) -> i32;
}

/// An HSP in one of a query's contexts. Its query positions are offsets in that context.
pub trait ContextHsp: Hsp {
    /// Returns the number of the context in its query.
    fn context(&self) -> u8;
}

impl Hsp for PrelimHsp {
    fn bounds(&self) -> Bounds {
        Bounds {
            q_start: self.q_start,
            q_end: self.q_end,
            s_start: self.s_start,
            s_end: self.s_end,
        }
    }
    fn score(&self) -> i32 {
        self.score
    }
}

impl ContextHsp for PrelimHsp {
    fn context(&self) -> u8 {
        self.context
    }
}

impl Hsp for Alignment {
    fn bounds(&self) -> Bounds {
        Bounds {
            q_start: self.query.start,
            q_end: self.query.end,
            s_start: self.subject.start,
            s_end: self.subject.end,
        }
    }
    fn score(&self) -> i32 {
        self.score
    }
}

impl ContextHsp for Alignment {
    fn context(&self) -> u8 {
        self.context
    }
}

/// Compares in ORDER-S, best first: score descending, subject start ascending, subject end
/// descending, query start ascending, query end descending.
pub fn compare_hsps<T: Hsp>(a: &T, b: &T) -> Ordering {
    let (x, y) = (a.bounds(), b.bounds());
    b.score()
        .cmp(&a.score())
        .then(x.s_start.cmp(&y.s_start))
        .then(y.s_end.cmp(&x.s_end))
        .then(x.q_start.cmp(&y.q_start))
        .then(y.q_end.cmp(&x.q_end))
}

/// Compares e-values in ascending order. All e-values below 1e-180 are equal.
pub fn compare_evalues(a: f64, b: f64) -> Ordering {
    let level = |e: f64| if e < EVALUE_FLOOR { 0.0 } else { e };
    level(a).total_cmp(&level(b))
}

impl HitKey {
    /// Returns the key of a preliminary hit; `None` if it has no HSP.
    pub fn of_prelim(hit: &PrelimHit) -> Option<HitKey> {
        let first = hit.hsps.first()?;
        Some(HitKey { evalue: hit.evalue, score: first.score, oid: hit.oid })
    }

    /// Returns the key of a subject's final alignments; `None` if there are none.
    pub fn of_alignments(oid: u32, alignments: &[Alignment]) -> Option<HitKey> {
        let first = alignments.first()?;
        let evalue = best_evalue(alignments.iter().map(|a| a.evalue));
        Some(HitKey { evalue, score: first.score, oid })
    }
}

/// Compares in ORDER-H, best first: e-value ascending (below 1e-180 equal), score of the first HSP
/// descending, OID descending.
pub fn compare_hits(a: &HitKey, b: &HitKey) -> Ordering {
    compare_evalues(a.evalue, b.evalue).then(b.score.cmp(&a.score)).then(b.oid.cmp(&a.oid))
}

/// Compares in ORDER-R, best first: as ORDER-H, but with exact e-values (`compo_heap.c`).
pub fn compare_in_result_heap(a: &HitKey, b: &HitKey) -> Ordering {
    a.evalue.total_cmp(&b.evalue).then(b.score.cmp(&a.score)).then(b.oid.cmp(&a.oid))
}

/// Removes HSPs that share a start or an end with a better HSP of their context (rules 5.7.1).
/// Among HSPs that share a start it keeps the one of highest score, then the longer one. Among the
/// remaining HSPs that share an end it keeps the one of highest score, then the shorter one. It
/// compares only neighbours in this order for which `is_comparable` returns true. The order
/// disregards the frame of the subject (`s_QueryOffsetCompareHSPs`, blast_hits.c). Leaves the list
/// ordered by ends; sort it in ORDER-S afterwards.
pub fn remove_common_endpoints<T: ContextHsp>(
    hsps: &mut Vec<T>,
    is_comparable: impl Fn(&T, &T) -> bool,
) {
    if hsps.len() < 2 {
        return;
    }
    hsps.sort_by(|a, b| {
        let (x, y) = (a.bounds(), b.bounds());
        (a.context(), x.q_start, x.s_start)
            .cmp(&(b.context(), y.q_start, y.s_start))
            .then(b.score().cmp(&a.score()))
            .then((y.q_end, y.s_end).cmp(&(x.q_end, x.s_end)))
    });
    hsps.dedup_by(|later, kept| {
        let (x, y) = (later.bounds(), kept.bounds());
        (later.context(), x.q_start, x.s_start) == (kept.context(), y.q_start, y.s_start)
            && is_comparable(later, kept)
    });
    hsps.sort_by(|a, b| {
        let (x, y) = (a.bounds(), b.bounds());
        (a.context(), x.q_end, x.s_end)
            .cmp(&(b.context(), y.q_end, y.s_end))
            .then(b.score().cmp(&a.score()))
            .then((y.q_start, y.s_start).cmp(&(x.q_start, x.s_start)))
    });
    hsps.dedup_by(|later, kept| {
        let (x, y) = (later.bounds(), kept.bounds());
        (later.context(), x.q_end, x.s_end) == (kept.context(), y.q_end, y.s_end)
            && is_comparable(later, kept)
    });
}

#[cfg(test)]
mod tests {
    use fleetblast_seq::frame::Frame;

    use super::*;

    fn hsp(score: i32, q: (u32, u32), s: (u32, u32)) -> PrelimHsp {
        PrelimHsp {
            score,
            q_start: q.0,
            q_end: q.1,
            s_start: s.0,
            s_end: s.1,
            q_seed: 0,
            s_seed: 0,
            evalue: 1.0,
            linked: 1,
            context: 0,
            frame: Frame::Protein,
        }
    }

    #[test]
    fn order_s_decides_by_each_key_in_turn() {
        let best_first = [
            hsp(9, (8, 9), (8, 9)),
            hsp(5, (9, 10), (0, 1)),
            hsp(5, (2, 5), (1, 9)),
            hsp(5, (1, 6), (1, 7)),
            hsp(5, (1, 5), (1, 7)),
            hsp(5, (2, 9), (1, 7)),
        ];
        for i in 0..best_first.len() {
            for j in 0..best_first.len() {
                assert_eq!(compare_hsps(&best_first[i], &best_first[j]), i.cmp(&j), "{i} {j}");
            }
        }
    }

    #[test]
    fn tiny_evalues_tie_in_order_h_but_not_in_order_r() {
        let a = HitKey { evalue: 1e-200, score: 10, oid: 3 };
        let b = HitKey { evalue: 0.0, score: 11, oid: 1 };
        assert_eq!(compare_hits(&a, &b), Ordering::Greater);
        assert_eq!(compare_in_result_heap(&a, &b), Ordering::Greater);
        let c = HitKey { evalue: 1e-190, score: 12, oid: 1 };
        assert_eq!(compare_hits(&a, &c), Ordering::Greater);
        assert_eq!(compare_in_result_heap(&a, &c), Ordering::Less);
        let d = HitKey { oid: 4, ..a };
        assert_eq!(compare_hits(&d, &a), Ordering::Less, "the larger OID is better");
        let e = HitKey { evalue: 1e-180, score: 99, oid: 9 };
        assert_eq!(compare_hits(&a, &e), Ordering::Less, "1e-180 itself is not floored");
    }

    #[test]
    fn large_evalues_of_subjects_are_all_equal() {
        let hit = |evalue, oid| PrelimHit {
            oid,
            evalue: best_evalue([9e9, evalue]),
            hsps: vec![hsp(9, (0, 1), (0, 1))],
        };
        let order = |a: f64, b: f64| {
            let [a, b] = [hit(a, 1), hit(b, 2)].map(|hit| HitKey::of_prelim(&hit).unwrap());
            (compare_hits(&a, &b), compare_in_result_heap(&a, &b))
        };
        assert_eq!(order(2.1e9, 5e9), (Ordering::Less, Ordering::Less));
        assert_eq!(order(4e9, 5e9), (Ordering::Greater, Ordering::Greater), "by OID");
    }

    #[test]
    fn common_endpoints_keep_the_best_of_each_start_then_of_each_end() {
        let mut list = vec![
            hsp(50, (0, 10), (0, 10)),
            hsp(60, (0, 8), (0, 8)),
            hsp(60, (0, 12), (0, 12)),
            hsp(40, (2, 12), (2, 12)),
            hsp(30, (2, 9), (3, 9)),
        ];
        remove_common_endpoints(&mut list, |_, _| true);
        list.sort_by(compare_hsps);
        assert_eq!(list, vec![hsp(60, (0, 12), (0, 12)), hsp(30, (2, 9), (3, 9))]);
    }

    #[test]
    fn common_endpoints_of_different_contexts_are_not_common() {
        let (one, other) = (hsp(50, (0, 10), (0, 10)), hsp(60, (0, 10), (0, 10)));
        let mut list = vec![one, PrelimHsp { context: 1, ..other }];
        remove_common_endpoints(&mut list, |_, _| true);
        assert_eq!(list.len(), 2);
    }

    #[test]
    fn a_box_holds_its_own_corners_and_its_exclusive_end() {
        let b = Bounds { q_start: 2, q_end: 10, s_start: 3, s_end: 9 };
        assert!(b.encloses(&b));
        assert!(b.encloses(&Bounds { q_start: 10, q_end: 10, s_start: 9, s_end: 9 }));
        assert!(!b.encloses(&Bounds { q_start: 2, q_end: 11, s_start: 3, s_end: 9 }));
        assert!(!b.encloses(&Bounds { q_start: 2, q_end: 10, s_start: 2, s_end: 9 }));
    }
}
