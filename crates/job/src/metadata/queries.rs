//! Converts queries to and from their form in metadata.

use fleetblast_metadata::Query;
use fleetblast_seq::fasta::Record;

use crate::queries::QueryRecord;

/// Converts a query to its form in metadata.
pub fn encode_query(record: &QueryRecord) -> Query {
    Query {
        title: record.record.title.clone(),
        ids: record.record.ids.clone(),
        letters: record.record.residues.clone(),
        lower_case: record.record.lower_case.clone(),
        number: record.number as u64,
        unnamed: record.unnamed as u64,
        range: record.range.clone(),
        messages: record.messages.clone(),
    }
}

/// Converts a query from its form in metadata. The query has no warnings from reading: the search
/// site printed them.
pub fn decode_query(query: Query) -> QueryRecord {
    let Query { title, ids, letters, lower_case, number, unnamed, range, messages } = query;
    let record = Record { title, ids, residues: letters, lower_case, ..Record::default() };
    let (number, unnamed) = (number as usize, unnamed as usize);
    // A search that masks repeats cannot write metadata.
    QueryRecord { range, messages, ..QueryRecord::new(record, number, unnamed) }
}
