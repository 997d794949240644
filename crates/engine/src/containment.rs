//! Which boxes are enclosed by an alignment already made: the semantics of NCBI's interval tree (rules 5.6).
//!
//! A member of at least the same score, whose closed box holds both corners of the box asked about, encloses it.
//! The members are an unordered set, so any exact index gives the same answers. Up to some dozens of members are scanned; beyond,
//! they are filed under the smallest aligned power-of-two cell that holds their query range, and likewise for the subject:
//! whatever encloses a box is filed under one of the few ancestors of that box's own cell.

use rustc_hash::FxHashMap;

use crate::order::Bounds;

/// Up to this many members a scan is faster than the index.
const SCAN_LIMIT: usize = 48;

/// What is left of a removed member: encloses nothing and shares no end point.
const REMOVED: Member = Member {
    bounds: Bounds { q_start: u32::MAX, q_end: 0, s_start: u32::MAX, s_end: 0 },
    score: i32::MIN,
};

#[derive(Clone, Copy, Debug)]
struct Member {
    bounds: Bounds,
    score: i32,
}

/// The alignments of one query and one subject that make further extensions inside them unnecessary.
#[derive(Debug, Default)]
pub struct ContainmentTree {
    members: Vec<Member>,
    /// Used only above [`SCAN_LIMIT`] members.
    index: Index,
}

#[derive(Debug, Default)]
struct Index {
    /// Members of each pair of cells.
    cells: FxHashMap<(Cell, Cell), Vec<u32>>,
    /// For each query level, the subject levels in use, as a bit set.
    levels: Vec<u64>,
    starts: FxHashMap<(u32, u32), u32>,
    ends: FxHashMap<(u32, u32), u32>,
}

/// The positions that agree in all but the lowest `level` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Cell {
    level: u8,
    prefix: u32,
}

impl Cell {
    /// Smallest cell with both `start` and `end`.
    fn around(start: u32, end: u32) -> Cell {
        Cell::at((32 - (start ^ end).leading_zeros()) as u8, start)
    }

    fn at(level: u8, position: u32) -> Cell {
        Cell { level, prefix: (u64::from(position) >> level) as u32 }
    }
}

impl ContainmentTree {
    /// A tree without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all members, keeping the memory.
    pub fn clear(&mut self) {
        self.members.clear();
        self.index.clear();
    }

    /// True if some member of at least this score holds both corners of the box.
    pub fn encloses(&self, bounds: &Bounds, score: i32) -> bool {
        self.encloses_near(bounds, score, 0)
    }

    /// The same, but a member encloses only what begins or ends fewer than `separation` diagonals away from its own begin or
    /// end, unless that is 0 (`s_HSPIsContained`, `blast_itree.c`).
    pub fn encloses_near(&self, bounds: &Bounds, score: i32, separation: u32) -> bool {
        let hit = |m: &Member| {
            score <= m.score && m.bounds.holds(bounds) && near(&m.bounds, bounds, separation)
        };
        if self.members.len() <= SCAN_LIMIT {
            return self.members.iter().any(hit);
        }
        self.index.candidates(bounds).any(|i| hit(&self.members[i as usize]))
    }

    /// Adds a box, unless a better member has the same start or the same end; worse members with the same start or end
    /// are removed (also when the box is refused in the end). Better is: higher score, then shorter in the query, then shorter in the subject,
    /// then the member.
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
            return self.index.starts.get(&(b.q_start, b.s_start)).copied();
        }
        let same = |m: &Member| (m.bounds.q_start, m.bounds.s_start) == (b.q_start, b.s_start);
        self.members.iter().position(same).map(|i| i as u32)
    }

    fn with_end(&self, b: &Bounds) -> Option<u32> {
        if self.members.len() > SCAN_LIMIT {
            return self.index.ends.get(&(b.q_end, b.s_end)).copied();
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

/// Whether the diagonals of two boxes are less than `separation` apart where they begin or where they end.
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

impl Index {
    fn clear(&mut self) {
        self.cells.clear();
        self.levels.clear();
        self.starts.clear();
        self.ends.clear();
    }

    fn cells_of(b: &Bounds) -> (Cell, Cell) {
        (Cell::around(b.q_start, b.q_end), Cell::around(b.s_start, b.s_end))
    }

    fn insert(&mut self, i: u32, b: &Bounds) {
        let key = Self::cells_of(b);
        self.cells.entry(key).or_default().push(i);
        let row = key.0.level as usize;
        if self.levels.len() <= row {
            self.levels.resize(row + 1, 0);
        }
        self.levels[row] |= 1 << key.1.level;
        self.starts.insert((b.q_start, b.s_start), i);
        self.ends.insert((b.q_end, b.s_end), i);
    }

    fn remove(&mut self, i: u32, b: &Bounds) {
        if let Some(list) = self.cells.get_mut(&Self::cells_of(b)) {
            list.retain(|&j| j != i);
        }
        self.starts.remove(&(b.q_start, b.s_start));
        self.ends.remove(&(b.q_end, b.s_end));
    }

    /// Members in the cells that hold the box's own cells.
    fn candidates(&self, b: &Bounds) -> impl Iterator<Item = u32> + '_ {
        let (q, s) = Self::cells_of(b);
        let (q_start, s_start) = (b.q_start, b.s_start);
        let rows = self.levels.iter().enumerate().skip(q.level as usize);
        rows.flat_map(move |(row, &used)| {
            (s.level..=32)
                .filter(move |&level| used >> level & 1 == 1)
                .filter_map(move |level| {
                    self.cells.get(&(Cell::at(row as u8, q_start), Cell::at(level, s_start)))
                })
                .flatten()
                .copied()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(q: (u32, u32), s: (u32, u32)) -> Bounds {
        Bounds { q_start: q.0, q_end: q.1, s_start: s.0, s_end: s.1 }
    }

    /// The rules of rules 5.6 taken literally, as the reference.
    #[derive(Default)]
    struct Naive(Vec<Member>);

    impl Naive {
        fn encloses(&self, b: &Bounds, score: i32) -> bool {
            self.0.iter().any(|m| {
                score <= m.score
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

    /// A small multiplicative generator: the tests need no better one.
    fn random(state: &mut u64, below: u32) -> u32 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((*state >> 33) % u64::from(below)) as u32
    }

    #[test]
    fn agrees_with_the_literal_rules_far_beyond_the_scan_limit() {
        let mut state = 7;
        let (mut yes, mut no) = (0, 0);
        for span in [12, 60, 400] {
            let mut tree = ContainmentTree::new();
            for _ in 0..2 {
                tree.clear();
                let mut naive = Naive::default();
                for _ in 0..600 {
                    let (q, s) = (random(&mut state, span), random(&mut state, 3 * span));
                    let b = bounds(
                        (q, q + 1 + random(&mut state, span / 2)),
                        (s, s + 1 + random(&mut state, span / 2)),
                    );
                    let score = 20 + random(&mut state, 12) as i32;
                    let expected = naive.encloses(&b, score);
                    assert_eq!(tree.encloses(&b, score), expected, "{b:?} {score}");
                    if expected {
                        yes += 1;
                    } else {
                        no += 1;
                    }
                    naive.add(&b, score);
                    tree.add(&b, score);
                }
                let alive = tree.members.iter().filter(|m| m.score != i32::MIN).count();
                assert_eq!(alive, naive.0.len());
            }
        }
        assert!(yes > 500 && no > 500, "{yes} {no}");
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
}
