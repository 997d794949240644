//! Reports of blocks of queries, formatted by all threads and written in query order.

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::query::Query;
use fleetblast_report::columns::Columns;
use fleetblast_report::error::ReportError;
use fleetblast_report::model::{self, HitOrder, HspOrder, OutputOptions, QueryResult};
use fleetblast_report::report;
use rayon::prelude::*;

use super::output::Output;
use super::queries::{self, Block, QueryRecord};
use super::subjects::Target;
use crate::error::CliError;
use crate::messages;
use crate::plan::{Format, Plan, Report};
use crate::terminal::Progress;

/// Queries whose reports are held in memory at a time, per thread.
const QUERIES_PER_THREAD: usize = 4;

/// Formats and writes a report.
pub struct Reporter<'a> {
    search: model::Search<'a>,
    target: &'a Target,
    /// Text of a warning that BLAST+ gives for every query.
    taxonomy_warning: Option<&'static str>,
    /// Queries reported so far.
    queries: usize,
}

impl<'a> Reporter<'a> {
    /// The report that the plan asks for.
    pub fn new(plan: &'a Plan, target: &'a Target) -> Reporter<'a> {
        let search = search(plan, target);
        let taxonomy_warning = taxonomy_warning(&search);
        Reporter { search, target, taxonomy_warning, queries: 0 }
    }

    /// Writes what comes before all queries.
    pub fn start(&self, output: &mut Output) -> Result<(), CliError> {
        let mut bytes = Vec::new();
        report::prologue(&self.search, &mut bytes);
        output.write(&bytes)
    }

    /// Writes the reports of a block.
    pub fn block(
        &mut self,
        block: &Block,
        hits: &[Vec<SubjectHit>],
        output: &mut Output,
        progress: &Progress,
    ) -> Result<(), CliError> {
        let messages: Vec<Vec<u8>> = block.records.iter().map(xml_messages).collect();
        let results: Vec<QueryResult> = block
            .records
            .iter()
            .zip(&block.prepared)
            .zip(hits)
            .zip(&messages)
            .zip(queries::batch_searched(&block.prepared, &block.batches, Query::is_searchable))
            .map(|((((record, query), hits), messages), batch_searched)| QueryResult {
                batch_searched,
                messages,
                hits,
                hit_count: hits.len(),
                ..result(record, query)
            })
            .collect();
        if self.queries == 0
            && let Some(first) = results.first()
        {
            let mut bytes = Vec::new();
            report::opening(&self.search, first, &mut bytes).map_err(|error| failure(&error))?;
            output.write(&bytes)?;
        }
        let at_a_time = QUERIES_PER_THREAD * rayon::current_num_threads();
        for (part, records) in results.chunks(at_a_time).zip(block.records.chunks(at_a_time)) {
            let reports: Vec<_> = part.par_iter().map(|result| self.query(result)).collect();
            for (report, record) in reports.into_iter().zip(records) {
                self.warn(record, progress);
                output.write(&report.map_err(|error| failure(&error))?)?;
            }
        }
        self.queries += results.len();
        Ok(())
    }

    /// Prints the warnings that BLAST+ gives when it reports this query; XML holds them itself.
    fn warn(&self, record: &QueryRecord, progress: &Progress) {
        if self.search.output.format == model::Format::Xml {
            return;
        }
        if let Some(text) = record.warning() {
            progress.say(&[b"Warning: [blastp] ", &text[..]].concat());
        }
        if let Some(warning) = self.taxonomy_warning {
            progress.say(&messages::warning(warning));
        }
    }

    fn query(&self, result: &QueryResult) -> Result<Vec<u8>, ReportError> {
        let mut bytes = Vec::new();
        report::format_query(&self.search, result, self.target, &mut bytes)?;
        Ok(bytes)
    }

    /// Writes what comes after the last query.
    pub fn finish(&self, output: &mut Output) -> Result<(), CliError> {
        let mut bytes = Vec::new();
        report::epilogue(&self.search, self.queries, &mut bytes);
        output.write(&bytes)
    }
}

/// What is the same for all queries of the report that the plan asks for.
pub fn search<'a>(plan: &'a Plan, target: &Target) -> model::Search<'a> {
    model::Search {
        program: "blastp",
        banner: "BLASTP 2.12.0+",
        database: target.summary.clone(),
        params: &plan.params,
        matrix_name: &plan.matrix_name,
        output: output_options(&plan.report, plan.parse_deflines),
    }
}

/// Text of the warning that BLAST+ gives for every query if columns need a taxonomy that is not there.
pub fn taxonomy_warning(search: &model::Search) -> Option<&'static str> {
    match &search.output.format {
        model::Format::Tabular(columns) | model::Format::Commented(columns) => {
            columns.taxonomy_warning()
        }
        _ => None,
    }
}

/// A query for the report, without what was found.
pub fn result<'a>(record: &'a QueryRecord, query: &'a Query) -> QueryResult<'a> {
    QueryResult {
        batch_searched: true,
        number: record.number,
        title: &record.record.title,
        ids: &record.record.ids,
        residues: &record.record.residues,
        range: record.range.clone(),
        query,
        hits: &[],
        hit_count: 0,
        messages: &[],
    }
}

/// A query's warnings as the XML report prints them.
pub fn xml_messages(record: &QueryRecord) -> Vec<u8> {
    record
        .warning()
        .map(|warning| [&record.name()[..], b":  ", &warning[..]].concat())
        .unwrap_or_default()
}

/// A report that cannot be made.
pub fn failure(error: &ReportError) -> CliError {
    match error {
        ReportError::Deflines { .. } | ReportError::NoDefline { .. } => CliError::database(error),
        _ => CliError::engine(error),
    }
}

fn output_options(report: &Report, parse_deflines: bool) -> OutputOptions {
    let columns = |delimiter: &str| {
        let delimiter = report.delimiter.as_deref().unwrap_or(delimiter);
        Columns::parse(&report.columns, delimiter.as_bytes())
    };
    OutputOptions {
        format: match report.format {
            Format::Pairwise => model::Format::Pairwise,
            Format::Xml => model::Format::Xml,
            Format::Tabular => model::Format::Tabular(columns("\t")),
            Format::TabularComments => model::Format::Commented(columns("\t")),
            Format::Csv => model::Format::Tabular(columns(",")),
        },
        line_length: report.line_length,
        html: report.html,
        hit_order: report.sort_hits.map(|order| match order {
            0 => HitOrder::Evalue,
            1 => HitOrder::BitScore,
            2 => HitOrder::TotalScore,
            3 => HitOrder::Identity,
            _ => HitOrder::Coverage,
        }),
        hsp_order: match report.sort_hsps {
            None | Some(0) => HspOrder::Evalue,
            Some(1) => HspOrder::Score,
            Some(2) => HspOrder::QueryStart,
            Some(3) => HspOrder::Identity,
            Some(_) => HspOrder::SubjectStart,
        },
        show_gis: report.show_gis,
        num_descriptions: report.num_descriptions,
        num_alignments: report.num_alignments,
        parse_deflines,
    }
}
