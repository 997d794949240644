//! Searches of protein with protein: words of the neighbourhood, a matrix or rows by position,
//! composition adjustment.

mod composition;
pub(crate) mod prelim;
pub(crate) mod query;
pub(crate) mod traceback;
