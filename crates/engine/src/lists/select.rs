//! Selects the candidates that become hits, and their order (rules 6.1, 6.9).

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, BinaryHeap};

use crate::filters::{
    WrittenQuery, by_evalue, compare_final_hits, final_filter, query_coverage, subject_best_hit,
};
use crate::hits::{CandidateHit, HitKey, PrelimHit, SubjectHit};
use crate::order::{compare_hits, compare_in_result_heap};
use crate::params::{HspFilter, Method, Params};

/// Factor by which a preliminary e-value may exceed the inclusion threshold before its hit is no
/// longer aligned (`EVALUE_STRETCH`).
const STRETCH: f64 = 5.0;

/// Returns the length P of the preliminary list of a query: the number of subjects that go into the
/// traceback (`GetPrelimHitlistSize`, `hspfilter_collector.c`).
pub fn preliminary_capacity(params: &Params) -> usize {
    let wanted = params.common().hitlist_size;
    if params.common().ungapped {
        wanted
    } else if !params.is_adjusted() {
        (2 * wanted).max(10).min(wanted + 50)
    } else if wanted <= 500 {
        1050
    } else {
        2 * wanted + 50
    }
}

/// Returns the greatest number of subjects that become final hits of a query.
fn final_capacity(params: &Params) -> usize {
    let common = params.common();
    if common.keeps_all_preliminary_subjects {
        preliminary_capacity(params)
    } else {
        common.hitlist_size
    }
}

/// The selection of hits among the candidates of one batch of queries, as BLAST+ cuts its input
/// into batches.
///
/// Candidates may be computed in any order; [`Selector::replay`] processes them in BLAST+'s order.
/// Unless that order is [by subject](Selector::by_subject), candidates may also be offered one by
/// one. Then they come query by query, and within a query in the order of
/// [`Merger::select_for_traceback`](super::Merger::select_for_traceback). A candidate may be
/// offered only if [`Selector::must_align`] is true at that moment for its preliminary e-value.
#[derive(Debug)]
pub struct Selector {
    /// Whether candidates pass through result heaps: with composition adjustment or Smith-Waterman.
    heaps: bool,
    by_subject: bool,
    queries: Vec<QueryHits>,
    /// OIDs of subjects that count as hits but are left out of the report.
    unreported: BTreeSet<u32>,
    rules: Rules,
}

#[derive(Debug)]
struct QueryHits {
    query: WrittenQuery,
    kept: BinaryHeap<Record>,
    /// Whether the query had more candidates than are kept, and only the kept ones are offered to
    /// the selector.
    overflowed: bool,
}

/// Limits for final hits.
#[derive(Clone, Debug)]
struct Rules {
    hitlist_size: usize,
    /// Greatest length P of the preliminary list of a query.
    capacity: usize,
    filter: HspFilter,
    max_hsps: Option<usize>,
    qcov_hsp_perc: f64,
    subject_besthit: bool,
    /// Whether the last filters remove HSPs before subjects are ordered, instead of afterwards.
    filters_before_order: bool,
    /// E-value up to which the heap of hits grows without limit.
    inclusion: f64,
}

/// A hit in the heap; the greatest is the worst under ORDER-R.
#[derive(Debug)]
struct Record {
    key: HitKey,
    hit: SubjectHit,
}

impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Record {}

impl PartialOrd for Record {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Record {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_in_result_heap(&self.key, &other.key)
    }
}

impl Selector {
    /// Creates a selector for queries of the given lengths in residues.
    pub fn new(params: &Params, query_lengths: &[u32]) -> Self {
        let queries = query_lengths
            .iter()
            .map(|&length| QueryHits {
                query: WrittenQuery::new(params, length),
                kept: BinaryHeap::new(),
                overflowed: false,
            })
            .collect();
        let method = params.method();
        Selector {
            heaps: matches!(method, Method::Redo | Method::SmithWaterman),
            by_subject: method == Method::SmithWaterman && !params.is_adjusted(),
            queries,
            unreported: BTreeSet::new(),
            rules: Rules {
                hitlist_size: final_capacity(params),
                capacity: preliminary_capacity(params),
                filter: params.common().filter,
                max_hsps: params.common().max_hsps,
                qcov_hsp_perc: params.common().qcov_hsp_perc,
                subject_besthit: params.common().subject_besthit,
                filters_before_order: params.common().release.filters_before_order,
                inclusion: params.common().inclusion_evalue,
            },
        }
    }

