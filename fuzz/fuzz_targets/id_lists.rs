//! Parses arbitrary bytes as lists of identifiers, GIs and taxids, text and binary.
#![no_main]

use fleetblast_db::restrict::list::{self, SeqIdList};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(list) = SeqIdList::parse(bytes) {
        assert!(list.ids.iter().map(Vec::len).sum::<usize>() <= bytes.len());
        assert!(list.ids.len() <= bytes.len());
    }
    if let Ok(gis) = list::parse_gis(bytes) {
        assert!(gis.len() <= bytes.len());
    }
    let _ = list::parse_taxids(bytes);
    let _ = (list::parse_typed_taxids(bytes, b","), list::parse_typed_taxids(bytes, b"\n\r"));
});
