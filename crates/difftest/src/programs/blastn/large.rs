//! The searches of `difftest full` with blastn: queries of all kinds against all genomes.

use crate::error::Result;
use crate::fasta::{self, Record};
use crate::fixtures::Molecule;
use crate::program::FullSearches;
use crate::workspace::Source;

/// Values of `-outfmt` for every format; SAM is `17`.
const FORMATS: [&str; 7] = ["6", "7", "10", "5", "0", "0 -html", "17"];
/// Length in bases of the longest query for `blastn-short`.
const SHORT: usize = 50;
/// Maximal number of bases of the genome that is a query.
const GENOME: usize = 5_000_000;

/// Returns the data and the searches: queries of all kinds in the four tasks, transcripts, and a
/// genome.
pub fn large(source: &Source) -> Result<FullSearches> {
    let bases = source.bases()?;
    let is_short = |query: &&Record| query.seq.len() <= SHORT;
    let short: Vec<Record> = bases.queries.iter().filter(is_short).cloned().collect();
    let genome = fasta::read_letters(&bases.file, GENOME)?.into_iter().max_by_key(|g| g.seq.len());
    let mut queries = vec![
        ("all", fasta::to_bytes(&bases.queries)),
        ("short", fasta::to_bytes(&short)),
        ("genome", fasta::to_bytes(genome.as_slice())),
    ];
    let mut searches = in_formats(&["megablast", "dc-megablast", "blastn"], "all", &FORMATS);
    searches.extend(in_formats(&["blastn-short"], "short", &FORMATS));
    searches.extend(in_formats(&["megablast"], "genome", &["6", "0", "17"]));
    searches.extend(in_formats(&["dc-megablast"], "genome", &["6"]));
    if let Some(transcripts) = &bases.transcripts {
        queries.push(("transcripts", fasta::to_bytes(transcripts)));
        let tasks = ["megablast", "dc-megablast", "blastn"];
        searches.extend(in_formats(&tasks, "transcripts", &["6", "0"]));
    }
    let (database, molecule) = (bases.file.clone(), Molecule::Nucleotide);
    Ok(FullSearches { database, more: Vec::new(), molecule, queries, searches })
}

fn in_formats(tasks: &[&str], queries: &str, formats: &[&str]) -> Vec<String> {
    let each = |task: &&str| {
        let fixed = format!("-task {task} -query q/{queries}.fa");
        formats.iter().map(move |format| format!("{fixed} -outfmt {format}"))
    };
    tasks.iter().flat_map(each).collect()
}
