//! Subjects that are scanned together, divided at hard masks (facts from `s_GetNextSubjectChunk` in
//! `blast_engine.c`).

use std::ops::Range;

use crate::subjects::Masks;

/// A part of a subject that is searched separately: all of it, or the range between two hard masks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    /// The subject.
    pub oid: u32,
    /// Residues of the whole subject.
    pub subject_len: usize,
    /// Start of the part in the subject.
    pub start: u32,
    /// The residues in which words are searched.
    pub residues: &'a [u8],
    /// Extensions to the right end here at the latest.
    pub reach: usize,
    /// Soft masks.
    masks: &'a [Range<u32>],
}

impl<'a> Part<'a> {
    /// Creates the part for a whole subject.
    fn whole(oid: u32, residues: &'a [u8], masks: &'a [Range<u32>]) -> Part<'a> {
        let len = residues.len();
        Part { oid, subject_len: len, start: 0, residues, reach: len, masks }
    }

    /// Whether the word at `start` is looked up, in one-hit or two-hit mode.
    ///
    /// No soft mask may touch it. There is an exception if the residues before the first mask are
    /// too few for a word. Then BLAST+ looks up the word at the start all the same, or, in one-hit
    /// mode, no word of the whole subject (`s_BlastAaWordFinder_TwoHit` and `_OneHit`,
    /// `aa_ungapped.c`).
    #[inline]
    pub fn allows(&self, start: usize, word_size: usize, one_hit: bool) -> bool {
        let Some(first) = self.masks.first() else { return true };
        if (first.start as usize) < word_size && (start == 0 || one_hit) {
            return !one_hit;
        }
        let (start, end) = (start as u32, (start + word_size) as u32);
        self.masks.iter().all(|mask| mask.end <= start || end <= mask.start)
    }
}

/// Subjects that are scanned together.
#[derive(Debug, Default)]
pub(super) struct SubjectBlock<'a> {
    /// Their parts, in order.
    pub parts: Vec<Part<'a>>,
    /// The residues of each part.
    pub residues: Vec<&'a [u8]>,
    /// Number of residues of all parts.
    pub size: usize,
}

impl<'a> SubjectBlock<'a> {
    /// Adds a subject. Parts that are too short for a word are dropped.
    pub fn push(&mut self, oid: u32, residues: &'a [u8], masks: Masks<'a>, word_size: usize) {
        let stretches = match masks {
            Masks::Soft(stretches) => return self.add(Part::whole(oid, residues, stretches)),
            Masks::None | Masks::Hard([]) => return self.add(Part::whole(oid, residues, &[])),
            Masks::Hard(stretches) => stretches,
        };
        let len = residues.len();
        if stretches[0].end as usize >= len {
            // If a subject has no second part, BLAST+ ignores its masks when it searches words, but
            // not when it extends them to the right.
            let reach = len.min(stretches[0].start as usize);
            return self.add(Part { reach, ..Part::whole(oid, residues, &[]) });
        }
        let starts = stretches.iter().map(|stretch| stretch.end as usize);
        let ends = stretches.iter().map(|stretch| stretch.start as usize);
        for (start, end) in [0].into_iter().chain(starts).zip(ends.chain([len])) {
            let end = end.min(len);
            if end.saturating_sub(start) >= word_size {
                let part = Part::whole(oid, &residues[start..end], &[]);
                self.add(Part { subject_len: len, start: start as u32, ..part });
            }
        }
    }

    /// Removes all subjects.
    pub fn clear(&mut self) {
        self.parts.clear();
        self.residues.clear();
        self.size = 0;
    }

    fn add(&mut self, part: Part<'a>) {
        self.size += part.residues.len();
        self.residues.push(part.residues);
        self.parts.push(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The starts of the words that are looked up in 12 residues.
    fn allowed(masks: &[Range<u32>], word_size: usize, one_hit: bool) -> Vec<usize> {
        let subject = Part::whole(0, &[0; 12], masks);
        (0..=12 - word_size).filter(|&start| subject.allows(start, word_size, one_hit)).collect()
    }

    #[test]
    fn words_do_not_touch_masks() {
        assert_eq!(allowed(&[], 3, false), (0..10).collect::<Vec<_>>());
        for one_hit in [false, true] {
            assert_eq!(allowed(&[4..6, 9..10], 3, one_hit), [0, 1, 6]);
            assert_eq!(allowed(&[5..5, 9..10], 3, one_hit), [0, 1, 2, 5, 6]);
        }
    }

    #[test]
    fn a_mask_near_the_start_spares_the_first_word_or_hides_all() {
        for start in 0..3 {
            assert_eq!(allowed(&[start..5, 7..9], 3, false), [0, 9]);
            assert!(allowed(&[start..5, 7..9], 3, true).is_empty());
        }
    }

    /// Start, end and reach of each part of 20 residues, in positions of the subject.
    fn parts(masks: &[Range<u32>]) -> Vec<(usize, usize, usize)> {
        let residues = [1; 20];
        let mut block = SubjectBlock::default();
        block.push(7, &residues, Masks::Hard(masks), 3);
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
