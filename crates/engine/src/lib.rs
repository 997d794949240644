//! One search: prepared queries and a range of subjects to preliminary hits, chosen hits to
//! alignments.
//!
//! The engine knows no files, formats, threads or ranks. All statistics that depend on the whole
//! database come from outside ([`params::DatabaseTotals`]), and so does the list of hits chosen for
//! traceback, so that a search of any partition of a database, merged, equals the search of the
//! whole.

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
mod scores;
pub mod search;
pub mod subjects;
mod xdrop;
