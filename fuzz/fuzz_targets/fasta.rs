//! Reads arbitrary bytes as FASTA. Positions must be in range, and records must read the same after
//! they are written.
#![no_main]

use fleetblast_seq::alphabet::{SIZE, decode};
use fleetblast_seq::fasta::{Options, Reader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((flags, text)) = data.split_first() else { return };
    let options = Options { parse_deflines: flags & 1 != 0, ..Options::default() };
    // Skips gap lines such as `>?999999999`, which are valid but would fill the memory.
    if text.windows(2).any(|pair| pair == b">?") {
        return;
    }
    let mut reader = Reader::new(text, "fuzz", options);
    while let Ok(Some(record)) = reader.next_record() {
        assert!(record.residues.iter().all(|&code| code != 0 && usize::from(code) < SIZE));
        let mut end = 0;
        for range in &record.lower_case {
            assert!(range.start >= end && range.start < range.end);
            end = range.end;
        }
        assert!(end as usize <= record.residues.len());
        record.warnings.iter().for_each(|warning| assert!(!warning.to_string().is_empty()));
        if record.residues.is_empty() {
            continue;
        }
        let mut again = b">".to_vec();
        again.extend_from_slice(&record.title);
        again.push(b'\n');
        again.extend(record.residues.iter().map(|&code| decode(code)));
        if again.starts_with(b">?") {
            continue;
        }
        let mut second = Reader::new(&again[..], "again", Options::default());
        let copy = second.next_record().expect("own output is FASTA").expect("one record");
        assert_eq!(copy.residues, record.residues);
        assert_eq!(copy.title, record.title);
        assert!(copy.lower_case.is_empty());
    }
});
