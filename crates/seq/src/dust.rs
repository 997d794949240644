//! DUST: masks stretches of low complexity in nucleotides, by the symmetric algorithm of Morgulis et al. (2006) as BLAST+ has
//! it (`symdust.cpp`).
//!
//! Low complexity is the same triplets of bases again and again. A stretch of n + 1 triplets scores r / n, where r counts the
//! pairs of equal ones among them. It is masked if it is *perfect*: 10 r > level · n, and nothing inside scores more.
//!
//! A window slides over the triplets. Its *suffix* is what of its end holds no triplet more than level / 5 times, so that
//! nothing in it can be perfect; only stretches that reach beyond it are looked at, and only where the whole window scores
//! enough.

use std::ops::Range;

use crate::nucleotide::blastna;
use crate::nucleotide::random::Random;

/// Parameters of DUST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DustParams {
    /// Ten times the score above which a stretch is masked. What is not in 2 to 64 stands for 20.
    pub level: u32,
    /// Bases of the window, at most as long as a perfect stretch. What is not in 8 to 64 stands for 64.
    pub window: u32,
    /// Masked intervals so far from each other become one. What is not in 1 to 32 stands for 1.
    pub linker: u32,
}

impl Default for DustParams {
    fn default() -> Self {
        Self { level: 20, window: 64, linker: 1 }
    }
}

impl DustParams {
    /// The parameters as BLAST+ takes them for given.
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

/// The low-complexity stretches of blastna codes: ascending, half-open, apart.
///
/// For each `N` that is read a base is drawn, also where the window's last place is read again; other ambiguous codes count as
/// `A`.
///
/// ```
/// use fleetblast_seq::dust::{DustParams, mask};
/// assert_eq!(mask(&[0; 30], &DustParams::default()), [0..30]);
/// assert_eq!(mask(&[0, 1, 2, 3, 3, 2, 1, 0], &DustParams::default()), []);
/// ```
pub fn mask(letters: &[u8], params: &DustParams) -> Vec<Range<u32>> {
    let params = params.checked();
    let mut bases = Bases { letters, random: Random::default() };
    let mut masked = Masked { intervals: Vec::new(), linker: params.linker };
    let mut from = 0;
    // The window stands still at the end of a sequence, and after the same base many times; what it then holds is read again,
    // by a window that starts with nothing.
    while letters.len() > from as usize + 3 {
        let mut window = Window::new(&params);
        window.pass(&mut bases, from, &mut masked);
        if window.start == 0 {
            break;
        }
        from += window.start;
    }
    masked.intervals
}

/// The bases of a sequence.
struct Bases<'a> {
    letters: &'a [u8],
    random: Random,
}

impl Bases<'_> {
    /// The two bits of a base; `None` beyond the end.
    #[inline]
    fn read(&mut self, at: u32) -> Option<u8> {
        Some(match *self.letters.get(at as usize)? {
            base @ 0..blastna::BASES => base,
            blastna::N => (self.random.draw() & 3) as u8,
            _ => 0,
        })
    }
}

/// The masked intervals found so far.
struct Masked {
    intervals: Vec<Range<u32>>,
    linker: u32,
}

impl Masked {
    fn add(&mut self, interval: Range<u32>) {
        match self.intervals.last_mut() {
            Some(last) if last.end - 1 + self.linker >= interval.start => {
                last.end = last.end.max(interval.end);
            }
            _ => self.intervals.push(interval),
        }
    }
}

/// How often each triplet occurs somewhere.
#[derive(Clone)]
struct Counts {
    of: [u8; TRIPLETS],
    /// Pairs of equal triplets.
    score: u32,
}

const TRIPLETS: usize = 64;

impl Counts {
    const NONE: Self = Self { of: [0; TRIPLETS], score: 0 };

    /// Adds a triplet; how many of its kind there were.
    #[inline]
    fn add(&mut self, triplet: u8) -> u8 {
        let count = &mut self.of[usize::from(triplet) % TRIPLETS];
        let before = *count;
        self.score += u32::from(before);
        *count += 1;
        before
    }

    /// Takes a triplet away; how many of its kind are left.
    #[inline]
    fn remove(&mut self, triplet: u8) -> u8 {
        let count = &mut self.of[usize::from(triplet) % TRIPLETS];
        *count -= 1;
        self.score -= u32::from(*count);
        *count
    }
}

/// A perfect stretch.
struct Perfect {
    /// Its bases, counted from the start of the pass.
    bases: Range<u32>,
    score: u32,
    /// One less than it has triplets.
    length: u32,
}

/// Triplets `start` to `stop`, counted from the start of the pass.
struct Window {
    start: u32,
    stop: u32,
    /// The first triplet of the suffix.
    suffix: u32,
    /// The triplets, each at its number modulo 64.
    triplets: [u8; TRIPLETS],
    counts: Counts,
    suffix_counts: Counts,
    /// How many different triplets there are.
    kinds: u32,
    /// Perfect stretches that start in the window, those that start last first.
    perfect: Vec<Perfect>,
    /// Most triplets.
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

    /// Slides over a sequence from a base on, to its end or that of a stretch of one triplet only.
    fn pass(&mut self, bases: &mut Bases, from: u32, masked: &mut Masked) {
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

    /// Masks the longest of the perfect stretches that start before `start`, and forgets them.
    #[inline]
    fn emit(&mut self, start: u32, from: u32, masked: &mut Masked) {
        let Some(first) = self.perfect.last().filter(|last| last.bases.start < start) else {
            return;
        };
        masked.add(first.bases.start + from..first.bases.end + from);
        while self.perfect.last().is_some_and(|last| last.bases.start < start) {
            self.perfect.pop();
        }
    }

    /// The whole window becomes the last of the perfect stretches.
    fn add_whole(&mut self) {
        let bases = self.start..self.stop + 2;
        self.perfect.insert(0, Perfect { bases, score: 0, length: 0 });
    }

    /// Takes a triplet in, and the first one out if the window is full.
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

    /// The same with the suffix.
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

    /// Whether a score is enough for one more than so many triplets.
    #[inline]
    fn suffices(&self, score: u32, length: u32) -> bool {
        10 * score > if length == 0 { 1 } else { self.level * length }
    }

    /// Whether any stretch at the window's end may be perfect.
    #[inline]
    fn may_be_perfect(&self) -> bool {
        self.suffix > self.start && self.suffices(self.counts.score, self.stop - self.suffix)
    }

    /// Finds the perfect stretches at the window's end.
    fn find_perfect(&mut self) {
        let mut counts = self.suffix_counts.clone();
        let mut place = 0;
        // Score and length of the best perfect stretch inside of what is looked at.
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
