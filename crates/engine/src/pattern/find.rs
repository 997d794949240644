//! Finds the occurrences of a pattern (`FindPatternHits`, pattern.c).

use serde::{Deserialize, Serialize};
use std::ops::Range;

use super::{ANY, MAX_POSITIONS, Place};

/// Maximum number of positions in a word of a very long pattern (`PHI_BITS_PACKED_PER_WORD`).
const WORD: usize = 30;
/// Maximum number of occurrences in a sequence (`PHI_MAX_HIT`; each occurrence uses two entries).
const MAX_OCCURRENCES: usize = 10_000;
/// Number of 64-bit words that hold a bit for each position.
const LANES: usize = MAX_POSITIONS.div_ceil(64);

type Bits = [u64; LANES];

/// A method that finds the occurrences of a pattern.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Finder {
    /// Search for all fixed-length patterns that the pattern stands for.
    Variants(Variants),
    /// Search for words with wildcards between them, if there are too many fixed-length patterns.
    Words(Words),
}

impl Finder {
    /// Creates a finder for a pattern whose ends are fixed. Returns `None` for a pattern that is
    /// too long and has neighbouring wildcards of variable length.
    pub fn new(places: &[Place]) -> Option<Finder> {
        if let Some(variants) = expand(places) {
            return Some(Finder::Variants(Variants::new(variants)));
        }
        Words::new(places).map(Finder::Words)
    }

    /// Finds the occurrences of the pattern.
    pub fn find(&self, letters: &[u8]) -> Vec<Range<u32>> {
        match self {
            Finder::Variants(variants) => variants.find(letters),
            Finder::Words(words) => words.find(letters),
        }
    }
}

/// Expands a pattern to patterns of fixed length, in the order of BLAST+: the first variable
/// wildcard stands for one letter, then for none, then for more and more. Returns `None` if the
/// patterns have too many positions (`s_ExpandPattern`, phi_lookup.c).
fn expand(places: &[Place]) -> Option<Vec<Vec<u32>>> {
    let (mut done, mut open, mut total) = (Vec::new(), vec![places.to_vec()], 0);
    while let Some(pattern) = open.pop() {
        let variable = pattern.iter().enumerate().find_map(|(at, place)| match place {
            Place::Some(most) => Some((at, *most)),
            Place::Letter(_) => None,
        });
        let Some((at, most)) = variable else {
            total += pattern.len();
            if total >= MAX_POSITIONS && !(done.is_empty() && open.is_empty()) {
                return None;
            }
            done.push(pattern.iter().map(|place| place.set()).collect());
            continue;
        };
        // A lower limit of the number of positions of all patterns.
        if total + open.len() + most > MAX_POSITIONS {
            return None;
        }
        let with = |count: usize| {
            let wild = std::iter::repeat_n(Place::Letter(ANY), count);
            pattern[..at].iter().copied().chain(wild).chain(pattern[at + 1..].iter().copied())
        };
        let counts = [1, 0].into_iter().chain(2..=most).rev().filter(|&count| count <= most.max(1));
        open.extend(counts.map(|count| with(count).collect::<Vec<Place>>()));
    }
    Some(done)
}

impl Place {
    /// Returns the set of letters that match this position, as bits. It is empty for a wildcard of
    /// variable length.
    pub fn set(self) -> u32 {
        match self {
            Place::Letter(set) => set,
            Place::Some(_) => 0,
        }
    }
}

/// Patterns of fixed length, searched in parallel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Variants {
    patterns: Vec<Vec<u32>>,
    /// Bit of the first position of each pattern. `last` has the bits of their last positions.
    first: Bits,
    last: Bits,
    /// For each letter code, the bits of the positions that it matches.
    of_letter: Vec<Bits>,
    /// Number of 64-bit words in use.
    lanes: usize,
}

impl Variants {
    fn new(patterns: Vec<Vec<u32>>) -> Self {
        let [mut first, mut last] = [[0; LANES]; 2];
        let mut of_letter = vec![[0; LANES]; 32];
        let mut bit = 0;
        for pattern in patterns.iter().filter(|pattern| !pattern.is_empty()) {
            first[bit / 64] |= 1 << (bit % 64);
            for set in pattern {
                for (letter, bits) in of_letter.iter_mut().enumerate() {
                    bits[bit / 64] |= u64::from(set >> letter & 1) << (bit % 64);
                }
                bit += 1;
            }
            last[(bit - 1) / 64] |= 1 << ((bit - 1) % 64);
        }
        Variants { patterns, first, last, of_letter, lanes: bit.div_ceil(64) }
    }

    fn find(&self, letters: &[u8]) -> Vec<Range<u32>> {
        let mut found = Vec::new();
        let mut state: Bits = [0; LANES];
        for (end, &letter) in (1..).zip(letters) {
            let takes = &self.of_letter[usize::from(letter & 31)];
            let (mut carry, mut ends) = (0, 0);
            for lane in 0..self.lanes {
                let before = state[lane];
                state[lane] = (before << 1 | carry | self.first[lane]) & takes[lane];
                carry = before >> 63;
                ends |= state[lane] & self.last[lane];
            }
            if ends != 0
                && let Some(length) = self.first_ending(&state)
            {
                found.push(end - length..end);
                if found.len() == MAX_OCCURRENCES {
                    break;
                }
            }
        }
        found
    }

