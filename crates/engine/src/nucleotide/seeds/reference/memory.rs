//! The state of diagonals, complete or lossy as in BLAST+.

use std::collections::HashMap;

/// State of a diagonal.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Cell {
    pub diagonal: i32,
    pub level: i32,
    pub saved: bool,
    pub length: i32,
}

/// Storage of the state of diagonals.
#[derive(Clone, Debug)]
pub(in super::super) enum Memory {
    /// The complete state of every diagonal of the present subject.
    Ideal(HashMap<i32, Cell>),
    /// The chains of BLAST+, the newest cell first, and the running origin.
    Chains { buckets: Vec<Vec<Cell>>, origin: i32 },
}

impl Memory {
    /// Creates the memory for the first subject; `long` says whether the queries are long.
    pub fn new(long: bool, window: i32) -> Memory {
        if long {
            Memory::Chains { buckets: vec![Vec::new(); 512], origin: window }
        } else {
            Memory::Ideal(HashMap::new())
        }
    }

    pub fn origin(&self, window: i32) -> i32 {
        match self {
            Memory::Ideal(_) => window,
            Memory::Chains { origin, .. } => *origin,
        }
    }

    pub fn finish(&mut self, length: i32, window: i32) {
        match self {
            Memory::Ideal(cells) => cells.clear(),
            Memory::Chains { origin, .. } => *origin += length + window,
        }
    }

    pub fn get(&self, diagonal: i32) -> Option<Cell> {
        match self {
            Memory::Ideal(cells) => cells.get(&diagonal).copied(),
            Memory::Chains { buckets, .. } => {
                let bucket = (diagonal as u32).wrapping_mul(0x9E37_0001) % 512;
                buckets[bucket as usize].iter().find(|cell| cell.diagonal == diagonal).copied()
            }
        }
    }

    /// Stores a cell. Returns whether it displaced a cell of another diagonal that could still
    /// reject a seed.
    pub fn put(&mut self, mut new: Cell, at: i32, stale: i32) -> bool {
        match self {
            Memory::Ideal(cells) => {
                new.length %= 256;
                cells.insert(new.diagonal, new);
                false
            }
            Memory::Chains { buckets, .. } => {
                let bucket = (new.diagonal as u32).wrapping_mul(0x9E37_0001) % 512;
                let chain = &mut buckets[bucket as usize];
                let usable =
                    |cell: &&mut Cell| cell.diagonal == new.diagonal || at - cell.level > stale;
                match chain.iter_mut().find(usable) {
                    Some(cell) => {
                        let old = std::mem::replace(cell, new);
                        old.diagonal != new.diagonal && old.level > at
                    }
                    None => {
                        chain.insert(0, new);
                        false
                    }
                }
            }
        }
    }
}
