//! Runs of equal bases, many at a time.
//!
//! An extension goes away from a start, forwards or backwards; positions count outwards from there. Bases are equal if both are
//! single and the same: what is ambiguous in the query equals nothing.

use fleetblast_seq::nucleotide::{Packed, blastna};

/// Bases of a word of packed ones that are there wherever in its first byte they begin.
const IN_WORD: u32 = 29;
/// Bytes around a packed query, so that a word is there wherever a base is.
const PAD: usize = 8;

/// Two sequences on which an extension walks.
pub(crate) trait Pairs {
    /// How far it may go in the query and in the subject.
    fn lengths(&self) -> (i32, i32);
    /// How many bases are equal in a row, from these positions on; none where one is beyond an end.
    fn run(&self, query: i32, subject: i32) -> i32;
}

/// A query with two bits a base, and beside it which bases are ambiguous.
#[derive(Clone, Debug)]
pub(crate) struct PackedQuery {
    bytes: Vec<u8>,
    /// In the places of the bases bits that are set where one is ambiguous; `None` if none is.
    ambiguous: Option<Vec<u8>>,
    length: usize,
}

impl PackedQuery {
    /// Packs the blastna letters of a context.
    pub fn new(letters: &[u8]) -> PackedQuery {
        let pack = |bits: &dyn Fn(u8) -> u8| {
            let mut bytes = vec![0; letters.len().div_ceil(4) + 2 * PAD];
            for (at, &letter) in letters.iter().enumerate() {
                bytes[PAD + at / 4] |= (bits(letter) & 3) << (6 - 2 * (at % 4));
            }
            bytes
        };
        let is_ambiguous = |letter: u8| letter >= blastna::BASES;
        let any = letters.iter().any(|&letter| is_ambiguous(letter));
        PackedQuery {
            bytes: pack(&|letter| letter),
            ambiguous: any.then(|| pack(&|letter| if is_ambiguous(letter) { 3 } else { 0 })),
            length: letters.len(),
        }
    }
}

/// A packed query and a packed subject, forwards from a start.
pub(super) struct PackedForward<'a> {
    pub query: &'a PackedQuery,
    pub subject: Packed<'a>,
    pub q_start: usize,
    pub s_start: usize,
}

/// The same backwards: the first pair are the bases before the start.
pub(super) struct PackedBackward<'a> {
    pub query: &'a PackedQuery,
    pub subject: Packed<'a>,
    pub q_start: usize,
    pub s_start: usize,
}

/// Eight bytes from `at` on; zeros beyond the last one.
#[inline(always)]
fn word_from(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(word) => u64::from_be_bytes(*word),
        None => last_word(bytes.get(at..).unwrap_or(&[])),
    }
}

#[cold]
fn last_word(rest: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..rest.len()].copy_from_slice(rest);
    u64::from_be_bytes(word)
}

/// Eight bytes up to `at`, which is the last; zeros before the first one.
#[inline(always)]
fn word_to(bytes: &[u8], at: usize) -> u64 {
    let head = &bytes[..=at];
    match head.last_chunk() {
        Some(word) => u64::from_be_bytes(*word),
        None => first_word(head),
    }
}

#[cold]
fn first_word(head: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[8 - head.len()..].copy_from_slice(head);
    u64::from_be_bytes(word)
}

/// The bases from a place on, the first in the highest bits.
#[inline(always)]
fn bases_from(bytes: &[u8], pad: usize, place: usize) -> u64 {
    word_from(bytes, pad + place / 4) << (2 * (place % 4))
}

/// The bases up to a place, the last in the lowest bits.
#[inline(always)]
fn bases_to(bytes: &[u8], pad: usize, place: usize) -> u64 {
    word_to(bytes, pad + place / 4) >> (6 - 2 * (place % 4))
}

impl Pairs for PackedForward<'_> {
    fn lengths(&self) -> (i32, i32) {
        let subject = self.subject.length() as usize;
        ((self.query.length - self.q_start) as i32, (subject - self.s_start) as i32)
    }

    #[inline]
    fn run(&self, query: i32, subject: i32) -> i32 {
        let (q_len, s_len) = self.lengths();
        let limit = (q_len - query).min(s_len - subject);
        let (q, s) = (self.q_start + query as usize, self.s_start + subject as usize);
        words(limit, |taken| {
            let different = bases_from(&self.query.bytes, PAD, q + taken)
                ^ bases_from(self.subject.bytes(), 0, s + taken);
            let mask = self.query.ambiguous.as_ref();
            let mask = mask.map_or(0, |mask| bases_from(mask, PAD, q + taken));
            (different | mask).leading_zeros() / 2
        })
    }
}

