//! Filters that may replace the plain list of best subjects: culling and best hit (rules 5.10).
//!
//! Both look at the HSPs of one query only, both run once on preliminary and once on final HSPs, and both depend on the order in
//! which subjects arrive: ascending OID at the preliminary stage, ORDER-H at the final one.

mod besthit;
mod culling;

use std::cmp::Ordering;
use std::ops::Range;

use crate::hits::{Alignment, HitKey, PrelimHit, PrelimHsp, SubjectHit};
use crate::order::{Hsp, OfContext, best_evalue, order_evalue, order_h, order_s};
use crate::params::HspFilter;

/// Residues by which an HSP may stick out of another and still count as inside it.
const RANGE_MARGIN: u32 = 3;

/// What the filters look at in an HSP.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Item {
    /// First query residue.
    begin: i32,
    /// One past the last query residue.
    end: i32,
    /// First subject residue.
    s_start: u32,
    score: i32,
    evalue: f64,
    oid: u32,
}

impl Item {
    fn len(&self) -> i32 {
        self.end - self.begin
    }

    fn new(hsp: &impl Hsp, evalue: f64, oid: u32) -> Item {
        let bounds = hsp.bounds();
        Item {
            begin: bounds.q_start as i32,
            end: bounds.q_end as i32,
            s_start: bounds.s_start,
            score: hsp.score(),
            evalue,
            oid,
        }
    }
}

/// Culling of the preliminary hits of one query (`-culling_limit`, `hspfilter_culling.c`): drops every HSP that `limit`
/// others dominate, with some allowance for what the traceback may change.
///
/// `hits` in ascending OID order; `query` is the part of the query that was searched, all of it unless a long query is
/// searched in pieces. Returns what is left, in ORDER-H.
pub fn preliminary_culling(hits: &[PrelimHit], query: Range<u32>, limit: u32) -> Vec<PrelimHit> {
    let limit = if limit > 1 { limit.saturating_add(3) } else { limit };
    let items: Vec<Item> = prelim_items(hits).collect();
    let mut kept = keep_prelim(hits, &culling::survivors(&items, query, limit));
    kept.sort_by(by_order_h);
    kept
}

/// Best-hit filter of the preliminary hits of one query (`hspfilter_besthit.c`): drops every HSP that lies inside a better one,
/// where better is judged by score per residue with the margin `edge`.
///
/// `hits` in ascending OID order; `capacity` is the length P of the preliminary list. Returns the best `capacity` subjects
/// of what is left, in ORDER-H. With an edge of 0 the command line leaves the plain list in place instead; this function
/// must not be called then.
pub fn preliminary_best_hit(hits: &[PrelimHit], edge: f64, capacity: usize) -> Vec<PrelimHit> {
    let items: Vec<Item> = prelim_items(hits).collect();
    let survivors = besthit::survivors(&items, 0.0, edge, 2 * capacity);
    let mut kept = keep_prelim(hits, &survivors);
    kept.sort_by(by_order_h);
    kept.truncate(capacity);
    kept
}

/// The filter's second run, on the final hits of one query. `capacity` as for [`preliminary_best_hit`].
pub(crate) fn final_filter(
    mut hits: Vec<SubjectHit>,
    filter: HspFilter,
    query_len: u32,
    capacity: usize,
) -> Vec<SubjectHit> {
    let survivors = match filter {
        HspFilter::Collect => return hits,
        HspFilter::Culling(limit) => {
            for hit in &mut hits {
                hit.alignments.sort_by(by_evalue);
            }
            hits.sort_by(by_first_alignment);
            culling::survivors(&final_items(&hits), 0..query_len, limit)
        }
        HspFilter::BestHit { overhang, edge } => {
            hits.sort_by(final_order_h);
            besthit::survivors(&final_items(&hits), overhang, edge, 2 * capacity)
        }
    };
    let mut survivors = survivors.into_iter();
    for hit in &mut hits {
        hit.alignments.retain(|_| survivors.next() == Some(true));
        hit.alignments.sort_by(order_s);
    }
    hits.retain(|hit| !hit.alignments.is_empty());
    hits
}

