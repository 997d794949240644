//! The queries of an archive.

use std::ops::Range;

use fleetblast_engine::query::{Context, Query};
use fleetblast_engine::search::Search;
use fleetblast_report::archive_reader::{StoredArchive, StoredMask, StoredQueries, StoredQuery};
use fleetblast_seq::fasta::Record;
use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::id::{ObjectId, SeqId};

use crate::error::{Error, exit};
use crate::plan::Plan;
use crate::queries::{PreparedBlock, QueryRecord};

/// Start of the identifiers of queries whose definition lines were not parsed.
const GENERATED: &[u8] = b"Query_";

/// Prepares the queries of an archive, with its masks and statistics. `before` is the number of
/// queries before them in the report.
pub(super) fn prepare_queries(
    archive: &StoredArchive,
    plan: &Plan,
    engine: &Search,
    before: usize,
) -> Result<PreparedBlock, Error> {
    let StoredQueries::Sequences(stored) = &archive.queries else {
        let what = "an archive without the sequences of its queries";
        return Err(Error::unsupported("blast_formatter", what));
    };
    let mut block = PreparedBlock {
        records: Vec::new(),
        prepared: Vec::new(),
        batches: vec![stored.len()],
        failure: None,
    };
    for (number, query) in (before + 1..).zip(stored) {
        let record = QueryRecord {
            archived_gapped: archive.gapped,
            ..record(query, plan, number)?
        };
        let prepared = prepare(&record, query, archive, engine);
        block.records.push(record);
        block.prepared.push(prepared);
    }
    Ok(block)
}

fn record(query: &StoredQuery, plan: &Plan, number: usize) -> Result<QueryRecord, Error> {
    let generated = query.ids.first().and_then(generated_number);
    let record = Record {
        title: query.title.clone(),
        ids: if generated.is_some() { Vec::new() } else { query.ids.clone() },
        residues: query.letters.clone(),
        ..Record::default()
    };
    let length = query.letters.len();
    let range = match &plan.query_range {
        Some(range) if range.start > length => {
            return Err(Error::new(exit::INPUT, "the archive has a query that is too short"));
        }
        Some(range) => Some(range.start as u32..range.end.min(length) as u32),
        None => None,
    };
    Ok(QueryRecord { range, ..QueryRecord::new(record, number, generated.unwrap_or(number)) })
}

/// Returns N of the identifier `Query_N`.
fn generated_number(id: &SeqId) -> Option<usize> {
    let SeqId::Local(ObjectId::Text(text)) = id else { return None };
    std::str::from_utf8(text.strip_prefix(GENERATED)?).ok()?.parse().ok()
}

fn prepare(
    record: &QueryRecord,
    stored: &StoredQuery,
    archive: &StoredArchive,
    engine: &Search,
) -> Query {
    let mut query = record.prepare(engine);
    let searched = record.range.clone().unwrap_or(0..stored.letters.len() as u32);
    let of_query = |mask: &&StoredMask| stored.ids.contains(&mask.query);
    for context in &mut query.contexts {
        context.karlin = archive.ungapped;
        context.search_space = archive.search_space;
        context.length_adjustment = i32::try_from(archive.length_adjustment).unwrap_or(i32::MAX);
        let masks = archive.masks.iter().filter(of_query);
        context.masks = masks.flat_map(|mask| mask_context(context, mask, &searched)).collect();
        context.masks.sort_by_key(|mask| mask.start);
    }
    query
}

/// Converts masks of a query, ranges of the whole sequence, to ranges of a context.
fn mask_context(context: &Context, mask: &StoredMask, searched: &Range<u32>) -> Vec<Range<u32>> {
    let length = i64::from(searched.end - searched.start);
    let applies = match context.frame {
        Frame::Codons(..) => context.frame.number() == mask.frame,
        Frame::Protein | Frame::Strand(_) => true,
    };
    let place = |range: &Range<u32>| {
        let from = i64::from(range.start) - i64::from(searched.start);
        let to = i64::from(range.end) - i64::from(searched.start);
        let number = i64::from(context.frame.number());
        let (start, end) = match context.frame {
            Frame::Protein | Frame::Strand(Strand::Plus) => (from, to),
            Frame::Strand(Strand::Minus) => (length - to, length - from),
            // The stored ranges go from the first base of the first residue to the first base of
            // the last one, on the minus strand the other way round.
            Frame::Codons(Strand::Plus, _) => {
                ((from + 1 - number).max(0) / 3, (to - number).max(0) / 3 + 1)
            }
            Frame::Codons(Strand::Minus, _) => {
                ((length + number - (to - 1)).max(0) / 3, (length + number + 1 - from).max(0) / 3 + 1)
            }
        };
        let most = context.unmasked.len() as i64;
        let [start, end] = [start, end].map(|at| at.clamp(0, most) as u32);
        start..end
    };
    let ranges = mask.ranges.iter().filter(|_| applies).map(place);
    ranges.filter(|range| !range.is_empty()).collect()
}