impl Pairs for PackedBackward<'_> {
    fn lengths(&self) -> (i32, i32) {
        (self.q_start as i32, self.s_start as i32)
    }

    #[inline]
    fn run(&self, query: i32, subject: i32) -> i32 {
        let limit = (self.q_start as i32 - query).min(self.s_start as i32 - subject);
        // Not below zero as long as there is something to compare.
        let q = self.q_start.wrapping_sub(query as usize + 1);
        let s = self.s_start.wrapping_sub(subject as usize + 1);
        words(limit, |taken| {
            let different = bases_to(&self.query.bytes, PAD, q - taken)
                ^ bases_to(self.subject.bytes(), 0, s - taken);
            let mask = self.query.ambiguous.as_ref();
            let mask = mask.map_or(0, |mask| bases_to(mask, PAD, q - taken));
            (different | mask).trailing_zeros() / 2
        })
    }
}

/// How many bases are equal, up to a limit, from how many are equal in the word after so many.
#[inline(always)]
fn words(limit: i32, equal: impl Fn(usize) -> u32) -> i32 {
    let mut taken = 0;
    while taken < limit {
        let here = equal(taken as usize).min(IN_WORD);
        taken += here as i32;
        if here < IN_WORD {
            break;
        }
    }
    taken.min(limit).max(0)
}

/// Letters of both sequences, forwards from the first ones.
pub(crate) struct LettersForward<'a> {
    pub query: &'a [u8],
    pub subject: &'a [u8],
}

/// The same backwards from the last ones.
pub(super) struct LettersBackward<'a> {
    pub query: &'a [u8],
    pub subject: &'a [u8],
}

/// Bytes that are set where letters differ or the one of the query is ambiguous.
#[inline(always)]
fn different(query: [u8; 16], subject: [u8; 16]) -> u128 {
    const NO_BASE: u128 = u128::from_le_bytes([!(blastna::BASES - 1); 16]);
    let (query, subject) = (u128::from_le_bytes(query), u128::from_le_bytes(subject));
    (query ^ subject) | (query & NO_BASE)
}

#[inline(always)]
fn is_pair(query: u8, subject: u8) -> bool {
    query == subject && query < blastna::BASES
}

impl Pairs for LettersForward<'_> {
    fn lengths(&self) -> (i32, i32) {
        (self.query.len() as i32, self.subject.len() as i32)
    }

    #[inline]
    fn run(&self, query: i32, subject: i32) -> i32 {
        let (Some(mut q), Some(mut s)) =
            (self.query.get(query as usize..), self.subject.get(subject as usize..))
        else {
            return 0;
        };
        let mut taken = 0;
        while let (Some((a, q_rest)), Some((b, s_rest))) =
            (q.split_first_chunk(), s.split_first_chunk())
        {
            let different = different(*a, *b);
            if different != 0 {
                return taken + different.trailing_zeros() as i32 / 8;
            }
            taken += 16;
            (q, s) = (q_rest, s_rest);
        }
        taken + q.iter().zip(s).take_while(|&(&a, &b)| is_pair(a, b)).count() as i32
    }
}

impl Pairs for LettersBackward<'_> {
    fn lengths(&self) -> (i32, i32) {
        (self.query.len() as i32, self.subject.len() as i32)
    }

    #[inline]
    fn run(&self, query: i32, subject: i32) -> i32 {
        let head = |letters: &'_ [u8], taken: i32| letters.len().checked_sub(taken as usize);
        let (Some(q), Some(s)) = (head(self.query, query), head(self.subject, subject)) else {
            return 0;
        };
        let (mut q, mut s) = (&self.query[..q], &self.subject[..s]);
        let mut taken = 0;
        while let (Some((q_rest, a)), Some((s_rest, b))) =
            (q.split_last_chunk(), s.split_last_chunk())
        {
            let different = different(*a, *b);
            if different != 0 {
                return taken + different.leading_zeros() as i32 / 8;
            }
            taken += 16;
            (q, s) = (q_rest, s_rest);
        }
        let pairs = q.iter().rev().zip(s.iter().rev());
        taken + pairs.take_while(|&(&a, &b)| is_pair(a, b)).count() as i32
    }
}
