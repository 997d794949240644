//! What score-only extensions side by side ([`super::side_by_side`]) have in common: a lane of bytes for each, so that what waits for
//! other results in one does not in another.
//!
//! Each lane follows a band of diagonals of its own, cell by cell in BLAST+'s order, with the best score and the floor of that
//! moment. Between some rows the lanes are looked at: those that have ended take the next extension, and a band
//! whose live cells come near its end is moved. An extension whose window leaves its band meanwhile is not for lanes. When nothing
//! waits any more and few lanes are busy, these go on in [`super::narrow`].
//!
//! A letter pairs by what it differs from the base in, as all pairs and all mismatches score the same. What follows the last base or the
//! last letter scores as an N does: that never raises the best score, and nothing before the end comes of it.

use super::UNKNOWN;
use super::narrow::Progress;
use super::row::{LANES, NEVER, Table};
use super::rows::Bases;
use super::transpose::SIZE;
use crate::scores::ScoreRows;
use crate::xdrop::Extent;
use crate::xdrop::frames::{Direction, ExtensionCosts};

/// Diagonals that a lane follows.
pub(super) const BAND: usize = 48;
/// Rows from one look at the lanes to the next.
pub(super) const ROWS: usize = 16;
/// The start's diagonal at first.
pub(super) const CENTRE: usize = 22;
/// A band with live cells in so many at one end is moved by as many, if all at the other end are dropped.
pub(super) const NEAR: usize = 6;
/// What a base after the last one differs from letters in: all of them pair as Ns do, or worse.
pub(super) const BEYOND: u8 = 12;

const _: () = assert!(LANES == SIZE && BAND + ROWS == SIZE);
const _: () = assert!(SIZE <= crate::xdrop::frames::MARGIN);

/// What extensions in lanes have in common.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    /// Scores by what letter and base differ in.
    pub pairs: Table,
    pub costs: ExtensionCosts,
    /// The byte of a score of zero at first.
    pub zero: i8,
    /// A best score above this byte moves the base.
    pub highest: i8,
}

/// An extension to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task<'a> {
    pub direction: Direction<'a, Bases<'a>>,
    /// No more than that of the search.
    pub x_drop: i32,
}

/// What became of an extension.
#[derive(Clone, Debug)]
pub(super) enum Found {
    Whole(Extent),
    /// It goes on from here.
    Partly(Box<Progress>),
    /// It is not for lanes.
    Not,
}

impl Lanes {
    /// Prepares extensions; `None` where bytes or the band do not suffice for the scores and costs. `costs` has the search's X-drop.
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
            && 2 * reach + 1 + 2 * NEAR as i32 <= BAND as i32;
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

    /// What a gap of so many letters costs.
    pub fn gap(&self, length: usize) -> i32 {
        match length {
            0 => 0,
            _ => self.costs.open_extend + (length as i32 - 1) * self.costs.extend,
        }
    }
}
