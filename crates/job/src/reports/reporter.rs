//! Reports of blocks of queries: all threads format them, and they are written in query order.

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::query::Query;
use fleetblast_report::error::ReportError;
use fleetblast_report::model::{self, QueryResult};
use fleetblast_report::pieces;
use fleetblast_report::sam::{self, SamRecord, SamReference};
use rayon::prelude::*;

use super::named::name_hits;
use super::{NO_TAXONOMY, Warning, lacks_taxonomy, report_failure, warns_at_end};
use crate::audience::{Audience, Stage};
use crate::error::Error;
use crate::hits::Visitor;
use crate::output::ReportSink;
use crate::plan::Plan;
use crate::queries::{PreparedBlock, QueryRecord};
use crate::reports;
use crate::subjects::SubjectDatabase;
use crate::trace::{Kind, Lane, Recorder};

/// Minimum number of queries per thread whose reports are formatted together.
const QUERIES_PER_THREAD: usize = 4;
/// Number of hits per thread up to which more than [`QUERIES_PER_THREAD`] queries per thread are
/// formatted together.
const HITS_PER_THREAD: usize = 2000;

/// The formatted report of a query.
#[derive(Default)]
struct QueryReport {
    bytes: Vec<u8>,
    /// Reference sequences that the SAM lines of the query name.
    references: Vec<SamReference>,
}

/// Formatter and writer of a report.
pub struct Reporter<'a> {
    setup: model::ReportSetup<'a>,
    subjects: &'a SubjectDatabase,
    /// Whether BLAST+ warns for every query that there is no taxonomy database.
    lacks_taxonomy: bool,
    /// Whether the text before the first query is written, by this process or another one.
    is_open: bool,
    /// Number of queries reported so far, by this process or another one.
    queries: usize,
    /// Lines of SAM for all queries. They are written at the end, because the header names all
    /// references.
    lines: Vec<u8>,
    references: Vec<SamReference>,
    recorder: Recorder,
    /// Number of blocks reported so far.
    blocks: u64,
}

