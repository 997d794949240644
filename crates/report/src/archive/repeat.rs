//! Archives of archives (`blast_formatter -outfmt 11`).
//!
//! BLAST+ makes an archive anew from what it has read of another one
//! (`CBlastFormat::WriteArchive`, blast_format.cpp; `CRemoteBlast::GetResultSet`,
//! remote_blast.cpp). It keeps the sequences, the alignments, the masks of the results and the
//! statistics. It loses masks known before the search, ranges of queries, position-specific
//! matrices, masks of databases, excluded taxa and messages.

use fleetblast_seq::id::SeqId;
use fleetblast_stats::release::Release;

use super::masks;
use super::request::{RequestParts, is_public, option_value, query_set};
use super::statistics_values;
use crate::archive_options::{ArchiveOption, ITERATION, OptionValue};
use crate::archive_reader::{StoredArchive, StoredQueries, StoredRequest, StoredSubjects};
use crate::asn::{AsnValue, print_asn_text};

/// The names of the options with included and excluded taxa.
const TAXA: [&str; 2] = ["TaxidList", "NegativeTaxidList"];
/// Options that a new archive does not have among its algorithm options. Of these, BLAST+ writes
/// only taxa and the number of the iteration, in other lists.
const RESTRICTIONS: [&str; 8] = [
    "DbFilteringAlgorithmId",
    "DbFilteringAlgorithmKey",
    "SubjectMaskingType",
    "RequiredStart",
    "RequiredEnd",
    TAXA[0],
    TAXA[1],
    ITERATION,
];
/// Options of web searches and of indexes, which BLAST+ stores in another form.
const UNSUPPORTED: [&str; 4] = ["ForceMbIndex", "HspRangeMax", "MbIndexName", "StrandOption"];
/// The name of the option with the number of subjects to keep.
const KEPT: &str = "HitlistSize";

/// Settings that the archives of a run share.
#[derive(Clone, Copy)]
pub struct RepeatedSettings<'a> {
    /// The request of the first archive, whose options BLAST+ repeats in all archives.
    pub first: &'a StoredRequest,
    /// The number of subjects to keep.
    pub kept: i64,
    /// The release whose archives are made.
    pub release: &'static Release,
}

/// Makes an archive that repeats `archive`, which must have been read with its values
/// ([`StoredArchive::values`]).
///
/// # Errors
/// A description of what is not supported.
pub fn repeat_archive(
    settings: RepeatedSettings<'_>,
    archive: &StoredArchive,
) -> Result<Vec<u8>, String> {
    let (first, request) = (settings.first, &archive.request);
    let options = [first, request].into_iter().flat_map(|request| &request.options);
    let mut names = options.map(|option| option.name.as_str());
    if let Some(name) = names.find(|name| UNSUPPORTED.contains(name)) {
        return Err(format!("archives of searches with the option {name}"));
    }
    let mut first_ids = query_ids(&request.queries).into_iter().filter_map(<[SeqId]>::first);
    if first_ids.all(is_public) {
        return Err("archives of queries with identifiers of public databases only".to_owned());
    }
    let values = &archive.values;
    let subject = match &request.subjects {
        StoredSubjects::Database(names) => AsnValue::choice("database", AsnValue::text(names)),
        _ => AsnValue::choice("sequences", AsnValue::List(values.subjects.clone())),
    };
    let parts = RequestParts {
        ident: Some(&format!("{}+", settings.release.version)),
        program: first.program.properties().stored_name,
        service: &first.service,
        queries: query_set(values.queries.iter().cloned()),
        subject,
        algorithm_options: AsnValue::List(algorithm_options(settings)),
        program_options: taxa(first),
        iteration: iteration(request),
    };
    let queries = first.program.properties().queries;
    let mut results = vec![
        ("alignments", AsnValue::List(alignments(archive))),
        ("masks", AsnValue::List(masks::repeat_masks(queries, &archive.masks))),
    ];
    let (space, adjustment) = (archive.search_space, archive.length_adjustment);
    results.extend(statistics_values(archive.parameters, space, adjustment));
    let fields = vec![("request", parts.into_value()), ("results", AsnValue::Fields(results))];
    let mut out = Vec::new();
    print_asn_text("Blast4-archive", &AsnValue::Fields(fields), &mut out);
    Ok(out)
}

