//! Databases of proteins and of nucleotides.

use fleetblast_seq::id::Molecule;

/// Type of the sequences of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseKind {
    /// Proteins, in files `.p*`.
    Protein,
    /// Nucleotides, in files `.n*`.
    Nucleotide,
}

impl DatabaseKind {
    /// Returns the first letter of the file extensions: `p` or `n`.
    pub const fn extension_letter(self) -> char {
        match self {
            Self::Protein => 'p',
            Self::Nucleotide => 'n',
        }
    }

    /// Returns the molecule type of the sequences.
    pub const fn molecule(self) -> Molecule {
        match self {
            Self::Protein => Molecule::Protein,
            Self::Nucleotide => Molecule::Nucleotide,
        }
    }
}
