//! Decompresses arbitrary bytes in every format. This must not panic or read forever.
#![no_main]

use std::io::{Cursor, Read};
use std::path::Path;

use fleetblast_seq::input::decompress;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(reader) = decompress(Cursor::new(data.to_vec()), Path::new("fuzz"), |_| {}) else {
        return;
    };
    // A few bytes can stand for gigabytes, so only the first megabytes are read.
    let mut text = Vec::new();
    let _ = reader.take(4 << 20).read_to_end(&mut text);
});
