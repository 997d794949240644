//! The bound with instructions that not every CPU has.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Band, Direction, HALF, Half, Lanes, run};

/// [`run`] with AVX-512BW.
pub(super) fn avx512(band: &Band, directions: [Direction; 2], cutoff: i32) -> bool {
    #[target_feature(enable = "avx512bw")]
    fn inner(band: &Band, directions: [Direction; 2], cutoff: i32) -> bool {
        run::<Avx512>(band, directions, cutoff)
    }
    // SAFETY: this kernel is chosen only after the CPU feature was detected.
    unsafe { inner(band, directions, cutoff) }
}

/// [`run`] with AVX2.
pub(super) fn avx2(band: &Band, directions: [Direction; 2], cutoff: i32) -> bool {
    #[target_feature(enable = "avx2")]
    fn inner(band: &Band, directions: [Direction; 2], cutoff: i32) -> bool {
        run::<Avx2>(band, directions, cutoff)
    }
    // SAFETY: this kernel is chosen only after the CPU feature was detected.
    unsafe { inner(band, directions, cutoff) }
}

/// Used by [`avx512`] only.
struct Avx512;

impl Lanes for Avx512 {
    #[inline(always)]
    fn look_up(table: &[u8; 32], codes: &Half) -> Half {
        // SAFETY: called from `avx512` only, so the CPU has the instructions; the loads are of 16 bytes each and need no
        // alignment.
        unsafe {
            let codes = load(codes);
            let half = |at: usize| {
                _mm512_broadcast_i32x4(_mm_loadu_si128(table[at..at + 16].as_ptr().cast()))
            };
            // The shuffle looks at the low four bits.
            let low = _mm512_shuffle_epi8(half(0), codes);
            let upper = _mm512_test_epi8_mask(codes, _mm512_set1_epi8(16));
            store(_mm512_mask_shuffle_epi8(low, upper, half(16), codes))
        }
    }

    #[inline(always)]
    fn up<const BY: usize>(half: Half, below: Half) -> Half {
        // SAFETY: called from `avx512` only, so the CPU has the instructions.
        unsafe {
            let half = load(&half);
            // Each quarter of 16 bytes takes the last bytes of the one before.
            let before = _mm512_alignr_epi64::<6>(half, load(&below));
            store(match BY {
                1 => _mm512_alignr_epi8::<15>(half, before),
                2 => _mm512_alignr_epi8::<14>(half, before),
                4 => _mm512_alignr_epi8::<12>(half, before),
                8 => _mm512_alignr_epi8::<8>(half, before),
                16 => before,
                _ => unreachable!("moves are powers of two up to 16"),
            })
        }
    }

    #[inline(always)]
    fn down(half: Half, above: Half) -> Half {
        // SAFETY: called from `avx512` only, so the CPU has the instructions.
        unsafe {
            let half = load(&half);
            let after = _mm512_alignr_epi64::<2>(load(&above), half);
            store(_mm512_alignr_epi8::<1>(after, half))
        }
    }
}

#[target_feature(enable = "avx512bw")]
#[inline]
fn load(half: &Half) -> __m512i {
    // SAFETY: `half` holds 64 bytes; the load needs no alignment.
    unsafe { _mm512_loadu_si512(half.as_ptr().cast()) }
}

#[target_feature(enable = "avx512bw")]
#[inline]
fn store(half: __m512i) -> Half {
    let mut out = [0; HALF];
    // SAFETY: `out` holds 64 bytes; the store needs no alignment.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), half) };
    out
}

/// Used by [`avx2`] only.
struct Avx2;

impl Lanes for Avx2 {
    #[inline(always)]
    fn look_up(table: &[u8; 32], codes: &Half) -> Half {
        // SAFETY: called from `avx2` only, so the CPU has the instructions; the loads are of 16 bytes each and need no
        // alignment.
        unsafe {
            let half = |at: usize| {
                _mm256_broadcastsi128_si256(_mm_loadu_si128(table[at..at + 16].as_ptr().cast()))
            };
            let look = |codes| {
                // The shuffle looks at the low four bits; the blend at the highest, where bit 4 is moved to.
                let upper = _mm256_slli_epi16::<3>(codes);
                _mm256_blendv_epi8(
                    _mm256_shuffle_epi8(half(0), codes),
                    _mm256_shuffle_epi8(half(16), codes),
                    upper,
                )
            };
            let [first, second] = quarters(codes);
            join(look(first), look(second))
        }
    }

    #[inline(always)]
    fn up<const BY: usize>(half: Half, below: Half) -> Half {
        // SAFETY: called from `avx2` only, so the CPU has the instructions.
        unsafe {
            let ([first, second], [_, below]) = (quarters(&half), quarters(&below));
            // Each 16 bytes take the last bytes of those before.
            let before_first = _mm256_permute2x128_si256::<0x21>(below, first);
            let before_second = _mm256_permute2x128_si256::<0x21>(first, second);
            let shift = |row, before| match BY {
                1 => _mm256_alignr_epi8::<15>(row, before),
                2 => _mm256_alignr_epi8::<14>(row, before),
                4 => _mm256_alignr_epi8::<12>(row, before),
                8 => _mm256_alignr_epi8::<8>(row, before),
                16 => before,
                _ => unreachable!("moves are powers of two up to 16"),
            };
            join(shift(first, before_first), shift(second, before_second))
        }
    }

    #[inline(always)]
    fn down(half: Half, above: Half) -> Half {
        // SAFETY: called from `avx2` only, so the CPU has the instructions.
        unsafe {
            let ([first, second], [above, _]) = (quarters(&half), quarters(&above));
            let after_first = _mm256_permute2x128_si256::<0x21>(first, second);
            let after_second = _mm256_permute2x128_si256::<0x21>(second, above);
            join(
                _mm256_alignr_epi8::<1>(after_first, first),
                _mm256_alignr_epi8::<1>(after_second, second),
            )
        }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn quarters(half: &Half) -> [__m256i; 2] {
    let (quarters, _) = half.as_chunks::<32>();
    // SAFETY: both chunks hold 32 bytes; the loads need no alignment.
    unsafe {
        [
            _mm256_loadu_si256(quarters[0].as_ptr().cast()),
            _mm256_loadu_si256(quarters[1].as_ptr().cast()),
        ]
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn join(first: __m256i, second: __m256i) -> Half {
    let mut out = [0; HALF];
    let (quarters, _) = out.as_chunks_mut::<32>();
    // SAFETY: both chunks hold 32 bytes; the stores need no alignment.
    unsafe {
        _mm256_storeu_si256(quarters[0].as_mut_ptr().cast(), first);
        _mm256_storeu_si256(quarters[1].as_mut_ptr().cast(), second);
    }
    out
}
