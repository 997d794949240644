//! Narrow extensions with AVX-512BW.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Bases, Cells, Direction, Extent, LANES, Narrow, Row, Table, run};
use crate::kernel::Avx512;

/// [`run`] with AVX-512BW.
pub(in super::super) fn extend(
    proof: Avx512,
    narrow: &Narrow,
    directions: [Direction<Bases>; 2],
) -> [Option<Extent>; 2] {
    #[target_feature(enable = "avx512bw")]
    fn inner(
        proof: Avx512,
        narrow: &Narrow,
        directions: [Direction<Bases>; 2],
    ) -> [Option<Extent>; 2] {
        run::<Whole>(proof, narrow, directions)
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(proof, narrow, directions) }
}

/// A row in a register. That there is one is proof of the instructions.
#[derive(Clone, Copy)]
struct Whole(__m512i);

impl Whole {
    /// A register of [`super::NEVER`].
    #[inline(always)]
    fn never(self) -> __m512i {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe { _mm512_set1_epi8(i8::MIN) }
    }
}

impl Row for Whole {
    type Proof = Avx512;

    #[inline(always)]
    fn splat(_: Avx512, byte: i8) -> Self {
        // SAFETY: the proof says that the CPU has the instructions.
        unsafe { Whole(_mm512_set1_epi8(byte)) }
    }

    #[inline(always)]
    fn load(_: Avx512, cells: &Cells) -> Self {
        // SAFETY: by the proof the CPU has the instructions; the load is of 64 bytes and needs no alignment.
        unsafe { Whole(_mm512_loadu_si512(cells.as_ptr().cast())) }
    }

    #[inline(always)]
    fn store(self) -> Cells {
        let mut out = [0; LANES];
        // SAFETY: the row is proof that the CPU has the instructions; the store is of 64 bytes and needs no alignment.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), self.0) };
        out
    }

    #[inline(always)]
    fn look_up(_: Avx512, table: &Table, letters: &[u8; LANES]) -> Self {
        // SAFETY: by the proof the CPU has the instructions; the loads are of 16 and 64 bytes and need no alignment.
        unsafe {
            let table = _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast()));
            Whole(_mm512_shuffle_epi8(table, _mm512_loadu_si512(letters.as_ptr().cast())))
        }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe { Whole(_mm512_adds_epi8(self.0, other.0)) }
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe { Whole(_mm512_subs_epi8(self.0, other.0)) }
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe { Whole(_mm512_max_epi8(self.0, other.0)) }
    }

    #[inline(always)]
    fn above(self, other: Self) -> u64 {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe { _mm512_cmpgt_epi8_mask(self.0, other.0) }
    }

    #[inline(always)]
    fn equal(self, other: Self) -> u64 {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe { _mm512_cmpeq_epi8_mask(self.0, other.0) }
    }

    #[inline(always)]
    fn keep(self, floor: Self) -> (Self, u64) {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe {
            let lanes = _mm512_cmpge_epi8_mask(self.0, floor.0);
            (Whole(_mm512_mask_mov_epi8(self.never(), lanes, self.0)), lanes)
        }
    }

    #[inline(always)]
    fn up<const BY: usize>(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe {
            Whole(match BY {
                1 => _mm512_alignr_epi8::<15>(self.0, self.never()),
                2 => _mm512_alignr_epi8::<14>(self.0, self.never()),
                4 => _mm512_alignr_epi8::<12>(self.0, self.never()),
                8 => _mm512_alignr_epi8::<8>(self.0, self.never()),
                _ => unreachable!("moves are powers of two up to 8"),
            })
        }
    }

    #[inline(always)]
    fn down(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe {
            // Each section takes the first byte of the next one.
            let next = _mm512_alignr_epi64::<2>(self.never(), self.0);
            Whole(_mm512_alignr_epi8::<1>(next, self.0))
        }
    }

    #[inline(always)]
    fn spread_ends(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe { Whole(_mm512_shuffle_epi8(self.0, _mm512_set1_epi8(15))) }
    }

    #[inline(always)]
    fn sections_up<const BY: usize>(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe {
            Whole(match BY {
                1 => _mm512_alignr_epi64::<6>(self.0, self.never()),
                2 => _mm512_alignr_epi64::<4>(self.0, self.never()),
                _ => unreachable!("one section or two"),
            })
        }
    }

    #[inline(always)]
    fn spread_last(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe { Whole(_mm512_shuffle_i64x2::<0b11_11_11_11>(self.0, self.0)) }
    }
}
