//! Converts queries and their hits to values, with identifiers as in tables.

use fleetblast_engine::hits::SubjectHit;
use fleetblast_report::model::{QueryResult, ReportSetup};
use fleetblast_report::{query_id, subject_id};

use super::report_failure;
use crate::error::Error;
use crate::hits::{Hit, QueryHits};
use crate::queries::QueryRecord;
use crate::subjects::SubjectDatabase;

/// Converts a query and its hits to a value with the identifiers of tables.
///
/// # Errors
/// Definition lines that cannot be read.
pub fn name_hits(
    setup: &ReportSetup,
    result: &QueryResult,
    record: &QueryRecord,
    subjects: &SubjectDatabase,
) -> Result<QueryHits, Error> {
    let hit = |hit: &SubjectHit| {
        let id = subject_id(setup, subjects, hit.oid).map_err(|error| report_failure(&error))?;
        Ok(Hit { id: to_text(&id), alignments: hit.alignments.clone() })
    };
    Ok(QueryHits {
        id: to_text(&query_id(setup, result)),
        warning: record.warning().map(|warning| to_text(&warning)),
        hits: result.hits.iter().map(hit).collect::<Result<_, Error>>()?,
    })
}

fn to_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
