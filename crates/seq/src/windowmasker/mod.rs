//! WindowMasker: masks frequent parts of a genome by the counts of its units (Morgulis et al.,
//! 2006; `seq_masker.cpp`).
//!
//! A *unit* is a fixed number of consecutive bases. A *window* is five units that begin one base
//! apart. The score of a window is the mean count of its units. In a run of windows that all score
//! enough to extend it, WindowMasker masks from the first to the last window that scores enough to
//! start it.

mod counts;

use std::ops::Range;

pub use self::counts::{UnitCounts, UnitCountsError};

/// Number of units of a window.
const UNITS: usize = 5;

/// Finds the masked intervals of a sequence of blastna codes.
pub fn mask(letters: &[u8], counts: &UnitCounts) -> Vec<Range<u32>> {
    let mut masked = Vec::new();
    let mut run: Option<Run> = None;
    let mut window = Window::new(letters, counts.unit());
    while window.is_complete {
        let score = window.score(counts);
        let begins_after = |reach: usize| window.start() > reach;
        if score < counts.extend {
            masked.extend(run.take_if(|run| begins_after(run.reach)).map(Run::interval));
        } else if score < counts.threshold {
            masked.extend(run.take_if(|run| begins_after(run.reach + 1)).map(Run::interval));
            if let Some(run) = &mut run {
                run.reach = window.last;
            }
        } else {
            masked.extend(run.take_if(|run| begins_after(run.reach + 1)).map(Run::interval));
            let start = run.map_or(window.start(), |run| run.start);
            run = Some(Run { start, last: window.last, reach: window.last });
        }
        window.advance();
    }
    masked.extend(run.map(Run::interval));
    masked
}

/// A run of consecutive windows that is to be masked.
#[derive(Clone, Copy)]
struct Run {
    start: usize,
    /// Position of the last base of the last window that scores enough to start a run.
    last: usize,
    /// Position of the last base of the last window that scores enough to extend the run.
    reach: usize,
}

impl Run {
    fn interval(self) -> Range<u32> {
        self.start as u32..self.last as u32 + 1
    }
}

/// A window of bases that are not ambiguous.
struct Window<'a> {
    letters: &'a [u8],
    /// Number of bases of a unit.
    unit: usize,
    /// Position of the window's last base.
    last: usize,
    /// The window's units in a ring, the oldest one at `first`.
    units: [u32; UNITS],
    first: usize,
    /// Whether there is such a window; false at the end of the sequence.
    is_complete: bool,
}

impl<'a> Window<'a> {
    fn new(letters: &'a [u8], unit: usize) -> Self {
        let mut window =
            Window { letters, unit, last: 0, units: [0; UNITS], first: 0, is_complete: false };
        window.find_window(0);
        window
    }

    fn size(&self) -> usize {
        self.unit + UNITS - 1
    }

    /// Returns the position of the window's first base.
    fn start(&self) -> usize {
        self.last + 1 - self.size()
    }

    /// Returns the unit that begins one base after `unit` and ends with `letter`.
    fn next_unit(&self, unit: u32, letter: u8) -> u32 {
        let mask = ((1u64 << (2 * self.unit)) - 1) as u32;
        ((u64::from(unit) << 2) as u32 & mask) + u32::from(letter)
    }

    /// Moves to the first window that begins at position `from` or later.
    fn find_window(&mut self, from: usize) {
        let (mut unit, mut known) = (0, 0);
        self.first = 0;
        for (at, &letter) in self.letters.iter().enumerate().skip(from) {
            if letter > 3 {
                known = 0;
                continue;
            }
            unit = self.next_unit(unit, letter);
            known += 1;
            if known >= self.unit {
                self.units[known - self.unit] = unit;
            }
            if known == self.size() {
                (self.last, self.is_complete) = (at, true);
                return;
            }
        }
        self.is_complete = false;
    }

    /// Moves to the window that begins at the next base, or to the first one after an ambiguous
    /// base.
    fn advance(&mut self) {
        match self.letters.get(self.last + 1) {
            None => self.is_complete = false,
            Some(&letter) if letter > 3 => self.find_window(self.last + 1),
            Some(&letter) => {
                let newest = (self.first + UNITS - 1) % UNITS;
                self.units[self.first] = self.next_unit(self.units[newest], letter);
                self.first = (self.first + 1) % UNITS;
                self.last += 1;
            }
        }
    }

    fn score(&self, counts: &UnitCounts) -> u32 {
        let sum = self.units.iter().fold(0u32, |sum, &unit| sum.wrapping_add(counts.count(unit)));
        sum / UNITS as u32
    }
}

#[cfg(test)]
// The tests mean lists of intervals; some have a single one.
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::counts::tests::{binary, optimised};
    use super::*;

    fn codes(text: &str) -> Vec<u8> {
        let code = |byte| b"ACGT".iter().position(|&base| base == byte).map_or(15, |at| at as u8);
        text.bytes().map(code).collect()
    }

    #[test]
    fn frequent_units_are_masked() {
        // ACG is the reverse complement of CGT.
        let counts =
            UnitCounts::read(&binary(3, &[(0b000110, 40), (0b011011, 1)], [2, 10, 20, 60]));
        let counts = counts.unwrap();
        let text = "TTTTTTTTACGTACGTACGTACGTTTTTTTTT";
        assert_eq!(mask(&codes(text), &counts), [8..24]);
        assert_eq!(mask(&codes("ACGTACGNACGTACG"), &counts), [0..7, 8..15]);
        assert_eq!(mask(&codes("ACGTAC"), &counts), []);
    }

    #[test]
    fn tables_of_hashes_are_read_alike() {
        let units = [(0b000110, 40), (0b011011, 30), (0b111001, 25)];
        let plain = UnitCounts::read(&binary(3, &units, [2, 10, 20, 60])).unwrap();
        let hashed = UnitCounts::read(&optimised(3, &units, [2, 10, 20, 60])).unwrap();
        for unit in 0..64 {
            assert_eq!(plain.count(unit), hashed.count(unit), "{unit}");
        }
    }
}
