//! Queries, read in blocks that are searched together.

use std::io::{BufRead, Cursor, Read};
use std::ops::Range;

use fleetblast_engine::params::{DatabaseTotals, Params};
use fleetblast_engine::query::{Findings, Query, QueryInput};
use fleetblast_seq::alphabet;
use fleetblast_seq::fasta::{Reader, Record};
use fleetblast_seq::input;
use rayon::prelude::*;
use rustix::fs::SeekFrom;

use super::fasta::{fasta_failure, message_name, open_input, reader};
use crate::error::{CliError, exit};
use crate::plan::{Plan, Source};
use crate::terminal::Progress;

/// A block ends with the batch that brings it to so many residues: enough for the database to be read rarely.
pub const BLOCK_RESIDUES: usize = 50_000;
/// Or to so many queries.
pub const BLOCK_QUERIES: usize = 1_000;

/// What BLAST+ says of a query whose composition allows no statistics.
const INVALID: &str = "Could not calculate ungapped Karlin-Altschul parameters due to an invalid \
    query sequence or its translation. Please verify the query sequence(s) and/or filtering options";
/// What BLAST+ says of a query without residues.
const EMPTY: &str = "Sequence contains no data";
/// What BLAST+ says of each query of the first batch if the IDENTITY matrix rules out composition-based statistics.
const IDENTITY: &str = "Composition-based statistics cannot be used with the IDENTITY matrix, \
    resetting the composition-based statistics option to 0";
/// What BLAST+ says of each query if a list leaves nothing of the database.
const NOTHING_INCLUDED: &str = "Filtering resulted in an empty database.";
/// At most so many positions of `O` are told.
const TOLD_POSITIONS: usize = 20;

/// The stream of queries.
pub struct Queries<'a> {
    plan: &'a Plan,
    reader: Reader<Box<dyn BufRead + Send>>,
    /// Queries read so far.
    count: usize,
    done: bool,
    /// There is nothing to search; BLAST+ says so for each query.
    nothing_included: bool,
}

/// A query as read.
pub struct QueryRecord {
    /// The record, residues and all.
    pub record: Record,
    /// Number in the run, from 1.
    pub number: usize,
    /// The searched part (`-query_loc`).
    pub range: Option<Range<u32>>,
    /// What BLAST+ warns of, without the query's name.
    pub messages: Vec<String>,
}

impl QueryRecord {
    /// What BLAST+ calls the query in messages.
    pub fn name(&self) -> Vec<u8> {
        message_name(&self.record, "Query", self.number)
    }

    /// The query as it is searched.
    pub fn prepare(&self, params: &Params, totals: &DatabaseTotals) -> Query {
        Query::new(&input(&self.record, self.range.as_ref()), params, totals)
    }

    /// The same, from what was found when it was prepared before.
    pub fn prepare_again(&self, params: &Params, findings: Findings) -> Query {
        Query::again(&input(&self.record, self.range.as_ref()), params, findings)
    }

    /// Residues that are searched.
    fn length(&self) -> usize {
        range_of(&self.record, self.range.as_ref()).len()
    }

    /// The query's warnings in one text, if it has any.
    pub fn warning(&self) -> Option<Vec<u8>> {
        if self.messages.is_empty() {
            return None;
        }
        let mut text = self.name();
        text.extend_from_slice(b": ");
        for message in &self.messages {
            text.extend_from_slice(message.as_bytes());
            text.push(b' ');
        }
        Some(text)
    }
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
    pub failure: Option<CliError>,
}

/// For each query whether some query of its batch can be searched.
pub fn batch_searched(prepared: &[Query], batches: &[usize]) -> impl Iterator<Item = bool> {
    let mut rest = prepared;
    batches.iter().flat_map(move |&len| {
        let (batch, after) = rest.split_at(len);
        rest = after;
        let searched = batch.iter().any(|query| query.karlin.is_some());
        std::iter::repeat_n(searched, len)
    })
}

