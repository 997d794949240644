//! The search programs of BLAST+ and their properties.
//!
//! Other code reads a property of a [`BlastProgram`], or matches on it without a default, so that a
//! new program does not compile until each place handles it. Names of programs are written only
//! here, in the options and in the plans.

use fleetblast_seq::id::Molecule;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A search program of BLAST+ that FleetBLAST has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlastProgram {
    /// Proteins against proteins.
    Blastp,
    /// Nucleotides against nucleotides.
    Blastn,
    /// Translated nucleotides against proteins.
    Blastx,
    /// Proteins against translated nucleotides.
    Tblastn,
    /// Translated nucleotides against translated nucleotides.
    Tblastx,
    /// Proteins against proteins, in iterations.
    Psiblast,
}

/// Properties of a search program that do not depend on its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramProperties {
    /// Name of the command.
    pub name: &'static str,
    /// Number of the program in ASN.1 (`EProgram`, blast_types.hpp).
    pub number: u8,
    /// Name of the program that archives and strategies store.
    pub stored_name: &'static str,
    /// Names of the services that archives and strategies store for the program, such as `plain`.
    pub services: &'static [&'static str],
    /// Form in which the queries are searched.
    pub queries: SequenceForm,
    /// Form in which the subjects are searched.
    pub subjects: SequenceForm,
    /// Filter of low complexity in the queries.
    pub query_filter: QueryFilter,
    /// Whether the program searches each query in iterations, and reports each iteration.
    pub iterates: bool,
    /// Whether the program has the format SAM.
    pub has_sam: bool,
}

/// The form in which a program searches sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceForm {
    /// Proteins.
    Protein,
    /// Nucleotides.
    Nucleotide,
    /// Nucleotides, translated in six frames.
    TranslatedNucleotide,
}

/// A filter of low complexity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryFilter {
    /// SEG, for residues.
    Seg,
    /// DUST, for bases.
    Dust,
}

/// The error for the name of a program that FleetBLAST does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no search program {0}")]
pub struct UnknownProgram(pub String);

/// The error for a stored search of a program that FleetBLAST does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no search program that is stored as {program} ({service})")]
pub struct UnknownStoredSearch {
    /// The stored name of the program.
    pub program: String,
    /// The stored service.
    pub service: String,
}

const BLASTP: ProgramProperties = ProgramProperties {
    name: "blastp",
    number: 2,
    stored_name: "blastp",
    services: &["plain"],
    queries: SequenceForm::Protein,
    subjects: SequenceForm::Protein,
    query_filter: QueryFilter::Seg,
    iterates: false,
    has_sam: false,
};

const BLASTN: ProgramProperties = ProgramProperties {
    name: "blastn",
    number: 1,
    stored_name: "blastn",
    services: &["plain", "megablast"],
    queries: SequenceForm::Nucleotide,
    subjects: SequenceForm::Nucleotide,
    query_filter: QueryFilter::Dust,
    iterates: false,
    has_sam: true,
};

const BLASTX: ProgramProperties = ProgramProperties {
    name: "blastx",
    number: 3,
    stored_name: "blastx",
    services: &["plain"],
    queries: SequenceForm::TranslatedNucleotide,
    subjects: SequenceForm::Protein,
    query_filter: QueryFilter::Seg,
    iterates: false,
    has_sam: false,
};

const TBLASTN: ProgramProperties = ProgramProperties {
    name: "tblastn",
    number: 4,
    stored_name: "tblastn",
    services: &["plain"],
    queries: SequenceForm::Protein,
    subjects: SequenceForm::TranslatedNucleotide,
    query_filter: QueryFilter::Seg,
    iterates: false,
    has_sam: false,
};

const TBLASTX: ProgramProperties = ProgramProperties {
    name: "tblastx",
    number: 5,
    stored_name: "tblastx",
    services: &["plain"],
    queries: SequenceForm::TranslatedNucleotide,
    subjects: SequenceForm::TranslatedNucleotide,
    query_filter: QueryFilter::Seg,
    iterates: false,
    has_sam: false,
};

const PSIBLAST: ProgramProperties = ProgramProperties {
    name: "psiblast",
    number: 10,
    stored_name: "blastp",
    services: &["psi"],
    queries: SequenceForm::Protein,
    subjects: SequenceForm::Protein,
    query_filter: QueryFilter::Seg,
    iterates: true,
    has_sam: false,
};

