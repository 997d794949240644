//! Reads arbitrary bytes as an LMDB file.
#![no_main]

use fleetblast_db::lookup::lmdb::LmdbFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(env) = LmdbFile::open(bytes) else { return };
    for name in ["acc2oid", "volinfo", "volname", "taxid2offset"] {
        let Ok(Some(table)) = env.table(name) else { continue };
        let Ok(entries) = env.entries(&table) else { continue };
        let mut last = Vec::new();
        for (count, entry) in entries.map_while(Result::ok).enumerate() {
            // There cannot be more entries than bits.
            assert!(count < 8 * bytes.len());
            last = entry.0.to_vec();
        }
        for key in [&b"P12345"[..], &last] {
            // The table may have the key or not.
            let _ = env.neighbours(&table, key);
            if let Ok(values) = env.values(&table, key) {
                assert!(values.map_while(Result::ok).count() < 8 * bytes.len());
            }
        }
    }
});
