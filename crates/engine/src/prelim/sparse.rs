//! The sparse scan: a look-up table of the query's words and a diagonal table (spec 4.1–4.3).
//!
//! Used where the dense filter would pass too much (small cut-offs) or where word hits are rare (long words of the
//! compressed alphabet).

use super::block::Part;
use super::context::Context;
use super::ungapped::{Diagonal, DiagonalRule, UngappedHsp};
use super::words::{self, Alphabet};

/// Contexts that share a look-up table.
#[derive(Debug)]
pub(super) struct Group {
    /// The contexts, by index into the searcher's list.
    contexts: Vec<usize>,
    /// Where each context starts in the concatenation.
    starts: Vec<u32>,
    /// For each position of the concatenation the slot of its context in `contexts`.
    slots: Vec<u32>,
    alphabet: Alphabet,
    word_size: usize,
    /// For each word the end of its positions; the start is the end of the word before.
    ends: Vec<u32>,
    /// Positions in the concatenation, word by word.
    positions: Vec<u32>,
}

/// Diagonal table of a thread, for any group.
#[derive(Debug, Default)]
pub(super) struct Diagonals {
    table: Vec<Diagonal>,
    /// Added to subject offsets, so that what earlier subjects left behind looks long past.
    base: i32,
    /// The base for the next subject.
    next_base: i32,
}

impl Group {
    /// Indexes the words of the contexts `members`.
    pub fn new(
        contexts: &[Context],
        members: &[usize],
        alphabet: Alphabet,
        word_size: usize,
    ) -> Group {
        let mut starts = Vec::new();
        let mut slots = Vec::new();
        let mut words = Vec::new();
        for (slot, &i) in members.iter().enumerate() {
            let context = &contexts[i];
            let start = slots.len();
            starts.push(start as u32);
            for q in words::word_starts(context, word_size) {
                words.push((&context.residues()[q..q + word_size], (start + q) as u32));
            }
            slots.resize(start + context.len() + 1, slot as u32);
        }
        let (ends, positions) = fill(words, &alphabet, word_size);
        Group { contexts: members.to_vec(), starts, slots, alphabet, word_size, ends, positions }
    }

    /// Finds the ungapped HSPs of a part of a subject; calls `found` with the context and the HSP.
    pub fn scan(
        &self,
        contexts: &[Context],
        rule: &DiagonalRule,
        part: &Part,
        diagonals: &mut Diagonals,
        mut found: impl FnMut(usize, UngappedHsp),
    ) {
        let window = rule.window.max(1);
        diagonals.start_subject(self.slots.len() + window as usize, part.residues.len(), window);
        let mask = diagonals.table.len() - 1;
        self.word_hits(part.residues, |s, position| {
            if !part.allows(s, rule) {
                return;
            }
            let slot = self.slots[position as usize] as usize;
            let index = self.contexts[slot];
            let q = (position - self.starts[slot]) as usize;
            let entry = &mut diagonals.table[(position as usize).wrapping_sub(s) & mask];
            let mut state = Diagonal { last: entry.last - diagonals.base, ..*entry };
            if let Some(hsp) = rule.hit(&mut state, &contexts[index], part, q, s) {
                found(index, hsp);
            }
            *entry = Diagonal { last: state.last + diagonals.base, ..state };
        });
    }

    /// Calls `hit` with each subject offset and each position whose word matches there.
    fn word_hits(&self, subject: &[u8], mut hit: impl FnMut(usize, u32)) {
        let radix = self.alphabet.radix();
        let top = radix.pow(self.word_size as u32 - 1);
        let (mut word, mut letters) = (0usize, 0usize);
        for (i, &code) in subject.iter().enumerate() {
            let Some(digit) = self.alphabet.digit(code) else {
                (word, letters) = (0, 0);
                continue;
            };
            word = (word % top) * radix + digit;
            letters += 1;
            if letters >= self.word_size {
                let start = if word == 0 { 0 } else { self.ends[word - 1] };
                for &position in &self.positions[start as usize..self.ends[word] as usize] {
                    hit(i + 1 - self.word_size, position);
                }
            }
        }
    }
}

impl Diagonals {
    /// Makes the table large enough, and everything in it past.
    fn start_subject(&mut self, len: usize, subject_len: usize, window: i32) {
        let len = len.next_power_of_two();
        self.base = self.next_base;
        if self.table.len() != len || self.base > i32::MAX / 2 {
            self.table.clear();
            self.table.resize(len, Diagonal::fresh(window));
            self.base = 0;
        }
        self.next_base = self.base.saturating_add(subject_len as i32).saturating_add(window);
    }
}

/// Sorts the words' matches into a table: ends and positions.
fn fill(
    mut words: Vec<(&[u8], u32)>,
    alphabet: &Alphabet,
    word_size: usize,
) -> (Vec<u32>, Vec<u32>) {
    words.sort_unstable();
    let size = alphabet.radix().pow(word_size as u32);
    let runs = || words.chunk_by(|a, b| a.0 == b.0);
    let mut ends = vec![0u32; size];
    for run in runs() {
        alphabet.matches(run[0].0, |word| ends[word] += run.len() as u32);
    }
    let mut sum = 0;
    for end in &mut ends {
        sum += *end;
        *end = sum;
    }
    let mut positions = vec![0u32; sum as usize];
    for run in runs() {
        alphabet.matches(run[0].0, |word| {
            for &(_, position) in run {
                ends[word] -= 1;
                positions[ends[word] as usize] = position;
            }
        });
    }
    // Filling moved each end down to its start: shift by one word.
    ends.rotate_left(1);
    ends[size - 1] = sum;
    (ends, positions)
}
