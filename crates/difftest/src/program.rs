//! Types that describe a tested program and the searches that test it. The values are in
//! [`crate::programs`].

use std::path::PathBuf;

use crate::error::Result;
use crate::fasta::Record;
use crate::fixtures::{Inputs, Molecule, Recipe};
use crate::fleet::{ParallelMode, Shape};
use crate::kind::MetadataKind;
use crate::workspace::Source;
use fastrand::Rng;

/// Name of the file in a random trial that lists identifiers of some subjects.
pub const LISTED: &str = "listed";

/// Name of the alias of a database in a random trial, and of the list of subjects that the alias
/// names.
pub const ALIASED: &str = "aliased";

/// A table of cases: its name and its text.
pub type Table = (&'static str, &'static str);

/// A file: its name and its contents.
pub type NamedFile = (&'static str, Vec<u8>);

/// A tested program.
#[derive(Debug)]
pub struct Program {
    /// Name of the program in BLAST+.
    pub name: &'static str,
    /// Kind of the program's subjects.
    pub molecule: Molecule,
    /// Value of `-outfmt` for a wide table with all columns of an alignment, so that differences
    /// show.
    pub columns: &'static str,
    /// The tables of cases.
    pub tables: &'static [Table],
    /// Text with CPU seconds and id of each costly case, one per line.
    pub costs: &'static str,
    /// Returns the inputs of the tables.
    pub inputs: fn(&Source) -> Result<Inputs>,
    /// Returns all of the data and the searches of `difftest full`.
    pub large: fn(&Source) -> Result<FullSearches>,
    /// Returns the search that `difftest kills` kills and resumes.
    pub kills: fn(&Source) -> Result<KilledSearch>,
    /// Draws the sequences of a random trial, without options.
    pub trial: fn(&mut Rng, &Source) -> Trial,
    /// Draws random options for a trial.
    pub options: fn(&mut Rng, &Trial) -> Vec<Vec<String>>,
    /// Returns the files that the options of a random trial may name.
    pub extra_files: fn(&Trial) -> Vec<NamedFile>,
    /// Arguments with which the oracle writes a further file that options of a trial may name,
    /// before the searches of the trial. The last argument names the file; empty if there is none.
    pub prepare_args: &'static [&'static str],
    /// Kinds of metadata that searches of the program can write.
    pub metadata_kinds: &'static [MetadataKind],
    /// Whether `fleetblast expand` accepts the database with metadata of the kind `report`. It then
    /// verifies the database.
    pub takes_database: bool,
    /// Name of the algorithm of the masks in the program's databases.
    pub masker: &'static str,
    /// Whether FleetBLAST may refuse a search with these arguments on ranks, with a message that
    /// names the reason.
    pub refused_on_ranks: fn(&[String]) -> bool,
    /// Whether FleetBLAST may refuse to write metadata of this kind in a search with these
    /// arguments, with a message that names the reason.
    pub refused_as_metadata: fn(MetadataKind, &[String]) -> bool,
    /// Whether ranks search the program's queries in order, which excludes some shapes of a fleet.
    pub is_in_order: bool,
}

impl Program {
    /// Whether FleetBLAST may refuse a search with these arguments if it is distributed over
    /// `parallel_mode`.
    pub fn may_refuse(&self, parallel_mode: ParallelMode, args: &[String]) -> bool {
        parallel_mode != ParallelMode::None && (has_strategy(args) || (self.refused_on_ranks)(args))
    }

    /// Whether FleetBLAST may refuse to write metadata of this kind in a search with these
    /// arguments.
    pub fn may_refuse_metadata(&self, kind: MetadataKind, args: &[String]) -> bool {
        writes_archives(args)
            || writes_annotations(args)
            || has_strategy(args)
            || (self.refused_as_metadata)(kind, args)
    }
}

/// Whether a search writes archives (format 11).
pub fn writes_archives(args: &[String]) -> bool {
    args.windows(2).any(|pair| pair[0] == "-outfmt" && pair[1].trim() == "11")
}

/// Whether a search reads or writes a search strategy.
fn has_strategy(args: &[String]) -> bool {
    args.iter().any(|word| word.ends_with("_search_strategy"))
}

/// Whether the report has the alignments in ASN.1, whose positives metadata do not have.
fn writes_annotations(args: &[String]) -> bool {
    args.windows(2).any(|pair| pair[0] == "-outfmt" && matches!(pair[1].trim(), "8" | "9" | "12"))
}

/// The data and the searches of `difftest full` for a program.
#[derive(Debug)]
pub struct FullSearches {
    /// FASTA file of the database `db/big`, plain or gzip.
    pub database: PathBuf,
    /// Further databases.
    pub more: Vec<Recipe>,
    /// Kind of the databases' sequences.
    pub molecule: Molecule,
    /// Names and contents of the query files `q/NAME.fa`.
    pub queries: Vec<(&'static str, Vec<u8>)>,
    /// Arguments of the searches, separated by blanks. `-db db/big` is added to those that name no
    /// database.
    pub searches: Vec<String>,
}

/// A search that takes long enough to be killed in the middle.
#[derive(Debug)]
pub struct KilledSearch {
    /// The queries, which are repeated if there are too few.
    pub queries: Vec<Record>,
    /// Sequences of the database.
    pub database: Vec<Record>,
    /// Kind of these sequences.
    pub molecule: Molecule,
    /// Further arguments of the search.
    pub args: &'static [&'static str],
    /// With `--quick`, the database has one in this many of its sequences.
    pub quick_step: usize,
}

/// The form in which the programs get the subjects of a random trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectForm {
    /// A database without parsed identifiers.
    Plain,
    /// A database made with `-parse_seqids`.
    Parsed,
    /// A database made with `-parse_seqids` that has stored masks.
    Masked,
    /// A database made with `-parse_seqids`, searched through an alias with a list of identifiers.
    Aliased,
    /// A database of version 4.
    V4,
    /// The FASTA file itself, by `-subject`.
    Subject,
}

impl SubjectForm {
    /// Draws a form, more often one that users have.
    pub fn random(rng: &mut Rng) -> SubjectForm {
        match rng.usize(..20) {
            0..=7 => SubjectForm::Plain,
            8..=10 => SubjectForm::Masked,
            11..=12 => SubjectForm::Parsed,
            13 => SubjectForm::Aliased,
            14..=15 => SubjectForm::V4,
            _ => SubjectForm::Subject,
        }
    }
}

/// A random search, which the tester can run, make smaller and save.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The program that searches.
    pub program: &'static Program,
    /// The queries.
    pub queries: Vec<Record>,
    /// The subjects.
    pub subjects: Vec<Record>,
    /// The form in which the programs get the subjects.
    pub subject_form: SubjectForm,
    /// Groups of options that belong together (e.g. `-gapopen 9 -gapextend 1`).
    pub options: Vec<Vec<String>>,
    /// Whether the trial has a taxonomy database.
    pub named: bool,
    /// The ranks on which FleetBLAST searches; `None` for a search without ranks.
    pub shape: Option<(ParallelMode, Shape)>,
}
