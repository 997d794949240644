//! Reads queries in blocks that are scheduled together.

pub mod count;
mod empties;
mod messages;
mod record;
mod start;
mod stop;
mod thread_shares;

use std::io::{self, BufRead, Cursor, Read as _};
use std::ops::Range;

use fleetblast_engine::batches;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use fleetblast_fleet::payload::Weight;
use fleetblast_fleet::plan::BlockLimits;
use fleetblast_metadata::BatchState;
use fleetblast_seq::fasta::{Reader, Record};
use fleetblast_seq::input::FileVersion;
use rayon::prelude::*;

use crate::audience::Audience;
use crate::batching::BatchSizer;
use crate::error::{Error, exit};
use crate::fasta::{fasta_failure, open_input, reader};
use crate::plan::{Plan, Source};
use crate::subjects::DatabaseFacts;

use self::empties::BatchRecords;
pub use self::messages::{NO_STATISTICS, sort_warnings};
pub use self::record::QueryRecord;
use self::record::{report_warnings, searched_range_of};
use self::start::{is_seekable, read_leading_blanks};
pub use self::stop::BatchFacts;
use self::thread_shares::ThreadShares;

/// Buffered input of queries.
type BoxedReader<'a> = Box<dyn BufRead + Send + 'a>;

/// Reader of queries, which reads block by block.
pub struct QueryReader<'a> {
    plan: &'a Plan,
    reader: Reader<BoxedReader<'a>>,
    /// Version of the query file; `None` for other inputs.
    version: Option<FileVersion>,
    /// Number of queries read.
    read_count: usize,
    /// Number of queries read, without those that end before `-query_loc` starts, which no report
    /// shows.
    reported_count: usize,
    /// Number of queries read that have no parsed identifiers.
    unnamed: usize,
    /// The query from the file of a PSSM, which is then the only query; `None` for other inputs.
    pssm_query: Option<Box<QueryRecord>>,
    /// Whether the last query read ends before `-query_loc` starts.
    has_skipped_last: bool,
    /// Whether a batch that was read has a query with statistics.
    has_searchable: bool,
    block_limits: BlockLimits,
    batch_sizer: BatchSizer,
    thread_shares: ThreadShares,
    is_at_end: bool,
    database: DatabaseFacts,
}

/// A block of queries, as read.
#[derive(Default)]
pub struct RawBlock {
    /// The queries, in input order.
    pub records: Vec<QueryRecord>,
    /// Number of queries in each batch of BLAST+, in input order.
    pub batches: Vec<usize>,
    /// The error that ended the reading of queries after this block; `None` if there was none.
    pub failure: Option<Error>,
}

/// A block of queries, as read and as the engine searches them.
pub struct PreparedBlock {
    /// The queries as read.
    pub records: Vec<QueryRecord>,
    /// The queries as the engine searches them.
    pub prepared: Vec<Query>,
    /// Number of queries in each batch of BLAST+, in input order.
    pub batches: Vec<usize>,
    /// The error that ended the reading of queries after this block; `None` if there was none.
    pub failure: Option<Error>,
}

impl PreparedBlock {
    /// Returns for each query whether its batch has a searchable query.
    pub fn searched(&self) -> Vec<bool> {
        batch_searched(&self.prepared, &self.batches, Query::is_searchable).collect()
    }
}

impl RawBlock {
    /// Returns the number of queries, and the number of their searched residues.
    pub fn weight(&self) -> Weight {
        let residues = self.records.iter().map(|record| record.length() as u64).sum();
        Weight { sequences: self.records.len() as u64, residues }
    }
}

/// Returns for each query whether its batch has a searchable query. `batches` has the number of
/// queries of each batch.
pub fn batch_searched<T>(
    queries: &[T],
    batches: &[usize],
    searchable: impl Fn(&T) -> bool,
) -> impl Iterator<Item = bool> {
    batches::batch_ranges(batches).flat_map(move |batch| {
        let searched = queries[batch.clone()].iter().any(&searchable);
        std::iter::repeat_n(searched, batch.len())
    })
}

