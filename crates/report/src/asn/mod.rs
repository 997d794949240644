//! Writes ASN.1 values as text, BER, JSON and XML, as NCBI's toolkit does; reads such values, and
//! names the fields of sequences.

mod ber;
mod interval;
mod json;
mod print;
mod read;
mod real;
mod schema;
pub mod seq_data;
pub mod seq_id;
pub(crate) mod sequence;
mod tree;
mod xml;

pub(crate) use self::ber::write_ber;
pub(crate) use self::interval::intervals;
pub(crate) use self::json::print_json_item;
pub use self::print::print_asn_text;
pub(crate) use self::print::print_item;
pub(crate) use self::read::read_value;
pub(crate) use self::schema::{ALIGNMENT, ANNOTATION_DESCRIPTION, AsnType, LOCATION, SEQUENCE};
pub use self::tree::AsnValue;
pub(crate) use self::xml::{print_xml_element, start_xml};
