//! DUST: masks low-complexity ranges of nucleotides, by the symmetric algorithm of Morgulis et al.
//! (2006) as in BLAST+ (`symdust.cpp`).
//!
//! A low-complexity range repeats the same triplets of bases. A range of n + 1 triplets scores r /
//! n, where r is the number of pairs of equal triplets. DUST masks a range if it is *perfect*: 10 r
//! exceeds level · n, and no range inside it scores more.
//!
//! A window slides over the triplets. Its *suffix* is the longest range at its end in which no
//! triplet occurs more than level / 5 times. No range in the suffix can be perfect. So DUST
//! examines only ranges that extend beyond the suffix, and only if the whole window scores enough.

use serde::{Deserialize, Serialize};
use std::ops::Range;

use crate::nucleotide::blastna;
use crate::nucleotide::random::Random;

/// Parameters of DUST.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DustParams {
    /// Ten times the score above which a range is masked. Values other than 2 to 64 mean 20.
    pub level: u32,
    /// Number of bases of the window, the maximal length of a perfect range. Values other than 8 to
    /// 64 mean 64.
    pub window: u32,
    /// Maximal distance in bases of masked intervals that are joined. Values other than 1 to 32
    /// mean 1.
    pub linker: u32,
}

impl Default for DustParams {
    fn default() -> Self {
        Self { level: 20, window: 64, linker: 1 }
    }
}

impl DustParams {
    /// Replaces values that are out of range as BLAST+ does.
    fn checked(self) -> Self {
        let or = |value, range: Range<u32>, default| {
            if range.contains(&value) { value } else { default }
        };
        let default = Self::default();
        Self {
            level: or(self.level, 2..65, default.level),
            window: or(self.window, 8..65, default.window),
            linker: or(self.linker, 1..33, default.linker),
        }
    }
}

/// Finds the low-complexity ranges of blastna codes. The ranges are ascending, half-open and do not
/// overlap.
///
/// Each time that the window reads an `N`, a random base replaces it, even if the same `N` is read
/// again. Other ambiguous codes count as `A`.
///
/// ```
/// use fleetblast_seq::dust::{DustParams, mask};
/// assert_eq!(mask(&[0; 30], &DustParams::default()), [0..30]);
/// assert_eq!(mask(&[0, 1, 2, 3, 3, 2, 1, 0], &DustParams::default()), []);
/// ```
pub fn mask(letters: &[u8], params: &DustParams) -> Vec<Range<u32>> {
    PartMasker::new(params).mask(letters)
}

/// Masker of consecutive parts of one sequence by DUST. The random numbers for `N` continue from
/// part to part.
#[derive(Debug)]
pub struct PartMasker {
    params: DustParams,
    random: Random,
}

impl PartMasker {
    /// Creates a masker for the parts of a sequence. Its random numbers start with the first one of
    /// the generator.
    pub fn new(params: &DustParams) -> Self {
        Self { params: params.checked(), random: Random::default() }
    }

    /// Finds the low-complexity ranges of a part, as [`mask`] does. Random numbers continue after
    /// those of the part before.
    pub fn mask(&mut self, letters: &[u8]) -> Vec<Range<u32>> {
        let mut bases = Bases { letters, random: &mut self.random };
        let mut masked = MaskedIntervals { intervals: Vec::new(), linker: self.params.linker };
        let mut from = 0;
        // A pass stops at the end of the sequence, and after a long run of one triplet. A new,
        // empty window then reads the bases of the old window again.
        while letters.len() > from as usize + 3 {
            let mut window = Window::new(&self.params);
            window.pass(&mut bases, from, &mut masked);
            if window.start == 0 {
                break;
            }
            from += window.start;
        }
        masked.intervals
    }
}

/// The bases of a sequence, with random ones for each `N`.
struct Bases<'a> {
    letters: &'a [u8],
    random: &'a mut Random,
}

impl Bases<'_> {
    /// Returns the two-bit code of the base at this position; `None` beyond the end.
    #[inline]
    fn read(&mut self, at: u32) -> Option<u8> {
        Some(match *self.letters.get(at as usize)? {
            base @ 0..blastna::BASES => base,
            blastna::N => (self.random.draw() & 3) as u8,
            _ => 0,
        })
    }
}

/// Masked intervals found so far.
struct MaskedIntervals {
    intervals: Vec<Range<u32>>,
    linker: u32,
}

impl MaskedIntervals {
    fn add(&mut self, interval: Range<u32>) {
        match self.intervals.last_mut() {
            Some(last) if last.end - 1 + self.linker >= interval.start => {
                last.end = last.end.max(interval.end);
            }
            _ => self.intervals.push(interval),
        }
    }
}

/// Number of occurrences of each triplet in a range.
#[derive(Clone)]
struct Counts {
    of: [u8; TRIPLETS],
    /// Number of pairs of equal triplets.
    score: u32,
}

const TRIPLETS: usize = 64;

impl Counts {
    const NONE: Self = Self { of: [0; TRIPLETS], score: 0 };

    /// Adds a triplet. Returns the number of times that the triplet occurred before.
    #[inline]
    fn add(&mut self, triplet: u8) -> u8 {
        let count = &mut self.of[usize::from(triplet) % TRIPLETS];
        let before = *count;
        self.score += u32::from(before);
        *count += 1;
        before
    }

    /// Removes a triplet. Returns the number of times that the triplet still occurs.
    #[inline]
    fn remove(&mut self, triplet: u8) -> u8 {
        let count = &mut self.of[usize::from(triplet) % TRIPLETS];
        *count -= 1;
        self.score -= u32::from(*count);
        *count
    }
}

