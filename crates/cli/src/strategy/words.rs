//! The stored options of a strategy as options of the command line.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use fleetblast_job::error::Error;
use fleetblast_report::archive_options::{ArchiveOption, ITERATION, OptionValue};
use fleetblast_report::archive_reader::{StoredRequest, StoredSubjects};

use super::unsupported_error;
use crate::options::parse::{self, GivenOptions, Request, Value};
use crate::options::spec::Program;
use crate::options::usage::ProgramName;
use crate::stored_search::{BOOLEANS, INTEGERS, StoredOptions, query_filter, search_options};

/// Options with a number that this file restores, since [`search_options`] does not, with their
/// stored names.
const FURTHER: [(&str, &str); 14] = [
    ("xdrop_gap", "GapXDropoff"),
    ("xdrop_gap_final", "GapXDropoffFinal"),
    ("perc_identity", "PercentIdentity"),
    ("qcov_hsp_perc", "QueryCovHspPerc"),
    ("best_hit_overhang", "BestHitOverhang"),
    ("best_hit_score_edge", "BestHitScoreEdge"),
    ("inclusion_ethresh", "InclusionThreshold"),
    ("gap_trigger", "GapTrigger"),
    ("searchsp", "EffectiveSearchSpace"),
    ("dbsize", "DbLength"),
    ("max_hsps", "MaxHspsPerSubject"),
    ("culling_limit", "Culling"),
    ("pseudocount", "PseudoCountWeight"),
    ("template_length", "MBTemplateLength"),
];

/// Options that [`search_options`] restores, besides integers and booleans, with their stored
/// names. Filters of queries follow from the kind of the queries, and `-task` from the service.
const SHARED: [(&str, &str); 10] = [
    ("evalue", "EvalueThreshold"),
    ("matrix", "MatrixName"),
    ("db_soft_mask", "DbFilteringAlgorithmId"),
    ("db_soft_mask", "SubjectMaskingType"),
    ("num_iterations", ITERATION),
    ("ungapped", "UngappedMode"),
    ("use_sw_tback", "SmithWatermanMode"),
    ("no_greedy", "GapExtnAlgorithm"),
    ("no_greedy", "GapTracebackAlgorithm"),
    ("max_target_seqs", "HitlistSize"),
];

/// Options that need code of their own to be restored, with their stored names.
const OWN_WORDS: [(&str, &str); 5] = [
    ("template_type", "MBTemplateType"),
    ("subject_besthit", "UseSubjectBestHit"),
    ("db_soft_mask", "DbFilteringAlgorithmKey"),
    ("query_loc", "RequiredStart"),
    ("query_loc", "RequiredEnd"),
];

/// Stored options without counterpart, which a search does not need while they are off.
const UNNEEDED_IF_OFF: [&str; 7] = [
    "CutoffScore",
    "ForceMbIndex",
    "HspRangeMax",
    "IgnoreMsaMaster",
    "MBTemplateLength",
    "RepeatFiltering",
    "UnifiedP",
];

/// Options that BLAST+ always stores. Its search by a strategy without them has defaults of its
/// own.
const ALWAYS_STORED: [&str; 3] = ["EvalueThreshold", "HitlistSize", "MaskAtHash"];

/// Returns the options of the stored search.
///
/// # Errors
/// A search of another program; an option that is not supported.
pub fn stored_options(program: &Program, request: &StoredRequest) -> Result<GivenOptions, Error> {
    let properties = request.program.properties();
    let other_search = || other_search_error(program, properties.stored_name, &request.service);
    if properties.name != program.name {
        return Err(other_search());
    }
    let stored = StoredOptions(&request.options);
    if let Some(option) = request.options.iter().find(|option| !is_supported(program, option)) {
        let what = format!("a search strategy with the option {}", option.name);
        return Err(unsupported_error(program.name, &what));
    }
    let lacks = |name: &&&str| stored.value(name).is_none();
    // Since 2.16.0 BLAST+ does not store DUST if its options are the usual ones.
    let needs_filter = program.find("dust").is_none() && query_filter(request, &stored).is_none();
    let filter = needs_filter.then_some("SegFiltering");
    if let Some(name) = ALWAYS_STORED.iter().find(lacks).copied().or(filter) {
        let what = format!("a search strategy without the option {name}");
        return Err(unsupported_error(program.name, &what));
    }
    let mut words = search_options(request, &stored, program);
    words.extend(further_words(&stored, program));
    let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    match parse::parse(program, ProgramName::Blast, &words) {
        Ok(Request::Run(mut given)) => {
            if properties.iterates && stored.value(ITERATION).is_none() {
                // BLAST+ does not store 0, which is its value for a missing number.
                given.insert("num_iterations", Value::Integer(0));
            }
            Ok(given)
        }
        Ok(Request::Print(_) | Request::PrintVersion(_)) => Err(other_search()),
        Err(error) => {
            let why = error.message.lines().last().unwrap_or_default();
            Err(unsupported_error(program.name, &format!("a search strategy with a value ({why})")))
        }
    }
}

