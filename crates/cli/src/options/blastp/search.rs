//! Options on queries and the search itself.

use super::{EXTENSION, FILTER, GENERAL, MISC, QUERY, RESTRICT, STATISTICS};
use crate::options::spec::{Constraint, Kind, OptionSpec};

/// In the order of the usage text.
pub(super) const SEARCH: &[OptionSpec] = &[
    OptionSpec::new("query", Kind::InputFile, QUERY, &["Input file name"])
        .label("input_file")
        .default("-"),
    OptionSpec::new("out", Kind::OutputFile, GENERAL, &["Output file name"])
        .label("output_file")
        .default("-"),
    OptionSpec::new(
        "evalue",
        Kind::Real,
        GENERAL,
        &["Expectation value (E) threshold for saving hits "],
    )
    .label("evalue")
    .default("10"),
    OptionSpec::new("word_size", Kind::Integer, GENERAL, &["Word size for wordfinder algorithm"])
        .label("int_value")
        .within(Constraint::AtLeast(2)),
    OptionSpec::new("gapopen", Kind::Integer, GENERAL, &["Cost to open a gap"])
        .label("open_penalty"),
    OptionSpec::new("gapextend", Kind::Integer, GENERAL, &["Cost to extend a gap"])
        .label("extend_penalty"),
    OptionSpec::new("qcov_hsp_perc", Kind::Real, RESTRICT, &["Percent query coverage per hsp"])
        .label("float_value")
        .within(Constraint::Percent),
    OptionSpec::new(
        "max_hsps",
        Kind::Integer,
        RESTRICT,
        &["Set maximum number of HSPs per subject sequence to save for each query"],
    )
    .label("int_value")
    .within(Constraint::AtLeast(1)),
    OptionSpec::new(
        "xdrop_ungap",
        Kind::Real,
        EXTENSION,
        &["X-dropoff value (in bits) for ungapped extensions"],
    )
    .label("float_value"),
    OptionSpec::new(
        "xdrop_gap",
        Kind::Real,
        EXTENSION,
        &["X-dropoff value (in bits) for preliminary gapped extensions"],
    )
    .label("float_value"),
    OptionSpec::new(
        "xdrop_gap_final",
        Kind::Real,
        EXTENSION,
        &["X-dropoff value (in bits) for final gapped alignment"],
    )
    .label("float_value"),
    OptionSpec::new("searchsp", Kind::Long, STATISTICS, &["Effective length of the search space"])
        .label("int_value")
        .within(Constraint::AtLeast(0)),
    OptionSpec::new(
        "seg",
        Kind::Text,
        FILTER,
        &[
            "Filter query sequence with SEG (Format: 'yes', 'window locut hicut', or",
            "'no' to disable)",
        ],
    )
    .label("SEG_options")
    .default("no"),
    OptionSpec::new(
        "soft_masking",
        Kind::Boolean,
        FILTER,
        &["Apply filtering locations as soft masks"],
    )
    .label("soft_masking")
    .default("false"),
    OptionSpec::new("matrix", Kind::Text, GENERAL, &["Scoring matrix name (normally BLOSUM62)"])
        .label("matrix_name"),
    OptionSpec::new(
        "threshold",
        Kind::Real,
        GENERAL,
        &["Minimum word score such that the word is added to the BLAST lookup table"],
    )
    .label("float_value")
    .within(Constraint::AtLeast(0)),
    OptionSpec::new(
        "culling_limit",
        Kind::Integer,
        RESTRICT,
        &[
            "If the query range of a hit is enveloped by that of at least this many",
            "higher-scoring hits, delete the hit",
        ],
    )
    .label("int_value")
    .within(Constraint::AtLeast(0))
    .excludes(&["best_hit_overhang", "best_hit_score_edge"]),
    OptionSpec::new(
        "best_hit_overhang",
        Kind::Real,
        RESTRICT,
        &["Best Hit algorithm overhang value (recommended value: 0.1)"],
    )
    .label("float_value")
    .within(Constraint::BelowHalf)
    .excludes(&["culling_limit"]),
    OptionSpec::new(
        "best_hit_score_edge",
        Kind::Real,
        RESTRICT,
        &["Best Hit algorithm score edge value (recommended value: 0.1)"],
    )
    .label("float_value")
    .within(Constraint::BelowHalf)
    .excludes(&["culling_limit"]),
    OptionSpec::new(
        "subject_besthit",
        Kind::Flag,
        RESTRICT,
        &["Turn on best hit per subject sequence"],
    ),
    OptionSpec::new(
        "window_size",
        Kind::Integer,
        EXTENSION,
        &["Multiple hits window size, use 0 to specify 1-hit algorithm"],
    )
    .label("int_value")
    .within(Constraint::AtLeast(0)),
    OptionSpec::new(
        "lcase_masking",
        Kind::Flag,
        FILTER,
        &["Use lower case filtering in query and subject sequence(s)?"],
    ),
    OptionSpec::new(
        "query_loc",
        Kind::Text,
        QUERY,
        &["Location on the query sequence in 1-based offsets (Format: start-stop)"],
    )
    .label("range"),
    OptionSpec::new(
        "parse_deflines",
        Kind::Flag,
        MISC,
        &["Should the query and subject defline(s) be parsed?"],
    ),
];