impl<'a> Reporter<'a> {
    /// Creates the reporter of a plan.
    pub fn new(plan: &'a Plan, subjects: &'a SubjectDatabase, recorder: Recorder) -> Reporter<'a> {
        let setup = reports::setup(plan, subjects);
        let lacks_taxonomy = lacks_taxonomy(&setup, subjects);
        Reporter {
            setup,
            subjects,
            lacks_taxonomy,
            is_open: false,
            queries: 0,
            lines: Vec::new(),
            references: Vec::new(),
            recorder,
            blocks: 0,
        }
    }

    /// Writes the text at the start of the report, which does not depend on the queries.
    pub fn write_prologue(&self, output: &mut impl ReportSink) -> Result<(), Error> {
        let mut bytes = Vec::new();
        pieces::prologue(&self.setup, &mut bytes);
        output.write(&bytes)
    }

    /// Writes the reports of a block. `searched` states for each query whether its batch has a
    /// searchable query.
    pub fn write_block(
        &mut self,
        block: &PreparedBlock,
        searched: &[bool],
        hits: &[Vec<SubjectHit>],
        output: &mut impl ReportSink,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let messages: Vec<Vec<u8>> = block.records.iter().map(reports::xml_messages).collect();
        let mut results: Vec<QueryResult> = block
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
                ..reports::empty_result(record, query)
            })
            .collect();
        output.begin_batch(0)?;
        if let Some(first) = results.first().filter(|_| !self.is_open) {
            self.write_opening(first, output)?;
        }
        audience.begin_stage(Stage::Report, results.len() as u64);
        let queries = results.len();
        for range in reports::batches_for_report(&self.setup, &block.batches, queries) {
            output.begin_batch(range.start)?;
            let batch = &mut results[range.clone()];
            reports::mark_earlier_hits(batch);
            self.write_batch(batch, &block.records[range], output, audience)?;
        }
        self.add_reported_queries(queries);
        self.blocks += 1;
        Ok(())
    }

    /// Writes the reports of a batch.
    fn write_batch(
        &mut self,
        batch: &[QueryResult],
        records: &[QueryRecord],
        output: &mut impl ReportSink,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let mut bytes = Vec::new();
        pieces::batch_header(&self.setup, self.subjects, batch, &mut bytes)
            .map_err(|error| report_failure(&error))?;
        output.write(&bytes)?;
        let (mut results_left, mut records_left) = (batch, records);
        while !results_left.is_empty() {
            let count = count_reported_together(results_left, &self.setup.output.format);
            let (part, records) = (&results_left[..count], &records_left[..count]);
            (results_left, records_left) = (&results_left[count..], &records_left[count..]);
            let mut span = self.recorder.begin(Lane::Search, Kind::Format);
            let reports: Vec<_> = part.par_iter().map(|result| self.format_query(result)).collect();
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
                Warning::from_record(record).print(&self.setup, self.lacks_taxonomy, audience);
                let report = report.map_err(|error| report_failure(&error))?;
                match self.setup.output.format {
                    model::Format::Sam(_) => self.lines.extend(report.bytes),
                    _ => output.write_query(&report.bytes)?,
                }
                self.references.extend(report.references);
            }
            audience.add_steps(part.len() as u64);
        }
        let mut bytes = Vec::new();
        pieces::batch_footer(&self.setup, batch, &mut bytes);
        output.write(&bytes)
    }

    /// Passes the queries of a block and their hits to `visitor`.
    ///
    /// # Errors
    /// Definition lines that cannot be read; an error of the visitor.
    pub fn visit(
        &self,
        block: &PreparedBlock,
        hits: &[Vec<SubjectHit>],
        visitor: &mut Visitor<'_>,
    ) -> Result<(), Error> {
        for ((record, query), hits) in block.records.iter().zip(&block.prepared).zip(hits) {
            let result = QueryResult { hits, ..reports::empty_result(record, query) };
            visitor(name_hits(&self.setup, &result, record, self.subjects)?)?;
        }
        Ok(())
    }

    /// Returns whether the text before the first query is written, by this process or another one.
    pub fn has_written_opening(&self) -> bool {
        self.is_open
    }

    /// Returns the number of queries reported so far; of psiblast, the number of reported
    /// iterations.
    pub fn reported_count(&self) -> usize {
        self.queries
    }

    /// Counts queries as reported, by this process or another one. The text before the first query
    /// counts as written, too.
    pub fn add_reported_queries(&mut self, queries: usize) {
        self.is_open = true;
        self.queries += queries;
    }

    /// Writes all text before the first query, for a report whose first query another process
    /// reports.
    pub fn begin(
        &mut self,
        (record, query): (&QueryRecord, &Query),
        output: &mut impl ReportSink,
    ) -> Result<(), Error> {
        self.write_prologue(output)?;
        self.write_opening(&reports::empty_result(record, query), output)?;
        self.is_open = true;
        Ok(())
    }

    /// Prints BLAST+'s warnings with the reports of queries.
    pub fn print_warnings<'r>(
        &self,
        records: impl IntoIterator<Item = &'r QueryRecord>,
        audience: &dyn Audience,
    ) {
        let warnings = records.into_iter().map(Warning::from_record);
        warnings.for_each(|warning| warning.print(&self.setup, self.lacks_taxonomy, audience));
    }

    /// Formats the report of an iteration.
    pub fn format_iteration(&self, result: &QueryResult) -> Result<Vec<u8>, Error> {
        let failed = |error: ReportError| report_failure(&error);
        let batch = std::slice::from_ref(result);
        let mut bytes = Vec::new();
        pieces::batch_header(&self.setup, self.subjects, batch, &mut bytes).map_err(failed)?;
        bytes.extend(self.format_query(result).map_err(failed)?.bytes);
        pieces::batch_footer(&self.setup, batch, &mut bytes);
        Ok(bytes)
    }

    /// Formats the report of a pattern search, which begins with its warning.
    pub fn format_pattern(
        &self,
        results: &[QueryResult],
        warning: Option<&[u8]>,
    ) -> Result<Vec<u8>, Error> {
        reports::format_pattern(&self.setup, results, self.subjects, warning)
            .map_err(|error| report_failure(&error))
    }

    /// Prints the warning of an iteration.
    pub fn print_warning(&self, warning: Option<Vec<u8>>, audience: &dyn Audience) {
        Warning::new(warning).print(&self.setup, self.lacks_taxonomy, audience);
    }

    /// Writes the text between the start of the report and the first query, which depends on that
    /// query.
    pub fn write_opening(
        &self,
        first: &QueryResult,
        output: &mut impl ReportSink,
    ) -> Result<(), Error> {
        let mut bytes = Vec::new();
        pieces::first_query_prologue(&self.setup, first, &mut bytes)
            .map_err(|error| report_failure(&error))?;
        output.write(&bytes)
    }

    fn format_query(&self, result: &QueryResult) -> Result<QueryReport, ReportError> {
        let mut report = QueryReport::default();
        let model::Format::Sam(options) = &self.setup.output.format else {
            pieces::format_query(&self.setup, result, self.subjects, &mut report.bytes)?;
            return Ok(report);
        };
        let hits = result.hits.iter();
        let records =
            hits.map(|hit| sam::subject_records(&self.setup, options, result, self.subjects, hit));
        let mut records: Vec<SamRecord> = records.collect::<Result<Vec<_>, _>>()?.concat();
        sam::sort_records(options, &mut records, |record| &record.key);
        records.iter().for_each(|record| record.write(&mut report.bytes));
        report.references = records.into_iter().map(|record| record.key.reference).collect();
        // Equal references mostly follow each other.
        report.references.dedup();
        Ok(report)
    }

    /// Writes the remaining text of an incomplete report, when the next query cannot be read.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub fn finish_early(&self, output: &mut impl ReportSink) -> Result<(), Error> {
        if self.queries == 0 {
            return Ok(());
        }
        self.write_lines(output)
    }

    /// Writes the header and the lines of SAM. Writes nothing for other formats.
    fn write_lines(&self, output: &mut impl ReportSink) -> Result<(), Error> {
        let model::Format::Sam(options) = &self.setup.output.format else { return Ok(()) };
        let mut header = sam::SamHeader::new(&self.setup, options);
        self.references.iter().for_each(|reference| header.add_reference(reference));
        output.write(&header.to_bytes())?;
        output.write(&self.lines)
    }

    /// Writes the text after the last query.
    pub fn finish(
        &self,
        output: &mut impl ReportSink,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        if self.lacks_taxonomy && warns_at_end(&self.setup) {
            audience.warn_from_rank(NO_TAXONOMY.as_bytes());
        }
        let mut bytes = Vec::new();
        self.write_lines(output)?;
        pieces::epilogue(&self.setup, self.queries, &mut bytes);
        output.write(&bytes)
    }
}

/// Returns the number of results, from the first one, that are formatted together.
fn count_reported_together(results: &[QueryResult], format: &model::Format) -> usize {
    let threads = rayon::current_num_threads();
    // Objects of JSON and XML2 can be large without hits: they may list all subjects.
    let most_hits = match format {
        model::Format::Output2(_) => None,
        _ => Some(HITS_PER_THREAD * threads),
    };
    let mut hits = 0;
    let fits = |&(number, result): &(usize, &QueryResult)| {
        hits += result.hits.len();
        number < QUERIES_PER_THREAD * threads || most_hits.is_some_and(|most| hits <= most)
    };
    results.iter().enumerate().take_while(fits).count()
}
