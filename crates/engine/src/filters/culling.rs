//! Culling: drops an HSP once a given number of others dominate it.
//!
//! NCBI keeps the HSPs in a tree, which decides which pairs of HSPs are compared. So the tree is
//! part of the rule (`hspfilter_culling.c`). The order of the HSPs within a node does not change
//! which of them survive, as every pass over a node examines each HSP independently. But it
//! determines the order of the survivors.

use std::ops::Range;

use super::Item;

/// Number of HSPs at which a leaf is forked.
const FORK: usize = 20;

/// Returns the indexes of the items that survive culling with the given limit, in the order of
/// [`Tree::collect_items`]. The items arrive in the given order. `query` is the range of the query
/// that was searched.
pub(super) fn survivors(items: &[Item], query: Range<u32>, limit: u32) -> Vec<usize> {
    let mut tree = Tree::new(items, query.start as i32, query.end as i32);
    for (i, _) in items.iter().enumerate() {
        tree.offer(i, limit);
    }
    let mut left = Vec::new();
    tree.collect_items(0, &mut left);
    left
}

/// Returns whether `p` dominates `y`: it covers at least half of `y`, and is better by a
/// combination of score and length.
fn dominates(p: &Item, y: &Item) -> bool {
    let (score_p, score_y) = (i64::from(p.score), i64::from(y.score));
    let (len_p, len_y) = (i64::from(p.len()), i64::from(y.len()));
    let overlap = i64::from(p.end.min(y.end)) - i64::from(p.begin.max(y.begin));
    if 2 * overlap < len_y {
        return false;
    }
    let lead =
        4 * score_p * len_p + 2 * score_p * len_y - 2 * score_y * len_p - 4 * score_y * len_y;
    let twins = score_p == score_y && p.begin == y.begin && len_p == len_y;
    if lead != 0 && !twins {
        return lead > 0;
    }
    if score_p != score_y {
        return score_p > score_y;
    }
    if p.oid != y.oid {
        return p.oid < y.oid;
    }
    p.s_start <= y.s_start
}

#[derive(Debug)]
struct Node {
    begin: i32,
    end: i32,
    left: Option<usize>,
    right: Option<usize>,
    /// Indexes of the node's items; the last one is collected first.
    items: Vec<usize>,
}

impl Node {
    fn new(begin: i32, end: i32) -> Node {
        Node { begin, end, left: None, right: None, items: Vec::new() }
    }

    fn middle(&self) -> i32 {
        (self.begin + self.end) / 2
    }

    fn is_leaf(&self) -> bool {
        self.left.is_none() && self.right.is_none()
    }
}

/// Side of a node's midpoint on which an item lies.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
    Across,
}

fn side(item: &Item, middle: i32) -> Side {
    if item.end < middle {
        Side::Left
    } else if item.begin > middle {
        Side::Right
    } else {
        Side::Across
    }
}

struct Tree<'a> {
    all: &'a [Item],
    /// For each item, the number of further items that must dominate it to remove it; 0 for items
    /// that are not in the tree.
    merit: Vec<u32>,
    nodes: Vec<Node>,
}

impl<'a> Tree<'a> {
    fn new(all: &'a [Item], begin: i32, end: i32) -> Self {
        Tree { all, merit: vec![0; all.len()], nodes: vec![Node::new(begin, end)] }
    }

    /// Inserts item `a` into the tree, unless `limit` items on its way down dominate it.
    fn offer(&mut self, a: usize, limit: u32) {
        let mut merit = limit;
        let mut at = 0;
        loop {
            let node = &self.nodes[at];
            for &p in &node.items {
                if dominates(&self.all[p], &self.all[a]) {
                    merit -= 1;
                    if merit == 0 {
                        return;
                    }
                }
            }
            let child = match side(&self.all[a], node.middle()) {
                Side::Left => node.left,
                Side::Right => node.right,
                Side::Across => None,
            };
            match child {
                Some(child) => at = child,
                None => break,
            }
        }
        self.merit[a] = merit;
        self.nodes[at].items.push(a);
        self.dominated_pass(at, a);
        if !self.nodes[at].is_leaf() {
            for child in [Side::Left, Side::Right] {
                self.descend(at, child, a);
            }
        } else if self.nodes[at].items.len() >= FORK {
            self.fork(at);
        }
    }

