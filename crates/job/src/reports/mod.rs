//! Formats the reports that a plan asks for, with the report crate.

mod named;
mod reporter;

use std::ops::Range;

use fleetblast_db::restrict::{ListEntries, Restriction};
use fleetblast_engine::batches::batch_ranges;
use fleetblast_engine::query::Query;
use fleetblast_report::archive_options::{
    self, ArchiveOption, ArchiveRequest, ArchivedPssms, OptionValue, StoredMasks,
};
use fleetblast_report::columns::Columns;
use fleetblast_report::error::ReportError;
use fleetblast_report::model::{self, QueryResult, ReadQuery, Results, SubjectSource};
use fleetblast_report::{pattern, pieces};

pub use self::reporter::Reporter;
use crate::audience::Audience;
use crate::error::Error;
use crate::plan::{IterationPlan, MaskAlgorithm, Plan};
use crate::queries::QueryRecord;
use crate::subjects::SubjectDatabase;

/// BLAST+'s warning if names of taxa are wanted and there is no taxonomy database.
pub const NO_TAXONOMY: &str = "Taxonomy name lookup from taxid requires installation of taxdb database with \
    ftp://ftp.ncbi.nlm.nih.gov/blast/db/taxdb.tar.gz";

/// Returns the part of a report's setup that is the same for all queries.
pub fn setup<'a>(plan: &'a Plan, subjects: &SubjectDatabase) -> model::ReportSetup<'a> {
    let mut output = plan.report.options(plan.parse_deflines, plan.params.common().release);
    if let model::Format::Output2(format) = &mut output.format {
        format.results = results(plan, subjects);
        format.starts_with_pssm = plan.initial_pssm.is_some();
        format.lacks_sequences = plan.report.lacks_sequences
            && format.results == Results::Iterations
            && !format.starts_with_pssm;
    }
    if let model::Format::Archive(request) = &mut output.format {
        complete_request(request, plan, subjects);
    }
    model::ReportSetup {
        program: plan.reported_program,
        citations: plan.citations,
        database: subjects.summary.clone(),
        params: &plan.params,
        matrix_name: &plan.matrix_name,
        query_range_length: plan.query_range.as_ref().map(ExactSizeIterator::len),
        output,
    }
}

/// Returns the form in which JSON and XML2 hold the results of a query.
fn results(plan: &Plan, subjects: &SubjectDatabase) -> Results {
    if subjects.summary.is_subject {
        return Results::Subjects(subjects.listed_subjects());
    }
    // With a pattern BLAST+ does not regard psiblast as iterative (`IsIterativeSearch`).
    let is_iterated = plan.iteration.is_some() && plan.params.pattern().is_none();
    match is_iterated || plan.initial_pssm.is_some() {
        true => Results::Iterations,
        false => Results::Search,
    }
}

/// Returns whether BLAST+ warns for every query that columns need a missing taxonomy database.
pub fn lacks_taxonomy(setup: &model::ReportSetup, subjects: &SubjectDatabase) -> bool {
    setup.output.format.columns().is_some_and(Columns::warn_without_taxonomy)
        && !subjects.taxonomy.is_installed()
}

/// BLAST+'s warning that is printed with the report of a query. XML reports contain it instead, and
/// SAM has none.
pub struct Warning(Option<Vec<u8>>);

impl Warning {
    /// Creates the warning of a query.
    pub fn from_record(record: &QueryRecord) -> Warning {
        Warning(record.warning())
    }

    /// Creates the warning of an iteration.
    pub fn new(text: Option<Vec<u8>>) -> Warning {
        Warning(text)
    }

    /// Prints the warning, and with `lacks_taxonomy` also the warning about the missing taxonomy
    /// database. Prints nothing for XML and SAM.
    pub fn print(&self, setup: &model::ReportSetup, lacks_taxonomy: bool, audience: &dyn Audience) {
        let format = &setup.output.format;
        if format.is_document() || matches!(format, model::Format::Sam(_)) {
            return;
        }
        if let Some(text) = &self.0 {
            audience.warn_from_rank(text);
        }
        if lacks_taxonomy {
            audience.warn_from_rank(NO_TAXONOMY.as_bytes());
        }
    }
}

/// Returns whether BLAST+ repeats its warning about the taxonomy database at the end of the report.
/// It does so in format 7.
pub fn warns_at_end(setup: &model::ReportSetup) -> bool {
    matches!(setup.output.format, model::Format::Commented(_))
}

/// Returns the ranges of queries that the report of a block keeps together: its batches, or all
/// `queries` that are reported if the format has no text for batches. A batch is left out if the
/// search ended before its last query, because then some of its queries are not reported.
pub fn batches_for_report(
    setup: &model::ReportSetup,
    batches: &[usize],
    queries: usize,
) -> Vec<Range<usize>> {
    let whole = [queries];
    let batches = if pieces::has_batch_text(setup) { batches } else { &whole };
    batch_ranges(batches).take_while(|batch| batch.end <= queries).collect()
}

/// Sets for each query of a batch whether an earlier query of the batch has hits.
pub fn mark_earlier_hits(batch: &mut [QueryResult]) {
    let mut follows_hits = false;
    for result in batch {
        result.follows_hits = follows_hits;
        follows_hits |= result.hit_count > 0;
    }
}

