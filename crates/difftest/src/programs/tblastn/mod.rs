//! The tests of tblastn, which searches translated nucleic acids with proteins.
//!
//! The queries are blastp's, and the databases have genes of its subjects.

mod options;

use super::psiblast::with_matrices;
use super::{BLASTP, BLASTX, genes};
use crate::error::Result;
use crate::fasta::{self, Record};
use crate::fixtures::{Inputs, Molecule, Recipe, rng_for};
use crate::kind::MetadataKind;
use crate::program::{FullSearches, KilledSearch, Program, SubjectForm, Trial};
use crate::synth::BASES;
use crate::workspace::Source;
use fastrand::Rng;

/// The description of tblastn and its tests.
pub static TBLASTN: Program = Program {
    name: "tblastn",
    molecule: Molecule::Nucleotide,
    columns: BLASTX.columns,
    tables: &[
        table!("tblastn", "tasks"),
        table!("tblastn", "translation"),
        table!("tblastn", "sums"),
        table!("tblastn", "scoring"),
        table!("tblastn", "local"),
        table!("tblastn", "ungapped"),
        table!("tblastn", "search"),
        table!("tblastn", "limits"),
        table!("tblastn", "inputs"),
        table!("tblastn", "formats"),
        table!("tblastn", "restrict"),
        table!("tblastn", "pssm"),
        table!("tblastn", "errors"),
    ],
    costs: include_str!("../../../cases/tblastn/costs.tsv"),
    inputs,
    large,
    kills,
    trial,
    options: options::choose,
    masker: "dust",
    refused_as_metadata: |kind, args| {
        kind != MetadataKind::Report && args.iter().any(|arg| arg == "-in_pssm")
    },
    ..BLASTP
};

/// Names of blastp's query sets, and the names of the sets of their genes, which are subjects of
/// tblastn.
const SUBJECTS: &[(&str, &str)] = &[
    ("ambiguous", "genes_ambiguous"),
    ("chimera", "genes_chimera"),
    ("crlf", "genes_crlf"),
    ("empty", "genes_empty"),
    ("empty_record", "genes_empty_record"),
    ("hundred", "genes_hundred"),
    ("ids", "genes_ids"),
    ("long", "genes_long"),
    ("lowcomplex", "genes_lowcomplex"),
    ("lower", "genes_lower"),
    ("members", "genes_members"),
    ("micro", "genes_micro"),
    ("nine", "genes_nine"),
    ("only_empty", "genes_only_empty"),
    ("plain", "genes_plain"),
    ("relatives", "genes_relatives"),
    ("repeats", "genes_repeats"),
    ("specials", "genes_specials"),
    ("titled", "genes_titled"),
    ("titles", "genes_titles"),
];

/// Files of the PSSMs that psiblast makes, each with psiblast's arguments.
const MATRICES: &[(&str, &str)] = &[
    ("db/pssm", "-query q/one.fa -subject q/hundred.fa"),
    ("db/pssm_low", "-query q/repeats.fa -subject q/repeats.fa"),
    ("db/pssm_45", "-query q/one.fa -subject q/hundred.fa -matrix BLOSUM45"),
];

/// Returns the queries of blastp, databases of genes of blastp's subjects, and PSSMs.
fn inputs(source: &Source) -> Result<Inputs> {
    let mut inputs = super::blastp::shared_inputs(source)?;
    inputs.databases = inputs.databases.into_iter().map(of_genes).collect();
    let beside = Recipe::new("beside_matrices", b">s\nACGTACGTACGTACGT\n".to_vec(), &[]);
    inputs.databases.push(with_matrices(beside.nucleotide(), MATRICES));
    let proteins: Vec<Record> = source.queries.iter().take(30).cloned().collect();
    inputs.databases.extend(more(&proteins, &source.bases()?.genomes));
    let subjects = inputs.queries.iter().filter_map(|(name, text)| {
        let (_, genes) = SUBJECTS.iter().find(|(proteins, _)| proteins == name)?;
        Some((*genes, coding_text(&mut rng_for(genes), text)))
    });
    let subjects: Vec<_> = subjects.collect();
    inputs.queries.extend(subjects);
    inputs.queries.push(("genes", fasta::to_bytes(&proteins)));
    Ok(inputs)
}

