//! What a block is where the report is made at another site: a record of its metadata, which a master makes.

use fleetblast_engine::hits::SubjectHit;
use fleetblast_fleet::ids::BlockId;
use fleetblast_metadata::Kinds;
use fleetblast_metadata::records::{Chain, RecordKind};
use fleetblast_report::model::QueryResult;
use fleetblast_report::pieces;
use rayon::prelude::*;

use crate::batching::Batching;
use crate::error::Error;
use crate::metadata::{Searched, Teller, body};
use crate::ranks::job::{Block, Job};
use crate::reporting::failure;

/// The record of a block, of whose queries the first are reported: those that `hits` has. It is the first of a chain of its own, since it
/// is not known what the records before it are; nothing if no query is reported.
///
/// # Errors
/// No memory, a report that cannot be made.
pub fn record(
    job: &Job,
    id: BlockId,
    block: &Block,
    hits: &[Vec<SubjectHit>],
    overflowed: &[bool],
) -> Result<Vec<u8>, Error> {
    let kinds = job.plan.metadata.as_ref().map(|metadata| metadata.kinds);
    let kind = match kinds {
        _ if hits.is_empty() => return Ok(Vec::new()),
        Some(Kinds::Only(kind)) => kind,
        // Refused.
        Some(Kinds::Cheapest) | None => return Err(Error::engine("metadata of no kind on ranks")),
    };
    let reported = hits.len();
    // Where it depends on what was found, a block may begin and end amid a batch.
    let cut = job.consults();
    let batches = reported_batches(&block.batches, reported);
    let batching = Batching::new(job.plan.batch_size, job.target.letters());
    let searched = Searched {
        records: &block.records[..reported],
        prepared: &block.prepared[..reported],
        batches: &batches,
        reach_out: if cut { block.batch_searched()[..reported].to_vec() } else { Vec::new() },
        hits,
        overflowed,
        has_pieces: block.grouping.has_pieces(),
        course: (!cut).then(|| batching.course()),
    };
    let teller = Teller::new(job.plan, &job.engine, job.target);
    let kind = teller.possible(kind, &searched);
    let found = teller.found(kind, &searched, || report(job, id, block, hits))?;
    Ok(Chain::default().record(RecordKind::Block, &body(searched, found)?))
}

/// The batches of the first queries.
fn reported_batches(batches: &[usize], reported: usize) -> Vec<usize> {
    let mut left = reported;
    let take = |&count: &usize| {
        let own = count.min(left);
        left -= own;
        own
    };
    batches.iter().map(take).filter(|&count| count > 0).collect()
}

/// The report of a block: what comes before its queries, and what is reported of each.
fn report(
    job: &Job,
    id: BlockId,
    block: &Block,
    hits: &[Vec<SubjectHit>],
) -> Result<Vec<Vec<u8>>, Error> {
    let result = |query: usize| {
        let hits = &hits[query];
        QueryResult { hits, ..block.result(query, hits.len()) }
    };
    let mut rest = Vec::new();
    if id == BlockId(0) {
        pieces::prologue(&job.report, &mut rest);
        pieces::opening(&job.report, &result(0), &mut rest).map_err(|error| failure(&error))?;
    }
    let format = |query| {
        let mut bytes = Vec::new();
        pieces::format_query(&job.report, &result(query), job.target, &mut bytes)
            .map_err(|error| failure(&error))?;
        Ok(bytes)
    };
    let queries: Result<Vec<_>, Error> = (0..hits.len()).into_par_iter().map(format).collect();
    Ok([vec![rest], queries?].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_end_with_the_last_query_that_is_reported() {
        assert_eq!(reported_batches(&[2, 3, 4], 9), [2, 3, 4]);
        assert_eq!(reported_batches(&[2, 3, 4], 5), [2, 3]);
        assert_eq!(reported_batches(&[2, 3, 4], 4), [2, 2]);
        assert!(reported_batches(&[2], 0).is_empty());
    }
}
