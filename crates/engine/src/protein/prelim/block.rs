//! Subjects that are scanned together, divided at hard masks (facts from `s_GetNextSubjectChunk` in
//! `blast_engine.c`).

use std::ops::Range;

use fleetblast_seq::frame::Frame;

use crate::subjects::Masks;

/// Maximum length of a part of a subject that is searched at a time, in residues (`MAX_DBSEQ_LEN`).
const MAX_PART: usize = 5_000_000;
/// Number of residues that neighbouring segments of a long part share (`DBSEQ_CHUNK_OVERLAP`).
const OVERLAP: usize = 100;

/// A protein subject, or one frame of a translated subject.
#[derive(Clone, Copy, Debug)]
pub(super) struct SubjectFrame<'a> {
    /// OID of the subject.
    pub oid: u32,
    /// Frame of the subject.
    pub frame: Frame,
    /// Length of the subject for statistics, in residues.
    pub subject_len: usize,
    /// All residues of the frame.
    pub residues: &'a [u8],
    /// Masked ranges of the frame.
    pub masks: Masks<'a>,
}

/// A part of a subject that is searched separately: a whole frame, the range between two hard
/// masks, or a segment of a long range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    /// OID of the subject.
    pub oid: u32,
    /// Frame of the subject.
    pub frame: Frame,
    /// Length of the whole subject for statistics, in residues.
    pub subject_len: usize,
    /// Start of the part in the frame.
    pub start: u32,
    /// Whether the part begins within the previous part, so that HSPs of both may be joined.
    pub overlaps: bool,
    /// The residues in which words are searched.
    pub residues: &'a [u8],
    /// Offset in the part beyond which no extension to the right goes.
    pub reach: usize,
    /// Soft masks, as ranges of the frame.
    masks: &'a [Range<u32>],
}

impl<'a> Part<'a> {
    /// Creates the part for a whole subject.
    fn whole(subject: SubjectFrame<'a>, masks: &'a [Range<u32>]) -> Part<'a> {
        let SubjectFrame { oid, frame, subject_len, residues, .. } = subject;
        let reach = residues.len();
        Part { oid, frame, subject_len, start: 0, overlaps: false, residues, reach, masks }
    }

    /// Returns the part for a range of the residues of this part.
    fn range(&self, range: Range<usize>) -> Part<'a> {
        let (reach, start) = (range.len(), self.start + range.start as u32);
        let end = start + range.len() as u32;
        // Masks ascend. Those that end before the range are left out.
        let first = self.masks.partition_point(|mask| mask.end < start);
        let last = self.masks.partition_point(|mask| mask.start < end).max(first);
        Part {
            start,
            reach,
            residues: &self.residues[range],
            masks: &self.masks[first..last],
            ..*self
        }
    }

    /// Returns whether the part has soft masks.
    pub fn has_masks(&self) -> bool {
        !self.masks.is_empty()
    }

    /// Returns whether the word at `start` is looked up, in one-hit or two-hit mode.
    ///
    /// No soft mask may touch the word. There is an exception if the residues before the first mask
    /// are too few for a word. In two-hit mode BLAST+ then looks up the word at the start all the
    /// same. In one-hit mode it then looks up no word of the whole subject
    /// (`s_BlastAaWordFinder_TwoHit` and `_OneHit`, `aa_ungapped.c`).
    #[inline]
    pub fn allows(&self, start: usize, word_size: usize, one_hit: bool) -> bool {
        let Some(first) = self.masks.first() else { return true };
        let first = first.start.saturating_sub(self.start) as usize;
        if first < word_size && (start == 0 || one_hit) {
            return !one_hit;
        }
        let start = self.start + start as u32;
        let end = start + word_size as u32;
        self.masks.iter().all(|mask| mask.end <= start || end <= mask.start)
    }
}

/// Subjects that are scanned together.
#[derive(Debug, Default)]
pub(super) struct SubjectBlock<'a> {
    /// Parts of the subjects, in order.
    pub parts: Vec<Part<'a>>,
    /// The residues of each part.
    pub residues: Vec<&'a [u8]>,
    /// Number of residues of all parts.
    pub size: usize,
}

impl<'a> SubjectBlock<'a> {
    /// Adds a subject, or one of its frames. Drops parts between hard masks that are too short for
    /// a word.
    pub fn push(&mut self, subject: SubjectFrame<'a>, word_size: usize) {
        let stretches = match subject.masks {
            Masks::Soft(stretches) => return self.add(Part::whole(subject, stretches)),
            Masks::None | Masks::Hard([]) => return self.add(Part::whole(subject, &[])),
            Masks::Hard(stretches) => stretches,
        };
        let whole = Part::whole(subject, &[]);
        let len = subject.residues.len();
        if stretches[0].end as usize >= len {
            // If a subject has no second part, BLAST+ ignores its masks when it searches words, but
            // not when it extends them to the right.
            let reach = len.min(stretches[0].start as usize);
            return self.add(Part { reach, ..whole });
        }
        let starts = stretches.iter().map(|stretch| stretch.end as usize);
        let ends = stretches.iter().map(|stretch| stretch.start as usize);
        for (start, end) in [0].into_iter().chain(starts).zip(ends.chain([len])) {
            let end = end.min(len);
            if end.saturating_sub(start) >= word_size {
                self.add(whole.range(start..end));
            }
        }
    }

