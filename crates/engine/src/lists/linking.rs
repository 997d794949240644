//! Sum statistics: HSPs of one context in one subject that follow each other in both sequences
//! share an e-value (`link_hsps.c`, even gaps).
//!
//! The best chain of the remaining HSPs becomes a linked set, again and again. Each of its HSPs
//! gets the e-value of the set.

mod chains;
mod points;
#[cfg(test)]
mod tests;
pub(crate) mod uneven;

use fleetblast_seq::frame::Frame;
use fleetblast_stats::sums::{LinkedSet, SearchSpace};

use self::chains::{Chain, Chains};
use crate::hits::{Alignment, PrelimHsp};
use crate::order::{Bounds, Hsp, InContext, order_s};

/// Largest gap between HSPs, in positions, in the method for small gaps.
const GAP: i32 = 40;
/// Largest overlap of HSPs, in positions.
const OVERLAP: i32 = 9;
/// Size of the window for the next HSP in the method for small gaps, in positions.
const WINDOW: i32 = GAP + OVERLAP + 1;
/// HSPs are trimmed by this much at both ends to test whether one follows another.
const TRIM: i32 = (OVERLAP + 1) / 2;
/// Or they are trimmed by this fraction of their length, if that is less.
const TRIMMED_PART: i32 = 4;
/// Factor by which each further HSP lowers the prior probability of a set.
pub(crate) const DECAY: f64 = 0.5;
/// Prior probability of small gaps.
const SMALL_SHARE: f64 = 0.5;
/// Largest e-value.
const MAX_EVALUE: f64 = i32::MAX as f64;

/// An HSP that may be linked.
pub(crate) trait Linkable: InContext {
    /// Its e-value.
    fn evalue(&self) -> f64;

    /// The frame of the subject.
    fn subject_frame(&self) -> Frame;

    /// Sets the e-value of its linked set, and the number of HSPs in that.
    fn set_linked(&mut self, evalue: f64, count: u32);
}

/// The linked set of an HSP.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Linked {
    /// The set's e-value.
    evalue: f64,
    /// Its number of HSPs.
    count: u32,
    /// Position of the HSP in BLAST+'s order afterwards: that of the set's first HSP among all, by
    /// start in the query and the subject, and that of the HSP within the set.
    place: [usize; 2],
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

/// Parameters for the e-values of linked sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Lengths of query and subject, and the search space.
    pub space: SearchSpace,
    /// λ, by which scores are normalised.
    pub lambda: f64,
    /// Natural logarithm of K.
    pub log_k: f64,
    /// Amount that is subtracted from each HSP in chains with small gaps. Without a value such
    /// chains are not formed.
    pub small_cutoff: Option<i32>,
}

/// A method to form chains.
#[derive(Clone, Copy, Debug)]
struct Method {
    cutoff: i32,
    is_near: bool,
}

/// An HSP, trimmed for forming chains.
#[derive(Clone, Copy, Debug)]
struct Trimmed {
    number: usize,
    score: i32,
    q_start: i32,
    q_end: i32,
    s_start: i32,
    s_end: i32,
}

/// Links HSPs with others of the same context, if `rules` returns rules for that, and leaves them
/// in ORDER-S. Copies of an HSP may be in different sets; they have the order of BLAST+'s sets.
pub(crate) fn link<T: Linkable>(hsps: &mut Vec<T>, rules: impl Fn(u8) -> Option<Rules>) {
    hsps.sort_by_key(T::context);
    let mut places: Vec<[usize; 2]> = Vec::with_capacity(hsps.len());
    for of_context in hsps.chunk_by_mut(|a, b| a.context() == b.context()) {
        let Some(rules) = rules(of_context[0].context()) else {
            places.resize(places.len() + of_context.len(), [0; 2]);
            continue;
        };
        let sets = sets(of_context, &rules);
        for (hsp, set) in of_context.iter_mut().zip(sets) {
            hsp.set_linked(set.evalue, set.count);
            places.push(set.place);
        }
    }
    let mut placed: Vec<(T, [usize; 2])> = hsps.drain(..).zip(places).collect();
    // Contexts stay in their order.
    let key = |&(ref hsp, place): &(T, [usize; 2])| (hsp.context(), place);
    placed.sort_by(|a, b| order_s(&a.0, &b.0).then_with(|| key(a).cmp(&key(b))));
    hsps.extend(placed.into_iter().map(|(hsp, _)| hsp));
}

