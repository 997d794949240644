//! The part of a subject that one alignment by dynamic programming may read, in both directions.

use std::ops::Range;

use fleetblast_seq::nucleotide::blastna;

use crate::ranges::RangeSet;
use crate::xdrop::frames::MARGIN;

/// A window on the letters of a subject, forwards and backwards. Letters are copied when a window
/// first reaches them: a subject has many alignments, and their windows are as long as the query.
#[derive(Debug, Default)]
pub(super) struct SubjectWindow {
    forward: Strip,
    backward: Strip,
    /// Number of letters of the subject.
    length: usize,
    copied: RangeSet,
    /// Range of the present window in the subject; `None` before the first one.
    range: Option<Range<usize>>,
}

impl SubjectWindow {
    /// Prepares for another subject, of `length` letters.
    pub fn start(&mut self, length: usize) {
        self.length = length;
        self.copied.clear();
        self.range = None;
        for strip in [&mut self.forward, &mut self.backward] {
            strip.start(length);
        }
    }

    /// Moves the window to a part of the subject.
    ///
    /// # Panics
    /// If the subject's length differs from that given to [`SubjectWindow::start`], or the part
    /// lies outside of it.
    pub fn load(&mut self, subject: &[u8], range: Range<u32>) {
        assert_eq!(subject.len(), self.length, "another subject");
        let range = range.start as usize..range.end as usize;
        if self.range.as_ref() == Some(&range) {
            return;
        }
        let SubjectWindow { forward, backward, length, copied, .. } = self;
        let mirrored = |part: &Range<usize>| *length - part.end..*length - part.start;
        forward.lift_fences();
        backward.lift_fences();
        copied.add(range.clone(), |part| {
            let letters = &subject[part.clone()];
            backward.place(mirrored(&part), letters).reverse();
            forward.place(part, letters);
        });
        forward.fence(range.clone());
        backward.fence(mirrored(&range));
        self.range = Some(range);
    }

    /// Returns the number of letters in the window.
    pub fn length(&self) -> usize {
        self.range.as_ref().map_or(0, Range::len)
    }

    /// Returns the letters in the window, with [`MARGIN`] sentinels before and after them.
    pub fn forward(&self) -> &[u8] {
        self.forward.fenced()
    }

    /// Returns the same letters and sentinels in reverse order.
    pub fn backward(&self) -> &[u8] {
        self.backward.fenced()
    }
}

/// Letters, in which a part is fenced: sentinels replace the [`MARGIN`] letters on both sides of
/// the part.
#[derive(Debug, Default)]
struct Strip {
    /// The letters, with room for the fences of a part at either end.
    letters: Vec<u8>,
    fenced: Option<FencedLetters>,
}

#[derive(Debug)]
struct FencedLetters {
    part: Range<usize>,
    /// The letters that the fences replace.
    hidden: [[u8; MARGIN]; 2],
}

impl Strip {
    /// Prepares for the `length` letters of another subject.
    fn start(&mut self, length: usize) {
        self.fenced = None;
        let needed = length + 2 * MARGIN;
        if self.letters.len() < needed {
            // Allocate anew: zeroed memory costs nothing before it is used.
            self.letters = vec![0; needed.next_power_of_two()];
        }
    }

    /// Stores the letters of a part. Returns the slice in which they are stored.
    fn place(&mut self, part: Range<usize>, letters: &[u8]) -> &mut [u8] {
        let place = &mut self.letters[part.start + MARGIN..part.end + MARGIN];
        place.copy_from_slice(letters);
        place
    }

    /// Returns the ranges of both fences of a part.
    fn fences(part: &Range<usize>) -> [Range<usize>; 2] {
        [part.start, part.end + MARGIN].map(|start| start..start + MARGIN)
    }

    fn fence(&mut self, part: Range<usize>) {
        let mut hidden = [[0; MARGIN]; 2];
        for (place, hidden) in Strip::fences(&part).into_iter().zip(&mut hidden) {
            hidden.copy_from_slice(&self.letters[place.clone()]);
            self.letters[place].fill(blastna::SENTINEL);
        }
        self.fenced = Some(FencedLetters { part, hidden });
    }

    fn lift_fences(&mut self) {
        let Some(FencedLetters { part, hidden }) = self.fenced.take() else { return };
        for (place, hidden) in Strip::fences(&part).into_iter().zip(&hidden) {
            self.letters[place].copy_from_slice(hidden);
        }
    }

    /// Returns the fenced part with the sentinels on both sides; empty if no part is fenced.
    fn fenced(&self) -> &[u8] {
        let part = self.fenced.as_ref().map(|fenced| &fenced.part);
        part.map_or(&[], |part| &self.letters[part.start..part.end + 2 * MARGIN])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::RandomSequences;
    use fastrand::Rng;

    #[test]
    fn windows_hold_their_letters_between_sentinels_whatever_came_before() {
        let mut random = Rng::with_seed(31);
        let mut window = SubjectWindow::default();
        for length in [700, 3, 2000, 1, 0, 900] {
            let subject = random.bases(length);
            window.start(length);
            for _ in 0..60 {
                let start = random.usize(..=length);
                let end = start + random.usize(..=length - start);
                window.load(&subject, start as u32..end as u32);
                assert_eq!(window.length(), end - start);
                let fence = [blastna::SENTINEL; MARGIN];
                let mut expected = [&fence, &subject[start..end], &fence].concat();
                assert_eq!(window.forward(), expected, "{start}..{end} of {length}");
                expected.reverse();
                assert_eq!(window.backward(), expected, "{start}..{end} of {length}");
            }
        }
    }

    #[test]
    fn each_letter_is_copied_once() {
        let subject = Rng::with_seed(5).bases(5000);
        let mut window = SubjectWindow::default();
        window.start(subject.len());
        window.load(&subject, 100..4000);
        // Letters that were copied are not read again.
        let other = vec![14; subject.len()];
        window.load(&other, 90..4010);
        let letters = &window.forward()[MARGIN..MARGIN + window.length()];
        let fresh = letters.iter().filter(|&&letter| letter == 14).count();
        assert_eq!((fresh, &letters[10..3910]), (20, &subject[100..4000]));
    }
}
