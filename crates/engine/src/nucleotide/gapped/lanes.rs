//! Parameters of extensions side by side without traceback ([`super::side_by_side`]), one byte lane
//! for each. While one extension waits for its own results, the others go on.
//!
//! Each lane follows its own band of diagonals, cell by cell in BLAST+'s order, with the best score
//! and the floor at that moment. After some rows all lanes are examined. A lane that has ended
//! takes the next extension. A band whose live cells come near its end is moved. An extension whose
//! live cells leave its band in between is unsuitable for lanes. When all extensions have got a
//! lane and few lanes are still busy, their extensions go on in [`super::narrow`].
//!
//! Scores are looked up by the bits in which letter and base differ, as all matches and all
//! mismatches score the same. Against a base, a position after the last base or the last letter
//! scores as an N does. That never raises the best score, and no result depends on it.

use super::UNKNOWN;
use super::narrow::Progress;
use super::row::{LANES, NEVER, Table};
use super::rows::Bases;
use super::transpose::SIZE;
use crate::scores::ScoreRows;
use crate::xdrop::Extent;
use crate::xdrop::frames::{Direction, ExtensionCosts};

/// Number of diagonals that a lane follows.
pub(super) const BAND: usize = 48;
/// Number of rows between two examinations of the lanes.
pub(super) const ROWS: usize = 16;
/// Index in the band of the diagonal on which an extension starts, before the band moves.
pub(super) const CENTRE: usize = 22;
/// Number of cells by which a band moves. It moves if some of the outer `BAND_SHIFT` cells at one
/// end are live, and none at the other end.
pub(super) const BAND_SHIFT: usize = 6;
/// Code of each base after the last one. No letter of a lane has it, so that no pair with it scores
/// above 0.
pub(super) const PAST_END: u8 = 12;

const _: () = assert!(LANES == SIZE && BAND + ROWS == SIZE);
const _: () = assert!(SIZE <= crate::xdrop::frames::MARGIN);

/// Parameters that extensions in lanes share.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    /// Scores by the bits in which letter and base differ.
    pub pairs: Table,
    pub costs: ExtensionCosts,
    /// Byte that stands for a score of zero at the start of an extension.
    pub zero: i8,
    /// If the byte of a best score is above this one, `base` is raised in all busy lanes.
    pub highest: i8,
}

/// An extension to be computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneExtension<'a> {
    pub direction: Direction<'a, Bases<'a>>,
    /// X-drop of the extension, at most that of the search.
    pub x_drop: i32,
}

/// Result of an extension in a lane.
#[derive(Clone, Debug)]
pub(super) enum LaneResult {
    Complete(Extent),
    /// The extension must go on from this state.
    Unfinished(Box<Progress>),
    /// The extension cannot be done in lanes.
    Unsuitable,
}

impl Lanes {
    /// Prepares extensions. Returns `None` if bytes or the band do not suffice for the scores and
    /// costs. `costs` has the X-drop of the search.
    pub fn new(scores: &ScoreRows, costs: ExtensionCosts) -> Option<Lanes> {
        let ExtensionCosts { open_extend, extend, x_drop } = costs;
        let bases = [0, 1, 2, 3].map(|base| scores.row(base));
        let (pair, mismatch) = (bases[0][0], bases[0][1]);
        let unknown = bases[0][usize::from(UNKNOWN)];
        let alike = bases.iter().enumerate().all(|(base, row)| {
            let score = |letter| if letter == base { pair } else { mismatch };
            row[usize::from(UNKNOWN)] == unknown
                && (0..4).all(|letter| row[letter] == score(letter))
        });
        let highest = i32::from(i8::MAX);
        let rise = ROWS as i32 * pair;
        let zero = i32::from(NEVER) + 1 + pair.max(extend) + x_drop;
        let reach = (x_drop - open_extend) / extend.max(1) + 1;
        let fits = alike
            && pair > 0
            && mismatch.max(unknown) <= 0
            && mismatch.min(unknown) >= -highest
            && (1..=highest).contains(&extend)
            && (extend..=highest).contains(&open_extend)
            && (open_extend..highest).contains(&x_drop)
            && zero + 2 * rise + pair <= highest
            && 2 * reach + 1 + 2 * BAND_SHIFT as i32 <= BAND as i32;
        if !fits {
            return None;
        }
        let score = |differs: usize| match differs {
            0 => pair,
            1..=3 => mismatch,
            _ => unknown,
        };
        Some(Lanes {
            pairs: std::array::from_fn(|differs| score(differs) as i8),
            costs,
            zero: zero as i8,
            highest: (highest - rise - pair) as i8,
        })
    }

    /// Returns the cost of a gap of `length` letters.
    pub fn gap(&self, length: usize) -> i32 {
        match length {
            0 => 0,
            _ => self.costs.open_extend + (length as i32 - 1) * self.costs.extend,
        }
    }
}
