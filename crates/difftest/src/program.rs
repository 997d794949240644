//! A tested program and the searches that it is tested with. Its values are in [`crate::programs`].

use std::path::PathBuf;

use crate::error::Result;
use crate::fasta::Record;
use crate::fixtures::{Inputs, Molecule, Recipe};
use crate::fleet::{Shape, Spread};
use crate::kind::Kind;
use crate::workspace::Source;
use fastrand::Rng;

/// Name of the file that lists some of the subjects.
pub const LISTED: &str = "listed";

/// Name of the alias of a database, and of its list of some of the subjects.
pub const ALIASED: &str = "aliased";

/// A table of cases: its name and its text.
pub type Table = (&'static str, &'static str);

/// A file: its name and its contents.
pub type NamedFile = (&'static str, Vec<u8>);

/// A tested program.
#[derive(Debug)]
pub struct Program {
    /// Its name in BLAST+.
    pub name: &'static str,
    /// Kind of its subjects.
    pub molecule: Molecule,
    /// Wide tabular format with all columns of an alignment, so that differences show.
    pub columns: &'static str,
    /// The tables of cases.
    pub tables: &'static [Table],
    /// CPU seconds and ids of costly cases.
    pub costs: &'static str,
    /// Returns the inputs of the tables.
    pub inputs: fn(&Source) -> Result<Inputs>,
    /// Returns all of the data, for long searches.
    pub large: fn(&Source) -> Result<Large>,
    /// Returns the search to be killed and resumed.
    pub kills: fn(&Source) -> Result<Victim>,
    /// Draws a random trial without options.
    pub trial: fn(&mut Rng, &Source) -> Trial,
    /// Draws random options for a trial.
    pub options: fn(&mut Rng, &Trial) -> Vec<Vec<String>>,
    /// Returns the files that the options of a random trial may name.
    pub extra_files: fn(&Trial) -> Vec<NamedFile>,
    /// Arguments with which the oracle writes another such file before the searches of a trial;
    /// empty if there is none.
    pub prepares: &'static [&'static str],
    /// Options that name files which the program writes besides the report.
    pub written: &'static [&'static str],
    /// Kinds of metadata that its searches can write.
    pub metadata_kinds: &'static [Kind],
    /// Whether `expand` may get the database with metadata of the kind `report`; it then verifies
    /// it.
    pub takes_database: bool,
    /// Kind of masks of its databases.
    pub masker: &'static str,
    /// Whether a search with these arguments may be refused by name on ranks.
    pub refused_on_ranks: fn(&[String]) -> bool,
    /// Whether a search that writes metadata of this kind may be refused by name.
    pub refused_as_metadata: fn(Kind, &[String]) -> bool,
    /// Whether ranks take its queries in order, so that some shapes of a fleet are refused.
    pub is_in_order: bool,
}

impl Program {
    /// Whether a search with these arguments may be refused by name if it is distributed in this
    /// way.
    pub fn may_refuse(&self, spread: Spread, args: &[String]) -> bool {
        spread != Spread::None && (self.refused_on_ranks)(args)
    }
}

/// All data of a program, and the searches in them.
#[derive(Debug)]
pub struct Large {
    /// FASTA file of the database `db/big`, plain or gzip.
    pub database: PathBuf,
    /// Further databases.
    pub more: Vec<Recipe>,
    /// Kind of its sequences.
    pub molecule: Molecule,
    /// Query files `q/NAME.fa`: names and contents.
    pub queries: Vec<(&'static str, Vec<u8>)>,
    /// Arguments of the searches; `-db db/big` is added where none is named.
    pub searches: Vec<String>,
}

/// A search that takes long enough to be killed in the middle.
#[derive(Debug)]
pub struct Victim {
    /// Queries; they are repeated if there are too few.
    pub queries: Vec<Record>,
    /// Sequences of the database.
    pub database: Vec<Record>,
    /// Kind of these sequences.
    pub molecule: Molecule,
    /// Further arguments.
    pub args: &'static [&'static str],
    /// A quick search has one sequence in this many in its database.
    pub quick: usize,
}

/// How the programs get the subjects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A database without parsed identifiers.
    Plain,
    /// A database made with `-parse_seqids`.
    Parsed,
    /// The same with stored masks.
    Masked,
    /// A parsed database behind an alias with a list of identifiers.
    Aliased,
    /// A database of version 4.
    V4,
    /// The FASTA file itself, by `-subject`.
    Subject,
}

/// A search that can be run, made smaller and saved.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The program that searches.
    pub program: &'static Program,
    /// The queries.
    pub queries: Vec<Record>,
    /// The subjects.
    pub subjects: Vec<Record>,
    /// How the subjects are given.
    pub target: Target,
    /// Groups of options that belong together (e.g. `-gapopen 9 -gapextend 1`).
    pub options: Vec<Vec<String>>,
    /// Whether there is a taxonomy database.
    pub named: bool,
    /// The ranks on which FleetBLAST searches.
    pub shape: Option<(Spread, Shape)>,
}
