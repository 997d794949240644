//! Where alignments lie in their sequences: all that strands and frames change in what is printed.
//!
//! A search counts the letters of contexts and frames, and reads no more of a sequence than the part that it searches. Reports
//! count the letters of the whole sequence as written, and name frames as those of the whole sequence. What is read on the
//! minus strand is printed descending. Only where both sequences are read base by base it is never the query: blastn finds the
//! query's reverse complement in the subject, and prints both the other way round.

use std::ops::Range;

use fleetblast_seq::frame::{Frame, Strand};
use serde::{Deserialize, Serialize};

/// A sequence, and how much of it was searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Residues or bases of the whole sequence.
    pub length: u32,
    /// Those searched (`-query_loc`, `-subject_loc`), 0-based and half-open.
    pub searched: Range<u32>,
}

impl Extent {
    /// A sequence of which all was searched.
    pub fn whole(length: u32) -> Self {
        Self { length, searched: 0..length }
    }
}

/// Where a row of an alignment lies in its sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locus {
    /// How the row reads the whole sequence.
    pub frame: Frame,
    /// The letters of that reading in the row, 0-based and half-open.
    pub read: Range<u32>,
    /// The residues or bases of the sequence as written that they stand for, 0-based, half-open and ascending.
    pub covered: Range<u32>,
}

impl Locus {
    /// Where letters lie that `frame` reads of the searched part of a sequence; `None` if it reads no such.
    pub(crate) fn new(frame: Frame, read: &Range<u32>, extent: &Extent) -> Option<Self> {
        let Extent { length, searched } = extent;
        let part = searched.end.checked_sub(searched.start).filter(|_| searched.end <= *length)?;
        let skipped = if let Frame::Codons(_, offset) = frame { u32::from(offset) } else { 0 };
        if read.start > read.end || read.end > part.saturating_sub(skipped) / frame.step() {
            return None;
        }
        let place = frame.place(read.clone(), part);
        let covered = searched.start + place.start..searched.start + place.end;
        Some(Self::covering(frame, covered, *length))
    }

    /// Where the letters lie that a frame like this one, but of the whole sequence, reads of `covered`.
    fn covering(frame: Frame, covered: Range<u32>, length: u32) -> Self {
        let before = match frame.strand() {
            Some(Strand::Minus) => length - covered.end,
            _ => covered.start,
        };
        let step = frame.step();
        let frame = match frame {
            Frame::Codons(strand, _) => Frame::Codons(strand, (before % step) as u8),
            Frame::Protein | Frame::Strand(_) => frame,
        };
        let first = before / step;
        Self { frame, read: first..first + covered.len() as u32 / step, covered }
    }

    /// The same bases read on the other strand; `None` if the sequence is not read base by base.
    pub fn turned(self, extent: &Extent) -> Option<Self> {
        let strand = match self.frame {
            Frame::Strand(Strand::Plus) => Strand::Minus,
            Frame::Strand(Strand::Minus) => Strand::Plus,
            Frame::Protein | Frame::Codons(..) => return None,
        };
        Some(Self::covering(Frame::Strand(strand), self.covered, extent.length))
    }

    /// Whether positions descend along the row.
    fn descends(&self) -> bool {
        self.frame.strand() == Some(Strand::Minus)
    }

    /// The first and the last position of the row as printed, from 1.
    pub fn ends(&self) -> [u32; 2] {
        self.ends_of(0..self.read.len() as u32)
    }

    /// The same of some of the row's letters, counted from 0; a codon has the positions of three bases.
    pub fn ends_of(&self, letters: Range<u32>) -> [u32; 2] {
        let (from, to) = (letters.start * self.frame.step(), letters.end * self.frame.step());
        match self.descends() {
            true => [self.covered.end - from, self.covered.end - to + 1],
            false => [self.covered.start + from + 1, self.covered.start + to],
        }
    }

    /// The positions of the row in XML, where those of codons always ascend.
    pub fn xml_ends(&self) -> [u32; 2] {
        match self.frame {
            Frame::Codons(..) => [self.covered.start + 1, self.covered.end],
            Frame::Protein | Frame::Strand(_) => self.ends(),
        }
    }

    /// Which of the row's letters, counted from 0, a stretch of the whole sequence touches.
    pub fn touched(&self, stretch: &Range<u32>) -> Option<Range<u32>> {
        let from = stretch.start.max(self.covered.start);
        let to = stretch.end.min(self.covered.end);
        if from >= to {
            return None;
        }
        let (first, last) = match self.descends() {
            true => (self.covered.end - to, self.covered.end - 1 - from),
            false => (from - self.covered.start, to - 1 - self.covered.start),
        };
        Some(first / self.frame.step()..last / self.frame.step() + 1)
    }

    /// Whether a stretch of the whole sequence that touches the row's first letter begins, in the row's direction, before it.
    pub fn is_entered_by(&self, stretch: &Range<u32>) -> bool {
        let border = if self.descends() { self.covered.end } else { self.covered.start };
        stretch.start < border && border < stretch.end
    }
}
