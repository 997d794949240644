//! Searches seeded by a pattern (PHI-BLAST; pattern.c, phi_lookup.c, phi_gapalign.c, blast_hits.c).
//! Each occurrence in the query is aligned with each one in a subject, and extended to both sides.
//!
//! The hits depend on the number of occurrences in the whole database, which the caller counts
//! ([`Search::with_occurrences`](crate::search::Search::with_occurrences)).

mod in_query;
mod searcher;
mod statistics;
mod traceback;

use crate::hits::SubjectHit;
use crate::order::compare_hits;

pub(crate) use self::searcher::{PatternSearcher, Scratch as SearchScratch};
pub(crate) use self::traceback::{Aligner, QueryStatistics, Scratch as AlignScratch, Traceback};

/// Splits the hits of a query into `count` lists, by the occurrence that each alignment contains.
/// Each list is sorted by its own scores (`PHIBlast_HSPResultsSplit`, blast_hits.c).
pub fn split_by_occurrence(hits: &[SubjectHit], count: usize) -> Vec<Vec<SubjectHit>> {
    let part = |number: usize| {
        let of = |hit: &SubjectHit| {
            let through =
                hit.alignments.iter().filter(|it| it.pattern_occurrence as usize == number);
            let alignments: Vec<_> = through.cloned().collect();
            (!alignments.is_empty()).then_some(SubjectHit::new(hit.oid, alignments))
        };
        let mut part: Vec<SubjectHit> = hits.iter().filter_map(of).collect();
        // Scores alone decide, since e-values fall as scores rise.
        let key = |hit: &SubjectHit| crate::hits::HitKey {
            evalue: 0.0,
            score: hit.alignments[0].score,
            oid: hit.oid,
        };
        part.sort_by(|a, b| compare_hits(&key(a), &key(b)));
        part
    };
    (0..count).map(part).collect()
}
