//! Links HSPs if a gap may be longer in one sequence than in the other, by an intron
//! (`s_BlastUnevenGapLinkHSPs`, link_hsps.c).
//!
//! Sets grow from the best HSP on. Each set takes the HSP, or the set, that lowers its e-value
//! most, until none lowers it.

use fleetblast_stats::sums::{LinkedSet, gap_decay_divisor};

use super::{GAP, Linkable, OVERLAP, PairStatistics};
use crate::order::Bounds;

/// Factor by which each further HSP lowers the prior probability of a set of gapped HSPs.
pub(super) const GAPPED_DECAY: f64 = 0.1;
/// Longest gap in a translated sequence without `-max_intron_length`, in residues:
/// `DEFAULT_LONGEST_INTRON` of 122 nucleotides (blast_options.h).
const DEFAULT_INTRON: i32 = (122 - 2) / 3;

/// The longest gaps between neighbouring HSPs of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct UnevenGaps {
    /// Longest gap in the translated sequence, in residues.
    intron: i32,
    translates_query: bool,
    /// Factor by which each further HSP lowers the prior probability of a set.
    decay: f64,
}

/// An HSP and its place in a linked set.
#[derive(Clone, Copy, Debug)]
struct Link {
    bounds: Bounds,
    context: u8,
    evalue: f64,
    /// Normalised score of the set.
    sum: f64,
    /// Number of HSPs of the set.
    count: u32,
    /// Neighbours in the set, by start in the query.
    previous: Option<usize>,
    next: Option<usize>,
}

impl UnevenGaps {
    /// Creates the limits for gapped HSPs from `-max_intron_length`, 0 for the default. Returns
    /// `None` for an intron without room for a residue; then nothing is linked.
    pub fn gapped(max_intron_length: i32, translates_query: bool) -> Option<UnevenGaps> {
        let intron = match max_intron_length {
            0 => DEFAULT_INTRON,
            length => residues(length),
        };
        let gaps = UnevenGaps { intron, translates_query, decay: GAPPED_DECAY };
        (intron > 0).then_some(gaps)
    }

    /// Creates the limits for ungapped HSPs, for which there is no default intron. Returns `None`
    /// for an intron without room for a residue; then HSPs are linked with even gaps.
    pub fn ungapped(max_intron_length: i32, translates_query: bool) -> Option<UnevenGaps> {
        let intron = residues(max_intron_length);
        (intron > 0).then_some(UnevenGaps { intron, translates_query, decay: super::DECAY })
    }

    /// Returns the divisor of the e-value of a single HSP in a search that links HSPs.
    pub fn single_divisor(self) -> f64 {
        gap_decay_divisor(self.decay, 1)
    }

    /// Returns the longest gaps in the query and in the subject.
    fn longest(self) -> [i32; 2] {
        match self.translates_query {
            true => [self.intron, GAP],
            false => [GAP, self.intron],
        }
    }

    /// Returns the numbers of positions in the query and in the subject at which the next HSP may
    /// start. The intron counts as one of the subject here, even if the query is translated
    /// (`s_SumHSPEvalue`).
    fn positions(self) -> [i32; 2] {
        [GAP, self.intron].map(|gap| gap + OVERLAP + 1)
    }
}

/// Returns the number of whole codons in an intron of this length, in nucleotides, less two for its
/// ends.
fn residues(max_intron_length: i32) -> i32 {
    (max_intron_length - 2) / 3
}

/// Links HSPs, which are in ORDER-S and have the e-values of single HSPs. `statistics` returns the
/// statistics of a context.
pub(crate) fn link<T: Linkable>(
    hsps: &mut [T],
    gaps: UnevenGaps,
    statistics: impl Fn(u8) -> PairStatistics,
) {
    let grouped =
        hsps.iter().enumerate().map(|(number, hsp)| (hsp.group(gaps.translates_query), number));
    let mut grouped: Vec<((u8, bool), usize)> = grouped.collect();
    grouped.sort_unstable();
    for group in grouped.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
        let links = group.iter().map(|&(_, number)| Link::new(&hsps[number], &statistics));
        let mut sets = Sets { links: links.collect(), gaps, by_start: Vec::new() };
        sets.link(&statistics);
        for (&(_, number), link) in group.iter().zip(&sets.links) {
            hsps[number].set_linked(link.evalue, link.count);
        }
    }
}

impl Link {
    fn new<T: Linkable>(hsp: &T, statistics: &impl Fn(u8) -> PairStatistics) -> Link {
        let context = hsp.context();
        let PairStatistics { lambda, log_k, .. } = statistics(context);
        Link {
            bounds: hsp.bounds(),
            context,
            evalue: hsp.evalue(),
            sum: lambda * f64::from(hsp.score()) - log_k,
            count: 1,
            previous: None,
            next: None,
        }
    }
}

/// The HSPs of a group, in ORDER-S.
#[derive(Debug)]
struct Sets {
    links: Vec<Link>,
    gaps: UnevenGaps,
    /// Indexes of the links by start in the query, then in the subject.
    by_start: Vec<usize>,
}

