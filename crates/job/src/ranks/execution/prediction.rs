//! Predicts the batches of blocks, if batches depend on hits. Workers search a block with its
//! predicted batches. Then the supermaster verifies the prediction, in the order of the blocks.
//!
//! The results of a query depend on its batch only through its [`BatchGrouping`]. A prediction is
//! correct if the grouping is correct, even if the batches were predicted to end elsewhere.

use std::collections::BTreeMap;
use std::ops::Range;

use fleetblast_engine::grouping::{Batch, Grouping};
use fleetblast_engine::query::{Query, QueryPreparation};
use fleetblast_engine::search::Search;
use fleetblast_fleet::ids::BlockId;

use super::query_stream::{QueryStream, SearchStop};
use crate::batching::progress::{BatchBoundaries, BatchProgress, BatchRun};
use crate::error::Error;
use crate::queries::{QueryReader, RawBlock};
use crate::ranks::wire::{BatchGrouping, ExtensionStatistics, Verification};

/// Number of letters of neighbouring queries that a grouping includes on each side. Few extensions
/// reach farther.
const REACH: usize = 512;
/// Largest number of batches that are cached. Each contains several blocks.
const MOST_BATCHES: usize = 16;

/// Predicts the batches of blocks, and verifies them.
pub struct BatchPredictor<'a> {
    engine: &'a Search,
    stream: QueryStream<'a>,
    /// The true batches, up to the first block that is not verified.
    progress: BatchProgress,
    /// Blocks that were read and are not verified yet.
    blocks: BTreeMap<BlockId, PredictedBlock>,
    /// Number of extensions of each query of `blocks` that was searched, by query number. Its batch
    /// may have been wrong, so the number may be inexact.
    known_extensions: BTreeMap<usize, u64>,
    /// Sums of extensions and of letters over all verified queries.
    extension_rate: (u64, u64),
    /// The query at which the report ends early, once that is known.
    stop: Option<SearchStop>,
    batches: BTreeMap<(usize, usize), Batch>,
}

/// A block that was read and is not verified yet.
struct PredictedBlock {
    queries: Range<usize>,
    expectation: Expectation,
}

enum Expectation {
    /// An earlier run has verified the block. The numbers are the extensions of each query.
    Verified(Vec<u64>),
    /// The block is searched in these parts. Each includes `reach` letters of neighbouring queries.
    Parts { parts: Vec<BatchPart>, reach: usize },
}

/// The queries of a block that are in one batch, and their grouping.
#[derive(Clone, PartialEq)]
struct BatchPart {
    queries: Range<usize>,
    grouping: Grouping,
    /// Whether the batch has a searchable query.
    searched: bool,
}

/// A block that was read, with its predicted batches.
pub struct ReadBlock {
    /// The queries as read.
    pub records: RawBlock,
    /// The preparation of each query. With it, other ranks need not compute masks and statistics.
    pub preparations: Vec<QueryPreparation>,
    /// The predicted grouping of the queries.
    pub batch_grouping: BatchGrouping,
}

impl<'a> BatchPredictor<'a> {
    /// Creates a predictor that has read no block.
    pub fn new(engine: &'a Search, stream: QueryStream<'a>, progress: BatchProgress) -> Self {
        BatchPredictor {
            engine,
            stream,
            progress,
            blocks: BTreeMap::new(),
            known_extensions: BTreeMap::new(),
            extension_rate: (0, 0),
            stop: None,
            batches: BTreeMap::new(),
        }
    }

