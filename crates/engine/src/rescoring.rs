//! Scores ungapped HSPs again on the true letters of their subject
//! (`Blast_HSPReevaluateWithAmbiguitiesUngapped`, blast_hits.c).

use crate::order::Bounds;

/// Trims an ungapped alignment to its range of highest score. `pairs` holds the scores of its pairs
/// of letters. Returns the score and the box of that range, or `None` if it scores less than
/// `cutoff`.
pub(crate) fn best_range(
    bounds: Bounds,
    pairs: impl IntoIterator<Item = i32>,
    cutoff: i32,
) -> Option<(i32, Bounds)> {
    let (mut sum, mut best, mut begin, mut range) = (0, 0, 0, 0..0);
    for (at, score) in (1..).zip(pairs) {
        sum += score;
        if sum < 0 {
            sum = 0;
            begin = at;
            // Forgets the best range, unless it has reached the cut-off.
            if best < cutoff {
                (best, range) = (0, at..at);
            }
        } else if sum > best {
            (best, range) = (sum, begin..at);
        }
    }
    let (q, s) = (bounds.q_start, bounds.s_start);
    let bounds = Bounds {
        q_start: q + range.start,
        q_end: q + range.end,
        s_start: s + range.start,
        s_end: s + range.end,
    };
    (best >= cutoff).then_some((best, bounds))
}
