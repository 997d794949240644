//! Vectors in two registers of AVX2.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{AT_ONCE, Vector, VectorRows, last_bytes, moved};
use crate::kernel::Avx2;
use crate::nucleotide::greedy::linear::Rows;
use crate::nucleotide::greedy::pairs::OutwardSequences;
use crate::nucleotide::greedy::rows::{Chunk, LANES};
use crate::nucleotide::greedy::{BestEnd, Scoring};

/// Runs [`Rows::extend`] with AVX2.
pub(in crate::nucleotide::greedy) fn extend<const BACK: bool>(
    proof: Avx2,
    rows: &mut Rows,
    sequences: &OutwardSequences<'_, BACK>,
    scoring: &Scoring,
    x_drop: i32,
    keeps: bool,
) -> BestEnd {
    #[target_feature(enable = "avx2")]
    fn inner<const BACK: bool>(
        proof: Avx2,
        rows: &mut Rows,
        sequences: &OutwardSequences<'_, BACK>,
        scoring: &Scoring,
        x_drop: i32,
        keeps: bool,
    ) -> BestEnd {
        rows.extend(VectorRows::<Halves>(proof), sequences, scoring, x_drop, keeps)
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(proof, rows, sequences, scoring, x_drop, keeps) }
}

/// A vector in two registers. Its existence proves that the CPU has the instructions.
#[derive(Clone, Copy)]
struct Halves(__m256i, __m256i);

// SAFETY of all calls below: a proof or a vector says that the CPU has the instructions.
impl Vector for Halves {
    type Proof = Avx2;
    /// All bits are set in the lanes that the mask has.
    type Mask = Halves;
    type Window = __m256i;
    const WORDS: i32 = 8;

    #[inline(always)]
    fn splat(_: Avx2, number: i32) -> Self {
        // SAFETY: see above.
        let half = unsafe { _mm256_set1_epi32(number) };
        Halves(half, half)
    }

    #[inline(always)]
    fn numbered(_: Avx2) -> Self {
        // SAFETY: see above.
        unsafe {
            let low = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            Halves(low, _mm256_add_epi32(low, _mm256_set1_epi32(8)))
        }
    }

    #[inline(always)]
    fn load(_: Avx2, chunk: &Chunk) -> Self {
        let place: *const __m256i = std::ptr::from_ref(chunk).cast();
        // SAFETY: see above; a chunk has 64 bytes and is aligned to 64.
        unsafe { Halves(_mm256_load_si256(place), _mm256_load_si256(place.add(1))) }
    }

