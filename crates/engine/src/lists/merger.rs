//! Merges the preliminary hits of partitions (rules 5.8).

use std::cmp::Ordering;
use std::ops::Range;

use fleetblast_seq::translation::FRAMES;
use serde::{Deserialize, Serialize};

use super::chunks::{self, FramePart, QueryChunk, Starts};
use super::hitlist::{self, HitLists, key_of};
use super::select::preliminary_capacity;
use crate::filters::{self, QueryContexts, WrittenQuery};
use crate::hits::{HitKey, PrelimHit};
use crate::order::compare_hits;
use crate::params::{HspFilter, Params, Strands};

/// The properties of a block of queries by which hits of several partitions are merged and
/// selected.
#[derive(Clone, Debug)]
pub struct Merger {
    chunks: Vec<QueryChunk>,
    filter: HspFilter,
    /// Number of hits kept for each chunk of a query, P.
    capacity: usize,
    /// Whether hits go into the traceback by ascending OID instead of best hit first.
    by_oid: bool,
    /// Whether the e-values of a subject's HSPs may have another order than their scores.
    evalues_decide: bool,
    /// The queries of the block.
    queries: Vec<WrittenQuery>,
    /// The query strands that are searched; `Both` for proteins.
    strands: Strands,
}

/// For each chunk of a query, the key of the worst hit that is kept up to now; `None` while there
/// is room. Worse hits cannot be selected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorstKeptHits {
    worst: Vec<Option<HitKey>>,
}

impl Merger {
    /// Creates a merger for the lists of these chunks of `queries` queries.
    pub(crate) fn new(chunks: &[QueryChunk], queries: usize, params: &Params) -> Merger {
        Merger {
            chunks: chunks.to_vec(),
            filter: params.common().filter,
            capacity: preliminary_capacity(params),
            by_oid: !params.is_adjusted(),
            evalues_decide: params.evalues_may_reorder(),
            queries: create_queries(chunks, queries, params),
            strands: params.strands(),
        }
    }

    /// Returns the chunks of the queries, in the order of their lists.
    pub(crate) fn chunks(&self) -> &[QueryChunk] {
        &self.chunks
    }

    /// Creates lists without hits, to [absorb](Self::absorb) those of partitions.
    pub fn empty_lists(&self) -> HitLists {
        HitLists::new(self.chunks.len(), self.evalues_decide)
    }

    /// Returns whether there is a list for each chunk of this block.
    pub fn has_list_for_each_chunk(&self, lists: &HitLists) -> bool {
        lists.lists.len() == self.chunks.len()
    }

    /// Returns for each query the number of ungapped extensions that became segments, according to
    /// these lists. BLAST+ does not count those of chunks of long batches, which have counters of
    /// their own (`CBlastPrelimSearch::Run`, prelim_stage.cpp).
    pub fn extensions(&self, lists: &HitLists) -> Vec<u64> {
        let mut extensions = vec![0; self.queries.len()];
        let counted = self.chunks.iter().zip(&lists.extensions).filter(|(chunk, _)| !chunk.chunked);
        for (chunk, count) in counted {
            extensions[chunk.query] += count;
        }
        extensions
    }

    /// Adds the hits of another partition to `lists`.
    pub fn absorb(&self, lists: &mut HitLists, part: HitLists) {
        lists.absorb(part, self.prune_capacity());
    }

    /// Returns the length to which lists may be cut at any time; `None` if the selection needs all
    /// hits.
    pub(crate) fn prune_capacity(&self) -> Option<usize> {
        (self.filter == HspFilter::Collect).then_some(self.capacity)
    }

    /// Drops from the lists of a partition the hits that cannot be selected. Keeps only the best
    /// hits of each list, and none that is worse than `cut`.
    pub fn prune(&self, lists: &mut HitLists, cut: &WorstKeptHits) {
        let Some(capacity) = self.prune_capacity() else { return };
        let cuts = cut.worst.iter().copied().chain(std::iter::repeat(None));
        for (list, worst) in lists.lists.iter_mut().zip(cuts) {
            // Together with the hits that are merged already, they exceed the capacity of a list.
            if self.evalues_decide && (worst.is_some() || list.len() > capacity) {
                hitlist::sort_hsps_of_full_list(list);
            }
            if let Some(worst) = worst {
                list.retain(|hit| compare_hits(&key_of(hit), &worst) != Ordering::Greater);
            }
            hitlist::keep_best(list, capacity);
        }
    }

    /// Computes the cut: for each list of merged hits that is full, its worst hit. Later hits that
    /// are worse cannot be selected.
    pub fn cut(&self, lists: &HitLists) -> WorstKeptHits {
        let Some(capacity) = self.prune_capacity() else { return WorstKeptHits::default() };
        let worst = |list: &Vec<PrelimHit>| {
            // BLAST+ sorts the HSPs of a full list anew, which changes the key of a hit.
            let key = |hit: &PrelimHit| {
                let mut hit = [hit.clone()];
                hitlist::sort_hsps_of_full_list(&mut hit);
                key_of(&hit[0])
            };
            let key = |hit| if self.evalues_decide { key(hit) } else { key_of(hit) };
            let mut keys: Vec<HitKey> = list.iter().map(key).collect();
            (keys.len() >= capacity && capacity > 0)
                .then(|| *keys.select_nth_unstable_by(capacity - 1, compare_hits).1)
        };
        WorstKeptHits { worst: lists.lists.iter().map(worst).collect() }
    }

