//! Finds which words of a subject occur in the queries, sixteen positions at a time.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::bases::Bits;
use crate::kernel::Avx512;

/// Number of positions in a register.
const LANES: usize = 16;
/// Number of bytes in which the words of one register start.
const STEP: usize = LANES / 4;
/// Number of bytes that contain the words of one register.
const REACH: usize = 8;

/// The widest words, in bases, that fit a lane of 32 bits at any offset within a byte.
pub(super) const WIDEST: u32 = 13;

/// Finds the positions whose words of `width` bases (at most [`WIDEST`]) are in `present`, and
/// writes them to `found`.
///
/// Examines at most `most` consecutive positions from `at` on, as far as `bytes` and `found` have
/// room. `bytes` begins with position `at`. Returns the number of positions that were examined
/// (perhaps 0), and the number that were found.
pub(super) fn find(
    _: Avx512,
    (present, width): (&Bits, u32),
    bytes: &[u8],
    (at, most): (u32, usize),
    found: &mut [u32],
) -> (usize, usize) {
    assert!(width <= WIDEST && present.words().len() * 64 >= 1 << (2 * width));
    let windows = bytes.windows(REACH).step_by(STEP).take(most.min(found.len()) / LANES);
    // SAFETY: the proof says that the CPU has the instructions, and words have no more bits than
    // there are cells.
    unsafe { inner((present, width), windows, at, found) }
}

/// # Safety
/// There is a bit in `present` for every word of `width` bases.
#[target_feature(enable = "avx512f,avx512bw,popcnt")]
unsafe fn inner<'a>(
    (present, width): (&Bits, u32),
    windows: impl Iterator<Item = &'a [u8]>,
    at: u32,
    found: &mut [u32],
) -> (usize, usize) {
    // The four positions in a byte read the same four bytes, from that byte on, the first byte in
    // the high bits.
    let of_byte = |byte: i32| _mm_set1_epi32(byte * 0x0101_0101 + 0x0001_0203);
    let mut bytes = _mm512_castsi128_si512(of_byte(0));
    bytes = _mm512_inserti32x4::<1>(bytes, of_byte(1));
    bytes = _mm512_inserti32x4::<2>(bytes, of_byte(2));
    bytes = _mm512_inserti32x4::<3>(bytes, of_byte(3));
    let before = _mm512_set4_epi32(6, 4, 2, 0);
    let beyond = _mm512_set1_epi32(32 - 2 * width as i32);
    let mut places = _mm512_add_epi32(
        _mm512_set1_epi32(at as i32),
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
    );
    let (mut looked_at, mut count) = (0, 0);
    for window in windows {
        let Some(eight) = window.first_chunk::<8>() else { break };
        let Some(room) = found.get_mut(count..count + LANES) else { break };
        let eight = _mm512_set1_epi64(i64::from_le_bytes(*eight));
        let bases = _mm512_sllv_epi32(_mm512_shuffle_epi8(eight, bytes), before);
        let cells = _mm512_srlv_epi32(bases, beyond);
        // SAFETY: the number of a cell has twice as many bits as the word has bases, and there is a
        // bit for each.
        let bits = unsafe {
            let of_cells = _mm512_srli_epi32::<5>(cells);
            _mm512_i32gather_epi32::<4>(of_cells, present.words().as_ptr().cast())
        };
        let bit = _mm512_and_si512(cells, _mm512_set1_epi32(31));
        let is_present = _mm512_test_epi32_mask(_mm512_srlv_epi32(bits, bit), _mm512_set1_epi32(1));
        // SAFETY: there is room for sixteen numbers.
        unsafe {
            let kept = _mm512_maskz_compress_epi32(is_present, places);
            _mm512_storeu_si512(room.as_mut_ptr().cast(), kept);
        }
        count += is_present.count_ones() as usize;
        looked_at += LANES;
        places = _mm512_add_epi32(places, _mm512_set1_epi32(LANES as i32));
    }
    (looked_at, count)
}

#[cfg(test)]
mod tests {
    use super::super::bases::window;
    use super::*;
    use crate::nucleotide::testing::packed;
    use crate::testing::RandomSequences;
    use fastrand::Rng;

    #[test]
    fn the_same_places_as_one_by_one() {
        let Some(proof) = Avx512::detect() else { return };
        let mut random = Rng::with_seed(11);
        for width in [4, 8, 11, 12, WIDEST] {
            let mut present = Bits::new(1 << (2 * width));
            (0..(1 << (2 * width)) / 2).for_each(|_| present.set(random.usize(..1 << (2 * width))));
            for length in [0, 31, 32, 40, 700, 5000] {
                let bytes = packed(&random.bases(length));
                let (at, most) = (4 * random.u32(..100), random.usize(..=length));
                let mut found = [0; 1024];
                let (looked_at, count) =
                    find(proof, (&present, width), &bytes, (at, most), &mut found);
                assert!(looked_at <= most && looked_at % LANES == 0);
                assert!(looked_at + LANES > most.min(found.len()) || looked_at + 32 >= length);
                let is_present = |&place: &usize| {
                    present.has((window(&bytes, place) >> (64 - 2 * width)) as usize)
                };
                let expected = (0..looked_at).filter(is_present).map(|place| at + place as u32);
                assert_eq!(found[..count], expected.collect::<Vec<_>>(), "{width} {length}");
            }
        }
    }
}