impl<'a> QueryReader<'a> {
    /// Opens the queries of a plan.
    ///
    /// `block_residues` is the number of residues that fill a block. Returns `None` if BLAST+ calls
    /// the input empty: a directory, or a file of nothing but white space.
    pub fn open(
        plan: &'a Plan,
        block_residues: u64,
        database: DatabaseFacts,
        audience: &'a dyn Audience,
    ) -> Result<Option<QueryReader<'a>>, Error> {
        let pssm_query =
            plan.initial_pssm.as_ref().map(|start| Box::new(QueryRecord::from_pssm(start)));
        let input = match pssm_query {
            Some(_) => {
                Some(QueryStream { bytes: Box::new(io::empty()), version: None, is_empty: false })
            }
            None => open_stream(plan, audience)?,
        };
        let Some(QueryStream { bytes: input, version, is_empty: is_at_end }) = input else {
            return Ok(None);
        };
        if !plan.has_unknown_batches() {
            plan.check_late_error()?;
        }
        let reader = reader(input, &plan.query, plan.query_kind, plan);
        let batch_residues = plan.batch_size.min_letters();
        let block_queries = plan.batch_size.block_queries();
        let block_limits = BlockLimits { batch_residues, block_residues, block_queries };
        let batch_sizer = BatchSizer::new(plan.batch_size, database.letters);
        Ok(Some(QueryReader {
            plan,
            reader,
            version,
            read_count: 0,
            reported_count: 0,
            unnamed: 0,
            pssm_query,
            has_skipped_last: false,
            has_searchable: false,
            block_limits,
            batch_sizer,
            thread_shares: ThreadShares::default(),
            is_at_end,
            database,
        }))
    }

    /// Returns the version of the query file; `None` for other inputs.
    pub fn version(&self) -> Option<FileVersion> {
        self.version
    }

    /// Records how many extensions the last block caused, which determine the size of the next
    /// batch.
    pub fn record_extensions(&mut self, extensions: u64) {
        self.batch_sizer.record_extensions(extensions);
    }

    /// Sets how many residues fill each block that is read from now on.
    pub fn set_block_residues(&mut self, residues: u64) {
        self.block_limits.block_residues = residues;
    }

    /// Continues after queries that another process searched, with the state of their batches.
    pub fn resume(&mut self, state: BatchState) {
        self.batch_sizer.resume(state);
    }

    /// Reads the next block and prepares its queries on all threads of the current pool; `None` at
    /// the end. `mask_repeats` adds masks of repeats before the preparation.
    ///
    /// # Errors
    /// Queries that cannot be read or masked, or that BLAST+ refuses to search.
    pub fn next_block(
        &mut self,
        engine: &Search,
        mask_repeats: impl FnOnce(&mut RawBlock) -> Result<(), Error>,
        audience: &dyn Audience,
    ) -> Result<Option<PreparedBlock>, Error> {
        let Some(mut read) = self.read_block(audience)? else { return Ok(None) };
        mask_repeats(&mut read)?;
        let prepare = |record: &QueryRecord| record.prepare(engine);
        let prepared: Vec<Query> = read.records.par_iter().map(prepare).collect();
        let searchable: Vec<bool> = prepared.iter().map(Query::is_searchable).collect();
        self.complete(&mut read, &searchable)?;
        let RawBlock { records, batches, failure } = read;
        Ok(Some(PreparedBlock { records, prepared, batches, failure }))
    }

    /// Reads the next block, with its messages, for processes that prepare its queries themselves;
    /// `None` at the end.
    ///
    /// # Errors
    /// Queries that cannot be read, or that BLAST+ refuses to search.
    pub fn next_records(
        &mut self,
        engine: &Search,
        audience: &dyn Audience,
    ) -> Result<Option<RawBlock>, Error> {
        let Some(mut read) = self.read_block(audience)? else { return Ok(None) };
        let searchable = |record: &QueryRecord| engine.has_statistics(&record.input());
        let searchable: Vec<bool> = read.records.iter().map(searchable).collect();
        self.complete(&mut read, &searchable)?;
        Ok(Some(read))
    }

    /// Adds the messages of a block that was read. `searchable` states for each query whether it
    /// has statistics.
    ///
    /// # Errors
    /// BLAST+'s refusal to search the block, with the messages of the first batch.
    fn complete(&mut self, block: &mut RawBlock, searchable: &[bool]) -> Result<(), Error> {
        self.add_all_messages(block, searchable);
        let first = block.batches.first().copied().unwrap_or_default();
        let messages = block.records[..first].iter().map(|record| &record.messages);
        self.refusal(searchable.contains(&true), messages).map_or(Ok(()), Err)
    }

    fn read_block(&mut self, audience: &dyn Audience) -> Result<Option<RawBlock>, Error> {
        let mut block = RawBlock::default();
        let mut weight = Weight::default();
        while !self.is_at_end && !self.is_full(weight) {
            match self.read_batch(audience) {
                Ok(records) if records.is_empty() => {}
                Ok(records) => {
                    block.batches.push(records.len());
                    weight.sequences += records.len() as u64;
                    weight.residues += records.iter().map(|r| r.length() as u64).sum::<u64>();
                    block.records.extend(records);
                }
                Err(error) => {
                    self.is_at_end = true;
                    if block.records.is_empty() {
                        return Err(error);
                    }
                    block.failure = Some(error);
                }
            }
        }
        Ok((!block.records.is_empty()).then_some(block))
    }

    /// Returns whether the block ends before the next batch. If batches are adaptive, a block has
    /// one batch, because the next batch depends on its extensions.
    fn is_full(&self, block: Weight) -> bool {
        block.sequences > 0 && self.batch_sizer.is_adaptive() || self.is_block_full(block)
    }

    /// Returns whether a block of this size has enough queries or residues.
    pub fn is_block_full(&self, block: Weight) -> bool {
        self.block_limits.is_full(block)
    }

    /// Returns a copy of the rule that determines the sizes of batches, in its current state.
    pub fn batch_sizer(&self) -> BatchSizer {
        self.batch_sizer.clone()
    }

    /// Returns whether the last query read was skipped because it ends before `-query_loc` starts.
    pub fn has_skipped_last(&self) -> bool {
        self.has_skipped_last
    }

    /// Reads the next query, across the ends of batches; `None` at the end. Skips queries that end
    /// before `-query_loc` starts.
    ///
    /// # Errors
    /// Queries that cannot be read.
    pub fn next_query(&mut self, audience: &dyn Audience) -> Result<Option<QueryRecord>, Error> {
        if self.plan.initial_pssm.is_some() {
            let pssm_query = self.pssm_query.take();
            (self.read_count, self.reported_count, self.is_at_end) = (1, 1, pssm_query.is_none());
            pssm_query.iter().for_each(|query| self.thread_shares.add(self.plan, query.length()));
            return Ok(pssm_query.map(|pssm_query| *pssm_query));
        }
        loop {
            let failed = |error| fasta_failure(&error, audience);
            let Some(record) = self.reader.next_record().map_err(failed)? else {
                self.is_at_end = true;
                return Ok(None);
            };
            self.read_count += 1;
            self.unnamed += usize::from(record.ids.is_empty());
            let range = self.searched_range(&record);
            self.has_skipped_last = range.is_err();
            let Ok(range) = range else {
                report_warnings(&record, audience);
                continue;
            };
            self.reported_count += 1;
            let (number, unnamed) = (self.reported_count, self.unnamed);
            let query = QueryRecord { range, ..QueryRecord::new(record, number, unnamed) };
            self.thread_shares.add(self.plan, query.length());
            return Ok(Some(query));
        }
    }

    /// Reads the next batch: whole queries until their letters fill a batch. BLAST+ counts all
    /// letters, also those outside of `-query_loc`.
    fn read_batch(&mut self, audience: &dyn Audience) -> Result<Vec<QueryRecord>, Error> {
        let mut records = BatchRecords::new(self.reader.options());
        let mut residues = 0;
        let first_batch = self.read_count == 0;
        let first = self.read_count;
        self.plan.check_late_error()?;
        while residues < self.batch_sizer.letters() {
            let Some(mut record) = self.next_query(audience)? else { break };
            if self.plan.iteration.is_none() {
                // psiblast prints these warnings when it starts with the query, after all
                // iterations of the query before it.
                record.report_warnings(audience);
            }
            record.reading_warnings = record.warnings_for(audience.program());
            residues += record.record.residues.len();
            if self.plan.identity_resets_composition && first_batch {
                record.messages.push(messages::IDENTITY.to_owned());
            }
            records.push(record)?;
        }
        if self.plan.iteration.is_some() && records.len() > 1 {
            // An empty query does not fill a batch (`CPsiBlastValidate::QueryFactory`).
            return Err(Error::engine(messages::SEVERAL));
        }
        let facts = BatchFacts {
            read_error: None,
            queries: records.len(),
            has_letters: !records.is_all_empty(),
            expects_queries: first_batch || self.read_count > first,
        };
        // BLAST+ may refuse the batch when its queries are prepared.
        facts.error(|| None).map_or_else(|| records.into_records(), Err)
    }

    /// Adds BLAST+'s warnings about the setup and the search of a block's queries. `searchable`
    /// states for each query whether it has statistics.
    fn add_all_messages(&mut self, block: &mut RawBlock, searchable: &[bool]) {
        let searched = batch_searched(searchable, &block.batches, |&searchable| searchable);
        let searched: Vec<bool> = searched.collect();
        for batch in batches::batch_ranges(&block.batches) {
            let is_searched = searched[batch.start];
            for record in &mut block.records[batch] {
                record.follows_searchable = self.has_searchable;
            }
            self.has_searchable |= is_searched;
        }
        // BLAST+ warns about translated queries only if no frame of the whole batch has statistics
        // (`Blast_ScoreBlkKbpUngappedCalc`, blast_stat.c).
        let with_statistics =
            if self.plan.params.translates_queries() { &searched } else { searchable };
        for (record, &searchable) in block.records.iter_mut().zip(with_statistics) {
            self.add_messages(record, searchable);
        }
        self.add_messages_of_search(&mut block.records, searched);
    }

    /// Adds BLAST+'s warnings about the setup of a query. `searchable` states whether the query has
    /// statistics.
    pub fn add_messages(&self, record: &mut QueryRecord, searchable: bool) {
        let kind = self.plan.query_kind;
        let searched =
            &record.record.residues[searched_range_of(&record.record, record.range.as_ref())];
        let warnings = messages::setup_warnings(kind, searched, searchable);
        record.messages.extend(warnings);
        messages::sort_warnings(&mut record.messages);
    }

    /// Adds the warning about an empty database, which BLAST+ appends to all others. `searched`
    /// states for each query whether its batch has a searchable query; BLAST+ warns only then.
    pub fn add_messages_of_search(
        &self,
        records: &mut [QueryRecord],
        searched: impl IntoIterator<Item = bool>,
    ) {
        for (record, searched) in records.iter_mut().zip(searched) {
            if searched && self.database.is_empty {
                record.messages.push(messages::NOTHING_INCLUDED.to_owned());
            }
        }
    }

    /// Returns the error for a batch that BLAST+ refuses to search with the plan's options or in
    /// this database; otherwise `None`. It refuses only a batch with a searchable query, as
    /// `is_searchable` states. `messages` are the warnings of each query.
    pub fn refusal<'m>(
        &self,
        is_searchable: bool,
        messages: impl Iterator<Item = &'m Vec<String>>,
    ) -> Option<Error> {
        if !is_searchable {
            return None;
        }
        let of_options = self.plan.delayed_option_error.as_deref();
        let of_database = self.database.is_too_short.then_some(messages::TOO_SHORT);
        of_options
            .map(|reason| messages::refusal_error(reason, messages))
            .or_else(|| of_database.map(Error::engine))
    }

    /// Prints BLAST+'s warning if there are too few queries for the threads that divide them.
    pub fn warn_of_few_queries(&self, audience: &dyn Audience) {
        let warning = self.thread_shares.warning(self.plan);
        warning.iter().for_each(|warning| audience.warn_from_rank(warning.as_bytes()));
    }

    /// Returns the searched range of a query; `None` for the whole query. BLAST+ silently skips
    /// queries that end before the range starts.
    fn searched_range(&self, record: &Record) -> Result<Option<Range<u32>>, StartsBeyondEnd> {
        let Some(range) = &self.plan.query_range else { return Ok(None) };
        let len = record.residues.len();
        if range.start > len {
            return Err(StartsBeyondEnd);
        }
        Ok(Some(range.start as u32..range.end.min(len).max(range.start) as u32))
    }
}

/// The opened input of the queries.
struct QueryStream<'a> {
    /// The whole input, with its leading white space.
    bytes: BoxedReader<'a>,
    /// Version of the query file.
    version: Option<FileVersion>,
    /// Whether the input has no bytes at all.
    is_empty: bool,
}

/// Opens the input of the queries; `None` if BLAST+ calls it empty.
fn open_stream<'a>(
    plan: &Plan,
    audience: &'a dyn Audience,
) -> Result<Option<QueryStream<'a>>, Error> {
    if matches!(&plan.query, Source::File(path) if path.is_dir()) {
        return Ok(None);
    }
    let (mut input, version) = open_input(&plan.query, audience)?;
    let start = read_leading_blanks(&mut input)
        .map_err(|error| Error::new(exit::INPUT, error.to_string()))?;
    let blank = start.iter().all(u8::is_ascii_whitespace);
    if blank && is_seekable(&plan.query) {
        return Ok(None);
    }
    let is_empty = start.is_empty();
    let bytes = Box::new(Cursor::new(start).chain(input));
    Ok(Some(QueryStream { bytes, version, is_empty }))
}

/// The error that `-query_loc` starts beyond the end of a query.
struct StartsBeyondEnd;
