//! Where the words of a group of contexts match a subject.
//!
//! A table of all words that match costs one look for each subject word, but filling it takes
//! seconds where many words match each of the query's (long words of the standard alphabet). So the
//! query's rows of scores are added up for each subject word until that has taken as long as
//! filling the table would: small databases, and small parts of a database on many ranks, never pay
//! for a table.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::rows::Rows;
use super::table::Table;
use crate::kernel::Kernel;
use crate::protein::prelim::words::Words;

/// What is known of a group's words.
#[derive(Debug)]
pub(super) struct Lookup {
    words: Words,
    rows: Rows,
    kernel: Kernel,
    table: OnceLock<Table>,
    /// Nanoseconds that filling the table would take.
    price: u64,
    /// Nanoseconds spent on rows.
    spent: AtomicU64,
}

impl Lookup {
    /// Looks up by rows with the instructions of a kernel, later by a table; without a kernel by a
    /// table from the start.
    pub fn new(words: Words, kernel: Option<Kernel>) -> Lookup {
        let rows = Rows::new(&words);
        let price = if kernel.is_some() { Table::price(&words) } else { 0 };
        Lookup {
            rows,
            kernel: kernel.unwrap_or(Kernel::Portable),
            table: OnceLock::new(),
            price,
            spent: AtomicU64::new(0),
            words,
        }
    }

    /// Calls `hit` with each subject offset and each position whose word matches there.
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

    /// The table, if there is one or it is time to fill it. The thread that spends the last of the
    /// price fills it; the others go on with rows meanwhile.
    pub fn table_for(&self, subject: &[u8]) -> Option<&Table> {
        if let Some(table) = self.table.get() {
            return Some(table);
        }
        let cost = self.rows.cost(self.kernel, subject.len());
        let before = self.spent.fetch_add(cost, Ordering::Relaxed);
        let last = before <= self.price && before.saturating_add(cost) > self.price;
        last.then(|| self.table.get_or_init(|| Table::new(&self.words)))
    }
}
