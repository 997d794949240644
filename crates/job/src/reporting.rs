//! What a plan asks of the report, in the terms of the crate that formats it.

use fleetblast_engine::query::Query;
use fleetblast_report::columns::Columns;
use fleetblast_report::error::ReportError;
use fleetblast_report::model::{self, HitOrder, HspOrder, OutputOptions, QueryResult, Sam};

use crate::audience::Audience;
use crate::error::Error;
use crate::plan::{Format, Plan, Report};
use crate::queries::QueryRecord;
use crate::subjects::Target;

/// What BLAST+ warns of where names of taxa are asked for and there is no taxonomy database.
pub const NO_TAXONOMY: &str = "Taxonomy name lookup from taxid requires installation of taxdb database with \
    ftp://ftp.ncbi.nlm.nih.gov/blast/db/taxdb.tar.gz";

/// What is the same for all queries of the report that the plan asks for.
pub fn setup<'a>(plan: &'a Plan, target: &Target) -> model::Setup<'a> {
    model::Setup {
        program: plan.program,
        banner: &plan.banner,
        papers: plan.papers,
        database: target.summary.clone(),
        params: &plan.params,
        matrix_name: &plan.matrix_name,
        query_part: plan.query_range.as_ref().map(ExactSizeIterator::len),
        output: output_options(&plan.report, plan.parse_deflines),
    }
}

/// Whether BLAST+ warns for every query that columns need a taxonomy database which is not there.
pub fn misses_taxonomy(setup: &model::Setup, target: &Target) -> bool {
    columns(&setup.output.format).is_some_and(Columns::want_taxonomy)
        && !target.taxonomy.is_installed()
}

/// What BLAST+ warns of with a query's report; in XML the report holds that itself. `misses_taxonomy` is of the whole run.
pub fn warn(
    setup: &model::Setup,
    record: &QueryRecord,
    misses_taxonomy: bool,
    audience: &dyn Audience,
) {
    if setup.output.format == model::Format::Xml {
        return;
    }
    if let Some(text) = record.warning() {
        audience.warn_alone(&text);
    }
    if misses_taxonomy {
        audience.warn_alone(NO_TAXONOMY.as_bytes());
    }
}

/// Whether BLAST+ repeats its warning for the last line of the report, as it does for that of format 7.
pub fn warns_at_end(setup: &model::Setup) -> bool {
    matches!(setup.output.format, model::Format::Commented(_))
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
        model::Format::Pairwise | model::Format::Xml | model::Format::Sam(_) => None,
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
pub fn failure(error: &ReportError) -> Error {
    match error {
        ReportError::Deflines { .. }
        | ReportError::NoDefline { .. }
        | ReportError::Taxonomy { .. } => Error::database(error),
        _ => Error::engine(error),
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
            Format::Sam => model::Format::Sam(Sam::parse(&report.columns, &report.command)),
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
