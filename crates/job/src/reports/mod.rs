//! What a plan asks of the report, in the terms of the crate that formats it.

mod named;
mod reporter;

use fleetblast_engine::query::Query;
use fleetblast_report::columns::Columns;
use fleetblast_report::error::ReportError;
use fleetblast_report::model::{self, QueryResult, SubjectSource};
use fleetblast_report::{pattern, pieces};

pub use self::reporter::Reporter;
use crate::audience::Audience;
use crate::error::Error;
use crate::plan::Plan;
use crate::queries::QueryRecord;
use crate::subjects::Target;

/// What BLAST+ warns of where names of taxa are asked for and there is no taxonomy database.
pub const NO_TAXONOMY: &str = "Taxonomy name lookup from taxid requires installation of taxdb database with \
    ftp://ftp.ncbi.nlm.nih.gov/blast/db/taxdb.tar.gz";

/// What is the same for all queries of the report that the plan asks for.
pub fn setup<'a>(plan: &'a Plan, target: &Target) -> model::Setup<'a> {
    model::Setup {
        program: if plan.params.pattern().is_some() { "phiblastp" } else { plan.program },
        banner: &plan.banner,
        papers: plan.papers,
        database: target.summary.clone(),
        params: &plan.params,
        matrix_name: &plan.matrix_name,
        query_part: plan.query_range.as_ref().map(ExactSizeIterator::len),
        output: plan.report.options(plan.parse_deflines),
    }
}

/// Whether BLAST+ warns for every query that columns need a taxonomy database which is not there.
pub fn misses_taxonomy(setup: &model::Setup, target: &Target) -> bool {
    setup.output.format.columns().is_some_and(Columns::warn_without_taxonomy)
        && !target.taxonomy.is_installed()
}

/// What BLAST+ warns of with a query's report; in XML the report holds that itself, and with SAM there is nothing of it.
pub struct Warning(Option<Vec<u8>>);

impl Warning {
    /// That of a query.
    pub fn of(record: &QueryRecord) -> Warning {
        Warning(record.warning())
    }

    /// What one of its searches brought about.
    pub fn new(text: Option<Vec<u8>>) -> Warning {
        Warning(text)
    }

    /// Tells it. `misses_taxonomy` is of the whole run.
    pub fn tell(&self, setup: &model::Setup, misses_taxonomy: bool, audience: &dyn Audience) {
        if matches!(setup.output.format, model::Format::Xml | model::Format::Sam(_)) {
            return;
        }
        if let Some(text) = &self.0 {
            audience.warn_alone(text);
        }
        if misses_taxonomy {
            audience.warn_alone(NO_TAXONOMY.as_bytes());
        }
    }
}

/// Whether BLAST+ repeats its warning for the last line of the report, as it does for that of format 7.
pub fn warns_at_end(setup: &model::Setup) -> bool {
    matches!(setup.output.format, model::Format::Commented(_))
}

/// A query for the report, without what was found.
pub fn result<'a>(record: &'a QueryRecord, query: &'a Query) -> QueryResult<'a> {
    QueryResult {
        batch_searched: true,
        number: record.number,
        unnamed: record.unnamed,
        called: record.called.as_deref(),
        title: &record.record.title,
        ids: &record.record.ids,
        residues: &record.record.residues,
        range: record.range.clone(),
        query,
        hits: &[],
        hit_count: 0,
        messages: &[],
        round: None,
    }
}

/// The report of a search for a pattern, with the result of each occurrence, behind what BLAST+ warns of, which is told nowhere else; in XML
/// that is among the messages anyway (`CBlastFormat::PrintPhiResult`).
///
/// # Errors
/// As [`pattern::format_query`] and [`pieces::format_query`].
pub fn of_pattern(
    setup: &model::Setup,
    results: &[QueryResult],
    source: &dyn SubjectSource,
    warning: Option<&[u8]>,
) -> Result<Vec<u8>, ReportError> {
    let mut bytes = Vec::new();
    if let Some(warning) = warning.filter(|_| setup.output.format != model::Format::Xml) {
        bytes.extend([b"\n", warning, b"\n"].concat());
    }
    if pieces::has_table(setup) {
        pattern::format_query(setup, results, source, &mut bytes)?;
    } else {
        let mut results = results.iter();
        results.try_for_each(|result| pieces::format_query(setup, result, source, &mut bytes))?;
    }
    Ok(bytes)
}

/// A query's warnings as the XML report prints them.
pub fn xml_messages(record: &QueryRecord) -> Vec<u8> {
    xml_message(record, record.warning())
}

/// A warning that a query brings about, as the XML report prints it.
pub fn xml_message(record: &QueryRecord, warning: Option<Vec<u8>>) -> Vec<u8> {
    warning.map(|warning| [&record.name()[..], b":  ", &warning[..]].concat()).unwrap_or_default()
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
