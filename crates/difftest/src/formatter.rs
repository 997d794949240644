//! `difftest table --formatter`: BLAST+ writes an archive of each case, and the
//! `blast_formatter` of both programs makes the report of it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::cases::Case;
use crate::error::Result;
use crate::process::{MINUTE, Outcome, Tool, Tools};
use crate::written::run_with_output_files;

/// Time limit of a run.
const LIMIT: Duration = MINUTE.saturating_mul(10);
/// Options of the report with a value.
const WITH_VALUE: [&str; 8] = [
    "-out",
    "-outfmt",
    "-num_descriptions",
    "-num_alignments",
    "-line_length",
    "-sorthits",
    "-sorthsps",
    "-max_target_seqs",
];
/// Options that limit the number of subjects.
const LIMITS: [&str; 3] = ["-num_descriptions", "-num_alignments", "-max_target_seqs"];
/// Options of the report without a value.
const FLAGS: [&str; 3] = ["-html", "-show_gis", "-parse_deflines"];
/// Formats that `blast_formatter` of FleetBLAST supports.
const FORMATS: [&str; 20] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16",
    "17", "18", "20",
];
/// Formats in which BLAST+ does not find the second query of an archive of psiblast
/// (docs/differences.md).
const DOCUMENTS: [&str; 4] = ["13", "14", "15", "16"];

/// Part of the message that FleetBLAST does not support an archive.
pub const REFUSED: &str = "blast_formatter instead";

fn value_of<'a>(args: &'a [String], option: &str) -> Option<&'a String> {
    args.get(args.iter().position(|arg| arg == option)? + 1)
}

/// Whether an archive of a case of `program` can be made and formatted: a search that succeeds,
/// with a report in a format that is supported and in which BLAST+ finds all queries. `cwd` has
/// the files.
pub fn can_be_archived(case: &Case, program: &str, cwd: &Path, expected_code: i32) -> bool {
    let format = value_of(&case.args, "-outfmt").map_or("0", |format| format.trim());
    let number = format.split(' ').next().unwrap_or_default();
    let loses_queries = program == "psiblast"
        && DOCUMENTS.contains(&number)
        && value_of(&case.args, "-query").is_some_and(|query| has_several(&cwd.join(query)));
    expected_code == 0 && FORMATS.contains(&number) && !loses_queries
}

/// Whether a FASTA file has more than one sequence.
fn has_several(path: &Path) -> bool {
    fs::read(path)
        .is_ok_and(|text| text.split(|&c| c == b'\n').filter(|l| l.starts_with(b">")).count() > 1)
}

/// Runs BLAST+ to write an archive, and both `blast_formatter`s on it. Returns their reports;
/// `None` if there is no archive, or if BLAST+ asks NCBI's servers for a sequence.
///
/// The number of the case decides which options are given to the search only or the formatter only:
/// the limits on the number of subjects, and `-parse_deflines`.
///
/// # Errors
/// If a program cannot be started.
pub fn run(
    case: &Case,
    searching: &Tool,
    formatters: &Tools,
    (cwd, stdin, archive): (&Path, Option<&Path>, &Path),
    number: usize,
) -> Result<Option<(Outcome, Outcome)>> {
    let is_unlimited = number.is_multiple_of(2);
    let only_search_parses = number.is_multiple_of(3);
    let only_report_parses = number.is_multiple_of(5);
    let path = archive.display().to_string();
    let (mut search, mut report) = (Vec::new(), vec!["-archive".to_owned(), path.clone()]);
    let mut words = case.args.iter();
    while let Some(word) = words.next() {
        let own = match WITH_VALUE.contains(&word.as_str()) {
            true => vec![word.clone(), words.next().cloned().unwrap_or_default()],
            false => vec![word.clone()],
        };
        let is_of_report = WITH_VALUE.contains(&word.as_str()) || FLAGS.contains(&word.as_str());
        let parses = word == "-parse_deflines";
        if is_of_report && !(parses && only_search_parses) {
            report.extend(own.clone());
        }
        let is_limit = is_unlimited && LIMITS.contains(&word.as_str());
        if word != "-outfmt" && !is_limit && !(parses && only_report_parses) {
            search.extend(own);
        }
    }
    search.extend(["-outfmt", "11", "-out"].map(String::from));
    search.push(path);
    let archived = searching.with_environment(&case.environment).run(&search, cwd, stdin, LIMIT)?;
    if archived.code != 0 || !archive.exists() {
        return Ok(None);
    }
    let [expected, actual] = [&formatters.oracle, &formatters.tested].map(|tool| {
        let tool = tool.with_environment(&case.environment);
        let written = archive.with_extension("files");
        run_with_output_files(&report, &written, |args| tool.run(args, cwd, None, LIMIT))
    });
    let (expected, actual) = (expected?, actual?);
    Ok((!asked_ncbi(&expected)).then_some((expected, actual)))
}

/// Whether BLAST+ looked for a sequence at NCBI, because it did not find it in the databases. Tests
/// have no network.
fn asked_ncbi(outcome: &Outcome) -> bool {
    outcome.code != 0 && String::from_utf8_lossy(&outcome.stderr).contains("[SOCK::")
}
