//! Packs letters as bases of two bits each.

use std::ops::Range;

use fleetblast_seq::nucleotide::blastna;

use super::pairs::Bases;
use crate::ranges::RangeSet;

/// Number of bases in a byte.
const IN_BYTE: usize = 4;
/// Number of bytes of padding on each side of the bases, so that a whole word can be read at any
/// base.
const PAD: usize = 8;
/// Number of letters that are packed together.
const BLOCK: usize = 1 << 10;

/// The letters of a sequence, packed on demand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packing {
    bytes: Vec<u8>,
    /// Bits that are set at ambiguous bases.
    ambiguous: Vec<u8>,
    any_ambiguous: bool,
    length: usize,
    /// Numbers of the groups of [`BLOCK`] letters that are packed.
    packed: RangeSet,
}

impl Packing {
    /// Packs all letters (blastna) of a sequence.
    pub fn whole(letters: &[u8]) -> Packing {
        let mut packing = Packing::default();
        packing.start(letters.len());
        packing.pack(letters, 0..letters.len());
        packing
    }

    /// Prepares for another sequence of `length` letters.
    pub fn start(&mut self, length: usize) {
        let bytes = length.div_ceil(IN_BYTE) + 2 * PAD;
        if self.bytes.len() < bytes {
            // Allocate anew: zeroed memory costs nothing before it is used.
            let bytes = if self.bytes.is_empty() { bytes } else { bytes.next_power_of_two() };
            self.bytes = vec![0; bytes];
            self.ambiguous = vec![0; bytes];
        }
        self.any_ambiguous = false;
        self.length = length;
        self.packed.clear();
    }

    /// Packs the letters of a range of the sequence, if they are not packed yet. `letters` are
    /// those of the whole sequence.
    pub fn pack(&mut self, letters: &[u8], part: Range<usize>) {
        let Packing { bytes, ambiguous, any_ambiguous, packed, .. } = self;
        packed.add(part.start / BLOCK..part.end.div_ceil(BLOCK), |blocks| {
            let range = blocks.start * BLOCK..letters.len().min(blocks.end * BLOCK);
            let place = PAD + range.start / IN_BYTE..PAD + range.end.div_ceil(IN_BYTE);
            let ambiguous = &mut ambiguous[place.clone()];
            *any_ambiguous |= pack(&letters[range], &mut bytes[place], ambiguous);
        });
    }

    /// Returns the whole sequence, which must be packed.
    pub fn all(&self) -> Bases<'_> {
        self.part(0..self.length)
    }

    /// Returns a range of the sequence, which must be packed.
    pub fn part(&self, part: Range<usize>) -> Bases<'_> {
        Bases {
            bytes: &self.bytes,
            ambiguous: self.any_ambiguous.then_some(&self.ambiguous),
            first: PAD * IN_BYTE + part.start,
            length: part.len(),
        }
    }
}

/// Packs letters. Returns whether any of them is ambiguous.
fn pack(letters: &[u8], bytes: &mut [u8], ambiguous: &mut [u8]) -> bool {
    const { assert!(blastna::BASES == 4 && blastna::SIZE == 16) };
    // The lowest two bits of four letters become a byte.
    let joined = |letters: u32| (letters >> 18 | letters >> 12 | letters >> 6 | letters) as u8;
    let mut any = 0;
    let mut pack = |four: [u8; IN_BYTE], byte: &mut u8, mask: &mut u8| {
        let four = u32::from_be_bytes(four);
        let codes = (four >> 2 | four >> 3) & 0x0101_0101;
        *byte = joined(four & 0x0303_0303);
        *mask = joined(codes * 3);
        any |= codes;
    };
    let (fours, rest) = letters.as_chunks();
    let mut places = bytes.iter_mut().zip(ambiguous);
    for (four, (byte, mask)) in fours.iter().zip(places.by_ref()) {
        pack(*four, byte, mask);
    }
    if let Some((byte, mask)) = places.next() {
        let mut four = [0; IN_BYTE];
        four[..rest.len()].copy_from_slice(rest);
        pack(four, byte, mask);
    }
    any != 0
}
