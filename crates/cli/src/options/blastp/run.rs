//! Options on how the search is run.

use super::{EXTENSION, GENERAL, MISC};
use crate::options::spec::{self, Constraint, Kind, OptionSpec};

/// In the order of the usage text.
pub(super) const RUN: &[OptionSpec] = &[
    OptionSpec::new(
        "num_threads",
        Kind::Integer,
        MISC,
        &[
            "Number of threads (CPUs) to use in the BLAST search",
            "Default = all cores this process may use",
        ],
    )
    .label("int_value")
    .within(Constraint::AtLeast(1))
    .excludes(&["remote"]),
    OptionSpec::new(
        "mt_mode",
        Kind::Integer,
        MISC,
        &[
            "Multi-thread mode to use in BLAST search:",
            " 0 (auto) split by database ",
            " 1 split by queries",
        ],
    )
    .label("int_value")
    .default("0")
    .within(Constraint::UpTo(1))
    .requires(&["num_threads"]),
    OptionSpec::new("ungapped", Kind::Flag, EXTENSION, &["Perform ungapped alignment only?"]),
    OptionSpec::new("remote", Kind::Flag, MISC, &["Execute search remotely?"])
        .excludes(&[
            "gilist",
            "seqidlist",
            "taxids",
            "taxidlist",
            "negative_gilist",
            "negative_seqidlist",
            "negative_taxids",
            "negative_taxidlist",
            "subject_loc",
            "num_threads",
        ])
        .unsupported(),
    OptionSpec::new(
        "comp_based_stats",
        Kind::Text,
        GENERAL,
        &[
            "Use composition-based statistics:",
            "    D or d: default (equivalent to 2 )",
            "    0 or F or f: No composition-based statistics",
            "    1: Composition-based statistics as in NAR 29:2994-3005, 2001",
            "    2 or T or t : Composition-based score adjustment as in Bioinformatics",
            "21:902-911,",
            "    2005, conditioned on sequence properties",
            "    3: Composition-based score adjustment as in Bioinformatics 21:902-911,",
            "    2005, unconditionally",
        ],
    )
    .label("compo")
    .default("2"),
    OptionSpec::new(
        "use_sw_tback",
        Kind::Flag,
        MISC,
        &["Compute locally optimal Smith-Waterman alignments?"],
    ),
    spec::VERSION,
];
