//! Rows with AVX2.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Cells, Computation, LANES, Row, Table};
use crate::kernel::Avx2;

/// Runs a computation with AVX2.
pub(super) fn perform<W: Computation>(proof: Avx2, work: W) -> W::Output {
    #[target_feature(enable = "avx2")]
    fn inner<W: Computation>(proof: Avx2, work: W) -> W::Output {
        work.run::<Halves>(proof)
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(proof, work) }
}

/// A row in two registers. Its existence proves that the CPU has the instructions.
#[derive(Clone, Copy)]
struct Halves(__m256i, __m256i);

impl Halves {
    /// Returns the highest bit of each byte.
    #[inline(always)]
    fn bits(self) -> u64 {
        // SAFETY: the row is proof that the CPU has the instructions.
        let bits = |half| u64::from(unsafe { _mm256_movemask_epi8(half) } as u32);
        bits(self.0) | bits(self.1) << 32
    }
}

impl Row for Halves {
    type Proof = Avx2;

    #[inline(always)]
    fn splat(_: Avx2, byte: i8) -> Self {
        // SAFETY: the proof says that the CPU has the instructions.
        let half = unsafe { _mm256_set1_epi8(byte) };
        Halves(half, half)
    }

    #[inline(always)]
    fn load(_: Avx2, cells: &Cells) -> Self {
        let (halves, _) = cells.as_chunks::<32>();
        // SAFETY: by the proof the CPU has the instructions; each half holds 32 bytes, the loads
        // need no alignment.
        let load = |half: &[i8; 32]| unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
        Halves(load(&halves[0]), load(&halves[1]))
    }

    #[inline(always)]
    fn load_letters(_: Avx2, letters: &[u8; LANES]) -> Self {
        let (halves, _) = letters.as_chunks::<32>();
        // SAFETY: by the proof the CPU has the instructions; each half holds 32 bytes, the loads
        // need no alignment.
        let load = |half: &[u8; 32]| unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
        Halves(load(&halves[0]), load(&halves[1]))
    }

    #[inline(always)]
    fn store_to(self, cells: &mut Cells) {
        let (halves, _) = cells.as_chunks_mut::<32>();
        // SAFETY: the row is proof that the CPU has the instructions; each half holds 32 bytes, the
        // stores need no alignment.
        unsafe {
            _mm256_storeu_si256(halves[0].as_mut_ptr().cast(), self.0);
            _mm256_storeu_si256(halves[1].as_mut_ptr().cast(), self.1);
        }
    }

    #[inline(always)]
    fn look_up(_: Avx2, table: &Table, letters: &[u8; LANES]) -> Self {
        let (halves, _) = letters.as_chunks::<32>();
        // SAFETY: by the proof the CPU has the instructions; the loads are of 16 bytes and of 32
        // letters, and need no alignment.
        unsafe {
            let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()));
            let look = |letters: &[u8; 32]| {
                _mm256_shuffle_epi8(table, _mm256_loadu_si256(letters.as_ptr().cast()))
            };
            Halves(look(&halves[0]), look(&halves[1]))
        }
    }

    #[inline(always)]
    fn differing(self, other: Self, table: &Table) -> Self {
        // SAFETY: the rows are proof that the CPU has the instructions; the load is of 16 bytes and
        // needs no alignment.
        unsafe {
            let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()));
            zip(self, other, |a, b| _mm256_shuffle_epi8(table, _mm256_xor_si256(a, b)))
        }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: the rows are proof that the CPU has the instructions.
        zip(self, other, |a, b| unsafe { _mm256_adds_epi8(a, b) })
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: the rows are proof that the CPU has the instructions.
        zip(self, other, |a, b| unsafe { _mm256_subs_epi8(a, b) })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: the rows are proof that the CPU has the instructions.
        zip(self, other, |a, b| unsafe { _mm256_max_epi8(a, b) })
    }

    #[inline(always)]
    fn above(self, other: Self) -> u64 {
        // SAFETY: the rows are proof that the CPU has the instructions.
        zip(self, other, |a, b| unsafe { _mm256_cmpgt_epi8(a, b) }).bits()
    }

    #[inline(always)]
    fn equal(self, other: Self) -> u64 {
        // SAFETY: the rows are proof that the CPU has the instructions.
        zip(self, other, |a, b| unsafe { _mm256_cmpeq_epi8(a, b) }).bits()
    }

    #[inline(always)]
    fn where_above(self, high: Self, low: Self, other: Self) -> Self {
        // SAFETY: the rows are proof that the CPU has the instructions.
        let above = zip(high, low, |a, b| unsafe { _mm256_cmpgt_epi8(a, b) });
        // SAFETY: the rows are proof that the CPU has the instructions.
        let blend = |a, b, mask| unsafe { _mm256_blendv_epi8(a, b, mask) };
        Halves(blend(self.0, other.0, above.0), blend(self.1, other.1, above.1))
    }

    #[inline(always)]
    fn keep(self, floor: Self) -> (Self, u64) {
        // SAFETY: the rows are proof that the CPU has the instructions.
        let below = zip(floor, self, |a, b| unsafe { _mm256_cmpgt_epi8(a, b) });
        let never = self.never().0;
        // SAFETY: the rows are proof that the CPU has the instructions.
        let kept = zip(self, below, |a, b| unsafe { _mm256_blendv_epi8(a, never, b) });
        (kept, !below.bits())
    }

    #[inline(always)]
    fn up<const BY: usize>(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        let up = |half| unsafe {
            match BY {
                1 => _mm256_alignr_epi8::<15>(half, self.never().0),
                2 => _mm256_alignr_epi8::<14>(half, self.never().0),
                4 => _mm256_alignr_epi8::<12>(half, self.never().0),
                8 => _mm256_alignr_epi8::<8>(half, self.never().0),
                _ => unreachable!("moves are powers of two up to 8"),
            }
        };
        Halves(up(self.0), up(self.1))
    }

    #[inline(always)]
    fn down_from(self, above: Self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        let down = |half, above| unsafe {
            // Each section takes the first byte of the next one.
            let next = _mm256_permute2x128_si256::<0x21>(half, above);
            _mm256_alignr_epi8::<1>(next, half)
        };
        Halves(down(self.0, self.1), down(self.1, above.0))
    }

    #[inline(always)]
    fn spread_ends(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        let spread = |half| unsafe { _mm256_shuffle_epi8(half, _mm256_set1_epi8(15)) };
        Halves(spread(self.0), spread(self.1))
    }

    #[inline(always)]
    fn sections_up_from<const BY: usize>(self, from: Self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        let up = |half, below| unsafe { _mm256_permute2x128_si256::<0x21>(below, half) };
        match BY {
            1 => Halves(up(self.0, from.1), up(self.1, self.0)),
            2 => Halves(from.1, self.0),
            _ => unreachable!("one section or two"),
        }
    }

    #[inline(always)]
    fn spread_last(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        let last = unsafe { _mm256_permute2x128_si256::<0x11>(self.1, self.1) };
        Halves(last, last)
    }

    #[inline(always)]
    fn never(self) -> Self {
        // SAFETY: the row is proof that the CPU has the instructions.
        let half = unsafe { _mm256_set1_epi8(i8::MIN) };
        Halves(half, half)
    }
}

#[inline(always)]
fn zip(a: Halves, b: Halves, f: impl Fn(__m256i, __m256i) -> __m256i) -> Halves {
    Halves(f(a.0, b.0), f(a.1, b.1))
}
