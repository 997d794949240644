//! Chooses one of several identifiers of a sequence (`Seq_id.cpp`).

use super::{NumberKind, SeqId, TextKind};

/// The order in which [`choose_text_id`] prefers databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRanking {
    /// Accessions of RefSeq come after those of other databases.
    RefSeqLater,
    /// Accessions of RefSeq are equal to those of other databases; those of PRF come later.
    RefSeqEqual,
}

/// Chooses the identifier with the lowest text score, the first one of equals. The tabular formats
/// print its accession. Accessions come first, in the order of the ranking, then local identifiers,
/// general ones and gi.
pub fn choose_text_id(ids: &[SeqId], ranking: TextRanking) -> Option<&SeqId> {
    let score = match ranking {
        TextRanking::RefSeqLater => text_score,
        TextRanking::RefSeqEqual => later_text_score,
    };
    ids.iter().min_by_key(|id| adjust_score(score(id), id))
}

/// Chooses the identifier with the lowest rank, the first one of equals. BLAST+ uses it to name a
/// sequence internally. A gi comes first, then accessions; local and general identifiers come last.
pub fn choose_best_id(ids: &[SeqId]) -> Option<&SeqId> {
    ids.iter().min_by_key(|id| adjust_score(best_rank(id), id))
}

/// Chooses the identifier with the highest rank, the first one of equals. The pairwise report, the
/// description table and links show it.
pub fn choose_report_id(ids: &[SeqId]) -> Option<&SeqId> {
    ids.iter().min_by_key(|id| -adjust_score(best_rank(id), id))
}

/// Chooses the identifier that names a sequence in SAM. It is the result of [`choose_text_id`] if
/// this has an accession or a name. Otherwise it is the result of [`choose_best_id`], by which
/// alignments identify the sequence (`CSAM_CIGAR_Formatter::AdjustSeqIdType`, sam_formatter.cpp;
/// `eGetId_ForceAcc`, sequence.cpp).
pub fn choose_sam_id(ids: &[SeqId], ranking: TextRanking) -> Option<&SeqId> {
    match choose_text_id(ids, ranking) {
        Some(id @ SeqId::Text { .. }) => Some(id),
        _ => choose_best_id(ids),
    }
}

/// Chooses the identifier with the lowest rank for FASTA headers, the first one of equals.
fn fasta_choice(ids: &[SeqId], is_protein: bool) -> Option<&SeqId> {
    ids.iter().min_by_key(|id| adjust_score(fasta_rank(id, is_protein), id))
}

/// Returns the number of the first gi; 0 if there is none.
pub fn first_gi(ids: &[SeqId]) -> i64 {
    ids.iter().find_map(|id| if let SeqId::Gi(gi) = id { Some(*gi) } else { None }).unwrap_or(0)
}

/// Formats the identifiers as `qseqid` and `sseqid` print them: the gi, if any, and the result of
/// [`choose_text_id`], joined by a bar. Returns `Unknown` if there are no identifiers. Local
/// identifiers lose their tag.
pub fn format_id_list(ids: &[SeqId], ranking: TextRanking) -> Vec<u8> {
    let list = behind_gi(ids, choose_text_id(ids, ranking), |id| match id {
        SeqId::Local(local) => local.text(),
        _ => id.fasta(),
    });
    if list.is_empty() { b"Unknown".to_vec() } else { list }
}

/// Formats the identifiers for a FASTA header with long identifiers (`CSeq_id::WriteAsFasta`). The
/// result is the gi, if any, and the identifier with the lowest rank for such headers, joined by a
/// bar.
pub fn format_fasta_ids(ids: &[SeqId], is_protein: bool) -> Vec<u8> {
    behind_gi(ids, fasta_choice(ids, is_protein), SeqId::fasta)
}

