//! Vector extensions with AVX-512BW.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::vector::{Cells, Frames, LANES, Row, run};
use super::{Direction, Extent};

/// [`run`] with AVX-512BW.
pub(super) fn extend(frames: &Frames, directions: [Direction; 2]) -> [Option<Extent>; 2] {
    #[target_feature(enable = "avx512bw")]
    fn inner(frames: &Frames, directions: [Direction; 2]) -> [Option<Extent>; 2] {
        run::<Avx512>(frames, directions)
    }
    // SAFETY: this kernel is chosen only after the CPU feature was detected.
    unsafe { inner(frames, directions) }
}

/// A row in two registers. Made and used within [`extend`] only.
#[derive(Clone, Copy)]
struct Avx512([__m512i; 2]);

impl Row for Avx512 {
    #[inline(always)]
    fn splat(byte: i8) -> Self {
        // SAFETY: called from `extend` only, so the CPU has the instructions.
        unsafe { Avx512([_mm512_set1_epi8(byte); 2]) }
    }

    #[inline(always)]
    fn load(cells: &Cells) -> Self {
        let (halves, _) = cells.as_chunks::<64>();
        // SAFETY: as in `splat`; each half holds 64 bytes, the loads need no alignment.
        let load = |half: &[i8; 64]| unsafe { _mm512_loadu_si512(half.as_ptr().cast()) };
        Avx512([load(&halves[0]), load(&halves[1])])
    }

    #[inline(always)]
    fn store(self) -> Cells {
        let mut out = [0; LANES];
        let (halves, _) = out.as_chunks_mut::<64>();
        for (half, lanes) in halves.iter_mut().zip(self.0) {
            // SAFETY: as in `splat`; each half holds 64 bytes, the store needs no alignment.
            unsafe { _mm512_storeu_si512(half.as_mut_ptr().cast(), lanes) };
        }
        out
    }

    #[inline(always)]
    fn look_up(table: &[i8; 32], codes: &[u8; LANES]) -> Self {
        let (halves, _) = codes.as_chunks::<64>();
        // SAFETY: as in `splat`; the loads are of 16 bytes of the table's 32 and of 64 codes, and need no alignment.
        unsafe {
            let half = |at: usize| {
                _mm512_broadcast_i32x4(_mm_loadu_si128(table[at..at + 16].as_ptr().cast()))
            };
            let (first, second) = (half(0), half(16));
            let look = |codes: &[u8; 64]| {
                let codes = _mm512_loadu_si512(codes.as_ptr().cast());
                // The shuffle looks at the low four bits.
                let low = _mm512_shuffle_epi8(first, codes);
                let upper = _mm512_test_epi8_mask(codes, _mm512_set1_epi8(16));
                _mm512_mask_shuffle_epi8(low, upper, second, codes)
            };
            Avx512([look(&halves[0]), look(&halves[1])])
        }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: as in `splat`.
        zip(self, other, |a, b| unsafe { _mm512_adds_epi8(a, b) })
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: as in `splat`.
        zip(self, other, |a, b| unsafe { _mm512_subs_epi8(a, b) })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: as in `splat`.
        zip(self, other, |a, b| unsafe { _mm512_max_epi8(a, b) })
    }

    #[inline(always)]
    fn above(self, other: Self) -> u128 {
        // SAFETY: as in `splat`.
        let above = |i: usize| unsafe { _mm512_cmpgt_epi8_mask(self.0[i], other.0[i]) };
        join(above(0), above(1))
    }

    #[inline(always)]
    fn keep(self, floor: Self) -> (Self, u128) {
        // SAFETY: as in `splat`.
        let reach = |i: usize| unsafe { _mm512_cmpge_epi8_mask(self.0[i], floor.0[i]) };
        let lanes = join(reach(0), reach(1));
        (self.select(lanes), lanes)
    }

    #[inline(always)]
    fn select(self, lanes: u128) -> Self {
        // SAFETY: as in `splat`.
        let select = |lanes, half| unsafe { _mm512_mask_mov_epi8(never(), lanes, half) };
        Avx512([select(lanes as u64, self.0[0]), select((lanes >> 64) as u64, self.0[1])])
    }

    #[inline(always)]
    fn up<const BY: usize>(self) -> Self {
        // SAFETY: as in `splat`.
        let up = |half| unsafe {
            match BY {
                1 => _mm512_alignr_epi8::<15>(half, never()),
                2 => _mm512_alignr_epi8::<14>(half, never()),
                4 => _mm512_alignr_epi8::<12>(half, never()),
                8 => _mm512_alignr_epi8::<8>(half, never()),
                _ => unreachable!("moves are powers of two up to 8"),
            }
        };
        Avx512([up(self.0[0]), up(self.0[1])])
    }

    #[inline(always)]
    fn down(self) -> Self {
        // SAFETY: as in `splat`.
        let down = |half, above| unsafe {
            // Each section takes the first byte of the next one.
            _mm512_alignr_epi8::<1>(_mm512_alignr_epi64::<2>(above, half), half)
        };
        Avx512([down(self.0[0], self.0[1]), down(self.0[1], never())])
    }

    #[inline(always)]
    fn spread_ends(self) -> Self {
        // SAFETY: as in `splat`.
        let spread = |half| unsafe { _mm512_shuffle_epi8(half, _mm512_set1_epi8(15)) };
        Avx512([spread(self.0[0]), spread(self.0[1])])
    }

    #[inline(always)]
    fn sections_up<const BY: usize>(self) -> Self {
        // SAFETY: as in `splat`.
        let up = |half, below| unsafe {
            match BY {
                1 => _mm512_alignr_epi64::<6>(half, below),
                2 => _mm512_alignr_epi64::<4>(half, below),
                _ => unreachable!("one section or two"),
            }
        };
        Avx512([up(self.0[0], never()), up(self.0[1], self.0[0])])
    }
}

#[inline(always)]
fn zip(a: Avx512, b: Avx512, f: impl Fn(__m512i, __m512i) -> __m512i) -> Avx512 {
    Avx512([f(a.0[0], b.0[0]), f(a.0[1], b.0[1])])
}

#[inline(always)]
fn never() -> __m512i {
    // SAFETY: called from [`Avx512`] only, so the CPU has the instructions.
    unsafe { _mm512_set1_epi8(i8::MIN) }
}

#[inline(always)]
fn join(low: u64, high: u64) -> u128 {
    u128::from(low) | u128::from(high) << 64
}
