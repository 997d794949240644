use fastrand::Rng;

use super::*;

fn bounds(q: (u32, u32), s: (u32, u32)) -> Bounds {
    Bounds { q_start: q.0, q_end: q.1, s_start: s.0, s_end: s.1 }
}

/// A literal implementation of rules 5.6, as the reference.
#[derive(Default)]
struct Naive(Vec<Member>);

impl Naive {
    fn encloses(&self, b: &Bounds, score: i32, separation: u32) -> bool {
        let apart = |a: (u32, u32), b: (u32, u32)| {
            let diagonal = |(q, s): (u32, u32)| i64::from(q) - i64::from(s);
            (diagonal(a) - diagonal(b)).abs() >= i64::from(separation)
        };
        let corners = |x: &Bounds| [(x.q_start, x.s_start), (x.q_end, x.s_end)];
        self.0.iter().any(|m| {
            let ends = corners(&m.bounds).into_iter().zip(corners(b));
            score <= m.score
                && (separation == 0 || !ends.clone().all(|(a, b)| apart(a, b)))
                && (m.bounds.q_start..=m.bounds.q_end).contains(&b.q_start)
                && (m.bounds.q_start..=m.bounds.q_end).contains(&b.q_end)
                && (m.bounds.s_start..=m.bounds.s_end).contains(&b.s_start)
                && (m.bounds.s_start..=m.bounds.s_end).contains(&b.s_end)
        })
    }

    fn add(&mut self, b: &Bounds, score: i32) {
        for end in [false, true] {
            let corner = |x: &Bounds| match end {
                false => (x.q_start, x.s_start),
                true => (x.q_end, x.s_end),
            };
            let mut refused = false;
            self.0.retain(|m| {
                if refused || corner(&m.bounds) != corner(b) {
                    return true;
                }
                let (qn, qo) = (b.q_end - b.q_start, m.bounds.q_end - m.bounds.q_start);
                let (sn, so) = (b.s_end - b.s_start, m.bounds.s_end - m.bounds.s_start);
                let wins =
                    score > m.score || (score == m.score && (qn < qo || (qn == qo && sn < so)));
                refused = !wins;
                !wins
            });
            if refused {
                return;
            }
        }
        self.0.push(Member { bounds: *b, score });
    }
}

/// A source of random boxes: long or short by `span`, close together or far apart, square or not.
struct Boxes {
    random: Rng,
    span: u32,
    earlier: Vec<Bounds>,
}

impl Boxes {
    fn new(seed: u64) -> Boxes {
        let mut random = Rng::with_seed(seed);
        let span = 12 << random.u8(..17);
        Boxes { random, span, earlier: Vec::new() }
    }

    fn below(&mut self, end: u32) -> u32 {
        self.random.u32(..end)
    }

    fn next(&mut self) -> Bounds {
        let (q, s) = (self.below(self.span), self.below(3 * self.span));
        let side = 1 + self.below(self.span / 2);
        // Few boxes are as long as the longest.
        let bits = self.below(u32::BITS - side.leading_zeros());
        let side = (side >> bits).max(1);
        let other = match self.below(3) {
            0 => side,
            1 => side + self.below(8),
            _ => 1 + self.below(2 * side),
        };
        let mut b = bounds((q, q + side), (s, s + other));
        // Ties: the same box, start or end as an earlier one, or a box within it.
        if !self.earlier.is_empty() && self.below(3) == 0 {
            let number = self.below(self.earlier.len() as u32) as usize;
            let old = self.earlier[number];
            match self.below(4) {
                0 => b = old,
                1 => {
                    b = bounds(
                        (old.q_start, old.q_start + side),
                        (old.s_start, old.s_start + other),
                    )
                }
                2 => {
                    b = bounds(
                        (old.q_end.saturating_sub(side), old.q_end),
                        (old.s_end.saturating_sub(other), old.s_end),
                    )
                }
                _ => {
                    let q = old.q_start + self.below(old.q_end - old.q_start + 1);
                    let s = old.s_start + self.below(old.s_end - old.s_start + 1);
                    b = bounds(
                        (q, q + self.below(old.q_end - q + 1)),
                        (s, s + self.below(old.s_end - s + 1)),
                    )
                }
            }
        }
        self.earlier.push(b);
        b
    }
}

