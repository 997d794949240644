//! What a block is where the report is made at another site: a record of its metadata, which a
//! master makes.

use std::time::{Duration, Instant};

use fleetblast_engine::hits::SubjectHit;
use fleetblast_fleet::ids::BlockId;
use fleetblast_metadata::EncodingChoice;
use fleetblast_metadata::records::RecordKind;
use fleetblast_report::model::QueryResult;
use fleetblast_report::pieces;
use rayon::prelude::*;

use crate::batching::BatchSizer;
use crate::error::Error;
use crate::metadata::{
    EncodingChooser, MetadataEncoder, SearchCapacity, SearchedBlock, encode_block,
};
use crate::ranks::chain::first_record;
use crate::ranks::job::{Block, Job};
use crate::ranks::sending::Watcher;
use crate::reports::report_failure;
use crate::search::PhaseTimes;
use crate::trace::Recorder;

/// Tells of blocks.
pub struct Telling<'a> {
    job: &'a Job<'a>,
    encoder: MetadataEncoder<'a>,
    chooser: EncodingChooser<'a>,
    /// When the block before was told.
    last: Instant,
    /// How long blocks took so far.
    phases: PhaseTimes,
    /// Who is told how metadata go.
    recorder: Recorder,
}

/// A block that was searched.
pub struct Told<'a> {
    /// Its number.
    pub id: BlockId,
    /// As it was searched.
    pub block: &'a Block,
    /// What was found of its first queries, which are reported.
    pub hits: &'a [Vec<SubjectHit>],
    /// Of each, whether more was found than that.
    pub overflowed: &'a [bool],
    /// How long its alignments took.
    pub traceback: Duration,
}

impl<'a> Telling<'a> {
    /// For a master of the job, if metadata are wanted.
    pub fn new(job: &'a Job<'a>, seekers: SearchCapacity, recorder: Recorder) -> Option<Self> {
        let metadata = job.plan.metadata.as_ref()?;
        let chooser = EncodingChooser::new(metadata, seekers, job.target);
        let encoder = MetadataEncoder::new(job.plan, &job.engine, job.target);
        let (last, phases) = (Instant::now(), PhaseTimes::default());
        Some(Telling { job, encoder, chooser, last, phases, recorder })
    }

    /// The record of a block, as it waits; nothing if no query is reported.
    ///
    /// # Errors
    /// No memory, a report that cannot be made.
    pub fn record(&mut self, told: &Told) -> Result<Vec<u8>, Error> {
        let &Told { id, block, hits, overflowed, traceback } = told;
        let (job, reported) = (self.job, hits.len());
        if reported == 0 {
            return Ok(Vec::new());
        }
        self.note_time(traceback);
        // Where it depends on what was found, a block may begin and end amid a batch.
        let cut = job.consults();
        let batches = reported_batches(&block.batches, reported);
        let batching = BatchSizer::new(job.plan.batch_size, job.target.letters());
        let searched = SearchedBlock {
            records: &block.records[..reported],
            prepared: &block.prepared[..reported],
            batches: &batches,
            searched_by_batch: if cut {
                block.batch_searched()[..reported].to_vec()
            } else {
                Vec::new()
            },
            hits,
            overflowed,
            has_chunks: block.grouping.has_pieces(),
            batch_state: (!cut).then(|| batching.state()),
        };
        let Telling { encoder, chooser, phases, .. } = self;
        // What is seen now, where it is seen, says more than what was when the block was read.
        let seen = job.sending.as_ref().and_then(Watcher::seen).or(block.link);
        chooser.costs.link = seen.or(chooser.costs.link);
        let mut make = |kind| {
            let (begun, mut format) = (Instant::now(), Duration::ZERO);
            let found = encoder.encode(kind, &searched, || {
                let parts = report(job, id, block, hits);
                format = begun.elapsed();
                parts
            })?;
            Ok((found, [begun.elapsed(), format]))
        };
        let possible = |kind| encoder.supported_encoding(kind, &searched) == kind;
        let found = match chooser.encodings {
            EncodingChoice::Only(kind) => {
                chooser.encode(encoder.supported_encoding(kind, &searched), hits, &mut make)?
            }
            EncodingChoice::Cheapest => {
                chooser.encode_cheapest((id.0.into(), hits), *phases, &possible, &mut make)?
            }
        };
        let kind = found.encoding;
        let told = encode_block(searched, found)?;
        chooser.costs.record_sent(kind, told.len());
        self.recorder.set_metadata_costs(&chooser.costs);
        first_record(RecordKind::Block, &told)
    }

    /// A block took what passed since the one before: several are under way at a time. As much of
    /// it as its own alignments took is theirs.
    fn note_time(&mut self, traceback: Duration) {
        let now = Instant::now();
        let all = now.duration_since(std::mem::replace(&mut self.last, now));
        let traceback = traceback.min(all);
        self.phases.search += all - traceback;
        self.phases.traceback += traceback;
    }
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
    // Where blocks are of several kinds, it is the other site that begins the report.
    if id == BlockId(0) && job.reports() {
        pieces::prologue(&job.report, &mut rest);
        pieces::opening(&job.report, &result(0), &mut rest)
            .map_err(|error| report_failure(&error))?;
    }
    let format = |query| {
        let mut bytes = Vec::new();
        pieces::format_query(&job.report, &result(query), job.target, &mut bytes)
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
    fn batches_end_with_the_last_query_that_is_reported() {
        assert_eq!(reported_batches(&[2, 3, 4], 9), [2, 3, 4]);
        assert_eq!(reported_batches(&[2, 3, 4], 5), [2, 3]);
        assert_eq!(reported_batches(&[2, 3, 4], 4), [2, 2]);
        assert!(reported_batches(&[2], 0).is_empty());
    }
}
