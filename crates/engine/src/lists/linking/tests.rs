//! Tests of linked sets.

use super::*;
use fleetblast_seq::frame::Frame;

fn rules(small_cutoff: Option<i32>) -> Rules {
    let space =
        SearchSpace { query_length: 1000, subject_length: 100_000, search_space: 10_000_000_000 };
    Rules { space, lambda: 1.28, log_k: 0.46f64.ln(), small_cutoff }
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

impl InContext for Run {
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
    // The last one is before the second in the subject.
    assert_eq!(counts(rules(None)), [3, 3, 3, 1]);
    let made = sets(&hsps, &rules(None));
    assert!(made[0].evalue == made[1].evalue && made[0].evalue < made[3].evalue);
    // None is near another one.
    assert_eq!(counts(rules(Some(13))), [3, 3, 3, 1]);
    let near = [hsp(0, 200, 22), hsp(30, 240, 20), hsp(60, 9000, 20)];
    let made = sets(&near, &rules(Some(13)));
    // The gap between the first two is small, so their set scores higher than one of all three.
    assert_eq!(made.iter().map(|set| set.count).collect::<Vec<_>>(), [2, 2, 1]);
    assert!(sets::<Run>(&[], &rules(None)).is_empty());
}

#[test]
fn sets_are_those_of_chains_looked_for_anew_for_each() {
    let mut linked = 0;
    for seed in 1..=120u64 {
        let mut random = fastrand::Rng::with_seed(seed);
        let rules = rules([None, Some(12)][seed as usize % 2]);
        let span = 30 << random.u8(..7);
        let all = random.usize(1..=80);
        let mut hsps: Vec<Run> = (0..all)
            .map(|_| hsp(random.u32(..span), random.u32(..span), random.u32(3..33)))
            .collect();
        // Ties: copies, and others that begin or end alike.
        for _ in 0..random.u8(..20) {
            let old = hsps[random.usize(..all)];
            hsps.push(hsp(old.q, old.s + random.u32(..3), old.length));
        }
        let made = sets(&hsps, &rules);
        linked += made.iter().filter(|set| set.count > 1).count();
        let made: Vec<_> = made.iter().map(|set| (set.evalue, set.count)).collect();
        assert_eq!(made, sets_one_by_one(&hsps, &rules), "seed {seed}");
    }
    assert!(linked > 1000, "{linked}");
}

/// The sets by the literal rule, as the reference.
fn sets_one_by_one(hsps: &[Run], rules: &Rules) -> Vec<(f64, u32)> {
    let mut left: Vec<usize> = (0..hsps.len()).collect();
    let mut linked = vec![(0.0, 0); hsps.len()];
    while !left.is_empty() {
        let part: Vec<Run> = left.iter().map(|&number| hsps[number]).collect();
        let (set, evalue) = first_set(&part, rules);
        for &place in &set {
            linked[left[place]] = (evalue, set.len() as u32);
        }
        let mut place = 0;
        left.retain(|_| {
            place += 1;
            !set.contains(&(place - 1))
        });
    }
    linked
}

fn first_set(hsps: &[Run], rules: &Rules) -> (Vec<usize>, f64) {
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
        let chains = chains_one_by_one(*method, &all, rules);
        let best = (0..chains.len()).max_by_key(|&place| chains[place].sum).unwrap();
        (method.evalue(&chains[best], methods.len(), rules), chains, best)
    };
    let mut sets: Vec<_> = methods.iter().map(of).collect();
    let chosen = usize::from(sets.len() > 1 && sets[0].0 > sets[1].0);
    let (evalue, chains, best) = sets.swap_remove(chosen);
    let set = std::iter::successors(Some(best), |&place| chains[place].next);
    (set.map(|place| all[place].number).collect(), evalue)
}

/// The best chain from each HSP on; among equal ones the one whose next HSP is the nearest.
fn chains_one_by_one(method: Method, hsps: &[Trimmed], rules: &Rules) -> Vec<Chain> {
    let mut chains: Vec<Chain> = Vec::new();
    for (place, hsp) in hsps.iter().enumerate() {
        let mut rest = Chain::default();
        for (later, other) in hsps[..place].iter().enumerate().rev() {
            let follows = other.q_start > hsp.q_end && other.s_start > hsp.s_end;
            let is_near =
                other.q_start <= hsp.q_end + WINDOW && other.s_start <= hsp.s_end + WINDOW;
            if hsp.score > method.cutoff
                && follows
                && (is_near || !method.is_near)
                && chains[later].sum > rest.sum
            {
                rest = Chain { next: Some(later), ..chains[later] };
            }
        }
        chains.push(Chain {
            next: rest.next,
            count: rest.count + 1,
            sum: rest.sum + hsp.score - method.cutoff,
            normalised: rest.normalised + f64::from(hsp.score) * rules.lambda - rules.log_k,
        });
    }
    chains
}

/// Links HSPs of one context whose e-values are those of single HSPs.
fn link_unevenly(mut hsps: Vec<Run>, max_intron_length: i32) -> Vec<Run> {
    let space = SearchSpace { query_length: 300, subject_length: 300, search_space: 1_000_000 };
    let statistics = uneven::PairStatistics { space, lambda: 0.267, log_k: 0.041f64.ln() };
    for hsp in &mut hsps {
        let score = statistics.lambda * f64::from(hsp.score()) - statistics.log_k;
        let alone = LinkedSet { count: 1, score };
        hsp.set = (space.uneven_gap_evalue(alone, [50, 50], uneven::DECAY), 1);
    }
    let gaps = uneven::UnevenGaps::new(max_intron_length, true).expect("room for an intron");
    uneven::link(&mut hsps, gaps, |_| statistics);
    hsps
}

#[test]
fn introns_of_the_query_are_bridged_up_to_their_limit() {
    // The third is 100 residues further in the query than the second.
    let hsps = || vec![hsp(0, 0, 60), hsp(90, 62, 50), hsp(240, 115, 40)];
    let counts = |length| -> Vec<u32> {
        link_unevenly(hsps(), length).iter().map(|hsp| hsp.set.1).collect()
    };
    assert_eq!(counts(0), [2, 2, 1]);
    assert_eq!(counts(302), [3, 3, 3]);
    assert_eq!(counts(5), [1, 1, 1]);
    let linked = link_unevenly(hsps(), 302);
    assert!(linked.iter().all(|hsp| hsp.set.0 == linked[0].set.0));
    assert_eq!(uneven::UnevenGaps::new(4, true), None);
}
