//! Lists of preliminary hits that keep the best subjects of a query (rules 5.8).

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::hits::{HitKey, PrelimHit, PrelimHsp};
use crate::order::{compare_evalues, compare_hits, compare_hsps};

/// Preliminary hits of every chunk of the queries of a block, in some partitions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HitLists {
    pub(super) lists: Vec<Vec<PrelimHit>>,
    /// For each chunk of nucleotide queries, the number of ungapped extensions that became
    /// segments, from which BLAST+ derives the size of its next batch. Empty until one is counted.
    pub(super) extensions: Vec<u64>,
    /// For each chunk, the number of subjects with hits, kept or not; empty if subjects are not
    /// counted.
    pub(super) subject_counts: Vec<u64>,
    /// Whether an ungapped extension reached the end of the known letters next to the searched
    /// chunks, so that further letters might have made it longer.
    pub reached_unknown_letters: bool,
}

impl HitLists {
    /// Creates empty lists for `chunks` chunks. With `counts_found` they count the subjects with
    /// hits.
    pub(super) fn new(chunks: usize, counts_found: bool) -> HitLists {
        let subject_counts = vec![0; if counts_found { chunks } else { 0 }];
        HitLists { lists: vec![Vec::new(); chunks], subject_counts, ..HitLists::default() }
    }

    /// Returns the number of hits of all chunks. A subject counts once for each chunk.
    pub fn len(&self) -> usize {
        self.lists.iter().map(Vec::len).sum()
    }

    /// Returns whether there are no hits.
    pub fn is_empty(&self) -> bool {
        self.lists.iter().all(Vec::is_empty)
    }

    /// Adds `extensions` to the number of ungapped extensions of a chunk that became segments.
    pub(crate) fn add_extensions(&mut self, chunk: usize, extensions: u64) {
        if self.extensions.is_empty() {
            self.extensions = vec![0; self.lists.len()];
        }
        self.extensions[chunk] += extensions;
    }

    /// Adds a hit to the list of a chunk. If the list is far longer than `capacity`, keeps only the
    /// best `capacity` hits.
    pub(crate) fn push(&mut self, chunk: usize, hit: PrelimHit, capacity: Option<usize>) {
        if let Some(found) = self.subject_counts.get_mut(chunk) {
            *found += 1;
        }
        let list = &mut self.lists[chunk];
        list.push(hit);
        if let Some(capacity) = capacity
            && list.len() > 2 * capacity + 64
        {
            if !self.subject_counts.is_empty() {
                sort_hsps_of_full_list(list);
            }
            keep_best(list, capacity);
        }
    }
}

impl HitLists {
    /// Adds the hits of other lists of the same chunks. Of a list far longer than `capacity`, keeps
    /// only the best `capacity` hits.
    pub(super) fn absorb(&mut self, other: HitLists, capacity: Option<usize>) {
        self.reached_unknown_letters |= other.reached_unknown_letters;
        for (chunk, count) in other.extensions.into_iter().enumerate() {
            self.add_extensions(chunk, count);
        }
        for (found, more) in self.subject_counts.iter_mut().zip(other.subject_counts) {
            *found += more;
        }
        for (list, hits) in self.lists.iter_mut().zip(other.lists) {
            list.extend(hits);
            if let Some(capacity) = capacity
                && list.len() > 2 * capacity + 64
            {
                if !self.subject_counts.is_empty() {
                    sort_hsps_of_full_list(list);
                }
                keep_best(list, capacity);
            }
        }
    }
}

/// Sorts the HSPs of each hit of a full list by e-value, as BLAST+ does. This also changes the key
/// of the hit for ORDER-H (`Blast_HitListUpdate`, blast_hits.c).
pub(super) fn sort_hsps_of_full_list(hits: &mut [PrelimHit]) {
    let by_evalue = |a: &PrelimHsp, b: &PrelimHsp| {
        compare_evalues(a.evalue, b.evalue).then_with(|| compare_hsps(a, b))
    };
    hits.iter_mut().for_each(|hit| hit.hsps.sort_by(by_evalue));
}

/// Compares preliminary hits by ORDER-H.
pub(crate) fn by_rank(a: &PrelimHit, b: &PrelimHit) -> Ordering {
    compare_hits(&key_of(a), &key_of(b))
}

/// Returns the sort key of a hit for ORDER-H.
pub(super) fn key_of(hit: &PrelimHit) -> HitKey {
    HitKey::of_prelim(hit).expect("a hit has an HSP")
}

/// Drops all but the best `capacity` hits; the kept hits are in ascending OID order.
pub(super) fn keep_best(hits: &mut Vec<PrelimHit>, capacity: usize) {
    if hits.len() > capacity {
        hits.select_nth_unstable_by(capacity, by_rank);
        hits.truncate(capacity);
    }
    hits.sort_unstable_by_key(|hit| hit.oid);
}
