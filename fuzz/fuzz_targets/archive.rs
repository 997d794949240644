//! Reads arbitrary bytes as BLAST archives and as search strategies, text or binary.
#![no_main]

use fleetblast_report::archive_reader::{read_next, read_strategy};
use fleetblast_seq::asn::{AsnBinaryReader, AsnTextReader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut text = AsnTextReader::new(bytes);
    while let Ok(Some(_)) = read_next(&mut text) {}
    let mut binary = AsnBinaryReader::new(bytes);
    while let Ok(Some(_)) = read_next(&mut binary) {}
    let _ = read_strategy(&mut AsnTextReader::new(bytes));
    let _ = read_strategy(&mut AsnBinaryReader::new(bytes));
});
