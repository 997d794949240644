//! Writes ASN.1 values as text, as NCBI's toolkit does, and names the fields of sequences.

mod print;
mod real;
pub(crate) mod sequence;
mod tree;

pub use self::print::{print_asn_text, print_item};
pub use self::tree::AsnValue;
