//! Filters that may replace the plain list of best subjects: culling and best hit (rules 5.10).
//!
//! Both consider the HSPs of one query only, of both its strands if it has two. Both run once on
//! preliminary and once on final HSPs. Both depend on the order in which subjects arrive: ascending
//! OID at the preliminary stage, ORDER-H at the final one. The order of their results matters if
//! two HSPs are equal in ORDER-S, as on the two strands of a palindrome.

mod besthit;
mod culling;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::hits::{Alignment, HitKey, PrelimHit, PrelimHsp, SubjectHit};
use crate::order::{
    Bounds, ContextHsp, Hsp, best_evalue, compare_evalues, compare_hits, compare_hsps,
};
use crate::params::{HspFilter, Params};

/// Number of frames of a translated query.
const FRAME_COUNT: u8 = 6;
/// Number of residues by which an HSP may extend beyond another and still count as inside it.
const RANGE_MARGIN: u32 = 3;

/// A query as the user wrote it. Filters compare the HSPs of all contexts by their ranges in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrittenQuery {
    /// Number of letters of the query, or of the chunk to which positions of HSPs are relative.
    pub length: u32,
    /// Kind of the query's contexts.
    pub contexts: QueryContexts,
}

/// Kind of a query's contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueryContexts {
    /// A protein.
    Protein,
    /// Two strands. Positions on the minus strand count from the other end.
    Strands,
    /// Six frames. Positions in frames of the minus strand count from the other end.
    Frames,
}

impl WrittenQuery {
    /// Describes a query of `length` letters in a search with these parameters.
    pub fn new(params: &Params, length: u32) -> WrittenQuery {
        let contexts = match params {
            params if params.translates_queries() => QueryContexts::Frames,
            Params::Protein(_) => QueryContexts::Protein,
            Params::Nucleotide(_) => QueryContexts::Strands,
        };
        WrittenQuery { length, contexts }
    }

    /// Returns the number of letters of the context of an HSP.
    pub fn context_length(self, hsp: &impl ContextHsp) -> u32 {
        match self.contexts {
            QueryContexts::Protein | QueryContexts::Strands => self.length,
            QueryContexts::Frames => self.length.saturating_sub(u32::from(hsp.context() % 3)) / 3,
        }
    }

    /// Returns the range of an HSP in the query as written.
    fn range(self, hsp: &impl ContextHsp) -> Range<u32> {
        let Bounds { q_start, q_end, .. } = hsp.bounds();
        if self.is_minus(hsp) { self.length - q_end..self.length - q_start } else { q_start..q_end }
    }

    fn is_minus(self, hsp: &impl ContextHsp) -> bool {
        match self.contexts {
            QueryContexts::Protein => false,
            QueryContexts::Strands => hsp.context() == 1,
            QueryContexts::Frames => hsp.context() >= 3,
        }
    }
}

/// The properties of an HSP that filters use.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Item {
    /// First letter of the HSP, in the query as written.
    begin: i32,
    /// One past the last letter of the HSP, in the query as written.
    end: i32,
    /// First residue of the HSP in the subject.
    s_start: u32,
    score: i32,
    evalue: f64,
    oid: u32,
}

impl Item {
    fn len(&self) -> i32 {
        self.end - self.begin
    }

    fn new(hsp: &impl ContextHsp, written: WrittenQuery, evalue: f64, oid: u32) -> Item {
        let range = written.range(hsp);
        Item {
            begin: range.start as i32,
            end: range.end as i32,
            s_start: hsp.bounds().s_start,
            score: hsp.score(),
            evalue,
            oid,
        }
    }
}

