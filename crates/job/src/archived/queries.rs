//! The queries of an archive.

use std::sync::Arc;

use fleetblast_engine::pssm::Pssm;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use fleetblast_report::archive_reader::{
    ArchivedSequence, StoredArchive, StoredMask, StoredQueries,
};
use fleetblast_report::model::ArchivedQuery;
use fleetblast_seq::fasta::Record;
use fleetblast_seq::id::{ObjectId, SeqId};

use crate::error::Error;
use crate::queries::{PreparedBlock, QueryRecord};

/// Prepares the queries of an archive, with its statistics. `before` is the number of
/// queries before them in the report.
pub(super) fn prepare_queries(
    archive: &StoredArchive,
    engine: &Search,
    before: usize,
) -> Result<PreparedBlock, Error> {
    let stored = match &archive.request.queries {
        StoredQueries::Sequences(stored) => stored.as_slice(),
        StoredQueries::Pssm(query) => std::slice::from_ref(query),
        StoredQueries::Locations => {
            let what = "an archive without the sequences of its queries";
            return Err(Error::unsupported("blast_formatter", what));
        }
    };
    let mut block = PreparedBlock {
        records: Vec::new(),
        prepared: Vec::new(),
        batches: vec![stored.len()],
        failure: None,
    };
    // BLAST+ gives the masks of the n-th query that has some to the n-th query of all
    // (`CRemoteBlast::GetMasks`, remote_blast.cpp).
    let mut masks = archive.masks.chunk_by(|mask, next| mask.query == next.query);
    for (number, query) in (before + 1..).zip(stored) {
        let masks = masks.next().unwrap_or_default();
        let archived = Some(Box::new(archived_query(query, archive, masks)));
        let record = QueryRecord { archived, ..record(query, number) };
        let prepared = prepare(&record, archive, engine);
        block.records.push(record);
        block.prepared.push(prepared);
    }
    Ok(block)
}

fn record(query: &ArchivedSequence, number: usize) -> QueryRecord {
    let generated = query.ids.first().and_then(generated_number);
    let record = Record {
        title: query.title.clone(),
        ids: if generated.is_some() { Vec::new() } else { query.ids.clone() },
        residues: query.letters.clone(),
        ..Record::default()
    };
    QueryRecord::new(record, number, generated.unwrap_or(number))
}

/// Returns the identifier `Query_N` of a query whose definition line was not parsed. `number` is N.
pub(super) fn generated_id(number: usize) -> SeqId {
    SeqId::Local(ObjectId::Text(format!("Query_{number}").into_bytes()))
}

/// Returns N if an identifier is a [generated](generated_id) `Query_N`, otherwise `None`. Similar
/// identifiers, such as `Query_007`, come from the user.
fn generated_number(id: &SeqId) -> Option<usize> {
    let SeqId::Local(ObjectId::Text(text)) = id else { return None };
    let number = std::str::from_utf8(text).ok()?.rsplit('_').next()?.parse().ok()?;
    (generated_id(number) == *id).then_some(number)
}

/// Prepares a query with the statistics of the archive.
fn prepare(record: &QueryRecord, archive: &StoredArchive, engine: &Search) -> Query {
    let mut query = record.prepare(engine);
    for context in &mut query.contexts {
        context.karlin = archive.ungapped();
        context.search_space = archive.search_space;
        context.length_adjustment = i32::try_from(archive.length_adjustment).unwrap_or(i32::MAX);
    }
    if matches!(archive.request.queries, StoredQueries::Pssm(_))
        && let [Some(ungapped), Some(gapped)] = [archive.ungapped(), archive.gapped()]
    {
        query.pssm = Some(Arc::new(Pssm::of_statistics(ungapped, gapped)));
    }
    query
}

/// Returns the data about the search of a query that reports show, from the archive.
fn archived_query(
    query: &ArchivedSequence,
    archive: &StoredArchive,
    masks: &[StoredMask],
) -> ArchivedQuery {
    let has_own_masks = masks.iter().all(|mask| query.ids.contains(&mask.query));
    let of_frame = |mask: &StoredMask| {
        let frame = mask.frame;
        mask.ranges.clone().into_iter().map(move |range| (frame, range))
    };
    let masks = masks.iter().flat_map(of_frame);
    let length = query.letters.len();
    let searched = archive.searched_range().map_or(length, |range| {
        (range.end as usize).min(length).saturating_sub(range.start as usize)
    });
    ArchivedQuery {
        parameters: archive.parameters,
        is_of_psiblast: archive.request.iteration().is_some(),
        masks: masks.collect(),
        has_own_masks,
        searched_length: searched,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_of_users_are_no_numbers() {
        let number = |text: &str| generated_number(&SeqId::Local(ObjectId::Text(text.into())));
        assert_eq!(number("Query_7"), Some(7));
        for text in ["Query_007", "Query_+7", "query_7", "Query_", "Query_x", "7", "a_Query_7"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
