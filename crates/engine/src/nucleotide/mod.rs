//! Searches of nucleotides with nucleotides, both strands of a query: seeds, greedy extension or
//! dynamic programming.

mod align;
mod batch_context;
mod gapped;
mod greedy;
mod limits;
mod parts;
mod query;
mod reading;
mod searcher;
mod seeds;
mod stage;
#[cfg(test)]
pub(crate) mod testing;
mod traceback;
mod ungapped;

pub(crate) use align::{AlignScratch, Aligner, QueryStatistics, Traceback};
pub(crate) use batch_context::{BatchContext, TracebackContext};
pub(crate) use searcher::{NucleotideSearcher, SearchScratch};
