//! Masks in ASN.1: locations (`Seq-loc`, seqloc.asn) and files of masks (`Blast-db-mask-info`,
//! blastdb.asn), as text, in BER and as XML.

use std::ops::Range;

use fleetblast_seq::asn::ber::Writer;
use fleetblast_seq::id::SeqId;

use crate::asn::{
    AsnValue, LOCATION, intervals, print_asn_text, print_item, print_xml_element, start_xml,
    write_ber,
};
use crate::text::append_escaped_xml_byte;

/// Depth of the locations in a file of masks as text.
const TEXT_DEPTH: usize = 3;
/// Depth of the locations in a file of masks in XML.
const XML_DEPTH: usize = 4;

/// The encoding of masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskEncoding {
    /// BER.
    Binary,
    /// ASN.1 text.
    Text,
    /// XML.
    Xml,
}

/// Appends a location of masks by itself. A range can end before it begins.
pub fn write_location(
    id: &SeqId,
    ranges: &[Range<u32>],
    encoding: MaskEncoding,
    out: &mut Vec<u8>,
) {
    let location = location(id, ranges);
    match encoding {
        MaskEncoding::Binary => write_ber(&location, &LOCATION, out),
        MaskEncoding::Text => print_asn_text("Seq-loc", &location, out),
        MaskEncoding::Xml => {
            start_xml("Seq-loc", "Seqloc", out);
            print_xml_element(&location, &LOCATION, 0, out);
        }
    }
}

/// The algorithm of a file of masks.
#[derive(Clone, Debug)]
pub struct MaskAlgorithm {
    /// Number that identifies the list of masks in the file.
    pub id: i64,
    /// NCBI's number of the program.
    pub program: i64,
    /// NCBI's name of the program.
    pub name: &'static str,
    /// The options of the program.
    pub options: Vec<u8>,
}

/// Writer of a file of masks with one list.
#[derive(Debug)]
pub struct MaskFileWriter {
    algorithm: MaskAlgorithm,
    encoding: MaskEncoding,
    has_locations: bool,
    /// Encoded locations so far. Only a binary file needs them, because it is written as a whole at
    /// the end.
    locations: Vec<u8>,
}

impl MaskFileWriter {
    /// Creates a writer of an empty file.
    pub fn new(algorithm: MaskAlgorithm, encoding: MaskEncoding) -> Self {
        Self { algorithm, encoding, has_locations: false, locations: Vec::new() }
    }

    /// Appends the location of masks to a file.
    pub fn add(&mut self, id: &SeqId, ranges: &[Range<u32>], out: &mut Vec<u8>) {
        let location = location(id, ranges);
        let is_first = !std::mem::replace(&mut self.has_locations, true);
        match self.encoding {
            MaskEncoding::Binary => write_ber(&location, &LOCATION, &mut self.locations),
            MaskEncoding::Text => {
                if is_first {
                    self.start_text(out);
                } else {
                    out.push(b',');
                }
                print_item(None, &location, TEXT_DEPTH, out);
            }
            MaskEncoding::Xml => {
                if is_first {
                    self.start_xml(out);
                    out.push(b'\n');
                }
                print_xml_element(&location, &LOCATION, XML_DEPTH, out);
            }
        }
    }

    /// Appends the end of a file.
    pub fn end(self, out: &mut Vec<u8>) {
        match self.encoding {
            MaskEncoding::Binary => self.write_binary(out),
            MaskEncoding::Text => {
                if !self.has_locations {
                    self.start_text(out);
                }
                out.extend_from_slice(b"\n    },\n    more FALSE\n  }\n}\n");
            }
            MaskEncoding::Xml => {
                if self.has_locations {
                    out.extend_from_slice(b"      ");
                } else {
                    self.start_xml(out);
                }
                out.extend_from_slice(
                    b"</Blast-mask-list_masks>\n      <Blast-mask-list_more value=\"false\"/>\n    \
                      </Blast-mask-list>\n  </Blast-db-mask-info_masks>\n</Blast-db-mask-info>\n",
                );
            }
        }
    }

    fn start_text(&self, out: &mut Vec<u8>) {
        let MaskAlgorithm { id, name, options, .. } = &self.algorithm;
        let start = format!("Blast-db-mask-info ::= {{\n  algo-id {id},\n  algo-program {name},");
        out.extend(start.into_bytes());
        print_item(Some("algo-options"), &AsnValue::text(options), 1, out);
        out.extend_from_slice(b",\n  masks {\n    masks {");
    }

    fn start_xml(&self, out: &mut Vec<u8>) {
        let MaskAlgorithm { id, program, name, options } = &self.algorithm;
        start_xml("Blast-db-mask-info", "BlastDL", out);
        let start = format!(
            "<Blast-db-mask-info>\n  <Blast-db-mask-info_algo-id>{id}</Blast-db-mask-info_algo-id>\n  \
             <Blast-db-mask-info_algo-program>\n    \
             <Blast-filter-program value=\"{name}\">{program}</Blast-filter-program>\n  \
             </Blast-db-mask-info_algo-program>\n  <Blast-db-mask-info_algo-options>"
        );
        out.extend(start.into_bytes());
        options.iter().for_each(|&byte| append_escaped_xml_byte(byte, out));
        out.extend_from_slice(
            b"</Blast-db-mask-info_algo-options>\n  <Blast-db-mask-info_masks>\n    \
              <Blast-mask-list>\n      <Blast-mask-list_masks>",
        );
    }

    fn write_binary(&self, out: &mut Vec<u8>) {
        Writer::new(out).sequence(|w| {
            w.tagged(0, |w| w.integer(self.algorithm.id));
            w.tagged(1, |w| w.integer(self.algorithm.program));
            w.tagged(2, |w| w.string(&self.algorithm.options, |_, _| {}));
            w.tagged(3, |w| {
                w.sequence(|w| {
                    w.tagged(0, |w| w.sequence(|w| w.elements(&self.locations)));
                    w.tagged(1, |w| w.boolean(false));
                });
            });
        });
    }
}

fn location(id: &SeqId, ranges: &[Range<u32>]) -> AsnValue {
    let mut intervals = intervals(id, ranges);
    match intervals.len() {
        1 => AsnValue::choice("int", intervals.remove(0)),
        _ => AsnValue::choice("packed-int", AsnValue::List(intervals)),
    }
}
