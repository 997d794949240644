//! Seeds of nucleotide searches and their ungapped extensions: from queries and a packed subject to ungapped segments.
//!
//! Facts are from `na_ungapped.c`, `blast_nalookup.c`, `blast_nascan.c` and `blast_extend.c` of BLAST+ 2.12.0. The way of a seed:
//!
//! 1. Places of the subject, a stride apart, whose word some query has ([`scan`], [`table`]).
//! 2. The pairs of such a place whose surroundings match up to a whole word, which lies in what is not masked ([`words`]).
//! 3. What the diagonal of the pair remembers tells whether it is news, or the second hit that was waited for ([`diagonals`]).
//! 4. Its ungapped extension is a segment if its score reaches the cut-off ([`extension`]).
//!
//! Nothing depends on which subjects were searched before: see [`diagonals`] for what that says about BLAST+.

mod bases;
#[cfg(target_arch = "x86_64")]
mod bmi2;
mod choice;
mod contexts;
mod diagonals;
mod extension;
mod finder;
mod fours;
mod goal;
#[cfg(target_arch = "x86_64")]
mod hopeless;
mod indexing;
#[cfg(target_arch = "x86_64")]
mod presence;
mod runs;
mod scan;
mod short;
mod sides;
mod table;
mod template;
mod words;

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::ops::Range;

use fleetblast_seq::nucleotide::Packed;

use choice::Kind;
pub(crate) use contexts::{Beside, Contexts, Limits, Other};
use diagonals::{Diagonals, Direct, Lossy};
use extension::Extender;
use finder::Finder;
pub(crate) use indexing::Indexing;
use scan::Candidates;
use table::Table;
pub(crate) use template::{Template, TemplateKind};
use words::Words;

use crate::kernel::Kernel;

/// How seeds are found, for a whole search.
#[derive(Clone, Debug)]
pub(crate) struct SeedRules {
    /// So many bases match in a seed; with a template its weight. At least 4.
    pub word_size: u32,
    /// The places that count, for discontiguous megablast.
    pub template: Option<Template>,
    /// Two hits on a diagonal within so many bases make a seed; 0 if one is enough.
    pub window: i32,
    /// The other hit may lie so many diagonals beside.
    pub off_diagonal_range: i32,
    /// Masks of the queries are soft: seeds must lie in what is not masked. With hard masks there is nothing to check.
    pub checks_masks: bool,
    /// Score of two equal bases.
    pub reward: i32,
    /// Score of two bases that differ.
    pub penalty: i32,
    /// Scores by the blastna codes of query and subject; those of sentinels far below 0.
    pub matrix: [[i32; 16]; 16],
}

/// An ungapped segment. Its places in the query are those of the concatenated contexts, its places in the subject those of the chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Where it starts in the queries.
    pub q_start: u32,
    /// Where it starts in the subject.
    pub s_start: u32,
    /// Number of bases.
    pub length: u32,
    /// Its score: by the approximate extension if that was below the reduced cut-off.
    pub score: i32,
    /// Where its seed starts in the queries.
    pub q_seed: u32,
    /// Where its seed starts in the subject.
    pub s_seed: u32,
}

impl SeedRules {
    /// Which places count in the words of each table; all of them in that of contiguous words.
    fn masks(&self) -> Vec<Option<u64>> {
        match self.template {
            None => vec![None],
            Some(template) => template.masks().into_iter().map(Some).collect(),
        }
    }
}

impl Segment {
    /// Sort key of segments; what is equal by it stays as found.
    fn order(&self) -> (Reverse<i32>, u32, Reverse<u32>, u32) {
        (Reverse(self.score), self.s_start, Reverse(self.length), self.q_start)
    }
}

/// What is made of the queries once and shared by all threads.
#[derive(Debug)]
pub(crate) struct Seeds {
    window: i32,
    off_diagonal_range: i32,
    /// The contexts and those beside them are so long that BLAST+ remembers diagonals in a hash.
    long: bool,
    words: Words,
    /// One for each template, or the one of contiguous words.
    tables: Vec<Table>,
    extender: Extender,
    kernel: Kernel,
}

