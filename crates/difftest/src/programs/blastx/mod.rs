//! The tests of blastx, which searches proteins with translated nucleic acids.
//!
//! Most queries are genes of blastp's queries, and the databases are blastp's.

mod options;
mod queries;

use super::{BLASTP, genes};
use crate::error::Result;
use crate::fasta::{self, Record};
use crate::fixtures::{Inputs, rng_for};
use crate::program::{FullSearches, KilledSearch, Program, Trial};
use crate::rng::Draw;
use crate::synth::{self, BASES};
use crate::workspace::Source;
use fastrand::Rng;

/// The description of blastx and its tests.
pub static BLASTX: Program = Program {
    name: "blastx",
    columns: "6 qseqid sseqid score bitscore evalue pident nident positive ppos length mismatch gapopen gaps qstart qend \
              sstart send qframe sframe qlen slen qcovs qcovhsp qseq sseq btop",
    tables: &[
        table!("blastx", "tasks"),
        table!("blastx", "translation"),
        table!("blastx", "sums"),
        table!("blastx", "scoring"),
        table!("blastx", "ungapped"),
        table!("blastx", "search"),
        table!("blastx", "limits"),
        table!("blastx", "inputs"),
        table!("blastx", "formats"),
        table!("blastx", "restrict"),
        table!("blastx", "errors"),
    ],
    costs: include_str!("../../../cases/blastx/costs.tsv"),
    inputs,
    large,
    kills,
    trial,
    options: options::choose,
    ..BLASTP
};

/// Returns the databases of blastp, and queries that code for blastp's queries.
fn inputs(source: &Source) -> Result<Inputs> {
    let mut inputs = super::blastp::shared_inputs(source)?;
    inputs.queries = queries::all(source.bases()?, &inputs.queries);
    Ok(inputs)
}

/// Returns the real transcripts; if there are none, genes of blastp's queries.
fn transcripts(source: &Source) -> Result<Vec<Record>> {
    let genes = || genes::genes_of(&mut rng_for("transcripts"), &source.queries);
    Ok(source.bases()?.transcripts.clone().unwrap_or_else(genes))
}

fn kills(source: &Source) -> Result<KilledSearch> {
    Ok(KilledSearch { queries: transcripts(source)?, quick_step: 12, ..(BLASTP.kills)(source)? })
}

fn large(source: &Source) -> Result<FullSearches> {
    Ok(FullSearches {
        queries: vec![("all", fasta::to_bytes(&transcripts(source)?))],
        ..(BLASTP.large)(source)?
    })
}

/// Length in residues of the longest query of a random trial. BLAST+ takes three times as long for
/// it as in blastp.
const LONGEST: usize = 12_000;

/// Draws a random trial of blastp, and replaces its queries by their genes.
fn trial(rng: &mut Rng, source: &Source) -> Trial {
    let mut trial = Trial { program: &BLASTX, ..(BLASTP.trial)(rng, source) };
    for query in &mut trial.queries {
        query.seq.truncate(LONGEST);
        query.seq = genes::drawn(rng, &query.seq, 3);
        // This puts codons of a near copy of a subject into a longer query.
        if rng.chance(0.1) && !trial.subjects.is_empty() {
            let protein = &rng.pick(&trial.subjects).seq;
            let changed = rng.usize(0..=12);
            let copy = genes::coding(rng, &genes::changed_twice(protein, changed));
            let length = rng.usize(0..=3_000);
            let before = synth::random(rng, BASES.usual, length);
            query.seq = [&before[..], &copy, &query.seq].concat();
        }
    }
    trial
}
