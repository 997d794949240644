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

/// Links HSPs, each with others of its context, by the rules of that (if it has none, it has no HSPs), and leaves them in ORDER-S. Copies of
/// an HSP may be in different sets; they are in the order in which BLAST+ has the sets.
pub(crate) fn link<T: Linkable>(hsps: &mut Vec<T>, rules: impl Fn(u8) -> Option<Rules>) {
    hsps.sort_by_key(T::context);
    let mut places: Vec<[usize; 2]> = Vec::with_capacity(hsps.len());
    for of_context in hsps.chunk_by_mut(|a, b| a.context() == b.context()) {
        let Some(rules) = rules(of_context[0].context()) else { continue };
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
mod tests {
    use super::*;

    fn rules(small_cutoff: Option<i32>) -> Rules {
        let space = Space { query: 1000, subject: 100_000, search: 10_000_000_000 };
        Rules { space, lambda: 1.28, log_k: 0.46f64.ln(), small_cutoff }
    }

    /// A run of pairs at these places of query and subject.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Run {
        q: u32,
        s: u32,
        length: u32,
        set: (f64, u32),
    }

    impl Hsp for Run {
        fn bounds(&self) -> Bounds {
            let &Run { q, s, length, .. } = self;
            Bounds { q_start: q, q_end: q + length, s_start: s, s_end: s + length }
        }

        fn score(&self) -> i32 {
            self.length as i32
        }
    }

    impl OfContext for Run {
        fn context(&self) -> u8 {
            0
        }
    }

    impl Linkable for Run {
        fn take(&mut self, evalue: f64, count: u32) {
            self.set = (evalue, count);
        }
    }

    fn hsp(q: u32, s: u32, length: u32) -> Run {
        Run { q, s, length, set: (0.0, 1) }
    }

    // The first of the copies is in a set that begins before it, the other one is alone.
    #[test]
    fn copies_are_in_the_order_of_their_sets() {
        for of_set_first in [true, false] {
            let mut hsps = vec![hsp(0, 0, 150), hsp(400, 390, 114), hsp(400, 390, 114)];
            hsps.rotate_left(usize::from(!of_set_first));
            link(&mut hsps, |_| Some(rules(None)));
            let counts: Vec<u32> = hsps.iter().map(|hsp| hsp.set.1).collect();
            assert_eq!(counts, [2, 2, 1]);
        }
    }

    #[test]
    fn what_follows_in_both_is_one_set() {
        let hsps = [hsp(100, 5000, 20), hsp(0, 200, 22), hsp(50, 700, 21), hsp(60, 90, 25)];
        let counts = |rules| sets(&hsps, &rules).iter().map(|set| set.count).collect::<Vec<_>>();
        // The last one lies before the second in the subject.
        assert_eq!(counts(rules(None)), [3, 3, 3, 1]);
        let made = sets(&hsps, &rules(None));
        assert!(made[0].evalue == made[1].evalue && made[0].evalue < made[3].evalue);
        // None is near another one.
        assert_eq!(counts(rules(Some(13))), [3, 3, 3, 1]);
        let near = [hsp(0, 200, 22), hsp(30, 240, 20), hsp(60, 9000, 20)];
        let made = sets(&near, &rules(Some(13)));
        // The gap between the first two is small, and so their set is worth more than one of all three.
        assert_eq!(made.iter().map(|set| set.count).collect::<Vec<_>>(), [2, 2, 1]);
        assert!(sets::<Run>(&[], &rules(None)).is_empty());
    }

    #[test]
    fn chains_that_are_kept_are_those_that_would_be_found_again() {
        let mut state = 7u64;
        let mut below = |end: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % end) as u32
        };
        for small_cutoff in [None, Some(12)] {
            for _ in 0..60 {
                let all = 1 + below(40);
                let hsps: Vec<Run> =
                    (0..all).map(|_| hsp(below(600), below(600), 8 + below(30))).collect();
                let rules = rules(small_cutoff);
                let made = sets(&hsps, &rules);
                let told = |set: &Linked| (set.evalue, set.count);
                let made: Vec<_> = made.iter().map(told).collect();
                assert_eq!(made, slowly(&hsps, &rules));
            }
        }
    }

    /// The same, with all chains looked for anew for each set, one by one.
    fn slowly(hsps: &[Run], rules: &Rules) -> Vec<(f64, u32)> {
        let mut left: Vec<usize> = (0..hsps.len()).collect();
        let mut linked = vec![(0.0, 0); hsps.len()];
        while !left.is_empty() {
            let part: Vec<Run> = left.iter().map(|&number| hsps[number]).collect();
            let made = sets(&part, rules);
            // The first set that is made is the one with the best chain, whatever comes after it.
            let first = first_set(&part, rules);
            for &place in &first {
                linked[left[place]] = (made[place].evalue, made[place].count);
            }
            let mut place = 0;
            left.retain(|_| {
                place += 1;
                !first.contains(&(place - 1))
            });
        }
        linked
    }

    fn first_set(hsps: &[Run], rules: &Rules) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..hsps.len()).collect();
        numbers.sort_by_key(|&number| {
            let Bounds { q_start, q_end, s_start, s_end } = hsps[number].bounds();
            std::cmp::Reverse((q_start, q_end, s_start, s_end))
        });
        let all: Vec<Trimmed> = numbers.into_iter().map(|n| Trimmed::new(n, &hsps[n])).collect();
        let mut methods = vec![Method { cutoff: 0, is_near: false }];
        if let Some(cutoff) = rules.small_cutoff {
            methods.insert(0, Method { cutoff, is_near: true });
        }
        let of = |method: &Method| {
            let chains = method.chains(&all, rules);
            let best = best(&chains);
            (method.evalue(&chains[best], methods.len(), rules), chains, best)
        };
        let mut sets: Vec<_> = methods.iter().map(of).collect();
        let chosen = usize::from(sets.len() > 1 && sets[0].0 > sets[1].0);
        let (_, chains, best) = sets.swap_remove(chosen);
        let mut set = Vec::new();
        let mut at = Some(best);
        while let Some(place) = at {
            set.push(all[place].number);
            at = chains[place].next;
        }
        set
    }
}
