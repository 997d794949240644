//! An upper bound of gapped extensions: a band of diagonals around the start, in bytes.
//!
//! **Lossless.** An X-drop extension ([`super::gapped`]) adds up one path from its start with the same scores and gap costs. Here
//! every path is followed that stays in the band and above a floor which the extension is known to drop, so the best score here
//! is at least the extension's. Where that is not certain, the bound says that anything is possible:
//! * A path that touches the edge of the band may leave it.
//! * The floor is that of a best score of zero, or of the best score L of the start's own diagonal. The extension has seen L
//!   if it did not drop the diagonal on the way there, which is certain while the diagonal keeps within the X-drop of the best score
//!   found *here*.
//! * A score that reaches the largest byte may be greater.
//! * In its first row the restricted extension grows its window to the right by gaps that cost nothing to open, if the last
//!   column of the row before is alive (`s_RestrictedGappedAlign`, blast_gapalign.c). These columns are put in by hand.
//!
//! Rows are query residues, lanes are diagonals; a gap in the query moves a score to the lane below from row to row, a gap in
//! the subject to lanes above within the row. Scores are biased, so that zero means dropped.

use super::gapped::GapCosts;
use super::kernel::Kernel;
use super::profile::PaddedScores;

/// Diagonals in half of the band.
const HALF: usize = 64;
/// Diagonals in the band. Extensions rarely stray further from the start: a single gap stays alive over less than half of this.
const BAND: usize = 2 * HALF;
/// Lane of the start's diagonal. The gaps of the first row reach further to the right than others do to the left.
const CENTRE: usize = 60;
/// Longest gap that a row follows.
const LONGEST_GAP: i32 = 32;
/// Bytes before and after the subject that a row may look at.
pub(super) const MARGIN: usize = BAND;
/// Rows between two looks whether the band is empty or the cut-off reached.
const LOOK_EVERY: usize = 4;

/// Lanes of half a row.
type Half = [u8; HALF];
/// Lanes of one row.
type Row = [Half; 2];

/// What the bound needs to know of scores and costs.
#[derive(Clone, Debug)]
pub(super) struct Band {
    kernel: Kernel,
    /// Scores plus `bias`, never below zero: per query residue code, per subject residue code.
    scores: Box<[[u8; 32]; 32]>,
    bias: u8,
    costs: GapCosts,
    /// What a score of zero is.
    zero: u8,
    /// The row before the first query residue.
    first: Row,
}

/// Where an extension goes: the query's residues, and the subject's with [`MARGIN`] bytes around them, from `at` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direction<'a> {
    /// Residues of the query in the order of the extension.
    pub query: &'a [u8],
    /// Residues of the subject in the same order; sentinels in the margins.
    pub subject: &'a [u8],
    /// Index in `subject` of the first residue of the extension.
    pub at: usize,
}

impl Band {
    /// Prepares the bound; `None` where bytes or the band do not suffice for these scores and costs.
    pub fn new(scores: &PaddedScores, costs: GapCosts, kernel: Kernel) -> Option<Band> {
        let finite = || scores.iter().flatten().copied().filter(|&s| s > i32::from(i16::MIN));
        let bias = -finite().min()?.min(0);
        let zero = costs.x_drop + 1;
        let fits = bias + finite().max()? < 128
            && (1..128).contains(&zero)
            && (0..128).contains(&costs.open_extend)
            && (1..128).contains(&costs.extend)
            && (costs.x_drop - costs.open_extend) / costs.extend < LONGEST_GAP;
        if !fits {
            return None;
        }
        let mut biased = Box::new([[0; 32]; 32]);
        for (row, from) in biased.iter_mut().zip(scores) {
            for (to, &score) in row.iter_mut().zip(from) {
                *to = (score.max(-bias) + bias) as u8;
            }
        }
        let mut first = [[0; HALF]; 2];
        let lanes = first.as_flattened_mut();
        lanes[CENTRE] = zero as u8;
        for (gap, lane) in (0..).zip(&mut lanes[CENTRE + 1..]) {
            *lane = (zero - costs.open_extend - gap * costs.extend).max(0) as u8;
        }
        let (bias, zero) = (bias as u8, zero as u8);
        Some(Band { kernel, scores: biased, bias, costs, zero, first })
    }