    /// Returns whether the hits of all queries are processed by ascending OID. Without composition
    /// adjustment BLAST+ does not sort them by score (`BlastHSPStreamNew`, `blast_hspstream.c`).
    pub fn by_subject(&self) -> bool {
        self.by_subject
    }

    /// Returns the number of queries, from the first one on, whose hits must all be aligned: all
    /// queries, or with result heaps all but the last one. The hits of the last one end when each
    /// query has enough hits.
    pub fn unconditional_queries(&self) -> usize {
        self.queries.len().saturating_sub(usize::from(self.heaps))
    }

    /// Processes the candidates of all `chosen` preliminary hits of the batch in BLAST+'s order.
    /// `candidates` has the shape of `chosen`, with `None` for hits that are not aligned.
    pub fn replay(
        &mut self,
        chosen: &[Vec<PrelimHit>],
        mut candidates: Vec<Vec<Option<CandidateHit>>>,
    ) {
        let of_query = |(query, hits): (usize, &Vec<PrelimHit>)| {
            (0..hits.len()).map(move |place| (query, place))
        };
        let mut order: Vec<(usize, usize)> = chosen.iter().enumerate().flat_map(of_query).collect();
        if self.by_subject {
            // BLAST+ reads the hits to one subject from the last query to the first
            // (`BlastHSPStreamRead`).
            order.sort_by_key(|&(query, place)| (chosen[query][place].oid, Reverse(query)));
        }
        for (query, place) in order {
            if let Some(candidate) = candidates[query][place].take()
                && self.must_align(chosen[query][place].evalue)
            {
                self.offer(query, candidate);
            }
        }
    }

    /// Returns whether the next hit, with this preliminary e-value, must be aligned. It need not be
    /// if its e-value is far above the inclusion threshold, and every query of the batch has enough
    /// hits that are not above the threshold.
    pub fn must_align(&self, prelim_evalue: f64) -> bool {
        let full = |query: &QueryHits| {
            query.kept.len() >= self.rules.hitlist_size
                && query.worst_evalue() <= self.rules.inclusion
                && prelim_evalue > STRETCH * self.rules.inclusion
        };
        !(self.heaps && self.queries.iter().all(full))
    }

    /// Processes the next candidate of query number `query` of the batch.
    ///
    /// # Panics
    /// If there is no such query.
    pub fn offer(&mut self, query: usize, candidate: CandidateHit) {
        if !candidate.is_reported {
            self.unreported.insert(candidate.oid);
        }
        let rules = &self.rules;
        let hits = &mut self.queries[query];
        if let Some(first) = candidate.smith_waterman_key
            && !hits.would_accept(&first, rules)
        {
            return;
        }
        let Some(key) = candidate.key else { return };
        let hit = SubjectHit::new(candidate.oid, candidate.alignments);
        let record = Record { key, hit };
        if !self.heaps {
            hits.kept.push(record);
        } else if hits.would_accept(&key, rules) {
            hits.insert(record, rules);
        }
    }

    /// Returns for each query whether it has more hits than are kept. A selector that gets only the
    /// kept hits must be [informed](Selector::mark_overflowed), as this changes the order of the
    /// hits.
    pub fn overflowing(&self) -> Vec<bool> {
        let limit = self.rules.hitlist_size;
        self.queries.iter().map(|query| query.overflowed || query.kept.len() > limit).collect()
    }

    /// Declares that the query had more candidates than are kept, and that only those are offered.
    ///
    /// # Panics
    /// If there is no such query.
    pub fn mark_overflowed(&mut self, query: usize) {
        self.queries[query].overflowed = true;
    }

    /// Returns the final hits of every query.
    pub fn finish(self) -> Vec<Vec<SubjectHit>> {
        let (rules, unreported) = (self.rules, self.unreported);
        let finish = |query: QueryHits| {
            let hits = query.kept.into_iter().map(|record| record.hit).collect();
            let mut hits = rules.finish(hits, query.query, query.overflowed);
            // BLAST+ leaves unreported subjects out of the list that it formats
            // (`BlastHitList2SeqAlign_OMF`).
            hits.retain(|hit| !unreported.contains(&hit.oid));
            hits
        };
        self.queries.into_iter().map(finish).collect()
    }
}

