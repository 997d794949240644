//! The current subject in both directions, with or without masks of its low-complexity ranges.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use fleetblast_seq::alphabet::{SENTINEL, X};
use fleetblast_seq::seg::{Masker, SegParams};

use crate::subjects::FramedSubject;

/// Number of shards of the cache. There are many, so that threads seldom wait for the same one.
const SHARDS: usize = 64;
/// Maximum number of subjects in a shard. A full shard is emptied.
const MAX_SUBJECTS: usize = 16 * 1024;

/// The low-complexity ranges of a subject; `None` if there are none.
type MaskedRanges = Option<Arc<[Range<u32>]>>;

/// Cache of low-complexity ranges of aligned subjects. They are the same for all queries, and
/// finding them takes longer than many an alignment.
#[derive(Debug)]
pub(super) struct Segments([Mutex<HashMap<FramedSubject, MaskedRanges>>; SHARDS]);

impl Segments {
    /// Creates an empty cache.
    pub fn new() -> Self {
        Segments(std::array::from_fn(|_| Mutex::default()))
    }

    /// Returns the low-complexity ranges of a subject. `find` computes them if they are not in the
    /// cache.
    fn get_or_find(
        &self,
        view: FramedSubject,
        find: impl FnOnce() -> Vec<Range<u32>>,
    ) -> MaskedRanges {
        let shard = &self.0[view.oid as usize % SHARDS];
        let lock = || shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&view) {
            return known.clone();
        }
        let found = find();
        let found = (!found.is_empty()).then(|| Arc::from(found));
        let mut shard = lock();
        if shard.len() >= MAX_SUBJECTS {
            shard.clear();
        }
        shard.insert(view, found.clone());
        found
    }
}

/// A copy of a subject in the form in which it is aligned.
#[derive(Debug)]
pub(super) struct Subject {
    /// Residues and a closing sentinel.
    forwards: Vec<u8>,
    /// Residues, last one first, and a closing sentinel.
    backwards: Vec<u8>,
    masker: Masker,
}

impl Subject {
    pub fn new() -> Self {
        Subject {
            forwards: Vec::new(),
            backwards: Vec::new(),
            masker: Masker::new(&SegParams::SUBJECT),
        }
    }

    /// Copies a subject unchanged.
    pub fn load(&mut self, residues: &[u8]) {
        self.forwards.clear();
        self.forwards.extend_from_slice(residues);
        self.forwards.push(SENTINEL);
        self.reverse();
    }

    /// Copies a subject and masks its low-complexity ranges. Returns true if there were any.
    /// `known` caches the ranges of earlier subjects.
    pub fn load_masked(
        &mut self,
        view: FramedSubject,
        residues: &[u8],
        known: Option<&Segments>,
    ) -> bool {
        self.load(residues);
        let mut find = || self.masker.mask(residues);
        let segments: MaskedRanges = match known {
            Some(known) => known.get_or_find(view, find),
            None => Some(find()).filter(|found| !found.is_empty()).map(Arc::from),
        };
        let Some(segments) = segments else { return false };
        for segment in segments.iter() {
            self.forwards[segment.start as usize..segment.end as usize].fill(X);
        }
        self.reverse();
        true
    }

    fn reverse(&mut self) {
        let residues = &self.forwards[..self.forwards.len() - 1];
        self.backwards.clear();
        self.backwards.extend(residues.iter().rev());
        self.backwards.push(SENTINEL);
    }

    /// Returns the residues.
    pub fn residues(&self) -> &[u8] {
        &self.forwards[..self.forwards.len() - 1]
    }

    /// Returns the residues and the closing sentinel.
    pub fn forwards(&self) -> &[u8] {
        &self.forwards
    }

    /// Returns the residues from last to first, and the closing sentinel.
    pub fn backwards(&self) -> &[u8] {
        &self.backwards
    }
}
