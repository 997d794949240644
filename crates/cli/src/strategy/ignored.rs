//! BLAST+'s warnings about options that a strategy replaces
//! (`CBlastAppArgs::x_IssueWarningsForIgnoredOptions`, blast_args.cpp).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use fleetblast_report::archive_reader::StoredRequest;
use fleetblast_seq::id::Molecule;
use fleetblast_stats::program::BlastProgram;

use super::OVERRIDING;
use crate::options::constraint::Kind;
use crate::options::parse::GivenOptions;
use crate::options::search::strategy::IMPORT_SEARCH_STRATEGY;
use crate::options::spec::{Group, OptionSpec, Program};
use crate::stored_search::StoredOptions;

/// Options of [`OVERRIDING`] about which BLAST+ warns, although it uses their values.
const WARNED: [&str; 6] = ["show_gis", "html", "line_length", "sorthits", "sorthsps", "mt_mode"];

/// Options outside [`OVERRIDING`] about which BLAST+ does not warn.
const ACCEPTED: [&str; 10] = [
    "db",
    "dbsize",
    "db_soft_mask",
    "db_hard_mask",
    "subject",
    "subject_loc",
    "entrez_query",
    "use_index",
    "index_name",
    "remote",
];

/// Values about which BLAST+ does not warn, in searches with all kinds of queries.
const USUAL: [(&str, &str); 10] = [
    ("comp_based_stats", "2"),
    ("evalue", "10"),
    ("off_diagonal_range", "0"),
    ("mask_level", "101"),
    ("max_intron_length", "0"),
    ("query_gencode", "1"),
    ("db_gencode", "1"),
    ("pseudocount", "0"),
    ("inclusion_ethresh", "0.002"),
    ("num_iterations", "1"),
];

/// Returns the warnings, in the order of the names. BLAST+ also warns about defaults.
pub fn warnings(
    program: &Program,
    arguments: &[OsString],
    given: &GivenOptions,
    request: &StoredRequest,
) -> Vec<String> {
    let mut options: Vec<OptionSpec> = program.all().collect();
    options.retain(|option| option.group != Group::FLEETBLAST);
    options.sort_by_key(|option| option.name);
    let mut warnings = Vec::new();
    for option in options {
        let typed = given.contains_key(option.name);
        let default = option.default.filter(|_| option.kind != Kind::Flag);
        let value = match typed {
            true => typed_value(arguments, option.name),
            false => default.map(OsStr::new),
        };
        if !typed && value.is_none() || option.name == IMPORT_SEARCH_STRATEGY.name() {
            continue;
        }
        let usual = usual_value(program, request, option.name);
        let is_accepted = OVERRIDING.contains(&option.name) && !WARNED.contains(&option.name)
            || ACCEPTED.contains(&option.name);
        let is_megablast = option.name == "task" && value.is_some_and(|task| task == "megablast");
        // BLAST+ warns twice about values that have a usual one.
        let times = match usual {
            Some(usual) if value.is_some_and(|value| value == usual) || is_megablast => 0,
            Some(_) => 2,
            None => usize::from(!is_accepted),
        };
        let warning = format!(
            "Warning: [{}] {} cannot be overridden when using a search strategy",
            program.name, option.name
        );
        warnings.extend(std::iter::repeat_n(warning, times));
    }
    warnings
}

/// Returns the value of an option about which BLAST+ does not warn, if it has one.
fn usual_value(program: &Program, request: &StoredRequest, name: &str) -> Option<&'static str> {
    let is_of_bases = request.program.properties().queries.molecule() == Molecule::Nucleotide;
    match name {
        "task" => Some(task(program, request)),
        "seg" => usual_seg(request.program),
        "dust" if is_of_bases => Some("20 64 1"),
        "soft_masking" => Some(if is_of_bases { "true" } else { "false" }),
        "gap_trigger" => Some(if is_of_bases { "27" } else { "22" }),
        _ => USUAL.iter().find(|(usual, _)| *usual == name).map(|(_, value)| *value),
    }
}

/// Returns the value of `-seg` about which BLAST+ does not warn; `None` if it always warns.
fn usual_seg(program: BlastProgram) -> Option<&'static str> {
    match program {
        BlastProgram::Blastp | BlastProgram::Psiblast => Some("no"),
        BlastProgram::Tblastn => Some("12 2.2 2.5"),
        BlastProgram::Blastn | BlastProgram::Blastx | BlastProgram::Tblastx => None,
    }
}

/// Returns the task that BLAST+ derives from the stored search.
fn task(program: &Program, request: &StoredRequest) -> &'static str {
    let template = StoredOptions(&request.options).integer("MBTemplateLength");
    match request.service.as_str() {
        _ if template.is_some_and(|length| length != 0) => "dc-megablast",
        "megablast" => "megablast",
        _ => program.name,
    }
}

/// Returns the value of an option as typed; `None` for a flag.
fn typed_value<'a>(arguments: &'a [OsString], name: &str) -> Option<&'a OsStr> {
    let mut words = arguments.iter().map(OsString::as_os_str);
    while let Some(word) = words.next() {
        let bytes = word.as_bytes();
        match bytes.strip_prefix(b"-").and_then(|word| word.strip_prefix(name.as_bytes())) {
            Some(b"") => return words.next(),
            Some([b'=', value @ ..]) => return Some(OsStr::from_bytes(value)),
            _ => {}
        }
    }
    None
}
