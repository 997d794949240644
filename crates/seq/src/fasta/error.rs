//! Errors and warnings of the FASTA reader.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use crate::id::{IdError, IdException, Molecule};

/// An error of the FASTA reader.
#[derive(Debug, thiserror::Error)]
pub enum FastaError {
    /// The input cannot be read further.
    #[error("{}, near line {line}: cannot read: {source}", file.display())]
    Read {
        /// Name of the input.
        file: PathBuf,
        /// The line that was being read.
        line: u64,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The input is not FASTA, or not usable.
    #[error("{}, line {line}: {problem}: {}", file.display(), problem.advice())]
    Invalid {
        /// Name of the input.
        file: PathBuf,
        /// Number of the line with the error.
        line: u64,
        /// The kind of error.
        problem: FastaErrorKind,
        /// BLAST+'s warnings about this record before the error.
        warnings: Vec<Warning>,
    },
}

impl FastaError {
    /// Returns the message that BLAST+ prints after `BLAST query error: `, if it has one.
    ///
    /// ```
    /// use fleetblast_seq::fasta::{Options, Reader};
    /// let error = Reader::new(&b"%%%%\n"[..], "q", Options::default()).next_record().unwrap_err();
    /// assert_eq!(
    ///     error.blast_message().unwrap(),
    ///     "CFastaReader: Near line 1, there's a line that doesn't look like plausible data, \
    ///      but it's not marked as defline or comment."
    /// );
    /// ```
    pub fn blast_message(&self) -> Option<String> {
        let Self::Invalid { line, problem, .. } = self else { return None };
        Some(match problem {
            FastaErrorKind::NotSequence => format!(
                "CFastaReader: Near line {line}, there's a line that doesn't look like plausible \
                 data, but it's not marked as defline or comment."
            ),
            FastaErrorKind::NoDefline => format!(
                "CFastaReader: Input doesn't start with a defline or comment around line {line}"
            ),
            FastaErrorKind::NoRecord => {
                format!("CFastaReader: Expected defline around line {line}")
            }
            FastaErrorKind::BlankDefline => {
                format!("CFastaReader: Defline lacks a proper ID around line {line}")
            }
            FastaErrorKind::NoIdentifier => {
                "Unable to locate sequence id in definition line".to_string()
            }
            FastaErrorKind::BadIdentifier(error) => error.to_string(),
            FastaErrorKind::InvalidLocal(id) => format!("'{id}' is not a valid local ID"),
            FastaErrorKind::LongIdentifier { what, length, limit } => format!(
                "Near line {line}, the {what} is too long.  Its length is {length} but the \
                 maximum allowed {what} length is {limit}.  Please find and correct all {what}s \
                 that are too long."
            ),
            FastaErrorKind::BasesInId { bases } => Warning::BasesInId { bases: *bases }.to_string(),
            FastaErrorKind::UnknownMolecule => format!(
                "CFastaReader: Unable to determine sequence type (is it nucleotide? protein?) \
                 around line {line}"
            ),
            FastaErrorKind::NoResidues => "FASTA-Reader: No residues given".to_owned(),
            FastaErrorKind::Identifier(_)
            | FastaErrorKind::BadPosition { .. }
            | FastaErrorKind::TooLong => return None,
        })
    }
}

/// The kinds of errors in a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FastaErrorKind {
    /// The line is neither sequence nor definition nor comment.
    #[error("this is no sequence")]
    NotSequence,
    /// A sequence comes before any definition line, although definition lines are parsed.
    #[error("there is no definition line before the sequence")]
    NoDefline,
    /// The file has only blank lines and comments.
    #[error("there is no sequence")]
    NoRecord,
    /// The definition line of a sequence for a database is blank.
    #[error("the definition line is blank")]
    BlankDefline,
    /// The definition line has no first word.
    #[error("the definition line has no identifier")]
    NoIdentifier,
    /// The first word has a known tag but cannot be parsed.
    #[error("{0}")]
    BadIdentifier(#[from] IdError),
    /// A local identifier starts with a character that is not allowed there.
    #[error("'{0}' is no valid local identifier")]
    InvalidLocal(String),
    /// An identifier is too long for BLAST+.
    #[error("the {what} has {length} characters, more than {limit}")]
    LongIdentifier {
        /// `local id`, `general id string` or `accession`.
        what: &'static str,
        /// Length of the identifier in characters.
        length: usize,
        /// Maximal length.
        limit: usize,
    },
    /// The identifier of a nucleotide sequence ends with more than 25 bases.
    #[error("the identifier ends with {bases} bases")]
    BasesInId {
        /// Number of bases.
        bases: usize,
    },
    /// The record is an identifier instead of a sequence.
    #[error("'{0}' is an identifier, not a sequence")]
    Identifier(String),
    /// The letters of a sequence do not fit any type of sequences.
    #[error("these are neither proteins nor nucleotides")]
    UnknownMolecule,
    /// A definition line without a sequence.
    #[error("there are no residues")]
    NoResidues,
    /// A line of a mask such as `5 - 9` lacks a number.
    #[error("'{text}' is no position")]
    BadPosition {
        /// The text in the place of a number.
        text: String,
        /// Offset of the first byte that is no digit; `None` if the number is too large.
        position: Option<usize>,
    },
    /// The line or sequence has more than 2³¹−1 characters.
    #[error("more than 2147483647 characters in one sequence or line")]
    TooLong,
}

impl FastaErrorKind {
    /// Returns advice for the user.
    fn advice(&self) -> &'static str {
        match self {
            Self::NotSequence | Self::UnknownMolecule | Self::NoResidues => {
                "give sequences in FASTA format"
            }
            Self::NoRecord => "give at least one sequence in FASTA format",
            Self::NoDefline => "put a line with '>' and an identifier first",
            Self::NoIdentifier | Self::BlankDefline => "put an identifier right after '>'",
            Self::BadIdentifier(_)
            | Self::InvalidLocal(_)
            | Self::LongIdentifier { .. }
            | Self::BasesInId { .. } => {
                "correct the identifier, or do without parsing of definition lines"
            }
            Self::Identifier(_) => "sequences are not fetched from NCBI; give the sequence itself",
            Self::BadPosition { .. } => "write masks as lines such as '5 - 9'",
            Self::TooLong => "split the sequence",
        }
    }
}

