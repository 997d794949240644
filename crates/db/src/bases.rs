//! Nucleotide sequences as databases store them: packed bases, and runs of ambiguous bases.
//!
//! Packed bases have two bits each (A 0, C 1, G 2, T 3), with the first base in the high bits. The
//! low bits of the last byte are the number of bases in that byte, from 0 to 3.
//!
//! Ambiguities start with a 32-bit big-endian count of words, whose top bit is a format flag. The
//! words follow. In the short format each word is a run: code (4 bits, ncbi4na), length − 1 (4
//! bits), first base (24 bits). In the long format two words are a run: code (4 bits), length − 1
//! (12 bits), unused (16 bits); first base (32 bits).

use std::ops::Range;

use fleetblast_seq::nucleotide::blastna;

/// A run of one ambiguous base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ambiguity {
    /// ncbi4na code: one bit for each possible base, from A in the lowest bit to C, G and T.
    pub code: u8,
    /// Position of the first base of the run, from 0.
    pub start: u32,
    /// Number of bases in the run, at least 1.
    pub length: u32,
}

/// View of the bases of one sequence. Damaged bytes never make a method read outside the view.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bases<'a> {
    packed: &'a [u8],
    ambiguities: &'a [u8],
}

const WORD: usize = 4;
/// The ncbi4na codes of the four bases in each byte.
const UNPACKED: [[u8; 4]; 256] = unpacking_table(&[1, 2, 4, 8]);

/// Returns for each byte the codes of its four bases; `bases` has the codes of A, C, G and T.
const fn unpacking_table(bases: &[u8; 4]) -> [[u8; 4]; 256] {
    let mut table = [[0; 4]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] =
            [bases[byte >> 6], bases[byte >> 4 & 3], bases[byte >> 2 & 3], bases[byte & 3]];
        byte += 1;
    }
    table
}

impl<'a> Bases<'a> {
    pub(crate) fn new(packed: &'a [u8], ambiguities: &'a [u8]) -> Self {
        Self { packed, ambiguities }
    }

    /// Returns the number of bases.
    pub fn length(&self) -> u32 {
        let Some((last, full)) = self.packed.split_last() else { return 0 };
        // Valid lengths have 31 bits, but a damaged index can give more bytes: offsets have 32
        // bits.
        u32::try_from(4 * full.len() + usize::from(last & 3)).unwrap_or(u32::MAX)
    }

