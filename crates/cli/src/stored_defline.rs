//! Definition lines as they are written into databases.

use fleetblast_db::Defline;
use fleetblast_makedb::StoredDefline;

/// Converts a definition line of a database to the form in which it is written.
pub(crate) fn stored_defline(line: &Defline) -> StoredDefline {
    StoredDefline {
        title: line.has_title.then(|| line.title.clone()),
        ids: line.ids.clone(),
        taxid: line.has_taxid.then_some(line.taxid),
        memberships: line.memberships.clone(),
        links: line.links.clone(),
        other_info: line.other_info.clone(),
    }
}
