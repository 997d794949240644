//! Lists of identifiers, GIs and taxids, text and binary.
#![no_main]

use fleetblast_db::restrict::list::{self, SeqIdList};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(list) = SeqIdList::parse(bytes) {
        assert!(list.ids.iter().map(Vec::len).sum::<usize>() <= bytes.len());
        assert!(list.ids.len() <= bytes.len());
    }
    if let Ok(gis) = list::gis(bytes) {
        assert!(gis.len() <= bytes.len());
    }
    let _ = list::taxids(bytes);
    let _ = (list::typed_taxids(bytes, b","), list::typed_taxids(bytes, b"\n\r"));
});
