//! Finds the point with the highest value in a rectangle, while values change.
//!
//! The points are in a k-d tree, which is built once. Each node has the highest value below it and
//! the rectangle around its points, so that a search skips most nodes.

use std::ops::Range;

/// Greatest number of points in a leaf.
const LEAF: usize = 8;
/// Value of a point without a score, less than any other value.
const NONE: Value = Value(i64::MIN);

/// A score and the number of a point; among equal scores a larger number gives a higher value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Value(i64);

impl Value {
    fn new(score: i32, number: usize) -> Value {
        Value((i64::from(score) << 32) + number as i64)
    }

    fn number(self) -> Option<usize> {
        (self != NONE).then_some((self.0 & i64::from(u32::MAX)) as usize)
    }
}

/// A position in each of the two sequences.
type Point = [i32; 2];

/// A set of points: those beyond `after` in both sequences, but not beyond `last`, with numbers
/// below `numbers`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub after: Point,
    pub last: Point,
    pub numbers: usize,
}

impl Region {
    fn accepts(&self, point: Point) -> bool {
        (0..2).all(|axis| point[axis] > self.after[axis] && point[axis] <= self.last[axis])
    }

    fn meets(&self, node: &Node) -> bool {
        (0..2).all(|axis| node.high[axis] > self.after[axis] && node.low[axis] <= self.last[axis])
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    low: Point,
    high: Point,
    highest: Value,
}

const EMPTY: Node = Node { low: [i32::MAX; 2], high: [i32::MIN; 2], highest: NONE };

/// Points with values, addressed by their numbers.
#[derive(Debug)]
pub(super) struct Points {
    points: Vec<Point>,
    values: Vec<Value>,
    /// Nodes of the tree. The root is number 1; the children of node `n` are `2n` and `2n + 1`.
    nodes: Vec<Node>,
    /// Numbers of points, grouped by leaf.
    order: Vec<usize>,
    /// The range of each leaf in `order`.
    leaves: Vec<Range<usize>>,
    /// For each point, the number of the node that is its leaf.
    leaf_of: Vec<usize>,
}

impl Points {
    /// Creates points without values.
    pub fn new(points: Vec<Point>) -> Points {
        let count = points.len();
        let leaves = count.div_ceil(LEAF).next_power_of_two();
        let mut all = Points {
            values: vec![NONE; count],
            nodes: vec![EMPTY; 2 * leaves],
            order: (0..count).collect(),
            leaves: vec![0..0; leaves],
            leaf_of: vec![0; count],
            points,
        };
        all.split(1, 0..count, 0);
        all
    }

    /// Divides the points of a node among its children, and computes the rectangles of all nodes
    /// below.
    fn split(&mut self, node: usize, range: Range<usize>, axis: usize) {
        let part = &mut self.order[range.clone()];
        for &number in part.iter() {
            let (point, node) = (self.points[number], &mut self.nodes[node]);
            let sides = node.low.iter_mut().zip(&mut node.high);
            for ((low, high), at) in sides.zip(point) {
                *low = (*low).min(at);
                *high = (*high).max(at);
            }
        }
        if let Some(leaf) = node.checked_sub(self.leaves.len()) {
            part.iter().for_each(|&number| self.leaf_of[number] = node);
            self.leaves[leaf] = range;
            return;
        }
        let half = part.len() / 2;
        if half > 0 {
            part.select_nth_unstable_by_key(half, |&number| self.points[number][axis]);
        }
        let middle = range.start + half;
        self.split(2 * node, range.start..middle, 1 - axis);
        self.split(2 * node + 1, middle..range.end, 1 - axis);
    }

    /// Sets or removes the score of a point.
    pub fn set(&mut self, number: usize, score: Option<i32>) {
        self.values[number] = score.map_or(NONE, |score| Value::new(score, number));
        let mut node = self.leaf_of[number];
        let leaf = self.leaves[node - self.leaves.len()].clone();
        let values = self.order[leaf].iter().map(|&number| self.values[number]);
        let mut highest = values.max().unwrap_or(NONE);
        while std::mem::replace(&mut self.nodes[node].highest, highest) != highest && node > 1 {
            node /= 2;
            let children = [2 * node, 2 * node + 1].map(|child| self.nodes[child].highest);
            highest = children[0].max(children[1]);
        }
    }

    /// Returns the point with the highest value of all.
    pub fn highest(&self) -> Option<usize> {
        self.nodes[1].highest.number()
    }

    /// Returns the point with the highest value in a region.
    pub fn highest_in(&self, region: &Region) -> Option<usize> {
        self.highest_above(NONE, region)
    }

    /// Returns the point with the highest value in a region, if its score is positive.
    pub fn highest_positive_in(&self, region: &Region) -> Option<usize> {
        // The highest value whose score is not positive.
        self.highest_above(Value::new(0, u32::MAX as usize), region)
    }

    fn highest_above(&self, least: Value, region: &Region) -> Option<usize> {
        let mut best = least;
        self.search(1, region, &mut best);
        (best != least).then(|| best.number()).flatten()
    }

    fn search(&self, node: usize, region: &Region, best: &mut Value) {
        if self.nodes[node].highest <= *best || !region.meets(&self.nodes[node]) {
            return;
        }
        if let Some(leaf) = node.checked_sub(self.leaves.len()) {
            for &number in &self.order[self.leaves[leaf].clone()] {
                if number < region.numbers && region.accepts(self.points[number]) {
                    *best = self.values[number].max(*best);
                }
            }
            return;
        }
        let mut children = [2 * node, 2 * node + 1];
        if self.nodes[children[0]].highest < self.nodes[children[1]].highest {
            children.reverse();
        }
        children.into_iter().for_each(|child| self.search(child, region, best));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_is_that_of_all_points_one_by_one() {
        for seed in 1..=40u64 {
            let mut random = fastrand::Rng::with_seed(seed);
            let (count, span) = (random.usize(..200), 10 << random.u8(..12));
            let list: Vec<Point> =
                (0..count).map(|_| [random.i32(0..span), random.i32(0..span)]).collect();
            let mut scores = vec![None; count];
            let mut points = Points::new(list.clone());
            for _ in 0..4 * count {
                let number = random.usize(..count);
                scores[number] = (random.u8(..4) > 0).then(|| random.i32(-5..25));
                points.set(number, scores[number]);
                let by_value = |&number: &usize| (scores[number], number);
                let valued = || (0..count).filter(|&number| scores[number].is_some());
                assert_eq!(points.highest(), valued().max_by_key(by_value), "seed {seed}");
                let after = [random.i32(0..span), random.i32(0..span)];
                let width = if random.bool() { span } else { random.i32(1..=span) };
                let region = Region {
                    after,
                    last: after.map(|position| position + width),
                    numbers: random.usize(..=count),
                };
                let asked = valued().filter(|&number| {
                    let inside = |axis: usize| {
                        (after[axis] + 1..=after[axis] + width).contains(&list[number][axis])
                    };
                    number < region.numbers && inside(0) && inside(1)
                });
                let highest = points.highest_in(&region);
                assert_eq!(highest, asked.max_by_key(by_value), "seed {seed}: {region:?}");
                let positive = highest.filter(|&number| scores[number] > Some(0));
                assert_eq!(points.highest_positive_in(&region), positive, "seed {seed}");
            }
        }
    }
}
