//! Compares entries of the lookup files with the headers of their sequences.
//!
//! Damage in a lookup file could give another sequence or hide a sequence, and so change the result
//! unnoticed. Reports show the headers, so the headers decide.

use std::collections::BTreeSet;

use super::side_file::LookupFile;
use super::stored_keys::{accession_keys, index_keys, ordinal_key, own_ordinal_key};
use crate::DbError;
use crate::defline::Defline;
use crate::key::trim_trailing_blanks;
use fleetblast_seq::id::SeqId;

fn ids(lines: &[Defline]) -> impl Iterator<Item = &SeqId> {
    lines.iter().flat_map(|line| &line.ids)
}

/// Returns whether an identifier of the sequence has this version-5 key.
pub(super) fn has_accession(lines: &[Defline], key: &[u8]) -> bool {
    let mut found = false;
    for id in ids(lines) {
        accession_keys(id, |one, _| found |= one.eq_ignore_ascii_case(key));
    }
    found
}

/// Returns whether an identifier of the sequence has this version-4 key, which is in lower case.
/// `oid` counts from 0 in the volume.
pub(super) fn has_name(lines: &[Defline], key: &[u8], oid: u32) -> bool {
    ids(lines).any(|id| match id.is_ordinal() {
        // An ordinal identifier in the header states the OID in the whole database, not `oid`.
        true => own_ordinal_key(key, oid) == ordinal_key(oid),
        false => index_keys(id).iter().any(|one| trim_trailing_blanks(one) == key),
    })
}

/// Returns whether the sequence has this GI.
pub(super) fn has_gi(lines: &[Defline], gi: i64) -> bool {
    ids(lines).any(|id| matches!(id, SeqId::Gi(one) if *one == gi))
}

/// Returns whether the sequence has this PIG, which indexes keep in 32 bits.
pub(super) fn has_pig(lines: &[Defline], pig: i64) -> bool {
    lines.iter().flat_map(|line| &line.other_info).any(|&one| one as u32 == pig as u32)
}

/// Returns whether these are exactly the identifiers that version 5 must list for the sequence.
pub(super) fn are_identifiers(lines: &[Defline], listed: &[Vec<u8>]) -> bool {
    let mut wanted = BTreeSet::new();
    for id in ids(lines) {
        accession_keys(id, |key, is_listed| {
            if is_listed {
                wanted.insert(key);
            }
        });
    }
    wanted.iter().eq(listed.iter().collect::<BTreeSet<_>>())
}

/// Returns whether a definition line has the taxid.
pub(super) fn has_taxid(lines: &[Defline], taxid: i32) -> bool {
    lines.iter().any(|line| taxids(line).any(|one| one == i64::from(taxid)))
}

/// Returns whether these are exactly the taxids of the definition lines.
pub(super) fn are_taxids(lines: &[Defline], listed: &[i32]) -> bool {
    let of_line =
        |line: &Defline| taxids(line).any(|one| listed.iter().any(|&taxid| one == taxid.into()));
    listed.iter().all(|&taxid| has_taxid(lines, taxid)) && lines.iter().all(of_line)
}

fn taxids(line: &Defline) -> impl Iterator<Item = i64> {
    [line.taxid].into_iter().chain(line.links.iter().copied())
}

/// Creates the error for a lookup file whose entry for a sequence differs from the header.
pub(super) fn disagreement_error(file: &LookupFile, what: &str, oid: u32) -> DbError {
    let problem = format!(
        "it has '{what}' for sequence {oid}, whose definition lines in the header file say otherwise"
    );
    DbError::Inconsistent { path: file.path.clone(), place: String::new(), problem }
}
