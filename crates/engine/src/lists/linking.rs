//! Sum statistics: HSPs of one strand of the query and one of the subject that follow each other in
//! both sequences share an e-value (`s_BlastEvenGapLinkHSPs`, link_hsps.c).
//!
//! The best chain of the remaining HSPs becomes a linked set and is removed, until no HSP is left.
//! Each HSP of a set gets the e-value of the set.

mod chains;
mod cutoffs;
mod points;
#[cfg(test)]
mod tests;
pub(crate) mod uneven;

use std::cmp::Reverse;

use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_stats::sums::{LinkedSet, SearchSpace};

use self::chains::{Chain, Chains};
pub(crate) use self::cutoffs::EvenGapStatistics;
use crate::hits::{Alignment, PrelimHsp};
use crate::order::{Bounds, ContextHsp, Hsp, compare_hsps};

/// Largest gap between HSPs, in positions, in the method for small gaps.
const GAP: i32 = 40;
/// Largest overlap of HSPs, in positions.
const OVERLAP: i32 = 9;
/// Size of the window for the next HSP in the method for small gaps, in positions.
const WINDOW: i32 = GAP + OVERLAP + 1;
/// Number of positions by which an HSP is trimmed at both ends to test whether another HSP follows.
const TRIM: i32 = (OVERLAP + 1) / 2;
/// Divisor of the length of an HSP. An HSP is trimmed by the quotient if that is less than
/// [`TRIM`].
const TRIMMED_PART: i32 = 4;
/// Factor by which each further HSP lowers the prior probability of a set.
pub(crate) const DECAY: f64 = 0.5;
/// Prior probability of small gaps.
const SMALL_SHARE: f64 = 0.5;
/// Largest e-value of a linked set.
const MAX_EVALUE: f64 = i32::MAX as f64;
/// Number of frames of a strand.
const STRAND_FRAMES: u8 = 3;

/// An HSP that may be linked.
pub(crate) trait Linkable: ContextHsp {
    /// Returns the e-value of the HSP.
    fn evalue(&self) -> f64;

    /// Returns the frame of the subject.
    fn subject_frame(&self) -> Frame;

    /// Stores the e-value of the HSP's linked set, and the number of HSPs in the set.
    fn set_linked(&mut self, evalue: f64, count: u32);

    /// Returns the group of the HSP; only HSPs of the same group are linked. The number is the
    /// strand of a translated query, or the context of a query that is not translated. The flag is
    /// false if the subject is read on the minus strand.
    fn group(&self, translates_query: bool) -> (u8, bool) {
        let context = self.context();
        let query = if translates_query { context / STRAND_FRAMES } else { context };
        (query, self.subject_frame().strand() != Some(Strand::Minus))
    }
}

/// The linked set of an HSP.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SetMembership {
    /// E-value of the set.
    evalue: f64,
    /// Number of HSPs in the set.
    count: u32,
    /// Index of the first HSP of the set.
    first: usize,
    /// Position of the HSP in the set, by start in the query, from 0 on.
    place: usize,
}

impl Linkable for PrelimHsp {
    fn evalue(&self) -> f64 {
        self.evalue
    }

    fn subject_frame(&self) -> Frame {
        self.frame
    }

    fn set_linked(&mut self, evalue: f64, count: u32) {
        (self.evalue, self.linked) = (evalue, count);
    }
}

impl Linkable for Alignment {
    fn evalue(&self) -> f64 {
        self.evalue
    }

    fn subject_frame(&self) -> Frame {
        self.frame
    }

    fn set_linked(&mut self, evalue: f64, count: u32) {
        (self.evalue, self.linked) = (evalue, count);
    }
}

/// Statistics of a context of the query and a subject.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairStatistics {
    /// Effective lengths, and the search space.
    pub space: SearchSpace,
    /// λ, by which scores are normalised.
    pub lambda: f64,
    /// Natural logarithm of K.
    pub log_k: f64,
}

/// Rules for linking HSPs if gaps in both sequences have the same limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EvenGaps {
    /// Amount that is subtracted from the score of each HSP in a chain with small gaps. With `None`
    /// such chains are not formed.
    pub small_cutoff: Option<i32>,
    /// Amount that is subtracted from the score of each HSP in a chain with gaps of any length.
    pub large_cutoff: i32,
    /// Whether frames of a strand of the query are linked with each other.
    pub translates_query: bool,
}

/// A method of forming chains.
#[derive(Clone, Copy, Debug)]
struct Method {
    cutoff: i32,
    is_near: bool,
}

/// An HSP, trimmed for forming chains.
#[derive(Clone, Copy, Debug)]
struct Trimmed {
    score: i32,
    /// The score multiplied with λ.
    scaled: f64,
    log_k: f64,
    q_start: i32,
    q_end: i32,
    s_start: i32,
    s_end: i32,
}