/// Adds the values that depend on the opened subjects to the request that archives store.
pub fn complete_request(request: &mut ArchiveRequest, plan: &Plan, subjects: &SubjectDatabase) {
    request.warnings.extend(subjects.opening_warnings.iter().cloned());
    request.searches_nothing = subjects.is_database_empty;
    let list = plan.restriction.as_ref();
    let options = list.map(|list| list_options(list, &subjects.archived_taxids));
    request.subject_options = options.unwrap_or_default();
    request.pssms = plan.iteration.as_ref().map(|it| archived_pssms(plan, it));
    if let Some(mask) = plan.database_mask.as_ref().filter(|_| subjects.has_stored_masks()) {
        let algorithm = match &mask.algorithm {
            MaskAlgorithm::Number(number) => StoredMasks::Number(*number),
            MaskAlgorithm::Name(name) => StoredMasks::Name(name),
        };
        request
            .subject_options
            .extend(archive_options::mask_options(algorithm, mask.has_hard_masks));
    }
}

/// Returns the options with which archives describe the list that restricts the subjects
/// (`CExportStrategy::x_Process_SearchDb`). The list of taxids is stored also if it is empty,
/// because the user gave another list. Identifiers are not stored. GIs that exclude keep the order
/// of the list, and others are sorted.
fn list_options(list: &Restriction, taxids: &[i32]) -> Vec<ArchiveOption> {
    let option = |name: &str, value| {
        let sign = if list.is_negative { "Negative" } else { "" };
        ArchiveOption::new(&format!("{sign}{name}"), value)
    };
    let gis = match &list.entries {
        ListEntries::Gis(gis) if !gis.is_empty() => {
            let mut gis: Vec<i64> = gis.iter().map(|&gi| gi.into()).collect();
            if !list.is_negative {
                gis.sort_unstable();
            }
            Some(option("GiList", OptionValue::BigIntegers(gis)))
        }
        _ => None,
    };
    let taxids = taxids.iter().map(|&taxid| taxid.into()).collect();
    gis.into_iter().chain([option("TaxidList", OptionValue::Integers(taxids))]).collect()
}

/// Returns the parameters with which archives describe the PSSMs of an iterated search.
fn archived_pssms(plan: &Plan, iteration: &IterationPlan) -> ArchivedPssms {
    let scoring = &iteration.params.scoring;
    let mode = iteration.params.composition.number();
    ArchivedPssms {
        initial: plan.initial_pssm.as_ref().map(|start| start.description.clone()),
        matrix_name: plan.matrix_name.clone(),
        gap_costs: (scoring.gap_open, scoring.gap_extend),
        pseudocount: iteration.pseudocount,
        has_intermediate_data: iteration.table.is_some(),
        composition: iteration.resets_composition.then_some(mode.into()),
    }
}

/// Returns the result of a query without hits.
pub fn empty_result<'a>(record: &'a QueryRecord, query: &'a Query) -> QueryResult<'a> {
    QueryResult {
        batch_searched: true,
        follows_hits: false,
        read: ReadQuery {
            defline: &record.record.defline,
            lower_case: &record.record.lower_case,
            archived: record.archived.as_deref(),
            has_repeats: !record.repeats.is_empty(),
            follows_searched_batch: record.follows_searchable,
            warnings: &record.reading_warnings,
        },
        number: record.number,
        unnamed: record.unnamed,
        name_from_file: record.pssm_name.as_deref(),
        title: &record.record.title,
        ids: &record.record.ids,
        residues: &record.record.residues,
        range: record.range.clone(),
        query,
        hits: &[],
        hit_count: 0,
        messages: &[],
        repeated_search: None,
    }
}

/// Formats the report of a pattern search. `results` has one result for each occurrence of the
/// pattern in the query. The report begins with `warning`, which BLAST+ prints nowhere else. XML
/// has it among the messages (`CBlastFormat::PrintPhiResult`).
///
/// # Errors
/// As [`pattern::format_query`] and [`pieces::format_query`].
pub fn format_pattern(
    setup: &model::ReportSetup,
    results: &[QueryResult],
    source: &dyn SubjectSource,
    warning: Option<&[u8]>,
) -> Result<Vec<u8>, ReportError> {
    let mut bytes = Vec::new();
    if let Some(warning) = warning.filter(|_| !setup.output.format.is_document()) {
        bytes.extend([b"\n", warning, b"\n"].concat());
    }
    let is_joined = setup.output.format != model::Format::Organisms;
    if is_joined && pieces::has_description_table(setup) {
        pattern::format_query(setup, results, source, &mut bytes)?;
    } else {
        let mut results = results.iter();
        results.try_for_each(|result| pieces::format_query(setup, result, source, &mut bytes))?;
    }
    Ok(bytes)
}

/// Returns a query's warnings as the XML report prints them.
pub fn xml_messages(record: &QueryRecord) -> Vec<u8> {
    xml_message(record, record.warning())
}

/// Returns a warning of a query as the XML report prints it.
pub fn xml_message(record: &QueryRecord, warning: Option<Vec<u8>>) -> Vec<u8> {
    warning.map(|warning| [&record.name()[..], b":  ", &warning[..]].concat()).unwrap_or_default()
}

/// Converts an error of the report crate.
pub fn report_failure(error: &ReportError) -> Error {
    match error {
        ReportError::Deflines { .. }
        | ReportError::NoDefline { .. }
        | ReportError::Taxonomy { .. } => Error::database(error),
        _ => Error::engine(error),
    }
}
