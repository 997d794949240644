//! The preliminary search: extends every pair of occurrences in a subject and in the query
//! (`PHIGetGappedScore`, phi_gapalign.c).

use std::ops::Range;

use super::traceback::{Letters, Seeds};
use crate::hits::{PrelimHit, PrelimHsp};
use crate::kernel::Kernel;
use crate::lists::{HitLists, Merger};
use crate::order::compare_hsps;
use crate::params::{ProteinParams, truncate_to_i32};
use crate::pattern::PatternSearch;
use crate::query::Query;
use crate::scores::ScoreRows;
use crate::subjects::Subjects;
use crate::xdrop::traced::DpScratch;
use crate::xdrop::{GapCosts, Scheme};
use fleetblast_seq::frame::Frame;

/// A block of queries prepared for the search.
#[derive(Debug)]
pub(crate) struct PatternSearcher {
    search: PatternSearch,
    queries: Vec<(Seeds, i32)>,
    scores: ScoreRows,
    gaps: GapCosts,
    x_drop: i32,
    kernel: Kernel,
    merger: Merger,
}

/// The work space of a thread.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    dp: Option<DpScratch>,
    letters: Letters,
}

impl PatternSearcher {
    pub fn new(
        search: &PatternSearch,
        queries: &[Query],
        merger: Merger,
        params: &ProteinParams,
        kernel: Kernel,
    ) -> Self {
        let scoring = &params.scoring;
        let bits = params.common.xdrop_gapped_bits;
        let x_drop = truncate_to_i32(bits * std::f64::consts::LN_2 / params.gapped_lambda());
        let seeds = |query: &Query| {
            let seeds = Seeds::new(search, query);
            let cutoff = search.cutoff(params.common.evalue, query, &seeds.occurrences);
            (seeds, cutoff)
        };
        PatternSearcher {
            search: search.clone(),
            queries: merger.chunks().iter().map(|chunk| seeds(&queries[chunk.query])).collect(),
            scores: ScoreRows::of_matrix(&scoring.scores),
            gaps: GapCosts { open: scoring.gap_open, extend: scoring.gap_extend },
            x_drop: x_drop.max(scoring.gap_open + scoring.gap_extend),
            kernel,
            merger,
        }
    }

    /// Returns the merger of the hit lists of several partitions.
    pub fn merger(&self) -> &Merger {
        &self.merger
    }

    /// Searches the subjects with these OIDs.
    pub fn search(
        &self,
        subjects: &dyn Subjects,
        oids: &mut dyn Iterator<Item = u32>,
        scratch: &mut Scratch,
    ) -> HitLists {
        let mut lists = self.merger.empty_lists();
        for oid in oids {
            let residues = subjects.residues(oid);
            let places = self.search.pattern.occurrences(residues);
            if places.is_empty() {
                continue;
            }
            scratch.letters.load(residues);
            for (number, (seeds, cutoff)) in self.queries.iter().enumerate() {
                let hsps = self.extend(seeds, *cutoff, &places, scratch);
                if !hsps.is_empty() {
                    let hit = PrelimHit { oid, evalue: 0.0, hsps };
                    lists.push(number, hit, self.merger.prune_capacity());
                }
            }
        }
        lists
    }

    fn extend(
        &self,
        seeds: &Seeds,
        cutoff: i32,
        places: &[Range<u32>],
        scratch: &mut Scratch,
    ) -> Vec<PrelimHsp> {
        let Scratch { dp, letters } = scratch;
        let dp = dp.get_or_insert_with(|| DpScratch::new(self.kernel));
        let scheme = Scheme { scores: &self.scores, gaps: self.gaps, x_drop: self.x_drop };
        let mut hsps = Vec::new();
        for (q_seed, of_query) in (0..).zip(&seeds.occurrences) {
            for (s_seed, of_subject) in (0..).zip(places) {
                let [left, right] = seeds.beside(
                    of_query,
                    (letters, of_subject),
                    &scheme,
                    dp,
                    [&mut Vec::new(), &mut Vec::new()],
                );
                if left.score + right.score < cutoff {
                    continue;
                }
                // As in BLAST+, the start is one letter too far to the right if there is a letter
                // before the pattern in both sequences. The end counts from the last letter of the
                // pattern.
                let start = |seed: u32, other: u32, used: usize| match (seed, other) {
                    (0, _) | (_, 0) => seed,
                    _ => seed - used as u32 + 1,
                };
                hsps.push(PrelimHsp {
                    score: left.score + right.score,
                    q_start: start(of_query.start, of_subject.start, left.query),
                    q_end: of_query.end - 1 + right.query as u32,
                    s_start: start(of_subject.start, of_query.start, left.subject),
                    s_end: of_subject.end - 1 + right.subject as u32,
                    q_seed,
                    s_seed,
                    evalue: 0.0,
                    linked: 1,
                    context: 0,
                    frame: Frame::Protein,
                });
            }
        }
        hsps.sort_by(compare_hsps);
        hsps
    }
}
