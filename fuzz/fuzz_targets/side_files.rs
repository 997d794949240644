//! Reads arbitrary bytes as a database's lookup files: from OIDs to identifiers and taxids, from
//! taxids to OIDs, and bit masks of OIDs.
#![no_main]

use fleetblast_db::lookup::oids;
use fleetblast_db::restrict::parse_oid_bits;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for oid in [0, 1, 7, u32::MAX] {
        if let Ok(Some(ids)) = oids::ids_of_sequence(bytes, oid) {
            assert!(ids.iter().map(Vec::len).sum::<usize>() <= bytes.len());
        }
        if let Ok(Some(taxids)) = oids::taxids_of_sequence(bytes, oid) {
            assert!(4 * taxids.len() <= bytes.len());
        }
        if let Ok(list) = oids::oid_list_at(bytes, u64::from(oid)) {
            assert!(4 * list.count() <= bytes.len());
        }
    }
    if let Some(ranges) = parse_oid_bits(bytes) {
        assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
        assert!(ranges.len() <= 4 * bytes.len());
    }
});
