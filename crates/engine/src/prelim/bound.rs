//! An upper bound of gapped scores: the optimal local alignment of query and subject, in bytes.
//!
//! **Lossless.** An X-drop extension adds up one path through the pair's matrix with the same scores and gap costs, so its
//! score is at most that of the best local alignment. The kernel never understates that: scores below −`bias` are raised to it,
//! sums saturate only above the cut-off, and gaps next to gaps are followed too, as in the extension. A pair whose bound
//! stays below the cut-off of spec 5.1 therefore has no preliminary HSP, whichever extensions are tried.
//!
//! The layout is the striped one of Farrar (Bioinformatics 2007): lane l, element j holds query position j + l · elements. The code is
//! generic over the number of lanes and compiled once for each instruction set.

use fleetblast_seq::alphabet::SIZE;

use super::kernel::Kernel;
use super::profile::PaddedScores;

/// Largest cut-off plus bias that bytes can tell from saturation.
const MAX_BYTE: i32 = 255;
/// Subject residues between two looks at the maximum.
const CHECK_EVERY: usize = 32;

/// A query laid out for the bound.
#[derive(Clone, Debug)]
pub(super) struct BoundProfile {
    kernel: Kernel,
    /// Vectors per residue code.
    elements: usize,
    /// Scores plus bias: per residue code, per element, per lane.
    rows: Vec<u8>,
    bias: u8,
    open_extend: u8,
    extend: u8,
    cutoff: u8,
}

/// Scratch memory: best scores and gap scores of the last subject position.
#[derive(Debug, Default)]
pub(super) struct BoundScratch {
    bytes: Vec<u8>,
}

impl BoundProfile {
    /// Lays out `query`; `None` where bytes do not suffice.
    pub fn new(
        query: &[u8],
        scores: &PaddedScores,
        costs: &super::gapped::GapCosts,
        cutoff: i32,
        kernel: Kernel,
    ) -> Option<BoundProfile> {
        let finite = || scores.iter().flatten().copied().filter(|&s| s > i32::from(i16::MIN));
        let bias = -finite().min()?.min(0);
        let highest = finite().max()?;
        let fits = cutoff >= 1
            && cutoff + bias + highest <= MAX_BYTE
            && (0..=MAX_BYTE).contains(&costs.open_extend)
            && (0..=MAX_BYTE).contains(&costs.extend);
        if !fits {
            return None;
        }
        let lanes = lanes(kernel);
        let elements = query.len().div_ceil(lanes).max(1);
        let mut rows = vec![0u8; SIZE * elements * lanes];
        for (code, row) in rows.chunks_mut(elements * lanes).enumerate() {
            for (position, &letter) in query.iter().enumerate() {
                let (lane, element) = (position / elements, position % elements);
                let score = scores[(letter & 31) as usize][code].max(-bias);
                row[element * lanes + lane] = (score + bias) as u8;
            }
        }
        Some(BoundProfile {
            kernel,
            elements,
            rows,
            bias: bias as u8,
            open_extend: costs.open_extend as u8,
            extend: costs.extend as u8,
            cutoff: cutoff as u8,
        })
    }

    /// False if no alignment with `subject` (codes below 28) can reach the cut-off.
    pub fn may_reach(&self, subject: &[u8], scratch: &mut BoundScratch) -> bool {
        match self.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => x86::avx512(self, subject, scratch),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => x86::avx2(self, subject, scratch),
            _ => run::<16>(self, subject, scratch, shift),
        }
    }
}

/// Lanes of the kernel's vectors.
fn lanes(kernel: Kernel) -> usize {
    match kernel {
        Kernel::Avx512 => 64,
        Kernel::Avx2 => 32,
        Kernel::Portable => 16,
    }
}

