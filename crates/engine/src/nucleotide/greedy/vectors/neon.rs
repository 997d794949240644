//! Vectors in four registers of NEON.

use super::{AT_ONCE, Vector, VectorRows, WINDOW, last_bytes, moved};
use crate::kernel::Neon;
use crate::neon::{
    bits, each, int32x4_t, load_s32, load_u8, lowest_bytes, store_s32, uint8x16x2_t, uint32x4_t,
    vaddq_s32, vaddq_u32, vandq_u32, vbslq_s32, vceqq_s32, vcgtq_s32, vcleq_u32, vclzq_u32,
    vdupq_n_s32, vdupq_n_u32, veorq_s32, vextq_s32, vmaxq_s32, vmaxvq_s32, vminq_s32, vmlaq_u32,
    vorrq_s32, vorrq_u32, vqtbl2q_u8, vrbitq_u8, vreinterpretq_s32_u32, vreinterpretq_u8_u32,
    vreinterpretq_u32_s32, vreinterpretq_u32_u8, vrev32q_u8, vshlq_n_u32, vshlq_u32, vshrq_n_u32,
    vsubq_s32,
};
use crate::nucleotide::greedy::linear::Rows;
use crate::nucleotide::greedy::pairs::OutwardSequences;
use crate::nucleotide::greedy::rows::{Chunk, LANES};
use crate::nucleotide::greedy::{BestEnd, Scoring};

/// Runs [`Rows::extend`] with NEON.
pub(in crate::nucleotide::greedy) fn extend<const BACK: bool>(
    proof: Neon,
    rows: &mut Rows,
    sequences: &OutwardSequences<'_, BACK>,
    scoring: &Scoring,
    x_drop: i32,
    keeps: bool,
) -> BestEnd {
    rows.extend(VectorRows::<Quarters>(proof), sequences, scoring, x_drop, keeps)
}

/// A vector in four registers.
#[derive(Clone, Copy)]
struct Quarters([int32x4_t; 4]);

/// A one in each byte.
const ONES: u32 = 0x0101_0101;

impl Vector for Quarters {
    type Proof = Neon;
    /// Registers in which all bits are set in the lanes that the mask has.
    type Mask = [uint32x4_t; 4];
    type Window = uint8x16x2_t;
    const WORDS: i32 = WINDOW as i32 / 4;

    #[inline(always)]
    fn splat(_: Neon, number: i32) -> Self {
        Quarters([vdupq_n_s32(number); 4])
    }

