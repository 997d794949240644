//! The letters of a subject, as alignments and reports read them.

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_db::Bases;
use fleetblast_engine::subjects::{Masks, SubjectLetters};
use fleetblast_seq::alphabet;
use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::nucleotide::blastna;

/// Code of a masked base. BLAST+ writes the blastna code of `N` where codes of ncbi4na are expected
/// (`s_SeqDBMaskSequence`, seqdbvol.cpp), and so reads `B`.
const MASKED_BASE: u8 = blastna::from_ncbi4na(blastna::N);

/// The stored letters of a sequence.
#[derive(Clone, Copy, Debug)]
pub enum StoredSequence<'a> {
    /// Residues of a protein (NCBIstdaa).
    Residues(&'a [u8]),
    /// Nucleotides.
    Bases(Bases<'a>),
}

impl<'a> StoredSequence<'a> {
    /// Returns the number of letters.
    pub fn length(&self) -> u32 {
        match self {
            StoredSequence::Residues(residues) => residues.len() as u32,
            StoredSequence::Bases(bases) => bases.length(),
        }
    }

    /// Returns a range of the letters without masks; `None` if it exceeds the sequence.
    pub fn part(&self, range: Range<u32>) -> Option<Cow<'a, [u8]>> {
        match self {
            StoredSequence::Residues(residues) => {
                residues.get(range.start as usize..range.end as usize).map(Cow::Borrowed)
            }
            StoredSequence::Bases(bases) => {
                let mut letters = Vec::new();
                bases.decode_blastna(range.clone(), &mut letters);
                (letters.len() == range.len()).then_some(Cow::Owned(letters))
            }
        }
    }

    /// Returns the code that replaces masked letters.
    pub fn masked_letter(&self) -> u8 {
        match self {
            StoredSequence::Residues(_) => alphabet::X,
            StoredSequence::Bases(_) => MASKED_BASE,
        }
    }
}

/// The letters and masks of a subject, from which the letters for alignments and reports are made.
#[derive(Clone, Copy, Debug)]
pub struct MaskedLetters<'a> {
    /// The sequence.
    pub stored: StoredSequence<'a>,
    /// The masks of the sequence.
    pub masks: Masks<'a>,
}

impl<'a> MaskedLetters<'a> {
    /// Returns the range `read` of the letters of a frame. Letters of a frame of codons are
    /// translated by `translate`. `None` if the range exceeds the frame, or if the sequence has no
    /// such frame.
    pub fn view(
        &self,
        frame: Frame,
        read: Range<u32>,
        translate: Option<impl Fn(&[u8]) -> Vec<u8>>,
    ) -> Option<Cow<'a, [u8]>> {
        if matches!(self.stored, StoredSequence::Residues(_)) != (frame == Frame::Protein) {
            return None;
        }
        let length = self.stored.length();
        let end = frame.required_length(read.end)?;
        let part = (end <= length).then(|| frame.to_sequence_range(read, length))?;
        let start = part.start;
        let letters = self.stored.part(part)?;
        let letters = self.masks.apply_hard_masks(letters, start, self.stored.masked_letter());
        let letters = match frame.strand() {
            Some(Strand::Minus) => Cow::Owned(blastna::reverse_complement(&letters)),
            Some(Strand::Plus) | None => letters,
        };
        match frame {
            Frame::Codons(..) => Some(Cow::Owned(translate?(&letters))),
            Frame::Protein | Frame::Strand(_) => Some(letters),
        }
    }
}

impl<'a> MaskedLetters<'a> {
    /// Returns the letters of a range in the form in which they are aligned: hard-masked letters
    /// are replaced.
    fn aligned_letters(&self, range: Range<u32>) -> Cow<'a, [u8]> {
        let start = range.start;
        let letters = self.stored.part(range).unwrap_or_default();
        self.masks.apply_hard_masks(letters, start, self.stored.masked_letter())
    }

    /// Returns the whole sequence, in which the letters of these ranges have the form in which they
    /// are aligned. Other letters may be missing.
    pub fn aligned_parts(&self, parts: &[Range<u32>]) -> Cow<'a, [u8]> {
        let whole = 0..self.stored.length();
        let is_whole = matches!(parts, [part] if *part == whole);
        if is_whole || matches!(self.stored, StoredSequence::Residues(_)) {
            return self.aligned_letters(whole);
        }
        // Zeroed memory has no cost until it is used, and alignments use few letters of a
        // chromosome.
        let mut letters = vec![0; whole.len()];
        for range in parts {
            let place = range.start as usize..range.end as usize;
            letters[place].copy_from_slice(&self.aligned_letters(range.clone()));
        }
        Cow::Owned(letters)
    }
}

impl SubjectLetters for MaskedLetters<'_> {
    fn length(&self) -> u32 {
        self.stored.length()
    }

    fn letters_in(&self, range: Range<u32>) -> Cow<'_, [u8]> {
        self.aligned_letters(range)
    }
}
