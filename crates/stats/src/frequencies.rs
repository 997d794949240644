//! Residue frequencies behind a matrix: background, joint probabilities and frequency ratios.

use fleetblast_seq::alphabet::{SIZE, encode};

use crate::matrix::{canonical_name, heading_code};

/// Number of standard amino acids.
pub const AMINO_ACID_COUNT: usize = 20;

/// The letters of the standard amino acids in the order of joint probabilities: by their
/// three-letter names.
pub const AMINO_ACID_LETTERS: [u8; AMINO_ACID_COUNT] = *b"ARNDCQEGHILKMFPSTWYV";

/// NCBIstdaa codes of [`AMINO_ACID_LETTERS`].
pub const AMINO_ACID_CODES: [usize; AMINO_ACID_COUNT] = {
    let mut codes = [0; AMINO_ACID_COUNT];
    let mut index = 0;
    while index < AMINO_ACID_COUNT {
        codes[index] = match encode(AMINO_ACID_LETTERS[index]) {
            Some(code) => code as usize,
            None => panic!("a letter is missing from the alphabet"),
        };
        index += 1;
    }
    codes
};

/// Joint probabilities of two standard residues, or another table of that shape:
/// [`AMINO_ACID_LETTERS`] by [`AMINO_ACID_LETTERS`].
pub type JointProbabilities = [[f64; AMINO_ACID_COUNT]; AMINO_ACID_COUNT];

/// The frequencies that a matrix was made from (matrix_frequency_data.c, matrix_freq_ratios.c).
#[derive(Clone, Debug)]
pub struct MatrixFrequencies {
    /// Frequency ratios of pairs of NCBIstdaa codes; 0 if two codes must not pair.
    pub frequency_ratios: [[f64; SIZE]; SIZE],
    /// Joint probabilities of the standard residues.
    pub joint_probabilities: JointProbabilities,
    /// Background frequencies of the standard residues.
    pub background_frequencies: [f64; AMINO_ACID_COUNT],
}

const BACKGROUND: &str = include_str!("../data/freq_ratios/background_freqs.tsv");

/// Reads the tables of frequency ratios and of joint probabilities of a matrix.
macro_rules! tables {
    ($name:literal) => {
        (
            include_str!(concat!("../data/freq_ratios/freq_ratios_", $name, ".tsv")),
            include_str!(concat!("../data/freq_ratios/joint_probs_", $name, ".tsv")),
        )
    };
}

impl MatrixFrequencies {
    /// Returns the frequencies of a matrix (name in any case). Returns `None` for IDENTITY, which
    /// has none, and for unknown names.
    pub fn for_matrix(matrix: &str) -> Option<Self> {
        let name = canonical_name(matrix)?;
        let (ratios, joint) = match name {
            "BLOSUM45" => tables!("BLOSUM45"),
            "BLOSUM50" => tables!("BLOSUM50"),
            "BLOSUM62" => tables!("BLOSUM62"),
            "BLOSUM80" => tables!("BLOSUM80"),
            "BLOSUM90" => tables!("BLOSUM90"),
            "PAM30" => tables!("PAM30"),
            "PAM70" => tables!("PAM70"),
            "PAM250" => tables!("PAM250"),
            _ => return None,
        };
        Some(Self {
            frequency_ratios: square(ratios)?,
            joint_probabilities: square(joint)?,
            background_frequencies: column(name)?,
        })
    }
}

/// Parses a square table with headings in the first line and the first column.
fn square<const N: usize>(text: &str) -> Option<[[f64; N]; N]> {
    let mut table = [[0.0; N]; N];
    let mut lines = text.lines().skip(1);
    for row in &mut table {
        let mut cells = lines.next()?.split('\t').skip(1);
        for value in row {
            *value = cells.next()?.trim().parse().ok()?;
        }
    }
    Some(table)
}

/// Reads a column of the table of backgrounds, in the order of [`AMINO_ACID_LETTERS`].
fn column(name: &str) -> Option<[f64; AMINO_ACID_COUNT]> {
    let mut lines = BACKGROUND.lines();
    let index = lines.next()?.split('\t').position(|heading| heading.trim() == name)?;
    let mut values = [0.0; AMINO_ACID_COUNT];
    for line in lines {
        let mut fields = line.split('\t');
        let code = heading_code(fields.next()?)?;
        let letter = AMINO_ACID_CODES.iter().position(|&known| known == code)?;
        values[letter] = fields.nth(index - 1)?.trim().parse().ok()?;
    }
    Some(values)
}

/// Returns the background composition of Robinson and Robinson over NCBIstdaa, normalised; 0 for
/// codes that are no standard residue.
pub fn background_frequencies() -> [f64; SIZE] {
    let values = column("robinson_per_mille").expect("the built-in table has the column");
    let mut probabilities = [0.0; SIZE];
    for (&code, value) in AMINO_ACID_CODES.iter().zip(values) {
        probabilities[code] = value;
    }
    // BLAST+ adds the probabilities in the order of the codes.
    let sum: f64 = probabilities.iter().sum();
    probabilities.map(|p| p / sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix;

    #[test]
    fn every_matrix_but_identity_has_frequencies() {
        for name in matrix::MATRIX_NAMES {
            let Some(data) = MatrixFrequencies::for_matrix(name) else {
                assert_eq!(name, "IDENTITY");
                continue;
            };
            let joint: f64 = data.joint_probabilities.iter().flatten().sum();
            assert!((joint - 1.0).abs() < 1e-3, "{name} {joint}");
            let background: f64 = data.background_frequencies.iter().sum();
            assert!((background - 1.0).abs() < 1e-3, "{name} {background}");
            assert!(
                data.frequency_ratios[1][1] > 1.0 && data.frequency_ratios[0][1] == 0.0,
                "{name}"
            );
        }
    }

    #[test]
    fn background_is_normalised_and_zero_elsewhere() {
        let background = background_frequencies();
        assert!((background.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        assert_eq!(background.iter().filter(|&&p| p == 0.0).count(), 8);
    }
}
