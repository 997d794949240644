//! Tests of linked sets.

use super::*;
use fleetblast_seq::frame::Frame;

const SPACE: SearchSpace =
    SearchSpace { query_length: 1000, subject_length: 100_000, search_space: 10_000_000_000 };

fn statistics() -> PairStatistics {
    PairStatistics { space: SPACE, lambda: 1.28, log_k: 0.46f64.ln() }
}

fn gaps(small_cutoff: Option<i32>) -> EvenGaps {
    EvenGaps { small_cutoff, large_cutoff: 0, translates_query: false }
}

/// Returns for each HSP the e-value of its set, and the number of HSPs in the set.
fn linked_sets(hsps: &[Run], gaps: EvenGaps) -> Vec<(f64, u32)> {
    let mut numbers: Vec<usize> = (0..hsps.len()).collect();
    numbers.sort_by_key(|&number| {
        let Bounds { q_start, q_end, s_start, s_end } = hsps[number].bounds();
        Reverse((q_start, q_end, s_start, s_end))
    });
    let trimmed = numbers.iter().map(|&n| Trimmed::new(&hsps[n], statistics()));
    let mut made = vec![(0.0, 0); hsps.len()];
    for (set, &number) in sets(&trimmed.collect::<Vec<_>>(), gaps, SPACE).iter().zip(&numbers) {
        made[number] = (set.evalue, set.count);
    }
    made
}

/// A run of pairs at these positions of query and subject.
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

impl ContextHsp for Run {
    fn context(&self) -> u8 {
        0
    }
}

impl Linkable for Run {
    fn evalue(&self) -> f64 {
        self.set.0
    }

    fn subject_frame(&self) -> Frame {
        Frame::Protein
    }

    fn set_linked(&mut self, evalue: f64, count: u32) {
        self.set = (evalue, count);
    }
}

fn hsp(q: u32, s: u32, length: u32) -> Run {
    Run { q, s, length, set: (0.0, 1) }
}

// The first of the equal HSPs is in a set that begins before it, the other one is alone.
#[test]
fn copies_are_in_the_order_of_their_sets() {
    for of_set_first in [true, false] {
        let mut hsps = vec![hsp(0, 0, 150), hsp(400, 390, 114), hsp(400, 390, 114)];
        hsps.rotate_left(usize::from(!of_set_first));
        link(&mut hsps, gaps(None), |_| Some(statistics()));
        let counts: Vec<u32> = hsps.iter().map(|hsp| hsp.set.1).collect();
        assert_eq!(counts, [2, 2, 1]);
    }
}

#[test]
fn what_follows_in_both_is_one_set() {
    let hsps = [hsp(100, 5000, 20), hsp(0, 200, 22), hsp(50, 700, 21), hsp(60, 90, 25)];
    let counts = |gaps| linked_sets(&hsps, gaps).iter().map(|set| set.1).collect::<Vec<_>>();
    // The last one is before the second in the subject.
    assert_eq!(counts(gaps(None)), [3, 3, 3, 1]);
    let made = linked_sets(&hsps, gaps(None));
    assert!(made[0].0 == made[1].0 && made[0].0 < made[3].0);
    // No HSP is near another one.
    assert_eq!(counts(gaps(Some(13))), [3, 3, 3, 1]);
    let near = [hsp(0, 200, 22), hsp(30, 240, 20), hsp(60, 9000, 20)];
    let made = linked_sets(&near, gaps(Some(13)));
    // The gap between the first two is small, so their set scores higher than one of all three.
    assert_eq!(made.iter().map(|set| set.1).collect::<Vec<_>>(), [2, 2, 1]);
    assert!(linked_sets(&[], gaps(None)).is_empty());
}

#[test]
fn sets_are_those_of_chains_looked_for_anew_for_each() {
    let mut linked = 0;
    for seed in 1..=240u64 {
        let mut random = fastrand::Rng::with_seed(seed);
        let large_cutoff = if seed % 3 == 0 { random.i32(-5..20) } else { 0 };
        let gaps = EvenGaps { large_cutoff, ..gaps([None, Some(12)][seed as usize % 2]) };
        let span = 30 << random.u8(..7);
        let all = random.usize(1..=80);
        let mut hsps: Vec<Run> = (0..all)
            .map(|_| hsp(random.u32(..span), random.u32(..span), random.u32(3..33)))
            .collect();
        // Ties: equal HSPs, and HSPs that begin or end at the same position.
        for _ in 0..random.u8(..20) {
            let old = hsps[random.usize(..all)];
            hsps.push(hsp(old.q, old.s + random.u32(..3), old.length));
        }
        let made = linked_sets(&hsps, gaps);
        linked += made.iter().filter(|set| set.1 > 1).count();
        assert_eq!(made, sets_one_by_one(&hsps, gaps), "seed {seed}");
    }
    assert!(linked > 1000, "{linked}");
}

