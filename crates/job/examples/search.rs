//! Searches a protein database with the proteins of a FASTA file, and prints a line for each
//! alignment: the identifiers of query and subject, the e-value and the bit score.
//!
//! ```text
//! makeblastdb -dbtype prot -in proteins.fa -out proteins
//! cargo run --release -p fleetblast-job --example search -- proteins queries.fa
//! ```

use std::io::{self, BufWriter, Write};

use fleetblast_job::error::{Error, output_error};
use fleetblast_job::plan::Plan;
use fleetblast_job::visit_hits;
use fleetblast_report::{bits, tabular_evalue};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [database, queries] = &std::env::args().skip(1).collect::<Vec<_>>()[..] else {
        return Err("usage: search DATABASE QUERIES.fa".into());
    };
    Ok(search(database, queries, BufWriter::new(io::stdout()))?)
}

/// Searches `database` with the queries of the FASTA file `queries` and the defaults of `blastp`.
/// Writes one line for each alignment to `out`.
pub fn search(database: &str, queries: &str, mut out: impl Write + Send) -> Result<(), Error> {
    let plan = Plan::blastp(database, queries);
    visit_hits(&plan, |query| {
        for hit in query.hits {
            for found in hit.alignments {
                let (evalue, score) = (tabular_evalue(found.evalue), bits(found.bit_score));
                writeln!(out, "{}\t{}\t{evalue}\t{score}", query.id, hit.id)
                    .map_err(|error| output_error(&error))?;
            }
        }
        Ok(())
    })
}
