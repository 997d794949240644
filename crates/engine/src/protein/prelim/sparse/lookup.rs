//! Finds the matches of a group's words in a subject.
//!
//! A table of all matching words costs one look-up for each subject word. But filling it takes
//! seconds if many words match each query word (long words of the standard alphabet). So at first
//! the query's rows of scores are added up for each subject word, until that has taken as long as
//! filling the table would. Small databases, and small partitions on many ranks, never pay for a
//! table.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::rows::Rows;
use super::table::Table;
use crate::kernel::Kernel;
use crate::protein::prelim::words::Words;

/// The words of a group, in one of two forms.
#[derive(Debug)]
pub(super) struct Lookup {
    words: Words,
    rows: Rows,
    kernel: Kernel,
    table: OnceLock<Table>,
    /// Estimated nanoseconds to fill the table.
    filling_cost: u64,
    /// Nanoseconds spent on rows.
    spent: AtomicU64,
}

impl Lookup {
    /// Prepares look-ups by rows with the instructions of a kernel, later by a table; without a
    /// kernel by a table from the start.
    pub fn new(words: Words, kernel: Option<Kernel>) -> Lookup {
        let rows = Rows::new(&words);
        let filling_cost = if kernel.is_some() { Table::filling_cost(&words) } else { 0 };
        Lookup {
            rows,
            kernel: kernel.unwrap_or(Kernel::Portable),
            table: OnceLock::new(),
            filling_cost,
            spent: AtomicU64::new(0),
            words,
        }
    }

    /// Calls `hit` with each subject offset and each query position whose word matches there.
    pub fn word_hits(&self, subject: &[u8], mut hit: impl FnMut(usize, u32)) {
        if let Some(table) = self.table_for(subject) {
            self.words.of_subject(subject, |offset, word| {
                table.positions(word).iter().for_each(|&position| hit(offset, position));
            });
        } else {
            self.words.of_subject(subject, |offset, word| {
                self.rows.matches(self.kernel, word, |position| hit(offset, position));
            });
        }
    }

    /// The table, if it exists or is due. The thread that spends the last of the filling_cost fills
    /// it; meanwhile the others go on with rows.
    pub fn table_for(&self, subject: &[u8]) -> Option<&Table> {
        if let Some(table) = self.table.get() {
            return Some(table);
        }
        let cost = self.rows.cost(self.kernel, subject.len());
        let before = self.spent.fetch_add(cost, Ordering::Relaxed);
        let last = before <= self.filling_cost && before.saturating_add(cost) > self.filling_cost;
        last.then(|| self.table.get_or_init(|| Table::new(&self.words)))
    }
}