    /// Returns the length of the first pattern whose last position is in `state`, the positions
    /// that match up to the current letter.
    fn first_ending(&self, state: &Bits) -> Option<u32> {
        let mut bit = 0;
        self.patterns.iter().find_map(|pattern| {
            bit += pattern.len();
            let last = bit.checked_sub(1)?;
            (state[last / 64] >> (last % 64) & 1 != 0).then_some(pattern.len() as u32)
        })
    }

    /// Returns the first pattern that matches the letters of an occurrence.
    pub fn matching(&self, letters: &[u8]) -> Option<&[u32]> {
        self.patterns.iter().map(Vec::as_slice).find(|pattern| matches_sets(pattern, letters))
    }
}

/// Returns whether each letter is in the corresponding set.
fn matches_sets(sets: &[u32], letters: &[u8]) -> bool {
    sets.len() == letters.len()
        && sets.iter().zip(letters).all(|(set, &letter)| set >> (letter & 31) & 1 != 0)
}

/// A pattern too long to be expanded to patterns of fixed length.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Words {
    /// Words, each with the maximum number of letters between it and the next word.
    pub words: Vec<(Vec<u32>, usize)>,
    /// Index of the least probable word, which is searched first.
    rarest: usize,
}

impl Words {
    fn new(places: &[Place]) -> Option<Self> {
        let mut words: Vec<(Vec<u32>, usize)> = vec![(Vec::new(), 0)];
        for place in places {
            let last = words.last_mut()?;
            match *place {
                Place::Letter(set) if last.0.len() == WORD => words.push((vec![set], 0)),
                Place::Letter(set) => last.0.push(set),
                Place::Some(_) if last.0.is_empty() => return None,
                Place::Some(most) => {
                    last.1 = most;
                    words.push((Vec::new(), 0));
                }
            }
        }
        let probability = |(sets, _): &(Vec<u32>, usize)| {
            sets.iter().fold(1.0, |product, set| {
                product * f64::from((set & ANY).count_ones()) / f64::from(ANY.count_ones())
            })
        };
        let (mut rarest, mut least) = (0, 1.0);
        for (number, word) in words.iter().enumerate() {
            if probability(word) < least {
                (rarest, least) = (number, probability(word));
            }
        }
        Some(Words { words, rarest })
    }

    /// Returns the start positions of a word within a range.
    fn starts(&self, word: usize, letters: &[u8], within: Range<usize>) -> Vec<usize> {
        let sets = &self.words[word].0;
        let within = within.start.min(letters.len())..within.end.min(letters.len());
        let Some(part) = letters.get(within.clone()) else { return Vec::new() };
        let windows = part.windows(sets.len()).enumerate();
        windows
            .filter(|(_, window)| matches_sets(sets, window))
            .map(|(at, _)| within.start + at)
            .collect()
    }

    fn find(&self, letters: &[u8]) -> Vec<Range<u32>> {
        let length = |word: usize| self.words[word].0.len();
        let starts = self.starts(self.rarest, letters, 0..letters.len());
        let mut found: Vec<Range<usize>> =
            starts.into_iter().map(|start| start..start + length(self.rarest)).collect();
        for word in self.rarest + 1..self.words.len() {
            let reach = self.words[word - 1].1 + length(word);
            let on = found.iter().flat_map(|place| {
                let starts = self.starts(word, letters, place.end..place.end + reach);
                starts.into_iter().map(|start| place.start..start + length(word))
            });
            found = on.take(MAX_OCCURRENCES).collect();
        }
        for word in (0..self.rarest).rev() {
            let reach = self.words[word].1 + length(word);
            let back = found.iter().flat_map(|place| {
                let from = place.start.saturating_sub(reach);
                let starts = self.starts(word, letters, from..place.start);
                starts.into_iter().map(|start| start..place.end)
            });
            found = back.take(MAX_OCCURRENCES).collect();
        }
        found
            .into_iter()
            .take(MAX_OCCURRENCES)
            .map(|place| place.start as u32..place.end as u32)
            .collect()
    }

    /// Returns the ends of the words in an occurrence. Of several ways to place the words so that
    /// they fill the occurrence, the first one counts.
    pub fn ends(&self, letters: &[u8]) -> Option<Vec<usize>> {
        let mut ends = vec![self.words[0].0.len()];
        self.fill(letters, &mut ends).then_some(ends)
    }

    fn fill(&self, letters: &[u8], ends: &mut Vec<usize>) -> bool {
        let (word, at) = (ends.len(), ends[ends.len() - 1]);
        if word == self.words.len() {
            return at == letters.len();
        }
        let length = self.words[word].0.len();
        let reach = self.words[word - 1].1 + length;
        self.starts(word, letters, at..at + reach).into_iter().any(|start| {
            ends.push(start + length);
            let filled = self.fill(letters, ends);
            if !filled {
                ends.pop();
            }
            filled
        })
    }
}
