//! Extends the ungapped segments of a part of a subject in order. Vector code, or several threads,
//! extend many of them ahead of their turn.

use fleetblast_seq::frame::{self, Frame};
use fleetblast_seq::nucleotide::Packed;
use rayon::prelude::*;

use super::{ExtensionQuery, ExtensionScratch, Method, Stage, StageScratch};
use crate::containment::ContainmentTree;
use crate::hits::PrelimHsp;
use crate::nucleotide::gapped::{self, DistantSegments, Extension};
use crate::nucleotide::greedy::Bases;
use crate::nucleotide::limits::ContextLimits;
use crate::nucleotide::seeds::{Contexts, Segment};
use crate::order::Bounds;

/// Least number of segments that threads extend ahead of their turn.
const MIN_SEGMENTS_FOR_THREADS: usize = 64;
/// Number of segments that a thread takes at once to extend them side by side, if threads share
/// them.
const LANES_SHARE: usize = 128;
/// Number of segments that a thread takes at once to extend them singly, if threads share them.
const SINGLE_SHARE: usize = 16;

impl Stage {
    /// Extends the segments of a part of a subject; leaves the HSPs in the scratch.
    pub(super) fn extend(
        &self,
        part: Packed<'_>,
        contexts: &Contexts,
        segments: &[Segment],
        scratch: &mut StageScratch,
    ) {
        scratch.found.clear();
        if scratch.trees.len() < self.strands.len() {
            scratch.trees.resize_with(self.strands.len(), ContainmentTree::new);
        }
        for segments in segments.chunks(DistantSegments::SEGMENTS) {
            let local = |segment| self.local(contexts, segment);
            let segments: Vec<_> = segments.iter().filter_map(local).collect();
            scratch.extended.extend(segments.iter().map(|&(number, _)| self.strands[number].chunk));
            let ahead = self.extend_ahead(part, &segments, scratch);
            let mut ahead = ahead.into_iter().peekable();
            for (at, (number, segment)) in segments.iter().enumerate() {
                let early = ahead.next_if(|&(of, _)| of == at).and_then(|(_, early)| early);
                self.extend_in_turn(part, *number, segment, early, scratch);
            }
        }
        for &number in &scratch.touched {
            scratch.trees[number as usize].clear();
        }
        scratch.touched.clear();
    }

    /// Returns the number of the strand of a segment, and the segment with query positions in this
    /// strand. Returns `None` for a segment in neighbouring letters or in a strand that cannot have
    /// hits.
    fn local(&self, contexts: &Contexts, segment: &Segment) -> Option<(usize, gapped::Segment)> {
        let number = contexts.searched_context_at(segment.q_start)?;
        self.strands[number].limits.as_ref()?;
        let start = contexts.own_start(number);
        let segment = gapped::Segment {
            score: segment.score,
            q_start: segment.q_start - start,
            s_start: segment.s_start,
            length: segment.length,
            q_seed: segment.q_seed - start,
            s_seed: segment.s_seed,
        };
        Some((number, segment))
    }

    /// Extends the segments that no earlier HSP or segment can contain: side by side, or on all
    /// threads of the current pool. Returns their indexes, ascending, with their extensions. An
    /// extension is `None` if the segment must be extended singly.
    fn extend_ahead(
        &self,
        part: Packed<'_>,
        segments: &[(usize, gapped::Segment)],
        scratch: &mut StageScratch,
    ) -> Vec<(usize, Option<Extension>)> {
        let least = match &self.method {
            Method::Dynamic(extender) if extender.looks_ahead() => gapped::MIN_SEGMENTS_FOR_LANES,
            Method::Dynamic(_) | Method::Greedy(_) if rayon::current_num_threads() > 1 => {
                MIN_SEGMENTS_FOR_THREADS
            }
            _ => return Vec::new(),
        };
        if segments.len() < least {
            return Vec::new();
        }
        let numbers = self.distant(segments, scratch);
        if numbers.len() < least {
            return Vec::new();
        }
        let found = self.extend_distant(part, segments, &numbers, &mut scratch.extension);
        numbers.into_iter().zip(found).collect()
    }

    /// Returns the indexes of the segments that no earlier HSP or segment can contain.
    fn distant(
        &self,
        segments: &[(usize, gapped::Segment)],
        scratch: &mut StageScratch,
    ) -> Vec<usize> {
        scratch.apart.clear();
        let mut is_distant = |&(number, ref segment): &(usize, gapped::Segment)| {
            scratch.apart.insert(number, segment) && !self.is_beyond(number, segment) && {
                let tree = &scratch.trees[number];
                !tree.encloses_near(&box_of(segment), segment.score, self.separation)
            }
        };
        (0..segments.len()).filter(|&at| is_distant(&segments[at])).collect()
    }