    /// Removes all subjects.
    pub fn clear(&mut self) {
        self.parts.clear();
        self.residues.clear();
        self.size = 0;
    }

    /// Adds a part. Cuts a long part into segments.
    fn add(&mut self, part: Part<'a>) {
        let len = part.residues.len();
        if len <= MAX_PART {
            return self.add_chunk(part);
        }
        let mut start = 0;
        loop {
            let end = len.min(start + MAX_PART);
            self.add_chunk(Part { overlaps: start > 0, ..part.range(start..end) });
            if end == len {
                return;
            }
            start = end - OVERLAP;
        }
    }

    fn add_chunk(&mut self, part: Part<'a>) {
        self.size += part.residues.len();
        self.residues.push(part.residues);
        self.parts.push(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protein<'a>(oid: u32, residues: &'a [u8], masks: Masks<'a>) -> SubjectFrame<'a> {
        let subject_len = residues.len();
        SubjectFrame { oid, frame: Frame::Protein, subject_len, residues, masks }
    }

    #[test]
    fn long_subjects_are_searched_in_chunks_that_overlap() {
        let residues = vec![1; 10_000_000];
        let masks = [10..20, 4_999_950..5_000_010, 9_999_000..9_999_001];
        let mut block = SubjectBlock::default();
        block.push(protein(1, &residues, Masks::Soft(&masks)), 3);
        let place =
            |part: &Part| (part.start, part.residues.len(), part.overlaps, part.masks.len());
        let parts: Vec<_> = block.parts.iter().map(place).collect();
        let second = (4_999_900, 5_000_000, true, 2);
        assert_eq!(parts, [(0, 5_000_000, false, 2), second, (9_999_800, 200, true, 0)]);
        assert!(!block.parts[1].allows(50, 3, false) && block.parts[1].allows(110, 3, false));
    }

    /// Returns the starts of the words that are looked up in 12 residues.
    fn allowed_starts(masks: &[Range<u32>], word_size: usize, one_hit: bool) -> Vec<usize> {
        let subject = Part::whole(protein(0, &[0; 12], Masks::None), masks);
        (0..=12 - word_size).filter(|&start| subject.allows(start, word_size, one_hit)).collect()
    }

    #[test]
    fn words_do_not_touch_masks() {
        assert_eq!(allowed_starts(&[], 3, false), (0..10).collect::<Vec<_>>());
        for one_hit in [false, true] {
            assert_eq!(allowed_starts(&[4..6, 9..10], 3, one_hit), [0, 1, 6]);
            assert_eq!(allowed_starts(&[5..5, 9..10], 3, one_hit), [0, 1, 2, 5, 6]);
        }
    }

    #[test]
    fn a_mask_near_the_start_spares_the_first_word_or_hides_all() {
        for start in 0..3 {
            assert_eq!(allowed_starts(&[start..5, 7..9], 3, false), [0, 9]);
            assert!(allowed_starts(&[start..5, 7..9], 3, true).is_empty());
        }
    }

    /// Returns the start, end and reach of each part of 20 residues, as positions of the subject.
    fn parts(masks: &[Range<u32>]) -> Vec<(usize, usize, usize)> {
        let residues = [1; 20];
        let mut block = SubjectBlock::default();
        block.push(protein(7, &residues, Masks::Hard(masks)), 3);
        assert_eq!(block.size, block.residues.iter().map(|part| part.len()).sum());
        let place = |part: &Part| {
            assert_eq!((part.oid, part.subject_len), (7, 20));
            let start = part.start as usize;
            (start, start + part.residues.len(), start + part.reach)
        };
        block.parts.iter().map(place).collect()
    }

    #[test]
    fn hard_masks_cut_subjects() {
        assert_eq!(parts(&[]), [(0, 20, 20)]);
        assert_eq!(parts(&[4..6, 10..11]), [(0, 4, 4), (6, 10, 10), (11, 20, 20)]);
        assert_eq!(parts(&[0..5, 7..9]), [(9, 20, 20)]);
        assert_eq!(parts(&[3..5, 9..20]), [(0, 3, 3), (5, 9, 9)]);
        assert_eq!(parts(&[1..2, 3..20]), []);
    }

    #[test]
    fn words_are_looked_for_in_a_single_mask_at_the_end() {
        for start in [0, 4] {
            assert_eq!(parts(std::slice::from_ref(&(start..20))), [(0, 20, start as usize)]);
        }
    }
}
