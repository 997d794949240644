//! The options of `blastdbcmd`.

pub mod output;
pub mod retrieval;

use super::RELEASE;
use super::compat::COMPAT;
use super::spec::{Group, OptionSpec, Program};

/// The command `blastdbcmd` with its table of options.
pub const BLASTDBCMD: Program = Program {
    name: "blastdbcmd",
    release: Some(RELEASE),
    about: "Looks into databases: sequences, what databases there are",
    description: &["BLAST database client, version"],
    groups: &[DATABASE, RETRIEVAL, SEQUENCE, TAXONOMY, OUTPUT, FASTA, DISCOVERY, Group::FLEETBLAST],
    options: &[retrieval::RETRIEVAL_OPTIONS, output::OUTPUT_OPTIONS, OWN_OPTIONS],
    details: &[],
    own_version: None,
    positional_option: None,
};

/// Options that BLAST+ does not have.
const OWN_OPTIONS: &[OptionSpec] = &[COMPAT.help(COMPAT_HELP).spec];

/// Help of `-compat` in the programs that make and read databases.
pub(super) const COMPAT_HELP: &[&str] = &[
    "Release of BLAST+ that the program follows",
    "Default = the environment variable FLEETBLAST_COMPAT, or auto",
];

const DATABASE: Group = Group("BLAST database options");
const RETRIEVAL: Group = Group("Retrieval options");
const TAXONOMY: Group = Group("Taxonomic filtering options");
const SEQUENCE: Group = Group("Sequence retrieval configuration options");
const OUTPUT: Group = Group("Output configuration options");
const FASTA: Group = Group("Output configuration options for FASTA format");
const DISCOVERY: Group = Group("BLAST database configuration and discovery options");

// Exclusions between options, in the order in which BLAST+ checks them.

/// Options that read one database. They exclude options that search for databases.
const ONE_DATABASE: &[&str] = &[
    "info",
    "metadata",
    "tax_info",
    "entry",
    "entry_batch",
    "outfmt",
    "strand",
    "target_only",
    "ctrl_a",
    "get_dups",
    "pig",
    "range",
    "db",
    "info",
    "mask_sequence",
    "line_length",
    "show_blastdb_search_path",
];
/// Options that search for databases. They exclude options for one database.
const DISCOVERING: &[&str] =
    &["list", "recursive", "remove_redundant_dbs", "list_outfmt", "show_blastdb_search_path"];
/// Options that print no sequence, or have a range for each sequence. They exclude options with one
/// range for all.
const NO_SINGLE_PART: &[&str] = &[
    "entry_batch",
    "ipg_batch",
    "info",
    "metadata",
    "tax_info",
    "list",
    "recursive",
    "remove_redundant_dbs",
    "list_outfmt",
    "show_blastdb_search_path",
];
