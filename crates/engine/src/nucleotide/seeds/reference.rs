//! Finds segments by the literal rules of BLAST+, with single bases, maps and lists. The code is
//! slow; tests compare other code with it.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

mod extension;
mod memory;

use super::choice::{TableChoice, TableKind};
use super::contexts::Contexts;
use super::{SeedRules, Segment, TemplateKind};
use memory::Cell;
pub(super) use memory::Memory;

/// The queries with an index of their words.
pub(super) struct Reference<'a> {
    contexts: &'a Contexts,
    rules: &'a SeedRules,
    pub kind: TableKind,
    span: usize,
    length: usize,
    patterns: Vec<Vec<bool>>,
    tables: Vec<HashMap<Vec<u8>, Vec<usize>>>,
    /// For each of the rarer cases of the rules, the number of times that it occurred.
    pub events: RefCell<BTreeMap<&'static str, usize>>,
}

/// A search of one subject.
struct Run<'a> {
    of: &'a Reference<'a>,
    subject: &'a [u8],
    end: usize,
    memory: &'a mut Memory,
    out: Vec<Segment>,
}

fn patterns(rules: &SeedRules, span: usize) -> Vec<Vec<bool>> {
    let Some(template) = rules.template else { return vec![vec![true; span]] };
    let table = include_str!("templates.tsv");
    let of = |kind: &str| -> Vec<bool> {
        let wanted = format!("{}\t{}\t{kind}\t", template.weight, template.length);
        let line = table.lines().find_map(|line| line.strip_prefix(&wanted)).unwrap();
        line.bytes().map(|place| place == b'1').collect()
    };
    match template.kind {
        TemplateKind::Coding => vec![of("coding")],
        TemplateKind::Optimal => vec![of("optimal")],
        TemplateKind::CodingAndOptimal => vec![of("coding"), of("optimal")],
    }
}

fn word(letters: &[u8], pattern: &[bool]) -> Vec<u8> {
    letters.iter().zip(pattern).filter(|(_, counts)| **counts).map(|(letter, _)| *letter).collect()
}

impl<'a> Reference<'a> {
    pub fn new(
        contexts: &'a Contexts,
        regions: &[Range<u32>],
        rules: &'a SeedRules,
    ) -> Reference<'a> {
        let TableChoice { mut kind, span, .. } = TableChoice::new(rules, regions);
        let span = span as usize;
        let letters = contexts.letters();
        let patterns = patterns(rules, span);
        let mut tables = Vec::new();
        for pattern in &patterns {
            let mut table: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
            for region in regions {
                if region.len() < rules.word_size as usize {
                    continue;
                }
                for q in region.start as usize..region.end as usize {
                    let there = &letters[q..(q + span).min(region.end as usize)];
                    if there.len() == span && there.iter().all(|&code| code < 4) {
                        table.entry(word(there, pattern)).or_default().push(q);
                    }
                }
            }
            tables.push(table);
        }
        let cells: usize =
            tables[0].values().filter(|list| list.len() > 1).map(|list| list.len() + 1).sum();
        if kind == TableKind::Small && cells + 2 >= 32768 {
            kind = TableKind::Standard;
        }
        let length = if rules.template.is_some() { span } else { rules.word_size as usize };
        Reference {
            contexts,
            rules,
            kind,
            span,
            length,
            patterns,
            tables,
            events: RefCell::default(),
        }
    }

    /// Finds the segments of a subject, which has one base a byte.
    pub fn search(
        &self,
        subject: &[u8],
        regions: Option<&[Range<u32>]>,
        memory: &mut Memory,
    ) -> Vec<Segment> {
        let extra = self.length - self.span;
        let mut run = Run { of: self, subject, end: 0, memory, out: Vec::new() };
        let whole = 0..subject.len() as u32;
        for region in regions.unwrap_or(std::slice::from_ref(&whole)) {
            let mut s = region.start as usize + if regions.is_some() { extra } else { 0 };
            run.end = region.end as usize;
            while s + self.span <= run.end {
                run.place(s);
                s += extra + 1;
            }
        }
        let mut out = run.out;
        memory.finish(subject.len() as i32, self.rules.window);
        out.sort_by(|a, b| {
            let by_score = b.score.cmp(&a.score).then(a.s_start.cmp(&b.s_start));
            by_score.then(b.length.cmp(&a.length)).then(a.q_start.cmp(&b.q_start))
        });
        out
    }
}