/// Culls the preliminary hits of one query (`-culling_limit`, `hspfilter_culling.c`): drops every
/// HSP that `limit` others dominate, with some allowance for changes in the traceback.
///
/// `hits` are in ascending OID order. `part` is the range of the query that was searched: a chunk
/// of a long query, otherwise the whole query. Returns the remaining hits in ORDER-H.
pub(crate) fn preliminary_culling(
    hits: &[PrelimHit],
    written: WrittenQuery,
    part: Range<u32>,
    limit: u32,
) -> Vec<PrelimHit> {
    let limit = preliminary_limit(limit);
    let hsps = || hits.iter().flat_map(|hit| &hit.hsps);
    let items = |written| prelim_items(hits, written).collect();
    let survivors = cull(items, hsps, (written, part), limit);
    let mut kept = keep_prelim(hits, &survivors);
    kept.sort_by(compare_prelim_hits);
    kept
}

/// Returns the numbers of the HSPs that culling keeps. It culls each frame separately
/// (`s_BlastHSPCullingRun`). `part` is the range of the query that was searched.
fn cull<'a, T: ContextHsp + 'a, I: Iterator<Item = &'a T>>(
    items: impl Fn(WrittenQuery) -> Vec<Item>,
    hsps: impl Fn() -> I,
    (written, part): (WrittenQuery, Range<u32>),
    limit: u32,
) -> Vec<usize> {
    if written.contexts != QueryContexts::Frames {
        return culling::survivors(&items(written), part, limit);
    }
    // Positions count in the frame, whatever its strand.
    let items = items(WrittenQuery { contexts: QueryContexts::Protein, ..written });
    let mut kept = Vec::new();
    for frame in 0..FRAME_COUNT {
        let numbered = hsps().enumerate().filter(|(_, hsp)| hsp.context() == frame);
        let numbers: Vec<usize> = numbered.map(|(number, _)| number).collect();
        let Some(&first) = numbers.first() else { continue };
        let length = hsps().nth(first).map_or(0, |hsp| written.context_length(hsp));
        let of_frame: Vec<Item> = numbers.iter().map(|&number| items[number]).collect();
        let survivors = culling::survivors(&of_frame, 0..length, limit);
        kept.extend(survivors.into_iter().map(|place| numbers[place]));
    }
    kept
}

/// Returns the limit of preliminary culling. BLAST+ adds an allowance to the limit in 32 bits
/// (setup_factory.cpp), so that the sum may wrap around. With a sum below 1, one dominating HSP
/// suffices. The least sum acts as the greatest limit, because decrementing wraps around, too.
fn preliminary_limit(limit: u32) -> u32 {
    if limit <= 1 {
        return limit;
    }
    match limit.cast_signed().wrapping_add(3) {
        i32::MIN => u32::MAX,
        limit => limit.max(1).cast_unsigned(),
    }
}

/// Applies the best-hit filter to the preliminary hits of one query (`hspfilter_besthit.c`): drops
/// every HSP that lies inside a better one. Better means: higher score per residue, with the margin
/// `edge`.
///
/// `hits` are in ascending OID order. `capacity` is the length P of the preliminary list. Returns
/// the remaining hits in ORDER-H, which may be more than `capacity`. The caller must not use an
/// edge of 0, for which the command line keeps the plain list.
pub(crate) fn preliminary_best_hit(
    hits: &[PrelimHit],
    written: WrittenQuery,
    edge: f64,
    capacity: usize,
) -> Vec<PrelimHit> {
    let items: Vec<Item> = prelim_items(hits, written).collect();
    let survivors = besthit::survivors(&items, 0.0, edge, 2 * capacity);
    let mut kept = keep_prelim(hits, &survivors);
    kept.sort_by(compare_prelim_hits);
    kept
}