/// A warning that BLAST+ prints on standard error while it reads a record. `Display` shows BLAST+'s
/// text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// Some characters of a line were dropped.
    InvalidResidues {
        /// The line number.
        line: u64,
        /// Columns of the characters from 1, as at most 1000 ranges.
        columns: Vec<Range<u32>>,
        /// The molecule type that the identifiers indicate.
        molecule: Option<Molecule>,
    },
    /// The hyphens of a line were dropped.
    Hyphens {
        /// The line number.
        line: u64,
    },
    /// The size in a gap line (`>?`) is not a positive number and counts as 1.
    GapSize {
        /// The line number.
        line: u64,
    },
    /// A gap line has invalid modifiers.
    Gap {
        /// The line number.
        line: u64,
        /// The kind of error.
        gap: GapLineWarning,
    },
    /// Underscores replace the commas in the first word.
    CommaInId {
        /// The line number.
        line: u64,
    },
    /// A part of the first word is no identifier and was skipped.
    SkippedIdPart(IdException),
    /// The identifier ends with more than 50 letters.
    SequenceInId {
        /// Number of letters.
        letters: usize,
    },
    /// The identifier of a nucleotide sequence ends with more than 20 bases.
    BasesInId {
        /// Number of bases.
        bases: usize,
    },
    /// The title ends with at least 50 letters.
    SequenceInTitle,
    /// The title of a nucleotide sequence ends with at least 20 bases.
    BasesInTitle,
}