/// Each lane's byte moves to the next lane; zero enters the first.
fn shift<const N: usize>(bytes: [u8; N]) -> [u8; N] {
    let mut out = [0; N];
    out[1..].copy_from_slice(&bytes[..N - 1]);
    out
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! The bound with instructions that not every CPU has. Only the move of bytes between lanes is spelled out: the compiler
    //! would do it byte by byte.
    #![allow(unsafe_code)]

    use std::arch::x86_64::*;

    use super::{BoundProfile, BoundScratch, run};

    /// [`run`] with AVX-512BW.
    pub(super) fn avx512(p: &BoundProfile, subject: &[u8], scratch: &mut BoundScratch) -> bool {
        #[target_feature(enable = "avx512bw")]
        fn inner(p: &BoundProfile, subject: &[u8], scratch: &mut BoundScratch) -> bool {
            run::<64>(p, subject, scratch, |bytes| {
                let mut out = [0; 64];
                // SAFETY: both arrays hold 64 bytes; loads and stores need no alignment.
                unsafe {
                    let v = _mm512_loadu_si512(bytes.as_ptr().cast());
                    // Each quarter of 16 bytes takes the last byte of the one before.
                    let before = _mm512_alignr_epi64::<6>(v, _mm512_setzero_si512());
                    let shifted = _mm512_alignr_epi8::<15>(v, before);
                    _mm512_storeu_si512(out.as_mut_ptr().cast(), shifted);
                }
                out
            })
        }
        // SAFETY: this kernel is chosen only after the CPU feature was detected.
        unsafe { inner(p, subject, scratch) }
    }

    /// [`run`] with AVX2.
    pub(super) fn avx2(p: &BoundProfile, subject: &[u8], scratch: &mut BoundScratch) -> bool {
        #[target_feature(enable = "avx2")]
        fn inner(p: &BoundProfile, subject: &[u8], scratch: &mut BoundScratch) -> bool {
            run::<32>(p, subject, scratch, |bytes| {
                let mut out = [0; 32];
                // SAFETY: both arrays hold 32 bytes; loads and stores need no alignment.
                unsafe {
                    let v = _mm256_loadu_si256(bytes.as_ptr().cast());
                    // Each half takes the last byte of the one before.
                    let before = _mm256_permute2x128_si256::<0x08>(v, v);
                    let shifted = _mm256_alignr_epi8::<15>(v, before);
                    _mm256_storeu_si256(out.as_mut_ptr().cast(), shifted);
                }
                out
            })
        }
        // SAFETY: this kernel is chosen only after the CPU feature was detected.
        unsafe { inner(p, subject, scratch) }
    }
}

/// A vector of bytes; the compiler turns the loops over it into vector instructions.
#[derive(Clone, Copy)]
struct Bytes<const N: usize>([u8; N]);

impl<const N: usize> Bytes<N> {
    const ZERO: Self = Bytes([0; N]);

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(u8, u8) -> u8) -> Self {
        let mut out = self.0;
        for (byte, other) in out.iter_mut().zip(other.0) {
            *byte = f(*byte, other);
        }
        Bytes(out)
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, u8::saturating_add)
    }

    #[inline(always)]
    fn sub(self, other: u8) -> Self {
        self.zip(Bytes([other; N]), u8::saturating_sub)
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, u8::max)
    }

    /// True if some byte is greater than its counterpart.
    #[inline(always)]
    fn any_above(self, other: Self) -> bool {
        self.zip(other, |a, b| a.saturating_sub(b)).0.iter().fold(0, |any, &byte| any | byte) != 0
    }
}

