//! A program that is tested, and the searches that it is tested with. Its values are in [`crate::programs`].

use std::path::PathBuf;

use crate::error::Result;
use crate::fasta::Record;
use crate::fixtures::{Inputs, Molecule, Recipe};
use crate::fleet::{Shape, Spread};
use crate::kind::Kind;
use crate::rng::Rng;
use crate::workspace::Source;

/// The file that lists some of the subjects.
pub const LISTED: &str = "listed";

/// The alias of a database, and its list of some of the subjects.
pub const ALIASED: &str = "aliased";

/// A table: its name and its text.
pub type Table = (&'static str, &'static str);

/// A file: its name and its bytes.
pub type NamedFile = (&'static str, Vec<u8>);

/// A program that is tested.
#[derive(Debug)]
pub struct Program {
    /// Its name, as BLAST+ has it.
    pub name: &'static str,
    /// What it searches in.
    pub molecule: Molecule,
    /// Wide tabular format: everything an alignment has, so that differences show.
    pub columns: &'static str,
    /// The tables of cases.
    pub tables: &'static [Table],
    /// What costly cases cost: CPU seconds and id.
    pub costs: &'static str,
    /// What the tables search.
    pub inputs: fn(&Source) -> Result<Inputs>,
    /// All of the data, for searches that take long.
    pub large: fn(&Source) -> Result<Large>,
    /// What is killed and resumed.
    pub kills: fn(&Source) -> Result<Victim>,
    /// A random trial without options.
    pub trial: fn(&mut Rng, &Source) -> Trial,
    /// Random options for a trial.
    pub options: fn(&mut Rng, &Trial) -> Vec<Vec<String>>,
    /// Files that the options of a random trial may name: their names and what is in them.
    pub beside: fn(&Trial) -> Vec<NamedFile>,
    /// Arguments with which the oracle writes another such file, before any search of a trial; none if there is none.
    pub prepares: &'static [&'static str],
    /// Its options that name files which it writes beside the report.
    pub written: &'static [&'static str],
    /// As what its searches are told to another site, which makes the report.
    pub crosses_as: &'static [Kind],
    /// A report that is told as it is may be made beside what was searched, which then is looked at.
    pub takes_database: bool,
    /// The kind of masks that its databases have.
    pub masker: &'static str,
    /// Whether a search with these arguments may be refused by name on ranks.
    pub refused_on_ranks: fn(&[String]) -> bool,
    /// The same where it writes metadata of a kind.
    pub refused_as_metadata: fn(Kind, &[String]) -> bool,
    /// Ranks take its queries in order, so that some shapes of a fleet are refused.
    pub is_in_order: bool,
}

impl Program {
    /// Whether a search with these arguments may be refused by name where it is spread like that.
    pub fn may_refuse(&self, spread: Spread, args: &[String]) -> bool {
        spread != Spread::None && (self.refused_on_ranks)(args)
    }
}

/// All of a program's data, and what is searched in it.
#[derive(Debug)]
pub struct Large {
    /// FASTA file of the database `db/big`, plain or gzip.
    pub database: PathBuf,
    /// Databases beside that.
    pub more: Vec<Recipe>,
    /// What is in it.
    pub molecule: Molecule,
    /// Query files `q/NAME.fa`: names and bytes.
    pub queries: Vec<(&'static str, Vec<u8>)>,
    /// Arguments of the searches; of those in `db/big` without it.
    pub searches: Vec<String>,
}

/// A search that takes long enough to be killed amid it.
#[derive(Debug)]
pub struct Victim {
    /// Queries, which are taken again from the first if there are too few.
    pub queries: Vec<Record>,
    /// Sequences of the database.
    pub database: Vec<Record>,
    /// What they are.
    pub molecule: Molecule,
    /// More arguments.
    pub args: &'static [&'static str],
}

/// How the subjects are given to the programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A database without parsed identifiers.
    Plain,
    /// `-parse_seqids`.
    Parsed,
    /// The same with stored masks.
    Masked,
    /// Parsed, behind an alias with a list of identifiers.
    Aliased,
    /// Version 4.
    V4,
    /// The FASTA file itself, `-subject`.
    Subject,
}

/// A search that can be run, made smaller and kept.
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
    /// Options in groups that belong together (e.g. `-gapopen 9 -gapextend 1`).
    pub options: Vec<Vec<String>>,
    /// There is a taxonomy database.
    pub named: bool,
    /// The ranks that FleetBLAST searches on.
    pub shape: Option<(Spread, Shape)>,
}
