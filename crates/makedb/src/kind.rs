//! Databases of proteins and of nucleotides.

use fleetblast_seq::id::Molecule;

/// Protein or nucleotide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Files `.p*`.
    Protein,
    /// Files `.n*`.
    Nucleotide,
}

impl Kind {
    /// First letter of its file extensions.
    pub const fn letter(self) -> char {
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
