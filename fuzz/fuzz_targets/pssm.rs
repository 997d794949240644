//! Reads arbitrary bytes as a checkpoint of psiblast, text or binary.
#![no_main]

use fleetblast_report::scoremat::{CheckpointError, read_checkpoint};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| match read_checkpoint(bytes) {
    Ok(read) => {
        let length = read.query.len();
        assert!(length > 0 && read.frequencies.is_none_or(|columns| columns.len() == length));
        assert!(read.scores.is_none_or(|(rows, _)| rows.len() == length));
    }
    Err(CheckpointError::Malformed(place)) => assert!(place.at <= bytes.len() as u64),
    Err(_) => {}
});