/// Returns the identifiers of each query.
fn query_ids(queries: &StoredQueries) -> Vec<&[SeqId]> {
    match queries {
        StoredQueries::Sequences(queries) => queries.iter().map(|query| &query.ids[..]).collect(),
        StoredQueries::Pssm(query) => vec![&query.ids],
        StoredQueries::Locations => Vec::new(),
    }
}

/// Returns the alignments that BLAST+ keeps. It looks up the queries of consecutive alignments in
/// the order of the queries, and drops all alignments from the first one whose query does not
/// follow (`CRemoteBlast::GetSeqAlignSets`, remote_blast.cpp).
fn alignments(archive: &StoredArchive) -> Vec<AsnValue> {
    let mut queries = query_ids(&archive.request.queries).into_iter();
    let groups = archive.values.alignments.chunk_by(|(query, _), (next, _)| query == next);
    let found = groups.take_while(|group| queries.any(|ids| ids.contains(&group[0].0)));
    found.flatten().map(|(_, alignment)| alignment.clone()).collect()
}

/// Makes the options of the search: first those that the search task sets, then the others in the
/// order of the first archive.
fn algorithm_options(settings: RepeatedSettings<'_>) -> Vec<AsnValue> {
    let of_task = task_options(settings.first, settings.release);
    let mut options: Vec<ArchiveOption> = Vec::new();
    let kept = ArchiveOption::new(KEPT, OptionValue::Integer(settings.kept));
    for option in settings.first.options.iter().chain([&kept]) {
        // A later value replaces an earlier one, at its place.
        match options.iter_mut().find(|known| known.name == option.name) {
            Some(known) => known.value = option.value.clone(),
            None if RESTRICTIONS.contains(&option.name.as_str()) => {}
            None => options.push(option.clone()),
        }
    }
    let place = |option: &ArchiveOption| {
        of_task.iter().position(|name| *name == option.name).unwrap_or(of_task.len())
    };
    options.sort_by_key(place);
    options.iter().map(option_value).collect()
}

/// Returns the names of the options that BLAST+ sets from the search task before it reads the
/// options of the archive. A new archive has them first.
fn task_options(request: &StoredRequest, release: &Release) -> Vec<&'static str> {
    let evalue = release.tasks_set_evalue.then_some("EvalueThreshold");
    let is_template = |option: &ArchiveOption| match option.value {
        OptionValue::Integer(length) => option.name == "MBTemplateLength" && length != 0,
        _ => false,
    };
    let others: &[&str] = match request.service.as_str() {
        "psi" => &["InclusionThreshold", "PseudoCountWeight"],
        _ if request.options.iter().any(is_template) => {
            &["MBTemplateType", "MBTemplateLength", "WordSize", "WindowSize"]
        }
        _ => &[],
    };
    evalue.into_iter().chain(others.iter().copied()).collect()
}

/// Makes the restrictions to taxa. BLAST+ forgets which taxa are excluded.
fn taxa(request: &StoredRequest) -> Vec<AsnValue> {
    let list = |name: &str| {
        let option = request.options.iter().rfind(|option| option.name == name)?;
        let OptionValue::Integers(taxa) = &option.value else { return None };
        Some(taxa.clone()).filter(|taxa| !taxa.is_empty())
    };
    let option =
        |name: &str, taxa| option_value(&ArchiveOption::new(name, OptionValue::Integers(taxa)));
    let [included, excluded] = TAXA.map(list);
    let sorted = included.map(|mut taxa| {
        taxa.sort_unstable();
        taxa.dedup();
        taxa
    });
    let forgotten = excluded.map(|_| sorted.clone().unwrap_or_default());
    let both = [(TAXA[0], sorted), (TAXA[1], forgotten)];
    both.into_iter().filter_map(|(name, taxa)| Some(option(name, taxa?))).collect()
}

/// Returns the stored number of the iteration.
fn iteration(request: &StoredRequest) -> Option<i64> {
    let mut options = request.options.iter().filter(|option| option.name == ITERATION);
    match options.next()?.value {
        OptionValue::Integer(number) => Some(number),
        _ => None,
    }
}
