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
mod psiblast;

use crate::error::{Error, Result};
use crate::program::Program;

pub use blastn::BLASTN;
pub use blastp::BLASTP;
pub use psiblast::PSIBLAST;

/// All of them.
pub const PROGRAMS: [&Program; 3] = [&BLASTP, &BLASTN, &PSIBLAST];

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