/// Share of the query that an HSP covers, in per cent, as `-qcov_hsp_perc` counts: half a per cent is added below 99
/// (`Blast_HSPGetQueryCoverage`, `blast_hits.c`). Lengths in residues.
pub fn query_coverage(q_start: u32, q_end: u32, query_len: u32) -> f64 {
    if query_len == 0 {
        return 0.0;
    }
    let share = 100.0 * f64::from(q_end - q_start) / f64::from(query_len);
    if share < 99.0 { share + 0.5 } else { share }
}

/// Drops every HSP whose query range lies in that of an earlier one of the same context, give or take three residues (`-subject_besthit`,
/// `Blast_HSPListSubjectBestHit`, `blast_hits.c`). The list is that of one query and one subject.
pub fn subject_best_hit<T: OfContext>(hsps: &mut Vec<T>) {
    let mut kept: Vec<T> = Vec::with_capacity(hsps.len());
    for hsp in hsps.drain(..) {
        let inner = hsp.bounds();
        let mut of_context = kept.iter().filter(|outer| outer.context() == hsp.context());
        let inside = of_context.any(|outer| {
            let outer = outer.bounds();
            inner.q_start >= outer.q_start.saturating_sub(RANGE_MARGIN)
                && inner.q_end <= outer.q_end + RANGE_MARGIN
        });
        if !inside {
            kept.push(hsp);
        }
    }
    *hsps = kept;
}

/// Alignments by e-value (below 1e-180 equal), then ORDER-S: `Blast_HSPListSortByEvalue`, `blast_hits.c`.
pub(crate) fn by_evalue(a: &Alignment, b: &Alignment) -> Ordering {
    order_evalue(a.evalue, b.evalue).then_with(|| order_s(a, b))
}

/// ORDER-H of final hits; empty ones last.
pub(crate) fn final_order_h(a: &SubjectHit, b: &SubjectHit) -> Ordering {
    by_key(a, b, |hit| HitKey::of_alignments(hit.oid, &hit.alignments))
}

/// ORDER-H, but the e-value is that of the first alignment, however large (`s_BlastHSPCullingPipeRun`, `hspfilter_culling.c`).
fn by_first_alignment(a: &SubjectHit, b: &SubjectHit) -> Ordering {
    by_key(a, b, |hit| {
        let first = hit.alignments.first()?;
        Some(HitKey { evalue: first.evalue, score: first.score, oid: hit.oid })
    })
}

fn by_order_h(a: &PrelimHit, b: &PrelimHit) -> Ordering {
    by_key(a, b, HitKey::of_prelim)
}

/// ORDER-H by a key; hits without one last.
fn by_key<T>(a: &T, b: &T, key: impl Fn(&T) -> Option<HitKey>) -> Ordering {
    match (key(a), key(b)) {
        (Some(a), Some(b)) => order_h(&a, &b),
        (a, b) => a.is_none().cmp(&b.is_none()),
    }
}

fn prelim_items(hits: &[PrelimHit]) -> impl Iterator<Item = Item> {
    hits.iter().flat_map(|hit| hit.hsps.iter().map(|hsp| Item::new(hsp, hsp.evalue, hit.oid)))
}

fn final_items(hits: &[SubjectHit]) -> Vec<Item> {
    let of = |hit: &SubjectHit| -> Vec<Item> {
        hit.alignments.iter().map(|a| Item::new(a, a.evalue, hit.oid)).collect()
    };
    hits.iter().flat_map(of).collect()
}

/// The hits with their surviving HSPs, in ORDER-S, without empty hits.
fn keep_prelim(hits: &[PrelimHit], survivors: &[bool]) -> Vec<PrelimHit> {
    let mut flags = survivors.iter();
    let mut kept = Vec::new();
    for hit in hits {
        let alive = |_: &&PrelimHsp| flags.next() == Some(&true);
        let mut hsps: Vec<PrelimHsp> = hit.hsps.iter().filter(alive).copied().collect();
        hsps.sort_by(order_s);
        if !hsps.is_empty() {
            let evalue = best_evalue(hsps.iter().map(|hsp| hsp.evalue));
            kept.push(PrelimHit { oid: hit.oid, evalue, hsps });
        }
    }
    kept
}

#[cfg(test)]
mod tests;
