//! Completes indexed words to seeds of the whole word size, outside of masks.

use std::ops::Range;

use fleetblast_seq::nucleotide::Packed;
use fleetblast_seq::nucleotide::blastna::{BASES, SENTINEL};

use super::SeedRules;
use super::bases::{Bits, window};
use super::choice::TableKind;
use super::contexts::Contexts;

/// Returns the start positions of all indexed words. These are the words of `span` letters without
/// ambiguity codes, in regions of at least `word_size` letters.
pub(super) fn indexed_positions(
    contexts: &Contexts,
    regions: &[Range<u32>],
    word_size: u32,
    span: u32,
) -> Bits {
    let mut places = Bits::new(contexts.letters().len());
    for region in regions {
        let end = region.end.min(contexts.length());
        if end.saturating_sub(region.start) < word_size {
            continue;
        }
        let mut run = 0;
        for at in region.start..end {
            run = if contexts.letters()[at as usize] < BASES { run + 1 } else { 0 };
            if run >= span {
                places.set((at + 1 - span) as usize);
            }
        }
    }
    places
}

/// The indexed words of the queries, by which matches are completed to seeds and checked.
#[derive(Debug)]
pub(super) struct Words {
    /// Number of bases from the start of a seed to its end.
    pub length: u32,
    /// Number of bases of an indexed word.
    pub span: u32,
    /// Number of bases by which a seed is longer than the indexed word.
    pub extra: u32,
    /// The queries at two bits a letter.
    pub query: Vec<u8>,
    /// Start positions of indexed words.
    indexed: Bits,
    /// Whether only the lower two bits of a letter are compared, as in BLAST+'s small table.
    two_bits: bool,
    /// Whether all bases of a seed must lie in indexed words.
    checks: bool,
}

/// Result of the check of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CheckedSeed {
    /// Number of bases by which the start of the seed moves to the right.
    pub shift: u32,
    /// Number of bases by which the known match extends beyond the end that the seed had before it
    /// moved.
    pub extended: u32,
    /// Whether another whole word follows the seed.
    pub double: bool,
}

impl Words {
    /// Stores the words that start at the positions `indexed`.
    pub fn new(
        indexed: Bits,
        query: Vec<u8>,
        kind: TableKind,
        span: u32,
        rules: &SeedRules,
    ) -> Words {
        let length = if rules.template.is_some() { span } else { rules.word_size.max(span) };
        Words {
            length,
            span,
            extra: length - span,
            query,
            indexed,
            two_bits: kind == TableKind::Small,
            checks: rules.checks_masks || kind == TableKind::Small,
        }
    }

    /// Returns the number of bases from the start of the seed to its indexed word, which is at
    /// `(q, s)`. Returns `None` if too few flanking bases match. `end` is the end of the subject or
    /// of its unmasked range.
    pub fn seed_start(
        &self,
        contexts: &Contexts,
        subject: Packed<'_>,
        end: u32,
        (q, s): (u32, u32),
    ) -> Option<u32> {
        let letters = contexts.letters();
        let significant = if self.two_bits { 3 } else { u8::MAX };
        let matches = |q: u32, s: u32| {
            let code = letters[q as usize];
            code != SENTINEL && code & significant == subject.base(s)
        };
        let most = self.extra.min(s).min(q);
        let left = (0..most).take_while(|i| matches(q - 1 - i, s - 1 - i)).count() as u32;
        let missing = self.extra - left;
        let (q, s) = (q + self.span, s + self.span);
        if s + missing > end || q + missing > contexts.length() {
            return None;
        }
        (0..missing).all(|i| matches(q + i, s + i)).then_some(left)
    }

    /// Checks that all bases of a seed lie in indexed words, and moves the seed to the right until
    /// they do. Returns `None` if they never do. With `for_double`, also checks whether another
    /// whole word follows.
    pub fn check(
        &self,
        contexts: &Contexts,
        subject: Packed<'_>,
        end: u32,
        (q, s): (u32, u32),
        for_double: bool,
    ) -> Option<CheckedSeed> {
        if self.extra == 0 {
            return Some(CheckedSeed { shift: 0, extended: 0, double: false });
        }
        let indexed = |at: u32| self.is_indexed(subject, q + at, s + at);
        let (length, span) = (self.length, self.span);
        let room = || {
            let q_end = contexts.end(contexts.context_at(q + length));
            q_end.saturating_sub(q + length).min(end.saturating_sub(s + length))
        };
        let mut shift = 0;
        if self.checks {
            if !indexed(self.extra) {
                return None;
            }
            shift = (0..self.extra).find(|&at| indexed(at)).unwrap_or(self.extra);
            let tiles = (1..).map_while(|i| (length + shift).checked_sub(i * span));
            if (shift > 0 && shift > room()) || !tiles.take_while(|&at| at > shift).all(indexed) {
                return None;
            }
        }
        let checked = CheckedSeed { shift, extended: shift, double: false };
        if for_double { Some(self.follow(checked, room(), indexed)) } else { Some(checked) }
    }

    /// Extends a checked seed to the end of a second word that follows it, or as far as words are
    /// indexed.
    fn follow(
        &self,
        mut checked: CheckedSeed,
        room: u32,
        indexed: impl Fn(u32) -> bool,
    ) -> CheckedSeed {
        let goal = checked.shift + self.length;
        let most = room.min(goal);
        let mut at = goal;
        while checked.extended + self.span <= most && indexed(at) {
            at += self.span;
            checked.extended += self.span;
        }
        at = at + 1 - self.span;
        while checked.extended < most {
            if !indexed(at) {
                return checked;
            }
            checked.extended += 1;
            at += 1;
        }
        checked.double = most == goal;
        checked
    }

    /// Returns whether an indexed word starts at a query position.
    pub fn starts_at(&self, q: u32) -> bool {
        self.indexed.has(q as usize)
    }

    /// Returns whether the indexed word at query position `q` equals the subject word at `s`.
    #[inline]
    fn is_indexed(&self, subject: Packed<'_>, q: u32, s: u32) -> bool {
        let same = || {
            let differences = window(&self.query, q as usize) ^ window(subject.bytes(), s as usize);
            differences >> (64 - 2 * self.span) == 0
        };
        self.indexed.has(q as usize) && same()
    }
}
