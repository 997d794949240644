//! Ranges of a sequence in ASN.1 (`Seq-interval`, seqloc.asn).

use std::ops::Range;

use fleetblast_seq::id::SeqId;

use super::seq_id;
use super::tree::AsnValue;

/// Makes the intervals of half-open ranges, without strands. A range can end before it begins.
pub(crate) fn intervals(id: &SeqId, ranges: &[Range<u32>]) -> Vec<AsnValue> {
    let id = seq_id::value(id);
    let interval = |range: &Range<u32>| {
        AsnValue::Fields(vec![
            ("from", AsnValue::integer(range.start)),
            ("to", AsnValue::integer(i64::from(range.end) - 1)),
            ("id", id.clone()),
        ])
    };
    ranges.iter().map(interval).collect()
}
