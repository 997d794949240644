//! Format and columns of the report, and the number of subjects that it shows.

use std::ffi::OsStr;

use fleetblast_job::error::{Error, exit};
use fleetblast_job::plan::{Format, Report};
use fleetblast_report::archive_options::ArchiveRequest;
use fleetblast_report::model::{AnchoredFormat, Notation};
use fleetblast_stats::release::Release;

use super::ProcessEnvironment;
use crate::options::number;
use crate::options::search::formatting::FormattingOptions;
use crate::options::search::program::ProgramSpec;
use crate::options::typed::to_text;

/// Default number of subjects to keep, and of subjects in the table of descriptions.
pub const DESCRIPTIONS: usize = 500;
/// Default number of subjects with alignments.
pub const ALIGNMENTS: usize = 250;
/// Default number of residues in a line of an alignment.
const LINE_LENGTH: usize = 60;
/// Number of the last format that shows alignments for people.
const LAST_TEXT: i32 = 4;
/// Number of the format of archives.
const ARCHIVE: i32 = 11;
/// Number of the format SAM.
const SAM: i32 = 17;

/// Returns the number of the format FASTA, the last one.
fn fasta_format(release: &Release) -> i32 {
    if release.has_headed_csv { 21 } else { 20 }
}

/// The parts of `-outfmt`, not yet validated.
pub struct FormatChoice {
    number: i32,
    columns: String,
    delimiter: Option<String>,
}

impl FormatChoice {
    /// Splits a format into its parts (`CFormattingArgs::ParseFormattingString`, blast_args.cpp).
    pub fn parse(text: &OsStr, release: &Release) -> Result<Self, Error> {
        let text = to_text(text);
        let is_space = |c: char| c.is_ascii_whitespace() || c == '\x0b';
        let (number, columns) = text
            .trim_matches(is_space)
            .split_once(' ')
            .unwrap_or((text.trim_matches(is_space), ""));
        let mut columns = columns.to_owned();
        let mut delimiter = None;
        if columns.starts_with("delim") {
            let word = columns.split(' ').next().unwrap_or_default().to_owned();
            let Some((_, value)) = word.split_once('=') else {
                return Err(Error::query_options(
                    "Delimiter format is invalid. Valid format is delim=<delimiter value>",
                ));
            };
            delimiter = Some(value.to_owned()).filter(|value| !value.is_empty());
            columns = columns.replace(&word, "");
        }
        let number = number::parse_int4(number.as_bytes()).map_err(|_| {
            Error::query_options(format_args!("'{number}' is not a valid output format"))
        })?;
        if !(0..=fasta_format(release)).contains(&number) {
            let message = "Error: Formatting choice is out of range";
            return Err(Error::new(exit::UNKNOWN, message));
        }
        let has_columns =
            matches!(number, 6 | 7 | 10 | SAM) || release.has_headed_csv && number == 20;
        if !has_columns {
            columns.clear();
        }
        Ok(Self { number, columns, delimiter })
    }

    /// Returns the number of the format.
    pub fn number(&self) -> i32 {
        self.number
    }

    /// Returns whether the report shows alignments for people.
    pub fn is_text(&self) -> bool {
        self.number <= LAST_TEXT
    }

    /// Returns whether the report is an archive.
    pub fn is_archive(&self) -> bool {
        self.number == ARCHIVE
    }

    /// Returns whether the report is SAM.
    pub fn is_sam(&self) -> bool {
        self.number == SAM
    }

    /// Returns the format, or an error unless both the program and FleetBLAST support it.
    fn format(&self, program: &ProgramSpec, release: &Release) -> Result<Format, Error> {
        let fasta = fasta_format(release);
        let foreign = match self.number {
            SAM if !program.properties().has_sam => "SAM format is only applicable to blastn",
            19 => "AIRR rearrangement format is only applicable to igblastn",
            number if number == fasta => "FASTA output format is only applicable to magicblast",
            _ => "",
        };
        if !foreign.is_empty() {
            return Err(Error::query_options(foreign));
        }
        self.check_delimiter()?;
        match self.number {
            0 => Ok(Format::Pairwise),
            number @ 1..=4 => {
                Ok(Format::Anchored(AnchoredFormat { flat: number > 2, dots: number % 2 == 1 }))
            }
            5 => Ok(Format::Xml),
            6 => Ok(Format::Tabular),
            7 => Ok(Format::TabularComments),
            8 => Ok(Format::AsnText),
            9 => Ok(Format::AsnBinary),
            10 => Ok(Format::Csv),
            ARCHIVE => Ok(Format::Archive),
            12 => Ok(Format::AsnJson),
            number @ 13..=16 => Ok(Format::Output2 {
                notation: if number % 2 == 1 { Notation::Json } else { Notation::Xml },
                has_own_documents: number < 15,
            }),
            SAM => Ok(Format::Sam),
            18 => Ok(Format::Organisms),
            20 => Ok(Format::HeadedCsv),
            number => Err(Error::unsupported(program.name(), format_args!("-outfmt {number}"))),
        }
    }

