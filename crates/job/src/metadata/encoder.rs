//! Encodes the results of blocks of queries as metadata.

use std::time::{Duration, Instant};

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::params::HspFilter;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use fleetblast_metadata::header::End;
use fleetblast_metadata::subjects::{self, ShownSubjects};
use fleetblast_metadata::{BatchState, BlockResults, Encoding, EncodingChoice, OutOfMemory, hits};

use super::queries::encode_query;
use super::statistics::BlockStatistics;
use crate::cost::EncodingCosts;
use crate::error::Error;
use crate::plan::Plan;
use crate::queries::QueryRecord;
use crate::subjects::SubjectDatabase;

/// Encoder of the results of blocks.
pub struct MetadataEncoder<'a> {
    /// Whether the reported hits of a subject never depend on other subjects.
    has_independent_subjects: bool,
    engine: &'a Search,
    subjects: &'a SubjectDatabase,
}

/// A block that was searched, with its hits.
pub struct SearchedBlock<'a> {
    /// Queries of the block as read from the input.
    pub records: &'a [QueryRecord],
    /// The queries as the engine searches them.
    pub prepared: &'a [Query],
    /// Number of queries in each batch.
    pub batches: &'a [usize],
    /// For each query, whether its batch has a searchable query. Empty unless batches extend beyond
    /// the block.
    pub searched_by_batch: Vec<bool>,
    /// Hits of each query.
    pub hits: &'a [Vec<SubjectHit>],
    /// For each query, whether more of its subjects were aligned than its hit list holds.
    pub overflowed: &'a [bool],
    /// Whether any query is so long that it is searched in chunks.
    pub has_chunks: bool,
    /// State from which the next batch is formed; `None` if the block ends inside a batch.
    pub batch_state: Option<BatchState>,
}

impl<'a> MetadataEncoder<'a> {
    /// Creates an encoder for the blocks of a plan.
    pub fn new(plan: &Plan, engine: &'a Search, subjects: &'a SubjectDatabase) -> Self {
        let has_independent_subjects =
            plan.params.common().filter == HspFilter::Collect && !plan.params.evalues_may_reorder();
        MetadataEncoder { has_independent_subjects, engine, subjects }
    }

    /// Returns the encoding that a block gets if the user asked for `encoding`: `Hits` instead of
    /// `Oids` if the I/O site could not search the block again.
    pub fn supported_encoding(&self, encoding: Encoding, searched: &SearchedBlock) -> Encoding {
        match encoding {
            Encoding::Oids if !self.can_be_searched_again(searched) => Encoding::Hits,
            encoding => encoding,
        }
    }

    /// Encodes the results of a block in a [supported](Self::supported_encoding) encoding. For the
    /// encoding `Report`, `report` returns the parts of the report: the part before the queries,
    /// then that of each query.
    ///
    /// # Errors
    /// No memory; a report that cannot be made.
    pub fn encode(
        &self,
        encoding: Encoding,
        searched: &SearchedBlock,
        report: impl FnOnce() -> Result<Vec<Vec<u8>>, Error>,
    ) -> Result<BlockResults, Error> {
        let SearchedBlock { prepared, hits, overflowed, .. } = searched;
        let bytes = match encoding {
            Encoding::Report => return BlockResults::report(&report()?).map_err(memory_error),
            Encoding::Oids => {
                let shown: Vec<ShownSubjects> =
                    hits.iter().zip(*overflowed).map(shown_subjects).collect();
                subjects::encode(&shown)
            }
            Encoding::Hits => {
                let statistics = BlockStatistics::new(self.engine, prepared, self.subjects);
                hits::encode(hits, &statistics)
            }
        };
        Ok(BlockResults {
            encoding,
            bytes: bytes.map_err(memory_error)?,
            digest: hits::digest(hits),
        })
    }

    /// Returns whether a search of only the shown subjects certainly finds the same hits. Hidden
    /// subjects may influence the shown ones: by a filter of all subjects of a query, by the order
    /// of a subject's HSPs, or by the hit lists of chunks. It is also uncertain if a batch extends
    /// beyond the block, because its other queries are unknown.
    fn can_be_searched_again(&self, searched: &SearchedBlock) -> bool {
        self.has_independent_subjects
            && !searched.has_chunks
            && searched.searched_by_batch.is_empty()
    }
}

/// Encodes a block as the body of a record.
///
/// # Errors
/// No memory.
pub fn encode_block(searched: SearchedBlock, results: BlockResults) -> Result<Vec<u8>, Error> {
    let block = fleetblast_metadata::Block {
        queries: searched.records.iter().map(encode_query).collect(),
        batches: searched.batches.iter().map(|&count| count as u32).collect(),
        batch_state: searched.batch_state,
        searched: searched.searched_by_batch,
        results,
    };
    block.encode().map_err(memory_error)
}

/// Encodes a block of psiblast and its results as the body of a record. Each query of the block is
/// a batch of its own. Adds the bytes, and the time since `begun`, to `costs`.
///
/// # Errors
/// No memory.
pub fn encode_iterated_block<'r>(
    records: impl ExactSizeIterator<Item = &'r QueryRecord>,
    results: BlockResults,
    (costs, begun): (&mut EncodingCosts, Instant),
) -> Result<Vec<u8>, Error> {
    let (encoding, times) = (results.encoding, [begun.elapsed(), Duration::ZERO]);
    costs.record_encoded(encoding, records.len() as f64, results.bytes.len(), times);
    let queries: Vec<_> = records.map(encode_query).collect();
    let block = fleetblast_metadata::Block {
        batches: vec![1; queries.len()],
        queries,
        // A run that resumes psiblast searches all blocks again.
        batch_state: None,
        searched: Vec::new(),
        results,
    };
    let body = block.encode().map_err(memory_error)?;
    costs.record_sent(encoding, body.len());
    Ok(body)
}

/// Encodes the body of the end record. `counts` are the numbers of queries, of blocks, and of
/// reported queries or, for psiblast, of reported iterations. `report_end` is the end of the
/// report, which only metadata with the report itself contain; `None` without a report.
///
/// # Errors
/// No memory.
pub fn encode_end(
    encodings: EncodingChoice,
    counts: [u64; 3],
    report_end: Option<Vec<u8>>,
) -> Result<Vec<u8>, Error> {
    let [queries, blocks, reported_count] = counts;
    let has_report = report_end.is_some();
    let report_end = report_end.filter(|_| encodings.sends_report()).unwrap_or_default();
    let end = End { queries, blocks, reported_count, has_report, report_end };
    end.encode().map_err(memory_error)
}

/// Returns the subjects that the report shows for a query, by ascending OIDs.
fn shown_subjects((hits, &overflowed): (&Vec<SubjectHit>, &bool)) -> ShownSubjects {
    let mut oids: Vec<u32> = hits.iter().map(|hit| hit.oid).collect();
    oids.sort_unstable();
    ShownSubjects { oids, overflowed }
}

/// Converts the error for missing memory.
pub fn memory_error(error: OutOfMemory) -> Error {
    Error::starved(error)
}
