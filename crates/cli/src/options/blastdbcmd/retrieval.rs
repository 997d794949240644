//! Options on what is looked up.

use super::{DATABASE, DISCOVERING, NO_SINGLE_PART, RETRIEVAL, SEQUENCE};
use crate::options::spec::{self, Constraint, Kind, OptionSpec};

/// In the order of the usage text.
pub(super) const RETRIEVAL_OPTIONS: &[OptionSpec] = &[
    spec::H,
    spec::HELP,
    OptionSpec::new("db", Kind::Text, DATABASE, &["BLAST database name"])
        .label("dbname")
        .default("nr")
        .excludes(DISCOVERING),
    OptionSpec::new("dbtype", Kind::Text, DATABASE, &["Molecule type stored in BLAST database"])
        .label("molecule_type")
        .default("guess")
        .within(Constraint::Word(&["guess", "nucl", "prot"])),
    OptionSpec::new(
        "entry",
        Kind::Text,
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
    ]),
    OptionSpec::new(
        "entry_batch",
        Kind::InputFile,
        RETRIEVAL,
        &[
            "Input file for batch processing (Format: one entry per line, seq id ",
            "followed by optional space-delimited specifier(s)",
            "[range|strand|mask_algo_id]",
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
    ]),
    OptionSpec::new("ipg", Kind::Integer, RETRIEVAL, &["IPG to retrieve"])
        .label("IPG")
        .within(Constraint::AtLeast(0))
        .excludes(&["entry", "entry_batch", "target_only", "ipg_batch"])
        .unsupported(),
    OptionSpec::new(
        "ipg_batch",
        Kind::InputFile,
        RETRIEVAL,
        &[
            "Input file for batch processing (Format: one entry per line, IPG ",
            "followed by optional space-delimited specifier(s)",
            "[range|strand|mask_algo_id]",
        ],
    )
    .label("input_file")
    .excludes(&["ipg", "entry", "entry_batch", "range", "strand", "mask_sequence_with"])
    .unsupported(),
    OptionSpec::new("taxids", Kind::Text, RETRIEVAL, &["Comma-delimited taxonomy identifiers"])
        .label("taxonomy_ids")
        .excludes(&["entry", "entry_batch", "pig", "taxidlist", "info", "tax_info"]),
    OptionSpec::new(
        "taxidlist",
        Kind::InputFile,
        RETRIEVAL,
        &["Input file for taxonomy identifiers"],
    )
    .label("input_file")
    .excludes(&["entry", "entry_batch", "pig", "taxids", "info", "tax_info"]),
    OptionSpec::new("info", Kind::Flag, RETRIEVAL, &["Print BLAST database information"]).excludes(
        &[
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
            "taxidlist",
            "taxids",
            "tax_info",
            "list",
            "recursive",
            "remove_redundant_dbs",
            "list_outfmt",
            "show_blastdb_search_path",
            "long_seqids",
        ],
    ),
    OptionSpec::new(
        "tax_info",
        Kind::Flag,
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
    ]),
    OptionSpec::new(
        "range",
        Kind::Text,
        SEQUENCE,
        &[
            "Range of sequence to extract in 1-based offsets (Format: start-stop, for",
            "start to end of sequence use start - )",
        ],
    )
    .label("numbers")
    .excludes(NO_SINGLE_PART),
    OptionSpec::new("strand", Kind::Text, SEQUENCE, &["Strand of nucleotide sequence to extract"])
        .label("strand")
        .default("plus")
        .within(Constraint::Word(&["minus", "plus"]))
        .excludes(NO_SINGLE_PART),
    OptionSpec::new(
        "mask_sequence_with",
        Kind::Text,
        SEQUENCE,
        &["Produce lower-case masked FASTA using the algorithm ID specified"],
    )
    .label("mask_algo_id")
    .excludes(&["entry_batch", "ipg_batch"]),
];