/// Search programs of BLAST+ that FleetBLAST does not have.
const MISSING_PROGRAMS: [&str; 3] = ["deltablast", "rpsblast", "rpstblastn"];

impl BlastProgram {
    /// All programs, in the order of the list of commands.
    pub const ALL: [Self; 6] =
        [Self::Blastp, Self::Blastn, Self::Blastx, Self::Tblastn, Self::Tblastx, Self::Psiblast];

    /// Returns the properties of the program.
    pub const fn properties(self) -> &'static ProgramProperties {
        match self {
            Self::Blastp => &BLASTP,
            Self::Blastn => &BLASTN,
            Self::Blastx => &BLASTX,
            Self::Tblastn => &TBLASTN,
            Self::Tblastx => &TBLASTX,
            Self::Psiblast => &PSIBLAST,
        }
    }

    /// Returns the name of the command.
    pub const fn name(self) -> &'static str {
        self.properties().name
    }

    /// Finds the program with this name of a command.
    ///
    /// # Errors
    /// Another name.
    pub fn from_name(name: &str) -> Result<Self, UnknownProgram> {
        let found = Self::ALL.into_iter().find(|program| program.name() == name);
        found.ok_or_else(|| UnknownProgram(name.to_owned()))
    }

    /// Finds the program of a search in an archive or a strategy.
    ///
    /// # Errors
    /// The search of another program.
    pub fn from_stored(program: &str, service: &str) -> Result<Self, UnknownStoredSearch> {
        let is_stored = |candidate: &Self| {
            let properties = candidate.properties();
            properties.stored_name == program && properties.services.contains(&service)
        };
        let found = Self::ALL.into_iter().find(is_stored);
        let [program, service] = [program, service].map(str::to_owned);
        found.ok_or(UnknownStoredSearch { program, service })
    }
}

/// Whether FleetBLAST lacks this search program of BLAST+.
pub fn is_missing_program(name: &str) -> bool {
    MISSING_PROGRAMS.contains(&name)
}

impl SequenceForm {
    /// Returns the type of the sequences before translation.
    pub const fn molecule(self) -> Molecule {
        match self {
            Self::Protein => Molecule::Protein,
            Self::Nucleotide | Self::TranslatedNucleotide => Molecule::Nucleotide,
        }
    }
}

/// The program that a report names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReportedProgram {
    /// The program of the command.
    Command(BlastProgram),
    /// `psitblastn`: tblastn with a PSSM.
    Psitblastn,
    /// `phiblastp`: psiblast with a pattern.
    Phiblastp,
}

impl ReportedProgram {
    /// Returns the name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Command(program) => program.name(),
            Self::Psitblastn => "psitblastn",
            Self::Phiblastp => "phiblastp",
        }
    }

    /// Returns the number in ASN.1 (`EProgram`, blast_types.hpp).
    pub const fn number(self) -> u8 {
        match self {
            Self::Command(program) => program.properties().number,
            Self::Psitblastn => 11,
            Self::Phiblastp => 12,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_stored_searches_determine_the_program() {
        for program in BlastProgram::ALL {
            assert_eq!(BlastProgram::from_name(program.name()), Ok(program));
            let ProgramProperties { stored_name, services, .. } = program.properties();
            for service in *services {
                assert_eq!(BlastProgram::from_stored(stored_name, service), Ok(program));
            }
        }
        for name in ["", "BLASTP", "rpsblast", "phiblastp", "psitblastn"] {
            assert_eq!(BlastProgram::from_name(name), Err(UnknownProgram(name.to_owned())));
        }
        for [program, service] in [
            ["blastp", "megablast"],
            ["blastp", "rpsblast"],
            ["psiblast", "plain"],
            ["rpsblast", "plain"],
            ["tblastn", "psi"],
        ] {
            let unknown = BlastProgram::from_stored(program, service).unwrap_err();
            assert_eq!([unknown.program, unknown.service], [program, service]);
        }
    }

    #[test]
    fn missing_programs_are_not_among_the_programs() {
        assert!(is_missing_program("rpstblastn") && !is_missing_program("makeblastdb"));
        assert!(!BlastProgram::ALL.iter().any(|program| is_missing_program(program.name())));
    }
}
