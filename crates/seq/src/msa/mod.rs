//! Multiple alignments of proteins, as `psiblast -in_msa` reads them (`CAlnReader`,
//! objtools/readers/aln_reader.cpp).
//!
//! The format is guessed from the first lines (`guess`). Aligned FASTA, Clustal and PHYLIP are
//! supported. Other formats of BLAST+ cause an error that names the format. Letters keep their
//! case; `-` is a gap.

mod clustal;
mod fasta;
mod guess;
mod lines;
mod names;
mod phylip;
mod rows;
#[cfg(test)]
mod tests;

use thiserror::Error;

use self::guess::{Format, guess};
use self::lines::Lines;
use self::rows::Rows;
use crate::id::{Molecule, SeqId};

/// The character for a gap in a column.
pub const GAP: u8 = b'-';

/// The reason why an alignment cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MsaError {
    /// A line of the text is malformed.
    #[error("line {line}: {problem}")]
    Malformed {
        /// The line number, from 1.
        line: usize,
        /// Description of the error.
        problem: String,
    },
    /// The text is not an alignment.
    #[error("{0}")]
    NoAlignment(&'static str),
    /// A sequence of bases has both `T` and `U`.
    #[error("the sequence that begins in line {line} has T and U among its bases")]
    MixedBases {
        /// Line in which the sequence begins, from 1.
        line: usize,
    },
    /// The text has a format of BLAST+ that is not supported.
    #[error("{0}")]
    Unsupported(&'static str),
}

type Result<T> = std::result::Result<T, MsaError>;

fn malformed_error<T>(line: usize, problem: impl Into<String>) -> Result<T> {
    Err(MsaError::Malformed { line, problem: problem.into() })
}

/// A sequence of an alignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlignedSequence {
    /// Line in which the sequence begins, from 1.
    pub line: usize,
    /// Identifiers of the sequence, at least one.
    pub ids: Vec<SeqId>,
    /// Title of the sequence, in FASTA only.
    pub title: Vec<u8>,
    /// Columns of the sequence. Each is a letter, a `*` or [`GAP`].
    pub columns: Vec<u8>,
    /// Molecule type in BLAST+: from the first identifier, or else from the letters.
    pub molecule: Molecule,
}

impl AlignedSequence {
    /// Returns the letters of the sequence in upper case, without gaps.
    pub fn letters(&self) -> impl Iterator<Item = u8> {
        self.columns.iter().filter(|&&letter| letter != GAP).map(u8::to_ascii_uppercase)
    }
}

/// Reads an alignment of at least two sequences with the same number of columns.
///
/// # Errors
/// [`MsaError`] if BLAST+ does not recognise an alignment, or would read beyond the end of a
/// sequence.
///
/// ```
/// use fleetblast_seq::msa::read;
/// let rows = read(b">a one\nMK-L\n>b\nMKVL\n").unwrap();
/// assert_eq!((&rows[0].title[..], &rows[0].columns[..]), (&b"one"[..], &b"MK-L"[..]));
/// assert_eq!(read(b">a\nMKL\n").unwrap_err().to_string(), "there is one sequence only");
/// ```
pub fn read(text: &[u8]) -> Result<Vec<AlignedSequence>> {
    let lines = Lines::new(text);
    let rows = match guess(text) {
        Some(Format::Fasta) => fasta::read(lines)?,
        Some(Format::Clustal) => clustal::read(lines)?,
        Some(Format::Phylip) => phylip::read(lines)?,
        Some(Format::Nexus) => return Err(MsaError::Unsupported("an alignment in NEXUS")),
        Some(Format::Sequin) => {
            return Err(MsaError::Unsupported("an alignment in Sequin's format"));
        }
        Some(Format::Multalin) => {
            return Err(MsaError::Unsupported("an alignment in Multalin's format"));
        }
        None => {
            return Err(MsaError::NoAlignment(
                "this is neither aligned FASTA nor Clustal W nor PHYLIP",
            ));
        }
    };
    check_rows(rows)
}

/// Checks the rows of an alignment, and determines their identifiers and molecule types.
fn check_rows(rows: Rows) -> Result<Vec<AlignedSequence>> {
    let rows = rows.into_inner();
    match rows.len() {
        0 => return Err(MsaError::NoAlignment("there is no sequence")),
        1 => return Err(MsaError::NoAlignment("there is one sequence only")),
        _ => {}
    }
    let named = |row: rows::Row| {
        let ids = match names::parse(&row.word) {
            Ok(ids) => ids,
            Err(problem) => return malformed_error(row.line, problem),
        };
        if names::has_modifiers(&row.title) {
            return Err(MsaError::Unsupported(
                "modifiers in the title of a sequence ([name=value])",
            ));
        }
        let molecule = ids.first().and_then(SeqId::molecule);
        let mut aligned = AlignedSequence {
            line: row.line,
            ids,
            title: row.title,
            columns: row.columns,
            molecule: Molecule::Protein,
        };
        aligned.molecule = molecule.map_or_else(|| molecule_from_letters(&aligned), Ok)?;
        Ok(aligned)
    };
    let aligned = rows.into_iter().map(named).collect::<Result<Vec<_>>>()?;
    let columns = aligned[0].columns.len();
    if let Some(row) = aligned.iter().find(|row| row.columns.len() != columns) {
        let count = row.columns.len();
        return malformed_error(
            row.line,
            format!("{count} columns, where the first has {columns}"),
        );
    }
    Ok(aligned)
}

/// Guesses the molecule type from the letters (`CFormatGuess::SequenceType`).
fn molecule_from_letters(aligned: &AlignedSequence) -> Result<Molecule> {
    let (mut bases, mut ambiguous, mut other) = (0, 0, 0);
    for letter in aligned.letters() {
        match letter {
            b'A' | b'C' | b'G' | b'T' | b'U' | b'N' => bases += 1,
            letter if b"BDHKMRSVWY".contains(&letter) => ambiguous += 1,
            _ => other += 1,
        }
    }
    let is_nucleotide = other + ambiguous <= bases / 9
        || (other + ambiguous <= bases / 3 && other <= (bases + ambiguous) / 19);
    if !is_nucleotide {
        return Ok(Molecule::Protein);
    }
    let has = |letter: u8| aligned.letters().any(|it| it == letter);
    match has(b'T') && has(b'U') {
        true => Err(MsaError::MixedBases { line: aligned.line }),
        false => Ok(Molecule::Nucleotide),
    }
}
