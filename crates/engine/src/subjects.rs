//! Access to the letters and masks of subjects.

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_seq::frame::Frame;
use fleetblast_seq::nucleotide::Packed;

/// A subject in one of its frames. The engine uses it as the key of cached results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FramedSubject {
    /// OID of the subject.
    pub oid: u32,
    /// Frame of the subject.
    pub frame: Frame,
}

impl FramedSubject {
    /// Creates the view of a protein.
    pub fn protein(oid: u32) -> FramedSubject {
        FramedSubject { oid, frame: Frame::Protein }
    }
}

/// A set of subjects, addressed by OID, which the caller holds in memory.
pub trait Subjects: Sync {
    /// Returns the residues (NCBIstdaa codes) of protein subject `oid`.
    ///
    /// # Panics
    /// May panic if this set does not hold `oid`, or if the subject is no protein. The engine asks
    /// only for subjects of the caller's partition.
    fn residues(&self, oid: u32) -> &[u8];

    /// Returns the bases of nucleotide subject `oid`. An ambiguous letter appears as one of its
    /// possible bases.
    ///
    /// # Panics
    /// May panic if this set does not hold `oid`, or if the subject is a protein.
    fn bases(&self, oid: u32) -> Packed<'_>;

    /// Returns the true letters of these ranges of nucleotide subject `oid`, masked by
    /// [`Masks::apply_hard_masks`]. Each letter is at its position in the subject. The ranges
    /// ascend and do not touch. Letters between them are unspecified.
    ///
    /// # Panics
    /// May panic if this set does not hold `oid`, or if the subject is a protein.
    fn true_letters(&self, oid: u32, parts: &[Range<u32>]) -> Cow<'_, [u8]>;

    /// Returns whether the search drops all ungapped HSPs of nucleotide subject `oid`.
    fn drops_ungapped_hsps(&self, oid: u32) -> bool {
        let _ = oid;
        false
    }

    /// Returns the masks of subject `oid`.
    fn masks(&self, oid: u32) -> Masks<'_> {
        let _ = oid;
        Masks::None
    }
}

/// Masked ranges of a subject, in ascending order of their starts. `Soft` and `Hard` differ from
/// `None` even without ranges: the engine then reads bases in another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masks<'a> {
    /// The search masks nothing of this subject.
    None,
    /// Ranges without seeds. Alignments may enter them.
    Soft(&'a [Range<u32>]),
    /// Ranges that divide the subject into parts, which are searched separately. Alignments see `X`
    /// or `N` instead of the masked letters.
    Hard(&'a [Range<u32>]),
}

/// The letters of one subject for alignment: NCBIstdaa codes of a protein, or blastna codes of
/// nucleotides with the true ambiguities.
pub trait SubjectLetters {
    /// Returns the number of letters.
    fn length(&self) -> u32;

    /// Returns the letters of a range, masked by [`Masks::apply_hard_masks`].
    ///
    /// # Panics
    /// May panic if the range exceeds the subject.
    fn letters_in(&self, range: Range<u32>) -> Cow<'_, [u8]>;

    /// Returns all letters.
    fn all_letters(&self) -> Cow<'_, [u8]> {
        self.letters_in(0..self.length())
    }
}

impl Masks<'_> {
    /// Converts letters of the subject, from position `start` on, to the form that
    /// [`Aligner::align`](crate::search::Aligner::align) takes: `masked` replaces hard-masked
    /// letters.
    pub fn apply_hard_masks<'r>(
        &self,
        letters: Cow<'r, [u8]>,
        start: u32,
        masked: u8,
    ) -> Cow<'r, [u8]> {
        let Masks::Hard(stretches @ [_, ..]) = self else { return letters };
        let mut letters = letters.into_owned();
        let length = letters.len();
        let place = |position: u32| (position.saturating_sub(start) as usize).min(length);
        for stretch in *stretches {
            letters[place(stretch.start)..place(stretch.end)].fill(masked);
        }
        Cow::Owned(letters)
    }
}

/// A buffer for ranges of one subject at a time, with letters at their positions in the subject.
/// Memory between the ranges stays untouched, because alignments read little of a chromosome.
#[derive(Debug, Default)]
pub(crate) struct PlacedLetters {
    /// Letters of the ranges `parts`, and zeros elsewhere.
    letters: Vec<u8>,
    parts: Vec<Range<usize>>,
}

impl PlacedLetters {
    /// Returns a slice of the subject's length that holds the letters of these ranges, with zeros
    /// between them.
    pub fn place(&mut self, subject: &dyn SubjectLetters, parts: &[Range<u32>]) -> &[u8] {
        for part in self.parts.drain(..) {
            self.letters[part].fill(0);
        }
        let length = subject.length() as usize;
        if self.letters.len() < length {
            self.letters = vec![0; length.next_power_of_two()];
        }
        for part in parts {
            let place = part.start as usize..part.end as usize;
            self.letters[place.clone()].copy_from_slice(&subject.letters_in(part.clone()));
            self.parts.push(place);
        }
        &self.letters[..length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hard_masks_hide_residues() {
        let letters = [1, 3, 4, 5, 6];
        let (masks, far) = ([1..2, 3..9], [7..9, 10..12]);
        let aligned = |masks: Masks, start| {
            masks.apply_hard_masks(letters[..].into(), start, 21).into_owned()
        };
        assert_eq!(aligned(Masks::Hard(&masks), 0), [1, 21, 4, 21, 21]);
        assert_eq!(aligned(Masks::Hard(&masks), 1), [21, 3, 21, 21, 21]);
        assert_eq!(aligned(Masks::Hard(&far), 0), letters);
        assert_eq!(aligned(Masks::Soft(&masks), 0), letters);
    }

    #[test]
    fn letters_of_the_subject_before_are_gone() {
        struct WholeSubject(Vec<u8>);
        impl SubjectLetters for WholeSubject {
            fn length(&self) -> u32 {
                self.0.len() as u32
            }
            fn letters_in(&self, range: Range<u32>) -> Cow<'_, [u8]> {
                self.0[range.start as usize..range.end as usize].into()
            }
        }
        let mut placed = PlacedLetters::default();
        let (long, short) = (WholeSubject(vec![3; 9]), WholeSubject(vec![2; 4]));
        assert_eq!(placed.place(&long, &[1..3, 5..9]), [0, 3, 3, 0, 0, 3, 3, 3, 3]);
        assert_eq!(placed.place(&short, &[0..1, 3..4]), [2, 0, 0, 2]);
        assert_eq!(placed.place(&long, &[]), [0; 9]);
        assert_eq!(placed.place(&WholeSubject(vec![1; 99]), &[0..1, 98..99])[97..], [0, 1]);
    }
}
