//! X-drop extensions with AVX-512BW instructions.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Cells, Direction, Extent, Frames, LANES, Row, Rows, run};
use crate::kernel::Avx512;

/// Calls [`run`] with AVX-512BW.
pub(crate) fn extend<Q: Rows>(
    proof: Avx512,
    frames: &Frames,
    directions: [Direction<Q>; 2],
) -> [Option<Extent>; 2] {
    #[target_feature(enable = "avx512bw")]
    fn inner<Q: Rows>(
        proof: Avx512,
        frames: &Frames,
        directions: [Direction<Q>; 2],
    ) -> [Option<Extent>; 2] {
        run::<Halves, Q>(proof, frames, directions)
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(proof, frames, directions) }
}

/// A row in two registers. Its existence proves that the CPU has the instructions.
#[derive(Clone, Copy)]
struct Halves([__m512i; 2]);

impl Halves {
    /// Returns a register of [`super::NEVER`].
    #[inline(always)]
    fn never(self) -> __m512i {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe { _mm512_set1_epi8(i8::MIN) }
    }
}

impl Row for Halves {
    type Proof = Avx512;

    #[inline(always)]
    fn splat(_: Avx512, byte: i8) -> Self {
        // SAFETY: the proof says that the CPU has the instructions.
        unsafe { Halves([_mm512_set1_epi8(byte); 2]) }
    }

    #[inline(always)]
    fn load(_: Avx512, cells: &Cells) -> Self {
        let (halves, _) = cells.as_chunks::<64>();
        // SAFETY: by the proof the CPU has the instructions; each half holds 64 bytes, the loads
        // need no alignment.
        let load = |half: &[i8; 64]| unsafe { _mm512_loadu_si512(half.as_ptr().cast()) };
        Halves([load(&halves[0]), load(&halves[1])])
    }

    #[inline(always)]
    fn store(self) -> Cells {
        let mut out = [0; LANES];
        let (halves, _) = out.as_chunks_mut::<64>();
        for (half, lanes) in halves.iter_mut().zip(self.0) {
            // SAFETY: the row is proof that the CPU has the instructions; each half holds 64 bytes,
            // the store needs no alignment.
            unsafe { _mm512_storeu_si512(half.as_mut_ptr().cast(), lanes) };
        }
        out
    }

    #[inline(always)]
    fn look_up(_: Avx512, table: &[i8; 32], codes: &[u8; LANES]) -> Self {
        let (halves, _) = codes.as_chunks::<64>();
        // SAFETY: by the proof the CPU has the instructions; the loads are of 16 bytes of the
        // table's 32 and of 64 codes, and need no alignment.
        unsafe {
            let half = |at: usize| {
                _mm512_broadcast_i32x4(_mm_loadu_si128(table[at..at + 16].as_ptr().cast()))
            };
            let (first, second) = (half(0), half(16));
            let look = |codes: &[u8; 64]| {
                let codes = _mm512_loadu_si512(codes.as_ptr().cast());
                // The shuffle uses the low four bits.
                let low = _mm512_shuffle_epi8(first, codes);
                let upper = _mm512_test_epi8_mask(codes, _mm512_set1_epi8(16));
                _mm512_mask_shuffle_epi8(low, upper, second, codes)
            };
            Halves([look(&halves[0]), look(&halves[1])])
        }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        zip(self, other, |a, b| unsafe { _mm512_adds_epi8(a, b) })
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        zip(self, other, |a, b| unsafe { _mm512_subs_epi8(a, b) })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        zip(self, other, |a, b| unsafe { _mm512_max_epi8(a, b) })
    }

    #[inline(always)]
    fn above(self, other: Self) -> u128 {
        // SAFETY: the row is proof that the CPU has the instructions.
        let above = |i: usize| unsafe { _mm512_cmpgt_epi8_mask(self.0[i], other.0[i]) };
        join(above(0), above(1))
    }

    #[inline(always)]
    fn keep(self, floor: Self) -> (Self, u128) {
        // SAFETY: the row is proof that the CPU has the instructions.
        let reach = |i: usize| unsafe { _mm512_cmpge_epi8_mask(self.0[i], floor.0[i]) };
        let lanes = join(reach(0), reach(1));
        (self.select(lanes), lanes)
    }

    #[inline(always)]
    fn select(self, lanes: u128) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        let select = |lanes, half| unsafe { _mm512_mask_mov_epi8(self.never(), lanes, half) };
        Halves([select(lanes as u64, self.0[0]), select((lanes >> 64) as u64, self.0[1])])
    }

    #[inline(always)]
    fn up<const BY: usize>(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        let up = |half| unsafe {
            match BY {
                1 => _mm512_alignr_epi8::<15>(half, self.never()),
                2 => _mm512_alignr_epi8::<14>(half, self.never()),
                4 => _mm512_alignr_epi8::<12>(half, self.never()),
                8 => _mm512_alignr_epi8::<8>(half, self.never()),
                _ => unreachable!("moves are powers of two up to 8"),
            }
        };
        Halves([up(self.0[0]), up(self.0[1])])
    }

    #[inline(always)]
    fn down(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        let down = |half, above| unsafe {
            // Each section takes the first byte of the next section.
            _mm512_alignr_epi8::<1>(_mm512_alignr_epi64::<2>(above, half), half)
        };
        Halves([down(self.0[0], self.0[1]), down(self.0[1], self.never())])
    }

    #[inline(always)]
    fn spread_ends(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        let spread = |half| unsafe { _mm512_shuffle_epi8(half, _mm512_set1_epi8(15)) };
        Halves([spread(self.0[0]), spread(self.0[1])])
    }

    #[inline(always)]
    fn sections_up<const BY: usize>(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        let up = |half, below| unsafe {
            match BY {
                1 => _mm512_alignr_epi64::<6>(half, below),
                2 => _mm512_alignr_epi64::<4>(half, below),
                _ => unreachable!("one section or two"),
            }
        };
        Halves([up(self.0[0], self.never()), up(self.0[1], self.0[0])])
    }
}

#[inline(always)]
fn zip(a: Halves, b: Halves, f: impl Fn(__m512i, __m512i) -> __m512i) -> Halves {
    Halves([f(a.0[0], b.0[0]), f(a.0[1], b.0[1])])
}

#[inline(always)]
fn join(low: u64, high: u64) -> u128 {
    u128::from(low) | u128::from(high) << 64
}
