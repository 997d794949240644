//! Reads and writes PSSMs: psiblast's checkpoints in ASN.1 (`PssmWithParameters`, scoremat.asn),
//! and tables for people.

mod ascii;
mod read;
mod write;

pub use self::ascii::{PssmStatistics, write_ascii_pssm};
pub use self::read::{CheckpointError, ParsedCheckpoint, read_checkpoint};
pub(crate) use self::write::checkpoint_value;
pub use self::write::{PssmDescription, write_checkpoint};
