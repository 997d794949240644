//! Searches of nucleotides with nucleotides, both strands of a query: seeds, greedy extension or dynamic programming.

mod align;
mod query;
mod searcher;

pub(crate) use align::{AlignScratch, Aligner, Traceback};
pub(crate) use searcher::{SearchScratch, Searcher};
