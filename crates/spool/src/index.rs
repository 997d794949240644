//! Index of the results in all files of a job.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::error::Error;
use crate::key::ResultKey;
use crate::layout::Run;
use crate::record::StoredShare;

/// The places of all records of a job, by result.
///
/// A result or a share can exist twice. A run can die before it records that a result is on disk,
/// and the next run can divide the result differently. The bytes are the same.
#[derive(Clone, Debug, Default)]
pub struct ResultIndex {
    results: HashMap<ResultKey, Shares>,
}

/// The shares of a result.
#[derive(Clone, Debug)]
struct Shares {
    /// The place that was added first.
    first: StoredShare,
    /// The place of the longest share that begins at each offset of the result.
    longest: BTreeMap<u64, StoredShare>,
}

impl ResultIndex {
    /// Adds the position of a stored share of a result. `run` is the job that stored it.
    ///
    /// # Errors
    /// [`Error::Conflict`] if another record states another length of the whole result, or contains
    /// the same share with other contents.
    pub fn add(&mut self, run: &Run, place: StoredShare) -> Result<(), Error> {
        let shares = self
            .results
            .entry(place.key)
            .or_insert_with(|| Shares { first: place, longest: BTreeMap::new() });
        if shares.first.share.total != place.share.total {
            return Err(conflict(run, shares.first, place));
        }
        match shares.longest.entry(place.share.start) {
            Entry::Vacant(slot) => drop(slot.insert(place)),
            Entry::Occupied(mut slot) => {
                let known = *slot.get();
                if known.length == place.length && known.content != place.content {
                    return Err(conflict(run, known, place));
                }
                if known.length < place.length {
                    slot.insert(place);
                }
            }
        }
        Ok(())
    }

    /// Returns the places whose shares together make up a result, in the order of the result.
    /// Returns `None` if some bytes are missing.
    ///
    /// A share can overlap the previous one. The bytes of the overlap are the same, and the caller
    /// must skip them.
    pub fn shares_of_result(&self, key: ResultKey) -> Option<Vec<StoredShare>> {
        let Shares { first, longest } = self.results.get(&key)?;
        let mut places = longest.values().peekable();
        let (mut chosen, mut covered) = (Vec::new(), 0);
        while covered < first.share.total {
            let mut best: Option<&StoredShare> = None;
            while let Some(place) = places.next_if(|place| place.share.start <= covered) {
                best = best.filter(|best| best.end() >= place.end()).or(Some(place));
            }
            let best = best.filter(|best| best.end() > covered)?;
            covered = best.end();
            chosen.push(*best);
        }
        Some(chosen)
    }

    /// Returns the complete results with their lengths in bytes, in no particular order.
    pub fn complete(&self) -> impl Iterator<Item = (ResultKey, u64)> {
        let complete =
            self.results.iter().filter(|(key, _)| self.shares_of_result(**key).is_some());
        complete.map(|(key, shares)| (*key, shares.first.share.total))
    }
}

fn conflict(run: &Run, first: StoredShare, second: StoredShare) -> Error {
    Error::Conflict {
        key: second.key,
        paths: Box::new([first, second].map(|place| run.path(place.file))),
        offsets: [first.offset, second.offset],
        totals: [first, second].map(|place| place.share.total),
    }
}

#[cfg(test)]
mod tests;
