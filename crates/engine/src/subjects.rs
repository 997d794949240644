//! Where the engine finds the residues of a subject, and what of them is masked.

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_seq::alphabet;
use fleetblast_seq::frame::Frame;

/// What is read of a subject: by it, and not by the OID alone, the engine keeps what it computed of a subject.
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

/// A set of subjects, addressed by OID, held in memory by someone else. What a [`View`] reads of them is the engine's matter.
pub trait Subjects: Sync {
    /// The residues (NCBIstdaa codes) of subject `oid`.
    ///
    /// # Panics
    /// May panic if `oid` is not held here; the caller asks only for subjects of its partition.
    fn residues(&self, oid: u32) -> &[u8];

    /// What is masked of subject `oid`.
    fn masks(&self, oid: u32) -> Masks<'_> {
        let _ = oid;
        Masks::Soft(&[])
    }
}

/// Masked stretches of a subject, ascending by their starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masks<'a> {
    /// No words are looked for there; alignments may enter.
    Soft(&'a [Range<u32>]),
    /// What lies between two of them is searched on its own, and they are aligned as `X`.
    Hard(&'a [Range<u32>]),
}

impl Masks<'_> {
    /// The residues of the subject in the form in which [`Traceback::align`](crate::protein::traceback::Traceback::align) takes them.
    pub fn aligned<'r>(&self, residues: &'r [u8]) -> Cow<'r, [u8]> {
        let Masks::Hard(stretches @ [_, ..]) = self else { return Cow::Borrowed(residues) };
        let mut masked = residues.to_vec();
        for stretch in *stretches {
            let end = masked.len().min(stretch.end as usize);
            masked[(stretch.start as usize).min(end)..end].fill(alphabet::X);
        }
        Cow::Owned(masked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hard_masks_hide_residues() {
        let residues = [1, 3, 4, 5, 6];
        let (masks, far) = ([1..2, 3..9], [7..9, 10..12]);
        assert_eq!(
            *Masks::Hard(&masks).aligned(&residues),
            [1, alphabet::X, 4, alphabet::X, alphabet::X]
        );
        assert_eq!(*Masks::Hard(&far).aligned(&residues), residues);
        assert_eq!(*Masks::Soft(&masks).aligned(&residues), residues);
    }
}