    /// Returns the packed bases. An ambiguous base is stored as one of its possible bases.
    pub fn packed(&self) -> &'a [u8] {
        self.packed
    }

    /// Returns the list of ambiguous bases as stored. Without ambiguous bases it has no bytes, or
    /// only a count of 0.
    pub fn ambiguity_list(&self) -> &'a [u8] {
        self.ambiguities
    }

    /// Returns the runs of ambiguous bases in stored order. In a damaged database a run can lie
    /// outside the sequence.
    pub fn ambiguities(&self) -> impl Iterator<Item = Ambiguity> + use<'a> {
        let (long, words) = self.words();
        words.chunks_exact(if long { 2 * WORD } else { WORD }).map(move |run| {
            let first = u32::from_be_bytes([run[0], run[1], run[2], run[3]]);
            let code = (first >> 28) as u8;
            if long {
                let start = u32::from_be_bytes([run[4], run[5], run[6], run[7]]);
                Ambiguity { code, start, length: (first >> 16 & 0xfff) + 1 }
            } else {
                Ambiguity { code, start: first & 0xff_ffff, length: (first >> 24 & 15) + 1 }
            }
        })
    }

    /// Decodes the bases of `range`, clipped to the sequence, into `out` as ncbi4na codes. Replaces
    /// the contents of `out`.
    pub fn decode(&self, range: Range<u32>, out: &mut Vec<u8>) {
        let end = range.end.min(self.length());
        let start = range.start.min(end);
        out.clear();
        let bytes = start as usize / 4..(end as usize).div_ceil(4);
        for &byte in &self.packed[bytes] {
            out.extend_from_slice(&UNPACKED[usize::from(byte)]);
        }
        out.drain(..start as usize % 4);
        out.truncate((end - start) as usize);
        for run in self.ambiguities() {
            let from = run.start.clamp(start, end);
            let to = run.start.saturating_add(run.length).clamp(from, end);
            out[(from - start) as usize..(to - start) as usize].fill(run.code);
        }
    }

    /// Decodes the bases of `range`, clipped to the sequence, into `out` as blastna codes. Replaces
    /// the contents of `out`.
    pub fn decode_blastna(&self, range: Range<u32>, out: &mut Vec<u8>) {
        self.decode(range, out);
        out.iter_mut().for_each(|code| *code = blastna::from_ncbi4na(*code));
    }

    /// Returns whether the list of ambiguous bases is in the long format, and the bytes of its
    /// words without the count before them.
    fn words(&self) -> (bool, &'a [u8]) {
        let Some((count, words)) = self.ambiguities.split_first_chunk() else {
            return (false, &[]);
        };
        let count = u32::from_be_bytes(*count);
        let bytes = (count & 0x7fff_ffff) as usize * WORD;
        (count >> 31 == 1, &words[..bytes.min(words.len())])
    }

    /// Returns the byte offset of the first error in the list of ambiguous bases: of its count or
    /// of a run. Returns `None` if there is no error.
    pub(crate) fn first_invalid_byte(&self) -> Option<usize> {
        let Some(count) = self.ambiguities.first_chunk() else {
            return (!self.ambiguities.is_empty()).then_some(0);
        };
        let words = (u32::from_be_bytes(*count) & 0x7fff_ffff) as usize;
        let (long, bytes) = self.words();
        let size = if long { 2 * WORD } else { WORD };
        if (words + 1) * WORD != self.ambiguities.len() || bytes.len() % size != 0 {
            return Some(0);
        }
        let length = self.length();
        let within =
            |run: Ambiguity| run.start.checked_add(run.length).is_some_and(|end| end <= length);
        self.ambiguities().position(|run| !within(run)).map(|run| WORD + run * size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes the oracle's bytes of `ACGTNNNNNNNNNNACGT`, and the same run of N in the long
    /// format.
    #[test]
    fn both_formats_of_ambiguities() {
        // makeblastdb -dbtype nucl of ACGTNNNNNNNNNNACGT gives the ambiguities 00000001 f9000004.
        let packed = [0x1b, 0, 0, 0x01, 0xb2];
        let short = Bases::new(&packed, &[0, 0, 0, 1, 0xf9, 0, 0, 4]);
        assert_eq!((short.length(), short.first_invalid_byte()), (18, None));
        let mut out = Vec::new();
        short.decode(0..99, &mut out);
        assert_eq!(
            out,
            [[1, 2, 4, 8, 15, 15, 15, 15, 15].as_slice(), &[15, 15, 15, 15, 15, 1, 2, 4, 8]]
                .concat()[..18]
        );
        short.decode(2..5, &mut out);
        assert_eq!(out, [4, 8, 15]);
        short.decode(13..16, &mut out);
        assert_eq!(out, [15, 1, 2]);
        short.decode(std::ops::Range { start: 7, end: 3 }, &mut out);
        assert!(out.is_empty());
        // The same run in the long format, and a run that ends after the last base.
        let long = [0x80, 0, 0, 2, 0xf0, 0x09, 0, 0, 0, 0, 0, 4];
        let long = Bases::new(&packed, &long);
        assert_eq!(long.ambiguities().next(), short.ambiguities().next());
        let outside = [0, 0, 0, 1, 0xf9, 0, 0, 9];
        let outside = Bases::new(&packed, &outside);
        assert_eq!(outside.first_invalid_byte(), Some(4));
        outside.decode(0..18, &mut out);
        assert_eq!((out.len(), out[17]), (18, 15));
        assert_eq!(Bases::new(&packed, &[0, 0, 0, 9, 1]).first_invalid_byte(), Some(0));
    }
}
