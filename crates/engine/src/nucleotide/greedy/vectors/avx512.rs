//! Vectors in registers of AVX-512.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Vector, VectorRows};
use crate::kernel::Avx512;
use crate::nucleotide::greedy::linear::Rows;
use crate::nucleotide::greedy::pairs::OutwardSequences;
use crate::nucleotide::greedy::rows::{Chunk, LANES};
use crate::nucleotide::greedy::{BestEnd, Scoring};

/// Proof of AVX-512CD in addition to AVX-512BW.
#[derive(Clone, Copy, Debug)]
pub(in crate::nucleotide::greedy) struct Proof(Avx512);

impl Proof {
    /// Returns the proof if this CPU has the instructions.
    pub fn detect(proof: Avx512) -> Option<Proof> {
        is_x86_feature_detected!("avx512cd").then_some(Proof(proof))
    }
}

/// Runs [`Rows::extend`] with AVX-512.
pub(in crate::nucleotide::greedy) fn extend<const BACK: bool>(
    proof: Proof,
    rows: &mut Rows,
    sequences: &OutwardSequences<'_, BACK>,
    scoring: &Scoring,
    x_drop: i32,
    keeps: bool,
) -> BestEnd {
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn inner<const BACK: bool>(
        proof: Proof,
        rows: &mut Rows,
        sequences: &OutwardSequences<'_, BACK>,
        scoring: &Scoring,
        x_drop: i32,
        keeps: bool,
    ) -> BestEnd {
        rows.extend(VectorRows::<Register>(proof), sequences, scoring, x_drop, keeps)
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(proof, rows, sequences, scoring, x_drop, keeps) }
}

/// A vector in one register. Its existence proves that the CPU has the instructions.
#[derive(Clone, Copy)]
struct Register(__m512i);

// SAFETY of all calls below: a proof or a vector says that the CPU has the instructions.
impl Vector for Register {
    type Proof = Proof;
    type Mask = __mmask16;
    type Window = __m512i;
    const WORDS: i32 = 16;

    #[inline(always)]
    fn splat(_: Proof, number: i32) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm512_set1_epi32(number) })
    }

    #[inline(always)]
    fn numbered(_: Proof) -> Self {
        // SAFETY: see above.
        Register(unsafe { numbers() })
    }

    #[inline(always)]
    fn load(_: Proof, chunk: &Chunk) -> Self {
        // SAFETY: see above; a chunk has 64 bytes and is aligned to 64.
        Register(unsafe { _mm512_load_si512(std::ptr::from_ref(chunk).cast()) })
    }

    #[inline(always)]
    fn store(self) -> Chunk {
        let mut chunk = Chunk([0; LANES]);
        // SAFETY: see above; a chunk has 64 bytes and is aligned to 64.
        unsafe { _mm512_store_si512(std::ptr::from_mut(&mut chunk).cast(), self.0) };
        chunk
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm512_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm512_sub_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm512_or_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm512_xor_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm512_max_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm512_min_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn largest(self) -> i32 {
        // SAFETY: see above.
        unsafe { _mm512_reduce_max_epi32(self.0) }
    }

    #[inline(always)]
    fn above(self, other: Self) -> __mmask16 {
        // SAFETY: see above.
        unsafe { _mm512_cmpgt_epi32_mask(self.0, other.0) }
    }

    #[inline(always)]
    fn equals(self, other: Self) -> __mmask16 {
        // SAFETY: see above.
        unsafe { _mm512_cmpeq_epi32_mask(self.0, other.0) }
    }

    #[inline(always)]
    fn both(one: __mmask16, other: __mmask16) -> __mmask16 {
        one & other
    }

    #[inline(always)]
    fn bits(mask: __mmask16) -> u32 {
        mask.into()
    }

    #[inline(always)]
    fn or_else(self, mask: __mmask16, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm512_mask_mov_epi32(other.0, mask, self.0) })
    }

    #[inline(always)]
    fn down_from(self, above: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm512_alignr_epi32::<1>(above.0, self.0) })
    }

    #[inline(always)]
    fn up_from(self, below: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm512_alignr_epi32::<15>(self.0, below.0) })
    }

    #[inline(always)]
    fn moved(self, by: i32, fill: i32) -> Self {
        // SAFETY: see above.
        unsafe {
            let from = _mm512_add_epi32(_mm512_set1_epi32(by), numbers());
            let there = _mm512_cmplt_epu32_mask(from, _mm512_set1_epi32(LANES as i32));
            let fill = _mm512_set1_epi32(fill);
            Register(_mm512_mask_permutexvar_epi32(fill, there, from, self.0))
        }
    }

    #[inline(always)]
    fn window(_: Proof, bytes: &[u8], at: usize) -> __m512i {
        let rest = bytes.get(at..).unwrap_or(&[]);
        let there = u64::MAX.checked_shr(64 - rest.len().min(64) as u32).unwrap_or(0);
        // SAFETY: see above; as many bytes as the mask has bits are there. Each word is reversed.
        unsafe {
            let reversed = _mm512_set4_epi32(0x0C0D_0E0F, 0x0809_0A0B, 0x0405_0607, 0x0001_0203);
            _mm512_shuffle_epi8(_mm512_maskz_loadu_epi8(there, rest.as_ptr().cast()), reversed)
        }
    }

    #[inline(always)]
    fn extract(self, window: __m512i) -> Self {
        // SAFETY: see above.
        unsafe {
            let at = _mm512_srli_epi32::<4>(self.0);
            let after = _mm512_add_epi32(at, _mm512_set1_epi32(1));
            let in_word = _mm512_and_si512(self.0, _mm512_set1_epi32(15));
            let shift = _mm512_add_epi32(in_word, in_word);
            let rest = _mm512_sub_epi32(_mm512_set1_epi32(32), shift);
            let high = _mm512_sllv_epi32(_mm512_permutexvar_epi32(at, window), shift);
            let low = _mm512_srlv_epi32(_mm512_permutexvar_epi32(after, window), rest);
            Register(_mm512_or_si512(high, low))
        }
    }

    #[inline(always)]
    fn within_window(self) -> __mmask16 {
        // SAFETY: see above.
        unsafe { _mm512_cmplt_epu32_mask(self.0, _mm512_set1_epi32(16 * (Self::WORDS - 1))) }
    }

    #[inline(always)]
    fn zero_pairs<const BACK: bool>(self) -> Self {
        // SAFETY: see above.
        unsafe {
            let zeros = if BACK {
                // All bits below the lowest set bit.
                let less = _mm512_add_epi32(self.0, _mm512_set1_epi32(-1));
                let below = _mm512_andnot_si512(self.0, less);
                _mm512_sub_epi32(_mm512_set1_epi32(32), _mm512_lzcnt_epi32(below))
            } else {
                _mm512_lzcnt_epi32(self.0)
            };
            Register(_mm512_srli_epi32::<1>(zeros))
        }
    }
}

/// Returns 0, 1, 2, ... in the lanes.
///
/// # Safety
/// The CPU must have AVX-512F.
#[inline(always)]
unsafe fn numbers() -> __m512i {
    // SAFETY: the caller says that the CPU has the instructions.
    unsafe { _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) }
}
