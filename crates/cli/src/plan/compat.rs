//! Rules of later releases that FleetBLAST does not have. Searches that depend on one are refused.

use super::SearchProgram;
use crate::options::search::database::{
    NEGATIVE_TAXIDLIST, NEGATIVE_TAXIDS, SequenceLists, TAXIDLIST, TAXIDS,
};

/// Returns the option that depends on a rule that FleetBLAST does not have of the release, if one
/// is given.
pub(super) fn missing_rule(program: &dyn SearchProgram) -> Option<String> {
    let options = program.common();
    let release = options.release;
    let lists = &options.database.lists;
    taxon_list(lists).filter(|_| release.expands_taxa).map(|option| format!("-{option}"))
}

/// Returns the name of an option that lists taxa, if one is given.
fn taxon_list(lists: &SequenceLists) -> Option<&'static str> {
    let given = [
        (TAXIDS.name(), &lists.taxids),
        (NEGATIVE_TAXIDS.name(), &lists.negative_taxids),
        (TAXIDLIST.name(), &lists.taxid_file),
        (NEGATIVE_TAXIDLIST.name(), &lists.negative_taxid_file),
    ];
    given.into_iter().find(|(_, list)| list.is_some()).map(|(name, _)| name)
}