    /// Subtracts one merit from every other item of the node that `a` dominates. Removes the items
    /// whose merit becomes 0.
    fn dominated_pass(&mut self, at: usize, a: usize) {
        let (all, merit) = (self.all, &mut self.merit);
        self.nodes[at].items.retain(|&r| {
            if r != a && dominates(&all[a], &all[r]) {
                merit[r] -= 1;
            }
            merit[r] > 0
        });
    }

    /// Forks a leaf: moves the items that lie left or right of its midpoint to new children, in
    /// reverse order.
    fn fork(&mut self, at: usize) {
        let (begin, end, middle) =
            (self.nodes[at].begin, self.nodes[at].end, self.nodes[at].middle());
        let mut across = Vec::new();
        for item in std::mem::take(&mut self.nodes[at].items).into_iter().rev() {
            let target = match side(&self.all[item], middle) {
                Side::Across => {
                    across.push(item);
                    continue;
                }
                Side::Left => {
                    self.nodes[at].left.unwrap_or_else(|| self.child(at, Side::Left, begin, middle))
                }
                Side::Right => {
                    self.nodes[at].right.unwrap_or_else(|| self.child(at, Side::Right, middle, end))
                }
            };
            self.nodes[target].items.push(item);
        }
        across.reverse();
        self.nodes[at].items = across;
    }

    fn child(&mut self, at: usize, side: Side, begin: i32, end: i32) -> usize {
        let new = self.nodes.len();
        self.nodes.push(Node::new(begin, end));
        *self.link(at, side) = Some(new);
        new
    }

    fn link(&mut self, at: usize, side: Side) -> &mut Option<usize> {
        let node = &mut self.nodes[at];
        if side == Side::Left { &mut node.left } else { &mut node.right }
    }

    /// Calls [`Tree::apply`] with the new item `a` on the child on one side of a node. Removes the
    /// child if it becomes empty.
    fn descend(&mut self, at: usize, child_side: Side, a: usize) {
        if let Some(child) = *self.link(at, child_side)
            && !self.apply(child, a)
        {
            *self.link(at, child_side) = None;
        }
    }

    /// Subtracts merit from the items of a subtree because of a new item `a`, which is stored in a
    /// node above. Removes the items whose merit becomes 0. Returns false if the root of the
    /// subtree must be removed.
    fn apply(&mut self, at: usize, a: usize) -> bool {
        let (item, node) = (&self.all[a], &self.nodes[at]);
        if item.begin <= node.begin && item.end >= node.end {
            return self.mark_down(at);
        }
        if node.is_leaf() {
            self.dominated_pass(at, a);
            return !self.nodes[at].items.is_empty();
        }
        match side(item, node.middle()) {
            // A node that loses its last child this way stays, even without items.
            one @ (Side::Left | Side::Right) => {
                self.descend(at, one, a);
                true
            }
            Side::Across => {
                self.descend(at, Side::Left, a);
                self.descend(at, Side::Right, a);
                self.dominated_pass(at, a);
                !self.nodes[at].items.is_empty() || !self.nodes[at].is_leaf()
            }
        }
    }

    /// Subtracts one merit from all items of a subtree, even if no item dominates them. Removes the
    /// items whose merit becomes 0. Returns false if the root of the subtree must be removed.
    fn mark_down(&mut self, at: usize) -> bool {
        for child_side in [Side::Left, Side::Right] {
            if let Some(child) = *self.link(at, child_side)
                && !self.mark_down(child)
            {
                *self.link(at, child_side) = None;
            }
        }
        let merit = &mut self.merit;
        self.nodes[at].items.retain(|&r| {
            merit[r] -= 1;
            merit[r] > 0
        });
        !self.nodes[at].items.is_empty() || !self.nodes[at].is_leaf()
    }

    /// Collects the items of a subtree: first the items of a node, then those of its left child,
    /// then those of its right child.
    fn collect_items(&self, at: usize, out: &mut Vec<usize>) {
        let node = &self.nodes[at];
        out.extend(node.items.iter().rev());
        for child in [node.left, node.right].into_iter().flatten() {
            self.collect_items(child, out);
        }
    }
}
