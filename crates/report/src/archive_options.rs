//! Options of a search as archives (format 11) state them. The caller of the reports fills these
//! structures.

use serde::{Deserialize, Serialize};

use crate::scoremat::PssmDescription;

/// Name of the option with the effective search space.
pub const SEARCH_SPACE: &str = "EffectiveSearchSpace";
/// Name of the option with the number of an iteration of psiblast, from 1.
pub const ITERATION: &str = "Web_StepNumber";
/// Name of the option with the mode of composition-based statistics.
pub const COMPOSITION: &str = "CompositionBasedStats";

/// The part of an archive's description of a search that the command line determines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ArchiveRequest {
    /// The program, such as `blastp`.
    pub program: String,
    /// The kind of search, such as `plain` or `megablast`.
    pub service: String,
    /// Options of the search, in the order in which BLAST+ sets them.
    pub algorithm_options: Vec<ArchiveOption>,
    /// Restrictions of the subjects, in BLAST+'s order.
    pub subject_options: Vec<ArchiveOption>,
    /// The strand in the locations of the queries: `both`, `plus` or `minus`, or `unknown` for
    /// proteins.
    pub strand: String,
    /// Description of PSSMs; `None` if the search makes none.
    pub pssms: Option<ArchivedPssms>,
    /// Whether the restrictions leave no subject.
    pub searches_nothing: bool,
    /// Warnings about the command line and the subjects, as BLAST+ prints them.
    pub warnings: Vec<String>,
}

/// The description of PSSMs in archives of an iterated search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArchivedPssms {
    /// The PSSM with which the search begins, if it comes from a file.
    pub initial: Option<PssmDescription>,
    /// Name of the scoring matrix.
    pub matrix_name: String,
    /// Costs of gaps (open, extend).
    pub gap_costs: (i32, i32),
    /// Pseudocount as given by the user.
    pub pseudocount: i32,
    /// Whether PSSMs have all intermediate data.
    pub has_intermediate_data: bool,
    /// The mode of composition-based statistics of searches with a PSSM, if it differs from the
    /// mode of the options.
    pub composition: Option<i64>,
}

/// An option with its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArchiveOption {
    /// Name of the option, such as `WordThreshold` (names.cpp).
    pub name: String,
    /// Value of the option.
    pub value: OptionValue,
}

/// The value of an option (`Blast4-value`, blast.asn).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum OptionValue {
    /// A boolean.
    Boolean(bool),
    /// An integer of 32 bits.
    Integer(i64),
    /// An integer of 64 bits.
    BigInteger(i64),
    /// A list of integers of 32 bits.
    Integers(Vec<i64>),
    /// A list of integers of 64 bits.
    BigIntegers(Vec<i64>),
    /// A real number.
    Real(f64),
    /// An upper limit of e-values.
    Evalue(f64),
    /// A text.
    Text(String),
}

/// Name or number of the algorithm that made stored masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredMasks<'a> {
    /// The number of the algorithm in the database.
    Number(i32),
    /// The name of the algorithm.
    Name(&'a str),
}

/// Returns the options of a search that uses stored masks.
pub fn mask_options(algorithm: StoredMasks, is_hard: bool) -> [ArchiveOption; 2] {
    let algorithm = match algorithm {
        StoredMasks::Number(number) => {
            ArchiveOption::new("DbFilteringAlgorithmId", OptionValue::Integer(number.into()))
        }
        StoredMasks::Name(name) => {
            ArchiveOption::new("DbFilteringAlgorithmKey", OptionValue::Text(name.to_owned()))
        }
    };
    // `ESubjectMaskingType`, blast_def.h.
    let kind = if is_hard { 2 } else { 1 };
    [algorithm, ArchiveOption::new("SubjectMaskingType", OptionValue::Integer(kind))]
}

impl ArchiveOption {
    /// Creates an option.
    pub fn new(name: &str, value: OptionValue) -> ArchiveOption {
        ArchiveOption { name: name.to_owned(), value }
    }
}
