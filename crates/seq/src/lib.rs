//! Sequences in the formats of BLAST+: alphabets, FASTA, identifiers, low-complexity masks.
//!
//! This crate does not depend on databases, scores or searches.

pub mod alphabet;
pub mod asn;
pub mod convert;
pub mod dust;
pub mod fasta;
pub mod frame;
pub mod id;
pub mod input;
pub mod mask;
pub mod msa;
pub mod nucleotide;
pub mod seg;
pub mod translation;
pub mod windowmasker;
