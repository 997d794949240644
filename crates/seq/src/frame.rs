//! Strands and frames of a sequence, and the conversion of positions in a frame to positions in the
//! sequence.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A strand of a nucleotide sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Strand {
    /// The sequence as written.
    Plus,
    /// The reverse complement of the sequence.
    Minus,
}

/// A protein, a strand, or a reading frame of a strand.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Frame {
    /// The residues of a protein.
    #[default]
    Protein,
    /// A strand of a nucleotide sequence, base by base.
    Strand(Strand),
    /// A reading frame: a strand translated from the base with this number (0, 1 or 2).
    Codons(Strand, u8),
}

impl Frame {
    /// Returns the number by which BLAST+ prints and orders frames. It is 0 for a protein, 1 and −1
    /// for strands, 1 to 3 and −1 to −3 for reading frames.
    pub fn number(self) -> i8 {
        let (strand, place) = match self {
            Frame::Protein => return 0,
            Frame::Strand(strand) => (strand, 1),
            Frame::Codons(strand, offset) => (strand, offset as i8 + 1),
        };
        if strand == Strand::Minus { -place } else { place }
    }

    /// Returns the strand; `None` for a protein.
    pub fn strand(self) -> Option<Strand> {
        match self {
            Frame::Protein => None,
            Frame::Strand(strand) | Frame::Codons(strand, _) => Some(strand),
        }
    }

    /// Returns the number of letters of the sequence for each letter of the frame: 3 for codons,
    /// else 1.
    pub fn letters_per_residue(self) -> u32 {
        if matches!(self, Frame::Codons(..)) { 3 } else { 1 }
    }

    /// Returns the number of letters of the sequence before the first letter of the frame.
    fn offset(self) -> u32 {
        if let Frame::Codons(_, offset) = self { u32::from(offset) } else { 0 }
    }

    /// Returns the number of letters that the frame has in a sequence of `letters` letters.
    pub fn length(self, letters: u32) -> u32 {
        letters.saturating_sub(self.offset()) / self.letters_per_residue()
    }

    /// Returns the number of letters of the sequence that the first `end` letters of the frame
    /// need; `None` if it exceeds 32 bits.
    pub fn required_length(self, end: u32) -> Option<u32> {
        end.checked_mul(self.letters_per_residue())?.checked_add(self.offset())
    }

    /// Converts a range of the frame to a range of the sequence as written, which has `length`
    /// letters. The result counts from 0, is half-open and ascends, also for the minus strand.
    pub fn to_sequence_range(self, read: Range<u32>, length: u32) -> Range<u32> {
        let offset = self.offset();
        let (start, end) = (
            offset + self.letters_per_residue() * read.start,
            offset + self.letters_per_residue() * read.end,
        );
        match self.strand() {
            Some(Strand::Minus) => length - end..length - start,
            _ => start..end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_blasts_numbers() {
        use Strand::{Minus, Plus};
        let frames = [
            (Frame::Protein, 0),
            (Frame::Strand(Plus), 1),
            (Frame::Strand(Minus), -1),
            (Frame::Codons(Plus, 2), 3),
            (Frame::Codons(Minus, 0), -1),
            (Frame::Codons(Minus, 2), -3),
        ];
        for (frame, number) in frames {
            assert_eq!(frame.number(), number, "{frame:?}");
        }
    }

    /// The expected values follow the formulas of BLAST+'s reports. These have inclusive positions
    /// from 1, which descend on the minus strand.
    #[test]
    fn places_are_those_that_blast_prints() {
        let (length, a, b) = (101, 4, 9);
        for offset in 0..3u8 {
            let f = i64::from(offset) + 1;
            let plus = Frame::Codons(Strand::Plus, offset).to_sequence_range(a..b, length);
            let printed = (i64::from(plus.start) + 1, i64::from(plus.end));
            assert_eq!(printed, (3 * i64::from(a) + f, 3 * i64::from(b) + f - 1));
            let minus = Frame::Codons(Strand::Minus, offset).to_sequence_range(a..b, length);
            let printed = (i64::from(minus.end), i64::from(minus.start) + 1);
            let l = i64::from(length);
            assert_eq!(printed, (l - 3 * i64::from(a) - f + 1, l - 3 * i64::from(b) - f + 2));
        }
        assert_eq!(Frame::Strand(Strand::Minus).to_sequence_range(0..3, 10), 7..10);
        assert_eq!(Frame::Protein.to_sequence_range(2..5, 10), 2..5);
        assert_eq!(Frame::Codons(Strand::Minus, 2).required_length(5), Some(17));
        let lengths = [1, 2, 16, 17].map(|letters| Frame::Codons(Strand::Minus, 2).length(letters));
        assert_eq!((lengths, Frame::Protein.length(7)), ([0, 0, 4, 5], 7));
        assert_eq!(Frame::Codons(Strand::Plus, 0).required_length(u32::MAX / 2), None);
    }
}
