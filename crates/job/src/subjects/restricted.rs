//! Opens a database with the list by which the user restricts the search.

use fleetblast_db::restrict::{ListEntries, ListWarning, Restriction};
use fleetblast_db::{Database, DbError, SearchPath, TaxidSign};
use fleetblast_mpi::is_first_process;

use crate::audience::Audience;
use crate::plan::{Format, Plan};

/// Opens the databases `names` with the plan's restriction, by the rules of the plan's release of
/// BLAST+.
pub(super) fn open(
    names: &str,
    plan: &Plan,
    search: &SearchPath,
    audience: &dyn Audience,
) -> Result<Database, DbError> {
    let release = plan.params.common().release;
    let open = |user: Option<&Restriction>| {
        let (kind, mut warnings) = (plan.subject_kind, Vec::new());
        let database = Database::open_restricted(names, kind, search, user, &mut warnings);
        for warning in &warnings {
            match warning.code() {
                Some(code) => audience.warn_with_code(code, &warning.to_string()),
                None => audience.warn(&warning.to_string()),
            }
        }
        let ignores_list = release.ignores_lists_of_gi_words
            && database.is_ok()
            && warnings.contains(&ListWarning::NoIdentifiers);
        match user.filter(|_| ignores_list) {
            Some(user) => {
                let user = Restriction { shows_all_without_identifiers: true, ..user.clone() };
                Database::open_restricted(names, kind, search, Some(&user), &mut Vec::new())
            }
            None => database,
        }
    };
    let user = plan.restriction.as_ref();
    let opened = open(user);
    if !release.expands_taxa {
        return opened;
    }
    let opened = match (opened, user) {
        (Err(error @ DbError::NoSuchTaxids { sign: TaxidSign::Negative, .. }), Some(user)) => {
            if is_first_process() {
                audience.print_message(&error.in_later_words().to_string());
            }
            open(Some(&Restriction { accepts_unknown_taxids: true, ..user.clone() }))
        }
        (opened, _) => opened,
    };
    opened.map_err(DbError::in_later_words)
}

/// Returns the taxids of the user's list that archives state, ascending, if the plan writes
/// archives. Those that the database lacks are left out of a list that includes
/// (`CSeqDBLMDBSet::TaxIdsToOids`, seqdblmdbset.cpp), but not of one that excludes.
pub(super) fn archived_taxids(plan: &Plan, database: &Database) -> Result<Vec<i32>, DbError> {
    let writes_archives = plan.report.format == Format::Archive || plan.strategy.is_some();
    let list = plan.restriction.as_ref().filter(|_| writes_archives);
    let Some(Restriction { entries: ListEntries::Taxids(taxids), is_negative, .. }) = list else {
        return Ok(Vec::new());
    };
    let mut taxids = taxids.clone();
    taxids.sort_unstable();
    taxids.dedup();
    if !is_negative && !taxids.is_empty() {
        let known = database.lookup()?.taxids()?;
        taxids.retain(|taxid| known.binary_search(taxid).is_ok());
    }
    Ok(taxids)
}