    /// True if extensions in two directions cannot score as much as `cutoff` together.
    pub fn excludes(&self, directions: [Direction; 2], cutoff: i32) -> bool {
        match self.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => x86::avx512(self, directions, cutoff),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => x86::avx2(self, directions, cutoff),
            _ => run::<Plain>(self, directions, cutoff),
        }
    }

    /// The columns that the restricted extension may add after the first query residue.
    fn grow_first_row(&self, row: &mut Row, direction: Direction) -> Option<()> {
        let first = self.first.as_flattened();
        let last = first.iter().rposition(|&score| score > 0)?;
        let letter = direction.query[0];
        // In the row after it, the lane of the same diagonal; the subject residue is the next.
        let code = direction.subject[direction.at + last - CENTRE];
        let pair = self.scores[(letter & 31) as usize][(code & 31) as usize];
        let mut score = (first[last] + pair).saturating_sub(self.bias);
        for lane in last + 1.. {
            score = score.saturating_sub(self.costs.extend as u8);
            if score == 0 {
                return Some(());
            }
            // Beyond the band: unknown.
            let cell = row.as_flattened_mut().get_mut(lane)?;
            *cell = (*cell).max(score);
        }
        None
    }
}

/// The moves and look-ups that differ between instruction sets; the rest the compiler turns into vector instructions.
trait Lanes {
    /// Scores of the codes by a table of 32.
    fn look_up(table: &[u8; 32], codes: &Half) -> Half;
    /// Each lane's byte moves `BY` (1, 2, 4, 8 or 16) lanes up; the last ones of `below` enter.
    fn up<const BY: usize>(half: Half, below: Half) -> Half;
    /// Each lane's byte moves one lane down; the first one of `above` enters.
    fn down(half: Half, above: Half) -> Half;
}

/// Plain Rust.
struct Plain;

impl Lanes for Plain {
    #[inline(always)]
    fn look_up(table: &[u8; 32], codes: &Half) -> Half {
        codes.map(|code| table[(code & 31) as usize])
    }

    #[inline(always)]
    fn up<const BY: usize>(half: Half, below: Half) -> Half {
        let mut out = [0; HALF];
        out[..BY].copy_from_slice(&below[HALF - BY..]);
        out[BY..].copy_from_slice(&half[..HALF - BY]);
        out
    }

    #[inline(always)]
    fn down(half: Half, above: Half) -> Half {
        let mut out = [above[0]; HALF];
        out[..HALF - 1].copy_from_slice(&half[1..]);
        out
    }
}

#[inline(always)]
fn zip(a: Row, b: Row, f: impl Fn(u8, u8) -> u8) -> Row {
    let mut out = a;
    for (out, b) in out.iter_mut().zip(b) {
        for (out, b) in out.iter_mut().zip(b) {
            *out = f(*out, b);
        }
    }
    out
}

#[inline(always)]
fn max(a: Row, b: Row) -> Row {
    zip(a, b, u8::max)
}

#[inline(always)]
fn less(a: Row, cost: u8) -> Row {
    a.map(|half| half.map(|score| score.saturating_sub(cost)))
}

#[inline(always)]
fn highest(row: &Row) -> u8 {
    row.as_flattened().iter().fold(0, |a, &b| a.max(b))
}

/// The best of each lane and of gaps that come to it from lanes at most `BY` below the one that `row` was moved from.
#[inline(always)]
fn doubled<L: Lanes, const BY: usize>(row: Row, extend: u8) -> Row {
    max(row, less(up::<L, BY>(row), extend.saturating_mul(BY as u8)))
}

#[inline(always)]
fn up<L: Lanes, const BY: usize>([first, second]: Row) -> Row {
    [L::up::<BY>(first, [0; HALF]), L::up::<BY>(second, first)]
}

/// See [`Band::excludes`]. Both extensions go side by side, since each waits for its own results most of the time.
#[inline(always)]
fn run<L: Lanes>(band: &Band, directions: [Direction; 2], cutoff: i32) -> bool {
    let [mut left, mut right] = directions.map(|direction| Extension::new(band, direction));
    while left.alive || right.alive {
        for _ in 0..LOOK_EVERY {
            left.step::<L>();
            right.step::<L>();
        }
        let (Some(one), Some(other)) = (left.look(), right.look()) else { return false };
        if one + other >= cutoff {
            return false;
        }
    }
    true
}

