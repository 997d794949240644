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
mod x86;

#[cfg(test)]
mod tests;
