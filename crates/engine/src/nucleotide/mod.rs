//! Searches of nucleotide queries, on both strands, against nucleotide subjects.
//!
//! The stages are: seeds and their ungapped extension, gapped extension (greedy or by dynamic
//! programming), and traceback.

mod align;
mod batch_context;
mod gapped;
mod greedy;
mod limits;
mod parts;
mod prepared_strand;
mod query;
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
