//! Parses arbitrary bytes as definition lines. The result is lines, or an error with a place within
//! the bytes.
#![no_main]

use fleetblast_db::defline;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = defline::parse_deflines(bytes) {
        assert!(error.offset <= bytes.len());
    }
});