impl Run<'_> {
    fn letter(&self, q: usize) -> u8 {
        self.of.contexts.letters()[q]
    }

    fn note(&self, event: &'static str) {
        *self.of.events.borrow_mut().entry(event).or_default() += 1;
    }

    fn place(&mut self, s: usize) {
        let of = self.of;
        for (table, pattern) in of.tables.iter().zip(&of.patterns) {
            let there = &self.subject[s..s + of.span];
            let mut list = table.get(&word(there, pattern)).cloned().unwrap_or_default();
            if of.kind == TableKind::Megablast {
                list.reverse();
            }
            for q in list {
                self.pair(q, s);
            }
        }
    }

    fn pair(&mut self, q: usize, s: usize) {
        let of = self.of;
        let extra = of.length - of.span;
        let (mut q_first, mut q_end) = (0, usize::MAX);
        let mut bits = 255;
        if of.kind == TableKind::Small {
            let context = of.contexts.context_at(q as u32);
            q_first = of.contexts.start(context) as usize;
            q_end = of.contexts.end(context) as usize;
            bits = 3;
        }
        let mut left = 0;
        while left < extra
            && left < s
            && q > q_first + left
            && self.letter(q - left - 1) & bits == self.subject[s - left - 1]
        {
            left += 1;
        }
        let mut right = 0;
        while left + right < extra {
            let (q, s) = (q + of.span + right, s + of.span + right);
            if s >= self.end || q >= q_end || self.letter(q) & bits != self.subject[s] {
                return;
            }
            right += 1;
        }
        self.seed(q - left, s - left);
    }

    /// Returns whether the lookup table has the word of the subject at this query position.
    fn good(&self, q: usize, s: usize) -> bool {
        let of = self.of;
        let there = word(&self.subject[s..s + of.span], &of.patterns[0]);
        of.tables[0].get(&there).is_some_and(|list| list.contains(&q))
    }

    /// Returns the type of a seed: 0 if it is masked, 1 for one word, 2 for two words. Moves its
    /// start to the right, out of masks, and sets `extended` to the distance that its end moved.
    fn kind_of_word(
        &self,
        q_off: &mut usize,
        s_off: &mut usize,
        double: bool,
        extended: &mut usize,
    ) -> u32 {
        let of = self.of;
        let (length, span) = (of.length, of.span);
        *extended = 0;
        if length == span {
            return 1;
        }
        let (mut q_end, mut s_end) = (*q_off + length, *s_off + length);
        let q_range = of.contexts.end(of.contexts.context_at(q_end as u32)) as usize;
        let checks = of.rules.checks_masks || of.kind == TableKind::Small;
        if checks {
            if !self.good(q_end - span, s_end - span) {
                return 0;
            }
            while !self.good(*q_off, *s_off) {
                *q_off += 1;
                *s_off += 1;
            }
        }
        let mut to = length - (q_end - *q_off);
        let mut most = (q_range - q_end).min(self.end - s_end);
        if checks {
            if to > most {
                return 0;
            }
            q_end += to;
            s_end += to;
            let (mut q, mut s) = (q_end - span, s_end as i64 - span as i64);
            while s > *s_off as i64 {
                if !self.good(q, s as usize) {
                    return 0;
                }
                q = q.wrapping_sub(span);
                s -= span as i64;
            }
            *extended = to;
        }
        if !double {
            return 1;
        }
        to += length;
        most = most.min(to);
        let (mut q, mut s) = (q_end, s_end);
        while *extended + span <= most && self.good(q, s) {
            q += span;
            s += span;
            *extended += span;
        }
        q -= span - 1;
        s -= span - 1;
        while *extended < most {
            if !self.good(q, s) {
                return 1;
            }
            *extended += 1;
            q += 1;
            s += 1;
        }
        if most == to { 2 } else { 1 }
    }

    fn seed(&mut self, mut q: usize, mut s: usize) {
        let rules = self.of.rules;
        let (window, length) = (rules.window, self.of.length as i32);
        let diagonal = s as i32 - q as i32;
        let origin = self.memory.origin(window);
        let s_pos = s as i32 + origin;
        let (mut s_end, mut end_pos) = (s as i32 + length, s_pos + length);
        let mut delta = rules.off_diagonal_range.min(window - length);
        let known = self.memory.get(diagonal).unwrap_or_default();
        if s_pos < known.level {
            return;
        }
        let (mut ready, mut beside, mut extended) = (true, false, 0);
        if window > 0 && (known.saved || end_pos > known.level + window) {
            let kind = self.kind_of_word(&mut q, &mut s, true, &mut extended);
            if kind == 0 {
                self.note("masked first hit");
                return;
            }
            self.note(["", "single word", "double word"][kind as usize]);
            if extended > 0 && kind == 1 {
                self.note("single word, extended");
            }
            s_end += extended as i32;
            end_pos += extended as i32;
            if kind == 1 {
                let (a, b) = (s_pos + length - window, end_pos - 2 * length);
                delta = delta.max(0);
                for d in 1..=delta {
                    if let Some(cell) = self.memory.get(diagonal + d)
                        && cell.length != 0
                        && cell.level - d >= a
                        && cell.level - cell.length <= b
                    {
                        beside = true;
                    }
                    if let Some(cell) = self.memory.get(diagonal - d)
                        && cell.length != 0
                        && cell.level >= a
                        && cell.level - cell.length + d <= b
                    {
                        beside = true;
                    }
                }
                ready = beside;
                if beside {
                    self.note("hit beside");
                }
            }
        } else {
            if self.kind_of_word(&mut q, &mut s, false, &mut extended) == 0 {
                self.note("masked");
                return;
            }
            if extended > 0 {
                self.note("moved");
            }
            if window > 0 {
                self.note("second hit");
            }
            s_end += extended as i32;
            end_pos += extended as i32;
        }
        if ready {
            let limits = self.of.contexts.limits(self.of.contexts.context_at(q as u32)).unwrap();
            let segment = if length < 11 {
                self.exact(q, s, limits.x_drop)
            } else {
                self.approximate(q, s, s_end, limits.x_drop, limits.reduced_cutoff())
            };
            if beside || segment.score >= limits.cutoff {
                end_pos = (segment.s_start + segment.length) as i32 + origin;
                self.out.push(segment);
            } else {
                ready = false;
            }
        }
        let cell = Cell {
            diagonal,
            level: end_pos,
            saved: ready,
            length: if ready || window == 0 { 0 } else { end_pos - s_pos },
        };
        if self.memory.put(cell, s_pos, window + delta + 1) {
            self.note("lost cell");
        }
    }
}
