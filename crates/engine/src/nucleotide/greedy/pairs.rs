//! Finds runs of equal bases, many at a time.
//!
//! An extension leaves a start forwards or backwards; positions count outwards from there. Bases
//! are equal if both are single bases and the same. An ambiguous letter equals nothing.

use fleetblast_seq::nucleotide::{Packed, blastna};

/// Number of bases that are always valid in a packed word, wherever in its first byte the bases
/// begin.
const IN_WORD: u32 = 29;
/// Number of bases in a byte.
const IN_BYTE: usize = 4;

/// Bases with two bits each, the first in the high bits of a byte, and separate bits for ambiguity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bases<'a> {
    pub(super) bytes: &'a [u8],
    /// Bits of the same layout as `bytes`, set at ambiguous bases; `None` if there are none.
    pub(super) ambiguous: Option<&'a [u8]>,
    /// Index of the first base among the bases of `bytes`.
    pub(super) first: usize,
    pub(super) length: usize,
}

impl<'a> Bases<'a> {
    /// Creates the bases of a database subject; none of them counts as ambiguous.
    pub fn of_database(bases: Packed<'a>) -> Bases<'a> {
        let length = bases.length() as usize;
        Bases { bytes: bases.bytes(), ambiguous: None, first: 0, length }
    }
}

/// One of the two sequences of an extension, read outwards from a start.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutwardBases<'a, const BACK: bool> {
    pub bytes: &'a [u8],
    pub ambiguous: Option<&'a [u8]>,
    /// Index of the base at position zero among the bases of `bytes`. Any value if there are no
    /// bases.
    pub start: usize,
    /// Number of bases that may be read.
    pub length: i32,
}

impl<'a, const BACK: bool> OutwardBases<'a, BACK> {
    /// Creates the bases from `at` on, or those before `at` in reverse order.
    fn new(bases: Bases<'a>, at: usize) -> Self {
        let Bases { bytes, ambiguous, first, length } = bases;
        assert!(at <= length && first + length <= IN_BYTE * bytes.len());
        assert!(ambiguous.is_none_or(|ambiguous| ambiguous.len() == bytes.len()));
        let (start, length) = match BACK {
            true => ((first + at).wrapping_sub(1), at),
            false => (first + at, length - at),
        };
        OutwardBases { bytes, ambiguous, start, length: length as i32 }
    }

    /// Returns the bases from an existing position on, two bits each. The first base is in the
    /// highest bits, or in the lowest bits if the sequence is read backwards.
    #[inline(always)]
    fn word(&self, bytes: &[u8], position: usize) -> u64 {
        if BACK {
            let place = self.start - position;
            word_to(bytes, place / IN_BYTE) >> (6 - 2 * (place % IN_BYTE))
        } else {
            let place = self.start + position;
            word_from(bytes, place / IN_BYTE) << (2 * (place % IN_BYTE))
        }
    }

    #[inline(always)]
    fn bases(&self, position: usize) -> u64 {
        self.word(self.bytes, position)
    }

    #[inline(always)]
    fn ambiguous(&self, position: usize) -> u64 {
        self.ambiguous.map_or(0, |ambiguous| self.word(ambiguous, position))
    }
}

/// Reads eight bytes from `at` on; zeros beyond the last byte.
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

/// Reads the eight bytes that end with the byte `at`; zeros before the first byte.
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

/// The two sequences of an extension.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutwardSequences<'a, const BACK: bool> {
    pub query: OutwardBases<'a, BACK>,
    pub subject: OutwardBases<'a, BACK>,
}

impl<'a, const BACK: bool> OutwardSequences<'a, BACK> {
    /// Creates the sequences from the pair at these positions on, or those before it in reverse
    /// order.
    pub fn new(query: Bases<'a>, subject: Bases<'a>, q: u32, s: u32) -> Self {
        OutwardSequences {
            query: OutwardBases::new(query, q as usize),
            subject: OutwardBases::new(subject, s as usize),
        }
    }

    /// Returns the length of the run of equal bases from these positions on. The first `taken`
    /// bases are known to be equal. Returns zero if a position is beyond an end.
    #[inline(always)]
    pub fn run(&self, query: i32, subject: i32, mut taken: i32) -> i32 {
        let limit = (self.query.length - query).min(self.subject.length - subject);
        while taken < limit {
            let (q, s) = ((query + taken) as usize, (subject + taken) as usize);
            let different = self.query.bases(q) ^ self.subject.bases(s)
                | self.query.ambiguous(q)
                | self.subject.ambiguous(s);
            let zeros = if BACK { different.trailing_zeros() } else { different.leading_zeros() };
            let equal = (zeros / 2).min(IN_WORD);
            taken += equal as i32;
            if equal < IN_WORD {
                break;
            }
        }
        taken.min(limit).max(0)
    }
}

/// Letters of both sequences.
pub(crate) struct Letters<'a> {
    pub query: &'a [u8],
    pub subject: &'a [u8],
}

impl Letters<'_> {
    /// Returns the length of the run of equal letters from these positions on.
    #[inline]
    pub fn run(&self, query: i32, subject: i32) -> i32 {
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
        let is_pair = |&(&a, &b): &(&u8, &u8)| a == b && a < blastna::BASES;
        taken + q.iter().zip(s).take_while(is_pair).count() as i32
    }
}

/// Returns bytes that are not 0 where the letters differ, or where the query letter is ambiguous.
#[inline(always)]
fn different(query: [u8; 16], subject: [u8; 16]) -> u128 {
    const NO_BASE: u128 = u128::from_le_bytes([!(blastna::BASES - 1); 16]);
    let (query, subject) = (u128::from_le_bytes(query), u128::from_le_bytes(subject));
    (query ^ subject) | (query & NO_BASE)
}
