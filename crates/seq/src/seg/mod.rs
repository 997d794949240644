//! SEG: masks low-complexity segments of proteins (`blast_seg.c`).
//!
//! A window of fixed length slides over the sequence. A segment starts where the window's entropy
//! is at most `locut`. It extends to both sides as long as the entropy is at most `hicut`. Then it
//! is trimmed to the range that is least probable by chance. The part cut off at the left can
//! contain a window that started the segment, so SEG searches this part again.
//!
//! The decisions equal those of BLAST+ bit for bit. BLAST+ compares doubles. This module computes
//! doubles only if an estimate cannot decide. `window` classifies windows by a sliding integer sum.
//! `trim` skips ranges that are clearly more probable than the best one so far.

mod tables;
mod trim;
mod window;

use serde::{Deserialize, Serialize};
use std::ops::Range;

use self::trim::Trimmer;
use self::window::Windows;

/// Parameters of SEG.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SegParams {
    /// Window length in residues. A value that is not positive means 12.
    pub window: i32,
    /// Entropy in bits at or below which a segment starts. A value that is not positive means 2.2.
    pub locut: f64,
    /// Entropy in bits up to which a segment is extended. A value that is not positive means 2.5. A
    /// value below `locut` means `locut`.
    pub hicut: f64,
}

impl SegParams {
    /// The parameters of `-seg yes`, for queries.
    pub const QUERY: Self = Self { window: 12, locut: 2.2, hicut: 2.5 };
    /// The parameters with which composition-based statistics mask subjects (`blast_kappa.c`).
    pub const SUBJECT: Self = Self { window: 10, locut: 1.8, hicut: 2.1 };

    /// The entropy of a segment with a single kind of residues, in bits.
    const LEAST_ENTROPY: f64 = 0.0;

    /// Replaces invalid values as `BlastSetUp_Filter` (blast_filter.c) and `SeqBufferSeg` do.
    fn checked(self) -> Self {
        let window = if self.window > 0 { self.window } else { Self::QUERY.window };
        let locut = if self.locut > 0.0 { self.locut } else { Self::QUERY.locut };
        let hicut = if self.hicut > 0.0 { self.hicut } else { Self::QUERY.hicut };
        Self { window, locut, hicut: hicut.max(locut) }
    }
}

/// Finds the low-complexity segments of a protein in NCBIstdaa. They are ascending and half-open
/// and do not overlap, but may touch.
///
/// Codes other than the 20 standard residues carry no information. A window with more than two of
/// them neither starts nor extends a segment. Sequences shorter than the window are not masked. For
/// many sequences, use a [`Masker`].
///
/// ```
/// use fleetblast_seq::seg::{SegParams, mask};
/// let poly_q = [15u8; 30];
/// assert_eq!(mask(&poly_q, &SegParams::QUERY), [0..30]);
/// assert_eq!(mask(&poly_q[..11], &SegParams::QUERY), []);
/// ```
pub fn mask(residues: &[u8], params: &SegParams) -> Vec<Range<u32>> {
    Masker::new(params).mask(residues)
}

/// SEG with its tables and work space, to mask many sequences with the same parameters.
#[derive(Clone, Debug)]
pub struct Masker {
    windows: Windows,
    trimmer: Trimmer,
}

impl Masker {
    /// Creates a masker with these parameters.
    pub fn new(params: &SegParams) -> Self {
        Self { windows: Windows::new(params.checked()), trimmer: Trimmer::default() }
    }

    /// Creates a masker for [`segments`](Self::segments). Unlike searches, `segmasker` replaces
    /// negative entropies by 0.
    pub fn for_segmasker(params: &SegParams) -> Self {
        let cut = |value: f64| SegParams::LEAST_ENTROPY.max(value);
        let window = if params.window > 0 { params.window } else { SegParams::QUERY.window };
        let (locut, hicut) = (cut(params.locut), cut(params.hicut));
        let checked = SegParams { window, locut, hicut: hicut.max(locut) };
        Self { windows: Windows::new(checked), trimmer: Trimmer::default() }
    }

    /// Finds the low-complexity segments of one protein, as [`mask`] does.
    pub fn mask(&mut self, residues: &[u8]) -> Vec<Range<u32>> {
        merge(&self.find(residues))
    }

    /// Finds the low-complexity segments of one protein, as `segmasker` does: in the order in which
    /// they are found. They may overlap.
    pub fn segments(&mut self, residues: &[u8]) -> Vec<Range<u32>> {
        let found = self.find(residues);
        found.into_iter().map(|segment| segment.start as u32..segment.end as u32).collect()
    }

    fn find(&mut self, residues: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        if self.windows.classify(residues) {
            let mut finder =
                Finder { residues, windows: &self.windows, trimmer: &mut self.trimmer };
            finder.find(0, residues.len(), &mut found);
        }
        found
    }
}

/// The state of a search for segments. Positions count in the whole sequence.
struct Finder<'a> {
    residues: &'a [u8],
    windows: &'a Windows,
    trimmer: &'a mut Trimmer,
}

impl Finder<'_> {
    /// Appends the segments in the range `[start, end)` in the order in which they are found.
    ///
    /// The position of its centre identifies a window. Only windows inside the range count, so
    /// their entropies are those in the whole sequence.
    fn find(&mut self, start: usize, end: usize, found: &mut Vec<Range<usize>>) {
        let (before, after) = (self.windows.before, self.windows.after);
        if end - start < before + after {
            return;
        }
        let (first, last) = (start + before, end - after);
        let mut low_limit = first;
        let mut centre = first;
        while centre <= last {
            if !self.windows.can_start_segment(centre) {
                centre += 1;
                continue;
            }
            let (low, high) = self.extend(centre, low_limit, last);
            let untrimmed = low - before..high + after;
            let kept = self.trimmer.trim(&self.residues[untrimmed.clone()]);
            let segment = untrimmed.start + kept.start..untrimmed.start + kept.end;
            // The starting window was trimmed away, so the range left of the segment is searched
            // again.
            if centre + after <= segment.start {
                let from = found.len();
                self.find(untrimmed.start, segment.start, found);
                // BLAST+ keeps only the last segment that it finds in such a range.
                let until = found.len().saturating_sub(1).max(from);
                found.drain(from..until);
            }
            let resume = high.min(segment.end - 1 + before);
            found.push(segment);
            low_limit = resume + 1;
            centre = resume + 1;
        }
    }

    /// Returns the first and the last centre of the run of extending windows around `centre`.
    fn extend(&self, centre: usize, low_limit: usize, last: usize) -> (usize, usize) {
        let (mut low, mut high) = (centre, centre);
        while low > low_limit && self.windows.can_extend_segment(low - 1) {
            low -= 1;
        }
        while high < last && self.windows.can_extend_segment(high + 1) {
            high += 1;
        }
        (low, high)
    }
}

/// Merges neighbouring segments that overlap, from the last one found to the first, and sorts them.
fn merge(found: &[Range<usize>]) -> Vec<Range<u32>> {
    let mut merged: Vec<Range<u32>> = Vec::with_capacity(found.len());
    for segment in found.iter().rev() {
        let (start, end) = (segment.start as u32, segment.end as u32);
        match merged.last_mut() {
            Some(later) if later.start < end => {
                later.start = later.start.min(start);
                later.end = later.end.max(end);
            }
            _ => merged.push(start..end),
        }
    }
    merged.reverse();
    merged
}

#[cfg(test)]
mod tests;
