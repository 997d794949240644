//! What differs between the programs that are tested: a room for each, handed down as a value.

/// A table of cases by the names of its program and itself.
macro_rules! table {
    ($program:literal, $name:literal) => {
        (
            concat!($program, "/", $name, ".tsv"),
            include_str!(concat!("../../../cases/", $program, "/", $name, ".tsv")),
        )
    };
}

mod blastn;
mod blastp;

use crate::error::{Error, Result};
use crate::fixtures::{Inputs, Molecule};
use crate::full::Large;
use crate::fuzz::trial::Trial;
use crate::kills::Job;
use crate::rng::Rng;
use crate::workspace::Source;

pub use blastn::BLASTN;
pub use blastp::BLASTP;

/// A table: its name and its text.
pub type Table = (&'static str, &'static str);

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
    pub kills: fn(&Source) -> Result<Job>,
    /// A random trial without options.
    pub trial: fn(&mut Rng, &Source) -> Trial,
    /// Random options for a trial.
    pub options: fn(&mut Rng, &Trial) -> Vec<Vec<String>>,
    /// The kind of masks that its databases have.
    pub masker: &'static str,
    /// Whether a search with these arguments may be refused by name on ranks.
    pub refused_on_ranks: fn(&[String]) -> bool,
    /// Ranks take its queries in order, so that some shapes of a fleet are refused.
    pub is_in_order: bool,
}

/// All of them.
pub const PROGRAMS: [&Program; 2] = [&BLASTP, &BLASTN];

/// The programs of a word, all without one.
///
/// # Errors
/// [`Error::Usage`] for an unknown one.
pub fn named(word: Option<&str>) -> Result<Vec<&'static Program>> {
    let Some(word) = word else { return Ok(PROGRAMS.to_vec()) };
    let found = PROGRAMS.into_iter().find(|program| program.name == word);
    let names = PROGRAMS.map(|program| program.name).join(", ");
    let unknown = || Error::Usage(format!("no program `{word}`; there are {names}"));
    Ok(vec![found.ok_or_else(unknown)?])
}
