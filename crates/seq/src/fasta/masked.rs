//! Masks of a record, by the rules of `convert2blastmask` (`CMaskFromFasta`,
//! convert2blastmask.cpp).
//!
//! The rules differ from those of `makeblastdb` as follows:
//! * The identifier or the letters decide the type of the sequence ([`guess_molecule`]).
//! * Runs of lower-case letters are masks. A hyphen is a residue in upper case.
//! * A line that starts with a digit is a mask: `5 - 9` masks the positions from 5 to 9, counted
//!   from 0. The line also stands for one residue.

use std::ops::Range;

use super::data::{MAX_RESIDUES, looks_like_sequence};
use super::error::FastaErrorKind;
use super::gap;
use crate::convert::{is_space, parse_integer, trim_spaces};
use crate::id::Molecule;
use crate::{alphabet, nucleotide};

/// Number of letters from which the type of a sequence is guessed.
const SAMPLE: usize = 4096;

/// The masks of a record while its lines are being read.
#[derive(Debug)]
pub(super) struct Masks {
    /// The type that the identifiers indicate.
    molecule: Option<Molecule>,
    masks: Vec<Range<u32>>,
    /// Start of the open run of lower-case letters.
    start: Option<u32>,
    /// Number of residues from lines of letters.
    letters: usize,
    /// Number of residues from gap lines.
    gaps: usize,
    /// The first letters, in upper case.
    sample: Vec<u8>,
}

impl Masks {
    pub(super) fn new(molecule: Option<Molecule>) -> Self {
        Self { molecule, masks: Vec::new(), start: None, letters: 0, gaps: 0, sample: Vec::new() }
    }

    /// Adds a line, which must be trimmed, not empty and no comment.
    pub(super) fn add_line(&mut self, line: &[u8], number: u64) -> Result<(), FastaErrorKind> {
        let mut line = line;
        if line[0].is_ascii_digit() {
            self.masks.push(parse_interval(line)?);
            line = b"A";
        }
        if let Some(text) = line.strip_prefix(b">?") {
            self.gaps += gap::length(text, number, &mut Vec::new());
        } else {
            if self.letters == 0 && !looks_like_sequence(line, true) {
                return Err(FastaErrorKind::NotSequence);
            }
            self.add_letters(line);
        }
        match self.letters + self.gaps > MAX_RESIDUES {
            true => Err(FastaErrorKind::TooLong),
            false => Ok(()),
        }
    }

    fn add_letters(&mut self, line: &[u8]) {
        let is_residue = |letter| match self.molecule {
            Some(Molecule::Nucleotide) => letter == b'-' || nucleotide::encode(letter).is_some(),
            _ => alphabet::encode(letter).is_some(),
        };
        let line = line.split(|&letter| letter == b';').next().unwrap_or_default();
        let letters = line.iter().filter(|&&letter| !is_space(letter) && is_residue(letter));
        for letter in letters.copied().collect::<Vec<u8>>() {
            let position = (self.letters + self.gaps) as u32;
            if letter.is_ascii_lowercase() {
                self.start.get_or_insert(position);
            } else {
                self.close(position);
            }
            self.letters += 1;
            if self.sample.len() < SAMPLE {
                self.sample.push(letter.to_ascii_uppercase());
            }
        }
    }

    /// Ends the open run of lower-case letters.
    fn close(&mut self, position: u32) {
        self.masks.extend(self.start.take().map(|start| start..position));
    }

    /// Returns the masks in the order in which they ended.
    ///
    /// # Errors
    /// A sequence without residues, or of an unknown type.
    pub(super) fn finish(mut self) -> Result<Vec<Range<u32>>, FastaErrorKind> {
        let length = self.letters + self.gaps;
        self.close(length as u32);
        let is_unknown = !self.sample.is_empty() && guess_molecule(&self.sample).is_none();
        if self.molecule.is_none() && is_unknown {
            return Err(FastaErrorKind::UnknownMolecule);
        }
        if length == 0 { Err(FastaErrorKind::NoResidues) } else { Ok(self.masks) }
    }
}

/// Parses a line such as `5 - 9`. The second number may be less than the first one.
fn parse_interval(line: &[u8]) -> Result<Range<u32>, FastaErrorKind> {
    let hyphen = line.iter().position(|&byte| byte == b'-').unwrap_or(line.len());
    let start = parse_position(&line[..hyphen])?;
    let end = parse_position(line.get(hyphen + 1..).unwrap_or_default())?;
    Ok(start..end + 1)
}

fn parse_position(text: &[u8]) -> Result<u32, FastaErrorKind> {
    let text = trim_spaces(text);
    let error = |position| FastaErrorKind::BadPosition {
        text: String::from_utf8_lossy(text).into_owned(),
        position,
    };
    // A sign is no part of a number here.
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits < text.len() || digits == 0 {
        return Err(error(Some(digits)));
    }
    let number = parse_integer(text, 10).ok().and_then(|number| u32::try_from(number).ok());
    number.filter(|&number| number < u32::MAX).ok_or_else(|| error(None))
}

/// Guesses the type of a sequence from letters in upper case; `None` if they fit no type
/// (`CFormatGuess::SequenceType`, format_guess.cpp).
fn guess_molecule(letters: &[u8]) -> Option<Molecule> {
    let count = |set: &[u8]| letters.iter().filter(|letter| set.contains(letter)).count();
    let (bases, ambiguous) = (count(b"ACGNTU-"), count(b"BDHKMRSVWY"));
    let no_bases = letters.len() - bases - ambiguous;
    let residues = count(b"ACDEFGHIKLMNPQRSTVWYBZX-*");
    let no_residues = letters.len() - residues;
    let is_nucleotide = no_bases + ambiguous <= bases / 9
        || no_bases + ambiguous <= bases / 3 && no_bases <= (bases + ambiguous) / 19;
    if is_nucleotide {
        Some(Molecule::Nucleotide)
    } else {
        (no_residues <= residues / 9).then_some(Molecule::Protein)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected masks are those of `convert2blastmask -outfmt interval`.
    #[test]
    fn lines_of_intervals_and_letters_mix() {
        let masks = |lines: &[&str]| {
            let mut masks = Masks::new(None);
            for line in lines {
                masks.add_line(line.as_bytes(), 1)?;
            }
            masks.finish()
        };
        assert_eq!(masks(&["mm", "3 - 5", "mm"]).unwrap(), [3..6, 0..2, 3..5]);
        assert_eq!(masks(&["acgt", ">?100", "acgt"]).unwrap(), [Range { start: 0, end: 108 }]);
        assert_eq!(masks(&["mM-m"]).unwrap(), [0..1, 3..4]);
        assert_eq!(masks(&["9 - 7"]).unwrap(), [Range { start: 9, end: 8 }]);
        assert_eq!(masks(&[]), Err(FastaErrorKind::NoResidues));
        assert_eq!(masks(&["efefefjo"]), Err(FastaErrorKind::UnknownMolecule));
        for line in ["3", "5 - x", "5-9 c", "4294967296 - 5"] {
            assert!(matches!(masks(&[line]), Err(FastaErrorKind::BadPosition { .. })), "{line}");
        }
    }
}
