//! The options of the programs: a table for each, the parser that reads a command line by its
//! table, and the help texts made from it.
//!
//! A program is a [`spec::Program`], in a file such as [`blastp`] for its own options; search
//! programs share the options of [`search`]. An option is a constant ([`opt::Opt`]). [`parse`]
//! reads a command line, [`usage`] prints the help, and [`values`] returns the values of options in
//! their types.

pub mod blast_formatter;
pub mod blastdb_aliastool;
pub mod blastdbcheck;
pub mod blastdbcmd;
pub mod blastn;
pub mod blastp;
pub mod blastx;
pub mod cat;
pub mod compat;
pub mod constraint;
pub mod convert2blastmask;
pub mod dbcheck;
pub mod doctor;
pub mod dustmasker;
pub mod expand;
pub mod generate;
pub mod keygen;
pub mod later;
pub(crate) mod load;
pub mod makeblastdb;
pub mod masker;
pub mod nearest;
pub mod number;
pub mod opt;
pub mod parse;
pub mod psiblast;
pub mod receive;
pub mod refused;
pub mod report;
pub mod search;
pub mod segmasker;
pub mod simulate;
pub mod spec;
pub mod tblastn;
pub mod tblastx;
pub mod typed;
pub mod usage;
pub mod values;
pub mod version;
pub mod wrap;
pub mod wrapping;
pub mod xml;

use fleetblast_stats::release::Release;

/// The release of BLAST+ that the options follow.
pub(crate) const RELEASE: &Release = &Release::V2_12_0;
/// Value of [`own_version`](spec::Program::own_version) for programs that have the version of their
/// release, but whose descriptions lack it.
const UNDESCRIBED_RELEASE: &str = "";

#[cfg(test)]
pub(crate) mod tests;
