//! Residues of a record, by the rules of `makeblastdb`.
//!
//! The rules differ from those for queries as follows (`CFastaBioseqSource`, build_db.cpp):
//! * Every record needs its definition line, and a file without records is an error.
//! * The type of the database decides which letters are residues. The identifier never does.
//! * Proteins: all letters, `*` and `-` are residues.
//! * Nucleotides: the 15 IUPAC letters and `U` are bases. All other letters, including `X` and `*`,
//!   are dropped with a warning. A hyphen is a gap and stored as `N`, as is each base of a gap line
//!   `>?100`. A single hyphen at the end of a line before another line is a gap of unknown length.
//!   It is stored as one `N`, but a sequence that starts with it counts as empty.
//! * Lower case has no meaning.

use std::ops::Range;

use super::data::{MAX_RANGES, MAX_RESIDUES, add_column, looks_like_sequence};
use super::error::{FastaErrorKind, Warning};
use super::gap;
use crate::convert::is_space;
use crate::id::Molecule;
use crate::{alphabet, nucleotide};

/// The effect of gaps on a nucleotide record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GapEffect {
    /// The gaps neither make the record empty nor prevent BLAST+ from storing it.
    #[default]
    Ordinary,
    /// The sequence starts with a gap of unknown length, so it counts as empty.
    StartsWithUnknownGap,
    /// The sequence is a single gap, which BLAST+ cannot store.
    Only,
}

/// Mark in the tables below for a hyphen in a nucleotide sequence.
const GAP: u8 = 0xfc;
/// Mark for white space.
const BLANK: u8 = 0xfd;
/// Mark for the start of a comment, which extends to the end of the line.
const COMMENT: u8 = 0xfe;
/// Mark for a byte that is dropped with a warning.
const BAD: u8 = 0xff;

/// The code of each byte, or one of the marks above.
type Table = [u8; 256];

const PROTEIN: Table = {
    let mut table = with_marks();
    let mut byte = 0;
    while byte < 256 {
        if let Some(code) = alphabet::encode(byte as u8) {
            table[byte] = code;
        }
        byte += 1;
    }
    table
};

const NUCLEOTIDE: Table = {
    let mut table = with_marks();
    let mut byte = 0;
    while byte < 256 {
        if let Some(code) = nucleotide::encode(byte as u8) {
            table[byte] = code;
        }
        byte += 1;
    }
    table[b'-' as usize] = GAP;
    table
};

const fn with_marks() -> Table {
    let mut table = [BAD; 256];
    let mut byte = 0;
    while byte < 256 {
        if is_space(byte as u8) {
            table[byte] = BLANK;
        }
        byte += 1;
    }
    table[b';' as usize] = COMMENT;
    table
}

/// A run of hyphens. The next base, the next gap line or the end of the record ends it.
#[derive(Clone, Copy, Debug, Default)]
struct OpenGap {
    length: usize,
    /// Whether the hyphens are the last characters of their line.
    at_line_end: bool,
}

/// The residues of a record while its lines are being read.
#[derive(Debug)]
pub(super) struct Residues {
    molecule: Molecule,
    table: &'static Table,
    codes: Vec<u8>,
    open: OpenGap,
    /// Number of residues or bases that are not in gaps.
    letters: usize,
    gaps: usize,
    starts_unknown: bool,
}

impl Residues {
    /// Creates an empty sequence of this type.
    pub(super) fn new(molecule: Molecule) -> Self {
        let table = match molecule {
            Molecule::Protein => &PROTEIN,
            Molecule::Nucleotide => &NUCLEOTIDE,
        };
        let open = OpenGap::default();
        Self {
            molecule,
            table,
            codes: Vec::new(),
            open,
            letters: 0,
            gaps: 0,
            starts_unknown: false,
        }
    }

    /// Adds a line, which must be trimmed, not empty and no comment.
    pub(super) fn add_line(
        &mut self,
        line: &[u8],
        number: u64,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), FastaErrorKind> {
        if let Some(gap) = line.strip_prefix(b">?") {
            return self.add_gap_line(gap, number, warnings);
        }
        if self.letters == 0 && !looks_like_sequence(line, true) {
            return Err(FastaErrorKind::NotSequence);
        }
        if self.codes.len() + self.open.length + line.len() > MAX_RESIDUES {
            return Err(FastaErrorKind::TooLong);
        }
        if self.open.length > 0 || !self.add_plain(line) {
            self.add_mixed(line, number, warnings);
        }
        Ok(())
    }

    /// Adds a line that consists of residues only. Otherwise adds nothing and returns false.
    fn add_plain(&mut self, line: &[u8]) -> bool {
        let before = self.codes.len();
        self.codes.extend(line.iter().map(|&byte| self.table[usize::from(byte)]));
        let plain = self.codes[before..].iter().fold(0, |max, &code| code.max(max)) < GAP;
        if plain {
            self.letters += line.len();
        } else {
            self.codes.truncate(before);
        }
        plain
    }

    fn add_mixed(&mut self, line: &[u8], number: u64, warnings: &mut Vec<Warning>) {
        let mut columns: Vec<Range<u32>> = Vec::new();
        for (at, &byte) in line.iter().enumerate() {
            match self.table[usize::from(byte)] {
                GAP => {
                    self.open.length += 1;
                    self.open.at_line_end = at + 1 == line.len();
                }
                BLANK => {}
                COMMENT => break,
                BAD => add_column(&mut columns, at as u32 + 1),
                code => {
                    self.close_gap(at == 0);
                    self.codes.push(code);
                    self.letters += 1;
                }
            }
        }
        if !columns.is_empty() {
            // BLAST+ reports only this number of ranges.
            columns.truncate(MAX_RANGES);
            warnings.push(Warning::InvalidResidues { line: number, columns, molecule: None });
        }
    }

    fn add_gap_line(
        &mut self,
        text: &[u8],
        number: u64,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), FastaErrorKind> {
        self.close_gap(true);
        let size = gap::length(text, number, warnings);
        if self.codes.len() + size > MAX_RESIDUES {
            return Err(FastaErrorKind::TooLong);
        }
        let any = match self.molecule {
            Molecule::Protein => alphabet::X,
            Molecule::Nucleotide => nucleotide::N,
        };
        self.codes.resize(self.codes.len() + size, any);
        self.gaps += 1;
        Ok(())
    }

    /// Ends a run of hyphens. `at_line_start` states whether the byte after the run is the first of
    /// its line.
    fn close_gap(&mut self, at_line_start: bool) {
        let OpenGap { length, at_line_end } = std::mem::take(&mut self.open);
        if length == 0 {
            return;
        }
        let unknown = length == 1 && at_line_end && at_line_start;
        self.starts_unknown |= unknown && self.codes.is_empty();
        self.codes.resize(self.codes.len() + length, nucleotide::N);
        self.gaps += 1;
    }

    /// Returns the residues, and the effect of gaps on the record.
    pub(super) fn finish(mut self) -> (Vec<u8>, GapEffect) {
        self.close_gap(true);
        let gaps = match (self.letters, self.gaps) {
            _ if self.starts_unknown => GapEffect::StartsWithUnknownGap,
            (0, 1) if self.molecule == Molecule::Nucleotide => GapEffect::Only,
            _ => GapEffect::Ordinary,
        };
        (self.codes, gaps)
    }
}