/// Returns the error for the strategy of another search than one of this program.
pub fn other_search_error(program: &Program, stored_name: &str, service: &str) -> Error {
    let what = format!("a search strategy of {stored_name} ({service})");
    unsupported_error(program.name, &what)
}

fn further_words(stored: &StoredOptions<'_>, program: &Program) -> Vec<String> {
    let mut words = Vec::new();
    for (option, name) in FURTHER {
        let value = stored.integer(name).map(|number| number.to_string());
        let value = value.or_else(|| stored.real(name).map(|number| number.to_string()));
        let is_off = name == "MBTemplateLength" && value.as_deref() == Some("0");
        if let Some(value) = value.filter(|_| program.find(option).is_some() && !is_off) {
            words.extend([format!("-{option}"), value]);
        }
    }
    let has_template = stored.integer("MBTemplateLength").is_some_and(|length| length > 0);
    let kinds = ["coding", "optimal", "coding_and_optimal"];
    let kind = stored.integer("MBTemplateType").filter(|_| has_template);
    if let Some(kind) = kind.and_then(|kind| kinds.get(usize::try_from(kind).ok()?)) {
        words.extend(["-template_type".to_owned(), (*kind).to_owned()]);
    }
    if let Some(mask) = stored.text("DbFilteringAlgorithmKey") {
        let is_hard = stored.integer("SubjectMaskingType") == Some(2);
        let option = if is_hard { "-db_hard_mask" } else { "-db_soft_mask" };
        words.extend([option.to_owned(), mask.to_owned()]);
    }
    // BLAST+ does not look at the value.
    words.extend(stored.value("UseSubjectBestHit").map(|_| "-subject_besthit".to_owned()));
    words
}

/// Whether an option has a counterpart among the options of the program, or no effect.
fn is_supported(program: &Program, option: &ArchiveOption) -> bool {
    let name = option.name.as_str();
    let is_off = match option.value {
        OptionValue::Boolean(value) => !value,
        OptionValue::Integer(value) | OptionValue::BigInteger(value) => value == 0,
        _ => false,
    };
    match name {
        "GapExtnAlgorithm" | "GapTracebackAlgorithm" => {
            is_off && program.find("no_greedy").is_some()
        }
        // BLAST+ stores gap costs of a matrix also for a program without gaps.
        "GapOpeningCost" | "GapExtensionCost" if program.find("gapopen").is_none() => true,
        "MbIndexName" => true,
        // BLAST+ ignores the stored space in searches with composition-based statistics.
        "EffectiveSearchSpace" => is_off || program.find("comp_based_stats").is_none(),
        _ if name.starts_with("DustFiltering") => is_off || program.find("dust").is_some(),
        _ if name.starts_with("SegFiltering") => is_off || program.find("seg").is_some(),
        _ => {
            let lists = [&INTEGERS[..], &BOOLEANS, &SHARED, &FURTHER, &OWN_WORDS];
            let all = lists.into_iter().flatten();
            let mut counterparts = all.filter(|(_, stored)| *stored == name).peekable();
            let is_known = counterparts.peek().is_some() || UNNEEDED_IF_OFF.contains(&name);
            is_known && is_off || counterparts.any(|(option, _)| program.find(option).is_some())
        }
    }
}

/// Returns the names of the stored databases.
///
/// # Errors
/// Sequences instead of a database.
pub fn database(program: &Program, request: &StoredRequest) -> Result<OsString, Error> {
    match &request.subjects {
        StoredSubjects::Database(names) => Ok(OsStr::from_bytes(names).to_owned()),
        StoredSubjects::Sequences(_) | StoredSubjects::Locations => {
            Err(unsupported_error(program.name, "a search strategy of a search with -subject"))
        }
    }
}

/// Returns the value of `-query_loc` for the stored range. BLAST+ loses the last position
/// (`CBlastOptionsBuilder::x_ProcessOneOption`).
///
/// # Errors
/// A range without enough letters.
pub fn query_range(program: &Program, (start, last): (u32, u32)) -> Result<Value, Error> {
    let first = u64::from(start) + 1;
    if first >= u64::from(last) {
        let what = "a search strategy with a range of the query of two letters or less";
        return Err(unsupported_error(program.name, what));
    }
    Ok(Value::Text(format!("{first}-{last}").into()))
}