    /// Extends the segments with these indexes. The threads of the current pool share many of them.
    fn extend_distant(
        &self,
        part: Packed<'_>,
        segments: &[(usize, gapped::Segment)],
        numbers: &[usize],
        scratch: &mut ExtensionScratch,
    ) -> Vec<Option<Extension>> {
        let share = match &self.method {
            Method::Dynamic(extender) if extender.looks_ahead() => LANES_SHARE,
            _ => SINGLE_SHARE,
        };
        if numbers.len() < 2 * share || rayon::current_num_threads() == 1 {
            return self.extend_share(part, segments, numbers, scratch);
        }
        let shares = numbers.par_chunks(share);
        let extended = shares.map_init(ExtensionScratch::default, |scratch, share| {
            self.extend_share(part, segments, share, scratch)
        });
        extended.collect::<Vec<_>>().concat()
    }

    /// Extends the segments with these indexes on this thread: side by side, or singly.
    fn extend_share(
        &self,
        part: Packed<'_>,
        segments: &[(usize, gapped::Segment)],
        numbers: &[usize],
        scratch: &mut ExtensionScratch,
    ) -> Vec<Option<Extension>> {
        let segments = numbers.iter().map(|&at| &segments[at]);
        if let Method::Dynamic(extender) = &self.method
            && extender.looks_ahead()
        {
            let with_query =
                |&(number, segment): &(usize, _)| (self.queries[number].as_dynamic(), segment);
            let taken: Vec<_> = segments.map(with_query).collect();
            return extender.extend_all(&taken, part, &mut scratch.gapped);
        }
        let extend = |(number, segment): &(usize, gapped::Segment)| {
            Some(self.extension(*number, part, segment, scratch))
        };
        segments.map(extend).collect()
    }

    /// Extends a segment, unless an earlier HSP contains it. `early` is the extension if it was
    /// computed ahead of its turn.
    fn extend_in_turn(
        &self,
        part: Packed<'_>,
        number: usize,
        segment: &gapped::Segment,
        early: Option<Extension>,
        scratch: &mut StageScratch,
    ) {
        let Some(limits) = &self.strands[number].limits else { return };
        let tree = &scratch.trees[number];
        let encloses = || tree.encloses_near(&box_of(segment), segment.score, self.separation);
        let is_gapped = !matches!(self.method, Method::Ungapped(_));
        if is_gapped && (encloses() || self.is_beyond(number, segment)) {
            return;
        }
        let extension =
            early.unwrap_or_else(|| self.extension(number, part, segment, &mut scratch.extension));
        let least = match self.method {
            Method::Ungapped(_) => limits.cutoff_ungapped,
            _ => limits.cutoff_gapped,
        };
        if extension.score >= least {
            scratch.trees[number].add(&extension.bounds, extension.score);
            scratch.touched.push(number as u32);
            scratch.found.push((number as u32, self.hsp(number, &extension, limits)));
        }
    }

    /// Returns whether a segment would be extended from a position after its context. A segment
    /// that is kept whatever its score may have entered its context across the end. BLAST+ then
    /// extends back to that end at most, which yields no HSP.
    fn is_beyond(&self, number: usize, segment: &gapped::Segment) -> bool {
        let from = match self.method {
            Method::Greedy(_) => segment.q_start + segment.length / 2,
            _ => segment.q_seed,
        };
        from as usize > self.strands[number].letters.len()
    }

    fn extension(
        &self,
        number: usize,
        part: Packed<'_>,
        segment: &gapped::Segment,
        scratch: &mut ExtensionScratch,
    ) -> Extension {
        match (&self.method, &self.queries[number]) {
            (Method::Greedy(extender), ExtensionQuery::Greedy(query)) => {
                let half = segment.length / 2;
                let (q, s) = (segment.q_start + half, segment.s_start + half);
                let (query, subject) = (query.all(), Bases::of_database(part));
                extender.extend(query, subject, q, s, &mut scratch.greedy)
            }
            (Method::Dynamic(extender), ExtensionQuery::Dynamic(query)) => {
                extender.extend(query, part, segment, &mut scratch.gapped)
            }
            _ => {
                let bounds = box_of(segment);
                let &gapped::Segment { score, q_seed, s_seed, .. } = segment;
                Extension { score, bounds, q_seed, s_seed }
            }
        }
    }

    fn hsp(&self, number: usize, extension: &Extension, limits: &ContextLimits) -> PrelimHsp {
        let Extension { score, bounds, q_seed, s_seed } = *extension;
        PrelimHsp {
            score,
            q_start: bounds.q_start,
            q_end: bounds.q_end,
            s_start: bounds.s_start,
            s_end: bounds.s_end,
            q_seed,
            s_seed,
            evalue: limits.statistics.evalue(score),
            linked: 1,
            context: self.strands[number].context,
            frame: Frame::Strand(frame::Strand::Plus),
        }
    }
}

fn box_of(segment: &gapped::Segment) -> Bounds {
    Bounds {
        q_start: segment.q_start,
        q_end: segment.q_start + segment.length,
        s_start: segment.s_start,
        s_end: segment.s_start + segment.length,
    }
}
