//! Tests whether an earlier alignment encloses a new one, with the semantics of NCBI's interval
//! tree (rules 5.6).
//!
//! A box is the range of an alignment in the query and in the subject. A member of the tree is the
//! box and the score of an earlier alignment. It encloses a box if its score is at least as high,
//! and if its closed box holds both corners. The members are an unordered set, so any exact index
//! gives the same answers. Up to some dozens of members are scanned. With more, `index` finds the
//! few that may enclose a box.

mod index;
#[cfg(test)]
mod tests;

use self::index::Index;
use crate::order::Bounds;

/// Greatest number of members of a tree that are scanned one by one. With more, the index is
/// faster.
const SCAN_LIMIT: usize = 48;

/// Placeholder of a removed member. It encloses nothing and shares no end point.
const REMOVED: Member = Member {
    bounds: Bounds { q_start: u32::MAX, q_end: 0, s_start: u32::MAX, s_end: 0 },
    score: i32::MIN,
};

#[derive(Clone, Copy, Debug)]
struct Member {
    bounds: Bounds,
    score: i32,
}

/// The alignments of one query and one subject. Extensions inside them are unnecessary.
#[derive(Debug, Default)]
pub struct ContainmentTree {
    members: Vec<Member>,
    /// Index of the members; used only above [`SCAN_LIMIT`] members.
    index: Index,
}

impl ContainmentTree {
    /// Creates a tree without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all members, keeping the memory.
    pub fn clear(&mut self) {
        self.members.clear();
        self.index.clear();
    }

    /// Returns whether some member of at least this score holds both corners of the box.
    pub fn encloses(&self, bounds: &Bounds, score: i32) -> bool {
        self.encloses_near(bounds, score, 0)
    }

    /// Returns whether some member of at least this score holds both corners of the box and is near
    /// the box. A member is near if its start or its end is fewer than `separation` diagonals from
    /// that of the box; with a `separation` of 0 any member is near (`s_HSPIsContained`,
    /// `blast_itree.c`).
    pub fn encloses_near(&self, bounds: &Bounds, score: i32, separation: u32) -> bool {
        let hit = |m: &Member| {
            score <= m.score && m.bounds.encloses(bounds) && near(&m.bounds, bounds, separation)
        };
        if self.members.len() <= SCAN_LIMIT {
            return self.members.iter().any(hit);
        }
        self.index.candidates(bounds).any(|i| hit(&self.members[i as usize]))
    }

    /// Adds a box, unless a better member has the same start or the same end. Removes worse members
    /// with the same start or end, even if the box itself is not added. Better means: higher score,
    /// then shorter in the query, then shorter in the subject. A member wins a complete tie.
    pub fn add(&mut self, bounds: &Bounds, score: i32) {
        let new = Member { bounds: *bounds, score };
        for find in [Self::with_start, Self::with_end] {
            // No two members share a start, and no two share an end.
            if let Some(i) = find(self, bounds) {
                if !better(&new, &self.members[i as usize]) {
                    return;
                }
                self.remove(i);
            }
        }
        self.members.push(new);
        match self.members.len() - 1 {
            SCAN_LIMIT => {
                for (i, member) in self.members.iter().enumerate() {
                    if member.score != REMOVED.score {
                        self.index.insert(i as u32, &member.bounds);
                    }
                }
            }
            i if i > SCAN_LIMIT => self.index.insert(i as u32, bounds),
            _ => {}
        }
    }

    fn with_start(&self, b: &Bounds) -> Option<u32> {
        if self.members.len() > SCAN_LIMIT {
            return self.index.with_start(b);
        }
        let same = |m: &Member| (m.bounds.q_start, m.bounds.s_start) == (b.q_start, b.s_start);
        self.members.iter().position(same).map(|i| i as u32)
    }

    fn with_end(&self, b: &Bounds) -> Option<u32> {
        if self.members.len() > SCAN_LIMIT {
            return self.index.with_end(b);
        }
        let same = |m: &Member| (m.bounds.q_end, m.bounds.s_end) == (b.q_end, b.s_end);
        self.members.iter().position(same).map(|i| i as u32)
    }

    fn remove(&mut self, i: u32) {
        let old = std::mem::replace(&mut self.members[i as usize], REMOVED);
        if self.members.len() > SCAN_LIMIT {
            self.index.remove(i, &old.bounds);
        }
    }
}

/// Returns whether the starts, or the ends, of two boxes are fewer than `separation` diagonals
/// apart. With a `separation` of 0 any two boxes are near.
fn near(a: &Bounds, b: &Bounds, separation: u32) -> bool {
    let diagonal = |q: u32, s: u32| i64::from(q) - i64::from(s);
    let apart = |a: i64, b: i64| a.abs_diff(b) < u64::from(separation);
    separation == 0
        || apart(diagonal(a.q_start, a.s_start), diagonal(b.q_start, b.s_start))
        || apart(diagonal(a.q_end, a.s_end), diagonal(b.q_end, b.s_end))
}

fn better(new: &Member, old: &Member) -> bool {
    let key = |m: &Member| {
        let b = m.bounds;
        (-i64::from(m.score), b.q_end - b.q_start, b.s_end - b.s_start)
    };
    key(new) < key(old)
}
