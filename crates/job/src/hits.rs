//! Queries and hits as values, for programs that use them otherwise than for a report.

use fleetblast_engine::hits::Alignment;

use crate::error::Error;

/// A query and its hits.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryHits {
    /// The query's identifier, as in the column `qseqid`.
    pub id: String,
    /// BLAST+'s warnings about the query, as one text; `None` without warnings.
    pub warning: Option<String>,
    /// The subjects, best first.
    pub hits: Vec<Hit>,
}

/// A subject and its alignments with a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The subject's identifier, as in the column `sseqid`.
    pub id: String,
    /// The alignments in the order of reports; at least one.
    pub alignments: Vec<Alignment>,
}

/// A function that receives each query with its hits. Its error ends the search.
pub type Visitor<'a> = dyn FnMut(QueryHits) -> Result<(), Error> + Send + 'a;
