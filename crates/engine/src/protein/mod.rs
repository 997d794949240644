//! Protein searches: neighbourhood words, scores by matrix or by position, composition adjustment.

mod composition;
pub(crate) mod linking;
pub(crate) mod prelim;
pub(crate) mod query;
pub(crate) mod traceback;

pub(crate) use prelim::{even_linking, least_cutoff};