/// Applies culling or the best-hit filter to the final hits of one query. `capacity` is the length
/// P of the preliminary list.
pub(crate) fn final_filter(
    mut hits: Vec<SubjectHit>,
    filter: HspFilter,
    written: WrittenQuery,
    capacity: usize,
) -> Vec<SubjectHit> {
    let survivors = match filter {
        HspFilter::Collect => return hits,
        HspFilter::Culling(limit) => {
            for hit in &mut hits {
                hit.alignments.sort_by(by_evalue);
            }
            hits.sort_by(by_first_alignment);
            let hsps = || hits.iter().flat_map(|hit| &hit.alignments);
            let items = |written| final_items(&hits, written);
            cull(items, hsps, (written, 0..written.length), limit)
        }
        HspFilter::BestHit { overhang, edge } => {
            hits.sort_by(compare_final_hits);
            besthit::survivors(&final_items(&hits, written), overhang, edge, 2 * capacity)
        }
    };
    let take = |hit: &mut SubjectHit| std::mem::take(&mut hit.alignments);
    let all: Vec<Vec<Alignment>> = hits.iter_mut().map(take).collect();
    for (hit, kept) in hits.iter_mut().zip(select_items(all, &survivors)) {
        hit.alignments = kept;
        hit.alignments.sort_by(compare_hsps);
    }
    hits.retain(|hit| !hit.alignments.is_empty());
    hits
}

/// Selects items by number and returns them list by list. Numbers run through all lists; the items
/// of each returned list are in the order of `numbers`.
fn select_items<T>(lists: Vec<Vec<T>>, numbers: &[usize]) -> Vec<Vec<T>> {
    let mut kept: Vec<Vec<T>> = lists.iter().map(|_| Vec::new()).collect();
    let of_list =
        |(list, hsps): (usize, Vec<T>)| hsps.into_iter().map(move |hsp| Some((list, hsp)));
    let mut all: Vec<Option<(usize, T)>> =
        lists.into_iter().enumerate().flat_map(of_list).collect();
    for &number in numbers {
        if let Some((list, hsp)) = all[number].take() {
            kept[list].push(hsp);
        }
    }
    kept
}

/// Returns the share of the query that an HSP covers, in per cent, as for `-qcov_hsp_perc`: half a
/// per cent is added below 99 (`Blast_HSPGetQueryCoverage`, `blast_hits.c`). Lengths are in
/// residues.
pub fn query_coverage(q_start: u32, q_end: u32, query_len: u32) -> f64 {
    if query_len == 0 {
        return 0.0;
    }
    let share = 100.0 * f64::from(q_end - q_start) / f64::from(query_len);
    if share < 99.0 { share + 0.5 } else { share }
}

/// Drops every HSP whose query range lies in that of an earlier HSP, within three residues
/// (`-subject_besthit`, `Blast_HSPListSubjectBestHit`, `blast_hits.c`). It first compares HSPs of
/// the same context, then HSPs of different strands. All HSPs are of one query and one subject.
pub(crate) fn subject_best_hit<T: ContextHsp>(hsps: &mut Vec<T>, written: WrittenQuery) {
    drop_inner(hsps, range, |outer, inner| outer == inner);
    if written.contexts == QueryContexts::Strands {
        drop_inner(hsps, |hsp| written.range(hsp), |outer, inner| outer != inner);
    }
}

/// Drops every HSP whose range, as `range` returns it, lies in the range of an earlier remaining
/// HSP, within three residues. `counts` returns whether to compare HSPs of two contexts.
fn drop_inner<T: ContextHsp>(
    hsps: &mut Vec<T>,
    range: impl Fn(&T) -> Range<u32>,
    counts: impl Fn(u8, u8) -> bool,
) {
    let mut kept: BTreeMap<u8, OuterRanges> = BTreeMap::new();
    hsps.retain(|hsp| {
        let (context, range) = (hsp.context(), range(hsp));
        let wide = range.start + RANGE_MARGIN..range.end.saturating_sub(RANGE_MARGIN);
        let mut outer = kept.iter().filter(|&(&outer, _)| counts(outer, context));
        let stays = !outer.any(|(_, ranges)| ranges.hold(wide.start, wide.end));
        if stays {
            kept.entry(context).or_default().add(range);
        }
        stays
    });
}

/// Ranges that do not lie in each other, as a map from start to end. In the order of their starts
/// the ends ascend, too.
#[derive(Debug, Default)]
struct OuterRanges(BTreeMap<u32, u32>);

