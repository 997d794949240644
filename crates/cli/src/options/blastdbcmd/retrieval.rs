//! Options that select sequences.

use std::ffi::OsString;

use fleetblast_db::SequenceKind;
use fleetblast_stats::release::Release;

use super::{DATABASE, DISCOVERING, NO_SINGLE_PART, RETRIEVAL, SEQUENCE, TAXONOMY};
use crate::options::constraint::Constraint;
use crate::options::later::{Change, Later};
use crate::options::opt::{Opt, ValueWords};
use crate::options::spec::{self, OptionSpec};

/// The options, in the order of the usage text.
pub(super) const RETRIEVAL_OPTIONS: &[OptionSpec] = &[
    spec::H,
    spec::HELP,
    DB.spec,
    DBTYPE.spec,
    ENTRY.spec,
    ENTRY_BATCH.spec,
    IPG.spec,
    IPG_BATCH.spec,
    TAXIDS.later(UNTIL_TAXONOMY).spec,
    TAXIDLIST.later(UNTIL_TAXONOMY).spec,
    INFO.spec,
    METADATA.spec,
    METADATA_OUTPUT_PREFIX.spec,
    TAX_INFO.spec,
    RANGE.spec,
    STRAND.spec,
    MASK_SEQUENCE_WITH.spec,
    TAXIDS.excludes(NO_TAXIDS).group(TAXONOMY).later(SINCE_TAXONOMY).spec,
    TAXIDLIST.excludes(NO_TAXIDLIST).group(TAXONOMY).later(SINCE_TAXONOMY).spec,
    NO_TAXID_EXPANSION.later(SINCE_TAXONOMY).spec,
];

/// The first release whose help has a section on taxonomy.
const TAXONOMIC: &Release = &Release::V2_16_0;

const UNTIL_TAXONOMY: &[Later] = &[Change::Removed.since(TAXONOMIC)];

const SINCE_TAXONOMY: &[Later] = &[Change::Added.since(TAXONOMIC)];

// What options exclude in the releases with a section on taxonomy.

const NO_ENTRY: &[&str] = &[
    "entry_batch",
    "ipg",
    "ipg_batch",
    "info",
    "metadata",
    "tax_info",
    "taxids",
    "taxidlist",
    "no_taxid_expansion",
    "list",
    "recursive",
    "remove_redundant_dbs",
    "list_outfmt",
    "show_blastdb_search_path",
];
const NO_ENTRY_BATCH: &[&str] = &[
    "entry",
    "range",
    "strand",
    "mask_sequence_with",
    "ipg",
    "ipg_batch",
    "info",
    "metadata",
    "tax_info",
    "taxids",
    "taxidlist",
    "no_taxid_expansion",
    "list",
    "recursive",
    "remove_redundant_dbs",
    "list_outfmt",
    "show_blastdb_search_path",
];
const NO_TAXIDS: &[&str] =
    &["info", "metadata", "tax_info", "entry", "entry_batch", "pig", "taxidlist"];
const NO_TAXIDLIST: &[&str] =
    &["info", "metadata", "tax_info", "entry", "entry_batch", "pig", "taxids"];

/// The words of `-dbtype`; the first means the type of the database that exists.
const KINDS: ValueWords<Option<SequenceKind>, 3> = ValueWords::new([
    ("guess", None),
    ("nucl", Some(SequenceKind::Nucleotide)),
    ("prot", Some(SequenceKind::Protein)),
]);

const STRANDS: ValueWords<bool, 2> = ValueWords::new([("minus", true), ("plus", false)]);

/// `-db`.
pub const DB: Opt<OsString> = Opt::text("db", DATABASE, &["BLAST database name"])
    .label("dbname")
    .default("nr")
    .excludes(DISCOVERING);

/// `-dbtype`.
pub const DBTYPE: Opt<Option<SequenceKind>> =
    Opt::word("dbtype", DATABASE, &["Molecule type stored in BLAST database"], &KINDS)
        .label("molecule_type")
        .default("guess");

