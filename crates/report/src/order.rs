//! The order of subjects and alignments in the pairwise report (`-sorthits`, `-sorthsps`), and the
//! values of a subject as a whole that decide it (align_format_util.cpp).

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_engine::hits::{Alignment, EditOp, SubjectHit};
use serde::{Deserialize, Serialize};

use crate::model::{HitOrder, HspOrder, QueryResult, Setup, SubjectSource};
use crate::number;

/// What the description table says of a subject, and what subjects are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubjectScores {
    /// Bit score of the best alignment.
    pub bits: f64,
    /// Sum of the bit scores, in the order found.
    pub total_bits: f64,
    /// E-value of the best alignment.
    pub evalue: f64,
    /// E-value of the alignment found best, as it is sorted by.
    pub first_evalue: f64,
    /// Identity of the best alignment in per cent.
    pub identity: f64,
    /// Query residues covered by any alignment.
    pub covered: usize,
}

impl SubjectScores {
    /// Sums up the alignments of a subject, in the order of printing.
    pub(crate) fn new(
        setup: &Setup,
        query: &QueryResult,
        source: &dyn SubjectSource,
        hit: &SubjectHit,
    ) -> Self {
        let alignments = printed_order(setup, query, source, hit);
        let mut scores = Self {
            bits: 0.0,
            total_bits: hit.alignments.iter().map(|alignment| alignment.bit_score).sum(),
            evalue: 0.0,
            // Subjects are sorted before their alignments are.
            first_evalue: hit.alignments.first().map_or(0.0, sorted_evalue),
            identity: 100.0,
            covered: covered(hit),
        };
        for &alignment in &alignments {
            if alignment.bit_score > scores.bits {
                scores.bits = alignment.bit_score;
                scores.evalue = alignment.evalue;
                let identities = identities(setup, query, source, hit.oid, alignment);
                let columns = columns(alignment);
                scores.identity = if identities == columns {
                    100.0
                } else {
                    100.0 * identities as f64 / columns as f64
                };
            }
        }
        scores
    }
}

/// The alignments of a subject in the order of printing.
pub fn printed_order<'h>(
    setup: &Setup,
    query: &QueryResult,
    source: &dyn SubjectSource,
    hit: &'h SubjectHit,
) -> Vec<&'h Alignment> {
    let mut alignments: Vec<_> = hit.alignments.iter().collect();
    // Comparing subjects by score or identity sorts their alignments as a side effect.
    match setup.output.hit_order {
        Some(HitOrder::BitScore) if query.hit_count > 1 => by_score(&mut alignments),
        Some(HitOrder::Identity) if query.hit_count > 1 => {
            by_identity(setup, query, source, hit.oid, &mut alignments);
        }
        _ => {}
    }
    match setup.output.hsp_order {
        HspOrder::Evalue => {}
        HspOrder::Score => by_score(&mut alignments),
        HspOrder::QueryStart => by_start(&mut alignments, |a| a.query.start),
        HspOrder::Identity => by_identity(setup, query, source, hit.oid, &mut alignments),
        HspOrder::SubjectStart => by_start(&mut alignments, |a| a.subject.start),
    }
    alignments
}

/// The e-value that sorts an alignment: the smallest ones are 0 and so equal.
fn sorted_evalue(alignment: &Alignment) -> f64 {
    number::stored_evalue(alignment.evalue)
}

fn by_score(alignments: &mut [&Alignment]) {
    alignments.sort_by(|a, b| b.bit_score.total_cmp(&a.bit_score));
}

fn by_start(alignments: &mut [&Alignment], start: fn(&Alignment) -> u32) {
    alignments.sort_by(|a, b| {
        start(a).cmp(&start(b)).then(sorted_evalue(a).total_cmp(&sorted_evalue(b)))
    });
}

fn by_identity(
    setup: &Setup,
    query: &QueryResult,
    source: &dyn SubjectSource,
    oid: u32,
    alignments: &mut Vec<&Alignment>,
) {
    let mut shares: Vec<_> = alignments
        .iter()
        .map(|a| (identities(setup, query, source, oid, a) as f64 / columns(a) as f64, *a))
        .collect();
    list_sort(&mut shares, |a, b| {
        if a.0 > 0.0 && b.0 > 0.0 && a.0 != b.0 {
            a.0 > b.0
        } else {
            sorted_evalue(a.1) < sorted_evalue(b.1)
        }
    });
    *alignments = shares.into_iter().map(|(_, alignment)| alignment).collect();
}

/// The order of subjects: positions in `scores`, first to last.
pub fn subject_order(order: Option<HitOrder>, scores: &[SubjectScores]) -> Vec<usize> {
    let mut ranks: Vec<usize> = (0..scores.len()).collect();
    let precedes: fn(&SubjectScores, &SubjectScores) -> bool = match order {
        None | Some(HitOrder::Evalue) => return ranks,
        Some(HitOrder::BitScore) => |a, b| a.bits > b.bits,
        // Equals precede each other; what comes of it depends on the sort alone.
        Some(HitOrder::TotalScore) => |a, b| a.total_bits >= b.total_bits,
        Some(HitOrder::Identity) => |a, b| a.identity > b.identity && b.identity > 0.0,
        Some(HitOrder::Coverage) => |a, b| {
            a.covered > b.covered || (a.covered == b.covered && a.first_evalue < b.first_evalue)
        },
    };
    list_sort(&mut ranks, |&a, &b| precedes(&scores[a], &scores[b]));
    ranks
}

