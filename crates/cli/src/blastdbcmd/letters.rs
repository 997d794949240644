//! Sequences as letters.

use std::ops::Range;

use fleetblast_db::{Database, DbError, SequenceKind};
use fleetblast_seq::{alphabet, nucleotide};

/// The representation of residues for which the IUPAC alphabet of proteins has no letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// The letters `*` and `-`, like in FASTA.
    Extended,
    /// The byte 255, like BLAST+ wherever it converts a sequence to a string.
    Strict,
}

/// The byte for residues without a letter.
const NO_LETTER: u8 = 255;

/// Returns the letters of a range (`None` for the whole sequence) in upper case, on the plus
/// strand.
///
/// # Errors
/// The database is damaged.
pub(super) fn letters(
    database: &Database,
    oid: u32,
    part: Option<Range<u32>>,
    alphabet: Alphabet,
) -> Result<Vec<u8>, DbError> {
    let part = part.unwrap_or(0..u32::MAX);
    let mut text = Vec::new();
    match database.kind() {
        SequenceKind::Nucleotide => {
            database.bases_of(oid)?.decode(part, &mut text);
            for code in &mut text {
                *code = nucleotide::LETTERS[usize::from(*code & 15)];
            }
        }
        _ => {
            let residues = database.residues_of(oid);
            let end = residues.len().min(part.end as usize);
            let table = protein_letters(alphabet);
            let residues = &residues[end.min(part.start as usize)..end];
            text.extend(residues.iter().map(|&code| table[usize::from(code)]));
        }
    }
    Ok(text)
}

/// Returns the table from residue codes to letters.
fn protein_letters(alphabet: Alphabet) -> &'static [u8; 256] {
    const EXTENDED: [u8; 256] = {
        let mut table = [NO_LETTER; 256];
        let mut code = 0;
        while code < alphabet::SIZE {
            table[code] = alphabet::LETTERS[code];
            code += 1;
        }
        table
    };
    const STRICT: [u8; 256] = {
        let mut table = EXTENDED;
        table[alphabet::SENTINEL as usize] = NO_LETTER;
        table[alphabet::STOP as usize] = NO_LETTER;
        table
    };
    match alphabet {
        Alphabet::Extended => &EXTENDED,
        Alphabet::Strict => &STRICT,
    }
}

/// Writes the masked ranges in lower case; `text` begins at position `start` of the sequence.
pub(super) fn mask(text: &mut [u8], start: u32, masks: &[Range<u32>]) {
    let end = start.saturating_add(u32::try_from(text.len()).unwrap_or(u32::MAX));
    for masked in masks {
        let from = masked.start.clamp(start, end);
        let to = masked.end.clamp(from, end);
        text[(from - start) as usize..(to - start) as usize].make_ascii_lowercase();
    }
}

/// Replaces the text by its reverse complement.
pub(super) fn reverse_complement(text: &mut [u8]) {
    text.reverse();
    for letter in text {
        *letter = complement(*letter);
    }
}

/// Returns the complement of a letter; a letter that is no base stays.
fn complement(letter: u8) -> u8 {
    const PAIRS: [[u8; 2]; 6] = [*b"AT", *b"CG", *b"RY", *b"KM", *b"BV", *b"DH"];
    let upper = match letter.to_ascii_uppercase() {
        b'U' => b'T',
        upper => upper,
    };
    let pair = PAIRS.iter().find(|pair| pair.contains(&upper));
    let Some(&[one, other]) = pair else { return letter };
    let found = if one == upper { other } else { one };
    if letter.is_ascii_lowercase() { found.to_ascii_lowercase() } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_strand_pairs_ambiguity_codes() {
        // The expected text is from `blastdbcmd -strand minus` of RYKMSWBDHVNACGTTACGTT.
        let mut text = *b"RYKMSWBDHVNACGTTACGTT";
        reverse_complement(&mut text);
        assert_eq!(&text, b"AACGTAACGTNBDHVWSKMRY");
        assert_eq!((complement(b'a'), complement(b'-'), complement(b'E')), (b't', b'-', b'E'));
    }

    #[test]
    fn masks_are_clipped() {
        let mut text = *b"ACGTACGT";
        mask(&mut text, 10, &[0..11, 13..15, 17..99, 99..120]);
        assert_eq!(&text, b"aCGtaCGt");
    }
}
