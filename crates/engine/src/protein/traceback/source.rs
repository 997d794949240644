//! The subject of a hit as residues: the residues of a protein, or translations of nucleotides.

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_seq::frame::Frame;
use fleetblast_seq::translation::GeneticCode;

use crate::subjects::SubjectLetters;

/// Number of bases of a codon.
const CODON: usize = 3;

/// The residues of a subject.
pub(super) enum SubjectResidues<'a> {
    /// All residues of a protein.
    Protein(Cow<'a, [u8]>),
    /// Nucleotides; their parts are translated on demand.
    Translated(&'a dyn SubjectLetters, &'a GeneticCode),
}

impl<'a> SubjectResidues<'a> {
    /// Creates the residues of a subject, which is translated if there is a genetic code.
    pub fn new(subject: &'a dyn SubjectLetters, code: Option<&'a GeneticCode>) -> Self {
        match code {
            Some(code) => SubjectResidues::Translated(subject, code),
            None => SubjectResidues::Protein(subject.all_letters()),
        }
    }

    /// Returns the number of letters as stored: residues of a protein, bases of nucleotides.
    pub fn stored_length(&self) -> usize {
        match self {
            SubjectResidues::Protein(residues) => residues.len(),
            SubjectResidues::Translated(subject, _) => subject.length() as usize,
        }
    }

    /// Returns the length for the statistics of linked alignments, in residues.
    pub fn linked_length(&self) -> usize {
        let stored = self.stored_length();
        if self.is_translated() { stored / CODON } else { stored }
    }

    /// Returns the number of residues of a frame.
    pub fn length(&self, frame: Frame) -> usize {
        frame.length(self.stored_length() as u32) as usize
    }

    /// Returns whether the subject is translated.
    pub fn is_translated(&self) -> bool {
        matches!(self, SubjectResidues::Translated(..))
    }

    /// Returns the residues of a range of a frame.
    ///
    /// # Panics
    /// If the frame is shorter.
    pub fn part(&self, frame: Frame, range: Range<usize>) -> Cow<'_, [u8]> {
        match self {
            SubjectResidues::Protein(residues) => Cow::Borrowed(&residues[range]),
            SubjectResidues::Translated(subject, code) => {
                let range = range.start as u32..range.end as u32;
                let letters = subject.letters_in(frame.to_sequence_range(range, subject.length()));
                Cow::Owned(code.translate_strand(&letters, frame))
            }
        }
    }
}

/// The parts of the frames of a subject that BLAST+ has translated for a list of alignments
/// (`Blast_HSPGetTargetTranslation`, blast_hits.c). An alignment that reaches the end of a part is
/// repeated with whole frames, together with all others of the list.
#[derive(Debug)]
pub(super) struct TranslatedParts {
    /// Number of bases of the subject.
    bases: u32,
    /// Whether frames are translated as a whole.
    whole: bool,
    /// The part of each frame, in residues.
    parts: Vec<(Frame, Range<u32>)>,
}

impl TranslatedParts {
    /// Number of bases on each side of an alignment that are translated with it.
    const MARGIN: u32 = 99;
    /// If at most this many bases of the subject follow a part, the part includes them.
    const REST: u32 = 21;

    /// Creates a list without parts.
    pub fn new(bases: u32, whole: bool) -> TranslatedParts {
        TranslatedParts { bases, whole, parts: Vec::new() }
    }

    /// Returns the part of a frame of `length` residues that is translated for an alignment with
    /// this range of the subject.
    pub fn part(&mut self, frame: Frame, length: u32, aligned: Range<u32>) -> Range<u32> {
        if self.whole {
            return 0..length;
        }
        let known = self.parts.iter().position(|(other, _)| *other == frame);
        let known = known.unwrap_or_else(|| {
            self.parts.push((frame, 0..0));
            self.parts.len() - 1
        });
        let part = &mut self.parts[known].1;
        let codon = CODON as u32;
        let is_whole = part.start == 0 && i64::from(part.end) >= i64::from(self.bases / codon) - 3;
        if is_whole {
            return part.clone();
        }
        let start = (codon * aligned.start).saturating_sub(Self::MARGIN);
        let mut end = self.bases.min(codon * aligned.end + Self::MARGIN);
        if self.bases - end <= Self::REST {
            end = self.bases;
        }
        let wanted = 1 + (end - start) / codon;
        let first = start / codon;
        if first < part.start || first + wanted > part.end {
            *part = first..first + frame.length(end - start);
        }
        part.clone()
    }
}
