//! Parses arbitrary bytes as identifiers. An identifier that is written in FASTA style must read as
//! the same identifier.
#![no_main]

use fleetblast_seq::id::{
    SeqId, TextRanking, choose_best_id, choose_report_id, choose_text_id, format_id_list,
    parse_fasta_ids,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|word: &[u8]| {
    let Ok(ids) = parse_fasta_ids(word) else { return };
    assert!(!ids.is_empty());
    let rankings = [TextRanking::RefSeqLater, TextRanking::RefSeqEqual];
    let by_text = rankings.map(|ranking| choose_text_id(&ids, ranking));
    for id in [choose_best_id(&ids), choose_report_id(&ids)].into_iter().chain(by_text) {
        let id = id.expect("one of several");
        let _ = (id.accession(), id.accession_version(), id.format_for_report(), id.molecule());
        // Identifiers from printable words must read the same again, unless their parts contain
        // bars.
        let fasta = id.fasta();
        let bars = fasta.iter().filter(|&&c| c == b'|').count();
        let expected = match id {
            SeqId::Local(_) | SeqId::Gi(_) | SeqId::Numbered(..) => 1,
            SeqId::Patent { .. } => 3,
            _ => 2,
        };
        if bars == expected && word.iter().all(u8::is_ascii_graphic) {
            let again = parse_fasta_ids(&fasta);
            assert!(again.is_ok_and(|again| again.iter().any(|other| other.fasta() == fasta)));
        }
    }
    assert!(rankings.iter().all(|&ranking| !format_id_list(&ids, ranking).is_empty()));
});