/// Sorts as `std::list::sort` of libstdc++ does: merging runs of 1, 2, 4, ... elements, the earlier
/// run first unless an element of the later one precedes. Matters for orders that are not strict.
fn list_sort<T: Clone>(items: &mut Vec<T>, precedes: impl Fn(&T, &T) -> bool) {
    let merge = |early: Vec<T>, late: Vec<T>| -> Vec<T> {
        let mut merged = Vec::with_capacity(early.len() + late.len());
        let (mut early, mut late) = (early.into_iter().peekable(), late.into_iter().peekable());
        while let (Some(e), Some(l)) = (early.peek(), late.peek()) {
            let next = if precedes(l, e) { late.next() } else { early.next() };
            merged.extend(next);
        }
        merged.extend(early);
        merged.extend(late);
        merged
    };
    let mut runs: Vec<Vec<T>> = Vec::new();
    for item in items.drain(..) {
        let mut carry = vec![item];
        let mut level = 0;
        while level < runs.len() && !runs[level].is_empty() {
            carry = merge(std::mem::take(&mut runs[level]), carry);
            level += 1;
        }
        if level == runs.len() {
            runs.push(carry);
        } else {
            runs[level] = carry;
        }
    }
    *items = runs.into_iter().reduce(|small, large| merge(large, small)).unwrap_or_default();
}

/// Number of columns of an alignment.
fn columns(alignment: &Alignment) -> usize {
    alignment.edits.iter().map(|edit| edit.len as usize).sum()
}

/// Equal residues in an alignment as the search sees them: query without masks, `O` as `X`, subject with its hard masks.
fn identities(
    setup: &Setup,
    query: &QueryResult,
    source: &dyn SubjectSource,
    oid: u32,
    alignment: &Alignment,
) -> usize {
    // Alignments are counted in the traceback, which ungapped searches do not have.
    let subject = match setup.params.ungapped {
        true => Cow::Borrowed(source.residues(oid)),
        false => source.aligned(oid),
    };
    let mut q = alignment.query.start as usize;
    let mut s = (alignment.subject.start + setup.database.subject_offset) as usize;
    let mut count = 0;
    for edit in &alignment.edits {
        let len = edit.len as usize;
        match edit.op {
            EditOp::Substitution => {
                let queries = query.context(alignment).unmasked.iter().skip(q).take(len);
                let subjects = subject.iter().skip(s).take(len);
                count += queries.zip(subjects).filter(|(q, s)| q == s).count();
                q += len;
                s += len;
            }
            EditOp::GapInSubject => q += len,
            EditOp::GapInQuery => s += len,
        }
    }
    count
}

/// Query residues covered by any alignment of a subject.
pub fn covered(hit: &SubjectHit) -> usize {
    let mut ranges: Vec<Range<u32>> = hit.alignments.iter().map(|a| a.query.clone()).collect();
    ranges.sort_by_key(|range| range.start);
    let (mut covered, mut end) = (0, 0);
    for range in ranges {
        covered += range.end.saturating_sub(range.start.max(end));
        end = end.max(range.end);
    }
    covered as usize
}

#[cfg(test)]
mod tests {
    use fleetblast_engine::hits::{Adjustment, Edit};
    use fleetblast_seq::frame::Frame;

    use super::*;

    fn scores(total_bits: f64, covered: usize) -> SubjectScores {
        SubjectScores {
            bits: 1.0,
            total_bits,
            evalue: 0.0,
            first_evalue: 0.0,
            identity: 50.0,
            covered,
        }
    }

    #[test]
    fn alignments_too_good_to_tell_apart_keep_their_order() {
        let of = |evalue, start| Alignment {
            score: 1000,
            bit_score: 900.0,
            evalue,
            query: start..start + 9,
            subject: 0..9,
            context: 0,
            frame: Frame::Protein,
            edits: vec![Edit { op: EditOp::Substitution, len: 9 }],
            number: 0,
            adjustment: Adjustment::None,
        };
        let found = [of(1e-181, 5), of(1e-200, 5), of(1e-150, 5), of(1e-160, 5), of(1.0, 2)];
        let mut alignments: Vec<_> = found.iter().collect();
        by_start(&mut alignments, |a| a.query.start);
        let evalues: Vec<_> = alignments.iter().map(|a| a.evalue).collect();
        assert_eq!(evalues, [1.0, 1e-181, 1e-200, 1e-160, 1e-150]);
    }

    /// What libstdc++'s `std::list<int>::sort(greater_equal)` makes of equal elements.
    #[test]
    fn equal_totals_are_reversed_in_runs() {
        let equal = vec![scores(5.0, 1); 5];
        assert_eq!(subject_order(Some(HitOrder::TotalScore), &equal), [4, 3, 2, 1, 0]);
        let mixed: Vec<_> = [5.0, 7.0, 5.0, 7.0, 9.0].map(|bits| scores(bits, 1)).into();
        assert_eq!(subject_order(Some(HitOrder::TotalScore), &mixed), [4, 3, 1, 2, 0]);
    }

    #[test]
    fn strict_orders_are_stable() {
        let covered: Vec<_> = [3, 9, 3, 9].map(|n| scores(1.0, n)).into();
        assert_eq!(subject_order(Some(HitOrder::Coverage), &covered), [1, 3, 0, 2]);
        assert_eq!(subject_order(Some(HitOrder::Identity), &covered), [0, 1, 2, 3]);
        assert_eq!(subject_order(None, &covered), [0, 1, 2, 3]);
    }
}
