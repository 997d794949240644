//! Reads arbitrary bytes as the mask files of a volume: an index, whose length the first two bytes
//! state, and the data.
#![no_main]

use fleetblast_db::masks::MaskColumn;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((size, bytes)) = bytes.split_first_chunk::<2>() else { return };
    let (index, data) = bytes.split_at(usize::from(u16::from_le_bytes(*size)).min(bytes.len()));
    let Ok(column) = MaskColumn::open(index, data) else { return };
    assert!(4 * u64::from(column.sequence_count()) < index.len() as u64);
    for i in (0..column.sequence_count().min(50)).chain([u32::MAX]) {
        for algorithm in column.algorithms().iter().take(3) {
            if let Ok(ranges) = column.ranges(i, algorithm.id) {
                assert!(8 * ranges.count() <= data.len());
            }
        }
    }
});
