//! Reads arbitrary bytes as BLAST archives and as search strategies, text or binary.
#![no_main]

use fleetblast_report::archive_reader::{read_next, read_strategy};
use fleetblast_seq::asn::AsnReader;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut text = AsnReader::text(bytes);
    while let Ok(Some(_)) = read_next(&mut text, true) {}
    let mut binary = AsnReader::binary(bytes);
    while let Ok(Some(_)) = read_next(&mut binary, true) {}
    let _ = read_strategy(&mut AsnReader::text(bytes));
    let _ = read_strategy(&mut AsnReader::binary(bytes));
});
