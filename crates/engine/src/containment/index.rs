//! Index of boxes that finds the boxes that may enclose a given one. It is a hash table of square
//! cells; larger boxes are stored in larger cells.
//!
//! The class of a box is the number of bits of the length of its longer side. A box of class `c` is
//! stored in the cell of its start, in a grid of squares with sides of `2^c`. The box is shorter
//! than a cell. So all boxes within it start in the same cell or in the next one, in either
//! sequence. A look-up visits four cells of each class in use that is not below the class of the
//! given box.
//!
//! A cell holds many boxes that do not enclose each other only if alignments of the same length
//! overlap on many diagonals. Computing such an alignment takes longer than visiting its box.

use rustc_hash::FxHashMap;

use crate::order::Bounds;

/// Finds the identifying numbers of boxes by cell, by start and by end.
#[derive(Debug, Default)]
pub(super) struct Index {
    cells: FxHashMap<Cell, Vec<u32>>,
    /// The classes in use, as a bit set.
    classes: u64,
    starts: FxHashMap<(u32, u32), u32>,
    ends: FxHashMap<(u32, u32), u32>,
}

/// A square in the grid of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Cell {
    class: u8,
    /// Column of the cell, along the query; `s` is its row, along the subject.
    q: u32,
    s: u32,
}

impl Cell {
    /// Returns the cell in which a box is stored.
    fn from_bounds(b: &Bounds) -> Cell {
        let class = class(b);
        Cell { class, q: cell_of(b.q_start.into(), class), s: cell_of(b.s_start.into(), class) }
    }
}

/// Returns the class of a box: the number of bits of its longer side.
fn class(b: &Bounds) -> u8 {
    let side = b.q_end.abs_diff(b.q_start).max(b.s_end.abs_diff(b.s_start));
    (u32::BITS - side.leading_zeros()) as u8
}

/// Returns the column of a query position, or the row of a subject position, in the grid of a
/// class.
fn cell_of(position: u64, class: u8) -> u32 {
    (position >> class) as u32
}

/// Returns the columns or rows of the cells in which a range may start that holds both positions
/// and is shorter than `2^class`.
fn cells_around(a: u32, b: u32, class: u8) -> std::ops::RangeInclusive<u32> {
    let (first, last) = (u64::from(a.min(b)), u64::from(a.max(b)));
    cell_of((last + 1).saturating_sub(1 << class), class)..=cell_of(first, class)
}

impl Index {
    pub fn clear(&mut self) {
        self.cells.clear();
        self.classes = 0;
        self.starts.clear();
        self.ends.clear();
    }

    pub fn insert(&mut self, number: u32, b: &Bounds) {
        let cell = Cell::from_bounds(b);
        self.cells.entry(cell).or_default().push(number);
        self.classes |= 1 << cell.class;
        self.starts.insert((b.q_start, b.s_start), number);
        self.ends.insert((b.q_end, b.s_end), number);
    }

    pub fn remove(&mut self, number: u32, b: &Bounds) {
        if let Some(numbers) = self.cells.get_mut(&Cell::from_bounds(b)) {
            numbers.retain(|&other| other != number);
        }
        self.starts.remove(&(b.q_start, b.s_start));
        self.ends.remove(&(b.q_end, b.s_end));
    }

    /// Returns the number of the box with the same start as this one.
    pub fn with_start(&self, b: &Bounds) -> Option<u32> {
        self.starts.get(&(b.q_start, b.s_start)).copied()
    }

    /// Returns the number of the box with the same end as this one.
    pub fn with_end(&self, b: &Bounds) -> Option<u32> {
        self.ends.get(&(b.q_end, b.s_end)).copied()
    }

    /// Returns the numbers of boxes that may enclose this one. They include all boxes that do.
    pub fn candidates(&self, b: &Bounds) -> impl Iterator<Item = u32> + '_ {
        let b = *b;
        let used = self.classes;
        (class(&b)..=u32::BITS as u8)
            .filter(move |&class| used >> class & 1 == 1)
            .flat_map(move |class| {
                let columns = cells_around(b.q_start, b.q_end, class);
                let rows = cells_around(b.s_start, b.s_end, class);
                columns.flat_map(move |q| rows.clone().map(move |s| Cell { class, q, s }))
            })
            .filter_map(|cell| self.cells.get(&cell))
            .flatten()
            .copied()
    }
}