impl Sets {
    fn link(&mut self, statistics: &impl Fn(u8) -> PairStatistics) {
        let mut by_sum: Vec<usize> = (0..self.links.len()).collect();
        by_sum.sort_by(|&a, &b| self.links[b].sum.total_cmp(&self.links[a].sum));
        self.by_start = (0..self.links.len()).collect();
        self.by_start.sort_by_key(|&number| {
            let bounds = self.links[number].bounds;
            (bounds.q_start, bounds.s_start)
        });
        for first in by_sum {
            let Link { previous, next, .. } = self.links[first];
            if previous.is_some() || next.is_some() {
                continue;
            }
            let mut head = first;
            while let Some((other, evalue)) = self.best_partner(head, statistics) {
                head = self.join(head, other, evalue);
            }
        }
    }

    /// Finds the set that gives the lowest e-value if it is joined to the set `head`. Returns an
    /// HSP of that set and the e-value; `None` if no e-value is lower than those of both sets.
    fn best_partner(
        &self,
        head: usize,
        statistics: &impl Fn(u8) -> PairStatistics,
    ) -> Option<(usize, f64)> {
        let set = &self.links[head];
        let longest = i64::from(self.gaps.longest()[0]);
        let tail = self.set_of(head).last().unwrap_or(head);
        let leftmost = i64::from(set.bounds.q_start) - longest;
        let end = i64::from(self.links[tail].bounds.q_end) + longest;
        let q_end = |number: usize| i64::from(self.links[number].bounds.q_end);
        let mut best = None;
        let mut lowest = set.evalue;
        for &number in &self.by_start {
            let other = &self.links[number];
            if i64::from(other.bounds.q_start) >= end {
                break;
            }
            // Only the first HSP within reach represents its set.
            let stands = |previous| q_end(previous) < leftmost;
            if q_end(number) < leftmost || !other.previous.is_none_or(stands) {
                continue;
            }
            if !self.may_join(head, number) {
                continue;
            }
            let joined = LinkedSet { count: set.count + other.count, score: other.sum + set.sum };
            let space = statistics(set.context).space;
            let evalue = space.uneven_gap_evalue(joined, self.gaps.positions(), self.gaps.decay);
            if evalue < lowest.min(other.evalue) {
                (best, lowest) = (Some((number, evalue)), evalue);
            }
        }
        best
    }

    /// Returns whether the HSPs of both sets follow each other in both sequences, with short enough
    /// gaps and overlaps (`s_LinkedHSPSetsAdmissible`).
    fn may_join(&self, head: usize, other: usize) -> bool {
        let other = self.head_of(other);
        if head == other {
            return false;
        }
        let [q_gap, s_gap] = self.gaps.longest().map(i64::from);
        let overlap = i64::from(OVERLAP);
        let merged = self.merge_sets(head, other);
        merged.windows(2).all(|pair| {
            let [left, right] = [pair[0], pair[1]].map(|number| self.links[number].bounds);
            let [lq, le] = [left.q_start, left.q_end].map(i64::from);
            let [rq, re] = [right.q_start, right.q_end].map(i64::from);
            let [ls, lt] = [left.s_start, left.s_end].map(i64::from);
            let [rs, rt] = [right.s_start, right.s_end].map(i64::from);
            let in_query = le >= rq - q_gap && lq < rq && le <= rq + overlap && le < re;
            in_query && lt <= rs + overlap && lt >= rs - s_gap && ls < rs && lt < rt
        })
    }

    /// Joins the sets of two HSPs, and returns the first HSP of the new set.
    fn join(&mut self, head: usize, other: usize, evalue: f64) -> usize {
        let sum = self.links[other].sum + self.links[head].sum;
        let merged = self.merge_sets(head, self.head_of(other));
        for (place, &number) in merged.iter().enumerate() {
            let previous = place.checked_sub(1).map(|before| merged[before]);
            let next = merged.get(place + 1).copied();
            let link = &mut self.links[number];
            *link = Link { evalue, sum, count: merged.len() as u32, previous, next, ..*link };
        }
        merged[0]
    }

    fn head_of(&self, number: usize) -> usize {
        let previous = |&number: &usize| self.links[number].previous;
        std::iter::successors(Some(number), previous).last().unwrap_or(number)
    }

    /// Iterates over the HSPs of a set from the HSP `head` on, by start in the query.
    fn set_of(&self, head: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(head), |&number| self.links[number].next)
    }

    /// Returns the HSPs of two sets by start in the query. Among equal starts the HSPs of the
    /// second set come first.
    fn merge_sets(&self, first: usize, second: usize) -> Vec<usize> {
        let (first, second) = (self.set_of(first), self.set_of(second));
        let marked = second.map(|number| (number, 0)).chain(first.map(|number| (number, 1)));
        let mut merged: Vec<(usize, u8)> = marked.collect();
        merged.sort_by_key(|&(number, set)| (self.links[number].bounds.q_start, set));
        merged.into_iter().map(|(number, _)| number).collect()
    }
}