    /// Returns the preliminary hits of each query in the order of the traceback, from the merged
    /// lists of the whole database. The best hit comes first (ORDER-H). Without composition
    /// adjustment the hits come by OID (`BlastHSPStreamNew`, blast_hspstream.c).
    pub fn select_for_traceback(&self, lists: HitLists) -> Vec<Vec<PrelimHit>> {
        let mut queries: Vec<Vec<PrelimHit>> = vec![Vec::new(); self.queries.len()];
        let found = lists.subject_counts.into_iter().chain(std::iter::repeat(0));
        for ((chunk, mut hits), found) in self.chunks.iter().zip(lists.lists).zip(found) {
            if self.prune_capacity().is_some() && found > self.capacity as u64 {
                hitlist::sort_hsps_of_full_list(&mut hits);
            }
            let hits = self.select(chunk, hits);
            let query = &mut queries[chunk.query];
            // A merged list is cut, whichever filter made its parts (`Blast_HitListMerge`,
            // blast_hits.c).
            let both = !query.is_empty() && !hits.is_empty();
            *query = chunks::merge(std::mem::take(query), hits, &self.starts(chunk));
            if both {
                hitlist::keep_best(query, self.capacity);
            }
        }
        for hits in &mut queries {
            if self.by_oid {
                hits.sort_unstable_by_key(|hit| hit.oid);
            } else {
                hits.sort_unstable_by(hitlist::by_rank);
            }
        }
        queries
    }

    /// Returns the start of a chunk in the contexts that are searched.
    fn starts(&self, chunk: &QueryChunk) -> Starts {
        let WrittenQuery { length, contexts } = self.queries[chunk.query];
        match contexts {
            QueryContexts::Protein => Starts::of_protein(chunk),
            QueryContexts::Strands => Starts::of_strands(chunk, length, self.strands),
            QueryContexts::Frames => Starts::of_frames(chunk, length, self.strands),
        }
    }

    /// Applies culling or the best-hit filter, if the search has one, to the hits of a part of a
    /// query.
    fn filter(
        &self,
        hits: &[PrelimHit],
        written: WrittenQuery,
        part: Range<u32>,
    ) -> Vec<PrelimHit> {
        match self.filter {
            HspFilter::Collect => hits.to_vec(),
            HspFilter::Culling(limit) => filters::preliminary_culling(hits, written, part, limit),
            HspFilter::BestHit { edge, .. } => {
                let mut kept = filters::preliminary_best_hit(hits, written, edge, self.capacity);
                if kept.len() > self.capacity {
                    hitlist::sort_hsps_of_full_list(&mut kept);
                    hitlist::keep_best(&mut kept, self.capacity);
                }
                kept
            }
        }
    }

    /// Selects the hits that a query chunk keeps, from its hits in the whole database. Returns them
    /// in ascending OID order.
    fn select(&self, chunk: &QueryChunk, mut hits: Vec<PrelimHit>) -> Vec<PrelimHit> {
        hits.sort_unstable_by_key(|hit| hit.oid);
        let written = self.queries[chunk.query];
        let mut kept = match self.filter {
            HspFilter::Collect => hits,
            _ if chunk.chunked && written.contexts == QueryContexts::Frames => {
                // The filters compare frames by their positions in the chunk.
                let written_part = WrittenQuery { length: chunk.range.len() as u32, ..written };
                let parts: Vec<FramePart> = (0..FRAMES.len() as u8)
                    .map(|number| FramePart::new(written.length, &chunk.range, number))
                    .collect();
                in_chunk(&mut hits, &parts);
                let mut kept = self.filter(&hits, written_part, 0..written_part.length);
                in_query(&mut kept, &parts);
                kept
            }
            _ => self.filter(&hits, written, chunk.range.clone()),
        };
        let capacity = self.prune_capacity().unwrap_or(kept.len());
        hitlist::keep_best(&mut kept, capacity);
        kept
    }
}

/// Converts contexts and positions of HSPs from frames of the whole query to frames of a chunk.
fn in_chunk(hits: &mut [PrelimHit], parts: &[FramePart]) {
    for hsp in hits.iter_mut().flat_map(|hit| &mut hit.hsps) {
        let own = parts.iter().position(|part| part.context == hsp.context);
        let number = own.expect("each frame of a query is one of a chunk");
        hsp.context = number as u8;
        for position in [&mut hsp.q_start, &mut hsp.q_end, &mut hsp.q_seed] {
            *position -= parts[number].start;
        }
    }
}

/// Converts contexts and positions of HSPs from frames of a chunk to frames of the whole query.
fn in_query(hits: &mut [PrelimHit], parts: &[FramePart]) {
    for hsp in hits.iter_mut().flat_map(|hit| &mut hit.hsps) {
        let part = &parts[usize::from(hsp.context)];
        hsp.context = part.context;
        for position in [&mut hsp.q_start, &mut hsp.q_end, &mut hsp.q_seed] {
            *position += part.start;
        }
    }
}

/// Creates the queries of a block. Their lengths follow from their chunks.
fn create_queries(chunks: &[QueryChunk], queries: usize, params: &Params) -> Vec<WrittenQuery> {
    let mut lengths = vec![0; queries];
    for chunk in chunks {
        let length = &mut lengths[chunk.query];
        *length = chunk.range.end.max(*length);
    }
    lengths.into_iter().map(|length| WrittenQuery::new(params, length)).collect()
}
