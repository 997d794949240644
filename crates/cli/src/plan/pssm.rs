//! The PSSM of the first iteration, from the file of `-in_pssm`.

use std::ffi::OsStr;
use std::sync::Arc;

use fleetblast_engine::pssm::{Pssm, PssmMaker};
use fleetblast_job::error::Error;
use fleetblast_job::plan::InitialPssm;
use fleetblast_report::scoremat::{self, CheckpointError, ParsedCheckpoint, PssmDescription};
use fleetblast_seq::alphabet::SIZE;
use fleetblast_stats::karlin::KarlinParameters;
use fleetblast_stats::scoring::ScoringSystem;

use super::contents::bytes;
use crate::options::search::psi::IN_PSSM;
use crate::options::typed::to_text;

/// Rules by which a program reads a PSSM.
pub struct ReadingRules {
    /// Name of the program.
    pub program: &'static str,
    /// Pseudocounts for a PSSM without scores; 0 to adapt them to each column.
    pub pseudocount: i32,
    /// Whether the file must have exactly the contents that psiblast writes, because the PSSM is
    /// written again.
    pub needs_all: bool,
}

/// Reads a PSSM for searches with these scores.
///
/// # Errors
/// A file that cannot be read, or is no PSSM that BLAST+ accepts.
pub fn read(
    file: &OsStr,
    scoring: &ScoringSystem,
    rules: &ReadingRules,
) -> Result<InitialPssm, Error> {
    let name = to_text(file);
    let bytes = bytes(IN_PSSM.name(), file)?;
    let read = scoremat::read_checkpoint(&bytes);
    let read = read.map_err(|error| refusal(rules.program, &name, &error))?;
    if rules.needs_all && !read.is_complete {
        let what =
            "-out_pssm and -out_ascii_pssm with a PSSM that has more or less than psiblast writes";
        return Err(Error::unsupported(rules.program, what));
    }
    let lacks_ungapped = read.ungapped_parameters.is_none();
    let pssm = Arc::new(pssm(&read, scoring, rules.pseudocount)?);
    let description = PssmDescription {
        id: read.id,
        title: read.title,
        has_text_residues: read.has_text_residues,
        has_intermediate_data: pssm.observed.is_some(),
        matrix_name: String::from_utf8_lossy(&read.matrix_name).into_owned(),
        gap_costs: read.gap_costs,
        pseudocount: read.pseudocount,
    };
    Ok(InitialPssm { pssm, lacks_ungapped, description })
}

/// Returns the error for an unusable file: BLAST+'s message, and the position in the file if known.
fn refusal(program: &str, name: &str, error: &CheckpointError) -> Error {
    match error {
        CheckpointError::Format => {
            Error::query_options(format_args!("{error}\n({name} is neither text nor binary ASN.1)"))
        }
        CheckpointError::Malformed(place) => Error::query_options(format_args!(
            "Unrecognized format for PSSM in {name} (must be PssmWithParameters)\n({name}, {place})"
        )),
        CheckpointError::Unusable(words) => Error::engine(words),
        CheckpointError::Unsupported(what) => {
            Error::unsupported(program, format_args!("-in_pssm with {what}"))
        }
    }
}

/// Converts the PSSM of a file. If the file has no scores, computes them from its frequencies.
fn pssm(read: &ParsedCheckpoint, scoring: &ScoringSystem, pseudocount: i32) -> Result<Pssm, Error> {
    let block = |[lambda, k, h]: [f64; 3]| KarlinParameters { lambda, k, log_k: k.ln(), h };
    let query = read.query.clone();
    let none = || vec![[0.0; SIZE]; query.len()];
    let frequencies = read.frequencies.clone().unwrap_or_else(none);
    let Some((scores, gapped)) = read.scores.clone() else {
        let maker = PssmMaker::new(scoring, pseudocount).ok_or_else(|| {
            Error::engine("No matrix frequency ratios were found for requested matrix")
        })?;
        return maker.of_frequencies(query, frequencies).map_err(Error::engine);
    };
    let gapped = block(gapped);
    let ungapped = read.ungapped_parameters.map_or(gapped, block);
    let observed = read.observed.clone();
    Ok(Pssm { query, scores, frequencies, ungapped, gapped, observed })
}