    #[inline(always)]
    fn numbered(proof: Neon) -> Self {
        const NUMBERS: Chunk = Chunk([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        Self::load(proof, &NUMBERS)
    }

    #[inline(always)]
    fn load(_: Neon, chunk: &Chunk) -> Self {
        let (quarters, _) = chunk.0.as_chunks();
        Quarters(each(|i| load_s32(&quarters[i])))
    }

    #[inline(always)]
    fn store(self) -> Chunk {
        let mut chunk = Chunk([0; LANES]);
        let (quarters, _) = chunk.0.as_chunks_mut();
        for (quarter, lanes) in quarters.iter_mut().zip(self.0) {
            store_s32(quarter, lanes);
        }
        chunk
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Quarters(each(|i| vaddq_s32(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Quarters(each(|i| vsubq_s32(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Quarters(each(|i| vorrq_s32(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Quarters(each(|i| veorq_s32(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Quarters(each(|i| vmaxq_s32(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Quarters(each(|i| vminq_s32(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn largest(self) -> i32 {
        let [a, b, c, d] = self.0;
        vmaxvq_s32(vmaxq_s32(vmaxq_s32(a, b), vmaxq_s32(c, d)))
    }

    #[inline(always)]
    fn above(self, other: Self) -> Self::Mask {
        each(|i| vcgtq_s32(self.0[i], other.0[i]))
    }

    #[inline(always)]
    fn equals(self, other: Self) -> Self::Mask {
        each(|i| vceqq_s32(self.0[i], other.0[i]))
    }

    #[inline(always)]
    fn both(one: Self::Mask, other: Self::Mask) -> Self::Mask {
        each(|i| vandq_u32(one[i], other[i]))
    }

    #[inline(always)]
    fn bits(mask: Self::Mask) -> u32 {
        u32::from(bits(lowest_bytes(mask)))
    }

    #[inline(always)]
    fn or_else(self, mask: Self::Mask, other: Self) -> Self {
        Quarters(each(|i| vbslq_s32(mask[i], self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn down_from(self, above: Self) -> Self {
        let [_, b, c, d] = self.0;
        let next = [b, c, d, above.0[0]];
        Quarters(each(|i| vextq_s32::<1>(self.0[i], next[i])))
    }

    #[inline(always)]
    fn up_from(self, below: Self) -> Self {
        let [a, b, c, _] = self.0;
        let before = [below.0[3], a, b, c];
        Quarters(each(|i| vextq_s32::<3>(before[i], self.0[i])))
    }

    #[inline(always)]
    fn moved(self, by: i32, fill: i32) -> Self {
        let Chunk(moved) = moved(self.store(), by, fill);
        let (quarters, _) = moved.as_chunks();
        Quarters(each(|i| load_s32(&quarters[i])))
    }

    #[inline(always)]
    fn window(_: Neon, bytes: &[u8], at: usize) -> uint8x16x2_t {
        let rest = bytes.get(at..).unwrap_or(&[]);
        let load = |bytes: &[u8; WINDOW]| {
            let (halves, _) = bytes.as_chunks();
            uint8x16x2_t(load_u8(&halves[0]), load_u8(&halves[1]))
        };
        match rest.first_chunk() {
            Some(bytes) => load(bytes),
            None => load(&last_bytes(rest)),
        }
    }

    #[inline(always)]
    fn extract(self, window: uint8x16x2_t) -> Self {
        Quarters(each(|i| extract(self.0[i], window)))
    }

    #[inline(always)]
    fn within_window(self) -> Self::Mask {
        let last = vdupq_n_u32((AT_ONCE * (Self::WORDS - 1)) as u32);
        each(|i| vcleq_u32(vreinterpretq_u32_s32(self.0[i]), last))
    }

    #[inline(always)]
    fn zero_pairs<const BACK: bool>(self) -> Self {
        Quarters(self.0.map(|bits| {
            let bits = vreinterpretq_u32_s32(bits);
            let bits = if BACK { reversed(bits) } else { bits };
            vreinterpretq_s32_u32(vshrq_n_u32::<1>(vclzq_u32(bits)))
        }))
    }
}

/// Extracts from a window the words that begin at the bases with these indexes.
#[inline(always)]
fn extract(first: int32x4_t, window: uint8x16x2_t) -> int32x4_t {
    let first = vreinterpretq_u32_s32(first);
    // The numbers of the bytes of a word, the first byte in the highest bits.
    let at = vmlaq_u32(vdupq_n_u32(0x0001_0203), vshrq_n_u32::<2>(first), vdupq_n_u32(ONES));
    let after = vaddq_u32(at, vdupq_n_u32(ONES));
    let word = |at| vreinterpretq_u32_u8(vqtbl2q_u8(window, vreinterpretq_u8_u32(at)));
    // The word after the one of whole bytes ends with the bases that move into the result. Where
    // the two words overlap, they are equal.
    let in_byte = vandq_u32(first, vdupq_n_u32(3));
    let left = vreinterpretq_s32_u32(vshlq_n_u32::<1>(in_byte));
    let right = vsubq_s32(left, vdupq_n_s32(8));
    vreinterpretq_s32_u32(vorrq_u32(vshlq_u32(word(at), left), vshlq_u32(word(after), right)))
}

/// Reverses the order of the bits of each number.
#[inline(always)]
fn reversed(bits: uint32x4_t) -> uint32x4_t {
    vreinterpretq_u32_u8(vrev32q_u8(vrbitq_u8(vreinterpretq_u8_u32(bits))))
}
