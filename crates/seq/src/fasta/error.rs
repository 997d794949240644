//! Errors and warnings of reading FASTA.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use crate::id::{IdError, IdRefusal, Molecule};

/// An error of reading FASTA.
#[derive(Debug, thiserror::Error)]
pub enum FastaError {
    /// The input cannot be read further.
    #[error("{}, near line {line}: cannot read: {source}", file.display())]
    Read {
        /// Name of the input.
        file: PathBuf,
        /// Line being read.
        line: u64,
        /// The cause.
        source: std::io::Error,
    },
    /// The input is not FASTA, or not usable.
    #[error("{}, line {line}: {problem}: {}", file.display(), problem.advice())]
    Invalid {
        /// Name of the input.
        file: PathBuf,
        /// The line with the error.
        line: u64,
        /// What is wrong.
        problem: Problem,
        /// BLAST+'s warnings before it gives up on this record.
        warnings: Vec<Warning>,
    },
}

impl FastaError {
    /// The message that BLAST+ prints after `BLAST query error: `, if it has one.
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
            Problem::NotSequence => format!(
                "CFastaReader: Near line {line}, there's a line that doesn't look like plausible \
                 data, but it's not marked as defline or comment."
            ),
            Problem::NoDefline => format!(
                "CFastaReader: Input doesn't start with a defline or comment around line {line}"
            ),
            Problem::NoRecord => format!("CFastaReader: Expected defline around line {line}"),
            Problem::BlankDefline => {
                format!("CFastaReader: Defline lacks a proper ID around line {line}")
            }
            Problem::NoIdentifier => "Unable to locate sequence id in definition line".to_string(),
            Problem::BadIdentifier(error) => error.to_string(),
            Problem::InvalidLocal(id) => format!("'{id}' is not a valid local ID"),
            Problem::LongIdentifier { what, length, limit } => format!(
                "Near line {line}, the {what} is too long.  Its length is {length} but the \
                 maximum allowed {what} length is {limit}.  Please find and correct all {what}s \
                 that are too long."
            ),
            Problem::BasesInId { bases } => Warning::BasesInId { bases: *bases }.to_string(),
            Problem::Identifier(_) | Problem::TooLong => return None,
        })
    }
}

/// The kinds of errors in a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The line is neither sequence nor definition nor comment.
    #[error("this is no sequence")]
    NotSequence,
    /// Sequence before any definition line, with parsed definition lines.
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
    /// A local identifier that starts with a character that is not allowed there.
    #[error("'{0}' is no valid local identifier")]
    InvalidLocal(String),
    /// An identifier is too long for BLAST+.
    #[error("the {what} has {length} characters, more than {limit}")]
    LongIdentifier {
        /// `local id`, `general id string` or `accession`.
        what: &'static str,
        /// Its length.
        length: usize,
        /// The greatest length allowed.
        limit: usize,
    },
    /// The identifier of a nucleotide sequence ends with more than 25 bases.
    #[error("the identifier ends with {bases} bases")]
    BasesInId {
        /// Number of bases.
        bases: usize,
    },
    /// An identifier instead of a sequence.
    #[error("'{0}' is an identifier, not a sequence")]
    Identifier(String),
    /// The line or sequence has more than 2³¹−1 characters.
    #[error("more than 2147483647 characters in one sequence or line")]
    TooLong,
}

impl Problem {
    /// What the user can do.
    fn advice(&self) -> &'static str {
        match self {
            Self::NotSequence => "give sequences in FASTA format",
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
            Self::TooLong => "split the sequence",
        }
    }
}

/// BLAST+'s warnings on standard error while it reads a record. `Display` shows its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// Characters of a line were dropped.
    InvalidResidues {
        /// The line.
        line: u64,
        /// Columns from 1, as ranges; no more than 1000 ranges.
        columns: Vec<Range<u32>>,
        /// The type of the sequence by its identifiers.
        molecule: Option<Molecule>,
    },
    /// Hyphens in a line were dropped.
    Hyphens {
        /// The line.
        line: u64,
    },
    /// The size in a gap line (`>?`) is no positive number, so it counts as 1.
    GapSize {
        /// The line.
        line: u64,
    },
    /// Invalid modifiers of a gap line.
    Gap {
        /// The line.
        line: u64,
        /// The kind of error.
        gap: GapLineWarning,
    },
    /// Commas in the first word became underscores.
    CommaInId {
        /// The line.
        line: u64,
    },
    /// A part of the first word is no identifier and was skipped.
    SkippedIdPart(IdRefusal),
    /// The identifier ends with this many letters, more than 50.
    SequenceInId {
        /// Number of letters.
        letters: usize,
    },
    /// The identifier of a nucleotide sequence ends with this many bases, more than 20.
    BasesInId {
        /// Number of bases.
        bases: usize,
    },
    /// The title ends with 50 letters.
    SequenceInTitle,
    /// The title of a nucleotide sequence ends with 20 bases.
    BasesInTitle,
}

impl Warning {
    /// The message on standard error of a program with this name, which BLAST+ puts before some
    /// warnings.
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
            Self::SkippedIdPart(refusal) => refusal.fmt(f),
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

/// The kinds of errors in modifiers of a gap line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GapLineWarning {
    /// The text after the length is no modifier.
    Modifiers,
    /// There is no modifier of this name.
    Name(Vec<u8>),
    /// There is no such type of gaps.
    Type(Vec<u8>),
    /// There is no such evidence.
    Evidence(Vec<u8>),
    /// Two types.
    Conflict,
    /// Evidence for a gap of unknown type.
    UnspecifiedOnly,
    /// No evidence for a gap that must have some.
    EvidenceMissing,
}

impl GapLineWarning {
    /// Writes BLAST+'s message; some have the line.
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
