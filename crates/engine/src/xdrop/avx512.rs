//! Vector rows with AVX-512.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::window::{self, Chunk, LANES, Lanes, Window};
use super::{Extent, Record, Scheme};

/// [`window::extend`] with AVX-512.
pub(super) fn extend<R: Record>(
    query: &[u8],
    subject: &[u8],
    scheme: &Scheme<'_>,
    window: &mut Window,
    record: &mut R,
) -> Extent {
    #[target_feature(enable = "avx512bw")]
    fn inner<R: Record>(
        query: &[u8],
        subject: &[u8],
        scheme: &Scheme<'_>,
        window: &mut Window,
        record: &mut R,
    ) -> Extent {
        window::extend::<Avx512, R>(query, subject, scheme, window, record)
    }
    // SAFETY: this kernel is chosen only after the CPU feature was detected.
    unsafe { inner(query, subject, scheme, window, record) }
}

/// A chunk in a register. Made and used within [`extend`] only.
#[derive(Clone, Copy)]
struct Avx512(__m512i);

impl Lanes for Avx512 {
    type Mask = u16;

    #[inline(always)]
    fn splat(score: i32) -> Self {
        // SAFETY: called from `extend` only, so the CPU has the instructions.
        unsafe { Avx512(_mm512_set1_epi32(score)) }
    }

    #[inline(always)]
    fn load(chunk: &Chunk) -> Self {
        // SAFETY: as in `splat`; the load is of 64 bytes and needs no alignment.
        unsafe { Avx512(_mm512_loadu_si512(chunk.as_ptr().cast())) }
    }

    #[inline(always)]
    fn store(self) -> Chunk {
        let mut out = [0; LANES];
        // SAFETY: as in `splat`; the store is of 64 bytes and needs no alignment.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), self.0) };
        out
    }

    #[inline(always)]
    fn look_up(table: &[i32; 32], codes: &[u8; LANES]) -> Self {
        let (halves, _) = table.as_chunks();
        let (low, high) = (Self::load(&halves[0]), Self::load(&halves[1]));
        // SAFETY: as in `splat`; the load is of 16 bytes and needs no alignment.
        unsafe {
            let codes = _mm512_cvtepu8_epi32(_mm_loadu_si128(codes.as_ptr().cast()));
            Avx512(_mm512_permutex2var_epi32(low.0, codes, high.0))
        }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: as in `splat`.
        unsafe { Avx512(_mm512_add_epi32(self.0, other.0)) }
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: as in `splat`.
        unsafe { Avx512(_mm512_sub_epi32(self.0, other.0)) }
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: as in `splat`.
        unsafe { Avx512(_mm512_max_epi32(self.0, other.0)) }
    }

    #[inline(always)]
    fn above(self, other: Self) -> u16 {
        // SAFETY: as in `splat`.
        unsafe { _mm512_cmpgt_epi32_mask(self.0, other.0) }
    }

    #[inline(always)]
    fn replace(self, chosen: u16, other: Self) -> Self {
        // SAFETY: as in `splat`.
        unsafe { Avx512(_mm512_mask_mov_epi32(self.0, chosen, other.0)) }
    }

    #[inline(always)]
    fn bits(mask: u16) -> u16 {
        mask
    }

    #[inline(always)]
    fn up<const BY: usize>(self, below: Self) -> Self {
        // SAFETY: as in `splat`.
        unsafe {
            Avx512(match BY {
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
        // SAFETY: as in `splat`.
        unsafe { Avx512(_mm512_permutexvar_epi32(_mm512_set1_epi32(15), self.0)) }
    }

    #[inline(always)]
    fn narrow(self) -> [u8; LANES] {
        let mut out = [0; LANES];
        // SAFETY: as in `splat`; the store is of 16 bytes and needs no alignment.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(self.0)) };
        out
    }
}
