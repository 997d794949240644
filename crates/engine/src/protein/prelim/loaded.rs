//! Parts of subjects, laid out for extensions in both directions.

use std::ops::Range;

use fleetblast_seq::alphabet;

use super::block::Part;
use super::gapped::MARGIN;

/// Least length, in residues, of a part of a subject in which the length of extensions is limited.
pub(super) const LONG_SUBJECT: usize = 90_000;

/// The loaded parts of a block. They stay loaded, because many queries may have HSPs in the same
/// part. Of a long part only the range around an extension is loaded.
#[derive(Debug, Default)]
pub(super) struct LoadedSubjects {
    /// Residues of all loaded parts except long ones, each part between margins of sentinels.
    whole: BothWays,
    /// Range of each part in `whole`, by the number of the part; `None` until the part is loaded.
    places: Vec<Option<Range<usize>>>,
    /// Range in `whole` of the part that was loaded last.
    current: Range<usize>,
    /// The range of a long part around the current extension.
    around: BothWays,
}

/// Residues in both directions, between margins of sentinels.
#[derive(Debug, Default)]
struct BothWays {
    forward: Vec<u8>,
    /// Each range that was added to `forward`, backwards.
    backward: Vec<u8>,
}

/// A part of a subject, or a range of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadedSubject<'a> {
    /// Residues between margins of sentinels.
    pub forward: &'a [u8],
    /// The residues and margins of `forward`, backwards.
    pub backward: &'a [u8],
}

impl LoadedSubjects {
    /// Removes all parts before another block is searched.
    pub fn clear(&mut self) {
        self.whole.clear();
        self.places.clear();
    }

    /// Loads the part with this number in the block, unless it is long.
    pub fn load(&mut self, number: u32, part: &Part) {
        if is_long(part) {
            return;
        }
        let number = number as usize;
        if self.places.len() <= number {
            self.places.resize(number + 1, None);
        }
        let whole = &mut self.whole;
        self.current = self.places[number].get_or_insert_with(|| whole.add(part.residues)).clone();
    }

    /// Returns at least this range of the part that was loaded last, and the start of the returned
    /// residues in the part.
    pub fn around(&mut self, part: &Part, range: Range<usize>) -> (LoadedSubject<'_>, usize) {
        if !is_long(part) {
            return (self.whole.range(self.current.clone()), 0);
        }
        self.around.clear();
        let place = self.around.add(&part.residues[range.clone()]);
        (self.around.range(place), range.start)
    }
}

/// Returns whether a part is so long that the length of extensions in it is limited.
fn is_long(part: &Part) -> bool {
    part.residues.len() >= LONG_SUBJECT
}

impl BothWays {
    fn clear(&mut self) {
        self.forward.clear();
        self.backward.clear();
    }

    /// Adds residues between margins. Returns their range, including the margins.
    fn add(&mut self, residues: &[u8]) -> Range<usize> {
        let margin = [alphabet::SENTINEL; MARGIN];
        let start = self.forward.len();
        self.forward.extend_from_slice(&margin);
        self.forward.extend_from_slice(residues);
        self.forward.extend_from_slice(&margin);
        self.backward.extend_from_slice(&self.forward[start..]);
        self.backward[start..].reverse();
        start..self.forward.len()
    }

    fn range(&self, place: Range<usize>) -> LoadedSubject<'_> {
        LoadedSubject { forward: &self.forward[place.clone()], backward: &self.backward[place] }
    }
}

impl LoadedSubject<'_> {
    /// Returns the number of residues.
    pub fn len(self) -> usize {
        self.forward.len() - 2 * MARGIN
    }
}
