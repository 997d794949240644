//! Options for the output, and for whole databases.

use std::ffi::OsString;

use super::{DISCOVERING, DISCOVERY, FASTA, ONE_DATABASE, OUTPUT};
use crate::options::constraint::Constraint;
use crate::options::opt::Opt;
use crate::options::spec::{self, OptionSpec};

/// The options, in the order of the usage text.
pub(super) const OUTPUT_OPTIONS: &[OptionSpec] = &[
    OUT.spec,
    OUTFMT.spec,
    TARGET_ONLY.spec,
    GET_DUPS.spec,
    LINE_LENGTH.spec,
    CTRL_A.spec,
    SHOW_BLASTDB_SEARCH_PATH.spec,
    LIST.spec,
    REMOVE_REDUNDANT_DBS.spec,
    RECURSIVE.spec,
    LIST_OUTFMT.spec,
    EXACT_LENGTH.spec,
    LONG_SEQIDS.spec,
    LOGFILE.spec,
    spec::VERSION,
];

/// `-out`.
pub const OUT: Opt<OsString> =
    Opt::output("out", OUTPUT, &["Output file name"]).label("output_file").default("-");

/// `-outfmt`.
pub const OUTFMT: Opt<OsString> = Opt::text(
    "outfmt",
    OUTPUT,
    &[
        "Output format, where the available format specifiers are:",
        "\t\t%f means sequence in FASTA format",
        "\t\t%s means sequence data (without defline)",
        "\t\t%a means accession",
        "\t\t%g means gi",
        "\t\t%o means ordinal id (OID)",
        "\t\t%i means sequence id",
        "\t\t%t means sequence title",
        "\t\t%l means sequence length",
        "\t\t%h means sequence hash value",
        "\t\t%T means taxid",
        "\t\t%X means leaf-node taxids",
        "\t\t%e means membership integer",
        "\t\t%L means common taxonomic name",
        "\t\t%C means common taxonomic names for leaf-node taxids",
        "\t\t%S means scientific name",
        "\t\t%N means scientific names for leaf-node taxids",
        "\t\t%B means BLAST name",
        "\t\t%K means taxonomic super kingdom",
        "\t\t%P means PIG",
        "\t\t%m means sequence masking data.",
        "\t\t   Masking data will be displayed as a series of 'N-M' values",
        "\t\t   separated by ';' or the word 'none' if none are available.",
        "\tIf '%f' is specified, all other format specifiers are ignored.",
        "\tFor every format except '%f', each line of output will correspond",
        "\tto a sequence.",
        "",
    ],
)
.label("format")
.default("%f")
.excludes(&[
    "info",
    "metadata",
    "list",
    "recursive",
    "remove_redundant_dbs",
    "list_outfmt",
    "show_blastdb_search_path",
]);

/// `-target_only`.
pub const TARGET_ONLY: Opt<bool> =
    Opt::flag("target_only", OUTPUT, &["Definition line should contain target entry only"])
        .excludes(&[
            "ipg",
            "info",
            "metadata",
            "tax_info",
            "get_dups",
            "list",
            "recursive",
            "remove_redundant_dbs",
            "list_outfmt",
            "show_blastdb_search_path",
        ]);

/// `-get_dups`.
pub const GET_DUPS: Opt<bool> = Opt::flag("get_dups", OUTPUT, &["Retrieve duplicate accessions"])
    .excludes(&[
        "info",
        "metadata",
        "tax_info",
        "target_only",
        "list",
        "recursive",
        "remove_redundant_dbs",
        "list_outfmt",
        "show_blastdb_search_path",
    ]);

/// `-line_length`.
pub const LINE_LENGTH: Opt<usize> = Opt::integer("line_length", FASTA, &["Line length for output"])
    .label("number")
    .default("80")
    .with_constraint(Constraint::AtLeast(1))
    .excludes(DISCOVERING);

/// `-ctrl_a`.
pub const CTRL_A: Opt<bool> =
    Opt::flag("ctrl_a", FASTA, &["Use Ctrl-A as the non-redundant defline separator"]).excludes(&[
        "info",
        "metadata",
        "tax_info",
        "list",
        "recursive",
        "remove_redundant_dbs",
        "list_outfmt",
        "show_blastdb_search_path",
    ]);

/// `-show_blastdb_search_path`.
pub const SHOW_BLASTDB_SEARCH_PATH: Opt<bool> = Opt::flag(
    "show_blastdb_search_path",
    DISCOVERY,
    &["Displays the default BLAST database search paths"],
)
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
    "db",
    "info",
    "mask_sequence",
    "line_length",
    "list",
    "recursive",
    "list_outfmt",
    "remove_redundant_dbs",
]);

/// `-list`.
pub const LIST: Opt<OsString> =
    Opt::text("list", DISCOVERY, &["List BLAST databases in the specified directory"])
        .label("directory")
        .excludes(ONE_DATABASE);

/// `-remove_redundant_dbs`.
pub const REMOVE_REDUNDANT_DBS: Opt<bool> = Opt::flag(
    "remove_redundant_dbs",
    DISCOVERY,
    &["Remove the databases that are referenced by another alias file in the directory in \
         question"],
)
.excludes(ONE_DATABASE);

/// `-recursive`.
pub const RECURSIVE: Opt<bool> = Opt::flag(
    "recursive",
    DISCOVERY,
    &["Recursively traverse the directory structure to list available BLAST databases"],
)
.excludes(ONE_DATABASE);

/// `-list_outfmt`.
pub const LIST_OUTFMT: Opt<OsString> = Opt::text(
    "list_outfmt",
    DISCOVERY,
    &[
        "Output format for the list option, where the available format specifiers are:",
        "\t\t%f means the BLAST database absolute file name path",
        "\t\t%p means the BLAST database molecule type",
        "\t\t%t means the BLAST database title",
        "\t\t%d means the date of last update of the BLAST database",
        "\t\t%l means the number of bases/residues in the BLAST database",
        "\t\t%n means the number of sequences in the BLAST database",
        "\t\t%U means the number of bytes used by the BLAST database",
        "\t\t%v means the BLAST database format version",
        "\tFor every format each line of output will correspond to a BLAST database.",
        "",
    ],
)
.label("format")
.default("%f %p")
.excludes(ONE_DATABASE);

/// `-exact_length`.
pub const EXACT_LENGTH: Opt<bool> =
    Opt::flag("exact_length", DISCOVERY, &["Get exact length for db info"]).requires(&["info"]);

/// `-long_seqids`.
pub const LONG_SEQIDS: Opt<bool> =
    Opt::flag("long_seqids", DISCOVERY, &["Use long seq id for fasta deflines"])
        .excludes(&["info"]);

/// `-logfile`.
pub const LOGFILE: Opt<OsString> =
    Opt::output("logfile", DISCOVERY, &["File to which the program log should be redirected"])
        .label("File_Name");
