//! Finds the positions of the sliding window that start a segment, and those that extend one.

use super::SegParams;
use super::tables::{BOGUS, CLASS, CLASSES, LN2, entropy, state_vector};

/// Maximal number of non-standard residues in a window.
const MAX_BOGUS: usize = 2;
/// The number 1 in the fixed-point format of the estimate.
const ONE: f64 = (1u64 << 32) as f64;
/// If the estimated entropy in bits is closer to a cut-off than this margin, the entropy is
/// computed exactly. The margin exceeds the error of the rounded logarithms of `blast_seg.c` (3e-7)
/// and of the fixed-point sums.
const MARGIN: f64 = 1e-5;

/// Flag of a window whose entropy starts a segment.
const STARTS: u8 = 1;
/// Flag of a window whose entropy extends a segment.
const EXTENDS: u8 = 2;

/// A cut-off, also expressed as sums of c·ln c over the counts c. The entropy falls as the sum
/// grows.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// The cut-off of the entropy in bits.
    bits: f64,
    /// Windows with a sum below this value have an entropy above the cut-off.
    never_below: i64,
    /// Windows with at least this sum have an entropy within the cut-off.
    always_from: i64,
}

impl Cut {
    /// Creates the cut-off for windows with `total` standard residues.
    fn new(bits: f64, total: usize) -> Self {
        // H = (T ln T − Σ c ln c) / (T ln 2)  ⇔  Σ c ln c = T ln T − H T ln 2
        let total = total as f64;
        let sum = |bits: f64| ((total * (total.ln() - bits * LN2)) * ONE) as i64;
        if total == 0.0 {
            return Self { bits, never_below: i64::MIN, always_from: i64::MAX };
        }
        Self { bits, never_below: sum(bits + MARGIN), always_from: sum(bits - MARGIN) }
    }

    fn holds(&self, sum: i64, counts: &[u32; CLASSES + 1]) -> bool {
        if sum < self.never_below {
            return false;
        }
        if sum >= self.always_from {
            return true;
        }
        let (state, used) = state_vector(counts);
        entropy(&state[..used]) <= self.bits
    }
}

/// Classification of all windows of one sequence.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    params: SegParams,
    /// Number of residues of a window.
    window: usize,
    /// Number of residues of a window before its centre.
    pub before: usize,
    /// Number of residues of a window from its centre on.
    pub after: usize,
    /// c·ln c for c from 0 to `window`, in fixed point. Empty until the first sequence of
    /// sufficient length, so that absurd window lengths need no memory.
    terms: Vec<i64>,
    /// Cut-offs to start and to extend a segment, for 0, 1 and 2 non-standard residues.
    cuts: Vec<(Cut, Cut)>,
    /// For each centre, flags that state whether its window starts or extends segments.
    flags: Vec<u8>,
}

impl Windows {
    /// Creates the classification for positive parameters, without tables.
    pub(super) fn new(params: SegParams) -> Self {
        let window = params.window.max(1) as usize;
        let before = window.div_ceil(2) - 1;
        let after = window - before;
        let (terms, cuts, flags) = (Vec::new(), Vec::new(), Vec::new());
        Self { params, window, before, after, terms, cuts, flags }
    }

    pub(super) fn can_start_segment(&self, centre: usize) -> bool {
        self.flags[centre] & STARTS != 0
    }

    pub(super) fn can_extend_segment(&self, centre: usize) -> bool {
        self.flags[centre] & EXTENDS != 0
    }

    fn build_tables(&mut self) {
        let window = self.window;
        self.terms = (0..=window)
            .map(|count| match count {
                0 => 0,
                _ => (count as f64 * (count as f64).ln() * ONE).round() as i64,
            })
            .collect();
        let max_bogus = MAX_BOGUS.min(window);
        self.cuts = (0..=max_bogus)
            .map(|bogus| {
                let total = window - bogus;
                (Cut::new(self.params.locut, total), Cut::new(self.params.hicut, total))
            })
            .collect();
    }

    /// Classifies the windows of `residues`. Returns whether any of them starts a segment.
    pub(super) fn classify(&mut self, residues: &[u8]) -> bool {
        let window = self.window;
        if residues.len() < window {
            return false;
        }
        if self.terms.is_empty() {
            self.build_tables();
        }
        self.flags.clear();
        self.flags.resize(residues.len(), 0);

        let mut counts = [0u32; CLASSES + 1];
        for &code in &residues[..window] {
            counts[CLASS[code as usize] as usize] += 1;
        }
        let mut sum: i64 = counts[..CLASSES].iter().map(|&c| self.terms[c as usize]).sum();
        let mut centre = self.before;
        let mut starts = false;
        loop {
            let flag = self.flag(sum, &counts);
            self.flags[centre] = flag;
            starts |= flag & STARTS != 0;
            let left = centre - self.before;
            let right = left + window;
            if right == residues.len() {
                return starts;
            }
            let leaving = CLASS[residues[left] as usize];
            let entering = CLASS[residues[right] as usize];
            if leaving != entering {
                sum += self.change(&mut counts, leaving, false);
                sum += self.change(&mut counts, entering, true);
            }
            centre += 1;
        }
    }

    /// Adds or removes one residue of a class. Returns the change of the sum.
    #[inline]
    fn change(&self, counts: &mut [u32; CLASSES + 1], class: u8, enters: bool) -> i64 {
        let count = &mut counts[class as usize];
        let old = *count as usize;
        *count = if enters { *count + 1 } else { *count - 1 };
        match class {
            BOGUS => 0,
            _ => self.terms[*count as usize] - self.terms[old],
        }
    }

    #[inline]
    fn flag(&self, sum: i64, counts: &[u32; CLASSES + 1]) -> u8 {
        let Some((start, extend)) = self.cuts.get(counts[CLASSES] as usize) else { return 0 };
        if !extend.holds(sum, counts) {
            return 0;
        }
        // `locut` never exceeds `hicut`, so a window that can start a segment can also extend one.
        if start.holds(sum, counts) { STARTS | EXTENDS } else { EXTENDS }
    }
}
