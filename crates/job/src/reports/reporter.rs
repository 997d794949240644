//! Reports of blocks of queries, formatted by all threads and written in query order.

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::query::Query;
use fleetblast_report::error::ReportError;
use fleetblast_report::model::{self, QueryResult};
use fleetblast_report::pieces;
use fleetblast_report::sam::{self, Record, Reference};
use rayon::prelude::*;

use super::named::named;
use super::{NO_TAXONOMY, Warning, failure, misses_taxonomy, warns_at_end};
use crate::audience::{Audience, Stage};
use crate::error::Error;
use crate::hits::Visitor;
use crate::output::Pages;
use crate::plan::Plan;
use crate::queries::{Block, QueryRecord};
use crate::reports;
use crate::subjects::Target;
use crate::trace::{Kind, Lane, Recorder};

/// Queries whose reports are held in memory at a time, per thread.
const QUERIES_PER_THREAD: usize = 4;
/// More, as long as they have no more hits than this, per thread.
const HITS_PER_THREAD: usize = 2000;

/// What is reported of a query.
#[derive(Default)]
struct QueryReport {
    bytes: Vec<u8>,
    /// What the lines of SAM refer to.
    references: Vec<Reference>,
}

/// Formats and writes a report.
pub struct Reporter<'a> {
    setup: model::Setup<'a>,
    target: &'a Target,
    /// BLAST+ warns for every query that there is no taxonomy database.
    misses_taxonomy: bool,
    /// What comes before the first query is written.
    is_open: bool,
    /// Queries reported so far.
    queries: usize,
    /// Lines of SAM, which names all references first, and what they refer to.
    lines: Vec<u8>,
    references: Vec<Reference>,
    recorder: Recorder,
    /// Blocks reported so far.
    blocks: u64,
}

