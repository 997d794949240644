//! Removes sequences from an alignment that are nearly copies of others (`_PSIPurgeBiasedSegments`,
//! blast_psi_priv.c).
//!
//! Two sequences are compared region by region; a region continues as long as one of the two is
//! aligned. Where they are alike, the second loses the region. As in BLAST+, a region is
//! represented by a few counters.

use std::ops::Range;

use fleetblast_seq::alphabet::X;

use super::alignment::{Cell, QueryAlignment, Row};

/// Least share of identical pairs that makes a sequence redundant.
const NEAR_IDENTICAL: f64 = 0.94;
/// Least share of identical pairs that makes a sequence redundant with the query.
const IDENTICAL: f64 = 1.0;

/// A sequence, and its aligned range.
struct Sequence {
    row: Row,
    /// The aligned range if there is just one, an empty range if there is none, and `None` if there
    /// are several.
    stretch: Option<Range<usize>>,
}

impl Sequence {
    fn new(row: Row) -> Self {
        let stretch = stretch(&row);
        Sequence { row, stretch }
    }

    fn is_gone(&self) -> bool {
        self.stretch.as_ref().is_some_and(Range::is_empty)
    }

    fn clear(&mut self, region: Range<usize>) {
        self.row[region].fill(Cell::NONE);
        self.stretch = stretch(&self.row);
    }
}

/// Returns the aligned range of a row: an empty range if there is none, `None` if there are
/// several.
fn stretch(row: &Row) -> Option<Range<usize>> {
    let Some(start) = row.iter().position(|cell| cell.is_aligned()) else { return Some(0..0) };
    let end = row.iter().rposition(|cell| cell.is_aligned()).map_or(start, |last| last + 1);
    row[start..end].iter().all(|cell| cell.is_aligned()).then_some(start..end)
}

/// Removes copies of the query, and then copies among the other sequences. The second sequence of a
/// pair loses the regions that are alike. Neighbouring sequences are compared first.
pub(super) fn purge(alignment: &mut QueryAlignment) {
    let rows = std::mem::take(alignment.rows_mut());
    let mut rows = rows.into_iter();
    let query = rows.next().unwrap_or_default();
    let mut others: Vec<Sequence> = rows.map(Sequence::new).collect();
    // BLAST+ drops a sequence that is nowhere aligned only when a region of it is removed; the
    // result is the same.
    for other in &mut others {
        if !other.is_gone() {
            for region in alike(&query, other, true, IDENTICAL) {
                other.clear(region);
            }
        }
    }
    for distance in 1..others.len() {
        for first in 0..others.len() - distance {
            let (before, after) = others.split_at_mut(first + distance);
            let (one, other) = (&before[first], &mut after[0]);
            if one.is_gone() || other.is_gone() || certainly_different(one, other) {
                continue;
            }
            for region in alike(&one.row, other, false, NEAR_IDENTICAL) {
                other.clear(region);
            }
        }
    }
    let kept = others.into_iter().filter(|other| !other.is_gone()).map(|other| other.row);
    *alignment.rows_mut() = std::iter::once(query).chain(kept).collect();
}

/// Tests quickly whether two sequences certainly differ, so that the second loses no region. It
/// finds most pairs that differ.
fn certainly_different(one: &Sequence, other: &Sequence) -> bool {
    let (Some(a), Some(b)) = (&one.stretch, &other.stretch) else { return false };
    if a.end < b.start || b.end < a.start {
        // The ranges do not touch, so no pair is identical.
        return true;
    }
    let both = a.start.min(b.start)..a.end.max(b.end);
    let (mut counted, mut identical) = (0_u32, 0_u32);
    for (one, other) in one.row[both.clone()].iter().zip(&other.row[both]) {
        let known = one.letter() != X && other.letter() != X;
        counted += u32::from(known);
        identical += u32::from(known & (one == other) & one.is_aligned());
    }
    f64::from(identical) < NEAR_IDENTICAL * f64::from(counted) - 0.001
}

/// Counts of the pairs of letters of two sequences in a region.
#[derive(Default)]
struct Region {
    start: usize,
    /// Number of pairs without an `X`.
    counted: usize,
    unknown: usize,
    identical: usize,
}

impl Region {
    /// Returns the range of the region, if the share of identical pairs is at least `limit`.
    fn alike(&self, limit: f64) -> Option<Range<usize>> {
        let alike = self.counted > 0 && self.identical as f64 / self.counted as f64 >= limit;
        alike.then(|| self.start..self.start + self.counted + self.unknown)
    }
}

/// Returns the regions that the second of two sequences loses. The first one counts as nowhere
/// aligned if it is the query, so that only the second one limits regions.
fn alike(one: &Row, other: &Sequence, is_query: bool, limit: f64) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // As in BLAST+, the first region starts at the first position. A later region starts at the
    // first pair without an `X` after a position where neither sequence is aligned.
    let mut region = Some(Region::default());
    for (position, (&one, &other)) in one.iter().zip(&other.row).enumerate() {
        if (!one.is_aligned() || is_query) && !other.is_aligned() {
            found.extend(region.take().and_then(|region| region.alike(limit)));
            continue;
        }
        let known = one.letter() != X && other.letter() != X;
        if !known {
            if let Some(region) = &mut region {
                region.unknown += 1;
            }
            continue;
        }
        let region = region.get_or_insert(Region { start: position, ..Region::default() });
        region.counted += 1;
        if other.is_aligned() && one.is_aligned() && one.letter() == other.letter() {
            region.identical += 1;
        }
    }
    found.extend(region.and_then(|region| region.alike(limit)));
    found
}
