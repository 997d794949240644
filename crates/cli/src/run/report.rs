//! Reports of blocks of queries, formatted by all threads and written in query order.

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::query::Query;
use fleetblast_report::columns::Columns;
use fleetblast_report::error::ReportError;
use fleetblast_report::model::{self, HitOrder, HspOrder, OutputOptions, QueryResult};
use fleetblast_report::pieces;
use rayon::prelude::*;

use super::output::Output;
use super::queries::{self, Block, QueryRecord};
use super::subjects::Target;
use crate::error::CliError;
use crate::messages;
use crate::plan::{Format, Plan, Report};
use crate::terminal::{Progress, Stage};
use crate::trace::{Kind, Lane, Recorder};

/// Queries whose reports are held in memory at a time, per thread.
const QUERIES_PER_THREAD: usize = 4;

/// What BLAST+ warns of where names of taxa are asked for and there is no taxonomy database.
pub const NO_TAXONOMY: &str = "Taxonomy name lookup from taxid requires installation of taxdb database with \
    ftp://ftp.ncbi.nlm.nih.gov/blast/db/taxdb.tar.gz";

/// Formats and writes a report.
pub struct Reporter<'a> {
    search: model::Setup<'a>,
    target: &'a Target,
    /// BLAST+ warns for every query that there is no taxonomy database.
    misses_taxonomy: bool,
    /// Queries reported so far.
    queries: usize,
    recorder: Recorder,
    /// Blocks reported so far.
    blocks: u64,
}

impl<'a> Reporter<'a> {
    /// The report that the plan asks for.
    pub fn new(plan: &'a Plan, target: &'a Target, recorder: Recorder) -> Reporter<'a> {
        let search = search(plan, target);
        let misses_taxonomy = misses_taxonomy(&search, target);
        Reporter { search, target, misses_taxonomy, queries: 0, recorder, blocks: 0 }
    }

    /// Writes what comes before all queries.
    pub fn start(&self, output: &mut Output) -> Result<(), CliError> {
        let mut bytes = Vec::new();
        pieces::prologue(&self.search, &mut bytes);
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
            pieces::opening(&self.search, first, &mut bytes).map_err(|error| failure(&error))?;
            output.write(&bytes)?;
        }
        progress.stage(Stage::Report, results.len() as u64);
        let at_a_time = QUERIES_PER_THREAD * rayon::current_num_threads();
        for (part, records) in results.chunks(at_a_time).zip(block.records.chunks(at_a_time)) {
            let mut span = self.recorder.begin(Lane::Search, Kind::Format);
            let reports: Vec<_> = part.par_iter().map(|result| self.query(result)).collect();
            let bytes = reports.iter().flatten().map(|report| report.len() as u64).sum();
            span.arg("block", self.blocks);
            span.arg("partitions", 1);
            span.arg("hits", part.iter().map(|result| result.hits.len() as u64).sum());
            span.arg("bytes", bytes);
            drop(span);
            let mut span = self.recorder.begin(Lane::Output, Kind::Write);
            span.arg("block", self.blocks);
            span.arg("bytes", bytes);
            for (report, record) in reports.into_iter().zip(records) {
                self.warn(record, progress);
                output.write(&report.map_err(|error| failure(&error))?)?;
            }
            progress.step(part.len() as u64);
        }
        self.queries += results.len();
        self.blocks += 1;
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
        if self.misses_taxonomy {
            progress.say(&messages::warning(NO_TAXONOMY));
        }
    }

    fn query(&self, result: &QueryResult) -> Result<Vec<u8>, ReportError> {
        let mut bytes = Vec::new();
        pieces::format_query(&self.search, result, self.target, &mut bytes)?;
        Ok(bytes)
    }

    /// Writes what comes after the last query.
    pub fn finish(&self, output: &mut Output, progress: &Progress) -> Result<(), CliError> {
        if self.misses_taxonomy && warns_at_end(&self.search) {
            progress.say(&messages::warning(NO_TAXONOMY));
        }
        let mut bytes = Vec::new();
        pieces::epilogue(&self.search, self.queries, &mut bytes);
        output.write(&bytes)
    }
}

/// What is the same for all queries of the report that the plan asks for.
pub fn search<'a>(plan: &'a Plan, target: &Target) -> model::Setup<'a> {
    model::Setup {
        program: "blastp",
        banner: "BLASTP 2.12.0+",
        database: target.summary.clone(),
        params: &plan.params,
        matrix_name: &plan.matrix_name,
        output: output_options(&plan.report, plan.parse_deflines),
    }
}

/// Whether BLAST+ warns for every query that columns need a taxonomy database which is not there.
pub fn misses_taxonomy(search: &model::Setup, target: &Target) -> bool {
    columns(&search.output.format).is_some_and(Columns::want_taxonomy)
        && !target.taxonomy.is_installed()
}

/// Whether BLAST+ repeats its warning for the last line of the report, as it does for that of format 7.
pub fn warns_at_end(search: &model::Setup) -> bool {
    matches!(search.output.format, model::Format::Commented(_))
}

/// Whether the report of a plan shows names of taxa.
pub fn has_taxon_names(plan: &Plan) -> bool {
    let output = output_options(&plan.report, plan.parse_deflines);
    columns(&output.format).is_some_and(Columns::have_taxon_names)
}

/// The columns of a format that has some.
fn columns(format: &model::Format) -> Option<&Columns> {
    match format {
        model::Format::Tabular(columns) | model::Format::Commented(columns) => Some(columns),
        model::Format::Pairwise | model::Format::Xml => None,
    }
}

/// A query for the report, without what was found.
pub fn result<'a>(record: &'a QueryRecord, query: &'a Query) -> QueryResult<'a> {
    QueryResult {
        batch_searched: true,
        number: record.number,
        unnamed: record.unnamed,
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
        ReportError::Deflines { .. }
        | ReportError::NoDefline { .. }
        | ReportError::Taxonomy { .. } => CliError::database(error),
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
