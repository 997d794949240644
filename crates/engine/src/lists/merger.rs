//! Putting together the preliminary hits of ranges of OIDs (rules 5.8).

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::hitlist::{self, HitLists, key_of};
use super::pieces::{self, Piece, Starts};
use super::select::preliminary_capacity;
use crate::filters::{self, Written};
use crate::hits::{HitKey, PrelimHit};
use crate::order::order_h;
use crate::params::{HspFilter, Params, Strands};

/// What is known of a block of queries when only hits are to be merged: no profiles, no words.
#[derive(Clone, Debug)]
pub struct Merger {
    pieces: Vec<Piece>,
    filter: HspFilter,
    /// Hits kept for each piece of a query, P.
    capacity: usize,
    /// Matches go into the traceback by OID.
    by_oid: bool,
    /// E-values of the HSPs of a subject need not be in the order of their scores.
    evalues_decide: bool,
    /// The queries of the block.
    queries: Vec<Written>,
    /// Which strands of them are searched; `None` of proteins.
    strands: Option<Strands>,
}

/// For each piece of a query in a block the worst hit that is among the best of what was merged so
/// far; none while there is room. Hits worse than that cannot be chosen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cut {
    worst: Vec<Option<HitKey>>,
}

impl Merger {
    /// A merger of the lists that a search makes of these pieces of `queries` queries.
    pub(crate) fn new(pieces: &[Piece], queries: usize, params: &Params) -> Merger {
        Merger {
            pieces: pieces.to_vec(),
            filter: params.common().filter,
            capacity: preliminary_capacity(params),
            by_oid: !params.is_adjusted(),
            evalues_decide: params.evalues_decide(),
            queries: written(pieces, queries, params),
            strands: match params {
                Params::Protein(_) => None,
                Params::Nucleotide(params) => Some(params.strands),
            },
        }
    }

    /// The pieces of the queries, in the order of their lists.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Lists without hits, to [absorb](Self::absorb) ranges into.
    pub fn empty_lists(&self) -> HitLists {
        HitLists::new(self.pieces.len(), self.evalues_decide)
    }

    /// Whether the lists have a list for each piece of this block.
    pub fn fits(&self, lists: &HitLists) -> bool {
        lists.lists.len() == self.pieces.len()
    }

    /// How many ungapped extensions to a segment each query brought about, as far as these lists
    /// tell. BLAST+ does not hear of those of chunks, which have counters of their own
    /// (`CBlastPrelimSearch::Run`, prelim_stage.cpp).
    pub fn extensions(&self, lists: &HitLists) -> Vec<u64> {
        let mut extensions = vec![0; self.queries.len()];
        let counted = self.pieces.iter().zip(&lists.extensions).filter(|(piece, _)| !piece.chunked);
        for (piece, count) in counted {
            extensions[piece.query] += count;
        }
        extensions
    }

    /// Adds the hits of another range of OIDs to `lists`.
    pub fn absorb(&self, lists: &mut HitLists, part: HitLists) {
        lists.absorb(part, self.prune_to());
    }

    /// Lists may be cut to this length at any time; `None` where the choice needs all hits.
    pub(crate) fn prune_to(&self) -> Option<usize> {
        (self.filter == HspFilter::Collect).then_some(self.capacity)
    }

    /// Drops from the lists of a range what cannot be chosen: all but the best of each, and what
    /// lies beyond `cut`.
    pub fn prune(&self, lists: &mut HitLists, cut: &Cut) {
        let Some(capacity) = self.prune_to() else { return };
        let cuts = cut.worst.iter().copied().chain(std::iter::repeat(None));
        for (list, worst) in lists.lists.iter_mut().zip(cuts) {
            // With what the cut was made of they are more than a list takes.
            if self.evalues_decide && (worst.is_some() || list.len() > capacity) {
                hitlist::order_of_full(list);
            }
            if let Some(worst) = worst {
                list.retain(|hit| order_h(&key_of(hit), &worst) != Ordering::Greater);
            }
            hitlist::keep_best(list, capacity);
        }
    }

    /// The cut of what was merged so far.
    pub fn cut(&self, lists: &HitLists) -> Cut {
        let Some(capacity) = self.prune_to() else { return Cut::default() };
        let worst = |list: &Vec<PrelimHit>| {
            // For hits beside which there is no room for all.
            let key = |hit: &PrelimHit| {
                let mut hit = [hit.clone()];
                hitlist::order_of_full(&mut hit);
                key_of(&hit[0])
            };
            let key = |hit| if self.evalues_decide { key(hit) } else { key_of(hit) };
            let mut keys: Vec<HitKey> = list.iter().map(key).collect();
            (keys.len() >= capacity && capacity > 0)
                .then(|| *keys.select_nth_unstable_by(capacity - 1, order_h).1)
        };
        Cut { worst: lists.lists.iter().map(worst).collect() }
    }

    /// Each query's preliminary hits in the order of the traceback, from the lists of ranges that
    /// make up the whole database: the best first (ORDER-H), or by OID without composition
    /// adjustment (`BlastHSPStreamNew`, blast_hspstream.c).
    pub fn choose(&self, lists: HitLists) -> Vec<Vec<PrelimHit>> {
        let mut queries: Vec<Vec<PrelimHit>> = vec![Vec::new(); self.queries.len()];
        let found = lists.found.into_iter().chain(std::iter::repeat(0));
        for ((piece, mut hits), found) in self.pieces.iter().zip(lists.lists).zip(found) {
            if self.prune_to().is_some() && found > self.capacity as u64 {
                hitlist::order_of_full(&mut hits);
            }
            let hits = self.select(piece, hits);
            let query = &mut queries[piece.query];
            // A merged list is cut, whichever filter made its parts (`Blast_HitListMerge`,
            // blast_hits.c).
            let both = !query.is_empty() && !hits.is_empty();
            *query = pieces::merge(std::mem::take(query), hits, self.starts(piece));
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

    /// Where a piece starts in the strands that are searched.
    fn starts(&self, piece: &Piece) -> Starts {
        let length = self.queries[piece.query].length;
        let start = |strand| piece.part_of(length, strand).start;
        Starts {
            plus: (self.strands != Some(Strands::Minus)).then(|| start(0)),
            minus: self.strands.filter(|&strands| strands != Strands::Plus).map(|_| start(1)),
        }
    }

    /// What is kept of a piece's hits in the whole database, in ascending OID order.
    fn select(&self, piece: &Piece, mut hits: Vec<PrelimHit>) -> Vec<PrelimHit> {
        hits.sort_unstable_by_key(|hit| hit.oid);
        let written = self.queries[piece.query];
        let mut kept = match self.filter {
            HspFilter::Collect => hits,
            HspFilter::Culling(limit) => {
                filters::preliminary_culling(&hits, written, piece.range.clone(), limit)
            }
            HspFilter::BestHit { edge, .. } => {
                filters::preliminary_best_hit(&hits, written, edge, self.capacity)
            }
        };
        let capacity = self.prune_to().unwrap_or(kept.len());
        hitlist::keep_best(&mut kept, capacity);
        kept
    }
}

/// The queries of a block, whose lengths their pieces tell.
fn written(pieces: &[Piece], queries: usize, params: &Params) -> Vec<Written> {
    let mut lengths = vec![0; queries];
    for piece in pieces {
        let length = &mut lengths[piece.query];
        *length = piece.range.end.max(*length);
    }
    lengths.into_iter().map(|length| Written::new(params, length)).collect()
}