impl QueryHits {
    fn worst_evalue(&self) -> f64 {
        self.kept.peek().map_or(0.0, |worst| worst.key.evalue)
    }

    fn is_worse_than(&self, key: &HitKey) -> bool {
        self.kept
            .peek()
            .is_some_and(|worst| compare_in_result_heap(&worst.key, key) == Ordering::Greater)
    }

    /// Returns whether the heap accepts a hit with this key (`BlastCompo_HeapWouldInsert`,
    /// `compo_heap.c`).
    fn would_accept(&self, key: &HitKey, rules: &Rules) -> bool {
        self.kept.len() < rules.hitlist_size
            || key.evalue <= rules.inclusion
            || key.evalue < self.worst_evalue()
            || self.is_worse_than(key)
    }

    /// Inserts a hit into the heap. If a full heap may not grow, drops the worst hit, which may be
    /// the new one (`BlastCompo_HeapInsert`, `compo_heap.c`).
    fn insert(&mut self, record: Record, rules: &Rules) {
        let grows = record.key.evalue <= rules.inclusion && self.worst_evalue() <= rules.inclusion;
        if self.kept.len() < rules.hitlist_size || grows {
            self.kept.push(record);
        } else if self.is_worse_than(&record.key) {
            self.kept.pop();
            self.kept.push(record);
        }
    }
}

impl Rules {
    fn finish(
        &self,
        mut hits: Vec<SubjectHit>,
        query: WrittenQuery,
        overflowed: bool,
    ) -> Vec<SubjectHit> {
        if overflowed || hits.len() > self.hitlist_size {
            // A hit list that overflows sorts the alignments of its subjects anew
            // (`Blast_HitListUpdate`, `blast_hits.c`).
            for hit in &mut hits {
                hit.alignments.sort_by(by_evalue);
            }
            hits.sort_by(compare_final_hits);
            hits.truncate(self.hitlist_size);
        }
        let mut hits = final_filter(hits, self.filter, query, self.capacity);
        hits.sort_by(compare_final_hits);
        let trimmed = hits.into_iter().map(|mut hit| (self.trim(&mut hit, query), hit));
        let mut trimmed: Vec<_> = trimmed.filter_map(|(key, hit)| Some((key?, hit))).collect();
        if self.filters_before_order {
            trimmed.sort_by(|(a, _), (b, _)| compare_hits(a, b));
        }
        let mut hits: Vec<_> = trimmed.into_iter().map(|(_, hit)| hit).collect();
        hits.truncate(self.hitlist_size);
        for hit in &mut hits {
            // An alignment whose score rounds to 0 is not reported (`s_BlastHSP2SeqAlign`,
            // `blast_seqalign.cpp`).
            hit.alignments.retain(|alignment| alignment.score != 0);
            hit.alignments.sort_by(by_evalue);
        }
        hits.retain(|hit| !hit.alignments.is_empty());
        hits
    }

    /// Applies `-max_hsps`, `-qcov_hsp_perc`, `-subject_besthit`, in this order
    /// (`s_FilterBlastResults`, `blast_traceback.c`). Returns the sort key of the subject for
    /// releases that filter before they order subjects; `None` if no alignment is left. The key's
    /// e-value is the lowest of all alignments, even of removed ones, unless `-qcov_hsp_perc`
    /// removes one: only then BLAST+ computes it again.
    fn trim(&self, hit: &mut SubjectHit, query: WrittenQuery) -> Option<HitKey> {
        let key = |hit: &SubjectHit| HitKey::of_alignments(hit.oid, &hit.alignments);
        let mut evalue = key(hit)?.evalue;
        if let Some(limit) = self.max_hsps {
            hit.alignments.truncate(limit);
        }
        if self.qcov_hsp_perc > 0.0 {
            let count = hit.alignments.len();
            hit.alignments.retain(|a| {
                let length = query.context_length(a);
                query_coverage(a.query.start, a.query.end, length) >= self.qcov_hsp_perc
            });
            if hit.alignments.len() < count {
                evalue = key(hit)?.evalue;
            }
        }
        if self.subject_besthit {
            subject_best_hit(&mut hit.alignments, query);
        }
        Some(HitKey { evalue, ..key(hit)? })
    }
}

#[cfg(test)]
mod tests;