/// An extension on its way.
struct Extension<'a> {
    band: &'a Band,
    direction: Direction<'a>,
    /// Query residues that were taken.
    taken: usize,
    scores: Row,
    gaps: Row,
    /// Best score of each lane.
    top: Row,
    /// Scores up to this one are dropped.
    floor: u8,
    /// The score of the start's diagonal, the least since the last look, and the best.
    diagonal: i32,
    least: i32,
    best: i32,
    /// The extension follows that diagonal for certain.
    followed: bool,
    /// There is more to extend to.
    alive: bool,
}

impl<'a> Extension<'a> {
    #[inline(always)]
    fn new(band: &'a Band, direction: Direction<'a>) -> Extension<'a> {
        Extension {
            band,
            direction,
            taken: 0,
            scores: band.first,
            gaps: less(band.first, band.costs.open_extend as u8),
            top: band.first,
            floor: 0,
            diagonal: 0,
            least: 0,
            best: 0,
            followed: true,
            alive: true,
        }
    }

    /// Takes a query residue, if there is one and the band meets subject residues.
    #[inline(always)]
    fn step<L: Lanes>(&mut self) {
        let Extension { band, direction, .. } = *self;
        let (open, extend) = (band.costs.open_extend as u8, band.costs.extend as u8);
        let letter = direction.query.get(self.taken);
        // Beyond the margin no lane meets a residue any more.
        let codes = direction.subject.get(direction.at + self.taken - CENTRE..);
        let (Some(&letter), Some(codes)) = (letter, codes.and_then(|codes| codes.first_chunk()))
        else {
            self.alive = false;
            return;
        };
        let table = &band.scores[(letter & 31) as usize];
        let [first, second] = halves(codes);
        let pairs = [L::look_up(table, first), L::look_up(table, second)];
        let moved = less(zip(self.scores, pairs, u8::saturating_add), band.bias);
        let moved = zip(moved, self.scores, |moved, before| if before == 0 { 0 } else { moved });
        let gaps = [L::down(self.gaps[0], self.gaps[1]), L::down(self.gaps[1], [0; HALF])];
        let mut row = max(moved, gaps);
        // Gaps in the subject, in steps of doubling length.
        let mut across = less(row, open);
        across = doubled::<L, 1>(across, extend);
        across = doubled::<L, 2>(across, extend);
        across = doubled::<L, 4>(across, extend);
        across = doubled::<L, 8>(across, extend);
        across = doubled::<L, 16>(across, extend);
        row = max(row, up::<L, 1>(across));
        if self.taken == 0 && band.grow_first_row(&mut row, direction).is_none() {
            // Beyond the band: whatever the cut-off.
            row[0][0] = u8::MAX;
        }
        let floor = self.floor;
        self.scores = row.map(|half| half.map(|score| if score > floor { score } else { 0 }));
        self.gaps = max(less(gaps, extend), less(self.scores, open));
        self.top = max(self.top, self.scores);
        self.diagonal += i32::from(pairs.as_flattened()[CENTRE]) - i32::from(band.bias);
        self.least = self.least.min(self.diagonal);
        self.best = self.best.max(self.diagonal);
        self.taken += 1;
    }

    /// The best score so far; `None` if the extension may have better ones. Raises the floor, and ends where all is dropped.
    #[inline(always)]
    fn look(&mut self) -> Option<i32> {
        let highest = highest(&self.top);
        let strays = self.top[0][0] > 0 || self.top[1][HALF - 1] > 0;
        if strays || highest == u8::MAX {
            return None;
        }
        self.alive &= self.scores.as_flattened().iter().fold(0, |a, &b| a | b) != 0;
        let score = i32::from(highest) - i32::from(self.band.zero);
        self.followed &= self.least >= score - self.band.costs.x_drop;
        if self.followed {
            // Alive from best - x_drop on, that is, as x_drop + 1 is added to all scores, above best. Within a byte, as the
            // best of the diagonal is one of the scores.
            self.floor = self.best as u8;
        }
        self.least = self.diagonal;
        Some(score)
    }
}

fn halves(codes: &[u8; BAND]) -> [&Half; 2] {
    let (halves, _) = codes.as_chunks();
    [&halves[0], &halves[1]]
}

