//! Reads arbitrary bytes as ISAM files. The first byte selects the kind of index, whose ten words
//! are valid; the other bytes are the data.
#![no_main]

use fleetblast_db::lookup::isam::{NumericIndex, StringIndex};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, data)) = bytes.split_first() else { return };
    let size = match kind % 3 {
        0 => 8,
        1 => 12,
        _ => 1,
    };
    let kind = [0u32, 5, 2][usize::from(kind % 3)];
    let words = [1, kind, data.len() as u32, (data.len() / size) as u32, 1, 64, 4096, 0, 0, 0];
    let index: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    if let Ok(numbers) = NumericIndex::open(&index, data) {
        for i in 0..numbers.len().min(100) {
            let _ = numbers.oid_of_key(numbers.get(i).0);
        }
        let _ = numbers.check_order();
        // There are at most two neighbours, even if the entries are not in order.
        assert!(numbers.neighbours(i64::from(kind) << 20).count() <= 2);
    }
    if let Ok(strings) = StringIndex::open(&index, data) {
        let keys: Vec<_> = strings.entries().map_while(Result::ok).take(100).collect();
        for (key, _) in keys {
            let _ = (strings.oids_of_key(key), strings.neighbours(key));
        }
        let _ = (strings.check_order(), strings.neighbours(b"p12345"));
    }
    let _ = (NumericIndex::open(data, bytes), StringIndex::open(data, bytes));
});
