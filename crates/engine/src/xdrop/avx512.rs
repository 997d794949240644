//! Vector rows with AVX-512.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::window::{self, Chunk, LANES, Lanes, Window};
use super::{Extent, Scheme, StepRecorder};
use crate::kernel::Avx512;
use crate::scores::RowNumber;

/// Runs [`window::extend`] with AVX-512.
pub(super) fn extend<R: StepRecorder>(
    proof: Avx512,
    query: &[RowNumber],
    subject: &[u8],
    scheme: &Scheme<'_>,
    window: &mut Window,
    recorder: &mut R,
) -> Extent {
    #[target_feature(enable = "avx512bw")]
    fn inner<R: StepRecorder>(
        proof: Avx512,
        query: &[RowNumber],
        subject: &[u8],
        scheme: &Scheme<'_>,
        window: &mut Window,
        recorder: &mut R,
    ) -> Extent {
        window::extend::<Zmm, R>(proof, query, subject, scheme, window, recorder)
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(proof, query, subject, scheme, window, recorder) }
}

/// Runs [`window::moved_up`] with AVX-512.
#[inline(always)]
pub(crate) fn moved_up<const BY: usize>(proof: Avx512, chunk: &Chunk, below: &Chunk) -> Chunk {
    window::moved_up::<Zmm, BY>(proof, chunk, below)
}

/// A chunk in one register. Its existence proves that the CPU has the instructions.
#[derive(Clone, Copy)]
struct Zmm(__m512i);

impl Lanes for Zmm {
    type Proof = Avx512;
    type Mask = u16;

    #[inline(always)]
    fn splat(_: Avx512, score: i32) -> Self {
        // SAFETY: the proof says that the CPU has the instructions.
        unsafe { Zmm(_mm512_set1_epi32(score)) }
    }

    #[inline(always)]
    fn load(_: Avx512, chunk: &Chunk) -> Self {
        // SAFETY: by the proof the CPU has the instructions; the load is of 64 bytes and needs no
        // alignment.
        unsafe { Zmm(_mm512_loadu_si512(chunk.as_ptr().cast())) }
    }

    #[inline(always)]
    fn store_to(self, chunk: &mut Chunk) {
        // SAFETY: the lanes are proof that the CPU has the instructions; the store is of 64 bytes
        // and needs no alignment.
        unsafe { _mm512_storeu_si512(chunk.as_mut_ptr().cast(), self.0) };
    }

    #[inline(always)]
    fn look_up(proof: Avx512, table: &[i32; 32], codes: &[u8; LANES]) -> Self {
        let (halves, _) = table.as_chunks();
        let (low, high) = (Self::load(proof, &halves[0]), Self::load(proof, &halves[1]));
        // SAFETY: by the proof the CPU has the instructions; the load is of 16 bytes and needs no
        // alignment.
        unsafe {
            let codes = _mm512_cvtepu8_epi32(_mm_loadu_si128(codes.as_ptr().cast()));
            Zmm(_mm512_permutex2var_epi32(low.0, codes, high.0))
        }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: the lanes are proof that the CPU has the instructions.
        unsafe { Zmm(_mm512_add_epi32(self.0, other.0)) }
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: the lanes are proof that the CPU has the instructions.
        unsafe { Zmm(_mm512_sub_epi32(self.0, other.0)) }
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: the lanes are proof that the CPU has the instructions.
        unsafe { Zmm(_mm512_max_epi32(self.0, other.0)) }
    }

    #[inline(always)]
    fn above(self, other: Self) -> u16 {
        // SAFETY: the lanes are proof that the CPU has the instructions.
        unsafe { _mm512_cmpgt_epi32_mask(self.0, other.0) }
    }

    #[inline(always)]
    fn replace(self, chosen: u16, other: Self) -> Self {
        // SAFETY: the lanes are proof that the CPU has the instructions.
        unsafe { Zmm(_mm512_mask_mov_epi32(self.0, chosen, other.0)) }
    }

    #[inline(always)]
    fn bits(mask: u16) -> u16 {
        mask
    }

    #[inline(always)]
    fn up<const BY: usize>(self, below: Self) -> Self {
        // SAFETY: the lanes are proof that the CPU has the instructions.
        unsafe {
            Zmm(match BY {
                1 => _mm512_alignr_epi32::<15>(self.0, below.0),
                2 => _mm512_alignr_epi32::<14>(self.0, below.0),
                4 => _mm512_alignr_epi32::<12>(self.0, below.0),
                8 => _mm512_alignr_epi32::<8>(self.0, below.0),
                _ => unreachable!("moves are powers of two up to 8"),
            })
        }
    }

    #[inline(always)]
    fn spread_last(self) -> Self {
        // SAFETY: the lanes are proof that the CPU has the instructions.
        unsafe { Zmm(_mm512_permutexvar_epi32(_mm512_set1_epi32(15), self.0)) }
    }

    #[inline(always)]
    fn narrow_to(self, bytes: &mut [u8; LANES]) {
        // SAFETY: the lanes are proof that the CPU has the instructions; the store is of 16 bytes
        // and needs no alignment.
        unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(self.0)) };
    }
}