    /// Refuses a delimiter that separates the entries of a chosen column.
    fn check_delimiter(&self) -> Result<(), Error> {
        let delimiter = self.delimiter.as_deref().unwrap_or_default();
        let columns: &[&str] = match delimiter {
            ";" => &["sallseqid", "staxids", "sscinames", "scomnames", "sblastnames", "sskingdoms"],
            "/" => &["frames"],
            "<>" => &["salltitles"],
            _ => &[],
        };
        // BLAST+ searches for the name anywhere in the text: `qframes` counts as `frames`.
        match columns.iter().find(|column| self.columns.contains(**column)) {
            Some(column) => Err(Error::query_options(format_args!(
                "Your custom record separator ({delimiter}) is also used by the format specifier ({column}) to \
                 separate multiple entries. Please use a different record separator (delim keyword)."
            ))),
            None => Ok(()),
        }
    }
}

/// Returns the format of the report and the number of subjects to keep
/// (`CFormattingArgs::ExtractAlgorithmOptions`, blast_args.cpp).
pub fn report(
    choice: FormatChoice,
    (program, release): (&ProgramSpec, &Release),
    options: &FormattingOptions,
    environment: &ProcessEnvironment<'_>,
    warnings: &mut Vec<String>,
) -> Result<(Report, usize), Error> {
    let format = choice.format(program, release)?;
    let sorts = program.has_sort_options || environment.sorts_all_reports;
    let mut warn = |text: &str| warnings.push(program.warning(text));
    let (pairwise, is_text) = (format == Format::Pairwise, format.is_text());
    let (descriptions, alignments, hitlist_size) = if is_text {
        shown_in_text(options)
    } else {
        if options.num_descriptions.is_some() {
            warn(
                "The parameter -num_descriptions is ignored for output formats > 4 . \
                 Use -max_target_seqs to control output",
            );
        }
        if options.line_length.is_some() {
            warn("The parameter -line_length is not applicable for output formats > 4 .");
        }
        if options.sort_hits.is_some() {
            warn("The parameter -sorthits is ignored for output formats > 4.");
        }
        let kept = options.max_target_seqs.or(options.num_alignments).unwrap_or(DESCRIPTIONS);
        (kept, kept, kept)
    };
    if hitlist_size < 5 {
        warn("Examining 5 or more matches is recommended");
    }
    if options.sort_hsps.is_some() && !pairwise {
        warn("The parameter -sorthsps is ignored for output formats != 0.");
    }
    let report = Report {
        format,
        columns: choice.columns,
        command: environment.command.clone(),
        archive: ArchiveRequest::default(),
        delimiter: choice.delimiter.filter(|_| sorts),
        html: options.html,
        show_gis: options.show_gis,
        line_length: options.line_length.filter(|_| is_text).unwrap_or(LINE_LENGTH),
        num_descriptions: descriptions,
        num_alignments: alignments,
        sort_hits: options.sort_hits.filter(|_| is_text && sorts),
        lacks_sequences: release.psiblast_loses_sequences,
        sort_hsps: options.sort_hsps.filter(|_| pairwise && sorts),
    };
    Ok((report, hitlist_size))
}

/// Returns the numbers of descriptions, alignments and kept subjects for a report with a table of
/// descriptions.
fn shown_in_text(options: &FormattingOptions) -> (usize, usize, usize) {
    if let Some(kept) = options.max_target_seqs {
        return (kept, kept, kept);
    }
    let descriptions = options.num_descriptions.unwrap_or(DESCRIPTIONS);
    let alignments = options.num_alignments.unwrap_or(ALIGNMENTS);
    let kept = match (options.num_descriptions, options.num_alignments) {
        (None, None) => DESCRIPTIONS,
        _ => descriptions.max(alignments),
    };
    (descriptions, alignments, kept)
}