impl Warning {
    /// Returns the message on standard error of the program with this name. BLAST+ puts the name
    /// before some warnings.
    pub fn message_for(&self, program: &str) -> String {
        match self {
            Self::SkippedIdPart(_) => format!("Warning: (1306.7) [{program}] {self}"),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidResidues { line, columns, molecule } => {
                let molecule = match molecule {
                    Some(Molecule::Protein) => "protein ",
                    Some(Molecule::Nucleotide) => "nucleotide ",
                    None => "",
                };
                write!(f, "FASTA-Reader: Ignoring invalid {molecule}residues at position(s): ")?;
                write!(f, "On line {line}: ")?;
                for (i, range) in columns.iter().enumerate() {
                    let separator = if i == 0 { "" } else { ", " };
                    write!(f, "{separator}{}", range.start)?;
                    if range.end > range.start + 1 {
                        write!(f, "-{}", range.end - 1)?;
                    }
                }
                Ok(())
            }
            Self::Hyphens { line } => write!(
                f,
                "CFastaReader: Hyphens are invalid and will be ignored around line {line}"
            ),
            Self::GapSize { line } => write!(f, "CFastaReader: Bad gap size at line {line}"),
            Self::Gap { line, gap } => gap.write(*line, f),
            Self::CommaInId { line } => write!(
                f,
                "Near line {line}, the sequence id string contains 'comma' symbol, which has been \
                 replaced with 'underscore' symbol. Please correct the sequence id string."
            ),
            Self::SkippedIdPart(exception) => exception.fmt(f),
            Self::SequenceInId { letters } => write!(
                f,
                "Fasta Reader: sequence id ends with {letters} valid amino-acid characters.  Was \
                 the sequence accidentally placed in the definition line?"
            ),
            Self::BasesInId { bases } => write!(
                f,
                "Fasta Reader: sequence id ends with {bases} valid nucleotide characters.  Was \
                 the sequence accidentally placed in the definition line?"
            ),
            Self::BasesInTitle => f.write_str(
                "FASTA-Reader: Title ends with at least 20 valid nucleotide characters.  Was the \
                 sequence accidentally put in the title line?",
            ),
            Self::SequenceInTitle => f.write_str(
                "FASTA-Reader: Title ends with at least 50 valid amino acid characters.  Was the \
                 sequence accidentally put in the title line?",
            ),
        }
    }
}

/// The kinds of errors in the modifiers of a gap line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GapLineWarning {
    /// The text after the length is not a modifier.
    Modifiers,
    /// There is no modifier with this name.
    Name(Vec<u8>),
    /// There is no such gap type.
    Type(Vec<u8>),
    /// There is no such evidence of linkage.
    Evidence(Vec<u8>),
    /// The modifiers state two different gap types.
    Conflict,
    /// The modifiers state evidence for a gap of unknown type.
    UnspecifiedOnly,
    /// A gap whose type requires evidence has none.
    EvidenceMissing,
}

impl GapLineWarning {
    /// Writes BLAST+'s message. Some messages contain the line.
    fn write(&self, line: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = String::from_utf8_lossy;
        match self {
            Self::Modifiers => write!(f, "CFastaReader: Problem parsing gap mods at line {line}"),
            Self::Name(name) => write!(f, "Unknown gap modifier name(s): {}", shown(name)),
            Self::Type(value) => write!(f, "Unknown gap-type: {}", shown(value)),
            Self::Evidence(value) => write!(f, "Unknown linkage-evidence: {}", shown(value)),
            Self::Conflict => write!(f, "There were conflicting gap-types around line {line}"),
            Self::UnspecifiedOnly => f.write_str(
                "FASTA-Reader: Unknown gap-type can have linkage-evidence of type 'unspecified' only.",
            ),
            Self::EvidenceMissing => f.write_str(
                "CFastaReader: This gap-type should have at least one specified linkage-evidence.",
            ),
        }
    }
}