/// Forms the sets by the literal rule of BLAST+, as the reference. All chains are searched again
/// unless the best chains of both methods are whole. A search begins with the sum of the present
/// next HSP.
fn sets_one_by_one(hsps: &[Run], gaps: EvenGaps) -> Vec<(f64, u32)> {
    let mut numbers: Vec<usize> = (0..hsps.len()).collect();
    numbers.sort_by_key(|&number| {
        let Bounds { q_start, q_end, s_start, s_end } = hsps[number].bounds();
        Reverse((q_start, q_end, s_start, s_end))
    });
    let all: Vec<Trimmed> = numbers.iter().map(|&n| Trimmed::new(&hsps[n], statistics())).collect();
    let mut methods = vec![Method { cutoff: gaps.large_cutoff, is_near: false }];
    if let Some(cutoff) = gaps.small_cutoff {
        methods.insert(0, Method { cutoff, is_near: true });
    }
    let mut left = vec![true; all.len()];
    let mut linked = vec![(0.0, 0); hsps.len()];
    let mut chains: Vec<Vec<Chain>> =
        methods.iter().map(|&method| chains_one_by_one(method, &all, &left, None)).collect();
    while left.contains(&true) {
        let best = |chains: &Vec<Chain>, left: &[bool]| {
            (0..chains.len()).filter(|&n| left[n]).max_by_key(|&n| chains[n].sum).unwrap()
        };
        let members = |chains: &Vec<Chain>, first| -> Vec<usize> {
            std::iter::successors(Some(first), |&n: &usize| chains[n].next).collect()
        };
        let is_whole =
            |chains: &Vec<Chain>| members(chains, best(chains, &left)).iter().all(|&n| left[n]);
        if !chains.iter().all(is_whole) {
            let again = |(&method, old): (&Method, &Vec<Chain>)| {
                chains_one_by_one(method, &all, &left, Some(old))
            };
            chains = methods.iter().zip(&chains).map(again).collect();
        }
        let firsts: Vec<usize> = chains.iter().map(|chains| best(chains, &left)).collect();
        let evalue = |n: usize| methods[n].evalue(&chains[n][firsts[n]], methods.len(), SPACE);
        let chosen = usize::from(methods.len() > 1 && evalue(0) > evalue(1));
        let set = members(&chains[chosen], firsts[chosen]);
        for &place in &set {
            left[place] = false;
            linked[numbers[place]] = (evalue(chosen), set.len() as u32);
        }
    }
    linked
}

/// Finds the best chain from each HSP on; among equal chains the one whose next HSP is the nearest.
/// `old` has the chains of the search before.
fn chains_one_by_one(
    method: Method,
    hsps: &[Trimmed],
    left: &[bool],
    old: Option<&Vec<Chain>>,
) -> Vec<Chain> {
    let mut chains: Vec<Chain> = Vec::new();
    for (place, hsp) in hsps.iter().enumerate() {
        if !left[place] {
            chains.push(old.unwrap()[place]);
            continue;
        }
        let mut rest = Chain::default();
        let kept = old.and_then(|old| old[place].next).filter(|&next| left[next]);
        if let Some(next) = kept.filter(|_| !method.is_near) {
            rest.sum = chains[next].sum - 1;
        }
        let mut next = None;
        for (later, other) in hsps[..place].iter().enumerate().rev() {
            let follows = other.q_start > hsp.q_end && other.s_start > hsp.s_end;
            let is_near =
                other.q_start <= hsp.q_end + WINDOW && other.s_start <= hsp.s_end + WINDOW;
            if left[later]
                && hsp.score > method.cutoff
                && follows
                && (is_near || !method.is_near)
                && chains[later].sum > rest.sum
                && (old.is_none_or(|old| method.is_near || old[place].next.is_some()))
            {
                rest = chains[later];
                next = Some(later);
            }
        }
        let rest = if next.is_some() { rest } else { Chain::default() };
        chains.push(Chain {
            next,
            count: rest.count + 1,
            sum: rest.sum + hsp.score - method.cutoff,
            normalised: rest.normalised + hsp.scaled - hsp.log_k,
        });
    }
    chains
}

/// Links HSPs of one context whose e-values are those of single HSPs.
fn link_unevenly(mut hsps: Vec<Run>, max_intron_length: i32) -> Vec<Run> {
    let space = SearchSpace { query_length: 300, subject_length: 300, search_space: 1_000_000 };
    let statistics = PairStatistics { space, lambda: 0.267, log_k: 0.041f64.ln() };
    for hsp in &mut hsps {
        let score = statistics.lambda * f64::from(hsp.score()) - statistics.log_k;
        let alone = LinkedSet { count: 1, score };
        hsp.set = (space.uneven_gap_evalue(alone, [50, 50], uneven::GAPPED_DECAY), 1);
    }
    let gaps = uneven::UnevenGaps::gapped(max_intron_length, true).expect("room for an intron");
    uneven::link(&mut hsps, gaps, |_| statistics);
    hsps
}

#[test]
fn introns_of_the_query_are_bridged_up_to_their_limit() {
    // The third HSP starts 100 residues after the end of the second in the query.
    let hsps = || vec![hsp(0, 0, 60), hsp(90, 62, 50), hsp(240, 115, 40)];
    let counts = |length| -> Vec<u32> {
        link_unevenly(hsps(), length).iter().map(|hsp| hsp.set.1).collect()
    };
    assert_eq!(counts(0), [2, 2, 1]);
    assert_eq!(counts(302), [3, 3, 3]);
    assert_eq!(counts(5), [1, 1, 1]);
    let linked = link_unevenly(hsps(), 302);
    assert!(linked.iter().all(|hsp| hsp.set.0 == linked[0].set.0));
    assert_eq!(uneven::UnevenGaps::gapped(4, true), None);
}
