//! Encodes blocks as metadata records, on a master of a job that writes metadata.

use std::time::{Duration, Instant};

use fleetblast_engine::hits::SubjectHit;
use fleetblast_fleet::ids::BlockId;
use fleetblast_metadata::records::RecordKind;
use fleetblast_report::model::QueryResult;
use fleetblast_report::pieces;
use rayon::prelude::*;

use crate::batching::BatchSizer;
use crate::error::Error;
use crate::metadata::{RecordEncoder, SearchCapacity, SearchedBlock};
use crate::ranks::job::{PreparedBlock, RankJob};
use crate::ranks::metadata_stream::StreamObserver;
use crate::ranks::record_chain::first_record;
use crate::reports::report_failure;
use crate::search::PhaseTimes;
use crate::trace::Recorder;

/// Encoder of the blocks of a master.
pub struct BlockEncoder<'a> {
    job: &'a RankJob<'a>,
    encoder: RecordEncoder<'a>,
    /// When the last block was encoded.
    last: Instant,
    /// Search times of all blocks encoded so far.
    phases: PhaseTimes,
    /// Records the costs of the encodings.
    recorder: Recorder,
}

/// A searched block to be encoded.
pub struct BlockToEncode<'a> {
    /// Number of the block.
    pub id: BlockId,
    /// Queries of the block.
    pub queries: &'a PreparedBlock,
    /// Final hits of the first queries of the block. Only these queries are reported.
    pub hits: &'a [Vec<SubjectHit>],
    /// For each query of `hits`, whether more of its subjects were aligned than its hit list holds.
    pub overflowed: &'a [bool],
    /// Time from the request for the alignments of the block to the last answer.
    pub traceback: Duration,
}

impl<'a> BlockEncoder<'a> {
    /// Creates the encoder of a master; `None` if the job writes no metadata. `capacity` describes
    /// the threads of the search.
    pub fn new(job: &'a RankJob<'a>, capacity: SearchCapacity, recorder: Recorder) -> Option<Self> {
        let metadata = job.plan.metadata.as_ref()?;
        let plan = (job.plan, metadata);
        let encoder = RecordEncoder::new(plan, &job.engine, job.subjects, capacity);
        let (last, phases) = (Instant::now(), PhaseTimes::default());
        Some(BlockEncoder { job, encoder, last, phases, recorder })
    }

    /// Encodes a block as a metadata record that begins a chain of checksums. Returns no bytes if
    /// no query is reported.
    ///
    /// # Errors
    /// There is not enough memory, or the report cannot be made.
    pub fn encode(&mut self, searched: &BlockToEncode) -> Result<Vec<u8>, Error> {
        let &BlockToEncode { id, queries, hits, overflowed, traceback } = searched;
        let (job, reported) = (self.job, hits.len());
        if reported == 0 {
            return Ok(Vec::new());
        }
        self.note_time(traceback);
        // If batches depend on hits, a block may begin and end within a batch.
        let cut = job.verifies_blocks();
        let batches = reported_batches(&queries.batches, reported);
        let batching = BatchSizer::new(job.plan.batch_size, job.subjects.letters());
        let searched = SearchedBlock {
            records: &queries.records[..reported],
            prepared: &queries.prepared[..reported],
            batches: &batches,
            searched_by_batch: if cut {
                queries.batch_searched()[..reported].to_vec()
            } else {
                Vec::new()
            },
            hits,
            overflowed,
            has_chunks: queries.grouping.has_chunked_queries(),
            batch_state: (!cut).then(|| batching.state()),
        };
        // The link was measured again since the block was read. The later measurement is better.
        let seen = job.stream.as_ref().and_then(StreamObserver::link).or(queries.link);
        let costs = self.encoder.costs_mut();
        costs.link = seen.or(costs.link);
        let parts = || report(job, id, queries, hits);
        let encoded = self.encoder.encode(id.0.into(), searched, self.phases, parts)?;
        self.recorder.set_metadata_costs(self.encoder.costs());
        first_record(RecordKind::Block, &encoded)
    }

    /// Adds the time since the last encoded block to the search times: `traceback` as traceback,
    /// the remaining time as search. The times of blocks cannot be added, because several are in
    /// progress at once.
    fn note_time(&mut self, traceback: Duration) {
        let now = Instant::now();
        let all = now.duration_since(std::mem::replace(&mut self.last, now));
        let traceback = traceback.min(all);
        self.phases.search += all - traceback;
        self.phases.traceback += traceback;
    }
}

/// Returns the number of queries in each batch, if only the first `reported` queries count.
fn reported_batches(batches: &[usize], reported: usize) -> Vec<usize> {
    let mut left = reported;
    let take = |&count: &usize| {
        let own = count.min(left);
        left -= own;
        own
    };
    batches.iter().map(take).filter(|&count| count > 0).collect()
}

/// Formats the report of a block: the part before its queries, then the part of each query.
fn report(
    job: &RankJob,
    id: BlockId,
    block: &PreparedBlock,
    hits: &[Vec<SubjectHit>],
) -> Result<Vec<Vec<u8>>, Error> {
    let result = |query: usize| {
        let hits = &hits[query];
        QueryResult { hits, ..block.query_result(query, hits.len()) }
    };
    let mut rest = Vec::new();
    // If blocks have several encodings, the I/O site writes the start of the report.
    if id == BlockId(0) && job.formats_report() {
        pieces::prologue(&job.report, &mut rest);
        pieces::first_query_prologue(&job.report, &result(0), &mut rest)
            .map_err(|error| report_failure(&error))?;
    }
    let format = |query| {
        let mut bytes = Vec::new();
        pieces::format_query(&job.report, &result(query), job.subjects, &mut bytes)
            .map_err(|error| report_failure(&error))?;
        Ok(bytes)
    };
    let queries: Result<Vec<_>, Error> = (0..hits.len()).into_par_iter().map(format).collect();
    Ok([vec![rest], queries?].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_end_with_the_last_reported_query() {
        assert_eq!(reported_batches(&[2, 3, 4], 9), [2, 3, 4]);
        assert_eq!(reported_batches(&[2, 3, 4], 5), [2, 3]);
        assert_eq!(reported_batches(&[2, 3, 4], 4), [2, 2]);
        assert!(reported_batches(&[2], 0).is_empty());
    }
}