    #[inline(always)]
    fn store(self) -> Chunk {
        let mut chunk = Chunk([0; LANES]);
        let place: *mut __m256i = std::ptr::from_mut(&mut chunk).cast();
        // SAFETY: see above; a chunk has 64 bytes and is aligned to 64.
        unsafe {
            _mm256_store_si256(place, self.0);
            _mm256_store_si256(place.add(1), self.1);
        }
        chunk
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Halves(_mm256_add_epi32(self.0, other.0), _mm256_add_epi32(self.1, other.1)) }
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Halves(_mm256_sub_epi32(self.0, other.0), _mm256_sub_epi32(self.1, other.1)) }
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Halves(_mm256_or_si256(self.0, other.0), _mm256_or_si256(self.1, other.1)) }
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Halves(_mm256_xor_si256(self.0, other.0), _mm256_xor_si256(self.1, other.1)) }
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Halves(_mm256_max_epi32(self.0, other.0), _mm256_max_epi32(self.1, other.1)) }
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { Halves(_mm256_min_epi32(self.0, other.0), _mm256_min_epi32(self.1, other.1)) }
    }

    #[inline(always)]
    fn largest(self) -> i32 {
        // SAFETY: see above.
        unsafe {
            let eight = _mm256_max_epi32(self.0, self.1);
            let [low, high] = [_mm256_castsi256_si128(eight), _mm256_extracti128_si256::<1>(eight)];
            let four = _mm_max_epi32(low, high);
            let two = _mm_max_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
            let one = _mm_max_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two));
            _mm_cvtsi128_si32(one)
        }
    }

    #[inline(always)]
    fn above(self, other: Self) -> Halves {
        // SAFETY: see above.
        unsafe { Halves(_mm256_cmpgt_epi32(self.0, other.0), _mm256_cmpgt_epi32(self.1, other.1)) }
    }

    #[inline(always)]
    fn equals(self, other: Self) -> Halves {
        // SAFETY: see above.
        unsafe { Halves(_mm256_cmpeq_epi32(self.0, other.0), _mm256_cmpeq_epi32(self.1, other.1)) }
    }

    #[inline(always)]
    fn both(one: Halves, other: Halves) -> Halves {
        // SAFETY: see above.
        unsafe { Halves(_mm256_and_si256(one.0, other.0), _mm256_and_si256(one.1, other.1)) }
    }

    #[inline(always)]
    fn bits(mask: Halves) -> u32 {
        // SAFETY: see above.
        unsafe {
            // Lanes become words: those of the first half of each half, then those of the second.
            let words = _mm256_packs_epi32(mask.0, mask.1);
            let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(words);
            let (low, high) = (_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
            _mm_movemask_epi8(_mm_packs_epi16(low, high)) as u32
        }
    }

    #[inline(always)]
    fn or_else(self, mask: Halves, other: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            Halves(
                _mm256_blendv_epi8(other.0, self.0, mask.0),
                _mm256_blendv_epi8(other.1, self.1, mask.1),
            )
        }
    }

    #[inline(always)]
    fn down_from(self, above: Self) -> Self {
        // SAFETY: see above.
        unsafe { Halves(half::down_from(self.0, self.1), half::down_from(self.1, above.0)) }
    }

    #[inline(always)]
    fn up_from(self, below: Self) -> Self {
        // SAFETY: see above.
        unsafe { Halves(half::up_from(self.0, below.1), half::up_from(self.1, self.0)) }
    }

    #[inline(always)]
    fn moved(self, by: i32, fill: i32) -> Self {
        let Chunk(moved) = moved(self.store(), by, fill);
        let place: *const __m256i = moved.as_ptr().cast();
        // SAFETY: see above; there are 64 bytes, and the loads need no alignment.
        unsafe { Halves(_mm256_loadu_si256(place), _mm256_loadu_si256(place.add(1))) }
    }

    #[inline(always)]
    fn window(_: Avx2, bytes: &[u8], at: usize) -> __m256i {
        let rest = bytes.get(at..).unwrap_or(&[]);
        // SAFETY: see above; there are 32 bytes, and the loads need no alignment. Each word is
        // reversed.
        unsafe {
            let words = match rest.first_chunk::<32>() {
                Some(bytes) => _mm256_loadu_si256(bytes.as_ptr().cast()),
                None => _mm256_loadu_si256(last_bytes(rest).as_ptr().cast()),
            };
            let reversed = _mm_set_epi32(0x0C0D_0E0F, 0x0809_0A0B, 0x0405_0607, 0x0001_0203);
            _mm256_shuffle_epi8(words, _mm256_broadcastsi128_si256(reversed))
        }
    }

    #[inline(always)]
    fn extract(self, window: __m256i) -> Self {
        // SAFETY: see above.
        unsafe { Halves(half::extract(self.0, window), half::extract(self.1, window)) }
    }

    #[inline(always)]
    fn within_window(self) -> Halves {
        const MOST: i32 = AT_ONCE * (Halves::WORDS - 1) - 1;
        // SAFETY: see above.
        unsafe { Halves(half::up_to::<MOST>(self.0), half::up_to::<MOST>(self.1)) }
    }

    #[inline(always)]
    fn zero_pairs<const BACK: bool>(self) -> Self {
        // SAFETY: see above.
        unsafe { Halves(half::zero_pairs::<BACK>(self.0), half::zero_pairs::<BACK>(self.1)) }
    }
}