/// Links HSPs with others of their group, and leaves them in ORDER-S.
///
/// `statistics` returns the statistics of a context. If it returns `None` for a context, the HSPs
/// of its group keep their e-values. Equal HSPs may be in different sets; they come in the order of
/// BLAST+'s sets.
pub(crate) fn link<T: Linkable>(
    hsps: &mut Vec<T>,
    gaps: EvenGaps,
    statistics: impl Fn(u8) -> Option<PairStatistics>,
) {
    let group = |hsp: &T| hsp.group(gaps.translates_query);
    // The order is from the last HSP in the query to the first.
    hsps.sort_by_cached_key(|hsp| {
        let Bounds { q_start, q_end, s_start, s_end } = hsp.bounds();
        (group(hsp), Reverse((q_start, q_end, s_start, s_end)))
    });
    let mut by_start: Vec<usize> = (0..hsps.len()).collect();
    by_start.sort_by_key(|&number| {
        let Bounds { q_start, s_start, .. } = hsps[number].bounds();
        (group(&hsps[number]).0, q_start, s_start)
    });
    let mut places = vec![[0; 2]; hsps.len()];
    by_start.iter().enumerate().for_each(|(place, &number)| places[number][0] = place);
    let mut first = 0;
    for of_group in hsps.chunk_by_mut(|a, b| group(a) == group(b)) {
        let places = &mut places[first..first + of_group.len()];
        first += of_group.len();
        let Some(of_first) = statistics(of_group[0].context()) else { continue };
        let of = |hsp: &T| statistics(hsp.context()).unwrap_or(of_first);
        let trimmed = of_group.iter().map(|hsp| Trimmed::new(hsp, of(hsp)));
        let starts: Vec<usize> = places.iter().map(|place| place[0]).collect();
        let sets = sets(&trimmed.collect::<Vec<_>>(), gaps, of_first.space);
        for ((hsp, set), place) in of_group.iter_mut().zip(sets).zip(places) {
            hsp.set_linked(set.evalue, set.count);
            *place = [starts[set.first], set.place];
        }
    }
    let mut placed: Vec<(T, [usize; 2])> = hsps.drain(..).zip(places).collect();
    placed.sort_by(|a, b| compare_hsps(&a.0, &b.0).then_with(|| a.1.cmp(&b.1)));
    hsps.extend(placed.into_iter().map(|(hsp, _)| hsp));
}

/// Forms the linked sets of a group. Returns the set of each HSP. The HSPs are sorted from the last
/// in the query to the first.
fn sets(hsps: &[Trimmed], gaps: EvenGaps, space: SearchSpace) -> Vec<SetMembership> {
    let near = gaps.small_cutoff.map(|cutoff| Method { cutoff, is_near: true });
    let far = Method { cutoff: gaps.large_cutoff, is_near: false };
    let methods: Vec<Method> = near.into_iter().chain([far]).collect();
    let mut chains: Vec<Chains<'_>> =
        methods.iter().map(|&method| Chains::new(method, hsps)).collect();
    let mut linked = vec![SetMembership { evalue: 0.0, count: 1, first: 0, place: 0 }; hsps.len()];
    while let Some(firsts) = best_chains(&mut chains) {
        let evaluate = |((method, chains), &first): ((&Method, &Chains<'_>), &usize)| {
            method.evalue(chains.chain(first), methods.len(), space)
        };
        let evalues: Vec<f64> = methods.iter().zip(&chains).zip(&firsts).map(evaluate).collect();
        let chosen = usize::from(evalues.len() > 1 && evalues[0] > evalues[1]);
        let (first, evalue) = (firsts[chosen], evalues[chosen]);
        let count = chains[chosen].chain(first).count;
        let taken: Vec<usize> = chains[chosen].members(first).collect();
        for (place, &at) in taken.iter().enumerate() {
            linked[at] = SetMembership { evalue, count, first, place };
        }
        chains.iter_mut().for_each(|chains| chains.remove(&taken));
    }
    linked
}

/// Returns the first HSP of each method's best chain; `None` if no HSP is left.
fn best_chains(chains: &mut [Chains<'_>]) -> Option<Vec<usize>> {
    let firsts =
        |chains: &[Chains<'_>]| chains.iter().map(Chains::best).collect::<Option<Vec<_>>>();
    let best = firsts(chains)?;
    if chains.iter().zip(&best).all(|(chains, &first)| chains.is_whole(first)) {
        return Some(best);
    }
    // BLAST+ searches new chains only now, and some chains depend on that.
    chains.iter_mut().for_each(Chains::update);
    firsts(chains)
}

impl Trimmed {
    fn new(hsp: &impl Hsp, statistics: PairStatistics) -> Trimmed {
        let of = |position: u32| position as i32;
        let Bounds { q_start, q_end, s_start, s_end } = hsp.bounds();
        let [q, s] = [q_end - q_start, s_end - s_start].map(|length| of(length) / TRIMMED_PART);
        let (q, s) = (q.min(TRIM), s.min(TRIM));
        Trimmed {
            score: hsp.score(),
            scaled: f64::from(hsp.score()) * statistics.lambda,
            log_k: statistics.log_k,
            q_start: of(q_start) + q,
            q_end: of(q_end) - q,
            s_start: of(s_start) + s,
            s_end: of(s_end) - s,
        }
    }
}

impl Method {
    /// Computes the e-value of a chain if `methods` methods are tried.
    fn evalue(self, chain: &Chain, methods: usize, space: SearchSpace) -> f64 {
        let set = LinkedSet { count: chain.count, score: chain.normalised };
        let evalue = match self.is_near {
            true => space.small_gap_evalue(set, WINDOW, DECAY),
            false => space.large_gap_evalue(set, DECAY),
        };
        if methods == 1 || set.count == 1 {
            return evalue;
        }
        let share = if self.is_near { SMALL_SHARE } else { 1.0 - SMALL_SHARE };
        (evalue / share).min(MAX_EVALUE)
    }
}
