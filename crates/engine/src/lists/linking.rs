//! Sum statistics: HSPs of one context in one subject that follow each other in both are judged together (`link_hsps.c`, even gaps).
//!
//! Again and again the best chain of those that are left is a set. Each of its HSPs gets the e-value of the set.

use fleetblast_stats::sums::{Set, Space};

use crate::hits::{Alignment, PrelimHsp};
use crate::order::{Bounds, Hsp, OfContext, order_s};

/// Places in a gap between HSPs that are near each other.
const GAP: i32 = 40;
/// HSPs may overlap so far.
const OVERLAP: i32 = 9;
/// The same with the place itself: so many places are near.
const WINDOW: i32 = GAP + OVERLAP + 1;
/// HSPs are cut at both ends by as much, for the question whether one follows another.
const TRIM: i32 = (OVERLAP + 1) / 2;
/// Or by this part of them, if that is less.
const TRIMMED_PART: i32 = 4;
/// By how much less likely a set of one more HSP is looked for.
pub(crate) const DECAY: f64 = 0.5;
/// How likely gaps are small.
const SMALL_SHARE: f64 = 0.5;
/// No e-value is larger.
const MOST: f64 = i32::MAX as f64;

/// An HSP that may be linked.
pub(crate) trait Linkable: OfContext {
    /// Takes the e-value of its set, and how many HSPs that has.
    fn take(&mut self, evalue: f64, count: u32);
}

/// The set that an HSP is in.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Linked {
    /// The set's e-value.
    evalue: f64,
    /// How many HSPs it has.
    count: u32,
    /// Where BLAST+ has the HSP after that: where the set begins among all, by start in the query and the subject, and where it is in the
    /// set.
    place: [usize; 2],
}

impl Linkable for PrelimHsp {
    fn take(&mut self, evalue: f64, count: u32) {
        (self.evalue, self.linked) = (evalue, count);
    }
}

impl Linkable for Alignment {
    fn take(&mut self, evalue: f64, count: u32) {
        (self.evalue, self.linked) = (evalue, count);
    }
}

/// What sets are judged by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Lengths of query and subject, and of all.
    pub space: Space,
    /// By which scores are normalised.
    pub lambda: f64,
    /// Natural logarithm of K.
    pub log_k: f64,
    /// By how much each HSP of a chain with small gaps must be worth more; such chains are looked for only if there is a cut-off.
    pub small_cutoff: Option<i32>,
}

/// A way to chain HSPs.
#[derive(Clone, Copy, Debug)]
struct Method {
    cutoff: i32,
    is_near: bool,
}

/// The best chain that begins with an HSP.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    next: Option<usize>,
    count: u32,
    /// Scores, less the cut-off for each.
    sum: i32,
    normalised: f64,
    /// The nearest HSP before this one whose chain has a larger sum.
    larger: Option<usize>,
}

/// An HSP as chains see it.
#[derive(Clone, Copy, Debug)]
struct Trimmed {
    number: usize,
    score: i32,
    q_start: i32,
    q_end: i32,
    s_start: i32,
    s_end: i32,
}

/// Links HSPs, each with others of its context, by the rules of that if it has some, and leaves them in ORDER-S. Copies of
/// an HSP may be in different sets; they are in the order in which BLAST+ has the sets.
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
            hsp.take(set.evalue, set.count);
            places.push(set.place);
        }
    }
    let mut placed: Vec<(T, [usize; 2])> = hsps.drain(..).zip(places).collect();
    // Contexts stay in their order.
    let key = |&(ref hsp, place): &(T, [usize; 2])| (hsp.context(), place);
    placed.sort_by(|a, b| order_s(&a.0, &b.0).then_with(|| key(a).cmp(&key(b))));
    hsps.extend(placed.into_iter().map(|(hsp, _)| hsp));
}

/// What set each HSP of a context is in.
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
    // Those that are left, from the last in the query to the first.
    let mut left: Vec<Trimmed> = numbers.into_iter().map(|n| Trimmed::new(n, &hsps[n])).collect();
    let methods: Vec<Method> = [
        rules.small_cutoff.map(|cutoff| Method { cutoff, is_near: true }),
        Some(Method { cutoff: 0, is_near: false }),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut linked = vec![Linked { evalue: 0.0, count: 1, place: [0; 2] }; hsps.len()];
    let mut chains: Vec<Vec<Chain>> = Vec::new();
    let mut is_stale = true;
    while !left.is_empty() {
        if is_stale {
            chains = methods.iter().map(|method| method.chains(&left, rules)).collect();
        }
        let best: Vec<usize> = chains.iter().map(|chains| best(chains)).collect();
        let evalues: Vec<f64> = methods
            .iter()
            .zip(&chains)
            .zip(&best)
            .map(|((method, chains), &best)| method.evalue(&chains[best], methods.len(), rules))
            .collect();
        let chosen = usize::from(evalues.len() > 1 && evalues[0] > evalues[1]);
        let mut taken = vec![false; left.len()];
        let (evalue, count) = (evalues[chosen], chains[chosen][best[chosen]].count);
        let mut place = [forwards[left[best[chosen]].number], 0];
        let mut at = Some(best[chosen]);
        while let Some(number) = at {
            taken[number] = true;
            linked[left[number].number] = Linked { evalue, count, place };
            place[1] += 1;
            at = chains[chosen][number].next;
        }
        is_stale = remove(&taken, &mut left, &mut chains);
    }
    linked
}

