//! `psiblast`: searches what blastp searches, in rounds, and writes matrices.

mod options;

use super::BLASTP;
use crate::program::{Program, Trial};
use crate::rng::Rng;
use crate::workspace::Source;

/// The program.
pub static PSIBLAST: Program = Program {
    name: "psiblast",
    tables: &[
        table!("psiblast", "rounds"),
        table!("psiblast", "matrices"),
        table!("psiblast", "search"),
        table!("psiblast", "limits"),
        table!("psiblast", "formats"),
        table!("psiblast", "restrict"),
        table!("psiblast", "errors"),
    ],
    costs: include_str!("../../../cases/psiblast/costs.tsv"),
    trial,
    options: options::choose,
    written: &["-out_pssm", "-out_ascii_pssm"],
    is_serial: true,
    ..BLASTP
};

/// Queries from so many residues on are searched in pieces, which is refused with a matrix.
const LONGEST: usize = 4_000;

/// A random trial of blastp, with queries that can be searched in rounds.
fn trial(rng: &mut Rng, source: &Source) -> Trial {
    let mut trial = Trial { program: &PSIBLAST, ..(BLASTP.trial)(rng, source) };
    trial.queries.iter_mut().for_each(|query| query.seq.truncate(LONGEST));
    trial
}
