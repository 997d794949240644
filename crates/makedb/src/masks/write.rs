//! Masks in binary ASN.1: locations (`Seq-loc`, seqloc.asn) and files of masks
//! (`Blast-db-mask-info`, blastdb.asn).

use std::ops::Range;

use fleetblast_seq::asn::ber::Writer;
use fleetblast_seq::id::SeqId;

use super::MaskDescription;
use crate::header::write_seq_id;

/// Tags of the alternatives of `Seq-loc`.
const INTERVAL: u8 = 3;
const PACKED_INTERVALS: u8 = 4;

/// Appends the location of masks: an interval, or several.
pub fn encode_location(id: &SeqId, ranges: &[Range<u32>], bytes: &mut Vec<u8>) {
    let mut writer = Writer::new(bytes);
    match ranges {
        [range] => writer.tagged(INTERVAL, |w| interval(w, id, range)),
        ranges => writer.tagged(PACKED_INTERVALS, |w| {
            w.sequence(|w| ranges.iter().for_each(|range| interval(w, id, range)));
        }),
    }
}

fn interval(w: &mut Writer<'_>, id: &SeqId, range: &Range<u32>) {
    w.sequence(|w| {
        w.tagged(0, |w| w.integer(i64::from(range.start)));
        w.tagged(1, |w| w.integer(i64::from(range.end) - 1));
        w.tagged(3, |w| write_seq_id(w, id));
    });
}

/// Appends a file of masks with one list. `locations` are those of [`encode_location`].
pub fn encode_mask_info(
    algorithm: i64,
    description: &MaskDescription,
    locations: &[u8],
    bytes: &mut Vec<u8>,
) {
    Writer::new(bytes).sequence(|w| {
        w.tagged(0, |w| w.integer(algorithm));
        w.tagged(1, |w| w.integer(description.program));
        w.tagged(2, |w| w.string(&description.options, |_, _| {}));
        w.tagged(3, |w| {
            w.sequence(|w| {
                w.tagged(0, |w| w.sequence(|w| w.elements(locations)));
                w.tagged(1, |w| w.boolean(false));
            });
        });
    });
}
