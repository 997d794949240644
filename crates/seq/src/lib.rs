//! Sequences as BLAST+ sees them: alphabets, FASTA, identifiers, low-complexity masks.
//!
//! This layer knows nothing of databases, scores or searches.

pub mod alphabet;
pub mod id;
pub mod seg;
pub mod mask;
