//! Hits as values, for programs that do more with them than print a report.

use fleetblast_engine::hits::{Alignment, SubjectHit};
use fleetblast_report::model::{QueryResult, Setup};
use fleetblast_report::{query_id, subject_id};

use crate::error::Error;
use crate::queries::QueryRecord;
use crate::reports;
use crate::subjects::Target;

/// A query and its hits.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryHits {
    /// The query's identifier, as in the column `qseqid`.
    pub id: String,
    /// What BLAST+ warns of this query.
    pub warning: Option<String>,
    /// The subjects, best first.
    pub hits: Vec<Hit>,
}

/// A subject and its alignments with a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The subject's identifier, as in the column `sseqid`.
    pub id: String,
    /// The alignments in the order of reports; never none.
    pub alignments: Vec<Alignment>,
}

/// A function that receives each query with its hits. Its error ends the search.
pub type Visitor<'a> = dyn FnMut(QueryHits) -> Result<(), Error> + Send + 'a;

/// Names a query and its hits.
pub(crate) fn named(
    setup: &Setup,
    result: &QueryResult,
    record: &QueryRecord,
    target: &Target,
) -> Result<QueryHits, Error> {
    let hit = |hit: &SubjectHit| {
        let id = subject_id(setup, target, hit.oid).map_err(|error| reports::failure(&error))?;
        Ok(Hit { id: text(&id), alignments: hit.alignments.clone() })
    };
    Ok(QueryHits {
        id: text(&query_id(setup, result)),
        warning: record.warning().map(|warning| text(&warning)),
        hits: result.hits.iter().map(hit).collect::<Result<_, Error>>()?,
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
