//! The tests of tblastx, which searches translated nucleic acids with translated nucleic acids.
//!
//! The queries are blastx's, and the databases and subjects are tblastn's.

mod options;

use super::{BLASTP, BLASTX, TBLASTN, genes};
use crate::error::Result;
use crate::fasta;
use crate::fixtures::{Inputs, Molecule, rng_for};
use crate::program::{FullSearches, KilledSearch, Program, Trial};
use crate::workspace::Source;
use fastrand::Rng;

/// The description of tblastx and its tests.
pub static TBLASTX: Program = Program {
    name: "tblastx",
    molecule: Molecule::Nucleotide,
    columns: TBLASTN.columns,
    tables: &[
        table!("tblastx", "translation"),
        table!("tblastx", "sums"),
        table!("tblastx", "scoring"),
        table!("tblastx", "search"),
        table!("tblastx", "limits"),
        table!("tblastx", "inputs"),
        table!("tblastx", "formats"),
        table!("tblastx", "restrict"),
        table!("tblastx", "errors"),
    ],
    costs: include_str!("../../../cases/tblastx/costs.tsv"),
    inputs,
    large,
    kills,
    trial,
    options: options::choose,
    masker: "dust",
    ..BLASTP
};

/// Returns the queries of blastx, the databases of tblastn, and the genes that are tblastn's
/// subjects.
fn inputs(source: &Source) -> Result<Inputs> {
    let mut inputs = (TBLASTN.inputs)(source)?;
    let subjects = inputs.queries.into_iter().filter(|(name, _)| name.starts_with("genes_"));
    let queries = (BLASTX.inputs)(source)?.queries.into_iter();
    inputs.queries = queries.filter(|(name, _)| !name.starts_with("protein_")).collect();
    inputs.queries.extend(subjects);
    // These are genes of proteins whose genes are also in the databases with introns and of
    // genomes.
    let proteins = &source.queries[..source.queries.len().min(12)];
    let genes = genes::genes_of(&mut rng_for("queries with genes"), proteins);
    inputs.queries.push(("genes", fasta::to_bytes(&genes)));
    Ok(inputs)
}

fn kills(source: &Source) -> Result<KilledSearch> {
    Ok(KilledSearch {
        queries: (BLASTX.kills)(source)?.queries,
        quick_step: 48,
        ..(TBLASTN.kills)(source)?
    })
}

fn large(source: &Source) -> Result<FullSearches> {
    Ok(FullSearches { queries: (BLASTX.large)(source)?.queries, ..(TBLASTN.large)(source)? })
}

/// Length in bases of the longest sequence of a random trial. BLAST+ takes 36 times as long for it
/// as for a protein.
const LONGEST: usize = 9_000;

/// Draws a random trial of tblastn, and replaces its queries by their genes.
fn trial(rng: &mut Rng, source: &Source) -> Trial {
    let mut trial = Trial { program: &TBLASTX, ..(TBLASTN.trial)(rng, source) };
    for query in &mut trial.queries {
        query.seq = genes::drawn(rng, &query.seq, 3);
        query.seq.truncate(LONGEST);
    }
    for subject in &mut trial.subjects {
        subject.seq.truncate(LONGEST);
    }
    trial
}
