//! Queries ready for a search: masked, with their statistics.

use std::ops::Range;

use fleetblast_stats::karlin::KarlinBlock;

/// A query as read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryInput {
    /// NCBIstdaa codes, already cut to `-query_loc`.
    pub residues: Vec<u8>,
    /// Lower-case stretches, relative to `residues`.
    pub lower_case: Vec<Range<u32>>,
}

/// A query ready for searching (spec 2).
#[derive(Clone, Debug)]
pub struct Query {
    /// Residues without masks, `O` replaced by `X`.
    pub unmasked: Vec<u8>,
    /// Residues for scoring: `unmasked`, with hard-masked residues replaced by `X`.
    pub residues: Vec<u8>,
    /// Masked intervals (SEG and lower case), combined and ascending, for the look-up table and for display.
    pub masks: Vec<Range<u32>>,
    /// Ungapped statistics of this query's composition; `None` makes it find nothing.
    pub karlin: Option<KarlinBlock>,
    /// Length adjustment of the footer's statistics.
    pub length_adjustment: i32,
    /// Effective search space (or `-searchsp`).
    pub search_space: i64,
}
