//! Queries, read in blocks that are searched together.

pub mod count;
mod empties;
mod messages;
mod record;
mod start;

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
use crate::batching::Batching;
use crate::error::{Error, NO_SEQUENCES, exit};
use crate::fasta::{fasta_failure, open_input, reader};
use crate::plan::{Plan, Source};

use self::empties::BatchRecords;
pub use self::messages::{INVALID, all_empty, refused};
pub use self::record::QueryRecord;
use self::record::{range_of, tell_warnings};
use self::start::{is_seekable, leading_blanks};

/// Bytes of queries.
type Input<'a> = Box<dyn BufRead + Send + 'a>;

/// The stream of queries.
pub struct Queries<'a> {
    plan: &'a Plan,
    reader: Reader<Input<'a>>,
    /// Of their file.
    version: Option<FileVersion>,
    /// Queries read so far.
    count: usize,
    /// Those of them that are reported: not those that end before `-query_loc` starts.
    kept: usize,
    /// Those read without parsed identifiers.
    unnamed: usize,
    /// The only one, which brought its matrix along.
    given: Option<Box<QueryRecord>>,
    /// The last one read ends before `-query_loc` starts.
    passed_over: bool,
    cut: BlockLimits,
    batching: Batching,
    done: bool,
    /// There is nothing to search; BLAST+ says so for each query.
    nothing_included: bool,
}

/// Queries that are searched together, as read.
#[derive(Default)]
pub struct Records {
    /// One after the other.
    pub records: Vec<QueryRecord>,
    /// How many of them, one after the other, BLAST+ would search together.
    pub batches: Vec<usize>,
    /// What stopped the reading after this block.
    pub failure: Option<Error>,
}

/// Queries that are searched together.
pub struct Block {
    /// As read.
    pub records: Vec<QueryRecord>,
    /// As searched.
    pub prepared: Vec<Query>,
    /// How many queries, one after the other, BLAST+ would search together.
    pub batches: Vec<usize>,
    /// What stopped the reading after this block.
    pub failure: Option<Error>,
}

impl Block {
    /// For each query whether some query of its batch can be searched.
    pub fn searched(&self) -> Vec<bool> {
        batch_searched(&self.prepared, &self.batches, Query::is_searchable).collect()
    }
}

impl Records {
    /// How many queries, and residues that are searched.
    pub fn weight(&self) -> Weight {
        let residues = self.records.iter().map(|record| record.length() as u64).sum();
        Weight { sequences: self.records.len() as u64, residues }
    }
}

/// For each query whether some query of its batch can be searched.
pub fn batch_searched<T>(
    queries: &[T],
    batches: &[usize],
    searchable: impl Fn(&T) -> bool,
) -> impl Iterator<Item = bool> {
    batches::ranges(batches).flat_map(move |batch| {
        let searched = queries[batch.clone()].iter().any(&searchable);
        std::iter::repeat_n(searched, batch.len())
    })
}