/// The striped local alignment; true as soon as the cut-off is reached. `shift` moves each byte to the next lane, zero entering the
/// first.
#[inline(always)]
fn run<const N: usize>(
    p: &BoundProfile,
    subject: &[u8],
    scratch: &mut BoundScratch,
    shift: impl Fn([u8; N]) -> [u8; N],
) -> bool {
    let elements = p.elements;
    scratch.bytes.clear();
    scratch.bytes.resize(2 * elements * N, 0);
    let (best, _) = scratch.bytes.as_chunks_mut::<N>();
    let (best, gaps) = best.split_at_mut(elements);
    let (rows, _) = p.rows.as_chunks::<N>();
    let mut top = Bytes::<N>::ZERO;
    for part in subject.chunks(CHECK_EVERY) {
        for &code in part {
            let row = &rows[code as usize * elements..][..elements];
            let mut gap_row = Bytes::<N>::ZERO;
            let mut score = Bytes(shift(best[elements - 1]));
            for ((cell, gap), scores) in best.iter_mut().zip(gaps.iter_mut()).zip(row) {
                score = score.add(Bytes(*scores)).sub(p.bias).max(Bytes(*gap)).max(gap_row);
                top = top.max(score);
                let opened = score.sub(p.open_extend);
                *gap = Bytes(*gap).sub(p.extend).max(opened).0;
                gap_row = gap_row.sub(p.extend).max(opened);
                score = Bytes(std::mem::replace(cell, score.0));
            }
            finish_gaps(best, gaps, gap_row, p, &shift);
        }
        if top.0.iter().any(|&score| score >= p.cutoff) {
            return true;
        }
    }
    false
}

/// Carries gaps along the query over the ends of the stripes, until they change nothing.
#[inline(always)]
fn finish_gaps<const N: usize>(
    best: &mut [[u8; N]],
    gaps: &mut [[u8; N]],
    mut gap_row: Bytes<N>,
    p: &BoundProfile,
    shift: impl Fn([u8; N]) -> [u8; N],
) {
    for _ in 0..N {
        gap_row = Bytes(shift(gap_row.0));
        for (cell, gap) in best.iter_mut().zip(gaps.iter_mut()) {
            let score = Bytes(*cell);
            if !gap_row.any_above(score.sub(p.open_extend)) {
                return;
            }
            let score = score.max(gap_row);
            *cell = score.0;
            *gap = Bytes(*gap).max(score.sub(p.open_extend)).0;
            gap_row = gap_row.sub(p.extend);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelim::gapped::GapCosts;
    use crate::prelim::profile;
    use crate::prelim::testing::{Random, related};
    use fleetblast_stats::scoring::ScoringSystem;

    /// Best local alignment score with affine gaps, gaps next to gaps allowed.
    fn best_local(query: &[u8], subject: &[u8], scores: &PaddedScores, costs: &GapCosts) -> i32 {
        let low = i32::MIN / 2;
        let mut best = vec![0; query.len() + 1];
        let mut gap = vec![low; query.len() + 1];
        let mut top = 0;
        for &b in subject {
            let (mut diagonal, mut gap_row) = (0, low);
            for (i, &a) in query.iter().enumerate() {
                let pair = diagonal + scores[a as usize][b as usize].max(-17);
                let score = pair.max(gap[i + 1]).max(gap_row).max(0);
                diagonal = best[i + 1];
                best[i + 1] = score;
                top = top.max(score);
                gap[i + 1] = (gap[i + 1] - costs.extend).max(score - costs.open_extend);
                gap_row = (gap_row - costs.extend).max(score - costs.open_extend);
            }
        }
        top
    }

    #[test]
    fn tells_exactly_which_pairs_reach_a_score() {
        let mut random = Random::new(7);
        for (matrix, rounds) in [("BLOSUM62", 60), ("PAM30", 60)] {
            let scoring = ScoringSystem::new(matrix, None, None).unwrap();
            let scores = profile::pad(&scoring.scores);
            let costs = GapCosts {
                open_extend: scoring.gap_open + scoring.gap_extend,
                extend: scoring.gap_extend,
                x_drop: 38,
            };
            for _ in 0..rounds {
                let len = 1 + random.below(150) as usize;
                let (query, subject) = related(&mut random, len);
                let exact = best_local(&query, &subject, &scores, &costs);
                for kernel in crate::prelim::testing::kernels() {
                    for cutoff in [exact - 1, exact, exact + 1, exact + 5] {
                        let Some(p) = BoundProfile::new(&query, &scores, &costs, cutoff, kernel)
                        else {
                            continue;
                        };
                        let reached = p.may_reach(&subject, &mut BoundScratch::default());
                        assert_eq!(
                            reached,
                            exact >= cutoff,
                            "{matrix} {kernel:?} {exact} {cutoff}"
                        );
                    }
                }
            }
        }
    }
}