/// Returns recipes of databases with genes of these proteins.
fn more(proteins: &[Record], genomes: &[Record]) -> Vec<Recipe> {
    let mut rng = rng_for("databases of genes");
    let genome: Vec<u8> = proteins.iter().flat_map(|it| genes::gene(&mut rng, &it.seq)).collect();
    let genome = Record::new("genome with the genes of the queries", genome);
    let genomes = [&[genome][..], genomes].concat();
    let introns = proteins.iter().map(|it| {
        let mut seq = genes::coding(&mut rng, &it.seq);
        for length in [60, 100, 122, 300, 900] {
            seq = genes::with_intron(&mut rng, &seq, length);
        }
        let seq = genes::shift_frame(&mut rng, &seq);
        Record::new(it.header.clone(), genes::either_strand(&mut rng, seq))
    });
    let introns: Vec<Record> = introns.collect();
    let odd = introns
        .iter()
        .map(|it| Record::new(it.header.clone(), BASES.odd_letters(&mut rng, &it.seq, 0.05)));
    let odd: Vec<Record> = odd.collect();
    let short = (1..60).map(|length| {
        let bases = genes::coding(&mut rng, &proteins[length % proteins.len()].seq);
        Record::new(format!("short_{length}"), &bases[..length.min(bases.len())])
    });
    let short: Vec<Record> = short.collect();
    let recipe =
        |name, records: &[Record]| Recipe::new(name, fasta::to_bytes(records), &[]).nucleotide();
    vec![
        recipe("genomes", &genomes),
        recipe("introns", &introns),
        recipe("iupac", &odd),
        recipe("lengths", &short),
    ]
}

/// Returns the text of a FASTA file with codons instead of residues. All other bytes stay.
fn coding_text(rng: &mut Rng, text: &[u8]) -> Vec<u8> {
    let mut coding = Vec::new();
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        match line.first() {
            Some(b'>' | b'#' | b';') => coding.extend_from_slice(line),
            _ => coding.extend(line.iter().flat_map(|&letter| match letter {
                b'A'..=b'Z' | b'a'..=b'z' => genes::coding(rng, &[letter]),
                other => vec![other],
            })),
        }
    }
    coding
}

/// Returns the recipe of a database of genes, given that of the proteins. dustmasker replaces
/// segmasker.
fn of_genes(mut recipe: Recipe) -> Recipe {
    // Masks are found in another database of the same sequences, so all recipes must draw the same
    // genes.
    let mut rng = rng_for("genes of subjects");
    // The recipes are text of the tester itself.
    let proteins = fasta::parse(&recipe.fasta).expect("FASTA text");
    let genes = match recipe.name {
        // Its sequence of 95,000 residues stays one gene.
        "giant" => proteins
            .iter()
            .map(|it| Record::new(it.header.clone(), genes::coding(&mut rng, &it.seq)))
            .collect(),
        _ => genes::genes_of(&mut rng, &proteins),
    };
    recipe.fasta = fasta::to_bytes(&genes);
    for (program, _) in &mut recipe.before {
        if *program == "segmasker" {
            *program = "dustmasker";
        }
    }
    recipe.nucleotide()
}

fn kills(source: &Source) -> Result<KilledSearch> {
    let search = (BLASTP.kills)(source)?;
    let database = genes::genes_of(&mut rng_for("victims"), &search.database);
    Ok(KilledSearch { database, molecule: Molecule::Nucleotide, quick_step: 12, ..search })
}

fn large(source: &Source) -> Result<FullSearches> {
    let large = (super::BLASTN.large)(source)?;
    Ok(FullSearches { queries: (BLASTP.large)(source)?.queries, more: Vec::new(), ..large })
}

/// Length in residues of the longest subject of a random trial. BLAST+ takes six times as long for
/// it as in blastp.
const LONGEST: usize = 12_000;

/// Draws a random trial of blastp, and replaces its subjects by their genes.
fn trial(rng: &mut Rng, source: &Source) -> Trial {
    let mut trial = Trial { program: &TBLASTN, ..(BLASTP.trial)(rng, source) };
    for subject in &mut trial.subjects {
        subject.seq.truncate(LONGEST);
        subject.seq = genes::drawn(rng, &subject.seq, 4);
        // BLAST+ crashes on subjects of fewer than two codons in some formats.
        if trial.subject_form == SubjectForm::Subject && subject.seq.len() < 6 {
            subject.seq.extend_from_slice(b"ACGTAC");
        }
    }
    trial
}