    /// Reads the next block. Returns `None` at the end of the queries. If an earlier run has
    /// verified the block, `known` has the number of extensions of each query.
    ///
    /// # Errors
    /// `known` belongs to another block.
    pub fn read_block(
        &mut self,
        block: BlockId,
        known: Option<Vec<u64>>,
    ) -> Result<Option<ReadBlock>, Error> {
        // The first batch does not depend on hits, so its prediction is certain.
        let end = match block {
            BlockId(0) => self.stream.end_of_batch(0, self.progress.letters()),
            _ => usize::MAX,
        };
        let (queries, mut records) = self.stream.take_block(end);
        if queries.start == 0 && !queries.is_empty() {
            let run = self.progress.next_run(queries.end, &mut self.stream);
            self.stop = self.stop_before(&run);
        }
        if queries.is_empty() || self.stop.is_some() {
            return Ok(None);
        }
        let parts = self.predict(&queries, REACH);
        let batch_grouping = join_parts(&parts);
        records.batches = parts.iter().map(|part| part.queries.len()).collect();
        self.stream.add_messages_of_search(&mut records, &batch_grouping.searched);
        let preparations =
            self.stream.queries(queries.clone()).into_iter().map(Query::to_preparation).collect();
        let expectation = match known {
            Some(extensions) if extensions.len() == queries.len() => {
                Expectation::Verified(extensions)
            }
            Some(_) => return Err(Error::engine(OTHER_QUERIES)),
            None => Expectation::Parts { parts, reach: REACH },
        };
        self.blocks.insert(block, PredictedBlock { queries, expectation });
        self.pass_verified();
        Ok(Some(ReadBlock { records, preparations, batch_grouping }))
    }