/// The work space of a searching thread, for any number of subjects and [`Seeds`].
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    direct: Direct,
    lossy: Lossy,
    candidates: Candidates,
}

impl Seeds {
    /// Indexes what is not masked of the contexts.
    ///
    /// `regions` are the unmasked stretches of the valid contexts in concatenated coordinates, as `BLAST_ComplementMaskLocations`
    /// makes them: in order.
    pub fn new(
        contexts: &Contexts,
        regions: &[Range<u32>],
        rules: &SeedRules,
        indexing: Indexing,
        kernel: Kernel,
    ) -> Seeds {
        let Indexing { kind, span, long, in_groups } = indexing;
        let places = words::places(contexts, regions, rules.word_size, span);
        let query = contexts.packed();
        let descending = kind == Kind::Megablast;
        let table = |mask| Table::new(&query, &places, span, mask, descending);
        Seeds {
            window: rules.window,
            off_diagonal_range: rules.off_diagonal_range,
            long,
            tables: rules.masks().into_iter().map(table).collect(),
            extender: Extender::new(contexts, rules, in_groups),
            words: Words::new(places, query, kind, span, rules),
            kernel,
        }
    }

    /// The ungapped segments of a subject, or of a chunk of it, as they are sorted: by score, falling; by start in the subject; by length,
    /// falling; by start in the queries.
    ///
    /// `contexts` are those of [`Seeds::new`]. `regions` are the unmasked stretches of the subject, ascending, if it is one with masks
    /// (also if nothing of it is masked: seeds then start a bit later). Returns whether an extension might have gone on beyond what is
    /// known to lie beside the contexts.
    pub fn search(
        &self,
        contexts: &Contexts,
        subject: Packed<'_>,
        regions: Option<&[Range<u32>]>,
        scratch: &mut Scratch,
        out: &mut Vec<Segment>,
    ) -> bool {
        out.clear();
        let Scratch { direct, lossy, candidates } = scratch;
        let window = self.window_within(subject.length());
        let strayed = if self.long {
            lossy.start(window);
            self.find(contexts, (subject, window), regions, lossy, candidates, out)
        } else {
            direct.start(contexts.length(), window);
            let strayed = self.find(contexts, (subject, window), regions, direct, candidates, out);
            direct.finish(subject.length());
            strayed
        };
        out.sort_by_key(Segment::order);
        strayed
    }

    /// The window, but no longer than hits of a subject lie apart: [`Direct`] has room for it.
    fn window_within(&self, subject_length: u32) -> i32 {
        let beside = self.off_diagonal_range.max(0).unsigned_abs();
        let longest = subject_length.saturating_add(beside).saturating_add(self.words.length);
        self.window.min(i32::try_from(longest).unwrap_or(i32::MAX))
    }

    fn find<D: Diagonals>(
        &self,
        contexts: &Contexts,
        (subject, window): (Packed<'_>, i32),
        regions: Option<&[Range<u32>]>,
        diagonals: &mut D,
        candidates: &mut Candidates,
        out: &mut Vec<Segment>,
    ) -> bool {
        let whole = 0..subject.length();
        let (regions, lead) = match regions {
            // Words reach into what precedes them, hence into no mask.
            Some(regions) => (regions, self.words.extra),
            None => (std::slice::from_ref(&whole), 0),
        };
        let (end, strayed) = (0, false);
        let mut finder =
            Finder { seeds: self, contexts, subject, window, end, diagonals, out, strayed };
        for region in regions {
            finder.end = region.end.min(subject.length());
            let places = scan::Places {
                start: region.start.saturating_add(lead),
                end: (finder.end + 1).saturating_sub(self.words.span),
                stride: self.words.extra + 1,
            };
            match self.kernel {
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx512(proof) => bmi2::scan(proof, &mut finder, places, candidates),
                _ => finder.scan_with(places, candidates, table::Gathered::cell),
            }
        }
        finder.strayed
    }
}
