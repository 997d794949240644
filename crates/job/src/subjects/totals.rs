//! Sizes of databases, as the statistics count them.

use fleetblast_db::Database;
use fleetblast_engine::params::DatabaseTotals;

use crate::plan::Plan;

/// Length of the shortest subject that BLAST+ assumes in a database (rules 5.1).
pub(super) const MIN_SUBJECT_LENGTH: i32 = 10;

/// Returns the numbers of residues and sequences that the database states.
fn stated_totals(database: &Database) -> (i64, i64) {
    match database.stats_residue_count() {
        // If the database states no residues, BLAST+ takes the first sequence for the whole
        // database (`BLAST_GetSubjectTotals`, blast_setup.c).
        0 if database.oid_count() > 0 => (i64::from(database.length_of(0)), 1),
        residues => (residues as i64, database.stats_sequence_count() as i64),
    }
}

/// Returns whether BLAST+ refuses to search these sequences as too short. If statistics depend on
/// the shortest sequence, its length decides, otherwise the mean length (`BLAST_GapAlignSetUp`,
/// blast_setup.c).
pub(super) fn is_too_short(database: &Database, plan: &Plan, shortest: i32) -> bool {
    let params = &plan.params;
    if !params.common().release.refuses_short_subjects {
        return false;
    }
    match params.has_finite_size_statistics() {
        true => shortest / if params.subject_translation().is_some() { 3 } else { 1 } <= 0,
        false => {
            let (residues, sequences) = stated_totals(database);
            residues / sequences.max(1) <= 0
        }
    }
}

pub(super) fn database_totals(database: &Database, plan: &Plan, min_length: i32) -> DatabaseTotals {
    let (residues, sequences) = stated_totals(database);
    let whole = database.combined_info();
    let space_residues = plan.dbsize.filter(|&size| size > 0).unwrap_or(residues);
    DatabaseTotals {
        residues: plan.dbsize.unwrap_or(residues),
        space_residues,
        is_empty: space_residues == 0,
        sequences,
        stored_residues: whole.residue_count as i64,
        mean_length: (whole.residue_count / whole.sequence_count.max(1)) as i64,
        min_length,
    }
}