impl<'a> Queries<'a> {
    /// Opens the queries, which come in blocks of so many residues, for a database of so many letters; `None` if BLAST+ calls the input empty: a file with
    /// nothing but white space.
    pub fn open(
        plan: &'a Plan,
        block_residues: u64,
        database_letters: i64,
        nothing_included: bool,
        audience: &'a dyn Audience,
    ) -> Result<Option<Queries<'a>>, Error> {
        let given = plan.start().map(|start| Box::new(QueryRecord::of_matrix(start)));
        let input = match given {
            Some(_) => {
                Some(Stream { bytes: Box::new(io::empty()), version: None, is_empty: false })
            }
            None => stream(plan, audience)?,
        };
        let Some(Stream { bytes: input, version, is_empty: done }) = input else {
            return Ok(None);
        };
        if !plan.has_unknown_batches() {
            plan.check_batch_size()?;
        }
        let reader = reader(input, &plan.query, plan.query_kind, plan.parse_deflines);
        let batch_residues = plan.batch_size.least();
        let block_queries = plan.batch_size.block_queries();
        let cut = BlockLimits { batch_residues, block_residues, block_queries };
        let batching = Batching::new(plan.batch_size, database_letters);
        Ok(Some(Queries {
            plan,
            reader,
            version,
            count: 0,
            kept: 0,
            unnamed: 0,
            given,
            passed_over: false,
            cut,
            batching,
            done,
            nothing_included,
        }))
    }

    /// The version of the file that is read, if it is a file.
    pub fn version(&self) -> Option<FileVersion> {
        self.version
    }

    /// The last block brought about so many extensions, by which the next batch is made.
    pub fn found(&mut self, extensions: u64) {
        self.batching.found(extensions);
    }

    /// Sets how many residues fill the blocks that are read from now on.
    pub fn set_block_residues(&mut self, residues: u64) {
        self.cut.block_residues = residues;
    }

    /// The queries before the next one were searched elsewhere, and brought this about.
    pub fn go_on(&mut self, course: BatchState) {
        self.batching.go_on(course);
    }

    /// The next block; `None` at the end. Made ready on all threads of the current pool, when it was marked what else is to be
    /// masked in its queries.
    ///
    /// # Errors
    /// Queries that cannot be read or marked.
    pub fn next_block(
        &mut self,
        engine: &Search,
        mark: impl FnOnce(&mut Records) -> Result<(), Error>,
        audience: &dyn Audience,
    ) -> Result<Option<Block>, Error> {
        let Some(mut read) = self.read(audience)? else { return Ok(None) };
        mark(&mut read)?;
        let prepare = |record: &QueryRecord| record.prepare(engine);
        let prepared: Vec<Query> = read.records.par_iter().map(prepare).collect();
        let searchable: Vec<bool> = prepared.iter().map(Query::is_searchable).collect();
        self.add_all_messages(&mut read, &searchable);
        let Records { records, batches, failure } = read;
        Ok(Some(Block { records, prepared, batches, failure }))
    }

    /// The next block, with its messages, for others that make it ready; `None` at the end.
    pub fn next_records(
        &mut self,
        engine: &Search,
        audience: &dyn Audience,
    ) -> Result<Option<Records>, Error> {
        let Some(mut read) = self.read(audience)? else { return Ok(None) };
        let searchable = |record: &QueryRecord| engine.has_statistics(&record.input());
        let searchable: Vec<bool> = read.records.iter().map(searchable).collect();
        self.add_all_messages(&mut read, &searchable);
        Ok(Some(read))
    }

    fn read(&mut self, audience: &dyn Audience) -> Result<Option<Records>, Error> {
        let mut block = Records::default();
        let mut weight = Weight::default();
        while !self.done && !self.is_full(weight) {
            match self.next_batch(audience) {
                Ok(records) if records.is_empty() => {}
                Ok(records) => {
                    block.batches.push(records.len());
                    weight.sequences += records.len() as u64;
                    weight.residues += records.iter().map(|r| r.length() as u64).sum::<u64>();
                    block.records.extend(records);
                }
                Err(error) => {
                    self.done = true;
                    if block.records.is_empty() {
                        return Err(error);
                    }
                    block.failure = Some(error);
                }
            }
        }
        Ok((!block.records.is_empty()).then_some(block))
    }

    /// Whether a block is to end: where the next batch depends on what this one finds, after each.
    fn is_full(&self, block: Weight) -> bool {
        block.sequences > 0 && self.batching.is_adaptive() || self.is_enough(block)
    }

    /// Whether a block has enough queries.
    pub fn is_enough(&self, block: Weight) -> bool {
        self.cut.is_full(block)
    }

    /// How the queries are cut into batches, from the first one on.
    pub fn batching(&self) -> Batching {
        self.batching.clone()
    }

    /// Whether the last query that was read is none that is searched.
    pub fn passed_over_last(&self) -> bool {
        self.passed_over
    }

    /// The next query that is reported, of whichever batch; `None` at the end.
    ///
    /// # Errors
    /// Queries that cannot be read.
    pub fn next_query(&mut self, audience: &dyn Audience) -> Result<Option<QueryRecord>, Error> {
        if self.plan.start().is_some() {
            let given = self.given.take();
            (self.count, self.kept, self.done) = (1, 1, given.is_none());
            return Ok(given.map(|given| *given));
        }
        loop {
            let failed = |error| fasta_failure(&error, audience);
            let Some(record) = self.reader.next_record().map_err(failed)? else {
                self.done = true;
                return Ok(None);
            };
            self.count += 1;
            self.unnamed += usize::from(record.ids.is_empty());
            let range = self.range(&record);
            self.passed_over = range.is_err();
            let Ok(range) = range else {
                tell_warnings(&record, audience);
                continue;
            };
            self.kept += 1;
            let (number, unnamed) = (self.kept, self.unnamed);
            return Ok(Some(QueryRecord { range, ..QueryRecord::new(record, number, unnamed) }));
        }
    }

    /// The next queries that BLAST+ would search together: until they have the residues of a batch, counting whole queries.
    fn next_batch(&mut self, audience: &dyn Audience) -> Result<Vec<QueryRecord>, Error> {
        let mut records = BatchRecords::new(self.reader.options());
        let mut residues = 0;
        let first_batch = self.count == 0;
        let first = self.count;
        self.plan.check_batch_size()?;
        while residues < self.batching.letters() {
            let Some(mut record) = self.next_query(audience)? else { break };
            if self.plan.iteration.is_none() {
                // Else when it is this query's turn, which is after all rounds of the one before.
                record.tell_warnings(audience);
            }
            residues += record.record.residues.len();
            if self.plan.identity_resets_composition && first_batch {
                record.messages.push(messages::IDENTITY.to_owned());
            }
            records.push(record)?;
        }
        if records.len() == 0 && (first_batch || self.count > first) {
            return Err(Error::engine(NO_SEQUENCES));
        }
        if self.plan.iteration.is_some() && records.len() > 1 {
            // An empty query does not fill a batch (`CPsiBlastValidate::QueryFactory`).
            return Err(Error::engine(messages::SEVERAL));
        }
        if records.is_all_empty() {
            return Err(all_empty(records.len()));
        }
        records.into_records()
    }

    /// What BLAST+ warns of when it sets up the queries of a block and searches them.
    fn add_all_messages(&self, block: &mut Records, searchable: &[bool]) {
        for (record, &searchable) in block.records.iter_mut().zip(searchable) {
            self.add_messages(record, searchable);
        }
        let searched = batch_searched(searchable, &block.batches, |&searchable| searchable);
        self.add_messages_of_search(&mut block.records, searched);
    }

    /// What BLAST+ warns of when it sets up a query.
    pub fn add_messages(&self, record: &mut QueryRecord, searchable: bool) {
        let kind = self.plan.query_kind;
        let searched = &record.record.residues[range_of(&record.record, record.range.as_ref())];
        let told = messages::of_setup(kind, searched, searchable);
        record.messages.extend(told);
        // As `TSearchMessages::RemoveDuplicates` (blast_aux.cpp) orders them.
        record.messages.sort_unstable();
    }

    /// What BLAST+ warns of when it searches queries, so after all else, and only if there is a query to search in the batch.
    pub fn add_messages_of_search(
        &self,
        records: &mut [QueryRecord],
        searched: impl IntoIterator<Item = bool>,
    ) {
        for (record, searched) in records.iter_mut().zip(searched) {
            if searched && self.nothing_included {
                record.messages.push(messages::NOTHING_INCLUDED.to_owned());
            }
        }
    }

    /// What BLAST+ says of a batch with something to search, if it cannot search with these scores. The messages are those of each query.
    pub fn refusal<'m>(&self, messages: impl Iterator<Item = &'m Vec<String>>) -> Option<Error> {
        self.plan.refusal.as_ref().map(|told| refused(told, messages))
    }

    /// The searched part of a query. BLAST+ passes over queries that end before it starts, without a word.
    fn range(&self, record: &Record) -> Result<Option<Range<u32>>, BeyondEnd> {
        let Some(range) = &self.plan.query_range else { return Ok(None) };
        let len = record.residues.len();
        if range.start > len {
            return Err(BeyondEnd);
        }
        Ok(Some(range.start as u32..range.end.min(len).max(range.start) as u32))
    }
}

/// The bytes of the queries.
struct Stream<'a> {
    /// From the first that is not blank on.
    bytes: Input<'a>,
    /// Of their file.
    version: Option<FileVersion>,
    /// There are none.
    is_empty: bool,
}

/// The bytes of the queries; `None` if BLAST+ calls that an empty input.
fn stream<'a>(plan: &Plan, audience: &'a dyn Audience) -> Result<Option<Stream<'a>>, Error> {
    if matches!(&plan.query, Source::File(path) if path.is_dir()) {
        return Ok(None);
    }
    let (mut input, version) = open_input(&plan.query, audience)?;
    let start =
        leading_blanks(&mut input).map_err(|error| Error::new(exit::INPUT, error.to_string()))?;
    let blank = start.iter().all(u8::is_ascii_whitespace);
    if blank && is_seekable(&plan.query) {
        return Ok(None);
    }
    let is_empty = start.is_empty();
    let bytes = Box::new(Cursor::new(start).chain(input));
    Ok(Some(Stream { bytes, version, is_empty }))
}

/// `-query_loc` starts beyond the end of a query.
struct BeyondEnd;