/// Numbers of HSPs by where they start in the query, and in the subject; those that start alike as they were.
fn by_start<T: Hsp>(hsps: &[T], numbers: &[usize]) -> Vec<usize> {
    let mut numbers = numbers.to_vec();
    numbers.sort_by_key(|&number| {
        let Bounds { q_start, s_start, .. } = hsps[number].bounds();
        (q_start, s_start)
    });
    numbers
}

/// The best chain: of equal ones the one that begins first in the query.
fn best(chains: &[Chain]) -> usize {
    let mut best = 0;
    for (place, chain) in chains.iter().enumerate() {
        if chain.sum >= chains[best].sum {
            best = place;
        }
    }
    best
}

/// Removes what is taken. True if chains of the rest went through that, so that they are others now.
fn remove(taken: &[bool], left: &mut Vec<Trimmed>, chains: &mut [Vec<Chain>]) -> bool {
    let is_broken = |chain: &Chain| chain.next.is_some_and(|next| taken[next]);
    let mut is_stale = false;
    for chains in chains.iter_mut() {
        let mut rest = chains.iter().zip(taken).filter(|(_, taken)| !**taken);
        is_stale |= rest.any(|(chain, _)| is_broken(chain));
    }
    if !is_stale {
        let mut places = Vec::with_capacity(taken.len());
        let mut place = 0;
        for &taken in taken {
            places.push(place);
            place += usize::from(!taken);
        }
        for chains in chains.iter_mut() {
            let mut taken = taken.iter();
            chains.retain(|_| !taken.next().is_some_and(|&taken| taken));
            for chain in chains.iter_mut() {
                chain.next = chain.next.map(|next| places[next]);
            }
        }
    }
    let mut taken = taken.iter();
    left.retain(|_| !taken.next().is_some_and(|&taken| taken));
    is_stale
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

    /// Whether another one comes after it in both sequences.
    fn precedes(&self, other: &Trimmed) -> bool {
        other.q_start > self.q_end && other.s_start > self.s_end
    }

    /// Whether the other one begins near its end.
    fn is_near(&self, other: &Trimmed) -> bool {
        other.q_start <= self.q_end + WINDOW && other.s_start <= self.s_end + WINDOW
    }
}

impl Method {
    /// The best chains of HSPs, which come from the last to the first.
    fn chains(self, hsps: &[Trimmed], rules: &Rules) -> Vec<Chain> {
        let mut chains: Vec<Chain> = Vec::with_capacity(hsps.len());
        for (place, hsp) in hsps.iter().enumerate() {
            let mut best = Chain::default();
            if hsp.score > self.cutoff {
                best = self.follower(&hsps[..place], &chains, hsp);
            }
            let sum = best.sum + (hsp.score - self.cutoff);
            let normalised = best.normalised + f64::from(hsp.score) * rules.lambda - rules.log_k;
            let mut larger = place.checked_sub(1);
            while let Some(earlier) = larger
                && sum >= chains[earlier].sum
            {
                larger = chains[earlier].larger;
            }
            chains.push(Chain { next: best.next, count: best.count + 1, sum, normalised, larger });
        }
        chains
    }

    /// The best chain that may follow an HSP, of equal ones the nearest.
    fn follower(self, later: &[Trimmed], chains: &[Chain], hsp: &Trimmed) -> Chain {
        let mut best = Chain::default();
        let mut at = later.len().checked_sub(1);
        while let Some(place) = at {
            let (other, chain) = (&later[place], &chains[place]);
            if self.is_near && other.q_start > hsp.q_end + WINDOW + TRIM {
                break;
            }
            if chain.sum <= best.sum {
                at = chain.larger;
                continue;
            }
            at = place.checked_sub(1);
            if hsp.precedes(other) && (!self.is_near || hsp.is_near(other)) {
                best = Chain { next: Some(place), ..*chain };
            }
        }
        best
    }

    /// What a chain is worth, where there are so many methods.
    fn evalue(self, chain: &Chain, methods: usize, rules: &Rules) -> f64 {
        let set = Set { count: chain.count, score: chain.normalised };
        let evalue = match self.is_near {
            true => rules.space.small_gaps(set, WINDOW, DECAY),
            false => rules.space.large_gaps(set, DECAY),
        };
        if methods == 1 || set.count == 1 {
            return evalue;
        }
        let share = if self.is_near { SMALL_SHARE } else { 1.0 - SMALL_SHARE };
        (evalue / share).min(MOST)
    }
}

#[cfg(test)]
mod tests;