impl<'a> Reporter<'a> {
    /// The report that the plan asks for.
    pub fn new(plan: &'a Plan, target: &'a Target, recorder: Recorder) -> Reporter<'a> {
        let setup = reports::setup(plan, target);
        let misses_taxonomy = misses_taxonomy(&setup, target);
        Reporter {
            setup,
            target,
            misses_taxonomy,
            is_open: false,
            queries: 0,
            lines: Vec::new(),
            references: Vec::new(),
            recorder,
            blocks: 0,
        }
    }

    /// Writes what comes before all queries.
    pub fn start(&self, output: &mut impl Pages) -> Result<(), Error> {
        let mut bytes = Vec::new();
        pieces::prologue(&self.setup, &mut bytes);
        output.write(&bytes)
    }

    /// Writes the reports of a block; `searched` says for each query whether some query of its batch can be searched.
    pub fn block(
        &mut self,
        block: &Block,
        searched: &[bool],
        hits: &[Vec<SubjectHit>],
        output: &mut impl Pages,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let messages: Vec<Vec<u8>> = block.records.iter().map(reports::xml_messages).collect();
        let results: Vec<QueryResult> = block
            .records
            .iter()
            .zip(&block.prepared)
            .zip(hits)
            .zip(&messages)
            .zip(searched)
            .map(|((((record, query), hits), messages), &batch_searched)| QueryResult {
                batch_searched,
                messages,
                hits,
                hit_count: hits.len(),
                ..reports::result(record, query)
            })
            .collect();
        if let Some(first) = results.first().filter(|_| !self.is_open) {
            self.open(first, output)?;
        }
        audience.stage(Stage::Report, results.len() as u64);
        let (mut results_left, mut records_left) = (&results[..], &block.records[..]);
        while !results_left.is_empty() {
            let count = together(results_left);
            let (part, records) = (&results_left[..count], &records_left[..count]);
            (results_left, records_left) = (&results_left[count..], &records_left[count..]);
            let mut span = self.recorder.begin(Lane::Search, Kind::Format);
            let reports: Vec<_> = part.par_iter().map(|result| self.query(result)).collect();
            let bytes = reports.iter().flatten().map(|report| report.bytes.len() as u64).sum();
            span.arg("block", self.blocks);
            span.arg("partitions", 1);
            span.arg("hits", part.iter().map(|result| result.hits.len() as u64).sum());
            span.arg("bytes", bytes);
            drop(span);
            let mut span = self.recorder.begin(Lane::Output, Kind::Write);
            span.arg("block", self.blocks);
            span.arg("bytes", bytes);
            for (report, record) in reports.into_iter().zip(records) {
                Warning::of(record).tell(&self.setup, self.misses_taxonomy, audience);
                let report = report.map_err(|error| failure(&error))?;
                match self.setup.output.format {
                    model::Format::Sam(_) => self.lines.extend(report.bytes),
                    _ => output.query(&report.bytes)?,
                }
                self.references.extend(report.references);
            }
            audience.step(part.len() as u64);
        }
        self.pass_over(results.len());
        self.blocks += 1;
        Ok(())
    }

    /// Passes the queries of a block and their hits to a program.
    ///
    /// # Errors
    /// Definition lines that cannot be read; an error of the visitor.
    pub fn visit(
        &self,
        block: &Block,
        hits: &[Vec<SubjectHit>],
        visitor: &mut Visitor<'_>,
    ) -> Result<(), Error> {
        for ((record, query), hits) in block.records.iter().zip(&block.prepared).zip(hits) {
            let result = QueryResult { hits, ..reports::result(record, query) };
            visitor(named(&self.setup, &result, record, self.target)?)?;
        }
        Ok(())
    }

    /// Whether what comes before the first query is written.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// How many queries are reported, or their searches in rounds.
    pub fn reported(&self) -> usize {
        self.queries
    }

    /// So many queries are reported, if not by this.
    pub fn pass_over(&mut self, queries: usize) {
        self.is_open = true;
        self.queries += queries;
    }

    /// Begins a report whose first query is reported by somebody else.
    pub fn begin(
        &mut self,
        (record, query): (&QueryRecord, &Query),
        output: &mut impl Pages,
    ) -> Result<(), Error> {
        self.start(output)?;
        self.open(&reports::result(record, query), output)?;
        self.is_open = true;
        Ok(())
    }

    /// Tells what BLAST+ warns of with the reports of queries.
    pub fn warn<'r>(
        &self,
        records: impl IntoIterator<Item = &'r QueryRecord>,
        audience: &dyn Audience,
    ) {
        let warnings = records.into_iter().map(Warning::of);
        warnings.for_each(|warning| warning.tell(&self.setup, self.misses_taxonomy, audience));
    }

    /// The report of one of a query's searches.
    pub fn round(&self, result: &QueryResult) -> Result<Vec<u8>, Error> {
        let report = self.query(result).map_err(|error| failure(&error))?;
        Ok(report.bytes)
    }

    /// The report of a search for a pattern, behind what BLAST+ warns of.
    pub fn pattern(
        &self,
        results: &[QueryResult],
        warning: Option<&[u8]>,
    ) -> Result<Vec<u8>, Error> {
        reports::of_pattern(&self.setup, results, self.target, warning)
            .map_err(|error| failure(&error))
    }

    /// Tells a warning of one of a query's searches.
    pub fn tell(&self, warning: Option<Vec<u8>>, audience: &dyn Audience) {
        Warning::new(warning).tell(&self.setup, self.misses_taxonomy, audience);
    }

    /// Writes what comes before the first query.
    pub fn open(&self, first: &QueryResult, output: &mut impl Pages) -> Result<(), Error> {
        let mut bytes = Vec::new();
        pieces::opening(&self.setup, first, &mut bytes).map_err(|error| failure(&error))?;
        output.write(&bytes)
    }

    fn query(&self, result: &QueryResult) -> Result<QueryReport, ReportError> {
        let mut report = QueryReport::default();
        let model::Format::Sam(options) = &self.setup.output.format else {
            pieces::format_query(&self.setup, result, self.target, &mut report.bytes)?;
            return Ok(report);
        };
        let subjects = result.hits.iter();
        let records =
            subjects.map(|hit| sam::records(&self.setup, options, result, self.target, hit));
        let mut records: Vec<Record> = records.collect::<Result<Vec<_>, _>>()?.concat();
        sam::order(options, &mut records, |record| &record.key);
        records.iter().for_each(|record| record.write(&mut report.bytes));
        report.references = records.into_iter().map(|record| record.key.reference).collect();
        // Mostly one after the other.
        report.references.dedup();
        Ok(report)
    }

    /// Writes what is left of a report whose next query cannot be read.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub fn end_early(&self, output: &mut impl Pages) -> Result<(), Error> {
        if self.queries == 0 {
            return Ok(());
        }
        self.write_lines(output)
    }

    /// Writes the lines of SAM, which come after a header of all of them.
    fn write_lines(&self, output: &mut impl Pages) -> Result<(), Error> {
        let model::Format::Sam(options) = &self.setup.output.format else { return Ok(()) };
        let mut header = sam::Header::new(&self.setup, options);
        self.references.iter().for_each(|reference| header.add(reference));
        output.write(&header.bytes())?;
        output.write(&self.lines)
    }

    /// Writes what comes after the last query.
    pub fn finish(&self, output: &mut impl Pages, audience: &dyn Audience) -> Result<(), Error> {
        if self.misses_taxonomy && warns_at_end(&self.setup) {
            audience.warn_alone(NO_TAXONOMY.as_bytes());
        }
        let mut bytes = Vec::new();
        self.write_lines(output)?;
        pieces::epilogue(&self.setup, self.queries, &mut bytes);
        output.write(&bytes)
    }
}

/// How many of these reports are made together.
fn together(results: &[QueryResult]) -> usize {
    let threads = rayon::current_num_threads();
    let mut hits = 0;
    let fits = |&(number, result): &(usize, &QueryResult)| {
        hits += result.hits.len();
        number < QUERIES_PER_THREAD * threads || hits <= HITS_PER_THREAD * threads
    };
    results.iter().enumerate().take_while(fits).count()
}
