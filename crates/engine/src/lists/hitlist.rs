//! Lists of preliminary hits that keep the best subjects of a query (rules 5.8).

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::hits::{HitKey, PrelimHit, PrelimHsp};
use crate::order::{order_evalue, order_h, order_s};

/// Preliminary hits of every piece of the queries of a block, in some ranges of OIDs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HitLists {
    pub(super) lists: Vec<Vec<PrelimHit>>,
    /// Ungapped extensions of each piece of nucleotides that came to a segment, by which BLAST+
    /// makes the next batch of queries; nothing as long as there are none.
    pub(super) extensions: Vec<u64>,
    /// Subjects found of each piece, kept or not, where that matters; nothing elsewhere.
    pub(super) found: Vec<u64>,
    /// An extension came to where it is not known what lies beside the queries, and might have gone
    /// on.
    pub strayed: bool,
}

impl HitLists {
    /// Empty lists for so many pieces.
    pub(super) fn new(pieces: usize, counts_found: bool) -> HitLists {
        let found = vec![0; if counts_found { pieces } else { 0 }];
        HitLists { lists: vec![Vec::new(); pieces], found, ..HitLists::default() }
    }

    /// Hits of all pieces: a subject counts once for each query.
    pub fn len(&self) -> usize {
        self.lists.iter().map(Vec::len).sum()
    }

    /// True if there is no hit.
    pub fn is_empty(&self) -> bool {
        self.lists.iter().all(Vec::is_empty)
    }

    /// Counts extensions of a piece.
    pub(crate) fn count(&mut self, piece: usize, extensions: u64) {
        if self.extensions.is_empty() {
            self.extensions = vec![0; self.lists.len()];
        }
        self.extensions[piece] += extensions;
    }

    /// Adds a hit; where there are far more than `capacity`, the worst are dropped.
    pub(crate) fn push(&mut self, piece: usize, hit: PrelimHit, capacity: Option<usize>) {
        if let Some(found) = self.found.get_mut(piece) {
            *found += 1;
        }
        let list = &mut self.lists[piece];
        list.push(hit);
        if let Some(capacity) = capacity
            && list.len() > 2 * capacity + 64
        {
            if !self.found.is_empty() {
                order_of_full(list);
            }
            keep_best(list, capacity);
        }
    }
}

impl HitLists {
    /// Adds the hits of other lists of the same pieces, and cuts lists far longer than `capacity`.
    pub(super) fn absorb(&mut self, other: HitLists, capacity: Option<usize>) {
        self.strayed |= other.strayed;
        for (piece, count) in other.extensions.into_iter().enumerate() {
            self.count(piece, count);
        }
        for (found, more) in self.found.iter_mut().zip(other.found) {
            *found += more;
        }
        for (list, hits) in self.lists.iter_mut().zip(other.lists) {
            list.extend(hits);
            if let Some(capacity) = capacity
                && list.len() > 2 * capacity + 64
            {
                if !self.found.is_empty() {
                    order_of_full(list);
                }
                keep_best(list, capacity);
            }
        }
    }
}

/// Orders the HSPs of each hit of a list that cannot take all, as BLAST+ does then, which matters
/// to what ORDER-H looks at, too (`Blast_HitListUpdate`, blast_hits.c).
pub(super) fn order_of_full(hits: &mut [PrelimHit]) {
    let by_evalue =
        |a: &PrelimHsp, b: &PrelimHsp| order_evalue(a.evalue, b.evalue).then_with(|| order_s(a, b));
    hits.iter_mut().for_each(|hit| hit.hsps.sort_by(by_evalue));
}

/// ORDER-H on preliminary hits.
pub(crate) fn by_rank(a: &PrelimHit, b: &PrelimHit) -> Ordering {
    order_h(&key_of(a), &key_of(b))
}

/// What ORDER-H looks at.
pub(super) fn key_of(hit: &PrelimHit) -> HitKey {
    HitKey::of_prelim(hit).expect("a hit has an HSP")
}

/// Drops all but the best `capacity` hits, leaving them in ascending OID order.
pub(super) fn keep_best(hits: &mut Vec<PrelimHit>, capacity: usize) {
    if hits.len() > capacity {
        hits.select_nth_unstable_by(capacity, by_rank);
        hits.truncate(capacity);
    }
    hits.sort_unstable_by_key(|hit| hit.oid);
}
