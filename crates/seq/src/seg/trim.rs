//! Trims a segment to its least probable range.

use std::ops::Range;

use super::tables::{CLASS, CLASSES, ln_factorial, ln_factorial_micros, state_vector};

/// Trimming removes fewer residues than this number.
const MAX_TRIM: usize = 50;
/// ln 20, as the double that `blast_seg.c` writes as 2.9957322735539909.
const LN_CLASSES: f64 = 2.995_732_273_553_991;
/// If the estimate of a range exceeds the best value so far by more than this margin, the exact
/// value of the range is not computed.
const MARGIN: f64 = 1e-4;

/// A sliding range, with an estimate of the logarithm of its probability.
///
/// The logarithm is ln(compositions) + ln(permutations) − len·ln 20. All terms but the last are
/// sums of logarithms of factorials with six decimals. In units of 10⁻⁶ they are integers, and
/// sliding changes only a few of them.
#[derive(Clone, Debug)]
struct Stretch {
    counts: [u32; CLASSES + 1],
    /// Number of classes with each count. Index 0 has the classes that do not occur.
    groups: Vec<u32>,
    /// Σ ln(group size)! over the groups, in units of 10⁻⁶.
    group_sum: i64,
    /// Σ ln(count)! over the classes, in units of 10⁻⁶.
    count_sum: i64,
}

impl Stretch {
    fn new(residues: &[u8], mut groups: Vec<u32>) -> Self {
        groups.clear();
        groups.resize(residues.len() + 1, 0);
        let mut counts = [0; CLASSES + 1];
        for &code in residues {
            counts[CLASS[code as usize] as usize] += 1;
        }
        for &count in &counts[..CLASSES] {
            groups[count as usize] += 1;
        }
        let micros = |n: &u32| ln_factorial_micros(*n as usize);
        let count_sum = counts[..CLASSES].iter().map(micros).sum();
        let mut stretch = Self { counts, groups, group_sum: 0, count_sum };
        stretch.group_sum = stretch.groups.iter().map(micros).sum();
        stretch
    }

    /// Adds or removes one residue, and updates the sums.
    fn change(&mut self, code: u8, enters: bool) {
        let class = CLASS[code as usize] as usize;
        let old = self.counts[class] as usize;
        let new = if enters { old + 1 } else { old - 1 };
        self.counts[class] = new as u32;
        if class == CLASSES {
            return;
        }
        self.count_sum += ln_factorial_micros(new) - ln_factorial_micros(old);
        let left = self.groups[old] as usize;
        let joined = self.groups[new] as usize;
        self.group_sum += ln_factorial_micros(left - 1) - ln_factorial_micros(left);
        self.group_sum += ln_factorial_micros(joined + 1) - ln_factorial_micros(joined);
        self.groups[old] -= 1;
        self.groups[new] += 1;
    }

    fn slide(&mut self, leaving: u8, entering: u8) {
        if leaving != entering {
            self.change(leaving, false);
            self.change(entering, true);
        }
    }

    /// Returns the estimate without the terms that are equal for all ranges of this length.
    fn estimate(&self) -> i64 {
        // Without any standard residue, `ln_compositions` does not subtract the groups.
        let groups = if self.groups[0] as usize == CLASSES { 0 } else { self.group_sum };
        -groups - self.count_sum
    }

    /// Returns the value as `blast_seg.c` computes it, in its order of operations.
    fn value(&self, len: usize) -> f64 {
        let (state, used) = state_vector(&self.counts);
        let mut permutations = ln_factorial(len);
        for &count in &state[..used] {
            permutations -= ln_factorial(count as usize);
        }
        ln_compositions(&state, used) + permutations - len as f64 * LN_CLASSES
    }
}

/// Returns the logarithm of the number of compositions with these counts. This is 20! over the
/// factorials of the sizes of groups of equal counts. Residues that do not occur are one group.
fn ln_compositions(state: &[u32; CLASSES], used: usize) -> f64 {
    let mut result = ln_factorial(CLASSES);
    if used == 0 {
        return result;
    }
    for group in state.chunk_by(|a, b| a == b) {
        result -= ln_factorial(group.len());
    }
    result
}

/// Trimmer of segments, with its work space.
#[derive(Clone, Debug, Default)]
pub(super) struct Trimmer {
    groups: Vec<u32>,
}

impl Trimmer {
    /// Returns the range of `residues` with the lowest probability. Of equal ranges it returns the
    /// longest, then the first one. It cuts off fewer than [`MAX_TRIM`] residues.
    pub(super) fn trim(&mut self, residues: &[u8]) -> Range<usize> {
        let whole = residues.len();
        let shortest = whole.saturating_sub(MAX_TRIM).max(1);
        let mut best = 0..whole;
        let mut lowest = 1.0f64;
        for len in (shortest + 1..=whole).rev() {
            let constant = ln_factorial(CLASSES) + ln_factorial(len) - len as f64 * LN_CLASSES;
            let groups = std::mem::take(&mut self.groups);
            let mut stretch = Stretch::new(&residues[..len], groups);
            for start in 0..=whole - len {
                if start > 0 {
                    stretch.slide(residues[start - 1], residues[start + len - 1]);
                }
                let estimate = stretch.estimate() as f64 / 1e6 + constant;
                if estimate > lowest + MARGIN {
                    continue;
                }
                let value = stretch.value(len);
                if value < lowest {
                    lowest = value;
                    best = start..start + len;
                }
            }
            self.groups = stretch.groups;
        }
        best
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Chooses the range by its definition, for comparison with the fast search. Computes the value
    /// of every range anew.
    pub(in crate::seg) fn by_definition(residues: &[u8]) -> Range<usize> {
        let whole = residues.len();
        let (mut best, mut lowest) = (0..whole, 1.0);
        for len in (whole.saturating_sub(MAX_TRIM).max(1) + 1..=whole).rev() {
            for start in 0..=whole - len {
                let value = Stretch::new(&residues[start..start + len], Vec::new()).value(len);
                if value < lowest {
                    lowest = value;
                    best = start..start + len;
                }
            }
        }
        best
    }

    #[test]
    fn a_stretch_without_standard_residues_has_all_compositions() {
        let stretch = Stretch::new(&[21; 5], Vec::new());
        let expected = ln_factorial(CLASSES) + ln_factorial(5) - 5.0 * LN_CLASSES;
        assert_eq!(stretch.value(5), expected);
        assert_eq!(stretch.estimate(), 0);
    }
}
