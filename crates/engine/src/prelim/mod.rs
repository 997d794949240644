//! The preliminary search: words, ungapped and score-only gapped extensions (rules 4 and 5).
//!
//! [`Searcher`] holds what is fixed for a block of queries and is shared by all threads. It searches any range of
//! OIDs; the lists of several ranges are put together by [`Merger::absorb`], and what [`Merger::choose`] makes of those
//! of a whole database does not depend on how it was cut.

mod block;
mod context;
mod dense;
mod gapped;
mod hitlist;
mod merger;
mod pieces;
mod profile;
mod searcher;
mod sparse;
mod stretch;
mod subject;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod ungapped;
mod words;

pub use hitlist::HitLists;
pub use merger::{Cut, Merger};
pub use searcher::{Scratch, Searcher};
