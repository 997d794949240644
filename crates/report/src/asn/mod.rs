//! Writes ASN.1 values as text, as NCBI's toolkit does.

mod print;
mod real;
mod tree;

pub use self::print::{print_asn_text, print_item};
pub use self::tree::AsnValue;
