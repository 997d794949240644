//! Selection and order of the hits of a query, the same for all programs.
//!
//! [`Merger::absorb`] merges the preliminary lists of partitions. The result of
//! [`Merger::select_for_traceback`] for a whole database does not depend on its partitions.
//! [`Selector`] selects among the alignments.

mod chunks;
mod hitlist;
pub(crate) mod linking;
mod merger;
mod select;

pub use hitlist::HitLists;
pub use merger::{Merger, WorstKeptHits};
pub use select::Selector;

pub(crate) use chunks::{FramePart, QueryChunk, join_subject_chunks, masks_of_chunk, split};
