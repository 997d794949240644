//! The command line of the search that an archive stores, with the report options of this run.

use std::ffi::OsString;

use fleetblast_engine::params::CompositionMode;
use fleetblast_job::error::Error;
use fleetblast_report::archive_options::{ArchiveOption, COMPOSITION, ITERATION, OptionValue};
use fleetblast_report::archive_reader::{StoredArchive, StoredRequest, StoredSubjects};

use crate::options::blast_formatter::{BLAST_FORMATTER, FormatterOptions};
use crate::options::search::formatting::FormattingOptions;
use crate::options::spec::Program;
use crate::plan::format::{DESCRIPTIONS, FormatChoice};
use crate::stored_search::{RESTORED, StoredOptions, search_options};

/// Stored options on which reports of alignments do not depend. These and the options of
/// [`RESTORED`] are all known options. An archive with an unknown option is refused: the option may
/// change the report.
const WITHOUT_EFFECT: [&str; 30] = [
    "BestHitOverhang",
    "BestHitScoreEdge",
    "Culling",
    "CutoffScore",
    "DbFilteringAlgorithmKey",
    "DbLength",
    "EffectiveSearchSpace",
    "ForceMbIndex",
    "GapTracebackAlgorithm",
    "GapTrigger",
    "GapXDropoff",
    "GapXDropoffFinal",
    "HspRangeMax",
    "IgnoreMsaMaster",
    "InclusionThreshold",
    "MBTemplateType",
    "MaskLevel",
    "MaxHspsPerSubject",
    "MbIndexName",
    "NegativeTaxidList",
    "PercentIdentity",
    "PseudoCountWeight",
    "QueryCovHspPerc",
    "RepeatFiltering",
    "RequiredEnd",
    "RequiredStart",
    "StrandOption",
    "UnifiedP",
    "UseSubjectBestHit",
    ITERATION,
];

/// Number of subjects to keep that BLAST+ assumes if an archive does not state it.
const KEPT: i64 = 500;
/// Number by which BLAST+ names the type of a list of big integers in a message: the position among
/// the alternatives of `Blast4-value` (blast.asn), counted from 1.
const BIG_INTEGERS: u32 = 13;

/// Returns the command-line arguments that run the stored search and format its report.
///
/// # Errors
/// Subjects that are not stored; a stored option that is not supported.
pub fn search_words(
    archive: &StoredArchive,
    options: &FormatterOptions,
    program: &Program,
) -> Result<Vec<OsString>, Error> {
    let is_known = |name: &str| {
        RESTORED.contains(&name) || WITHOUT_EFFECT.contains(&name) || name == "TaxidList"
    };
    if let Some(option) = archive.request.options.iter().find(|option| !is_known(&option.name)) {
        let what = format_args!("archives of searches with the option {}", option.name);
        return Err(Error::unsupported(BLAST_FORMATTER.name, what));
    }
    let stored = StoredOptions(&archive.request.options);
    let mut words = subject_words(archive, &stored, program)?;
    words.extend(search_options(&archive.request, &stored, program));
    let mut words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let limits = Limits::new(options, &stored);
    // An archive is not a report of hits, and SAM of other programs is refused later. Their options
    // mean the same as those of a table.
    let is_table =
        is_archive(options) || is_sam(options) && !archive.request.program.properties().has_sam;
    let format = if is_table { OsString::from("6") } else { options.formatting.outfmt.clone() };
    words.extend(report_options(&options.formatting, format, &limits));
    words.extend([OsString::from("-out"), options.out.clone()]);
    if options.parse_deflines {
        words.push(OsString::from("-parse_deflines"));
    }
    Ok(words)
}

/// Returns the options for the subjects. BLAST+ restricts a database by the stored taxids only if
/// they are included ones, and forgets lists of identifiers (`PrintFormattedOutput`,
/// blast_formatter.cpp).
fn subject_words(
    archive: &StoredArchive,
    stored: &StoredOptions<'_>,
    program: &Program,
) -> Result<Vec<String>, Error> {
    let unsupported = |what| Err(Error::unsupported(BLAST_FORMATTER.name, what));
    let names = match &archive.request.subjects {
        StoredSubjects::Database(names) => String::from_utf8_lossy(names).into_owned(),
        StoredSubjects::Sequences(_) if archive.request.iteration().is_some() => {
            return unsupported("archives of psiblast searches with -subject");
        }
        // The archive has the subjects; nothing is read.
        StoredSubjects::Sequences(_) => return Ok(["-subject", "-"].map(str::to_owned).into()),
        StoredSubjects::Locations => return unsupported("archives of locations of subjects"),
    };
    let mut words = ["-db", &names, "-num_threads", "1"].map(str::to_owned).to_vec();
    if let Some(OptionValue::Integers(taxids)) = stored.value("TaxidList")
        && !taxids.is_empty()
    {
        let taxids: Vec<String> = taxids.iter().map(i64::to_string).collect();
        words.extend(["-taxids".to_owned(), taxids.join(",")]);
        // The search has stored the descendants, too.
        let no_expansion = "no_taxid_expansion";
        words.extend(program.find(no_expansion).map(|_| format!("-{no_expansion}")));
    }
    Ok(words)
}

