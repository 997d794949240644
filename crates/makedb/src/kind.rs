//! Databases of proteins and of nucleotides.

use fleetblast_seq::id::Molecule;

/// Protein or nucleotide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseKind {
    /// Files `.p*`.
    Protein,
    /// Files `.n*`.
    Nucleotide,
}

impl DatabaseKind {
    /// First letter of its file extensions.
    pub const fn extension_letter(self) -> char {
        match self {
            Self::Protein => 'p',
            Self::Nucleotide => 'n',
        }
    }

    /// The molecule type of its sequences.
    pub const fn molecule(self) -> Molecule {
        match self {
            Self::Protein => Molecule::Protein,
            Self::Nucleotide => Molecule::Nucleotide,
        }
    }
}
