//! Queries ready for a search: masked, with their statistics (rules 2).

use std::ops::Range;

use fleetblast_seq::frame::Frame;
use fleetblast_seq::{alphabet, mask, seg};
use fleetblast_stats::karlin::{self, KarlinBlock};
use fleetblast_stats::length::{self, LengthModel};
use serde::{Deserialize, Serialize};

use crate::params::{DatabaseTotals, Params};

/// A query as read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryInput {
    /// NCBIstdaa codes, already cut to `-query_loc`.
    pub residues: Vec<u8>,
    /// Lower-case stretches, relative to `residues`.
    pub lower_case: Vec<Range<u32>>,
}

impl QueryInput {
    fn length(&self) -> u32 {
        self.residues.len() as u32
    }
}

/// A query ready for searching.
#[derive(Clone, Debug)]
pub struct Query {
    /// Letters that were read.
    pub length: u32,
    /// Its readings, each of which is searched: a protein has one. Never empty.
    pub contexts: Vec<Context>,
}

/// One reading of a query, with its own masks and statistics.
#[derive(Clone, Debug)]
pub struct Context {
    /// How the query is read.
    pub frame: Frame,
    /// Residues without masks, `O` replaced by `X`.
    pub unmasked: Vec<u8>,
    /// Residues for scoring: `unmasked`, with hard-masked residues replaced by `X`.
    pub residues: Vec<u8>,
    /// Lower-case stretches as read.
    pub lower_case: Vec<Range<u32>>,
    /// Masked intervals (SEG and lower case), combined and ascending, for the look-up table and for display.
    pub masks: Vec<Range<u32>>,
    /// Ungapped statistics of this context's composition; `None` makes it find nothing.
    pub karlin: Option<KarlinBlock>,
    /// Length adjustment of the footer's statistics.
    pub length_adjustment: i32,
    /// Effective search space (or `-searchsp`).
    pub search_space: i64,
}

/// What of a [`Query`] takes time to compute, for others that search the same query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    contexts: Vec<ContextFindings>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ContextFindings {
    masks: Vec<Range<u32>>,
    karlin: Option<KarlinBlock>,
    length_adjustment: i32,
    search_space: i64,
}

impl Query {
    /// Masks a query and computes its statistics for a search of a database with the given totals.
    pub fn new(input: &QueryInput, params: &Params, totals: &DatabaseTotals) -> Query {
        let read = |(frame, unmasked)| Context::new(frame, unmasked, input, params, totals);
        Query { length: input.length(), contexts: readings(input).map(read).collect() }
    }

    /// Whether the query that [`Query::new`] makes [can be searched](Query::is_searchable), told in a small part of the time.
    pub fn has_statistics(input: &QueryInput, params: &Params) -> bool {
        readings(input).any(|(_, unmasked)| {
            if params.soft_masking {
                return karlin::has_ungapped(&unmasked, &params.scoring.scores);
            }
            let masks = masks(&unmasked, &input.lower_case, params);
            let residues = hard_mask(&unmasked, &masks, params);
            karlin::has_ungapped(&residues, &params.scoring.scores)
        })
    }

    /// The query that [`Query::new`] makes with the same parameters, from what was found then.
    pub fn again(input: &QueryInput, params: &Params, findings: Findings) -> Query {
        let read = |((frame, unmasked), findings)| {
            Context::again(frame, unmasked, input, params, findings)
        };
        let contexts = readings(input).zip(findings.contexts).map(read).collect();
        Query { length: input.length(), contexts }
    }

    /// Whether it has statistics, without which it finds nothing.
    pub fn is_searchable(&self) -> bool {
        self.contexts.iter().any(|context| context.karlin.is_some())
    }

    /// What [`Query::again`] takes.
    pub fn findings(&self) -> Findings {
        Findings { contexts: self.contexts.iter().map(Context::findings).collect() }
    }

    /// The first context, whose statistics reports show for the query.
    pub fn first(&self) -> &Context {
        &self.contexts[0]
    }
}

