//! Finds the seeds of nucleotide queries in a packed subject and extends them to ungapped segments.
//!
//! Facts are from `na_ungapped.c`, `blast_nalookup.c`, `blast_nascan.c` and `blast_extend.c` of
//! BLAST+ 2.12.0. The steps:
//!
//! 1. Find the subject positions, a stride apart, whose word occurs in a query ([`scan`],
//!    [`table`]).
//! 2. Keep the matches whose flanks complete the word size within unmasked letters ([`words`]).
//! 3. Compare each match with the state of its diagonal ([`diagonals`]). Drop it if its range is
//!    explored. If two hits are needed, store a first hit.
//! 4. Extend without gaps; keep the segment if its score reaches the cut-off ([`extension`]).
//!
//! Results do not depend on earlier subjects. [`diagonals`] explains what that means for BLAST+.

mod bases;
mod bit_instructions;
mod cells;
mod choice;
mod contexts;
mod diagonals;
mod divided;
mod extension;
mod finder;
mod indexing;
mod numbering;
#[cfg(target_arch = "x86_64")]
mod prescreen;
#[cfg(target_arch = "x86_64")]
mod presence;
mod quads;
mod runs;
mod scan;
mod screen_goal;
mod short;
mod sides;
mod subject_scan;
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

use choice::TableKind;
pub(crate) use contexts::{Contexts, NeighbourContext, Neighbours, UngappedLimits};
use diagonals::{Diagonals, DirectDiagonals, HashedDiagonals};
use extension::Extender;
use finder::Finder;
pub(crate) use indexing::Indexing;
use scan::{Candidates, ScanPositions};
use subject_scan::SubjectScan;
use table::Table;
pub(crate) use template::{Template, TemplateKind};
use words::Words;

use crate::kernel::Kernel;

/// Rules for finding seeds, the same for a whole search.
#[derive(Clone, Debug)]
pub(crate) struct SeedRules {
    /// Number of bases that match in a seed, at least 4; with a template, the weight of the
    /// template.
    pub word_size: u32,
    /// Positions that must match in discontiguous megablast; `None` in other searches.
    pub template: Option<Template>,
    /// Greatest distance, in bases, of two hits on a diagonal that make a seed; 0 if one hit is
    /// enough.
    pub window: i32,
    /// Greatest distance, in diagonals, between the two hits that make a seed
    /// (`-off_diagonal_range`).
    pub off_diagonal_range: i32,
    /// Whether the masks of the queries are soft, so that seeds must lie outside of them. Hard
    /// masks need no check.
    pub checks_masks: bool,
    /// Score of two equal bases.
    pub reward: i32,
    /// Score of two different bases.
    pub penalty: i32,
    /// Scores by the blastna codes of query and subject. Scores of sentinels are far below 0.
    pub matrix: [[i32; 16]; 16],
}

/// An ungapped segment of query and subject. Query positions count in the concatenated contexts,
/// subject positions in the part of the subject that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Start in the queries.
    pub q_start: u32,
    /// Start in the subject.
    pub s_start: u32,
    /// Number of bases.
    pub length: u32,
    /// Score of the exact extension, or of the approximate one if that was below the reduced
    /// cut-off.
    pub score: i32,
    /// Start of the seed in the queries.
    pub q_seed: u32,
    /// Start of the seed in the subject.
    pub s_seed: u32,
}

impl SeedRules {
    /// Returns for each lookup table the mask of the positions that must match; `None` for the
    /// table of contiguous words.
    fn masks(&self) -> Vec<Option<u64>> {
        match self.template {
            None => vec![None],
            Some(template) => template.masks().into_iter().map(Some).collect(),
        }
    }
}

impl Segment {
    /// Returns the sort key of a segment. Segments with equal keys stay in the order in which they
    /// were found.
    fn order(&self) -> (Reverse<i32>, u32, Reverse<u32>, u32) {
        (Reverse(self.score), self.s_start, Reverse(self.length), self.q_start)
    }
}

/// The index of the queries. It is made once, and all threads share it.
#[derive(Debug)]
pub(crate) struct Seeds {
    window: i32,
    off_diagonal_range: i32,
    /// Whether BLAST+ keeps the diagonals of these contexts and their neighbours in a hash.
    long: bool,
    words: Words,
    /// One table for each template, or the table of contiguous words.
    tables: Vec<Table>,
    extender: Extender,
    kernel: Kernel,
}

