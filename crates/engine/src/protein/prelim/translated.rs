//! Translations of nucleotide subjects in their six frames (facts from `s_BlastSearchEngineCore`,
//! `blast_engine.c`).

use std::ops::Range;

use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::nucleotide::Packed;
use fleetblast_seq::translation::{FRAMES, GeneticCode};

use super::block::{SubjectBlock, SubjectFrame};
use crate::subjects::Masks;

/// Number of bases of a codon.
const CODON: u32 = 3;
/// Number of bases that a subject needs, beyond the codons of a word, to be searched
/// (`s_GetMinimumSubjSeqLen`).
const SPARE_BASES: usize = 2;

/// Translations of subjects that are scanned together.
#[derive(Debug, Default)]
pub(super) struct Translations {
    /// Bases of the current subject.
    bases: Vec<u8>,
    /// The residues of all frames.
    residues: Vec<u8>,
    frames: Vec<Translation>,
}

/// The translation of a subject in one of its frames.
#[derive(Debug)]
struct Translation {
    oid: u32,
    frame: Frame,
    /// Number of bases of the subject.
    length: u32,
    /// Range of the frame's residues in the residues of all frames.
    range: Range<usize>,
    masks: FrameMasks,
}

/// Masked ranges of a frame.
#[derive(Debug)]
enum FrameMasks {
    None,
    Soft(Vec<Range<u32>>),
    Hard(Vec<Range<u32>>),
}

impl Translations {
    /// Translates a subject in six frames, unless it is too short for a word.
    pub fn push(
        &mut self,
        oid: u32,
        (bases, masks): (Packed<'_>, Masks<'_>),
        code: &GeneticCode,
        word_size: usize,
    ) {
        let length = bases.length();
        if (length as usize) < CODON as usize * word_size + SPARE_BASES {
            return;
        }
        self.bases.clear();
        bases.unpack(&mut self.bases);
        for frame in FRAMES {
            let start = self.residues.len();
            code.append_frame(&self.bases, frame, &mut self.residues);
            let range = start..self.residues.len();
            let masks = FrameMasks::new(masks, length, frame);
            self.frames.push(Translation { oid, frame, length, range, masks });
        }
    }

    /// Returns the number of residues of all frames.
    pub fn size(&self) -> usize {
        self.residues.len()
    }

    /// Returns the frames as a block of subjects. `length` converts the number of bases of a
    /// subject to its length for statistics, in residues.
    pub fn block(&self, word_size: usize, length: impl Fn(u32) -> usize) -> SubjectBlock<'_> {
        let mut block = SubjectBlock::default();
        for translation in &self.frames {
            let masks = match &translation.masks {
                FrameMasks::None => Masks::None,
                FrameMasks::Soft(masks) => Masks::Soft(masks),
                FrameMasks::Hard(masks) => Masks::Hard(masks),
            };
            let (oid, frame) = (translation.oid, translation.frame);
            let residues = &self.residues[translation.range.clone()];
            let subject_len = length(translation.length);
            block.push(SubjectFrame { oid, frame, subject_len, residues, masks }, word_size);
        }
        block
    }

    /// Removes all subjects.
    pub fn clear(&mut self) {
        self.residues.clear();
        self.frames.clear();
    }
}

impl FrameMasks {
    /// Converts the masks of a subject of `bases` bases to masks of a frame.
    fn new(masks: Masks<'_>, bases: u32, frame: Frame) -> FrameMasks {
        match masks {
            Masks::None => FrameMasks::None,
            Masks::Soft(masks) => FrameMasks::Soft(in_frame(masks, bases, frame)),
            Masks::Hard(masks) => FrameMasks::Hard(in_frame(masks, bases, frame)),
        }
    }
}

/// Returns the masks of a frame. BLAST+ divides the ends of the ranges between the masks by three.
/// On the minus strand it counts them from the end of the strand's first frame, whatever the frame.
fn in_frame(masks: &[Range<u32>], bases: u32, frame: Frame) -> Vec<Range<u32>> {
    let starts = masks.iter().map(|mask| mask.end.min(bases));
    let ends = masks.iter().map(|mask| mask.start.min(bases));
    let between = [0].into_iter().chain(starts).zip(ends.chain([bases]));
    let mut searched: Vec<(u32, u32)> =
        between.map(|(start, end)| (start / CODON, end / CODON)).collect();
    if frame.strand() == Some(Strand::Minus) {
        let length = bases / CODON;
        searched =
            searched.iter().rev().map(|&(start, end)| (length - end, length - start)).collect();
    }
    // The first and the last range may be empty. So an empty mask counts, too.
    searched.windows(2).map(|pair| pair[0].1..pair[1].0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_divided_by_three() {
        let plus = Frame::Codons(Strand::Plus, 1);
        let minus = Frame::Codons(Strand::Minus, 2);
        assert_eq!(in_frame(&[], 20, plus), []);
        for (mask, frame, masked) in [
            ((4, 10), plus, &[(1, 3)][..]),
            ((4, 10), minus, &[(3, 5)]),
            ((4, 5), plus, &[(1, 1)]),
            ((0, 2), plus, &[(0, 0)]),
            ((18, 20), minus, &[(0, 0)]),
            ((1, 2), plus, &[(0, 0)]),
            ((18, 19), minus, &[(0, 0)]),
        ] {
            let found = in_frame(std::slice::from_ref(&(mask.0..mask.1)), 20, frame);
            let found: Vec<_> = found.iter().map(|mask| (mask.start, mask.end)).collect();
            assert_eq!(found, masked);
        }
        assert_eq!(in_frame(&[0..7, 12..20], 20, plus), [0..2, 4..6]);
    }

    #[test]
    fn short_subjects_are_left_out() {
        let code = GeneticCode::new(1).expect("a known code");
        let bytes = [0x1b; 4];
        for (length, frames) in [(10, 0), (11, 6)] {
            let mut translations = Translations::default();
            translations.push(3, (Packed::new(&bytes, length), Masks::None), &code, 3);
            assert_eq!(translations.frames.len(), frames);
        }
    }
}
