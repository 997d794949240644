//! The search engine. It finds the preliminary hits of prepared queries in a range of subjects, and
//! aligns the selected hits.
//!
//! The engine knows no files, formats or ranks. It starts no threads; those of the caller's pool
//! share long nucleotide queries and subjects. The caller provides the statistics of the
//! whole database ([`params::DatabaseTotals`]) and the list of hits selected for traceback. The
//! merged results of all partitions therefore equal the results of one search of the whole
//! database.

pub mod batches;
pub mod containment;
pub mod filters;
pub mod grouping;
pub mod hits;
pub mod kernel;
pub mod lists;
#[cfg(target_arch = "aarch64")]
mod neon;
mod nucleotide;
pub mod order;
pub mod params;
pub mod pattern;
pub mod phi;
mod protein;
pub mod pssm;
pub mod query;
mod ranges;
mod rescoring;
mod scores;
pub mod scratch_pool;
pub mod search;
pub mod subjects;
#[cfg(test)]
mod testing;
mod xdrop;
