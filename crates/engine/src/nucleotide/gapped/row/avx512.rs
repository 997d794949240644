//! Rows with AVX-512BW.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Cells, Computation, LANES, Row, Table};
use crate::kernel::Avx512;

/// Runs a computation with AVX-512BW.
pub(super) fn perform<W: Computation>(proof: Avx512, work: W) -> W::Output {
    #[target_feature(enable = "avx512bw")]
    fn inner<W: Computation>(proof: Avx512, work: W) -> W::Output {
        work.run::<Zmm>(proof)
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(proof, work) }
}

/// A row in one register. Its existence proves that the CPU has the instructions.
#[derive(Clone, Copy)]
struct Zmm(__m512i);

impl Row for Zmm {
    type Proof = Avx512;

    #[inline(always)]
    fn splat(_: Avx512, byte: i8) -> Self {
        // SAFETY: the proof says that the CPU has the instructions.
        unsafe { Zmm(_mm512_set1_epi8(byte)) }
    }

    #[inline(always)]
    fn load(_: Avx512, cells: &Cells) -> Self {
        // SAFETY: by the proof the CPU has the instructions; the load is of 64 bytes and needs no
        // alignment.
        unsafe { Zmm(_mm512_loadu_si512(cells.as_ptr().cast())) }
    }

    #[inline(always)]
    fn load_letters(_: Avx512, letters: &[u8; LANES]) -> Self {
        // SAFETY: by the proof the CPU has the instructions; the load is of 64 bytes and needs no
        // alignment.
        unsafe { Zmm(_mm512_loadu_si512(letters.as_ptr().cast())) }
    }

    #[inline(always)]
    fn store_to(self, cells: &mut Cells) {
        // SAFETY: the row is proof that the CPU has the instructions; the store is of 64 bytes and
        // needs no alignment.
        unsafe { _mm512_storeu_si512(cells.as_mut_ptr().cast(), self.0) };
    }

    #[inline(always)]
    fn look_up(_: Avx512, table: &Table, letters: &[u8; LANES]) -> Self {
        // SAFETY: by the proof the CPU has the instructions; the loads are of 16 and 64 bytes and
        // need no alignment.
        unsafe {
            let table = _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast()));
            Zmm(_mm512_shuffle_epi8(table, _mm512_loadu_si512(letters.as_ptr().cast())))
        }
    }

    #[inline(always)]
    fn differing(self, other: Self, table: &Table) -> Self {
        // SAFETY: the rows are proof that the CPU has the instructions; the load is of 16 bytes and
        // needs no alignment.
        unsafe {
            let table = _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast()));
            Zmm(_mm512_shuffle_epi8(table, _mm512_xor_si512(self.0, other.0)))
        }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe { Zmm(_mm512_adds_epi8(self.0, other.0)) }
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe { Zmm(_mm512_subs_epi8(self.0, other.0)) }
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe { Zmm(_mm512_max_epi8(self.0, other.0)) }
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
    fn where_above(self, high: Self, low: Self, other: Self) -> Self {
        // SAFETY: the rows are proof that the CPU has the instructions.
        unsafe { Zmm(_mm512_mask_mov_epi8(self.0, _mm512_cmpgt_epi8_mask(high.0, low.0), other.0)) }
    }

    #[inline(always)]
    fn keep(self, floor: Self) -> (Self, u64) {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe {
            let lanes = _mm512_cmpge_epi8_mask(self.0, floor.0);
            (Zmm(_mm512_mask_mov_epi8(self.never().0, lanes, self.0)), lanes)
        }
    }

    #[inline(always)]
    fn up<const BY: usize>(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe {
            Zmm(match BY {
                1 => _mm512_alignr_epi8::<15>(self.0, self.never().0),
                2 => _mm512_alignr_epi8::<14>(self.0, self.never().0),
                4 => _mm512_alignr_epi8::<12>(self.0, self.never().0),
                8 => _mm512_alignr_epi8::<8>(self.0, self.never().0),
                _ => unreachable!("moves are powers of two up to 8"),
            })
        }
    }

    #[inline(always)]
    fn down_from(self, above: Self) -> Self {
        // SAFETY: the rows are proof that the CPU has the instructions.
        unsafe {
            // Each section takes the first byte of the next one.
            let next = _mm512_alignr_epi64::<2>(above.0, self.0);
            Zmm(_mm512_alignr_epi8::<1>(next, self.0))
        }
    }

    #[inline(always)]
    fn spread_ends(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe { Zmm(_mm512_shuffle_epi8(self.0, _mm512_set1_epi8(15))) }
    }

    #[inline(always)]
    fn sections_up_from<const BY: usize>(self, below: Self) -> Self {
        // SAFETY: the rows are proof that the CPU has the instructions.
        unsafe {
            Zmm(match BY {
                1 => _mm512_alignr_epi64::<6>(self.0, below.0),
                2 => _mm512_alignr_epi64::<4>(self.0, below.0),
                _ => unreachable!("one section or two"),
            })
        }
    }

    #[inline(always)]
    fn spread_last(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe { Zmm(_mm512_shuffle_i64x2::<0b11_11_11_11>(self.0, self.0)) }
    }

    #[inline(always)]
    fn never(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        unsafe { Zmm(_mm512_set1_epi8(i8::MIN)) }
    }
}
