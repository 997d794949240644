//! Scoring systems and their statistics: matrices, Karlin–Altschul and Gumbel parameters, length
//! adjustment, e-values; and the programs and releases of BLAST+.
//!
//! This crate scores residues but knows nothing of the source of sequences. Scores are raw
//! integers, `lambda` and `h` are in nats, lengths in residues. Every formula keeps BLAST+'s order
//! of operations, since e-values are compared and printed to the last digit.

mod erfc;
mod exp;
pub mod extended;
pub mod frequencies;
pub mod gumbel;
pub mod karlin;
pub mod lattice;
pub mod length;
pub mod matrix;
pub mod nucleotide;
mod parameters;
pub mod pattern;
pub mod program;
pub mod release;
pub mod scoring;
pub mod sums;
pub mod unified;

mod table;