impl Context {
    fn new(
        frame: Frame,
        unmasked: Vec<u8>,
        input: &QueryInput,
        params: &Params,
        totals: &DatabaseTotals,
    ) -> Context {
        let masks = masks(&unmasked, &input.lower_case, params);
        let residues = hard_mask(&unmasked, &masks, params);
        let karlin = karlin::ungapped(&residues, &params.scoring.scores);
        let (length_adjustment, search_space) =
            search_space(residues.len(), karlin.as_ref(), params, totals);
        let findings = ContextFindings { masks, karlin, length_adjustment, search_space };
        Context::of(frame, unmasked, residues, input, findings)
    }

    fn again(
        frame: Frame,
        unmasked: Vec<u8>,
        input: &QueryInput,
        params: &Params,
        findings: ContextFindings,
    ) -> Context {
        let residues = hard_mask(&unmasked, &findings.masks, params);
        Context::of(frame, unmasked, residues, input, findings)
    }

    fn of(
        frame: Frame,
        unmasked: Vec<u8>,
        residues: Vec<u8>,
        input: &QueryInput,
        findings: ContextFindings,
    ) -> Context {
        let ContextFindings { masks, karlin, length_adjustment, search_space } = findings;
        let lower_case = input.lower_case.clone();
        Context {
            frame,
            unmasked,
            residues,
            lower_case,
            masks,
            karlin,
            length_adjustment,
            search_space,
        }
    }

    fn findings(&self) -> ContextFindings {
        let &Context { karlin, length_adjustment, search_space, .. } = self;
        ContextFindings { masks: self.masks.clone(), karlin, length_adjustment, search_space }
    }
}

/// The readings of a query, in the order of their numbers: a protein is read as it is.
fn readings(input: &QueryInput) -> impl Iterator<Item = (Frame, Vec<u8>)> {
    std::iter::once((Frame::Protein, searchable(&input.residues)))
}

/// Residues that the matrices know.
fn searchable(residues: &[u8]) -> Vec<u8> {
    residues.iter().map(|&code| if code == alphabet::O { alphabet::X } else { code }).collect()
}

/// Length adjustment and effective search space of a query (rules 1.5); an unsearchable query has neither.
fn search_space(
    len: usize,
    karlin: Option<&KarlinBlock>,
    params: &Params,
    totals: &DatabaseTotals,
) -> (i32, i64) {
    let Some(karlin) = karlin else { return (0, 0) };
    let (block, row) = if params.ungapped {
        (*karlin, &params.scoring.ungapped)
    } else {
        (params.scoring.gapped.block(), &params.scoring.gapped)
    };
    let model = LengthModel {
        k: block.k,
        log_k: block.log_k,
        alpha_over_lambda: row.alpha / block.lambda,
        beta: row.beta,
    };
    let adjustment = model.adjustment(len as i32, totals.space_residues, totals.sequences);
    let space = params.search_space.unwrap_or_else(|| {
        length::effective_search_space(
            len as i32,
            totals.space_residues,
            totals.sequences,
            adjustment,
        )
    });
    (adjustment, space)
}

/// The masked intervals of a query: SEG and, if asked for, lower case.
pub(crate) fn masks(
    residues: &[u8],
    lower_case: &[Range<u32>],
    params: &Params,
) -> Vec<Range<u32>> {
    let mut intervals = params.seg.as_ref().map(|seg| seg::mask(residues, seg)).unwrap_or_default();
    if params.lcase_masking {
        intervals.extend_from_slice(lower_case);
    }
    mask::combine(intervals)
}

/// The residues with masked ones replaced by `X`, unless masks are soft.
pub(crate) fn hard_mask(residues: &[u8], masks: &[Range<u32>], params: &Params) -> Vec<u8> {
    let mut masked = residues.to_vec();
    if !params.soft_masking {
        for range in masks {
            masked[range.start as usize..range.end as usize].fill(alphabet::X);
        }
    }
    masked
}
