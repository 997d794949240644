//! The sparse scan: finds seeds and keeps a table of diagonals (rules 4.1–4.3).
//!
//! It is used if too many diagonals would pass the dense filter (small cut-offs), or if seeds are
//! rare (high word thresholds, long words of the compressed alphabet); see [`super::cost`].

mod diagonals;
mod hits;
mod lookup;
mod position;
mod reached;
mod rows;
mod table;
#[cfg(test)]
mod tests;

use self::diagonals::Diagonals;
use self::lookup::{Lookup, LookupScratch};
use self::position::Position;
use super::block::Part;
use super::context::ChunkContext;
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
    words: GroupWords,
}

/// Look-up of the words of a group, with positions of two or of four bytes.
#[derive(Debug)]
enum GroupWords {
    Short(Lookup<u16>),
    Long(Lookup<u32>),
}

/// Scratch memory of a thread, for any group.
#[derive(Debug, Default)]
pub(super) struct ScanScratch {
    diagonals: Diagonals,
    short: LookupScratch<u16>,
    long: LookupScratch<u32>,
}

impl Group {
    /// Indexes the words of the contexts `members`. `kernel` selects the instructions of look-ups
    /// by rows; `None` means look-ups by a table only.
    pub fn new(
        contexts: &[ChunkContext],
        members: &[usize],
        alphabet: Alphabet,
        (word_size, window): (usize, i32),
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
        let words = match Diagonals::count(slots.len(), window) <= <u16 as Position>::COUNT {
            true => GroupWords::Short(Lookup::new(words, kernel)),
            false => GroupWords::Long(Lookup::new(words, kernel)),
        };
        Group { contexts: members.to_vec(), starts, slots, words }
    }

    /// Finds the ungapped HSPs of a part of a subject. Calls `found` with the context and the HSP.
    pub fn scan(
        &self,
        contexts: &[ChunkContext],
        rule: &DiagonalRule,
        part: &Part,
        scratch: &mut ScanScratch,
        found: impl FnMut(usize, UngappedHsp),
    ) {
        let ScanScratch { diagonals, short, long } = scratch;
        match &self.words {
            GroupWords::Short(lookup) => {
                self.scan_words(lookup, contexts, rule, part, (diagonals, short), found);
            }
            GroupWords::Long(lookup) => {
                self.scan_words(lookup, contexts, rule, part, (diagonals, long), found);
            }
        }
    }

    /// Does the work of [`Group::scan`] with one size of positions.
    fn scan_words<P: Position>(
        &self,
        lookup: &Lookup<P>,
        contexts: &[ChunkContext],
        rule: &DiagonalRule,
        part: &Part,
        (diagonals, scratch): (&mut Diagonals, &mut LookupScratch<P>),
        mut found: impl FnMut(usize, UngappedHsp),
    ) {
        let subject = part.residues;
        let rule = &rule.within(subject.len());
        let mut table =
            diagonals.begin(self.slots.len(), subject.len(), rule.window, rule.word_size);
        let mut pair = |position: u32, s: usize, diagonal: &mut Diagonal| {
            let slot = self.slots[position as usize] as usize;
            let index = self.contexts[slot];
            let q = (position - self.starts[slot]) as usize;
            if let Some(hsp) = rule.hit(diagonal, &contexts[index], part, q, s) {
                found(index, hsp);
            }
        };
        let allows = |s| part.allows(s, rule.word_size, rule.window == 0);
        let allows = part.has_masks().then_some(allows);
        lookup.word_hits(subject, allows, table.mask(), scratch, |hits| {
            table.process(hits, &mut pair);
        });
    }
}
