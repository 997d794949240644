//! What is kept of the hits of a query, and in which order: the same for all programs.
//!
//! The preliminary lists of ranges of OIDs are put together by [`Merger::absorb`], and what
//! [`Merger::choose`] makes of those of a whole database does not depend on how it was cut.
//! [`Selector`] chooses among their alignments.

mod hitlist;
pub(crate) mod linking;
mod merger;
mod pieces;
mod select;

pub use hitlist::HitLists;
pub use merger::{Cut, Merger};
pub use select::Selector;

pub(crate) use pieces::{Piece, join_subject_chunks, masks_of_piece, split};
