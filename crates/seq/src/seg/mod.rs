//! SEG: masks stretches of low complexity in proteins (`blast_seg.c`).
//!
//! A window of fixed length slides over the sequence. Where its entropy falls to `locut` a segment
//! starts; it reaches as far to both sides as the entropy stays within `hicut`; then it is trimmed
//! to the stretch that is least probable by chance. What was cut off at the left may hold a window
//! that started the segment: it is searched again on its own.
//!
//! The decisions equal those of BLAST+ bit for bit. They are comparisons of doubles, but the
//! doubles are only computed where an estimate cannot decide: `window` classifies windows by an
//! integer sum that slides along, `trim` skips stretches that are clearly more probable than the
//! best one found.

mod tables;
mod trim;
mod window;

use std::ops::Range;

use self::trim::Trimmer;
use self::window::Windows;

/// Parameters of SEG.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegParams {
    /// Window length in residues. What is not positive stands for 12.
    pub window: i32,
    /// Entropy (bits) at or below which a segment starts. What is not positive stands for 2.2.
    pub locut: f64,
    /// Entropy (bits) up to which a segment is extended. What is not positive stands for 2.5, values below `locut` for
    /// `locut`.
    pub hicut: f64,
}

impl SegParams {
    /// The parameters of `-seg yes`.
    pub const QUERY: Self = Self { window: 12, locut: 2.2, hicut: 2.5 };
    /// The parameters by which composition-based statistics mask subjects (`blast_kappa.c`).
    pub const SUBJECT: Self = Self { window: 10, locut: 1.8, hicut: 2.1 };

    /// The parameters as `BlastSetUp_Filter` takes them for given (blast_filter.c), and `SeqBufferSeg` corrects them.
    fn checked(self) -> Self {
        let window = if self.window > 0 { self.window } else { Self::QUERY.window };
        let locut = if self.locut > 0.0 { self.locut } else { Self::QUERY.locut };
        let hicut = if self.hicut > 0.0 { self.hicut } else { Self::QUERY.hicut };
        Self { window, locut, hicut: hicut.max(locut) }
    }
}

/// The low-complexity segments of a protein in NCBIstdaa: ascending, half-open, not overlapping
/// (they may touch).
///
/// Codes other than the 20 standard residues carry no information; a window with more than two of
/// them starts and extends nothing. Sequences shorter than the window are not masked.
/// Callers with many sequences keep a [`Masker`].
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

/// SEG with its tables and work space, for masking many sequences with the same parameters.
#[derive(Clone, Debug)]
pub struct Masker {
    windows: Windows,
    trimmer: Trimmer,
}

impl Masker {
    /// A masker for these parameters.
    pub fn new(params: &SegParams) -> Self {
        Self { windows: Windows::new(params.checked()), trimmer: Trimmer::default() }
    }

    /// The low-complexity segments of one protein, as [`mask`] gives them.
    pub fn mask(&mut self, residues: &[u8]) -> Vec<Range<u32>> {
        let mut found = Vec::new();
        if self.windows.classify(residues) {
            let mut finder =
                Finder { residues, windows: &self.windows, trimmer: &mut self.trimmer };
            finder.find(0, residues.len(), &mut found);
        }
        merge(&found)
    }
}

/// One search for segments; positions are those of the whole sequence.
struct Finder<'a> {
    residues: &'a [u8],
    windows: &'a Windows,
    trimmer: &'a mut Trimmer,
}

impl Finder<'_> {
    /// Appends the segments of the piece `[start, end)`, in the order they are found.
    ///
    /// A window is named by the position of its centre; only windows wholly inside the piece
    /// count, so the piece sees the same entropies as the whole.
    fn find(&mut self, start: usize, end: usize, found: &mut Vec<Range<usize>>) {
        let (before, after) = (self.windows.before, self.windows.after);
        if end - start < before + after {
            return;
        }
        let (first, last) = (start + before, end - after);
        let mut low_limit = first;
        let mut centre = first;
        while centre <= last {
            if !self.windows.starts(centre) {
                centre += 1;
                continue;
            }
            let (low, high) = self.extend(centre, low_limit, last);
            let untrimmed = low - before..high + after;
            let kept = self.trimmer.trim(&self.residues[untrimmed.clone()]);
            let segment = untrimmed.start + kept.start..untrimmed.start + kept.end;
            // The starting window was trimmed away: look at what lies left of the segment.
            if centre + after <= segment.start {
                let from = found.len();
                self.find(untrimmed.start, segment.start, found);
                // BLAST+ keeps only the segment found last in such a piece.
                let until = found.len().saturating_sub(1).max(from);
                found.drain(from..until);
            }
            let resume = high.min(segment.end - 1 + before);
            found.push(segment);
            low_limit = resume + 1;
            centre = resume + 1;
        }
    }

    /// First and last centre of the run of extending windows around `centre`.
    fn extend(&self, centre: usize, low_limit: usize, last: usize) -> (usize, usize) {
        let (mut low, mut high) = (centre, centre);
        while low > low_limit && self.windows.extends(low - 1) {
            low -= 1;
        }
        while high < last && self.windows.extends(high + 1) {
            high += 1;
        }
        (low, high)
    }
}

/// Merges neighbours that overlap, from the last found to the first, and puts them in order.
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
