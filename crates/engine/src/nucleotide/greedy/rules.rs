//! Converts scores and the X-drop to extents, for rows of an extension without gap costs.

use super::pairs::OutwardSequences;
use super::{Scoring, divide_up};

/// Constants of an extension.
pub(super) struct Rules {
    /// Score of each base on a path: half of the reward.
    half: i32,
    /// Cost of a difference.
    cost: i32,
    x_drop: i32,
    /// Number of rows from a cell back to the row whose best score limits it.
    back: usize,
}

impl Rules {
    pub fn new(scoring: &Scoring, x_drop: i32) -> Rules {
        let (half, cost) = (scoring.reward / 2, scoring.reward - scoring.penalty);
        Rules { half, cost, x_drop, back: ((x_drop + half) / cost + 1) as usize }
    }

    /// Returns the least extent (query and subject together) with which a path continues in the
    /// next row. `best` has the best score of each row.
    #[inline(always)]
    pub fn least_extent(&self, best: &[i32]) -> i32 {
        let limit = best.len().checked_sub(self.back).map_or(0, |at| best[at]);
        divide_up(limit + self.cost * best.len() as i32 - self.x_drop, self.half)
    }

    /// Returns the score of a path of this extent with `distance` differences.
    #[inline(always)]
    pub fn score(&self, extent: i32, distance: i32) -> i32 {
        extent * self.half - distance * self.cost
    }

    /// Returns whether the result is final, whatever this row and all later ones contain. It is
    /// final if paths reach the end of the query before any of three events. A path scores as much
    /// as the best one; a run becomes longer than the longest; or a path reaches the end of the
    /// subject.
    ///
    /// The n-th row after this one has no diagonal below `low - n`. On that diagonal the query ends
    /// at an extent that is larger by n. The least extent of that row, and the extent needed to be
    /// the best, are larger by `n * cost / half`, which is more than 2 n. So a condition that holds
    /// for this row holds for those after it. Paths beyond the end of the query, which may arise
    /// between two others, gain 2 with each row, and score less each time.
    pub fn is_settled<const BACK: bool>(
        &self,
        sequences: &OutwardSequences<'_, BACK>,
        start: &RowStart,
    ) -> bool {
        let &RowStart { distance, low, best, previous_extent, least, run } = start;
        // The largest extent on any diagonal within the query.
        let within = 2 * sequences.query.length - low;
        let may_be_longer = run.is_some_and(|run| within - least > 2 * run);
        if within * self.half - distance * self.cost >= best || may_be_longer {
            return false;
        }
        let most = within.max(previous_extent + 2);
        let rows = (most - least).max(0) * self.half / (self.cost - 2 * self.half) + 1;
        (most - low) / 2 + rows < sequences.subject.length
    }
}

/// State before a row is computed.
pub(super) struct RowStart {
    pub distance: i32,
    /// Lowest diagonal of the row.
    pub low: i32,
    /// The best score up to now.
    pub best: i32,
    /// The largest extent of the previous row.
    pub previous_extent: i32,
    /// Least extent (query and subject together) with which a path continues.
    pub least: i32,
    /// The length of the longest run up to now, if it is needed.
    pub run: Option<i32>,
}