impl OuterRanges {
    /// Returns whether a range starts at `start` or before and ends at `end` or after.
    fn hold(&self, start: u32, end: u32) -> bool {
        self.0.range(..=start).next_back().is_some_and(|(_, &last)| last >= end)
    }

    fn add(&mut self, range: Range<u32>) {
        if self.hold(range.start, range.end) {
            return;
        }
        while let Some((&start, _)) =
            self.0.range(range.start..).next().filter(|&(_, &end)| end <= range.end)
        {
            self.0.remove(&start);
        }
        self.0.insert(range.start, range.end);
    }
}

/// Returns the range of an HSP in its context.
fn range(hsp: &impl Hsp) -> Range<u32> {
    let Bounds { q_start, q_end, .. } = hsp.bounds();
    q_start..q_end
}

/// Compares alignments by e-value, with all e-values below 1e-180 equal, then in ORDER-S
/// (`Blast_HSPListSortByEvalue`, `blast_hits.c`).
pub(crate) fn by_evalue(a: &Alignment, b: &Alignment) -> Ordering {
    compare_evalues(a.evalue, b.evalue).then_with(|| compare_hsps(a, b))
}

/// Compares final hits in ORDER-H. Hits without alignments come last.
pub(crate) fn compare_final_hits(a: &SubjectHit, b: &SubjectHit) -> Ordering {
    by_key(a, b, |hit| HitKey::of_alignments(hit.oid, &hit.alignments))
}

/// Compares hits in ORDER-H, but by the e-value of the first alignment, however large
/// (`s_BlastHSPCullingPipeRun`, `hspfilter_culling.c`).
fn by_first_alignment(a: &SubjectHit, b: &SubjectHit) -> Ordering {
    by_key(a, b, |hit| {
        let first = hit.alignments.first()?;
        Some(HitKey { evalue: first.evalue, score: first.score, oid: hit.oid })
    })
}

fn compare_prelim_hits(a: &PrelimHit, b: &PrelimHit) -> Ordering {
    by_key(a, b, HitKey::of_prelim)
}

/// Compares hits in ORDER-H by a key. Hits without a key come last.
fn by_key<T>(a: &T, b: &T, key: impl Fn(&T) -> Option<HitKey>) -> Ordering {
    match (key(a), key(b)) {
        (Some(a), Some(b)) => compare_hits(&a, &b),
        (a, b) => a.is_none().cmp(&b.is_none()),
    }
}

fn prelim_items(hits: &[PrelimHit], written: WrittenQuery) -> impl Iterator<Item = Item> {
    let of = move |hit: &PrelimHit, hsp: &PrelimHsp| Item::new(hsp, written, hsp.evalue, hit.oid);
    hits.iter().flat_map(move |hit| hit.hsps.iter().map(move |hsp| of(hit, hsp)))
}

fn final_items(hits: &[SubjectHit], written: WrittenQuery) -> Vec<Item> {
    let of = |hit: &SubjectHit| -> Vec<Item> {
        hit.alignments.iter().map(|a| Item::new(a, written, a.evalue, hit.oid)).collect()
    };
    hits.iter().flat_map(of).collect()
}

/// Returns the hits with their surviving HSPs in ORDER-S. Drops hits without survivors.
fn keep_prelim(hits: &[PrelimHit], survivors: &[usize]) -> Vec<PrelimHit> {
    let lists = hits.iter().map(|hit| hit.hsps.clone()).collect();
    let mut kept = Vec::new();
    for (hit, mut hsps) in hits.iter().zip(select_items(lists, survivors)) {
        hsps.sort_by(compare_hsps);
        if !hsps.is_empty() {
            let evalue = best_evalue(hsps.iter().map(|hsp| hsp.evalue));
            kept.push(PrelimHit { oid: hit.oid, evalue, hsps });
        }
    }
    kept
}

#[cfg(test)]
mod tests;
