//! `CFormattingArgs`: the format of the report, and the number of subjects that it shows.

use std::ffi::OsString;

use super::outfmt::OUTFMT;
use super::{FORMAT, RESTRICT};
use crate::options::constraint::Constraint;
use crate::options::opt::Opt;
use crate::options::spec::OptionSpec;
use crate::options::values::Values;

/// The options after `-outfmt`, in the order of the usage text.
pub const LAYOUT: &[OptionSpec] = &[
    SHOW_GIS.spec,
    NUM_DESCRIPTIONS.spec,
    NUM_ALIGNMENTS.spec,
    LINE_LENGTH.spec,
    HTML.spec,
    SORTHITS.spec,
    SORTHSPS.spec,
    MAX_TARGET_SEQS.spec,
];

/// `-show_gis`.
pub const SHOW_GIS: Opt<bool> = Opt::flag("show_gis", FORMAT, &["Show NCBI GIs in deflines?"]);

/// `-num_descriptions`.
pub const NUM_DESCRIPTIONS: Opt<usize> = Opt::integer(
    "num_descriptions",
    FORMAT,
    &[
        "Number of database sequences to show one-line descriptions for",
        "Not applicable for outfmt > 4",
        "Default = `500'",
    ],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(0))
.excludes(&["max_target_seqs"]);

/// `-num_alignments`.
pub const NUM_ALIGNMENTS: Opt<usize> = Opt::integer(
    "num_alignments",
    FORMAT,
    &["Number of database sequences to show alignments for", "Default = `250'"],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(0))
.excludes(&["max_target_seqs"]);

/// `-line_length`.
pub const LINE_LENGTH: Opt<usize> = Opt::integer(
    "line_length",
    FORMAT,
    &["Line length for formatting alignments", "Not applicable for outfmt > 4", "Default = `60'"],
)
.label("line_length")
.with_constraint(Constraint::AtLeast(1));

/// `-html`.
pub const HTML: Opt<bool> = Opt::flag("html", FORMAT, &["Produce HTML output?"]);

/// `-sorthits`.
pub const SORTHITS: Opt<usize> = Opt::integer(
    "sorthits",
    FORMAT,
    &[
        "Sorting option for hits:",
        "alignment view options:",
        "  0 = Sort by evalue,",
        "  1 = Sort by bit score,",
        "  2 = Sort by total score,",
        "  3 = Sort by percent identity,",
        "  4 = Sort by query coverage",
        "Not applicable for outfmt > 4",
        "",
    ],
)
.label("sort_hits")
.with_constraint(Constraint::UpTo(4));

/// `-sorthsps`.
pub const SORTHSPS: Opt<usize> = Opt::integer(
    "sorthsps",
    FORMAT,
    &[
        "Sorting option for hps:",
        "  0 = Sort by hsp evalue,",
        "  1 = Sort by hsp score,",
        "  2 = Sort by hsp query start,",
        "  3 = Sort by hsp percent identity,",
        "  4 = Sort by hsp subject start",
        "Not applicable for outfmt != 0",
        "",
    ],
)
.label("sort_hsps")
.with_constraint(Constraint::UpTo(4));

/// `-max_target_seqs`.
pub const MAX_TARGET_SEQS: Opt<usize> = Opt::integer(
    "max_target_seqs",
    RESTRICT,
    &[
        "Maximum number of aligned sequences to keep ",
        "(value of 5 or more is recommended)",
        "Default = `500'",
    ],
)
.label("num_sequences")
.with_constraint(Constraint::AtLeast(1))
.excludes(&["num_descriptions", "num_alignments"]);

/// Values of the options for the format of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct FormattingOptions {
    /// `-outfmt`.
    pub outfmt: OsString,
    /// `-show_gis`.
    pub show_gis: bool,
    /// `-num_descriptions`.
    pub num_descriptions: Option<usize>,
    /// `-num_alignments`.
    pub num_alignments: Option<usize>,
    /// `-line_length`.
    pub line_length: Option<usize>,
    /// `-html`.
    pub html: bool,
    /// `-sorthits`.
    pub sort_hits: Option<usize>,
    /// `-sorthsps`.
    pub sort_hsps: Option<usize>,
    /// `-max_target_seqs`.
    pub max_target_seqs: Option<usize>,
}

impl FormattingOptions {
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self {
            outfmt: values.get(&OUTFMT),
            show_gis: values.get(&SHOW_GIS),
            num_descriptions: values.optional(&NUM_DESCRIPTIONS),
            num_alignments: values.optional(&NUM_ALIGNMENTS),
            line_length: values.optional(&LINE_LENGTH),
            html: values.get(&HTML),
            sort_hits: values.optional(&SORTHITS),
            sort_hsps: values.optional(&SORTHSPS),
            max_target_seqs: values.optional(&MAX_TARGET_SEQS),
        }
    }
}