    /// Returns the reader of the queries.
    pub fn reader(&self) -> &QueryReader<'a> {
        self.stream.reader()
    }

    /// Returns the error that ends the search early, once it is known.
    pub fn failure(&self) -> Option<&Error> {
        self.stop.as_ref().map(|stop| &stop.error).or(self.stream.failure())
    }

    /// Verifies the predicted batches of a block, which must be the first that is not verified. If
    /// the prediction was wrong, predicts again.
    ///
    /// # Errors
    /// The block was not read, or it is not the first that is not verified.
    pub fn verify_prediction(
        &mut self,
        block: BlockId,
        found: &ExtensionStatistics,
    ) -> Result<Verification, Error> {
        let PredictedBlock { queries, expectation } =
            self.blocks.remove(&block).ok_or_else(|| Error::engine(OTHER_QUERIES))?;
        if self.stop.as_ref().is_some_and(|stop| stop.query <= queries.start) {
            return Ok(Verification::CorrectUntil(0));
        }
        let Expectation::Parts { parts, reach } = expectation else {
            return Err(Error::engine(OTHER_QUERIES));
        };
        if queries.start != self.progress.next_query() || found.extensions.len() != queries.len() {
            return Err(Error::engine(OTHER_QUERIES));
        }
        let known = self.progress.clone();
        let is_right = self.follow_batches(&queries, &found.extensions, Some((&parts, reach)));
        if is_right && !found.reached_unknown_letters {
            self.add_statistics(&queries, &found.extensions);
            self.pass_verified();
            let until = self.stop.as_ref().filter(|stop| stop.query < queries.end);
            return Ok(match until {
                Some(stop) => Verification::CorrectUntil((stop.query - queries.start) as u32),
                None => Verification::Correct,
            });
        }
        (self.progress, self.stop) = (known, None);
        self.known_extensions.extend(queries.clone().zip(found.extensions.iter().copied()));
        let reach = if found.reached_unknown_letters { usize::MAX } else { reach };
        let parts = self.predict(&queries, reach);
        let batch_grouping = join_parts(&parts);
        self.blocks.insert(
            block,
            PredictedBlock { queries, expectation: Expectation::Parts { parts, reach } },
        );
        Ok(Verification::SearchAgain(batch_grouping))
    }

    /// Advances the true batches past these queries, or until BLAST+ ends its search. `extensions`
    /// has the number of extensions of each query. Returns false if the true grouping differs from
    /// the `predicted` one, which is given as parts and their reach.
    fn follow_batches(
        &mut self,
        queries: &Range<usize>,
        extensions: &[u64],
        predicted: Option<(&[BatchPart], usize)>,
    ) -> bool {
        let mut parts = predicted.map(|(parts, reach)| (parts.iter(), reach));
        while self.progress.next_query() < queries.end {
            let run = self.progress.next_run(queries.end, &mut self.stream);
            self.stop = self.stop_before(&run);
            if self.stop.is_some() {
                return true;
            }
            if let Some((parts, reach)) = &mut parts
                && parts.next() != Some(&self.batch_part(&run, *reach))
            {
                return false;
            }
            if run.queries.end == run.batch.end {
                // BLAST+ may end its search after this batch.
                self.stop = self.stream.find_stop(run.batch.clone(), self.progress.letters());
            }
            let own = run.queries.start - queries.start..run.queries.end - queries.start;
            self.progress.advance(&run, extensions[own].iter().sum());
        }
        true
    }

    /// Returns BLAST+'s error if these are the first queries of a batch that BLAST+ refuses to
    /// search.
    fn stop_before(&mut self, BatchRun { queries, batch }: &BatchRun) -> Option<SearchStop> {
        if queries.start != batch.start {
            return None;
        }
        let stop = self.stream.find_stop(batch.clone(), self.progress.letters());
        stop.filter(|stop| stop.query == batch.start)
    }

    /// Adds the extensions of verified queries to the statistics. Drops the data of queries before
    /// the current batch.
    fn add_statistics(&mut self, queries: &Range<usize>, extensions: &[u64]) {
        self.extension_rate.0 += extensions.iter().sum::<u64>();
        self.extension_rate.1 += self.stream.letters(queries.clone());
        self.known_extensions = self.known_extensions.split_off(&queries.end);
        let start = self.progress.batch_start();
        self.batches.retain(|&(_, end), _| end > start);
        self.stream.drop_before(start);
    }

    /// Advances the true batches past blocks that an earlier run has verified.
    fn pass_verified(&mut self) {
        while let Some(first) = self.blocks.first_entry()
            && matches!(first.get().expectation, Expectation::Verified(_))
        {
            let PredictedBlock { queries, expectation } = first.remove();
            if let Expectation::Verified(extensions) = expectation {
                self.follow_batches(&queries, &extensions, None);
                self.add_statistics(&queries, &extensions);
            }
        }
    }

    /// Predicts the batches of these queries. Returns the part of the queries in each batch, with
    /// its grouping.
    fn predict(&mut self, queries: &Range<usize>, reach: usize) -> Vec<BatchPart> {
        let (extensions, letters) = self.extension_rate;
        let extension_rate = extensions as f64 / letters.max(1) as f64;
        let first = self.progress.next_query();
        let of = |query: usize| match self.known_extensions.get(&query) {
            Some(&extensions) => extensions as f64,
            None => extension_rate * self.stream.letters(query..query + 1) as f64,
        };
        let each: Vec<f64> = (first..queries.end).map(of).collect();
        let predicted_extensions =
            |run: Range<usize>| each[run.start - first..run.end - first].iter().sum::<f64>() as u64;
        let runs = self.progress.predict(queries.clone(), predicted_extensions, &mut self.stream);
        runs.iter().map(|run| self.batch_part(run, reach)).collect()
    }

    /// Returns how the queries of `run` are searched within their batch. The grouping includes
    /// `reach` letters of neighbouring queries on each side.
    fn batch_part(&mut self, run: &BatchRun, reach: usize) -> BatchPart {
        let BatchRun { queries, batch } = run;
        let all = self.stream.queries(batch.clone());
        if self.batches.len() >= MOST_BATCHES {
            self.batches.clear();
        }
        let known = self.batches.entry((batch.start, batch.end));
        let known = known.or_insert_with(|| self.engine.describe_batch(&all));
        let own = queries.start - batch.start..queries.end - batch.start;
        BatchPart {
            queries: queries.clone(),
            grouping: self.engine.grouping_of_range(known, &all, own, reach),
            searched: all.iter().any(|query| query.is_searchable()),
        }
    }
}

fn join_parts(parts: &[BatchPart]) -> BatchGrouping {
    let (mut grouping, mut searched) = (Grouping::default(), Vec::new());
    for part in parts {
        grouping.append_grouping(part.grouping.clone());
        searched.extend(std::iter::repeat_n(part.searched, part.queries.len()));
    }
    BatchGrouping { grouping, searched }
}

/// Message for contradictory data of ranks, a fault of the program.
const OTHER_QUERIES: &str = "the ranks do not agree about what the queries of a block are";

#[cfg(test)]
mod tests;
