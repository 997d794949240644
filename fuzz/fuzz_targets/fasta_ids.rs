//! Identifiers: no panics, and what is written in FASTA style reads as the same identifiers.
#![no_main]

use fleetblast_seq::id::{SeqId, best_choice, id_list, parse_word, report_choice, text_choice};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|word: &[u8]| {
    let Ok(ids) = parse_word(word) else { return };
    assert!(!ids.is_empty());
    for choose in [best_choice, report_choice, text_choice] {
        let id = choose(&ids).expect("one of several");
        let _ = (id.accession(), id.accession_version(), id.bare(), id.molecule());
        // Identifiers from printable words come back as they went, unless their parts hold bars.
        let fasta = id.fasta();
        let bars = fasta.iter().filter(|&&c| c == b'|').count();
        let expected = match id {
            SeqId::Local(_) | SeqId::Gi(_) | SeqId::Numbered(..) => 1,
            SeqId::Patent { .. } => 3,
            _ => 2,
        };
        if bars == expected && word.iter().all(u8::is_ascii_graphic) {
            let again = parse_word(&fasta);
            assert!(again.is_ok_and(|again| again.iter().any(|other| other.fasta() == fasta)));
        }
    }
    assert!(!id_list(&ids).is_empty());
});
