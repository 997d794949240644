//! Finds the query positions where sums of scores reach their limits.

use crate::kernel::Kernel;

/// Number of positions that are tested together.
pub(super) const LANES: usize = 32;

/// Calls `found` with the positions where the sum of the rows reaches the limit, ascending. All
/// slices have the same length, a multiple of [`LANES`].
pub(super) fn reached<const SIZE: usize>(
    kernel: Kernel,
    rows: [&[i16]; SIZE],
    limits: &[i16],
    found: impl FnMut(usize),
) {
    match kernel.avx2() {
        #[cfg(target_arch = "x86_64")]
        Some(proof) => x86::avx2(proof, rows, limits, found),
        _ => portable(rows, limits, found),
    }
}

/// Does the work of [`reached`] in plain Rust.
fn portable<const SIZE: usize>(rows: [&[i16]; SIZE], limits: &[i16], mut found: impl FnMut(usize)) {
    for (at, limits) in limits.chunks_exact(LANES).enumerate() {
        let mut sums = [0i16; LANES];
        for row in rows {
            for (sum, score) in sums.iter_mut().zip(&row[at * LANES..][..LANES]) {
                *sum = sum.saturating_add(*score);
            }
        }
        if sums.iter().zip(limits).fold(false, |any, (sum, limit)| any | (sum >= limit)) {
            let lanes = (0..LANES).filter(|&lane| sums[lane] >= limits[lane]);
            lanes.for_each(|lane| found(at * LANES + lane));
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! Instructions that not every CPU has.
    #![allow(unsafe_code)]

    use std::arch::x86_64::*;

    use super::LANES;
    use crate::kernel::Avx2;

    /// Does the work of [`reached`] with AVX2. Wider vectors gain nothing, because the loads are
    /// the bottleneck, most of them across two cache lines.
    pub(super) fn avx2<const SIZE: usize>(
        _: Avx2,
        rows: [&[i16]; SIZE],
        limits: &[i16],
        found: impl FnMut(usize),
    ) {
        #[target_feature(enable = "avx2")]
        fn inner<const SIZE: usize>(
            rows: [&[i16]; SIZE],
            limits: &[i16],
            mut found: impl FnMut(usize),
        ) {
            for at in (0..limits.len()).step_by(LANES) {
                // SAFETY: all slices have the same length, a multiple of 32; the loads need no
                // alignment.
                let load = |row: &[i16], half: usize| unsafe {
                    _mm256_loadu_si256(row.as_ptr().add(at + 16 * half).cast())
                };
                let (mut low, mut high) = (load(rows[0], 0), load(rows[0], 1));
                for row in &rows[1..] {
                    low = _mm256_adds_epi16(low, load(row, 0));
                    high = _mm256_adds_epi16(high, load(row, 1));
                }
                let low = _mm256_cmpgt_epi16(load(limits, 0), low);
                let high = _mm256_cmpgt_epi16(load(limits, 1), high);
                // Packing interleaves its halves: lanes 0–7, 16–23, 8–15, 24–31.
                let packed = _mm256_packs_epi16(low, high);
                let ordered = _mm256_permute4x64_epi64::<0b11_01_10_00>(packed);
                let mut lanes = !_mm256_movemask_epi8(ordered) as u32;
                while lanes != 0 {
                    found(at + lanes.trailing_zeros() as usize);
                    lanes &= lanes - 1;
                }
            }
        }
        assert!(limits.len().is_multiple_of(LANES));
        assert!(rows.iter().all(|row| row.len() == limits.len()));
        // SAFETY: the proof says that the CPU has the instructions.
        unsafe { inner(rows, limits, found) }
    }
}