/// Refuses an archive of a search with a list of GIs, as BLAST+ does: it cannot read values of this
/// type (`CBlastOptionsBuilder::x_ProcessOneOption`).
///
/// # Errors
/// Such an archive.
pub fn refuse_big_integers(archive: &StoredArchive) -> Result<(), Error> {
    let is_list = |option: &&ArchiveOption| matches!(option.value, OptionValue::BigIntegers(_));
    match archive.request.options.iter().find(is_list) {
        Some(option) => Err(Error::engine(format_args!(
            "Internal: Error processing option [{}] type [{BIG_INTEGERS}].",
            option.name
        ))),
        None => Ok(()),
    }
}

/// Returns the mode of composition-based statistics as stored. BLAST+ stores and shows it also
/// where the matrix IDENTITY rules it out.
pub fn stored_composition(archive: &StoredArchive) -> CompositionMode {
    let number = StoredOptions(&archive.request.options).integer(COMPOSITION);
    number.and_then(CompositionMode::from_number).unwrap_or(CompositionMode::Off)
}

/// The limits of a report that depend on the number of subjects that the search kept
/// (`CFormattingArgs::ExtractAlgorithmOptions`, blast_args.cpp).
struct Limits {
    descriptions: Option<usize>,
    alignments: Option<usize>,
    /// Whether BLAST+ ignores `-line_length`, `-sorthits`, `-sorthsps` and `-max_target_seqs`.
    ignores_others: bool,
}

impl Limits {
    fn new(options: &FormatterOptions, stored: &StoredOptions<'_>) -> Self {
        let is_text = is_text(options);
        let options = &options.formatting;
        let kept = stored.integer("HitlistSize").and_then(|kept| usize::try_from(kept).ok());
        let (descriptions, alignments) = (options.num_descriptions, options.num_alignments);
        let limits = Self { descriptions, alignments, ignores_others: false };
        match kept {
            Some(kept) if is_text => match (descriptions, alignments) {
                (None, None) if kept > DESCRIPTIONS => Self {
                    descriptions: Some(kept),
                    alignments: Some(kept / 2),
                    ignores_others: true,
                },
                // As below.
                (Some(0), Some(0)) => Self { alignments: Some(1), ..limits },
                _ => limits,
            },
            Some(kept) if options.max_target_seqs.is_none() => {
                // `plan` puts 0 into the plan, which options of a search cannot express.
                Self { alignments: Some(alignments.unwrap_or(kept).max(1)), ..limits }
            }
            _ => limits,
        }
    }
}

/// Whether the report shows alignments for people.
fn is_text(options: &FormatterOptions) -> bool {
    has_format(options, FormatChoice::is_text)
}

/// Whether the report is SAM.
pub fn is_sam(options: &FormatterOptions) -> bool {
    has_format(options, FormatChoice::is_sam)
}

/// Whether the report is an archive.
pub fn is_archive(options: &FormatterOptions) -> bool {
    has_format(options, FormatChoice::is_archive)
}

/// Returns whether the format of the report satisfies a predicate. The plan refuses formats that do
/// not exist.
fn has_format(options: &FormatterOptions, predicate: fn(&FormatChoice) -> bool) -> bool {
    let choice = FormatChoice::parse(&options.formatting.outfmt, options.release);
    choice.is_ok_and(|choice| predicate(&choice))
}

/// Returns the number of subjects to keep that a report in archive format states: the number in the
/// options, or else that of the stored search (`CFormattingArgs::ExtractAlgorithmOptions`,
/// blast_args.cpp).
pub fn kept_subjects(request: &StoredRequest, options: &FormattingOptions) -> i64 {
    let given = options.max_target_seqs.or(options.num_alignments);
    let given = given.and_then(|given| i64::try_from(given).ok());
    given.or_else(|| StoredOptions(&request.options).integer("HitlistSize")).unwrap_or(KEPT)
}

/// Returns whether BLAST+ warns that the search kept few subjects, although no option of the report
/// limits them.
pub fn warns_of_few(archive: &StoredArchive, options: &FormatterOptions) -> bool {
    let FormattingOptions { num_descriptions, num_alignments, max_target_seqs, .. } =
        options.formatting;
    let given = [num_descriptions, num_alignments, max_target_seqs];
    let kept = StoredOptions(&archive.request.options).integer("HitlistSize");
    is_text(options) && given == [None; 3] && kept.is_some_and(|kept| kept < 5)
}

fn report_options(options: &FormattingOptions, format: OsString, limits: &Limits) -> Vec<OsString> {
    let mut words = vec![OsString::from("-outfmt"), format];
    let mut add = |name: &str, value: Option<usize>| {
        let value = value.map(|value| [format!("-{name}"), value.to_string()]);
        words.extend(value.into_iter().flatten().map(OsString::from));
    };
    add("num_descriptions", limits.descriptions);
    add("num_alignments", limits.alignments);
    if !limits.ignores_others {
        add("line_length", options.line_length);
        add("sorthits", options.sort_hits);
        add("sorthsps", options.sort_hsps);
        add("max_target_seqs", options.max_target_seqs);
    }
    let flags = [("-html", options.html), ("-show_gis", options.show_gis)];
    words.extend(flags.iter().filter(|(_, given)| *given).map(|(flag, _)| OsString::from(flag)));
    words
}
