//! Extends many segments side by side, ahead of their turn.
//!
//! A segment is not extended if an HSP of an earlier segment contains it. So only segments that no
//! earlier one can contain are extended ahead of their turn. Their results are used when their turn
//! comes.

use fleetblast_seq::nucleotide::Packed;

use super::lanes::{LaneExtension, LaneResult};
use super::side_by_side::SideBySide;
use super::{Extender, Extension, GappedScratch, QueryLetters, Segment};
use super::{Start, directions, narrow, row};
use crate::xdrop::Extent;

/// Number of segments that are examined together.
const SEGMENTS: usize = 2048;
/// Size of the filter in bits.
const BITS: usize = 128 * SEGMENTS;
/// Number of diagonals that share a bit.
const DIAGONALS: i64 = 64;

/// A filter for segments that are far from all earlier ones: on other strands or distant diagonals.
/// It may miss some of these segments.
#[derive(Debug, Default)]
pub(crate) struct DistantSegments(Vec<u64>);

impl DistantSegments {
    /// Number of segments after which the filter must be cleared.
    pub const SEGMENTS: usize = SEGMENTS;

    /// Removes all segments from the filter.
    pub fn clear(&mut self) {
        self.0.clear();
        self.0.resize(BITS / 64, 0);
    }

    /// Adds a segment of a strand to the filter. Returns whether the segment is far from all
    /// earlier ones.
    pub fn insert(&mut self, strand: usize, segment: &Segment) -> bool {
        let diagonal = i64::from(segment.s_start) - i64::from(segment.q_start);
        let group = diagonal.div_euclid(DIAGONALS);
        let place = |group: i64| {
            let key = (strand as u64) << 40 ^ group as u64;
            let hash = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % BITS;
            (hash / 64, 1 << (hash % 64))
        };
        let is_taken = |group| {
            let (word, bit) = place(group);
            self.0[word] & bit != 0
        };
        let apart = !(is_taken(group - 1) || is_taken(group) || is_taken(group + 1));
        let (word, bit) = place(group);
        self.0[word] |= bit;
        apart
    }
}

impl Extender {
    /// Returns whether many segments can be extended side by side.
    pub fn looks_ahead(&self) -> bool {
        self.lanes.is_some()
    }

    /// Extends segments of the subject side by side, each with its query. The result is `None` for
    /// a segment that must be extended singly.
    pub fn extend_all(
        &self,
        segments: &[(&QueryLetters, Segment)],
        subject: Packed<'_>,
        scratch: &mut GappedScratch,
    ) -> Vec<Option<Extension>> {
        let Some(lanes) = &self.lanes else { return vec![None; segments.len()] };
        let starts: Vec<Start> = segments
            .iter()
            .map(|(query, segment)| Start::from_segment(segment, query, subject))
            .collect();
        let mut tasks = Vec::with_capacity(2 * segments.len());
        for ((query, segment), start) in segments.iter().zip(&starts) {
            let x_drop = self.x_drop_of(segment);
            if query.plain {
                let ways = directions(query, subject, start.at);
                tasks.extend(ways.map(|direction| LaneExtension { direction, x_drop }));
            }
        }
        let GappedScratch { busy, found, .. } = scratch;
        let work = SideBySide { lanes, tasks: &tasks, busy, found };
        if row::perform(self.kernel, work).is_none() {
            return vec![None; segments.len()];
        }
        self.go_on(&tasks, found);
        let mut found = found.iter();
        let mut take = || match found.next() {
            Some(LaneResult::Complete(extent)) => Some(*extent),
            _ => None,
        };
        let extensions = segments.iter().zip(&starts).map(|((query, _), start)| {
            let [left, right] = if query.plain { [take(), take()] } else { [None; 2] };
            Some(start.extension([left?, right?]))
        });
        extensions.collect()
    }

    /// Completes extensions that lanes have begun, two with the same X-drop at a time.
    fn go_on(&self, tasks: &[LaneExtension], found: &mut [LaneResult]) {
        let is_partly = |number: &usize| matches!(found[*number], LaneResult::Unfinished(_));
        let mut numbers: Vec<usize> = (0..tasks.len()).filter(is_partly).collect();
        numbers.sort_by_key(|&number| tasks[number].x_drop);
        for pair in numbers.chunk_by(|&a, &b| tasks[a].x_drop == tasks[b].x_drop) {
            for pair in pair.chunks(2) {
                let pair = [pair[0], pair[pair.len() - 1]];
                let ends = self.ends(tasks, found, pair);
                for (number, end) in pair.into_iter().zip(ends) {
                    found[number] = end.map_or(LaneResult::Unsuitable, LaneResult::Complete);
                }
            }
        }
    }

    fn ends(
        &self,
        tasks: &[LaneExtension],
        found: &[LaneResult],
        pair: [usize; 2],
    ) -> [Option<Extent>; 2] {
        let x_drop = usize::try_from(tasks[pair[0]].x_drop).ok();
        let vectors = x_drop.and_then(|x_drop| self.vectors.get(x_drop));
        let Some(narrow) = vectors.and_then(|vectors| vectors.narrow.as_ref()) else {
            return [None; 2];
        };
        let [LaneResult::Unfinished(left), LaneResult::Unfinished(right)] =
            pair.map(|number| &found[number])
        else {
            return [None; 2];
        };
        let directions = pair.map(|number| tasks[number].direction);
        let work = narrow::ResumedExtensions { narrow, directions, progress: [left, right] };
        row::perform(self.kernel, work).unwrap_or_default()
    }
}
