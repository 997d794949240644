//! Loads real nucleic acids for tests.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::fasta::{self, Record};

/// Maximal number of bases of all genomes of the tests together.
const GENOMES: usize = 3_000_000;
/// Maximal number of bases of all queries together.
const QUERIES: usize = 1_000_000;
/// Directory in which Debian's package bowtie2-examples puts the genome of phage lambda and its
/// reads.
const EXAMPLES: &str = "/usr/share/doc/bowtie2/examples";

/// Genomes, and queries that are related to them.
#[derive(Debug)]
pub struct Bases {
    /// Name of the data, for messages of the tester.
    pub name: String,
    /// Queries of all lengths.
    pub queries: Vec<Record>,
    /// Genome sequences. The last one may be cut.
    pub genomes: Vec<Record>,
    /// The FASTA file with all genomes.
    pub file: PathBuf,
    /// Transcripts of genes, if there are any.
    pub transcripts: Option<Vec<Record>>,
    /// Descriptions of the tests that these data cannot support as intended.
    pub missing: Vec<String>,
}

/// Loads `queries_nt.fa` and `genomes.fa.gz` of `dir`, otherwise Debian's bowtie2-examples.
pub fn load(dir: &Path) -> Result<Bases> {
    let (queries, genomes) = (dir.join("queries_nt.fa"), dir.join("genomes.fa.gz"));
    let transcripts = dir.join("transcripts.fa");
    let own = queries.is_file() && genomes.is_file();
    let name = if own { dir } else { Path::new(EXAMPLES) };
    let mut bases = if own {
        Bases {
            name: dir.display().to_string(),
            queries: fasta::read_letters(&queries, QUERIES)?,
            genomes: fasta::read_letters(&genomes, GENOMES)?,
            transcripts: match transcripts.is_file() {
                true => Some(fasta::read(&transcripts, usize::MAX)?),
                false => None,
            },
            file: genomes,
            missing: Vec::new(),
        }
    } else {
        examples(Path::new(EXAMPLES))?
    };
    bases.queries.retain(|query| !query.seq.is_empty());
    bases.genomes.retain(|genome| genome.seq.len() >= 1_000);
    if bases.queries.is_empty() || bases.genomes.is_empty() {
        return Err(Error::NoData(name.display().to_string()));
    }
    Ok(bases)
}

/// Loads the genome of phage lambda and its reads from bowtie2-examples in `dir`.
fn examples(dir: &Path) -> Result<Bases> {
    let lambda = dir.join("reference/lambda_virus.fa.gz");
    if !lambda.is_file() {
        return Err(Error::NoBases(dir.display().to_string()));
    }
    let mut queries = fasta::read_fastq(&dir.join("reads/longreads.fq.gz"), 150)?;
    queries.extend(fasta::read_fastq(&dir.join("reads/reads_1.fq.gz"), 150)?);
    let missing = "no genomes.fa.gz: the phage lambda and reads of it instead".to_owned();
    Ok(Bases {
        name: format!("{} (bowtie2-examples)", dir.display()),
        queries,
        genomes: fasta::read_letters(&lambda, GENOMES)?,
        file: lambda,
        transcripts: None,
        missing: vec![missing],
    })
}