/// A perfect range.
struct Perfect {
    /// Positions of its bases, counted from the start of the pass.
    bases: Range<u32>,
    score: u32,
    /// Number of triplets minus one.
    length: u32,
}

/// A window over the triplets `start` to `stop`, which count from the start of the pass.
struct Window {
    start: u32,
    stop: u32,
    /// Number of the first triplet of the suffix.
    suffix: u32,
    /// The triplets of the window, each at its number modulo 64.
    triplets: [u8; TRIPLETS],
    counts: Counts,
    suffix_counts: Counts,
    /// Number of different triplets in the window.
    kinds: u32,
    /// Perfect ranges that start in the window, in descending order of their starts.
    perfect: Vec<Perfect>,
    /// Maximal number of triplets in the window.
    most: u32,
    level: u32,
}

impl Window {
    fn new(params: &DustParams) -> Self {
        Self {
            start: 0,
            stop: 0,
            suffix: 0,
            triplets: [0; TRIPLETS],
            counts: Counts::NONE,
            suffix_counts: Counts::NONE,
            kinds: 0,
            perfect: Vec::new(),
            most: params.window - 2,
            level: params.level,
        }
    }

    /// Slides the window from base `from` to the end of the sequence, or to the end of a long run
    /// of one triplet.
    fn pass(&mut self, bases: &mut Bases, from: u32, masked: &mut MaskedIntervals) {
        let mut triplet = 0;
        let mut at = from;
        while let Some(base) = bases.read(at) {
            triplet = (triplet << 2 | base) % TRIPLETS as u8;
            at += 1;
            if at < from + 3 {
                continue;
            }
            self.emit(self.start, from, masked);
            if self.is_full() && self.kinds == 1 {
                self.slide(triplet);
                if self.kinds > 1 {
                    break;
                }
                self.add_whole();
                continue;
            }
            self.shift(triplet);
            if self.is_full() && self.kinds == 1 {
                self.perfect.clear();
                self.add_whole();
            } else if self.may_be_perfect() {
                self.find_perfect();
            }
        }
        let mut start = self.start;
        while !self.perfect.is_empty() {
            self.emit(start, from, masked);
            start += 1;
        }
    }

    fn is_full(&self) -> bool {
        self.stop - self.start == self.most
    }

    #[inline]
    fn triplet(&self, number: u32) -> u8 {
        self.triplets[number as usize % TRIPLETS]
    }

    /// Masks the longest of the perfect ranges that start before `start`. Removes these ranges.
    #[inline]
    fn emit(&mut self, start: u32, from: u32, masked: &mut MaskedIntervals) {
        let Some(first) = self.perfect.last().filter(|last| last.bases.start < start) else {
            return;
        };
        masked.add(first.bases.start + from..first.bases.end + from);
        while self.perfect.last().is_some_and(|last| last.bases.start < start) {
            self.perfect.pop();
        }
    }

    /// Adds the range of the whole window at the end of `perfect`.
    fn add_whole(&mut self) {
        let bases = self.start..self.stop + 2;
        self.perfect.insert(0, Perfect { bases, score: 0, length: 0 });
    }

    /// Adds a triplet to the window. Removes the first one if the window is full.
    #[inline]
    fn slide(&mut self, triplet: u8) {
        if self.is_full() {
            let out = self.triplet(self.start);
            self.kinds -= u32::from(self.counts.remove(out) == 0);
            self.start += 1;
        }
        self.kinds += u32::from(self.counts.add(triplet) == 0);
        self.triplets[self.stop as usize % TRIPLETS] = triplet;
        self.stop += 1;
    }

    /// Adds a triplet to the window, and updates the suffix.
    #[inline]
    fn shift(&mut self, triplet: u8) {
        if self.is_full() && self.suffix == self.start {
            self.suffix_counts.remove(self.triplet(self.start));
            self.suffix += 1;
        }
        self.slide(triplet);
        let before = self.suffix_counts.add(triplet);
        if u32::from(before) >= self.level / 5 {
            loop {
                let out = self.triplet(self.suffix);
                self.suffix_counts.remove(out);
                self.suffix += 1;
                if out == triplet {
                    break;
                }
            }
        }
    }

    /// Returns whether this score is enough to mask a range of `length` + 1 triplets.
    #[inline]
    fn suffices(&self, score: u32, length: u32) -> bool {
        10 * score > if length == 0 { 1 } else { self.level * length }
    }

    /// Returns whether a range at the end of the window can be perfect.
    #[inline]
    fn may_be_perfect(&self) -> bool {
        self.suffix > self.start && self.suffices(self.counts.score, self.stop - self.suffix)
    }

    /// Adds the perfect ranges at the end of the window to `perfect`.
    fn find_perfect(&mut self) {
        let mut counts = self.suffix_counts.clone();
        let mut place = 0;
        // Score and length of the best perfect range inside the range that is examined.
        let mut best = (0, 0);
        for first in (self.start..self.suffix).rev() {
            let length = self.stop - 1 - first;
            if counts.add(self.triplet(first)) == 0 || !self.suffices(counts.score, length) {
                continue;
            }
            while let Some(known) = self.perfect.get(place) {
                if known.bases.start < first {
                    break;
                }
                if best.0 == 0 || best.1 * known.score > best.0 * known.length {
                    best = (known.score, known.length);
                }
                place += 1;
            }
            if best.0 == 0 || counts.score * best.1 >= best.0 * length {
                best = (counts.score, length);
                let bases = first..self.stop + 2;
                self.perfect.insert(place, Perfect { bases, score: counts.score, length });
            }
        }
    }
}

#[cfg(test)]
mod tests;
