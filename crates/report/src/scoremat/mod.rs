//! Files of position-specific matrices: checkpoints in ASN.1 (`PssmWithParameters`, scoremat.asn),
//! and tables for people.

mod ascii;
mod print;
mod read;
mod real;
mod tree;
mod write;

pub use self::ascii::{Statistics, table};
pub use self::read::{ReadCheckpoint, ReadError, read};
pub use self::tree::Value;
pub use self::write::{Checkpoint, checkpoint};
