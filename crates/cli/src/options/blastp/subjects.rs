//! Options on help, search strategies, and what is searched.

use super::{GENERAL, RESTRICT, STATISTICS, STRATEGY, SUBJECT_SEQUENCES};
use crate::options::spec::{self, Constraint, Kind, OptionSpec};

/// In the order of the usage text.
pub(super) const SUBJECTS: &[OptionSpec] = &[
    spec::H,
    spec::HELP,
    OptionSpec::new(
        "import_search_strategy",
        Kind::InputFile,
        STRATEGY,
        &["Search strategy to use"],
    )
    .label("filename")
    .excludes(&["export_search_strategy"])
    .unsupported(),
    OptionSpec::new(
        "export_search_strategy",
        Kind::OutputFile,
        STRATEGY,
        &["File name to record the search strategy used"],
    )
    .label("filename")
    .excludes(&["import_search_strategy"])
    .unsupported(),
    OptionSpec::new("task", Kind::Text, GENERAL, &["Task to execute"])
        .label("task_name")
        .default("blastp")
        .within(Constraint::OneOf(&["blastp", "blastp-fast", "blastp-short"])),
    OptionSpec::new("db", Kind::Text, GENERAL, &["BLAST database name"])
        .label("database_name")
        .excludes(&["subject", "subject_loc"]),
    OptionSpec::new("dbsize", Kind::Long, STATISTICS, &["Effective length of the database "])
        .label("num_letters"),
    OptionSpec::new(
        "gilist",
        Kind::Text,
        RESTRICT,
        &["Restrict search of database to list of GIs"],
    )
    .label("filename")
    .excludes(&[
        "seqidlist",
        "taxids",
        "taxidlist",
        "negative_gilist",
        "negative_seqidlist",
        "negative_taxids",
        "negative_taxidlist",
        "remote",
        "subject",
        "subject_loc",
    ]),
    OptionSpec::new(
        "seqidlist",
        Kind::Text,
        RESTRICT,
        &["Restrict search of database to list of SeqIDs"],
    )
    .label("filename")
    .excludes(&[
        "gilist",
        "taxids",
        "taxidlist",
        "negative_gilist",
        "negative_seqidlist",
        "negative_taxids",
        "negative_taxidlist",
        "remote",
        "subject",
        "subject_loc",
    ]),
    OptionSpec::new(
        "negative_gilist",
        Kind::Text,
        RESTRICT,
        &["Restrict search of database to everything except the specified GIs"],
    )
    .label("filename")
    .excludes(&[
        "gilist",
        "seqidlist",
        "taxids",
        "taxidlist",
        "negative_seqidlist",
        "negative_taxids",
        "negative_taxidlist",
        "remote",
        "subject",
        "subject_loc",
    ]),
    OptionSpec::new(
        "negative_seqidlist",
        Kind::Text,
        RESTRICT,
        &["Restrict search of database to everything except the specified SeqIDs"],
    )
    .label("filename")
    .excludes(&[
        "gilist",
        "seqidlist",
        "taxids",
        "taxidlist",
        "negative_gilist",
        "negative_taxids",
        "negative_taxidlist",
        "remote",
        "subject",
        "subject_loc",
    ]),
    OptionSpec::new(
        "taxids",
        Kind::Text,
        RESTRICT,
        &[
            "Restrict search of database to include only the specified taxonomy IDs",
            "(multiple IDs delimited by ',')",
        ],
    )
    .label("taxids")
    .excludes(&[
        "gilist",
        "seqidlist",
        "taxidlist",
        "negative_gilist",
        "negative_seqidlist",
        "negative_taxids",
        "negative_taxidlist",
        "remote",
        "subject",
        "subject_loc",
    ]),
    OptionSpec::new(
        "negative_taxids",
        Kind::Text,
        RESTRICT,
        &[
            "Restrict search of database to everything except the specified taxonomy IDs",
            "(multiple IDs delimited by ',')",
        ],
    )
    .label("taxids")
    .excludes(&[
        "gilist",
        "seqidlist",
        "taxids",
        "taxidlist",
        "negative_gilist",
        "negative_seqidlist",
        "negative_taxidlist",
        "remote",
        "subject",
        "subject_loc",
    ]),
    OptionSpec::new(
        "taxidlist",
        Kind::Text,
        RESTRICT,
        &["Restrict search of database to include only the specified taxonomy IDs"],
    )
    .label("filename")
    .excludes(&[
        "gilist",
        "seqidlist",
        "taxids",
        "negative_gilist",
        "negative_seqidlist",
        "negative_taxids",
        "negative_taxidlist",
        "remote",
        "subject",
        "subject_loc",
    ]),
    OptionSpec::new(
        "negative_taxidlist",
        Kind::Text,
        RESTRICT,
        &["Restrict search of database to everything except the specified taxonomy IDs"],
    )
    .label("filename")
    .excludes(&[
        "gilist",
        "seqidlist",
        "taxids",
        "taxidlist",
        "negative_gilist",
        "negative_seqidlist",
        "negative_taxids",
        "remote",
        "subject",
        "subject_loc",
    ]),
    OptionSpec::new(
        "ipglist",
        Kind::Text,
        RESTRICT,
        &["Restrict search of database to list of IPGs"],
    )
    .label("filename")
    .excludes(&["subject", "subject_loc"])
    .unsupported(),
    OptionSpec::new(
        "negative_ipglist",
        Kind::Text,
        RESTRICT,
        &["Restrict search of database to everything except the specified IPGs"],
    )
    .label("filename")
    .excludes(&["subject", "subject_loc"])
    .unsupported(),
    OptionSpec::new(
        "entrez_query",
        Kind::Text,
        RESTRICT,
        &["Restrict search with the given Entrez query"],
    )
    .label("entrez_query")
    .requires(&["remote"])
    .unsupported(),
    OptionSpec::new(
        "db_soft_mask",
        Kind::Text,
        RESTRICT,
        &["Filtering algorithm ID to apply to the BLAST database as soft masking"],
    )
    .label("filtering_algorithm")
    .excludes(&["db_hard_mask", "subject", "subject_loc"]),
    OptionSpec::new(
        "db_hard_mask",
        Kind::Text,
        RESTRICT,
        &["Filtering algorithm ID to apply to the BLAST database as hard masking"],
    )
    .label("filtering_algorithm")
    .excludes(&["db_soft_mask", "subject", "subject_loc"]),
    OptionSpec::new(
        "subject",
        Kind::InputFile,
        SUBJECT_SEQUENCES,
        &["Subject sequence(s) to search"],
    )
    .label("subject_input_file")
    .excludes(&[
        "db",
        "gilist",
        "seqidlist",
        "negative_gilist",
        "negative_seqidlist",
        "taxids",
        "taxidlist",
        "negative_taxids",
        "negative_taxidlist",
        "ipglist",
        "negative_ipglist",
        "db_soft_mask",
        "db_hard_mask",
    ]),
    OptionSpec::new(
        "subject_loc",
        Kind::Text,
        SUBJECT_SEQUENCES,
        &["Location on the subject sequence in 1-based offsets (Format: start-stop)"],
    )
    .label("range")
    .excludes(&[
        "db",
        "gilist",
        "seqidlist",
        "negative_gilist",
        "negative_seqidlist",
        "taxids",
        "taxidlist",
        "negative_taxids",
        "negative_taxidlist",
        "ipglist",
        "negative_ipglist",
        "db_soft_mask",
        "db_hard_mask",
        "remote",
    ]),
];
