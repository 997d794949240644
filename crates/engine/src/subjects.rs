//! Where the engine finds the letters of a subject, and what of them is masked.

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_seq::frame::Frame;
use fleetblast_seq::nucleotide::Packed;

/// What is read of a subject: by it, and not by the OID alone, the engine keeps what it computed of
/// a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// The subject.
    pub oid: u32,
    /// How it is read.
    pub frame: Frame,
}

impl View {
    /// A protein as it is.
    pub fn protein(oid: u32) -> View {
        View { oid, frame: Frame::Protein }
    }
}

/// A set of subjects, addressed by OID, held in memory by someone else. What a [`View`] reads of
/// them is the engine's matter.
pub trait Subjects: Sync {
    /// The residues (NCBIstdaa codes) of subject `oid`, a protein.
    ///
    /// # Panics
    /// May panic if `oid` is not held here, or no protein; the caller asks only for subjects of its
    /// partition.
    fn residues(&self, oid: u32) -> &[u8];

    /// The bases of subject `oid`, nucleotides; ambiguous ones stand as one of those that they may
    /// be.
    ///
    /// # Panics
    /// May panic if `oid` is not held here, or a protein.
    fn bases(&self, oid: u32) -> Packed<'_>;

    /// The letters of these parts of subject `oid`, nucleotides, which ascend and are apart, at
    /// their places, masked as [`Masks::aligned`] tells; what is between them may be any.
    ///
    /// # Panics
    /// May panic if `oid` is not held here, or a protein.
    fn true_letters(&self, oid: u32, parts: &[Range<u32>]) -> Cow<'_, [u8]>;

    /// Whether hits without gaps to subject `oid`, nucleotides, are dropped before they are kept.
    fn is_excluded(&self, oid: u32) -> bool {
        let _ = oid;
        false
    }

    /// What is masked of subject `oid`.
    fn masks(&self, oid: u32) -> Masks<'_> {
        let _ = oid;
        Masks::None
    }
}

/// Masked stretches of a subject, ascending by their starts. What kind they are matters also where
/// there are none: bases are read otherwise then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masks<'a> {
    /// The search masks nothing of this subject.
    None,
    /// No words are looked for there; alignments may enter.
    Soft(&'a [Range<u32>]),
    /// What lies between two of them is searched on its own, and they are aligned as `X`.
    Hard(&'a [Range<u32>]),
}

/// The letters of one subject, to be aligned: NCBIstdaa codes of a protein, blastna codes of
/// nucleotides with the true ambiguities.
pub trait SubjectLetters {
    /// Number of letters.
    fn length(&self) -> u32;

    /// The letters of a part, masked as [`Masks::aligned`] tells.
    ///
    /// # Panics
    /// May panic if the subject has fewer.
    fn part(&self, range: Range<u32>) -> Cow<'_, [u8]>;

    /// All letters.
    fn all(&self) -> Cow<'_, [u8]> {
        self.part(0..self.length())
    }
}

impl Masks<'_> {
    /// The letters of a part of the subject that starts at `start` in the form in which
    /// [`Aligner::align`](crate::search::Aligner::align) takes them: what is hard-masked is
    /// `masked`.
    pub fn aligned<'r>(&self, letters: Cow<'r, [u8]>, start: u32, masked: u8) -> Cow<'r, [u8]> {
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

/// Letters of parts of one subject after another, at their places. What is between them stays
/// memory that was never used: of a chromosome an alignment reads little.
#[derive(Debug, Default)]
pub(crate) struct PlacedLetters {
    /// Zeros, but for those of `parts`.
    letters: Vec<u8>,
    parts: Vec<Range<usize>>,
}

impl PlacedLetters {
    /// The letters of these parts of a subject, as many as it has, with zeros between the parts.
    pub fn place(&mut self, subject: &impl SubjectLetters, parts: &[Range<u32>]) -> &[u8] {
        for part in self.parts.drain(..) {
            self.letters[part].fill(0);
        }
        let length = subject.length() as usize;
        if self.letters.len() < length {
            self.letters = vec![0; length.next_power_of_two()];
        }
        for part in parts {
            let place = part.start as usize..part.end as usize;
            self.letters[place.clone()].copy_from_slice(&subject.part(part.clone()));
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
        let aligned =
            |masks: Masks, start| masks.aligned(letters[..].into(), start, 21).into_owned();
        assert_eq!(aligned(Masks::Hard(&masks), 0), [1, 21, 4, 21, 21]);
        assert_eq!(aligned(Masks::Hard(&masks), 1), [21, 3, 21, 21, 21]);
        assert_eq!(aligned(Masks::Hard(&far), 0), letters);
        assert_eq!(aligned(Masks::Soft(&masks), 0), letters);
    }

    #[test]
    fn letters_of_the_subject_before_are_gone() {
        struct Whole(Vec<u8>);
        impl SubjectLetters for Whole {
            fn length(&self) -> u32 {
                self.0.len() as u32
            }
            fn part(&self, range: Range<u32>) -> Cow<'_, [u8]> {
                self.0[range.start as usize..range.end as usize].into()
            }
        }
        let mut placed = PlacedLetters::default();
        let (long, short) = (Whole(vec![3; 9]), Whole(vec![2; 4]));
        assert_eq!(placed.place(&long, &[1..3, 5..9]), [0, 3, 3, 0, 0, 3, 3, 3, 3]);
        assert_eq!(placed.place(&short, &[0..1, 3..4]), [2, 0, 0, 2]);
        assert_eq!(placed.place(&long, &[]), [0; 9]);
        assert_eq!(placed.place(&Whole(vec![1; 99]), &[0..1, 98..99])[97..], [0, 1]);
    }
}
