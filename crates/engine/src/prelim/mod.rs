//! The preliminary search: words, ungapped and score-only gapped extensions (spec 4 and 5).
//!
//! [`Searcher`] holds what is fixed for a block of queries and is shared by all threads. It searches any range of
//! OIDs; the lists of several ranges are put together by [`Searcher::absorb`], and what [`Searcher::choose`] makes of those
//! of a whole database does not depend on how it was cut.

mod band;
mod context;
mod dense;
mod gapped;
mod hitlist;
mod kernel;
mod pieces;
mod profile;
mod searcher;
mod sparse;
mod stretch;
mod subject;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod ungapped;
mod words;

pub use hitlist::HitLists;
pub use kernel::Kernel;
pub use searcher::{Scratch, Searcher};
