//! Which results there are, over all files.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::error::Error;
use crate::key::Key;
use crate::layout::Run;
use crate::record::Place;

/// The records of a job by their results.
///
/// Results, or shares of them, can be there twice: a run may die before it knows that something is on disk, and the next
/// may part the result otherwise. The bytes are the same then.
#[derive(Clone, Debug, Default)]
pub struct Index {
    results: HashMap<Key, Shares>,
}

/// What there is of a result.
#[derive(Clone, Debug)]
struct Shares {
    /// The record that was added first.
    first: Place,
    /// The longest share from each start.
    longest: BTreeMap<u64, Place>,
}

impl Index {
    /// Adds a record of the job of `run`.
    ///
    /// # Errors
    /// [`Error::Conflict`] if there is a record by which the whole result is longer or shorter, or of the same share with
    /// other contents.
    pub fn add(&mut self, run: &Run, place: Place) -> Result<(), Error> {
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

    /// The records that together are all of a result, in its order; `None` if something is missing. A record may begin
    /// before the end of the one before it: its bytes up to there are the same, and to be left out.
    pub fn cover(&self, key: Key) -> Option<Vec<Place>> {
        let Shares { first, longest } = self.results.get(&key)?;
        let mut places = longest.values().peekable();
        let (mut chosen, mut covered) = (Vec::new(), 0);
        while covered < first.share.total {
            let mut best: Option<&Place> = None;
            while let Some(place) = places.next_if(|place| place.share.start <= covered) {
                best = best.filter(|best| best.end() >= place.end()).or(Some(place));
            }
            let best = best.filter(|best| best.end() > covered)?;
            covered = best.end();
            chosen.push(*best);
        }
        Some(chosen)
    }

    /// The results of which nothing is missing, with their bytes, in no order.
    pub fn complete(&self) -> impl Iterator<Item = (Key, u64)> {
        let complete = self.results.iter().filter(|(key, _)| self.cover(**key).is_some());
        complete.map(|(key, shares)| (*key, shares.first.share.total))
    }
}

fn conflict(run: &Run, first: Place, second: Place) -> Error {
    Error::Conflict {
        key: second.key,
        paths: Box::new([first, second].map(|place| run.path(place.file))),
        offsets: [first.offset, second.offset],
        totals: [first, second].map(|place| place.share.total),
    }
}

#[cfg(test)]
mod tests;