/// `-entry`.
pub const ENTRY: Opt<OsString> = Opt::text(
    "entry",
    RETRIEVAL,
    &[
        "Comma-delimited search string(s) of sequence identifiers:",
        "\te.g.: 555, AC147927, 'gnl|dbname|tag', or 'all' to select all",
        "\tsequences in the database",
    ],
)
.label("sequence_identifier")
.excludes(&[
    "entry_batch",
    "ipg",
    "ipg_batch",
    "taxids",
    "taxidlist",
    "info",
    "tax_info",
    "list",
    "recursive",
    "remove_redundant_dbs",
    "list_outfmt",
    "show_blastdb_search_path",
])
.later(&[Change::Excludes(NO_ENTRY).since(TAXONOMIC)]);

/// `-entry_batch`.
pub const ENTRY_BATCH: Opt<OsString> = Opt::input(
    "entry_batch",
    RETRIEVAL,
    &[
        "Input file for batch processing (Format: one entry per line, seq id ",
        "followed by optional space-delimited specifier(s) [range|strand|mask_algo_id]",
    ],
)
.label("input_file")
.excludes(&[
    "entry",
    "range",
    "strand",
    "mask_sequence_with",
    "ipg",
    "ipg_batch",
    "taxids",
    "taxidlist",
    "info",
    "tax_info",
    "list",
    "recursive",
    "remove_redundant_dbs",
    "list_outfmt",
    "show_blastdb_search_path",
])
.later(&[Change::Excludes(NO_ENTRY_BATCH).since(TAXONOMIC)]);

/// `-ipg`.
pub const IPG: Opt<i32> = Opt::integer("ipg", RETRIEVAL, &["IPG to retrieve"])
    .label("IPG")
    .with_constraint(Constraint::AtLeast(0))
    .excludes(&["entry", "entry_batch", "target_only", "ipg_batch"]);

/// `-ipg_batch`.
pub const IPG_BATCH: Opt<OsString> = Opt::input(
    "ipg_batch",
    RETRIEVAL,
    &[
        "Input file for batch processing (Format: one entry per line, IPG ",
        "followed by optional space-delimited specifier(s) [range|strand|mask_algo_id]",
    ],
)
.label("input_file")
.excludes(&["ipg", "entry", "entry_batch", "range", "strand", "mask_sequence_with"]);

/// `-taxids`.
pub const TAXIDS: Opt<OsString> =
    Opt::text("taxids", RETRIEVAL, &["Comma-delimited taxonomy identifiers"])
        .label("taxonomy_ids")
        .excludes(&["entry", "entry_batch", "pig", "taxidlist", "info", "tax_info"]);

/// `-taxidlist`.
pub const TAXIDLIST: Opt<OsString> =
    Opt::input("taxidlist", RETRIEVAL, &["Input file for taxonomy identifiers"])
        .label("input_file")
        .excludes(&["entry", "entry_batch", "pig", "taxids", "info", "tax_info"]);

/// `-no_taxid_expansion`.
pub const NO_TAXID_EXPANSION: Opt<bool> = Opt::flag(
    "no_taxid_expansion",
    TAXONOMY,
    &["Do not expand the taxonomy IDs provided to their descendant taxonomy IDs "],
)
.excludes(&["info", "metadata", "tax_info", "entry", "entry_batch", "pig"]);

/// `-info`.
pub const INFO: Opt<bool> = Opt::flag("info", RETRIEVAL, &["Print BLAST database information"])
    .excludes(&[
        "entry",
        "entry_batch",
        "outfmt",
        "strand",
        "target_only",
        "ctrl_a",
        "get_dups",
        "pig",
        "range",
        "mask_sequence",
        "list",
        "remove_redundant_dbs",
        "recursive",
        "list_outfmt",
        "metadata",
        "metadata_output_prefix",
        "taxidlist",
        "taxids",
        "no_taxid_expansion",
        "metadata",
        "tax_info",
        "list",
        "recursive",
        "remove_redundant_dbs",
        "list_outfmt",
        "show_blastdb_search_path",
        "long_seqids",
    ]);

