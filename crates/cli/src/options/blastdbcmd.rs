//! The options of `blastdbcmd`.

mod output;
mod retrieval;

use super::spec::{Group, Program};

/// The program.
pub const BLASTDBCMD: Program = Program {
    name: "blastdbcmd",
    description: &["BLAST database client, version 2.12.0+"],
    groups: &[DATABASE, RETRIEVAL, SEQUENCE, OUTPUT, FASTA, DISCOVERY],
    options: &[retrieval::RETRIEVAL_OPTIONS, output::OUTPUT_OPTIONS],
};

const DATABASE: Group = Group("BLAST database options");
const RETRIEVAL: Group = Group("Retrieval options");
const SEQUENCE: Group = Group("Sequence retrieval configuration options");
const OUTPUT: Group = Group("Output configuration options");
const FASTA: Group = Group("Output configuration options for FASTA format");
const DISCOVERY: Group = Group("BLAST database configuration and discovery options");
