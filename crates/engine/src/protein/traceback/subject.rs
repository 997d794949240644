//! The subject of the moment, in both directions, with or without its low-complexity segments.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use fleetblast_seq::alphabet::{SENTINEL, X};
use fleetblast_seq::seg::{Masker, SegParams};

use crate::subjects::View;

/// Parts of the table of segments: threads seldom want the same one at the same time.
const SHARDS: usize = 64;
/// Subjects in a part. When it is full, it is emptied.
const MOST: usize = 16 * 1024;

/// The low-complexity segments of a subject; `None` if there are none.
type Found = Option<Arc<[Range<u32>]>>;

/// Low-complexity segments of what was read of the subjects that were aligned: the same for all
/// queries, and they take longer to find than many an alignment.
#[derive(Debug)]
pub(super) struct Segments([Mutex<HashMap<View, Found>>; SHARDS]);

impl Segments {
    /// Nothing known.
    pub fn new() -> Self {
        Segments(std::array::from_fn(|_| Mutex::default()))
    }

    /// Those of a subject, which `find` finds if they are not known.
    fn of(&self, view: View, find: impl FnOnce() -> Vec<Range<u32>>) -> Found {
        let shard = &self.0[view.oid as usize % SHARDS];
        let lock = || shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&view) {
            return known.clone();
        }
        let found = find();
        let found = (!found.is_empty()).then(|| Arc::from(found));
        let mut shard = lock();
        if shard.len() >= MOST {
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

    /// Takes over a subject as it is.
    pub fn load(&mut self, residues: &[u8]) {
        self.forwards.clear();
        self.forwards.extend_from_slice(residues);
        self.forwards.push(SENTINEL);
        self.reverse();
    }

    /// Takes over a subject with its low-complexity segments masked; true if there were any.
    /// `known` has those of the subjects so far.
    pub fn load_masked(&mut self, view: View, residues: &[u8], known: &Segments) -> bool {
        self.load(residues);
        let Some(segments) = known.of(view, || self.masker.mask(residues)) else { return false };
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

    /// The residues.
    pub fn residues(&self) -> &[u8] {
        &self.forwards[..self.forwards.len() - 1]
    }

    /// The residues and what closes them.
    pub fn forwards(&self) -> &[u8] {
        &self.forwards
    }

    /// The residues from last to first, and what closes them.
    pub fn backwards(&self) -> &[u8] {
        &self.backwards
    }
}
