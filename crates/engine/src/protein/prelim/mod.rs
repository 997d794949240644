//! The preliminary search: seeds, ungapped and score-only gapped extensions (rules 4 and 5).
//!
//! [`ProteinSearcher`] holds the data of a block of queries, which all threads share. It searches
//! any range of OIDs.

mod block;
mod chains;
mod context;
mod cost;
mod dense;
mod filtered_diagonal;
mod gapped;
mod loaded;
mod rescoring;
mod searcher;
mod sparse;
mod stage;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod translated;
mod ungapped;
mod words;

pub(crate) use context::{even_linking, least_cutoff};
pub use searcher::{ProteinScratch, ProteinSearcher};
