//! `CDiscontiguousMegablastArgs`, `COffDiagonalRangeArg` and `CMbIndexArgs`: how to find seeds in
//! nucleotides.

use std::ffi::OsString;

use fleetblast_engine::params::TemplateKind;

use super::{DISCONTIGUOUS, EXTENSION, GENERAL};
use crate::options::constraint::Constraint;
use crate::options::opt::{Opt, ValueWords};
use crate::options::refused::Refused;
use crate::options::spec::OptionSpec;
use crate::options::values::Values;

/// The options, in the order of the usage text.
pub const OPTIONS: &[OptionSpec] =
    &[MIN_RAW_GAPPED_SCORE.spec, TEMPLATE_TYPE.spec, TEMPLATE_LENGTH.spec];

/// Options of an index, in the order of the usage text.
pub const OF_INDEX: &[OptionSpec] = &[USE_INDEX.spec, INDEX_NAME.spec];

/// `-min_raw_gapped_score`.
pub const MIN_RAW_GAPPED_SCORE: Opt<i32> = Opt::integer(
    "min_raw_gapped_score",
    EXTENSION,
    &["Minimum raw gapped score to keep an alignment in the preliminary gapped and traceback \
         stages"],
)
.label("int_value");

const TEMPLATES: ValueWords<TemplateKind, 3> = ValueWords::new([
    ("coding", TemplateKind::Coding),
    ("coding_and_optimal", TemplateKind::Both),
    ("optimal", TemplateKind::Optimal),
]);

/// `-template_type`.
pub const TEMPLATE_TYPE: Opt<TemplateKind> = Opt::word(
    "template_type",
    DISCONTIGUOUS,
    &["Discontiguous MegaBLAST template type"],
    &TEMPLATES,
)
.label("type")
.requires(&["template_length"]);

/// `-template_length`.
pub const TEMPLATE_LENGTH: Opt<u32> =
    Opt::integer("template_length", DISCONTIGUOUS, &["Discontiguous MegaBLAST template length"])
        .label("int_value")
        .with_constraint(Constraint::OneNumber(&[16, 18, 21]))
        .requires(&["template_type"]);

/// `-off_diagonal_range`.
pub const OFF_DIAGONAL_RANGE: Opt<i32> = Opt::integer(
    "off_diagonal_range",
    EXTENSION,
    &["Number of off-diagonals to search for the 2nd hit, use 0 to turn off"],
)
.label("int_value")
.default("0")
.with_constraint(Constraint::AtLeast(0));

/// `-use_index`.
pub const USE_INDEX: Opt<bool> =
    Opt::boolean("use_index", GENERAL, &["Use MegaBLAST database index"])
        .label("boolean")
        .default("false")
        .refused(Refused::ValuesWhen(&["true"], "with -task megablast and -db"));

/// `-index_name`; without effect unless an index is used.
pub const INDEX_NAME: Opt<OsString> = Opt::text(
    "index_name",
    GENERAL,
    &["MegaBLAST database index name (deprecated; use only for old style indices)"],
)
.label("string");

/// Values of the options for seeds of nucleotides.
#[derive(Clone, Debug, PartialEq)]
pub struct MegablastOptions {
    /// `-min_raw_gapped_score`.
    pub min_raw_gapped_score: Option<i32>,
    /// `-template_type`, which requires a length.
    pub template_type: Option<TemplateKind>,
    /// `-template_length`.
    pub template_length: Option<u32>,
    /// `-off_diagonal_range`.
    pub off_diagonal_range: i32,
    /// `-use_index`.
    pub use_index: bool,
    /// `-index_name`.
    pub index_name: Option<OsString>,
}

impl MegablastOptions {
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self {
            min_raw_gapped_score: values.optional(&MIN_RAW_GAPPED_SCORE),
            template_type: values.optional(&TEMPLATE_TYPE),
            template_length: values.optional(&TEMPLATE_LENGTH),
            off_diagonal_range: values.get(&OFF_DIAGONAL_RANGE),
            use_index: values.get(&USE_INDEX),
            index_name: values.optional(&INDEX_NAME),
        }
    }
}
