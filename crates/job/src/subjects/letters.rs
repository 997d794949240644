//! The letters of a subject, as alignments and reports read them.

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_db::Bases;
use fleetblast_engine::subjects::{Masks, SubjectLetters};
use fleetblast_seq::alphabet;
use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::nucleotide::blastna;

/// What stands for a masked base. BLAST+ writes the blastna code of `N` where codes of ncbi4na are meant (`s_SeqDBMaskSequence`,
/// seqdbvol.cpp), and so reads `B`.
const MASKED_BASE: u8 = blastna::of_ncbi4na(blastna::N);

/// What a database holds of a sequence.
#[derive(Clone, Copy, Debug)]
pub enum Stored<'a> {
    /// A protein, NCBIstdaa.
    Residues(&'a [u8]),
    /// Nucleotides.
    Bases(Bases<'a>),
}

impl<'a> Stored<'a> {
    /// Number of letters.
    pub fn length(&self) -> u32 {
        match self {
            Stored::Residues(residues) => residues.len() as u32,
            Stored::Bases(bases) => bases.length(),
        }
    }

    /// A part of the sequence as written; `None` where it has fewer letters.
    pub fn part(&self, range: Range<u32>) -> Option<Cow<'a, [u8]>> {
        match self {
            Stored::Residues(residues) => {
                residues.get(range.start as usize..range.end as usize).map(Cow::Borrowed)
            }
            Stored::Bases(bases) => {
                let mut letters = Vec::new();
                bases.decode_blastna(range.clone(), &mut letters);
                (letters.len() == range.len()).then_some(Cow::Owned(letters))
            }
        }
    }

    /// What stands for masked letters.
    pub fn masked_letter(&self) -> u8 {
        match self {
            Stored::Residues(_) => alphabet::X,
            Stored::Bases(_) => MASKED_BASE,
        }
    }
}

/// A subject as it is aligned or shown.
#[derive(Clone, Copy, Debug)]
pub struct Letters<'a> {
    /// The sequence.
    pub stored: Stored<'a>,
    /// What of it is masked.
    pub masks: Masks<'a>,
}

impl<'a> Letters<'a> {
    /// What a frame reads; `None` where it has fewer letters, or no such frame.
    pub fn view(&self, frame: Frame, read: Range<u32>) -> Option<Cow<'a, [u8]>> {
        if matches!(self.stored, Stored::Residues(_)) != (frame == Frame::Protein) {
            return None;
        }
        let length = self.stored.length();
        let part = (read.end <= length).then(|| frame.place(read, length))?;
        let start = part.start;
        let letters = self.stored.part(part)?;
        let letters = self.masks.aligned(letters, start, self.stored.masked_letter());
        match frame {
            Frame::Protein | Frame::Strand(Strand::Plus) => Some(letters),
            Frame::Strand(Strand::Minus) => Some(Cow::Owned(blastna::reverse_complement(&letters))),
            Frame::Codons(..) => None,
        }
    }
}

impl<'a> Letters<'a> {
    /// The letters of a part, as they are aligned.
    fn aligned(&self, range: Range<u32>) -> Cow<'a, [u8]> {
        let start = range.start;
        let letters = self.stored.part(range).unwrap_or_default();
        self.masks.aligned(letters, start, self.stored.masked_letter())
    }

    /// The letters of these parts at their places, as they are aligned.
    pub fn aligned_parts(&self, parts: &[Range<u32>]) -> Cow<'a, [u8]> {
        let whole = 0..self.stored.length();
        let is_whole = matches!(parts, [part] if *part == whole);
        if is_whole || matches!(self.stored, Stored::Residues(_)) {
            return self.aligned(whole);
        }
        // Memory of zeros costs nothing before it is used: of a chromosome little is.
        let mut letters = vec![0; whole.len()];
        for range in parts {
            let place = range.start as usize..range.end as usize;
            letters[place].copy_from_slice(&self.aligned(range.clone()));
        }
        Cow::Owned(letters)
    }
}

impl SubjectLetters for Letters<'_> {
    fn length(&self) -> u32 {
        self.stored.length()
    }

    fn part(&self, range: Range<u32>) -> Cow<'_, [u8]> {
        self.aligned(range)
    }
}
