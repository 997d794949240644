//! Selection and order of the hits of a query, the same for all programs.
//!
//! [`Merger::absorb`] merges the preliminary lists of partitions. The result of [`Merger::choose`]
//! for a whole database does not depend on its partitions. [`Selector`] selects among the
//! alignments.

mod hitlist;
pub(crate) mod linking;
mod merger;
mod pieces;
mod select;

pub use hitlist::HitLists;
pub use merger::{Cut, Merger};
pub use select::Selector;

pub(crate) use pieces::{FramePart, Piece, join_subject_chunks, masks_of_piece, split};