#[test]
fn agrees_with_the_literal_rules_far_beyond_the_scan_limit() {
    let (mut yes, mut no, mut removed) = (0, 0, 0);
    for seed in 1..=90 {
        let mut boxes = Boxes::new(seed);
        let separation = [0, 6, 50][seed as usize % 3];
        let mut tree = ContainmentTree::new();
        for _ in 0..2 {
            tree.clear();
            let mut naive = Naive::default();
            for number in 0..400 {
                let (b, score) = (boxes.next(), 20 + boxes.below(12) as i32);
                let expected = naive.encloses(&b, score, separation);
                let found = tree.encloses_near(&b, score, separation);
                assert_eq!(found, expected, "seed {seed}, box {number}: {b:?}, score {score}");
                if separation == 0 {
                    assert_eq!(tree.encloses(&b, score), expected, "seed {seed}, box {number}");
                }
                *if expected { &mut yes } else { &mut no } += 1;
                naive.add(&b, score);
                tree.add(&b, score);
            }
            let alive = tree.members.iter().filter(|m| m.score != REMOVED.score).count();
            assert_eq!(alive, naive.0.len(), "seed {seed}");
            removed += tree.members.len() - alive;
        }
    }
    assert!(yes > 5_000 && no > 5_000 && removed > 1_000, "{yes} {no} {removed}");
}

#[test]
fn boxes_at_the_ends_of_the_range_of_positions_are_found() {
    let mut tree = ContainmentTree::new();
    let whole = bounds((0, u32::MAX), (0, u32::MAX));
    tree.add(&whole, 50);
    for at in 1..2 * SCAN_LIMIT as u32 {
        tree.add(&bounds((at, at + 1), (at, at + 1)), 60);
    }
    assert!(tree.encloses(&whole, 50) && !tree.encloses(&whole, 51));
    assert!(tree.encloses(&bounds((u32::MAX, u32::MAX), (u32::MAX, u32::MAX)), 50));
    assert!(tree.encloses(&bounds((3, 4), (3, 4)), 60));
}

/// Returns the average number of members that the test of a box visits.
fn visits_per_box(boxes: &[Bounds]) -> f64 {
    let mut tree = ContainmentTree::new();
    for b in boxes {
        tree.add(b, 50);
    }
    let visits: usize = boxes.iter().map(|b| tree.index.candidates(b).count()).sum();
    visits as f64 / boxes.len() as f64
}

#[test]
fn a_question_visits_no_more_members_of_larger_genomes() {
    // Like a genome in a related one: most alignments on few diagonals, others anywhere, with
    // lengths spread over four orders of magnitude.
    let genomes = |times: u32, random: &mut Rng| -> Vec<Bounds> {
        let length = 1_000_000 * times;
        (0..2_000 * times)
            .map(|number| {
                let side = 30 + (random.u32(..300) << random.u8(..8)) / 2;
                let q = random.u32(..length);
                let s = if number % 3 == 0 { random.u32(..length) } else { q + number % 50 };
                bounds((q, q + side), (s, s + side + number % 3))
            })
            .collect()
    };
    let mut random = Rng::with_seed(11);
    let [one, two, four] = [1, 2, 4].map(|times| visits_per_box(&genomes(times, &mut random)));
    assert!(two < 1.2 * one && four < 1.2 * two, "{one} {two} {four}");
    assert!(four < 100.0, "{four}");
}

#[test]
fn shorter_boxes_win_ties_at_a_shared_end() {
    let mut tree = ContainmentTree::new();
    tree.add(&bounds((0, 20), (0, 20)), 50);
    tree.add(&bounds((0, 15), (0, 15)), 50);
    assert!(!tree.encloses(&bounds((16, 18), (16, 18)), 10), "the longer one was removed");
    assert!(tree.encloses(&bounds((3, 15), (3, 15)), 50));
    assert!(!tree.encloses(&bounds((3, 15), (3, 15)), 51), "a higher score is not enclosed");
}

#[test]
fn far_diagonals_do_not_enclose() {
    let mut tree = ContainmentTree::new();
    tree.add(&bounds((0, 100), (0, 100)), 50);
    let inner = bounds((30, 40), (36, 46));
    assert!(tree.encloses(&inner, 10) && !tree.encloses_near(&inner, 10, 6));
    assert!(tree.encloses_near(&inner, 10, 7));
    // Near at the end only.
    assert!(tree.encloses_near(&bounds((30, 41), (36, 46)), 10, 6));
}

#[test]
fn a_refused_box_may_still_have_removed_a_member() {
    let mut tree = ContainmentTree::new();
    tree.add(&bounds((0, 10), (0, 10)), 10);
    tree.add(&bounds((5, 30), (5, 30)), 90);
    // Better than the first member at its start, worse than the second at its end.
    tree.add(&bounds((0, 30), (0, 30)), 40);
    assert!(!tree.encloses(&bounds((1, 2), (1, 2)), 5));
}
