//! The search engine: from prepared queries and a range of subjects to preliminary hits, and from
//! selected hits to alignments.
//!
//! The engine knows no files, formats, threads or ranks. All statistics that depend on the whole
//! database come from outside ([`params::DatabaseTotals`]), and so does the list of hits selected
//! for traceback. So the merged searches of all partitions equal the search of the whole database.

pub mod batches;
pub mod containment;
pub mod filters;
pub mod grouping;
pub mod hits;
pub mod kernel;
pub mod lists;
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
pub mod search;
pub mod subjects;
#[cfg(test)]
mod testing;
mod xdrop;
