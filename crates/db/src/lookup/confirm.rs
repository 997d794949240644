//! Whether what a file beside the volumes says of a sequence is what its header says.
//!
//! A look-up that damage leads to another sequence, or past the one that is meant, would change the
//! result without a word. The headers are what the report shows, so they decide.

use std::collections::BTreeSet;

use super::side_file::SideFile;
use super::stored_keys::{accession_keys, index_keys, ordinal_key, own_ordinal_key};
use crate::DbError;
use crate::defline::Defline;
use crate::key::without_end_blanks;
use fleetblast_seq::id::SeqId;

fn ids(lines: &[Defline]) -> impl Iterator<Item = &SeqId> {
    lines.iter().flat_map(|line| &line.ids)
}

/// Whether an identifier has this key in version 5.
pub(super) fn has_accession(lines: &[Defline], key: &[u8]) -> bool {
    let mut found = false;
    for id in ids(lines) {
        accession_keys(id, |one, _| found |= one.eq_ignore_ascii_case(key));
    }
    found
}

/// Whether an identifier of the sequence with this OID within the volume has this key,
/// in lower case, in version 4.
pub(super) fn has_name(lines: &[Defline], key: &[u8], oid: u32) -> bool {
    ids(lines).any(|id| match id.is_ordinal() {
        // The header's number is that in the whole database.
        true => own_ordinal_key(key, oid) == ordinal_key(oid),
        false => index_keys(id).iter().any(|one| without_end_blanks(one) == key),
    })
}

/// Whether a GI is among the identifiers.
pub(super) fn has_gi(lines: &[Defline], gi: i64) -> bool {
    ids(lines).any(|id| matches!(id, SeqId::Gi(one) if *one == gi))
}

/// Whether these are the identifiers as version 5 lists them.
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

/// Whether a definition line has the taxid.
pub(super) fn has_taxid(lines: &[Defline], taxid: i32) -> bool {
    lines.iter().any(|line| taxids(line).any(|one| one == i64::from(taxid)))
}

/// Whether the taxids are of these definition lines, and of each of them.
pub(super) fn are_taxids(lines: &[Defline], listed: &[i32]) -> bool {
    let of_line =
        |line: &Defline| taxids(line).any(|one| listed.iter().any(|&taxid| one == taxid.into()));
    listed.iter().all(|&taxid| has_taxid(lines, taxid)) && lines.iter().all(of_line)
}

fn taxids(line: &Defline) -> impl Iterator<Item = i64> {
    [line.taxid].into_iter().chain(line.links.iter().copied())
}

/// A file that says something else of a sequence than its header.
pub(super) fn disagreement(file: &SideFile, what: &str, oid: u32) -> DbError {
    let problem = format!(
        "it has '{what}' for sequence {oid}, whose definition lines in the header file say otherwise"
    );
    DbError::Unsound { path: file.path.clone(), place: String::new(), problem }
}
