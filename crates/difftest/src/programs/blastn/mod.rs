//! The tests of blastn, which searches nucleic acids with nucleic acids.

mod databases;
mod generate;
mod large;
mod options;
mod parents;
mod queries;

use crate::error::Result;
use crate::fixtures::listed::{self, Listing};
use crate::fixtures::{Inputs, Molecule, Recipe};
use crate::kind::MetadataKind;
use crate::program::KilledSearch;
use crate::program::Program;
use crate::workspace::Source;

use parents::Parents;

/// The description of blastn and its tests.
pub static BLASTN: Program = Program {
    name: "blastn",
    molecule: Molecule::Nucleotide,
    columns: "6 qseqid sseqid score bitscore evalue pident nident positive ppos length mismatch gapopen gaps qstart qend \
              sstart send qframe sframe sstrand qlen slen qcovs qcovhsp qcovus qseq sseq btop",
    tables: &[
        table!("blastn", "tasks"),
        table!("blastn", "scoring"),
        table!("blastn", "search"),
        table!("blastn", "limits"),
        table!("blastn", "inputs"),
        table!("blastn", "formats"),
        table!("blastn", "restrict"),
        table!("blastn", "errors"),
    ],
    costs: include_str!("../../../cases/blastn/costs.tsv"),
    inputs,
    large: large::large,
    kills,
    trial: generate::trial,
    options: options::choose,
    extra_files: |_| Vec::new(),
    prepare_args: &[],
    metadata_kinds: &MetadataKind::ALL,
    takes_database: true,
    masker: "dust",
    refused_on_ranks,
    refused_as_metadata,
    is_in_order: true,
};

const LISTING: Listing =
    Listing { molecule: Molecule::Nucleotide, masker: "dustmasker", volume: "25KB" };

fn inputs(source: &Source) -> Result<Inputs> {
    let bases = source.bases()?;
    println!(
        "nucleic acids: {} ({} queries, {} genomes)",
        bases.name,
        bases.queries.len(),
        bases.genomes.len()
    );
    for what in &bases.missing {
        println!("NOT TESTED AS MEANT: {what}");
    }
    let parents = Parents::from_bases(bases);
    let exports = [
        ("db/strategy", "-max_target_seqs 300"),
        ("db/strategy_blastn", "-task blastn -dust no -max_hsps 1"),
        ("db/strategy_short", "-task blastn-short -word_size 9 -evalue 1e-3"),
        ("db/strategy_hard", "-task dc-megablast -soft_masking false -strand plus"),
    ];
    let mut databases = databases::all(bases, &parents);
    let recipe = Recipe::beside_strategies("blastn", b">b\nACGTTGCATTAGC\n", &exports);
    databases.push(recipe.nucleotide());
    Ok(Inputs {
        queries: queries::all(bases, &parents),
        files: listed::files(databases::part(bases, &parents).len()),
        databases,
    })
}

fn kills(source: &Source) -> Result<KilledSearch> {
    let bases = source.bases()?;
    Ok(KilledSearch {
        queries: bases.queries.clone(),
        database: bases.genomes.clone(),
        molecule: Molecule::Nucleotide,
        args: &["-task", "blastn"],
        quick_step: 3,
    })
}

/// Whether FleetBLAST refuses the search on ranks, because one process must find repeats
/// (`-filtering_db`) and hits on adjacent diagonals (`-off_diagonal_range`).
fn refused_on_ranks(args: &[String]) -> bool {
    args.iter().any(|arg| arg == "-filtering_db")
        || !matches!(value(args, "-off_diagonal_range"), "" | "0")
        || value(args, "-outfmt") == "11"
}

/// Whether FleetBLAST refuses to write metadata of the search. Metadata cannot hold sum statistics
/// of several alignments, nor repeats. With a file of word counts, only the kind `report` is
/// possible.
fn refused_as_metadata(kind: MetadataKind, args: &[String]) -> bool {
    let has = |name: &str| args.iter().any(|arg| arg == name);
    has("-filtering_db")
        || value(args, "-sum_stats") == "true"
        || kind != MetadataKind::Report && has("-window_masker_db")
}

/// Returns the value of an option; empty if it is not given.
fn value<'a>(args: &'a [String], name: &str) -> &'a str {
    let at = args.iter().position(|arg| arg == name);
    at.and_then(|at| args.get(at + 1)).map(String::as_str).unwrap_or_default()
}