/// `-metadata`.
pub const METADATA: Opt<bool> =
    Opt::flag("metadata", RETRIEVAL, &["Generate BLAST database metadata"])
        .excludes(&[
            "info",
            "entry",
            "entry_batch",
            "outfmt",
            "strand",
            "target_only",
            "ctrl_a",
            "get_dups",
            "pig",
            "range",
            "mask_sequence",
            "list",
            "remove_redundant_dbs",
            "recursive",
            "list_outfmt",
            "info",
            "taxidlist",
            "taxids",
            "no_taxid_expansion",
        ])
        .later(&[Change::Added.since(&Release::V2_16_0)]);

/// `-metadata_output_prefix`.
pub const METADATA_OUTPUT_PREFIX: Opt<OsString> = Opt::text(
    "metadata_output_prefix",
    RETRIEVAL,
    &["Path prefix for location of database files in metadata"],
)
.requires(&["metadata"])
.excludes(&["info"])
.later(&[Change::Added.since(&Release::V2_16_0)]);

/// Help of `-tax_info` in the releases that count sequences of taxa.
const COUNTING_TAX_INFO: &[&str] = &[
    "Print taxonomic information contained in this BLAST database.",
    "Use -outfmt to customize output. Format specifiers supported are:",
    "\t\t%T means taxid",
    "\t\t%L means common taxonomic name",
    "\t\t%S means scientific name",
    "\t\t%K means taxonomic super kingdom",
    "\t\t%B means BLAST name",
    "\t\t%n means num of seqs",
    "By default it prints: '%T %S %L %K %B'",
    "",
];

/// `-tax_info`.
pub const TAX_INFO: Opt<bool> = Opt::flag(
    "tax_info",
    RETRIEVAL,
    &[
        "Print taxonomic information contained in this BLAST database.",
        "Use -outfmt to customize output. Format specifiers supported are:",
        "\t\t%T means taxid",
        "\t\t%L means common taxonomic name",
        "\t\t%S means scientific name",
        "\t\t%K means taxonomic super kingdom",
        "\t\t%B means BLAST name",
        "By default it prints: '%T %S %L %K %B'",
        "",
    ],
)
.excludes(&[
    "info",
    "entry",
    "entry_batch",
    "strand",
    "target_only",
    "ctrl_a",
    "get_dups",
    "pig",
    "range",
    "mask_sequence",
    "list",
    "remove_redundant_dbs",
    "recursive",
    "list_outfmt",
    "taxidlist",
    "taxids",
    "no_taxid_expansion",
])
.later(&[Change::Help(COUNTING_TAX_INFO).since(&Release::V2_16_0)]);

/// `-range`.
pub const RANGE: Opt<OsString> = Opt::text(
    "range",
    SEQUENCE,
    &["Range of sequence to extract in 1-based offsets (Format: start-stop, for start to end of \
         sequence use start - )"],
)
.label("numbers")
.excludes(NO_SINGLE_PART);

/// `-strand`; true for the minus strand.
pub const STRAND: Opt<bool> =
    Opt::word("strand", SEQUENCE, &["Strand of nucleotide sequence to extract"], &STRANDS)
        .label("strand")
        .default("plus")
        .excludes(NO_SINGLE_PART);

/// `-mask_sequence_with`.
pub const MASK_SEQUENCE_WITH: Opt<OsString> = Opt::text(
    "mask_sequence_with",
    SEQUENCE,
    &["Produce lower-case masked FASTA using the algorithm ID specified"],
)
.label("mask_algo_id")
.excludes(&["entry_batch", "ipg_batch"]);
