//! Finds the matches of a group's words in a subject.
//!
//! A table of all matching words costs one look-up for each subject word. But filling it takes
//! seconds if many words match each query word (long words of the standard alphabet). So at first
//! the query's rows of scores are added up for each subject word, until that has taken as long as
//! filling the table would. Small databases, and small partitions on many ranks, never pay for a
//! table.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::hits::{Hits, STRIDE};
use super::position::Position;
use super::rows::Rows;
use super::table::{self, Table};
use crate::kernel::Kernel;
use crate::protein::prelim::words::Words;

/// A table that takes as many nanoseconds to fill is filled at once.
const NO_TIME: u64 = 20_000_000;
/// Offsets whose words are numbered at a time.
const STRETCH: usize = 512;

/// The words of a group, in one of two forms.
#[derive(Debug)]
pub(super) struct Lookup<P> {
    words: Words,
    rows: Rows,
    kernel: Kernel,
    table: OnceLock<Table<P>>,
    /// Estimated nanoseconds to fill the table.
    filling_cost: u64,
    /// Nanoseconds spent on rows.
    spent: AtomicU64,
}

/// Scratch memory of a thread.
#[derive(Debug, Default)]
pub(super) struct LookupScratch<P> {
    digits: Vec<u8>,
    numbers: Vec<u32>,
    positions: Vec<P>,
    hits: Hits<P>,
}

impl<P: Position> Lookup<P> {
    /// Prepares look-ups by rows with the instructions of a kernel, later by a table; by a table
    /// from the start without a kernel, or if it is filled in no time.
    pub fn new(words: Words, kernel: Option<Kernel>) -> Lookup<P> {
        let cost = match kernel {
            Some(_) => Some(table::filling_cost(&words)).filter(|&cost| cost > NO_TIME),
            None => None,
        };
        Lookup::with_filling_cost(words, kernel.unwrap_or(Kernel::Portable), cost.unwrap_or(0))
    }

    /// Prepares look-ups by a table after this many nanoseconds were spent on rows.
    pub fn with_filling_cost(words: Words, kernel: Kernel, filling_cost: u64) -> Lookup<P> {
        Lookup {
            rows: Rows::new(&words),
            kernel,
            table: OnceLock::new(),
            filling_cost,
            spent: AtomicU64::new(0),
            words,
        }
    }

    /// Finds the hits of a subject, some at a time, for a table of diagonals with the mask `mask`.
    /// Calls `found` with them. `allows` returns whether the word at an offset is looked up;
    /// without it all are.
    pub fn word_hits(
        &self,
        subject: &[u8],
        allows: Option<impl Fn(usize) -> bool>,
        mask: u32,
        scratch: &mut LookupScratch<P>,
        mut found: impl FnMut(&Hits<P>),
    ) {
        let table = self.table_for(subject);
        let none = self.words.different() as u32;
        let longest = table.map_or(self.words.residues.len(), Table::longest);
        let LookupScratch { digits, numbers, positions, hits } = scratch;
        for start in (0..subject.len()).step_by(STRETCH) {
            let end = subject.len().min(start + STRETCH + self.words.size - 1);
            self.words.numbers(&subject[start..end], digits, numbers);
            if let Some(allows) = &allows {
                let masked = (start..).zip(&mut *numbers).filter(|(offset, _)| !allows(*offset));
                masked.for_each(|(_, word)| *word = none);
            }
            let mut added = 0;
            while added < numbers.len() {
                let (start, numbers) = (start + added, &numbers[added..]);
                hits.begin(start, mask, longest);
                added += match table {
                    Some(table) => table.add_hits(numbers, start, hits),
                    None => self.add_hits(numbers, start, positions, hits),
                };
                found(hits);
            }
        }
    }

    /// Adds the hits of the words with these numbers, by rows, until there are enough. The first
    /// word is at the offset `start`. Returns the number of words whose hits were added.
    fn add_hits(
        &self,
        numbers: &[u32],
        start: usize,
        positions: &mut Vec<P>,
        hits: &mut Hits<P>,
    ) -> usize {
        for (done, &word) in numbers.iter().enumerate() {
            if hits.is_full() {
                return done;
            }
            if word == self.words.different() as u32 {
                continue;
            }
            positions.clear();
            self.rows.matches(self.kernel, word as usize, |it| positions.push(P::new(it)));
            let count = positions.len();
            positions.extend([P::default(); STRIDE]);
            hits.push(start + done, count, positions);
        }
        numbers.len()
    }

    /// The table, if it exists or is due. The thread that spends the last of the filling_cost fills
    /// it; meanwhile the others go on with rows.
    pub fn table_for(&self, subject: &[u8]) -> Option<&Table<P>> {
        if let Some(table) = self.table.get() {
            return Some(table);
        }
        let cost = self.rows.cost(self.kernel, subject.len());
        let before = self.spent.fetch_add(cost, Ordering::Relaxed);
        let last = before <= self.filling_cost && before.saturating_add(cost) > self.filling_cost;
        last.then(|| self.table.get_or_init(|| Table::new(&self.words)))
    }
}