impl<'a> Queries<'a> {
    /// Opens the queries; `None` if BLAST+ calls the input empty: a file with nothing but white space.
    pub fn open(plan: &'a Plan, nothing_included: bool) -> Result<Option<Queries<'a>>, CliError> {
        if matches!(&plan.query, Source::File(path) if path.is_dir()) {
            return Ok(None);
        }
        let mut input = open_input(&plan.query)?;
        let start = leading_blanks(&mut input)
            .map_err(|error| CliError::new(exit::INPUT, error.to_string()))?;
        let blank = start.iter().all(u8::is_ascii_whitespace);
        if blank && is_seekable(&plan.query) {
            return Ok(None);
        }
        let done = start.is_empty();
        let input: Box<dyn BufRead + Send> = Box::new(Cursor::new(start).chain(input));
        let reader = reader(input, &plan.query, plan.parse_deflines);
        Ok(Some(Queries { plan, reader, count: 0, done, nothing_included }))
    }

    /// Number of queries, if it can be counted beforehand.
    pub fn count(&self) -> Option<u64> {
        // What is read from a pipe is not there any more for the search.
        let Source::File(path) = &self.plan.query else { return None };
        let path = path.is_file().then_some(path)?;
        count_deflines(input::open(path).ok()?)
    }

    /// The next block; `None` at the end. Made ready on all threads of the current pool.
    pub fn next_block(
        &mut self,
        params: &Params,
        totals: &DatabaseTotals,
        progress: &Progress,
    ) -> Result<Option<Block>, CliError> {
        let mut block =
            Block { records: Vec::new(), prepared: Vec::new(), batches: Vec::new(), failure: None };
        let mut residues = 0;
        while !self.done && residues < BLOCK_RESIDUES && block.records.len() < BLOCK_QUERIES {
            match self.next_batch(progress) {
                Ok(records) if records.is_empty() => {}
                Ok(records) => {
                    residues += records.iter().map(QueryRecord::length).sum::<usize>();
                    block.batches.push(records.len());
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
        let prepare = |record: &QueryRecord| record.prepare(params, totals);
        block.prepared = block.records.par_iter().map(prepare).collect();
        self.add_messages(&mut block);
        Ok((!block.records.is_empty()).then_some(block))
    }

    /// The next queries that BLAST+ would search together: until they have the residues of a batch, counting whole queries.
    fn next_batch(&mut self, progress: &Progress) -> Result<Vec<QueryRecord>, CliError> {
        let mut records = Vec::new();
        let mut residues = 0;
        let first_batch = self.count == 0;
        let first = self.count;
        while residues < self.plan.batch_size {
            let Some(record) = self.reader.next_record().map_err(|error| fasta_failure(&error))?
            else {
                self.done = true;
                break;
            };
            for warning in &record.warnings {
                progress.say(warning.to_string().as_bytes());
            }
            self.count += 1;
            let Ok(range) = self.range(&record) else { continue };
            residues += record.residues.len();
            let mut messages = Vec::new();
            if self.plan.identity_resets_composition && first_batch {
                messages.push(IDENTITY.to_owned());
            }
            records.push(QueryRecord { record, number: self.count, range, messages });
        }
        if records.is_empty() && (first_batch || self.count > first) {
            return Err(CliError::engine("Empty CBlastQueryVector"));
        }
        if !records.is_empty() && records.iter().all(|record| record.length() == 0) {
            let warnings = format!("Warning: {EMPTY} ").repeat(records.len());
            return Err(CliError::engine(warnings));
        }
        Ok(records)
    }

    /// What BLAST+ warns of when it sets up the queries of a block and searches them.
    fn add_messages(&self, block: &mut Block) {
        for (record, query) in block.records.iter_mut().zip(&block.prepared) {
            let told = messages(&record.record, record.range.as_ref(), query);
            record.messages.extend(told);
            // As `TSearchMessages::RemoveDuplicates` (blast_aux.cpp) orders them.
            record.messages.sort_unstable();
        }
        if self.nothing_included {
            // Told by the search, so after all else, and only if there is a query to search.
            let searched = batch_searched(&block.prepared, &block.batches);
            for (record, searched) in block.records.iter_mut().zip(searched) {
                if searched {
                    record.messages.push(NOTHING_INCLUDED.to_owned());
                }
            }
        }
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

/// `-query_loc` starts beyond the end of a query.
struct BeyondEnd;

/// Reads white space up to and with the first other bytes; what was read, empty for an empty input.
fn leading_blanks(input: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut start = Vec::new();
    loop {
        let bytes = input.fill_buf()?;
        let (len, blank) = (bytes.len(), bytes.iter().all(u8::is_ascii_whitespace));
        start.extend_from_slice(bytes);
        input.consume(len);
        if len == 0 || !blank {
            return Ok(start);
        }
    }
}

/// BLAST+ looks whether an input is empty only where it can go back to its start.
fn is_seekable(source: &Source) -> bool {
    match source {
        Source::Stdin => rustix::fs::seek(std::io::stdin(), SeekFrom::Current(0)).is_ok(),
        Source::File(path) => path.is_file(),
    }
}

/// What the engine searches of a record.
fn input(record: &Record, range: Option<&Range<u32>>) -> QueryInput {
    let range = range_of(record, range);
    let (from, to) = (range.start as u32, range.end as u32);
    let lower_case = record.lower_case.iter().filter_map(|run| {
        let (start, end) = (run.start.max(from), run.end.min(to));
        (start < end).then(|| start - from..end - from)
    });
    QueryInput { residues: record.residues[range].to_vec(), lower_case: lower_case.collect() }
}

fn range_of(record: &Record, range: Option<&Range<u32>>) -> Range<usize> {
    range.map_or(0..record.residues.len(), |range| range.start as usize..range.end as usize)
}

/// What BLAST+ warns of when it sets up a query.
fn messages(record: &Record, range: Option<&Range<u32>>, query: &Query) -> Vec<String> {
    if query.residues.is_empty() {
        return vec![EMPTY.to_owned()];
    }
    let mut messages = Vec::new();
    messages.extend(replaced(&record.residues[range_of(record, range)]));
    if query.karlin.is_none() {
        messages.push(INVALID.to_owned());
    }
    messages
}

/// The warning of letters that the search replaces, if there are any.
fn replaced(residues: &[u8]) -> Option<String> {
    let positions: Vec<usize> =
        residues.iter().enumerate().filter(|&(_, &c)| c == alphabet::O).map(|(at, _)| at).collect();
    let told: Vec<String> =
        positions.iter().take(TOLD_POSITIONS).map(|position| position.to_string()).collect();
    let rest = if positions.len() > TOLD_POSITIONS {
        format!(",... (only first {TOLD_POSITIONS} shown)")
    } else {
        String::new()
    };
    (!told.is_empty()).then(|| {
        format!(
            "One or more O characters replaced by X for alignment score calculations at positions {}{rest}",
            told.join(", ")
        )
    })
}

/// Number of definition lines; `None` if the input cannot be read.
fn count_deflines(mut input: impl Read) -> Option<u64> {
    let mut buffer = vec![0; 1 << 16];
    let (mut count, mut at_start) = (0, true);
    loop {
        let len = input.read(&mut buffer).ok()?;
        if len == 0 {
            return Some(count);
        }
        for &byte in &buffer[..len] {
            count += u64::from(at_start && byte == b'>');
            at_start = byte == b'\n';
        }
    }
}
