//! How the archive of a restricted search names a subject.

use fleetblast_db::Defline;
use fleetblast_seq::id::SeqId;

/// The name of a subject in the archive of a search that a list restricted. BLAST+ does not restore
/// the list: a report of the archive can show all definition lines of the subject, but names the
/// subject as the archive does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedName {
    /// The identifier in alignments.
    pub id: SeqId,
    /// The identifiers of the subject, such as `gi:5`, that the search showed; empty if it showed
    /// all.
    pub listed: Vec<Vec<u8>>,
}

impl ArchivedName {
    /// Returns for each definition line whether text reports show it.
    pub(crate) fn lines_to_show(&self, lines: &[Defline]) -> Vec<bool> {
        let is_listed = |id: &SeqId| self.listed.contains(&listed_name(id));
        let is_shown = |line: &Defline| self.listed.is_empty() || line.ids.iter().any(is_listed);
        lines.iter().map(is_shown).collect()
    }
}

/// Returns the name of an identifier in the archive of a restricted search, such as `gi:5`.
pub(crate) fn listed_name(id: &SeqId) -> Vec<u8> {
    let kind: &[u8] = if matches!(id, SeqId::Gi(_)) { b"gi:" } else { b"seqid:" };
    [kind, &id.accession_version()].concat()
}
