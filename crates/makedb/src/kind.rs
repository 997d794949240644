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
    /// First letter of the extension of its files.
    pub const fn letter(self) -> char {
        match self {
            Self::Protein => 'p',
            Self::Nucleotide => 'n',
        }
    }

    /// What its sequences are made of.
    pub const fn molecule(self) -> Molecule {
        match self {
            Self::Protein => Molecule::Protein,
            Self::Nucleotide => Molecule::Nucleotide,
        }
    }
}
