//! The preliminary hits of a pass, merged from all partitions.

use fleetblast_engine::hits::PrelimHit;
use fleetblast_engine::lists::{HitLists, Merger, WorstKeptHits};
use fleetblast_fleet::ids::BlockId;

use super::questions::inconsistent_ranks;
use crate::error::Error;
use crate::ranks::wire::{Bytes, ExtensionStatistics, decode, encode};

/// The preliminary hits of a pass, while its tasks are searched.
pub struct MergedLists {
    merger: Merger,
    lists: HitLists,
    cut: WorstKeptHits,
    /// Number of queries from the start of the block that are reported, unless the block has fewer.
    /// BLAST+ may end its search before the last query.
    pub reported: usize,
}

impl MergedLists {
    /// Creates lists without hits.
    pub fn new(merger: Merger) -> Self {
        let lists = merger.empty_lists();
        MergedLists { merger, lists, cut: WorstKeptHits::default(), reported: usize::MAX }
    }

    /// Merges the encoded hits of a partition. Returns the encoded cut if the merge raised it,
    /// otherwise `None`.
    ///
    /// # Errors
    /// The lists belong to other queries than those of `block`.
    pub fn absorb(&mut self, block: BlockId, hits: &Bytes) -> Result<Option<Bytes>, Error> {
        let part: HitLists = decode(hits)?;
        if !self.merger.has_list_for_each_chunk(&part) {
            return Err(inconsistent_ranks(block));
        }
        self.merger.absorb(&mut self.lists, part);
        let cut = self.merger.cut(&self.lists);
        if cut == self.cut {
            return Ok(None);
        }
        self.cut = cut;
        encode(&self.cut).map(Some)
    }

    /// Returns the statistics by which the supermaster verifies the batches of queries.
    pub fn statistics(&self) -> ExtensionStatistics {
        ExtensionStatistics {
            extensions: self.merger.extensions(&self.lists),
            reached_unknown_letters: self.lists.reached_unknown_letters,
        }
    }

    /// Returns for each query the hits that workers align. Queries that are not reported have none.
    pub fn select_for_traceback(self) -> Vec<Vec<PrelimHit>> {
        let mut chosen = self.merger.select_for_traceback(self.lists);
        chosen.iter_mut().skip(self.reported).for_each(Vec::clear);
        chosen
    }
}