/// The linked set of each HSP of a context.
fn sets<T: Hsp>(hsps: &[T], rules: &Rules) -> Vec<Linked> {
    let mut numbers: Vec<usize> = (0..hsps.len()).collect();
    numbers.sort_by_key(|&number| {
        let Bounds { q_start, q_end, s_start, s_end } = hsps[number].bounds();
        std::cmp::Reverse((q_start, q_end, s_start, s_end))
    });
    let mut forwards = vec![0; hsps.len()];
    for (place, &number) in by_start(hsps, &numbers).iter().enumerate() {
        forwards[number] = place;
    }
    // From the last in the query to the first.
    let trimmed: Vec<Trimmed> = numbers.into_iter().map(|n| Trimmed::new(n, &hsps[n])).collect();
    let near = rules.small_cutoff.map(|cutoff| Method { cutoff, is_near: true });
    let methods: Vec<Method> =
        near.into_iter().chain([Method { cutoff: 0, is_near: false }]).collect();
    let mut chains: Vec<Chains<'_>> =
        methods.iter().map(|&method| Chains::new(method, &trimmed, rules)).collect();
    let mut linked = vec![Linked { evalue: 0.0, count: 1, place: [0; 2] }; hsps.len()];
    loop {
        let evaluate = |(method, chains): (&Method, &Chains<'_>)| {
            let first = chains.best()?;
            let chain = chains.chain(first);
            Some((first, chain.count, method.evalue(chain, methods.len(), rules)))
        };
        let best: Option<Vec<_>> = methods.iter().zip(&chains).map(evaluate).collect();
        let Some(best) = best else { return linked };
        let chosen = usize::from(best.len() > 1 && best[0].2 > best[1].2);
        let (first, count, evalue) = best[chosen];
        let next = |&at: &usize| chains[chosen].chain(at).next;
        let taken: Vec<usize> = std::iter::successors(Some(first), next).collect();
        let start = forwards[trimmed[first].number];
        for (place, &at) in taken.iter().enumerate() {
            linked[trimmed[at].number] = Linked { evalue, count, place: [start, place] };
        }
        chains.iter_mut().for_each(|chains| chains.remove(&taken));
    }
}

/// Numbers of HSPs by start in the query, and in the subject; those with equal starts keep their
/// order.
fn by_start<T: Hsp>(hsps: &[T], numbers: &[usize]) -> Vec<usize> {
    let mut numbers = numbers.to_vec();
    numbers.sort_by_key(|&number| {
        let Bounds { q_start, s_start, .. } = hsps[number].bounds();
        (q_start, s_start)
    });
    numbers
}

impl Trimmed {
    fn new(number: usize, hsp: &impl Hsp) -> Trimmed {
        let of = |position: u32| position as i32;
        let Bounds { q_start, q_end, s_start, s_end } = hsp.bounds();
        let [q, s] = [q_end - q_start, s_end - s_start].map(|length| of(length) / TRIMMED_PART);
        let (q, s) = (q.min(TRIM), s.min(TRIM));
        Trimmed {
            number,
            score: hsp.score(),
            q_start: of(q_start) + q,
            q_end: of(q_end) - q,
            s_start: of(s_start) + s,
            s_end: of(s_end) - s,
        }
    }
}

impl Method {
    /// The e-value of a chain, if `methods` methods are tried.
    fn evalue(self, chain: &Chain, methods: usize, rules: &Rules) -> f64 {
        let set = LinkedSet { count: chain.count, score: chain.normalised };
        let evalue = match self.is_near {
            true => rules.space.small_gap_evalue(set, WINDOW, DECAY),
            false => rules.space.large_gap_evalue(set, DECAY),
        };
        if methods == 1 || set.count == 1 {
            return evalue;
        }
        let share = if self.is_near { SMALL_SHARE } else { 1.0 - SMALL_SHARE };
        (evalue / share).min(MAX_EVALUE)
    }
}
