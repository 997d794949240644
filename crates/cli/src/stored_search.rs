//! Stored searches, of archives and of search strategies, as words of a command line.

use std::io::Read;

use fleetblast_report::archive_options::{ArchiveOption, COMPOSITION, OptionValue};
use fleetblast_report::archive_reader::StoredRequest;
use fleetblast_seq::asn::AsnReader;
use fleetblast_seq::asn::ber::tag;
use fleetblast_stats::program::{BlastProgram, QueryFilter};

use crate::options::spec::Program;

/// Options of the command line with integers, with their stored names.
pub const INTEGERS: [(&str, &str); 11] = [
    ("gapopen", "GapOpeningCost"),
    ("gapextend", "GapExtensionCost"),
    ("word_size", "WordSize"),
    ("threshold", "WordThreshold"),
    ("window_size", "WindowSize"),
    ("comp_based_stats", COMPOSITION),
    ("max_intron_length", "LongestIntronLength"),
    ("query_gencode", "QueryGeneticCode"),
    ("db_gencode", "DbGeneticCode"),
    ("reward", "MatchReward"),
    ("penalty", "MismatchPenalty"),
];

/// Options of the command line with truth values, with their stored names.
pub const BOOLEANS: [(&str, &str); 2] =
    [("soft_masking", "MaskAtHash"), ("sum_stats", "SumStatistics")];

/// Stored options from which the command line is made, by their stored names. No other option has
/// an effect on a search that is repeated or reported.
pub const RESTORED: [&str; 30] = [
    COMPOSITION,
    "DbFilteringAlgorithmId",
    "DbGeneticCode",
    "DustFiltering",
    "DustFilteringLevel",
    "DustFilteringLinker",
    "DustFilteringWindow",
    "EvalueThreshold",
    "GapExtensionCost",
    "GapExtnAlgorithm",
    "GapOpeningCost",
    "HitlistSize",
    "LongestIntronLength",
    "MBTemplateLength",
    "MaskAtHash",
    "MatchReward",
    "MatrixName",
    "MismatchPenalty",
    "QueryGeneticCode",
    "SegFiltering",
    "SegFilteringHicut",
    "SegFilteringLocut",
    "SegFilteringWindow",
    "SmithWatermanMode",
    "SubjectMaskingType",
    "SumStatistics",
    "UngappedMode",
    "WindowSize",
    "WordSize",
    "WordThreshold",
];

/// The options of a stored search.
pub struct StoredOptions<'a>(pub &'a [ArchiveOption]);

impl StoredOptions<'_> {
    /// Returns the value of an option. As in BLAST+, a later value replaces an earlier one.
    pub fn value(&self, name: &str) -> Option<&OptionValue> {
        self.0.iter().rfind(|option| option.name == name).map(|option| &option.value)
    }

    /// Returns the value of an integer.
    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.value(name)? {
            OptionValue::Integer(number) | OptionValue::BigInteger(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the value of a real number.
    pub fn real(&self, name: &str) -> Option<f64> {
        match self.value(name)? {
            OptionValue::Real(number) | OptionValue::Evalue(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns a truth value.
    pub fn boolean(&self, name: &str) -> Option<bool> {
        match self.value(name)? {
            OptionValue::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the value of a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            OptionValue::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Returns the words of a command line for the stored options of [`RESTORED`], as far as `program`
/// has them.
pub fn search_options(
    request: &StoredRequest,
    stored: &StoredOptions<'_>,
    program: &Program,
) -> Vec<String> {
    let mut words = Vec::new();
    // BLAST+ sets gap costs of a matrix also for tblastx, which has no gaps, and archives of other
    // releases may have options that the program lacks.
    let mut add = |name: &str, value: Option<String>| {
        let value = value.filter(|_| program.find(name).is_some());
        words.extend(value.map(|value| [format!("-{name}"), value]).into_iter().flatten());
    };
    for (option, name) in INTEGERS {
        add(option, stored.integer(name).map(|number| number.to_string()));
    }
    add("evalue", stored.real("EvalueThreshold").map(|evalue| format!("{evalue:e}")));
    add("matrix", stored.text("MatrixName").map(str::to_owned));
    for (option, name) in BOOLEANS {
        add(option, stored.boolean(name).map(|value| value.to_string()));
    }
    // Tasks for short queries set the filters of all programs. The searched range of the queries
    // and masks by name are not restored, as in BLAST+.
    let filter = match request.program.properties().query_filter {
        QueryFilter::Dust => "dust",
        QueryFilter::Seg => "seg",
    };
    add(filter, query_filter(request, stored));
    let mask = stored.integer("DbFilteringAlgorithmId").map(|number| number.to_string());
    let is_hard = stored.integer("SubjectMaskingType") == Some(2);
    add(if is_hard { "db_hard_mask" } else { "db_soft_mask" }, mask);
    add("num_iterations", request.iteration().map(|number| number.to_string()));
    add("task", stored_task(request, stored).map(str::to_owned));
    let flags = [
        ("-ungapped", stored.boolean("UngappedMode") == Some(true)),
        ("-use_sw_tback", stored.boolean("SmithWatermanMode") == Some(true)),
        ("-no_greedy", stored.integer("GapExtnAlgorithm") == Some(0)),
    ];
    words.extend(flags.iter().filter(|(_, given)| *given).map(|(flag, _)| (*flag).to_owned()));
    words
}

/// Returns the task of a search; `None` if its program does not store it.
fn stored_task(request: &StoredRequest, stored: &StoredOptions<'_>) -> Option<&'static str> {
    match request.program {
        BlastProgram::Blastn => {
            let has_template = stored.integer("MBTemplateLength").is_some_and(|length| length > 0);
            Some(match request.service.as_str() {
                "megablast" if has_template => "dc-megablast",
                "megablast" => "megablast",
                _ => request.program.name(),
            })
        }
        BlastProgram::Blastp
        | BlastProgram::Blastx
        | BlastProgram::Tblastn
        | BlastProgram::Tblastx
        | BlastProgram::Psiblast => None,
    }
}

/// Returns the value of `-dust` or `-seg`; `None` if nothing is stored.
pub fn query_filter(request: &StoredRequest, stored: &StoredOptions<'_>) -> Option<String> {
    match request.program.properties().query_filter {
        QueryFilter::Dust => filter(stored, "Dust", ["Level", "Window", "Linker"]),
        QueryFilter::Seg => filter(stored, "Seg", ["Window", "Locut", "Hicut"]),
    }
}

/// Returns the value of the option for a filter of queries; `None` if nothing is stored.
fn filter(stored: &StoredOptions<'_>, filter: &str, parts: [&str; 3]) -> Option<String> {
    let number = |part: &str| {
        let name = format!("{filter}Filtering{part}");
        let integer = stored.integer(&name).map(|number| number.to_string());
        integer.or_else(|| stored.real(&name).map(|number| number.to_string()))
    };
    if let [Some(first), Some(second), Some(third)] = parts.map(number) {
        return Some(format!("{first} {second} {third}"));
    }
    let is_used = stored.boolean(&format!("{filter}Filtering"))?;
    Some(if is_used { "yes" } else { "no" }.to_owned())
}

/// Creates a reader of ASN.1, as text or BER. BLAST+ recognizes BER by its first byte.
pub fn asn_reader<'a>(input: impl Read + 'a, first: Option<u8>) -> AsnReader<'a> {
    match first {
        Some(tag::SEQUENCE) => AsnReader::binary(input),
        _ => AsnReader::text(input),
    }
}
