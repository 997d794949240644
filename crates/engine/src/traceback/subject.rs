//! The subject of the moment, in both directions, with or without its low-complexity segments.

use fleetblast_seq::alphabet::{SENTINEL, X};
use fleetblast_seq::seg::{Masker, SegParams};

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
    pub fn load_masked(&mut self, residues: &[u8]) -> bool {
        self.load(residues);
        let segments = self.masker.mask(residues);
        for segment in &segments {
            self.forwards[segment.start as usize..segment.end as usize].fill(X);
        }
        if !segments.is_empty() {
            self.reverse();
        }
        !segments.is_empty()
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