/// Joins the first gi, if any, and the chosen identifier by a bar. Does not repeat a chosen gi.
fn behind_gi(ids: &[SeqId], chosen: Option<&SeqId>, print: impl Fn(&SeqId) -> Vec<u8>) -> Vec<u8> {
    let is_gi = |id: &&SeqId| matches!(id, SeqId::Gi(_));
    let gi = ids.iter().find(is_gi).map(SeqId::fasta);
    let chosen = chosen.filter(|id| !is_gi(id)).map(print);
    gi.into_iter().chain(chosen).collect::<Vec<_>>().join(&b'|')
}

fn text_score(id: &SeqId) -> i32 {
    match id {
        SeqId::Numbered(NumberKind::Import, _) | SeqId::Gi(_) => 20,
        SeqId::General { .. } | SeqId::Numbered(..) => 15,
        SeqId::Local(_) | SeqId::Patent { .. } => 10,
        SeqId::Text { kind: TextKind::Gpipe | TextKind::NamedAnnotTrack, .. } => 9,
        SeqId::Text { kind: TextKind::RefSeq, .. } => 8,
        SeqId::Text { .. } | SeqId::Pdb { .. } => 5,
    }
}

fn later_text_score(id: &SeqId) -> i32 {
    match id {
        SeqId::Numbered(..) => 1000,
        SeqId::Gi(_) => 70,
        SeqId::General { .. } => 60,
        SeqId::Local(_) | SeqId::Patent { .. } => 50,
        SeqId::Text {
            kind: TextKind::Gpipe | TextKind::NamedAnnotTrack | TextKind::Prf, ..
        } => 20,
        SeqId::Text { .. } | SeqId::Pdb { .. } => 10,
    }
}

fn best_rank(id: &SeqId) -> i32 {
    match id {
        SeqId::General { .. } | SeqId::Local(_) => 80,
        SeqId::Numbered(..) => 70,
        SeqId::Text { kind: TextKind::NamedAnnotTrack, .. } => 69,
        SeqId::Text { kind: TextKind::Gpipe, .. } => 68,
        SeqId::Patent { .. } => 67,
        SeqId::Text { kind: TextKind::RefSeq, .. } => 65,
        SeqId::Gi(_) => 51,
        SeqId::Text { .. } | SeqId::Pdb { .. } => 60,
    }
}

/// Returns the rank in FASTA headers of proteins (`BaseFastaAAScore`) or of nucleotides
/// (`BaseFastaNAScore`), before adjustment.
fn fasta_rank(id: &SeqId, is_protein: bool) -> i32 {
    use {NumberKind as N, TextKind as T};
    let [protein, nucleotide] = match id {
        SeqId::Numbered(N::Import, _) => [255, 255],
        SeqId::Text { kind: T::Prf, .. } => [70, 255],
        SeqId::Text { kind: T::Pir, .. } => [30, 255],
        SeqId::Text { kind: T::SwissProt, .. } => [20, 255],
        SeqId::General { db, .. }
            if [&b"TMSMART"[..], b"BankIt", b"NCBIFILE"].contains(&&db[..]) =>
        {
            [240, 240]
        }
        SeqId::Local(_) => [230, 230],
        SeqId::Gi(_) => [120, 120],
        SeqId::General { .. } => [90, 100],
        SeqId::Patent { .. } => [80, 90],
        SeqId::Pdb { .. } => [50, 80],
        SeqId::Numbered(N::BackboneSequence, _) => [42, 72],
        SeqId::Numbered(N::BackboneMolecule, _) => [41, 71],
        SeqId::Text { kind: T::GenBank, .. } => [40, 70],
        SeqId::Text { kind: T::RefSeq, .. } => [15, 15],
        SeqId::Text { .. } => [60, 20],
    };
    if is_protein { protein } else { nucleotide }
}

/// Adjusts a score for missing parts of an identifier (`CSeq_id::AdjustScore`).
fn adjust_score(score: i32, id: &SeqId) -> i32 {
    let lacks = match id {
        SeqId::General { db, .. } if db == b"TRACE" => 5,
        SeqId::Text { accession, version, name, .. } => {
            4 * i32::from(version.is_none())
                + 3 * i32::from(accession.is_empty())
                + 2 * i32::from(name.is_empty())
        }
        _ => 0,
    };
    score * 10 + lacks
}
