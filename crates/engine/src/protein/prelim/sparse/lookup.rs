//! Finds the matches of a group's words in a subject.
//!
//! A table of all matching words costs one look-up for each subject word. But filling it takes
//! seconds if many words match each query word (long words of the standard alphabet). In that case
//! the scan starts without a table: for each subject word it adds up the query's rows of scores. It
//! does so until that has taken as long as filling the table would. Small databases, and small
//! partitions on many ranks, never pay for such a table.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::hits::{Hits, STRIDE};
use super::position::Position;
use super::rows::Rows;
use super::table::{self, Table};
use crate::kernel::Kernel;
use crate::protein::prelim::words::Words;

/// Longest time, in nanoseconds, to fill a table that is used from the start.
const NO_TIME: u64 = 20_000_000;
/// Number of subject offsets whose words are converted to numbers at a time.
const STRETCH: usize = 512;

/// The words of a group, which are looked up by rows or by a table.
#[derive(Debug)]
pub(super) struct Lookup<P> {
    words: Words,
    table: OnceLock<Table<P>>,
    /// Rows that are used until the table is due; `None` if it is due from the start.
    rows: Option<RowScan>,
}

/// Look-ups by rows, with the time that they take.
#[derive(Debug)]
struct RowScan {
    rows: Rows,
    kernel: Kernel,
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
    /// Prepares look-ups by rows with the instructions of a kernel, and later by a table. Without a
    /// kernel, or if filling takes little time, the table is used from the start.
    pub fn new(words: Words, kernel: Option<Kernel>) -> Lookup<P> {
        let slow = kernel.map(|kernel| (kernel, table::filling_cost(&words)));
        match slow.filter(|&(_, cost)| cost > NO_TIME) {
            Some((kernel, cost)) => Lookup::by_rows(words, kernel, cost),
            None => Lookup { words, table: OnceLock::new(), rows: None },
        }
    }

    /// Prepares look-ups by rows, and by a table after `filling_cost` nanoseconds.
    pub fn by_rows(words: Words, kernel: Kernel, filling_cost: u64) -> Lookup<P> {
        let spent = AtomicU64::new(0);
        let rows = RowScan { rows: Rows::new(&words), kernel, filling_cost, spent };
        Lookup { words, table: OnceLock::new(), rows: Some(rows) }
    }

    /// Finds the seeds of a subject, some at a time, for a table of diagonals with the mask `mask`.
    /// Calls `found` with them. `allows` returns whether the word at an offset is looked up;
    /// without it all words are.
    pub fn word_hits(
        &self,
        subject: &[u8],
        allows: Option<impl Fn(usize) -> bool>,
        mask: u32,
        scratch: &mut LookupScratch<P>,
        mut found: impl FnMut(&Hits<P>),
    ) {
        let none = self.words.different() as u32;
        let LookupScratch { digits, numbers, positions, hits } = scratch;
        for start in (0..subject.len()).step_by(STRETCH) {
            let end = subject.len().min(start + STRETCH + self.words.size - 1);
            // The form is chosen for each range, since a subject can be long: this thread uses the
            // table as soon as another one has filled it.
            let form = self.form_for(end - start);
            let longest = match form {
                Form::Table(table) => table.longest(),
                Form::Rows(_) => self.words.residues.len(),
            };
            self.words.numbers(&subject[start..end], digits, numbers);
            if let Some(allows) = &allows {
                let masked = (start..).zip(&mut *numbers).filter(|(offset, _)| !allows(*offset));
                masked.for_each(|(_, word)| *word = none);
            }
            let mut added = 0;
            while added < numbers.len() {
                let (start, numbers) = (start + added, &numbers[added..]);
                hits.begin(start, mask, longest);
                added += match form {
                    Form::Table(table) => table.add_hits(numbers, start, hits),
                    Form::Rows(rows) => rows.add_hits((numbers, none), start, positions, hits),
                };
                found(hits);
            }
        }
    }

    /// Returns how the words of a range of this many residues are looked up. The thread that spends
    /// the last of the filling cost fills the table. Meanwhile the others continue with rows.
    fn form_for(&self, residues: usize) -> Form<'_, P> {
        let is_due = |scan: &RowScan| self.table.get().is_some() || scan.spend(residues);
        match &self.rows {
            Some(scan) if !is_due(scan) => Form::Rows(scan),
            _ => Form::Table(self.table.get_or_init(|| Table::new(&self.words))),
        }
    }

    /// Returns the table, if it exists or is due for this many residues.
    #[cfg(test)]
    pub fn table_for(&self, residues: usize) -> Option<&Table<P>> {
        match self.form_for(residues) {
            Form::Table(table) => Some(table),
            Form::Rows(_) => None,
        }
    }
}

/// Form in which words are looked up.
#[derive(Clone, Copy)]
enum Form<'a, P> {
    Table(&'a Table<P>),
    Rows(&'a RowScan),
}

impl RowScan {
    /// Adds the cost of looking up `residues` residues by rows to the time spent. Returns true when
    /// the sum first exceeds the filling cost.
    fn spend(&self, residues: usize) -> bool {
        let cost = self.rows.cost(self.kernel, residues);
        let before = self.spent.fetch_add(cost, Ordering::Relaxed);
        before <= self.filling_cost && before.saturating_add(cost) > self.filling_cost
    }

    /// Adds the seeds of the words with these numbers until `hits` is full. `none` is the number
    /// that stands for no word. The first word is at subject offset `start`. Returns the number of
    /// words whose seeds were added.
    fn add_hits<P: Position>(
        &self,
        (numbers, none): (&[u32], u32),
        start: usize,
        positions: &mut Vec<P>,
        hits: &mut Hits<P>,
    ) -> usize {
        for (done, &word) in numbers.iter().enumerate() {
            if hits.is_full() {
                return done;
            }
            if word == none {
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
}