/// Work space of a search thread, for any number of subjects and [`Seeds`].
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    direct: DirectDiagonals,
    lossy: HashedDiagonals,
    candidates: Candidates,
}

impl Seeds {
    /// Indexes the unmasked regions of the contexts.
    ///
    /// `regions` are the unmasked regions of the valid contexts in concatenated coordinates, in
    /// order, as `BLAST_ComplementMaskLocations` makes them.
    pub fn new(
        contexts: &Contexts,
        regions: &[Range<u32>],
        rules: &SeedRules,
        indexing: Indexing,
        kernel: Kernel,
    ) -> Seeds {
        let Indexing { kind, span, hashes_diagonals, in_groups } = indexing;
        let places = words::indexed_positions(contexts, regions, rules.word_size, span);
        let query = contexts.packed();
        let descending = kind == TableKind::Megablast;
        let table = |mask| Table::new(&query, &places, span, mask, descending, kernel);
        let (tables, extender) = rayon::join(
            || rules.masks().into_iter().map(table).collect(),
            || Extender::new(contexts, rules, in_groups),
        );
        Seeds {
            window: rules.window,
            off_diagonal_range: rules.off_diagonal_range,
            long: hashes_diagonals,
            tables,
            extender,
            words: Words::new(places, query, kind, span, rules),
            kernel,
        }
    }

    /// Finds the ungapped segments of a part of a subject and leaves them in `out`. They are sorted
    /// by descending score, start in the subject, descending length, and start in the queries.
    ///
    /// `contexts` are those of [`Seeds::new`]. `regions` are the unmasked ranges of the subject,
    /// ascending, if the database has masks. With such ranges seeds start a little later, even if
    /// nothing is masked. Returns whether an extension might have gone on beyond the known
    /// neighbouring letters.
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
        let scan = SubjectScan { seeds: self, contexts, subject };
        let window = self.window_within(subject.length());
        let reached_unknown_letters = if let Some(division) = self.division(&scan) {
            self.find_divided(scan, window, regions, division, out)
        } else if self.long {
            lossy.start(window);
            self.find(scan, window, regions, lossy, candidates, out)
        } else {
            direct.start(contexts.length(), window);
            let reached_unknown_letters = self.find(scan, window, regions, direct, candidates, out);
            direct.finish(subject.length());
            reached_unknown_letters
        };
        out.sort_by_key(Segment::order);
        reached_unknown_letters
    }

    /// Limits the window to the greatest distance of two hits in a subject, so that
    /// [`DirectDiagonals`] has room for it.
    fn window_within(&self, subject_length: u32) -> i32 {
        let beside = self.off_diagonal_range.max(0).unsigned_abs();
        let longest = subject_length.saturating_add(beside).saturating_add(self.words.length);
        self.window.min(i32::try_from(longest).unwrap_or(i32::MAX))
    }

    /// Returns the positions to scan in each unmasked range of a subject of this length, together
    /// with the end of the range.
    fn scanned_ranges(
        &self,
        length: u32,
        regions: Option<&[Range<u32>]>,
    ) -> impl Iterator<Item = (ScanPositions, u32)> {
        let whole = regions.is_none().then_some(0..length);
        // A seed begins up to `extra` bases before its indexed word, but not within a mask.
        let lead = if regions.is_some() { self.words.extra } else { 0 };
        let (span, stride) = (self.words.span, self.words.extra + 1);
        let regions = whole.into_iter().chain(regions.unwrap_or_default().iter().cloned());
        regions.map(move |region| {
            let end = region.end.min(length);
            let start = region.start.saturating_add(lead);
            (ScanPositions { start, end: (end + 1).saturating_sub(span), stride }, end)
        })
    }

    fn find<D: Diagonals>(
        &self,
        scan: SubjectScan<'_>,
        window: i32,
        regions: Option<&[Range<u32>]>,
        diagonals: &mut D,
        candidates: &mut Candidates,
        out: &mut Vec<Segment>,
    ) -> bool {
        let (end, reached_unknown_letters) = (0, false);
        let mut finder = Finder { scan, window, end, diagonals, out, reached_unknown_letters };
        for (places, end) in self.scanned_ranges(scan.subject.length(), regions) {
            finder.end = end;
            scan.scan(places, candidates, &mut finder);
        }
        finder.reached_unknown_letters
    }
}
