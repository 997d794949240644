//! The values in which the tested programs differ, with a module for each program.

/// Expands to a [`Table`](crate::program::Table) of cases, given the names of its program and
/// itself.
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
mod blastx;
mod genes;
mod psiblast;
mod tblastn;
mod tblastx;

use crate::error::{Error, Result};
use crate::program::Program;

pub use blastn::BLASTN;
pub use blastp::BLASTP;
pub use blastx::BLASTX;
pub use psiblast::PSIBLAST;
pub use tblastn::TBLASTN;
pub use tblastx::TBLASTX;

/// All tested programs.
pub const PROGRAMS: [&Program; 6] = [&BLASTP, &BLASTN, &BLASTX, &TBLASTN, &TBLASTX, &PSIBLAST];

/// Returns the program with a name; without a name, all programs.
///
/// # Errors
/// [`Error::Usage`] for an unknown name.
pub fn named(word: Option<&str>) -> Result<Vec<&'static Program>> {
    let Some(word) = word else { return Ok(PROGRAMS.to_vec()) };
    let found = PROGRAMS.into_iter().find(|program| program.name == word);
    let names = PROGRAMS.map(|program| program.name).join(", ");
    let unknown = || Error::Usage(format!("no program `{word}`; there are {names}"));
    Ok(vec![found.ok_or_else(unknown)?])
}
