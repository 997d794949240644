//! What scores and X-drop mean for the rows of an extension without gap costs.

use super::pairs::Walk;
use super::{Scoring, divide_up};

/// What does not change from row to row.
pub(super) struct Rules {
    /// What a base on a path scores.
    half: i32,
    /// What a difference costs.
    cost: i32,
    x_drop: i32,
    /// As many differences fewer had the best score against which a cell is held.
    back: usize,
}

impl Rules {
    pub fn new(scoring: &Scoring, x_drop: i32) -> Rules {
        let (half, cost) = (scoring.reward / 2, scoring.reward - scoring.penalty);
        Rules { half, cost, x_drop, back: ((x_drop + half) / cost + 1) as usize }
    }

    /// The least extent, query and subject together, that is followed.
    #[inline(always)]
    pub fn least_extent(&self, best: &[i32]) -> i32 {
        let before = best.len().checked_sub(self.back).map_or(0, |at| best[at]);
        divide_up(before + self.cost * best.len() as i32 - self.x_drop, self.half)
    }

    /// The score of a path of this extent with so many differences.
    #[inline(always)]
    pub fn score(&self, extent: i32, distance: i32) -> i32 {
        extent * self.half - distance * self.cost
    }

    /// Whether what has been found stays, whatever this row and all after it are: before a path can score as much as the best one, before
    /// a run can be longer than the longest, and before anything comes to the subject's end, paths come to that of the query.
    ///
    /// The n-th row after this one has no diagonal below `low - n`, on which the query's end is at an extent that is larger by n. Its least
    /// extent, and what a path must have to be the best, are larger by `n * cost / half`, which is more than 2 n. So what holds for this
    /// row holds for those after it. Paths that leave the query behind, as those between two others may, gain 2 with each row, and score
    /// less each time.
    pub fn is_settled<const BACK: bool>(&self, walk: &Walk<'_, BACK>, next: &Next) -> bool {
        let &Next { distance, low, best, before, least, run } = next;
        // The largest extent on any diagonal within the query.
        let within = 2 * walk.query.length - low;
        let may_be_longer = run.is_some_and(|run| within - least > 2 * run);
        if within * self.half - distance * self.cost >= best || may_be_longer {
            return false;
        }
        let most = within.max(before + 2);
        let rows = (most - least).max(0) * self.half / (self.cost - 2 * self.half) + 1;
        (most - low) / 2 + rows < walk.subject.length
    }
}

/// What is known before a row is made.
pub(super) struct Next {
    pub distance: i32,
    /// Its lowest diagonal.
    pub low: i32,
    /// The best score so far.
    pub best: i32,
    /// The largest extent of the row before.
    pub before: i32,
    /// The least extent that is followed.
    pub least: i32,
    /// The length of the longest run so far, if it is sought.
    pub run: Option<i32>,
}
