//! The sparse scan: finds word matches and keeps a diagonal table (rules 4.1–4.3).
//!
//! It is used if the dense filter would let too much pass (small cut-offs) or if word hits are rare
//! (long words of the compressed alphabet).

mod lookup;
mod reached;
mod rows;
mod table;
#[cfg(test)]
mod tests;

use self::lookup::Lookup;
use super::block::Part;
use super::context::PieceContext;
use super::ungapped::{Diagonal, DiagonalRule, UngappedHsp};
use super::words::{self, Alphabet, Words};
use crate::kernel::Kernel;

/// Contexts whose words are looked up together.
#[derive(Debug)]
pub(super) struct Group {
    /// The contexts, by index in the searcher's list.
    contexts: Vec<usize>,
    /// Start of each context in the concatenation.
    starts: Vec<u32>,
    /// For each position of the concatenation the index of its context in `contexts`.
    slots: Vec<u32>,
    lookup: Lookup,
}

/// Diagonal table of a thread, for any group.
#[derive(Debug, Default)]
pub(super) struct Diagonals {
    table: Vec<Diagonal>,
    /// Added to subject offsets, so that entries of earlier subjects look long past.
    base: i32,
    /// End of the entries that earlier subjects left.
    end: i32,
}

impl Group {
    /// Indexes the words of the contexts `members`, to be looked up with the instructions of a
    /// kernel, or only by a table.
    pub fn new(
        contexts: &[PieceContext],
        members: &[usize],
        alphabet: Alphabet,
        word_size: usize,
        kernel: Option<Kernel>,
    ) -> Group {
        let mut starts = Vec::new();
        let mut slots = Vec::new();
        let mut words = Words {
            alphabet,
            size: word_size,
            residues: Vec::new(),
            rows: Vec::new(),
            starts: Vec::new(),
            by_score: members.iter().any(|&i| contexts[i].by_score),
        };
        for (slot, &i) in members.iter().enumerate() {
            let context = &contexts[i];
            let start = slots.len();
            starts.push(start as u32);
            let offsets = words::word_starts(context, word_size);
            words.starts.extend(offsets.map(|offset| (start + offset) as u32));
            words.residues.extend_from_slice(context.residues_with_end());
            words.rows.extend_from_slice(context.rows_with_end());
            slots.resize(start + context.len() + 1, slot as u32);
        }
        Group { contexts: members.to_vec(), starts, slots, lookup: Lookup::new(words, kernel) }
    }

    /// Finds the ungapped HSPs of a part of a subject. Calls `found` with the context and the HSP.
    pub fn scan(
        &self,
        contexts: &[PieceContext],
        rule: &DiagonalRule,
        part: &Part,
        diagonals: &mut Diagonals,
        mut found: impl FnMut(usize, UngappedHsp),
    ) {
        let rule = &rule.within(part.residues.len());
        let window = rule.window.max(1);
        let mask = diagonals.start_subject(self.slots.len(), part.residues.len(), window);
        let Diagonals { table, base, .. } = diagonals;
        self.lookup.word_hits(part.residues, |s, position| {
            if !part.allows(s, rule.word_size, rule.window == 0) {
                return;
            }
            let entry = &mut table[(position as usize).wrapping_sub(s) & mask];
            // Most hits end here, before their context is known.
            let at = *base + s as i32;
            if rule.begins_anew(entry, at) {
                entry.last = at;
                return;
            }
            let slot = self.slots[position as usize] as usize;
            let index = self.contexts[slot];
            let q = (position - self.starts[slot]) as usize;
            let mut state = Diagonal { last: entry.last - *base, ..*entry };
            if let Some(hsp) = rule.hit(&mut state, &contexts[index], part, q, s) {
                found(index, hsp);
            }
            *entry = Diagonal { last: state.last + *base, ..state };
        });
    }
}

impl Diagonals {
    /// Makes the table large enough, and all its entries outdated. Returns the mask of its indexes.
    fn start_subject(&mut self, query_len: usize, subject_len: usize, window: i32) -> usize {
        let len = (query_len + window as usize).next_power_of_two();
        if self.end > i32::MAX / 2 {
            self.table.clear();
            self.end = 0;
        }
        if self.table.len() < len {
            self.table.resize(len, Diagonal { last: 0, extended: false });
        }
        self.base = self.end.saturating_add(window);
        self.end = self.base.saturating_add(subject_len as i32);
        len - 1
    }
}
