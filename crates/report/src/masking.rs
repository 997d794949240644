//! Masks as ASN.1 text: locations (`Seq-loc`, seqloc.asn) and files of masks
//! (`Blast-db-mask-info`, blastdb.asn).

use std::ops::Range;

use fleetblast_seq::id::SeqId;

use crate::asn::{AsnValue, print_asn_text, print_item};
use crate::seq_align::seq_id;

/// Depth of the locations in a file of masks.
const DEPTH: usize = 3;

/// Appends a location of masks by itself.
pub fn print_location(id: &SeqId, ranges: &[Range<u32>], out: &mut Vec<u8>) {
    print_asn_text("Seq-loc", &location(id, ranges), out);
}

/// Appends the start of a file of masks. The text of the options must not contain quotes.
pub fn print_start(algorithm: i64, program: &str, options: &str, out: &mut Vec<u8>) {
    let text = format!(
        "Blast-db-mask-info ::= {{\n  algo-id {algorithm},\n  algo-program {program},\n  \
         algo-options \"{options}\",\n  masks {{\n    masks {{"
    );
    out.extend(text.into_bytes());
}

/// Appends the location of masks to a file of masks.
pub fn print_element(id: &SeqId, ranges: &[Range<u32>], is_first: bool, out: &mut Vec<u8>) {
    if !is_first {
        out.push(b',');
    }
    print_item(None, &location(id, ranges), DEPTH, out);
}

/// Appends the end of a file of masks.
pub fn print_end(out: &mut Vec<u8>) {
    out.extend_from_slice(b"\n    },\n    more FALSE\n  }\n}\n");
}

fn location(id: &SeqId, ranges: &[Range<u32>]) -> AsnValue {
    let id = seq_id::value(id);
    let interval = |range: &Range<u32>| {
        AsnValue::Fields(vec![
            ("from", AsnValue::integer(range.start)),
            ("to", AsnValue::integer(i64::from(range.end) - 1)),
            ("id", id.clone()),
        ])
    };
    match ranges {
        [range] => AsnValue::choice("int", interval(range)),
        ranges => {
            AsnValue::choice("packed-int", AsnValue::List(ranges.iter().map(interval).collect()))
        }
    }
}
