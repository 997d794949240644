//! Writes ASN.1 values as text, in BER, as JSON and as XML, as NCBI's toolkit does, and names the
//! fields of sequences.

mod ber;
mod json;
mod print;
mod real;
mod schema;
pub(crate) mod sequence;
mod tree;
mod xml;

pub use self::ber::write_ber;
pub use self::json::print_json_item;
pub use self::print::{print_asn_text, print_item};
pub use self::schema::{ALIGNMENT, ANNOTATION_DESCRIPTION, AsnType, LOCATION};
pub use self::tree::AsnValue;
pub use self::xml::{print_xml_element, start_xml};
