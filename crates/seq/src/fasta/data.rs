//! Residues of a record, by the rules for queries.

use std::ops::Range;

use super::error::{FastaErrorKind, Warning};
use super::gap;
use crate::alphabet;
use crate::convert::is_space;
use crate::id::Molecule;
use crate::nucleotide::{self, blastna};

/// Maximal number of residues of one sequence.
pub(super) const MAX_RESIDUES: usize = i32::MAX as usize;
/// Number of columns of a line that must look like sequence.
const CHECKED_COLUMNS: usize = 70;
/// Maximal number of ranges of invalid columns that are reported for a line.
pub(super) const MAX_RANGES: usize = 1000;

/// The residues of a record while its lines are being read.
#[derive(Debug)]
pub(super) struct Residues {
    codes: Vec<u8>,
    lower_case: Vec<Range<u32>>,
    mask_start: Option<u32>,
    /// Number of residues from lines of letters, not from gap lines.
    letters: usize,
    /// The molecule type that the program expects.
    expected: Molecule,
    /// The molecule type that the identifiers indicate.
    molecule: Option<Molecule>,
}

impl Residues {
    /// Creates an empty sequence. `expected` is the type that the program expects, `molecule` the
    /// type that the identifiers indicate.
    pub(super) fn new(expected: Molecule, molecule: Option<Molecule>) -> Self {
        Self {
            codes: Vec::new(),
            lower_case: Vec::new(),
            mask_start: None,
            letters: 0,
            expected,
            molecule,
        }
    }

    /// Adds a line, which must be trimmed, not empty and no comment.
    pub(super) fn add_line(
        &mut self,
        line: &[u8],
        number: u64,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), FastaErrorKind> {
        if let Some(text) = line.strip_prefix(b">?") {
            let size = gap::length(text, number, warnings);
            if self.codes.len() + size > MAX_RESIDUES {
                return Err(FastaErrorKind::TooLong);
            }
            self.codes.resize(self.codes.len() + size, self.any());
            return Ok(());
        }
        if self.letters == 0 && !looks_like_sequence(line, false) {
            return Err(FastaErrorKind::NotSequence);
        }
        if self.codes.len() + line.len() > MAX_RESIDUES {
            return Err(FastaErrorKind::TooLong);
        }
        self.add_letters(line, number, warnings);
        Ok(())
    }

    fn add_letters(&mut self, line: &[u8], number: u64, warnings: &mut Vec<Warning>) {
        let before = self.codes.len();
        let mut hyphens = false;
        let mut columns: Vec<Range<u32>> = Vec::new();
        for (column, &letter) in (1u32..).zip(line) {
            match letter {
                b'-' => hyphens = true,
                b';' => break,
                _ if is_space(letter) => {}
                _ => match self.encode(letter) {
                    Some(code) => {
                        self.mark(letter.is_ascii_lowercase());
                        self.codes.push(code);
                    }
                    None => add_column(&mut columns, column),
                },
            }
        }
        self.letters += self.codes.len() - before;
        if hyphens {
            warnings.push(Warning::Hyphens { line: number });
        }
        if !columns.is_empty() {
            // BLAST+ reports only this number of ranges.
            columns.truncate(MAX_RANGES);
            let molecule = self.molecule;
            warnings.push(Warning::InvalidResidues { line: number, columns, molecule });
        }
    }

    /// Returns the code of a letter; `None` if BLAST+ drops the letter. If the identifiers, or else
    /// the expected type, indicate nucleotides, BLAST+ drops all letters that are no bases.
    fn encode(&self, letter: u8) -> Option<u8> {
        let residue = alphabet::encode(letter);
        let base = nucleotide::encode(letter);
        let is_nucleotide = self.molecule.unwrap_or(self.expected) == Molecule::Nucleotide;
        if base.is_none() && is_nucleotide {
            return None;
        }
        match self.expected {
            Molecule::Protein => residue,
            // Residues that are no bases become `N`.
            Molecule::Nucleotide => residue.map(|_| base.map_or(blastna::N, blastna::from_ncbi4na)),
        }
    }

    /// Returns the code of an unknown residue or base.
    fn any(&self) -> u8 {
        match self.expected {
            Molecule::Protein => alphabet::X,
            Molecule::Nucleotide => blastna::N,
        }
    }

    /// Starts or ends a run of lower-case letters before the next residue.
    fn mark(&mut self, lower: bool) {
        let position = self.codes.len() as u32;
        match (self.mask_start, lower) {
            (None, true) => self.mask_start = Some(position),
            (Some(start), false) => {
                self.lower_case.push(start..position);
                self.mask_start = None;
            }
            _ => {}
        }
    }

    /// Returns the residues and the runs of lower-case letters.
    pub(super) fn finish(mut self) -> (Vec<u8>, Vec<Range<u32>>) {
        self.mark(false);
        (self.codes, self.lower_case)
    }
}

/// Adds an invalid column, and joins it to the last range if it follows this range. Ignores it if
/// there are more than [`MAX_RANGES`] ranges.
pub(super) fn add_column(columns: &mut Vec<Range<u32>>, column: u32) {
    let full = columns.len() > MAX_RANGES;
    match columns.last_mut() {
        Some(last) if last.end == column => last.end += 1,
        _ if full => {}
        _ => columns.push(column..column + 1),
    }
}

/// Returns whether the first line of a sequence looks like sequence
/// (`CFastaReader::CheckDataLine`). `hyphen_counts` states whether hyphens count as residues.
pub(super) fn looks_like_sequence(line: &[u8], hyphen_counts: bool) -> bool {
    let checked = line.len().min(CHECKED_COLUMNS);
    let (mut good, mut bad) = (0, 0);
    for &c in &line[..checked] {
        match c {
            b'A'..=b'Z' | b'a'..=b'z' | b'*' => good += 1,
            b';' => break,
            b'-' if hyphen_counts => good += 1,
            b'-' | b'0'..=b'9' => {}
            _ if is_space(c) => {}
            _ => bad += 1,
        }
    }
    !(bad >= good / 3 && (checked > 3 || good == 0 || bad > good))
}
