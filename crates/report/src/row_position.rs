//! Computes the positions that reports print for an alignment in one of its sequences, including
//! the effects of strands and frames.
//!
//! A search counts letters of contexts and frames, and only within the searched range of a
//! sequence. Reports count letters of the whole sequence as written, and number frames from its
//! ends. They print positions on the minus strand descending. If both sequences are aligned base by
//! base, reports never show the query on its minus strand. In that case blastn aligns the query's
//! reverse complement to the subject, and reports print both rows in reverse.

use std::ops::Range;

use fleetblast_seq::frame::{Frame, Strand};
use serde::{Deserialize, Serialize};

/// The length of a sequence, and the range of it that was searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchedExtent {
    /// Number of residues or bases of the whole sequence.
    pub length: u32,
    /// The searched range (`-query_loc`, `-subject_loc`), 0-based and half-open.
    pub searched_range: Range<u32>,
}

impl SearchedExtent {
    /// Returns the extent of a sequence that was searched as a whole.
    pub fn fully_searched(length: u32) -> Self {
        Self { length, searched_range: 0..length }
    }
}

/// The position of an alignment's row in its sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowPosition {
    /// The strand or frame of the row, numbered in the whole sequence.
    pub frame: Frame,
    /// The range of letters of that frame that the row shows, 0-based and half-open.
    pub frame_range: Range<u32>,
    /// The range of residues or bases that `frame_range` covers in the sequence as written:
    /// 0-based, half-open and ascending.
    pub sequence_range: Range<u32>,
}

impl RowPosition {
    /// Locates the letters `read` of `frame`, which both refer to the searched range of a sequence.
    /// Returns `None` if the letters reach beyond that range.
    pub(crate) fn new(frame: Frame, read: &Range<u32>, extent: &SearchedExtent) -> Option<Self> {
        let SearchedExtent { length, searched_range: searched } = extent;
        let part = searched.end.checked_sub(searched.start).filter(|_| searched.end <= *length)?;
        let skipped = if let Frame::Codons(_, offset) = frame { u32::from(offset) } else { 0 };
        if read.start > read.end
            || read.end > part.saturating_sub(skipped) / frame.letters_per_residue()
        {
            return None;
        }
        let place = frame.to_sequence_range(read.clone(), part);
        let covered = searched.start + place.start..searched.start + place.end;
        Some(Self::covering(frame, covered, *length))
    }

    /// Locates the range `covered` of the whole sequence on the strand of `frame`. Renumbers a
    /// codon frame, so that it counts from the strand's start in the whole sequence.
    fn covering(frame: Frame, covered: Range<u32>, length: u32) -> Self {
        let before = match frame.strand() {
            Some(Strand::Minus) => length - covered.end,
            _ => covered.start,
        };
        let step = frame.letters_per_residue();
        let frame = match frame {
            Frame::Codons(strand, _) => Frame::Codons(strand, (before % step) as u8),
            Frame::Protein | Frame::Strand(_) => frame,
        };
        let first = before / step;
        Self {
            frame,
            frame_range: first..first + covered.len() as u32 / step,
            sequence_range: covered,
        }
    }

    /// Returns the position of the same bases on the other strand; `None` if the sequence is not
    /// aligned base by base.
    pub fn on_other_strand(self, extent: &SearchedExtent) -> Option<Self> {
        let strand = match self.frame {
            Frame::Strand(Strand::Plus) => Strand::Minus,
            Frame::Strand(Strand::Minus) => Strand::Plus,
            Frame::Protein | Frame::Codons(..) => return None,
        };
        Some(Self::covering(Frame::Strand(strand), self.sequence_range, extent.length))
    }

    /// Renumbers a codon frame of the minus strand for a sequence of `length` bases, because such
    /// frames count from the end of the sequence. Has no effect if that sequence ends before the
    /// row does.
    pub(crate) fn renumber_frame(&mut self, length: u32) {
        if let Frame::Codons(Strand::Minus, _) = self.frame
            && let Some(before) = length.checked_sub(self.sequence_range.end)
        {
            self.frame = Frame::Codons(Strand::Minus, (before % 3) as u8);
        }
    }

    /// Whether positions descend along the row.
    pub(crate) fn descends(&self) -> bool {
        self.frame.strand() == Some(Strand::Minus)
    }

    /// Returns the first and the last position of the row as printed, from 1.
    pub fn printed_ends(&self) -> [u32; 2] {
        self.printed_ends_of(0..self.frame_range.len() as u32)
    }

    /// Returns the first and last printed position of a range of letters, which counts from the
    /// row's start, 0-based. A codon has the positions of three bases.
    pub fn printed_ends_of(&self, letters: Range<u32>) -> [u32; 2] {
        let (from, to) = (
            letters.start * self.frame.letters_per_residue(),
            letters.end * self.frame.letters_per_residue(),
        );
        match self.descends() {
            true => [self.sequence_range.end - from, self.sequence_range.end - to + 1],
            false => [self.sequence_range.start + from + 1, self.sequence_range.start + to],
        }
    }

    /// Returns the first and last position of the row in XML, where positions of codons always
    /// ascend.
    pub fn xml_ends(&self) -> [u32; 2] {
        match self.frame {
            Frame::Codons(..) => [self.sequence_range.start + 1, self.sequence_range.end],
            Frame::Protein | Frame::Strand(_) => self.printed_ends(),
        }
    }

    /// Returns the range of the row's letters, 0-based, that overlap a range of the whole sequence;
    /// `None` if none overlap.
    pub fn overlapped_letters(&self, stretch: &Range<u32>) -> Option<Range<u32>> {
        let from = stretch.start.max(self.sequence_range.start);
        let to = stretch.end.min(self.sequence_range.end);
        if from >= to {
            return None;
        }
        let (first, last) = match self.descends() {
            true => (self.sequence_range.end - to, self.sequence_range.end - 1 - from),
            false => (from - self.sequence_range.start, to - 1 - self.sequence_range.start),
        };
        Some(first / self.frame.letters_per_residue()..last / self.frame.letters_per_residue() + 1)
    }

    /// Whether a range of the whole sequence begins before the row and reaches into it, in the
    /// row's direction. The range must overlap the row's first letter.
    pub fn is_overlapped_from_before(&self, stretch: &Range<u32>) -> bool {
        let border =
            if self.descends() { self.sequence_range.end } else { self.sequence_range.start };
        stretch.start < border && border < stretch.end
    }
}
