//! Reads arbitrary bytes as FASTA by the rules of databases. All codes must belong to the alphabet.
#![no_main]

use fleetblast_seq::alphabet::SIZE;
use fleetblast_seq::fasta::{IdEnd, Options, Reader, Rules};
use fleetblast_seq::id::Molecule;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((flags, text)) = data.split_first() else { return };
    // Skips gap lines such as `>?999999999`, which are valid but would fill the memory.
    if text.windows(2).any(|pair| pair == b">?") {
        return;
    }
    let (molecule, end) = match flags & 2 {
        0 => (Molecule::Protein, SIZE),
        _ => (Molecule::Nucleotide, 16),
    };
    let options = Options {
        parse_deflines: flags & 1 != 0,
        rules: Rules::Database(molecule),
        id_end: if flags & 4 == 0 { IdEnd::Bracket } else { IdEnd::NonAscii },
        checks_whole_ids: flags & 8 != 0,
    };
    let mut reader = Reader::new(text, "fuzz", options).with_lines_before(5);
    while let Ok(Some(record)) = reader.next_record() {
        assert!(record.line > 5 && record.lower_case.is_empty());
        assert!(record.residues.iter().all(|&code| usize::from(code) < end));
        record.warnings.iter().for_each(|warning| assert!(!warning.to_string().is_empty()));
    }
});
