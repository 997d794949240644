//! Reads arbitrary bytes as a file of masks for makeblastdb, binary or text. This must not panic or
//! loop forever, and every range must have an end.
#![no_main]

use std::io::Cursor;
use std::path::Path;

use fleetblast_makedb::masks::{MaskFile, SequenceMasks};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(mut file) = MaskFile::new(Cursor::new(data.to_vec()), Path::new("fuzz")) else { return };
    let mut masks = SequenceMasks::default();
    while let Ok(Some(info)) = file.read_next_description() {
        let Ok(id) = masks.add_program_algorithm(info.program, &info.options, b"fuzz") else {
            return;
        };
        let read = file.for_each_mask(|sequence, ranges| {
            assert!(ranges.iter().all(|range| range.end > 0));
            masks.add_ranges(id, sequence, ranges);
        });
        if let Err(error) = read {
            assert!(!error.to_string().is_empty());
            return;
        }
    }
});