/// Operations on one half. They have no target features, so that they can be inlined always.
mod half {
    use super::*;

    /// # Safety
    /// The CPU must have AVX2.
    #[inline(always)]
    pub unsafe fn down_from(half: __m256i, above: __m256i) -> __m256i {
        // SAFETY: the caller says that the CPU has the instructions.
        unsafe {
            let middle = _mm256_permute2x128_si256::<0x21>(half, above);
            _mm256_alignr_epi8::<4>(middle, half)
        }
    }

    /// # Safety
    /// The CPU must have AVX2.
    #[inline(always)]
    pub unsafe fn up_from(half: __m256i, below: __m256i) -> __m256i {
        // SAFETY: the caller says that the CPU has the instructions.
        unsafe {
            let middle = _mm256_permute2x128_si256::<0x21>(below, half);
            _mm256_alignr_epi8::<12>(half, middle)
        }
    }

    /// # Safety
    /// The CPU must have AVX2.
    #[inline(always)]
    pub unsafe fn extract(first: __m256i, window: __m256i) -> __m256i {
        // SAFETY: the caller says that the CPU has the instructions. Permutations use the lowest
        // three bits of a number.
        unsafe {
            let at = _mm256_srli_epi32::<4>(first);
            let after = _mm256_add_epi32(at, _mm256_set1_epi32(1));
            let in_word = _mm256_and_si256(first, _mm256_set1_epi32(AT_ONCE - 1));
            let shift = _mm256_add_epi32(in_word, in_word);
            let rest = _mm256_sub_epi32(_mm256_set1_epi32(32), shift);
            let high = _mm256_sllv_epi32(_mm256_permutevar8x32_epi32(window, at), shift);
            let low = _mm256_srlv_epi32(_mm256_permutevar8x32_epi32(window, after), rest);
            _mm256_or_si256(high, low)
        }
    }

    /// Returns the lanes whose numbers without sign are at most `MOST`.
    ///
    /// # Safety
    /// The CPU must have AVX2.
    #[inline(always)]
    pub unsafe fn up_to<const MOST: i32>(numbers: __m256i) -> __m256i {
        // SAFETY: the caller says that the CPU has the instructions.
        unsafe {
            let fewer = _mm256_min_epu32(numbers, _mm256_set1_epi32(MOST));
            _mm256_cmpeq_epi32(fewer, numbers)
        }
    }

    /// # Safety
    /// The CPU must have AVX2.
    #[inline(always)]
    pub unsafe fn zero_pairs<const BACK: bool>(bits: __m256i) -> __m256i {
        // The exponent of a floating-point number is the place of its highest bit. With one bit for
        // each pair no number is rounded up to another power of two, and none is negative.
        const BIAS: i32 = 127;
        // SAFETY: the caller says that the CPU has the instructions.
        unsafe {
            let set = _mm256_or_si256(bits, _mm256_srli_epi32::<1>(bits));
            let mut pairs = _mm256_and_si256(set, _mm256_set1_epi32(0x5555_5555));
            if BACK {
                let negative = _mm256_sub_epi32(_mm256_setzero_si256(), pairs);
                pairs = _mm256_and_si256(pairs, negative);
            }
            let real = _mm256_castps_si256(_mm256_cvtepi32_ps(pairs));
            let exponent = _mm256_srli_epi32::<23>(real);
            let zeros = match BACK {
                true => _mm256_sub_epi32(exponent, _mm256_set1_epi32(BIAS)),
                false => _mm256_sub_epi32(_mm256_set1_epi32(BIAS + 30), exponent),
            };
            // Without any bit the exponent is zero; the number of pairs is then too large.
            _mm256_min_epu32(_mm256_srli_epi32::<1>(zeros), _mm256_set1_epi32(AT_ONCE))
        }
    }
}
