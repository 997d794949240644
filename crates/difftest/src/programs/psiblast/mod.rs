//! The tests of psiblast: blastp's searches with several iterations, and files of PSSMs.

mod alignments;
mod options;
mod patterns;

use super::BLASTP;
use crate::error::Result;
use crate::fasta;
use crate::fixtures::{Inputs, Recipe};
use crate::kind::MetadataKind;
use crate::program::{FullSearches, KilledSearch, NamedFile, Program, Trial};
use crate::workspace::Source;
use fastrand::Rng;

/// The description of psiblast and its tests.
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
        table!("psiblast", "start"),
        table!("psiblast", "alignments"),
        table!("psiblast", "patterns"),
    ],
    inputs,
    costs: include_str!("../../../cases/psiblast/costs.tsv"),
    trial,
    options: options::choose,
    extra_files,
    prepare_args: &[
        "-query",
        FIRST,
        "-subject",
        "db.fa",
        "-num_iterations",
        "2",
        "-evalue",
        "10",
        "-outfmt",
        "6",
        "-out",
        "prepared",
        "-out_pssm",
        PSSM,
    ],
    metadata_kinds: &[MetadataKind::Report, MetadataKind::Hits],
    takes_database: false,
    refused_on_ranks: |_| false,
    refused_as_metadata,
    large,
    kills,
    ..BLASTP
};

/// Files of the PSSMs that psiblast of BLAST+ makes for later searches, each with psiblast's
/// arguments.
const MATRICES: &[(&str, &str)] = &[
    ("db/pssm", "-query q/one.fa -db db/part"),
    ("db/pssm_observed", "-query q/one.fa -db db/part -out_ascii_pssm db/pssm_table"),
    ("db/pssm_low", "-query q/repeats.fa -db db/repeats"),
    ("db/pssm_alone", "-query q/parent.fa -db db/single"),
    ("db/pssm_45", "-query q/one.fa -db db/part -matrix BLOSUM45"),
];

/// Adds psiblast runs to a recipe, which make PSSMs before the database is made. `matrices` has the
/// file of each PSSM and psiblast's arguments.
pub(super) fn with_matrices(
    mut recipe: Recipe,
    matrices: &[(&'static str, &'static str)],
) -> Recipe {
    recipe.before.extend(matrices.iter().map(|&(name, how)| {
        let rounds = ["-num_iterations", "2", "-outfmt", "6", "-out", "db/pssm_report"];
        ("psiblast", how.split(' ').chain(rounds).chain(["-out_pssm", name]).collect())
    }));
    recipe
}

/// Returns the inputs of blastp, and PSSMs, alignments and patterns.
fn inputs(source: &Source) -> Result<Inputs> {
    let mut inputs = super::blastp::shared_inputs(source)?;
    let beside = Recipe::new("beside_matrices", b">p\nMKVLAWGDEFHIRNPQSTYC\n".to_vec(), &[]);
    inputs.databases.push(with_matrices(beside, MATRICES));
    let one = inputs.queries.iter().find(|(name, _)| *name == "one");
    let letters = one.map(|(_, text)| text.split(|&byte| byte == b'\n').skip(1));
    let letters = letters.into_iter().flatten().collect::<Vec<_>>().concat();
    inputs.files.extend(alignments::files(&letters));
    inputs.files.extend(patterns::files(&letters));
    Ok(inputs)
}

/// Returns blastp's search to be killed, with several iterations.
fn kills(source: &Source) -> Result<KilledSearch> {
    Ok(KilledSearch { args: &["-num_iterations", "3"], quick_step: 12, ..(BLASTP.kills)(source)? })
}

/// Returns searches with all queries and several iterations, in the small set of proteins and in
/// all of them.
fn large(source: &Source) -> Result<FullSearches> {
    let formats = ["6", "7", "5", "0"];
    let of = |rounds| {
        formats.map(|format| format!("-query q/all.fa -num_iterations {rounds} -outfmt {format}"))
    };
    let in_small = of("5 -db db/small");
    Ok(FullSearches {
        more: vec![Recipe::new("small", fasta::to_bytes(&source.proteins), &[])],
        searches: [in_small, of("3")].concat(),
        ..(BLASTP.large)(source)?
    })
}

/// Whether FleetBLAST refuses to write metadata of the search. Of searches that begin with a file,
/// only the kind `report` is possible.
fn refused_as_metadata(kind: MetadataKind, args: &[String]) -> bool {
    let begins_with = ["-in_pssm", "-in_msa", "-phi_pattern"];
    kind != MetadataKind::Report && args.iter().any(|arg| begins_with.contains(&arg.as_str()))
}

/// File with the first query of a random trial, from which BLAST+ makes a PSSM.
const FIRST: &str = "first.fa";
const PSSM: &str = "pssm";
/// Least number of letters in an alignment, so that there is room for changes.
const LEAST: usize = 60;
/// Letters that can stand for bases.
const BASES: &[u8] = b"ACGTUNRYKMSWBDHV";

/// Returns the first query of a trial, alignments of it, and patterns that occur in it.
fn extra_files(trial: &Trial) -> Vec<NamedFile> {
    let first = &trial.queries[..1];
    let letters = first[0].seq.to_ascii_uppercase();
    let letters: Vec<u8> = letters.into_iter().filter(u8::is_ascii_uppercase).collect();
    let letters = if letters.is_empty() { b"M".to_vec() } else { letters };
    let count = letters.len().max(LEAST);
    // BLAST+ ends with an exception on an alignment whose letters can all stand for bases.
    let protein = if letters.iter().all(|letter| BASES.contains(letter)) { b"E" } else { &b""[..] };
    let repeated: Vec<u8> = protein.iter().chain(&letters).copied().cycle().take(count).collect();
    let mut files = vec![(FIRST, fasta::to_bytes(first))];
    files.extend(alignments::files(&repeated));
    files.extend(patterns::files(&letters));
    files
}

/// Length in residues of the longest query of a random trial. Longer queries would be searched in
/// chunks, which psiblast refuses with a PSSM.
const LONGEST: usize = 4_000;

/// Draws a random trial of blastp with queries that several iterations can search.
fn trial(rng: &mut Rng, source: &Source) -> Trial {
    let mut trial = Trial { program: &PSIBLAST, ..(BLASTP.trial)(rng, source) };
    trial.queries.iter_mut().for_each(|query| query.seq.truncate(LONGEST));
    trial
}
