//! The tests of blastp, which searches proteins with proteins.

mod databases;
mod generate;
mod options;
mod queries;

use crate::error::{Error, Result};
use crate::fasta::{self, Record};
use crate::fixtures::listed::{self, Listing};
use crate::fixtures::{Inputs, Molecule, Recipe, rng_for};
use crate::kind::MetadataKind;
use crate::program::FullSearches;
use crate::program::KilledSearch;
use crate::program::Program;
use crate::rng::Draw;
use crate::synth::{self, PROTEIN};
use crate::workspace::Source;
use fastrand::Rng;

/// The description of blastp and its tests.
pub static BLASTP: Program = Program {
    name: "blastp",
    molecule: Molecule::Protein,
    columns: "6 qseqid sseqid score bitscore evalue pident nident positive ppos length mismatch gapopen gaps qstart qend \
              sstart send qlen slen qcovs qcovhsp qseq sseq btop",
    tables: &[
        table!("blastp", "tasks"),
        table!("blastp", "scoring"),
        table!("blastp", "search"),
        table!("blastp", "limits"),
        table!("blastp", "inputs"),
        table!("blastp", "formats"),
        table!("blastp", "restrict"),
        table!("blastp", "errors"),
    ],
    costs: include_str!("../../../cases/blastp/costs.tsv"),
    inputs,
    large,
    kills,
    trial: generate::trial,
    options: options::choose,
    extra_files: |_| Vec::new(),
    prepare_args: &[],
    metadata_kinds: &MetadataKind::ALL,
    takes_database: true,
    masker: "seg",
    refused_on_ranks: |_| false,
    refused_as_metadata: |_, _| false,
    is_in_order: false,
};

const LISTING: Listing =
    Listing { molecule: Molecule::Protein, masker: "segmasker", volume: "60KB" };

fn inputs(source: &Source) -> Result<Inputs> {
    let mut inputs = shared_inputs(source)?;
    let exports = [
        ("db/strategy", "-query_loc 5-60 -max_hsps 1 -max_target_seqs 300"),
        ("db/strategy_short", "-task blastp-short -max_target_seqs 3 -culling_limit 2"),
    ];
    let letters = b">p\nMKVLAWGDEFHIRNPQSTYC\n";
    inputs.databases.push(Recipe::beside_strategies("blastp", letters, &exports));
    Ok(inputs)
}

/// Returns the inputs from which other programs derive theirs.
pub fn shared_inputs(source: &Source) -> Result<Inputs> {
    let parents = Parents::from_source(source)?;
    Ok(Inputs {
        queries: queries::all(source, &parents),
        files: listed::files(databases::part(source).len()),
        databases: databases::all(source, &parents),
    })
}

fn kills(source: &Source) -> Result<KilledSearch> {
    Ok(KilledSearch {
        queries: source.queries.clone(),
        database: source.proteins.clone(),
        molecule: Molecule::Protein,
        args: &[],
        quick_step: 3,
    })
}

fn large(source: &Source) -> Result<FullSearches> {
    let searches =
        ["6", "7", "10", "5", "0"].map(|format| format!("-query q/all.fa -outfmt {format}"));
    Ok(FullSearches {
        database: source.big.clone(),
        more: Vec::new(),
        molecule: Molecule::Protein,
        queries: vec![("all", fasta::to_bytes(&source.queries))],
        searches: searches.to_vec(),
    })
}

/// Proteins from which query sets and databases are derived, so that searches have hits.
struct Parents {
    /// Real proteins of 150 to 400 residues.
    plain: Vec<Record>,
    /// Proteins with internal repeats.
    repeats: Vec<Record>,
    /// Proteins with long low-complexity runs.
    low: Vec<Record>,
}

impl Parents {
    fn from_source(source: &Source) -> Result<Parents> {
        let middling = |p: &&Record| (150..=400).contains(&p.seq.len());
        let all: Vec<&Record> = source.proteins.iter().filter(middling).collect();
        if all.is_empty() || source.queries.len() < 2 {
            let name = &source.name;
            let few = format!("{name}: fewer than 2 queries, or no protein of 150 to 400 residues");
            return Err(Error::NoData(few));
        }
        let step = (all.len() / 8).max(1);
        let plain: Vec<Record> = all.into_iter().step_by(step).take(8).cloned().collect();
        let mut rng = rng_for("parents");
        let repeats =
            (0..4).map(|i| Record::new(format!("repeat_parent_{i}"), repeat(&mut rng, &plain)));
        let repeats = repeats.collect();
        let low = (0..4).map(|i| Record::new(format!("low_parent_{i}"), low(&mut rng, &plain)));
        let low = low.collect();
        Ok(Parents { plain, repeats, low })
    }
}

/// Returns the queries of 80 to 700 residues.
fn ordinary(source: &Source) -> Vec<Record> {
    let usual = |q: &&Record| (80..=700).contains(&q.seq.len());
    source.queries.iter().filter(usual).cloned().collect()
}

/// Returns a unit of 25 to 60 residues, repeated three to seven times with mutations between two
/// flanks.
fn repeat(rng: &mut Rng, plain: &[Record]) -> Vec<u8> {
    let unit_length = rng.usize(25..=60);
    let origin = rng.pick(plain);
    let unit = synth::fragment(rng, &origin.seq, unit_length);
    let times = rng.usize(3..=7);
    let middle = PROTEIN.tandem(rng, &unit, times, 0.15);
    let left = synth::fragment(rng, &plain[0].seq, 70);
    let right = synth::fragment(rng, &plain[plain.len() - 1].seq, 70);
    [left, middle, right].concat()
}

/// Returns a real protein with two low-complexity runs of 15 to 50 residues.
fn low(rng: &mut Rng, plain: &[Record]) -> Vec<u8> {
    let mut seq = rng.pick(plain).seq.clone();
    for _ in 0..2 {
        let length = rng.usize(15..=50);
        let run = PROTEIN.low_complexity(rng, length);
        seq = synth::insert(rng, &seq, &run);
    }
    seq
}