#[cfg(target_arch = "x86_64")]
mod x86 {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelim::gapped::{extend, extend_restricted};
    use crate::prelim::profile;
    use crate::prelim::testing::{Random, kernels, related};
    use fleetblast_seq::alphabet;
    use fleetblast_stats::scoring::ScoringSystem;

    /// A pair of sequences without their first residues.
    fn shortened(random: &mut Random) -> (Vec<u8>, Vec<u8>) {
        let len = 1 + random.below(50) as usize;
        let (mut query, mut subject) = related(random, len);
        query.drain(..random.below(query.len() as u64) as usize);
        subject.drain(..random.below(subject.len() as u64) as usize);
        (query, [&[0; MARGIN], &subject[..], &[0; MARGIN]].concat())
    }

    #[test]
    fn nothing_is_excluded_that_an_extension_reaches() {
        let mut random = Random::new(7);
        let (mut excluded, mut all) = (0, 0);
        for (matrix, bits) in [("BLOSUM62", 15.0), ("PAM30", 15.0), ("BLOSUM45", 12.0)] {
            let scoring = ScoringSystem::new(matrix, None, None).unwrap();
            let scores = profile::pad(&scoring.scores);
            let costs = GapCosts {
                open_extend: scoring.gap_open + scoring.gap_extend,
                extend: scoring.gap_extend,
                x_drop: (bits * std::f64::consts::LN_2 / scoring.gapped.lambda) as i32,
            };
            let mut cells = Vec::new();
            for _ in 0..4_000 {
                let pairs = [shortened(&mut random), shortened(&mut random)];
                let (mut exact, mut restricted) = (0, 0);
                for (query, padded) in &pairs {
                    let ended = &padded[MARGIN..=padded.len() - MARGIN];
                    exact += extend(query, ended, &scores, costs, &mut cells).score;
                    restricted += extend_restricted(query, ended, &scores, costs, &mut cells).score;
                }
                let directions = [0, 1].map(|i| {
                    let (query, subject) = &pairs[i];
                    Direction { query, subject, at: MARGIN }
                });
                // The extensions take what they reach, so the smallest cut-off that is not reached tells how tight the bound is.
                let reached = exact.max(restricted);
                for (cutoff, may_exclude) in [(reached, false), (reached + 1, true)] {
                    let answers = kernels().into_iter().map(|kernel| {
                        Band::new(&scores, costs, kernel).unwrap().excludes(directions, cutoff)
                    });
                    let answers: Vec<bool> = answers.collect();
                    assert!(answers.iter().all(|&answer| answer == answers[0]), "{matrix}");
                    assert!(may_exclude || !answers[0], "{matrix}: {reached}");
                    all += usize::from(may_exclude);
                    excluded += usize::from(answers[0]);
                }
            }
        }
        assert!(excluded * 10 > all * 9, "{excluded} of {all}");
    }

    #[test]
    fn what_bytes_or_the_band_cannot_hold_is_not_bounded() {
        let scoring = ScoringSystem::new("BLOSUM62", None, None).unwrap();
        let scores = profile::pad(&scoring.scores);
        let costs = GapCosts { open_extend: 12, extend: 1, x_drop: 38 };
        let band = |costs| Band::new(&scores, costs, Kernel::detect());
        assert!(band(costs).is_some());
        assert!(band(GapCosts { x_drop: 44, ..costs }).is_none(), "gaps longer than the band");
        assert!(band(GapCosts { x_drop: 200, extend: 10, ..costs }).is_none());
        assert!(band(GapCosts { extend: 0, ..costs }).is_none());
        let subject = [0; 2 * MARGIN];
        let nowhere = [Direction { query: &[], subject: &subject, at: MARGIN }; 2];
        assert!(band(costs).unwrap().excludes(nowhere, 1));
        assert!(!band(costs).unwrap().excludes(nowhere, 0));
        // Scores beyond a byte.
        let query = [alphabet::encode(b'W').unwrap(); 60];
        let subject = [&[0; MARGIN], &query[..], &[0; MARGIN]].concat();
        let far = [Direction { query: &query, subject: &subject, at: MARGIN }; 2];
        assert!(!band(costs).unwrap().excludes(far, 5_000));
    }
}
