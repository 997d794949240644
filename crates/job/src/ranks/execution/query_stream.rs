//! A stream of prepared queries, read ahead to the end of the current batches.

use std::collections::VecDeque;
use std::ops::Range;

use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use rayon::prelude::*;

use crate::audience::Audience;
use crate::batching::progress::BatchBoundaries;
use crate::error::Error;
use crate::queries::{BatchFacts, QueryReader, QueryRecord, RawBlock};

/// Limits of one step of reading ahead: number of queries, and number of letters after which the
/// step ends.
const READ_AHEAD: (usize, u64) = (1000, 200_000);

/// Queries that are read ahead. They are numbered from 0.
pub struct QueryStream<'a> {
    queries: QueryReader<'a>,
    engine: &'a Search,
    audience: &'a dyn Audience,
    pool: rayon::ThreadPool,
    /// Number of the first query in memory.
    first: usize,
    prepared: VecDeque<Query>,
    /// For each query in memory, the letters of all queries before it. The last value counts all
    /// queries read.
    sums: VecDeque<u64>,
    /// BLAST+'s warnings about each query in memory, for the error of a batch that BLAST+ refuses.
    messages: VecDeque<Vec<String>>,
    /// The last queries in memory: those that are not in a block yet.
    records: VecDeque<QueryRecord>,
    ended: bool,
    /// The error that ended reading.
    failure: Option<Error>,
}

/// The point at which BLAST+ ends its search before the last query.
#[derive(Clone, Debug)]
pub struct SearchStop {
    /// The first query that is not searched. No later query is searched either.
    pub query: usize,
    /// BLAST+'s error.
    pub error: Error,
}

impl<'a> QueryStream<'a> {
    /// Creates the stream. It prepares queries on the threads of `pool`.
    pub fn new(
        queries: QueryReader<'a>,
        engine: &'a Search,
        audience: &'a dyn Audience,
        pool: rayon::ThreadPool,
    ) -> Self {
        QueryStream {
            queries,
            engine,
            audience,
            pool,
            first: 0,
            prepared: VecDeque::new(),
            sums: VecDeque::from([0]),
            messages: VecDeque::new(),
            records: VecDeque::new(),
            ended: false,
            failure: None,
        }
    }

    /// Returns the reader of the queries.
    pub fn reader(&self) -> &QueryReader<'a> {
        &self.queries
    }

    /// Returns the number of the first query that is not read.
    fn end(&self) -> usize {
        self.first + self.prepared.len()
    }

    /// Returns the number of letters in all queries before this one.
    fn letters_before(&self, query: usize) -> u64 {
        self.sums[query - self.first]
    }

    /// Returns the number of letters in these queries.
    pub fn letters(&self, queries: Range<usize>) -> u64 {
        self.letters_before(queries.end) - self.letters_before(queries.start)
    }

    /// Returns these queries, which must be in memory.
    pub fn queries(&self, queries: Range<usize>) -> Vec<&Query> {
        self.prepared.range(queries.start - self.first..queries.end - self.first).collect()
    }

    /// Drops the queries before this one.
    pub fn drop_before(&mut self, query: usize) {
        self.prepared.drain(..query - self.first);
        self.sums.drain(..query - self.first);
        self.messages.drain(..query - self.first);
        self.first = query;
    }

    /// Returns the error that ended reading, as soon as it is known.
    pub fn failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    /// Takes the queries of the next block, which ends at query `end` or earlier. Also returns
    /// their numbers. The block is empty at the end of the queries.
    pub fn take_block(&mut self, end: usize) -> (Range<usize>, RawBlock) {
        let mut block = RawBlock::default();
        let start = self.end() - self.records.len();
        while start + block.records.len() < end
            && !self.queries.is_block_full(block.weight())
            && (!self.records.is_empty() || self.read_more())
        {
            block.records.extend(self.records.pop_front());
        }
        for record in &block.records {
            record.report_warnings(self.audience);
        }
        (start..start + block.records.len(), block)
    }

    /// Adds BLAST+'s warnings from the search of queries. `searched` says for each query whether
    /// its batch has a searchable query.
    pub fn add_messages_of_search(&self, block: &mut RawBlock, searched: &[bool]) {
        self.queries.add_messages_of_search(&mut block.records, searched.iter().copied());
    }

    /// Returns the error with which BLAST+ ends its search at this batch, or at a next batch
    /// without queries. A full batch has `letters` letters.
    pub fn find_stop(&mut self, batch: Range<usize>, letters: usize) -> Option<SearchStop> {
        let is_full = self.letters(batch.clone()) >= letters as u64;
        let is_last = batch.end == self.end() && !self.read_more();
        let read_error = self.failure.clone().filter(|_| is_last);
        let queries = self.queries(batch.clone());
        let facts = BatchFacts {
            read_error: read_error.clone().filter(|_| !is_full),
            queries: batch.len(),
            has_letters: queries.iter().any(|query| query.length > 0),
            expects_queries: true,
        };
        let refusal = || {
            let messages = self.messages.range(batch.start - self.first..batch.end - self.first);
            self.queries.refusal(queries.into_iter().any(Query::is_searchable), messages)
        };
        if let Some(error) = facts.error(refusal) {
            return Some(SearchStop { query: batch.start, error });
        }
        let expects_queries = self.queries.has_skipped_last();
        let next = BatchFacts { read_error, expects_queries, ..BatchFacts::default() };
        let error = if is_full && is_last { next.error(|| None) } else { None };
        error.map(|error| SearchStop { query: batch.end, error })
    }

    /// Reads some more queries and prepares them. Returns false at the end of the queries.
    fn read_more(&mut self) -> bool {
        let (mut records, mut letters) = (Vec::new(), 0);
        while !self.ended && records.len() < READ_AHEAD.0 && letters < READ_AHEAD.1 {
            match self.queries.next_query(self.audience) {
                Ok(Some(record)) => {
                    letters += record.letters();
                    records.push(record);
                }
                Ok(None) => self.ended = true,
                Err(error) => (self.ended, self.failure) = (true, Some(error)),
            }
        }
        if records.is_empty() && self.end() == 0 {
            let facts = BatchFacts { expects_queries: true, ..BatchFacts::default() };
            self.failure = self.failure.take().or_else(|| facts.error(|| None));
        }
        let prepare = |record: &QueryRecord| record.prepare(self.engine);
        let prepared: Vec<Query> = self.pool.install(|| records.par_iter().map(prepare).collect());
        for (record, query) in records.iter_mut().zip(&prepared) {
            let sum = self.sums.back().map_or(0, |sum| sum + record.letters());
            self.sums.push_back(sum);
            self.queries.add_messages(record, query.is_searchable());
            self.messages.push_back(record.messages.clone());
        }
        let is_some = !records.is_empty();
        self.prepared.extend(prepared);
        self.records.extend(records);
        is_some
    }
}

impl BatchBoundaries for QueryStream<'_> {
    fn end_of_batch(&mut self, start: usize, letters: usize) -> usize {
        let wanted = self.letters_before(start).saturating_add(letters as u64);
        while self.sums.back().is_some_and(|&sum| sum < wanted) && self.read_more() {}
        (self.first + self.sums.partition_point(|&sum| sum < wanted)).min(self.end())
    }
}
