//! Parts of subjects, laid out for extensions in both directions.

use fleetblast_seq::alphabet;

use super::block::Part;
use super::gapped::MARGIN;

/// Residues that are kept, unless a single part has more.
const MOST_RESIDUES: usize = 8 << 20;

/// The parts of a block that were loaded. Many queries may have hits in the same one.
#[derive(Debug, Default)]
pub(super) struct LoadedSubjects {
    /// Residues of all parts, each between margins of sentinels.
    forward: Vec<u8>,
    /// For each part its range of `forward`, backwards.
    backward: Vec<u8>,
    /// By number, the place of each part.
    places: Vec<Option<Place>>,
    current: Place,
}

/// The place of a part.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    start: usize,
    end: usize,
    reach: usize,
}

/// A part of a subject.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadedSubject<'a> {
    /// Residues between margins of sentinels.
    pub forward: &'a [u8],
    /// The same, backwards.
    pub backward: &'a [u8],
    /// Extensions to the right end here at the latest.
    pub reach: usize,
}

impl LoadedSubjects {
    /// Forgets the parts of other blocks.
    pub fn clear(&mut self) {
        self.forward.clear();
        self.backward.clear();
        self.places.clear();
    }

    /// Loads the part with this number in the block.
    pub fn load(&mut self, number: u32, part: &Part) {
        let number = number as usize;
        if let Some(Some(place)) = self.places.get(number) {
            self.current = *place;
            return;
        }
        if self.forward.len() + part.residues.len() > MOST_RESIDUES {
            self.clear();
        }
        let margin = [alphabet::SENTINEL; MARGIN];
        let start = self.forward.len();
        self.forward.extend_from_slice(&margin);
        self.forward.extend_from_slice(part.residues);
        self.forward.extend_from_slice(&margin);
        self.backward.extend_from_slice(&self.forward[start..]);
        self.backward[start..].reverse();
        self.current = Place { start, end: self.forward.len(), reach: part.reach };
        if self.places.len() <= number {
            self.places.resize(number + 1, None);
        }
        self.places[number] = Some(self.current);
    }

    /// The part that was loaded last.
    pub fn current(&self) -> LoadedSubject<'_> {
        let Place { start, end, reach } = self.current;
        LoadedSubject {
            forward: &self.forward[start..end],
            backward: &self.backward[start..end],
            reach,
        }
    }
}

impl<'a> LoadedSubject<'a> {
    /// Number of residues.
    pub fn len(self) -> usize {
        self.forward.len() - 2 * MARGIN
    }

    /// The residues.
    pub fn residues(self) -> &'a [u8] {
        &self.forward[MARGIN..][..self.len()]
    }
}
