//! X-drop extensions with AVX2 instructions.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Cells, Direction, Extent, Frames, LANES, Row, Rows, run};
use crate::kernel::Avx2;

/// Calls [`run`] with AVX2.
pub(crate) fn extend<Q: Rows>(
    proof: Avx2,
    frames: &Frames,
    directions: [Direction<Q>; 2],
) -> [Option<Extent>; 2] {
    #[target_feature(enable = "avx2")]
    fn inner<Q: Rows>(
        proof: Avx2,
        frames: &Frames,
        directions: [Direction<Q>; 2],
    ) -> [Option<Extent>; 2] {
        run::<Quarters, Q>(proof, frames, directions)
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(proof, frames, directions) }
}

/// A row in four registers. Its existence proves that the CPU has the instructions.
#[derive(Clone, Copy)]
struct Quarters([__m256i; 4]);

impl Quarters {
    /// Returns a register of [`super::NEVER`].
    #[inline(always)]
    fn never(self) -> __m256i {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe { _mm256_set1_epi8(i8::MIN) }
    }

    /// Returns the highest bit of each byte.
    #[inline(always)]
    fn bits(self, lanes: [__m256i; 4]) -> u128 {
        // SAFETY: the row is proof that the CPU has the instructions.
        let bits = |i: usize| u128::from(unsafe { _mm256_movemask_epi8(lanes[i]) } as u32);
        bits(0) | bits(1) << 32 | bits(2) << 64 | bits(3) << 96
    }
}

impl Row for Quarters {
    type Proof = Avx2;

    #[inline(always)]
    fn splat(_: Avx2, byte: i8) -> Self {
        // SAFETY: the proof says that the CPU has the instructions.
        unsafe { Quarters([_mm256_set1_epi8(byte); 4]) }
    }

    #[inline(always)]
    fn load(_: Avx2, cells: &Cells) -> Self {
        let (quarters, _) = cells.as_chunks::<32>();
        // SAFETY: by the proof the CPU has the instructions; each quarter holds 32 bytes, the loads
        // need no alignment.
        Quarters(each(|i| unsafe { _mm256_loadu_si256(quarters[i].as_ptr().cast()) }))
    }

    #[inline(always)]
    fn store(self) -> Cells {
        let mut out = [0; LANES];
        let (quarters, _) = out.as_chunks_mut::<32>();
        for (quarter, lanes) in quarters.iter_mut().zip(self.0) {
            // SAFETY: the row is proof that the CPU has the instructions; each quarter holds 32
            // bytes, the store needs no alignment.
            unsafe { _mm256_storeu_si256(quarter.as_mut_ptr().cast(), lanes) };
        }
        out
    }

    #[inline(always)]
    fn look_up(_: Avx2, table: &[i8; 32], codes: &[u8; LANES]) -> Self {
        let (quarters, _) = codes.as_chunks::<32>();
        // SAFETY: by the proof the CPU has the instructions; the loads are of 16 bytes of the
        // table's 32 and of 32 codes, and need no alignment.
        unsafe {
            let half = |at: usize| {
                _mm256_broadcastsi128_si256(_mm_loadu_si128(table[at..at + 16].as_ptr().cast()))
            };
            let (first, second) = (half(0), half(16));
            Quarters(each(|i| {
                let codes = _mm256_loadu_si256(quarters[i].as_ptr().cast());
                // The shuffle uses the low four bits. The blend uses the highest bit, to which bit
                // 4 is shifted.
                let upper = _mm256_slli_epi16::<3>(codes);
                _mm256_blendv_epi8(
                    _mm256_shuffle_epi8(first, codes),
                    _mm256_shuffle_epi8(second, codes),
                    upper,
                )
            }))
        }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        Quarters(each(|i| unsafe { _mm256_adds_epi8(self.0[i], other.0[i]) }))
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        Quarters(each(|i| unsafe { _mm256_subs_epi8(self.0[i], other.0[i]) }))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        Quarters(each(|i| unsafe { _mm256_max_epi8(self.0[i], other.0[i]) }))
    }

    #[inline(always)]
    fn above(self, other: Self) -> u128 {
        // SAFETY: the row is proof that the CPU has the instructions.
        self.bits(each(|i| unsafe { _mm256_cmpgt_epi8(self.0[i], other.0[i]) }))
    }

    #[inline(always)]
    fn keep(self, floor: Self) -> (Self, u128) {
        // SAFETY: the row is proof that the CPU has the instructions.
        let below = each(|i| unsafe { _mm256_cmpgt_epi8(floor.0[i], self.0[i]) });
        // SAFETY: the row is proof that the CPU has the instructions.
        let kept = each(|i| unsafe { _mm256_blendv_epi8(self.0[i], self.never(), below[i]) });
        (Quarters(kept), !self.bits(below))
    }

    #[inline(always)]
    fn select(self, lanes: u128) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        Quarters(each(|i| unsafe {
            // For each lane, the number of the mask's byte that has its bit, and that bit in the
            // byte.
            let byte = _mm256_setr_epi64x(0, ONES, 2 * ONES, 3 * ONES);
            let bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
            let mask = _mm256_set1_epi32((lanes >> (32 * i)) as i32);
            let own = _mm256_and_si256(_mm256_shuffle_epi8(mask, byte), bit);
            _mm256_blendv_epi8(self.never(), self.0[i], _mm256_cmpeq_epi8(own, bit))
        }))
    }

    #[inline(always)]
    fn up<const BY: usize>(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        Quarters(each(|i| unsafe {
            match BY {
                1 => _mm256_alignr_epi8::<15>(self.0[i], self.never()),
                2 => _mm256_alignr_epi8::<14>(self.0[i], self.never()),
                4 => _mm256_alignr_epi8::<12>(self.0[i], self.never()),
                8 => _mm256_alignr_epi8::<8>(self.0[i], self.never()),
                _ => unreachable!("moves are powers of two up to 8"),
            }
        }))
    }

    #[inline(always)]
    fn down(self) -> Self {
        let above = [self.0[1], self.0[2], self.0[3], self.never()];
        // SAFETY: the row is proof that the CPU has the instructions.
        Quarters(each(|i| unsafe {
            // Each section takes the first byte of the next section.
            let next = _mm256_permute2x128_si256::<0x21>(self.0[i], above[i]);
            _mm256_alignr_epi8::<1>(next, self.0[i])
        }))
    }

    #[inline(always)]
    fn spread_ends(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        Quarters(each(|i| unsafe { _mm256_shuffle_epi8(self.0[i], _mm256_set1_epi8(15)) }))
    }

    #[inline(always)]
    fn sections_up<const BY: usize>(self) -> Self {
        let by_two = [self.never(), self.0[0], self.0[1], self.0[2]];
        Quarters(match BY {
            // SAFETY: the row is proof that the CPU has the instructions.
            1 => each(|i| unsafe { _mm256_permute2x128_si256::<0x21>(by_two[i], self.0[i]) }),
            2 => by_two,
            _ => unreachable!("one section or two"),
        })
    }
}

/// A one in each byte.
const ONES: i64 = 0x0101_0101_0101_0101;

/// Calls a function with the index of each of the four registers. Returns the results.
#[inline(always)]
fn each<T>(f: impl Fn(usize) -> T) -> [T; 4] {
    [f(0), f(1), f(2), f(3)]
}
