//! Vector rows with AVX2.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::window::{self, Chunk, LANES, Lanes, Window};
use super::{Extent, Scheme, StepRecorder};
use crate::kernel::Avx2;
use crate::scores::RowNumber;

/// Runs [`window::extend`] with AVX2.
pub(super) fn extend<R: StepRecorder>(
    proof: Avx2,
    query: &[RowNumber],
    subject: &[u8],
    scheme: &Scheme<'_>,
    window: &mut Window,
    recorder: &mut R,
) -> Extent {
    #[target_feature(enable = "avx2")]
    fn inner<R: StepRecorder>(
        proof: Avx2,
        query: &[RowNumber],
        subject: &[u8],
        scheme: &Scheme<'_>,
        window: &mut Window,
        recorder: &mut R,
    ) -> Extent {
        window::extend::<Halves, R>(proof, query, subject, scheme, window, recorder)
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(proof, query, subject, scheme, window, recorder) }
}

/// Runs [`window::moved_up`] with AVX2.
#[inline(always)]
pub(crate) fn moved_up<const BY: usize>(proof: Avx2, chunk: &Chunk, below: &Chunk) -> Chunk {
    window::moved_up::<Halves, BY>(proof, chunk, below)
}

/// A chunk in two registers. Its existence proves that the CPU has the instructions.
#[derive(Clone, Copy)]
struct Halves(__m256i, __m256i);

impl Lanes for Halves {
    type Proof = Avx2;
    /// A chunk in which all bits of each selected lane are set.
    type Mask = Halves;

    #[inline(always)]
    fn splat(_: Avx2, score: i32) -> Self {
        // SAFETY: the proof says that the CPU has the instructions.
        let lanes = unsafe { _mm256_set1_epi32(score) };
        Halves(lanes, lanes)
    }

    #[inline(always)]
    fn load(_: Avx2, chunk: &Chunk) -> Self {
        let (halves, _) = chunk.as_chunks::<8>();
        // SAFETY: by the proof the CPU has the instructions; the loads are of 32 bytes and need no
        // alignment.
        let load = |half: &[i32; 8]| unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
        Halves(load(&halves[0]), load(&halves[1]))
    }

    #[inline(always)]
    fn store_to(self, chunk: &mut Chunk) {
        let (halves, _) = chunk.as_chunks_mut::<8>();
        // SAFETY: the lanes are proof that the CPU has the instructions; the stores are of 32 bytes
        // and need no alignment.
        unsafe {
            _mm256_storeu_si256(halves[0].as_mut_ptr().cast(), self.0);
            _mm256_storeu_si256(halves[1].as_mut_ptr().cast(), self.1);
        }
    }

    #[inline(always)]
    fn look_up(_: Avx2, table: &[i32; 32], codes: &[u8; LANES]) -> Self {
        let (halves, _) = codes.as_chunks::<8>();
        // SAFETY: by the proof the CPU has the instructions; the loads are of 8 bytes and need no
        // alignment, and codes of five bits are within the table.
        let look = |codes: &[u8; 8]| unsafe {
            let codes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(codes.as_ptr().cast()));
            let codes = _mm256_and_si256(codes, _mm256_set1_epi32(31));
            _mm256_i32gather_epi32::<4>(table.as_ptr(), codes)
        };
        Halves(look(&halves[0]), look(&halves[1]))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: the lanes are proof that the CPU has the instructions.
        zip(self, other, |a, b| unsafe { _mm256_add_epi32(a, b) })
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: the lanes are proof that the CPU has the instructions.
        zip(self, other, |a, b| unsafe { _mm256_sub_epi32(a, b) })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: the lanes are proof that the CPU has the instructions.
        zip(self, other, |a, b| unsafe { _mm256_max_epi32(a, b) })
    }

    #[inline(always)]
    fn above(self, other: Self) -> Self {
        // SAFETY: the lanes are proof that the CPU has the instructions.
        zip(self, other, |a, b| unsafe { _mm256_cmpgt_epi32(a, b) })
    }

    #[inline(always)]
    fn replace(self, chosen: Self, other: Self) -> Self {
        // SAFETY: the lanes are proof that the CPU has the instructions.
        unsafe {
            Halves(
                _mm256_blendv_epi8(self.0, other.0, chosen.0),
                _mm256_blendv_epi8(self.1, other.1, chosen.1),
            )
        }
    }

    #[inline(always)]
    fn bits(mask: Self) -> u16 {
        // SAFETY: the lanes are proof that the CPU has the instructions.
        let bits = |half| unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(half)) };
        (bits(mask.0) | bits(mask.1) << 8) as u16
    }

    #[inline(always)]
    fn up<const BY: usize>(self, below: Self) -> Self {
        // SAFETY: the lanes are proof that the CPU has the instructions.
        unsafe {
            // Each group of 16 bytes takes the last bytes of the group before it.
            let before = Halves(
                _mm256_permute2x128_si256::<0x21>(below.1, self.0),
                _mm256_permute2x128_si256::<0x21>(self.0, self.1),
            );
            match BY {
                1 => zip(self, before, |a, b| _mm256_alignr_epi8::<12>(a, b)),
                2 => zip(self, before, |a, b| _mm256_alignr_epi8::<8>(a, b)),
                4 => before,
                8 => Halves(below.1, self.0),
                _ => unreachable!("moves are powers of two up to 8"),
            }
        }
    }

    #[inline(always)]
    fn spread_last(self) -> Self {
        // SAFETY: the lanes are proof that the CPU has the instructions.
        let lanes = unsafe { _mm256_permutevar8x32_epi32(self.1, _mm256_set1_epi32(7)) };
        Halves(lanes, lanes)
    }

    #[inline(always)]
    fn narrow_to(self, bytes: &mut [u8; LANES]) {
        // SAFETY: the lanes are proof that the CPU has the instructions; the store is of 16 bytes
        // and needs no alignment.
        unsafe {
            let pairs = _mm256_packs_epi32(self.0, self.1);
            let pairs = _mm256_permute4x64_epi64::<0b11_01_10_00>(pairs);
            let (low, high) = (_mm256_castsi256_si128(pairs), _mm256_extracti128_si256::<1>(pairs));
            _mm_storeu_si128(bytes.as_mut_ptr().cast(), _mm_packs_epi16(low, high));
        }
    }
}

#[inline(always)]
fn zip(a: Halves, b: Halves, f: impl Fn(__m256i, __m256i) -> __m256i) -> Halves {
    Halves(f(a.0, b.0), f(a.1, b.1))
}
