//! `CFilteringArgs`: what of the queries is masked.

use std::ffi::OsString;

use super::FILTER;
use crate::options::opt::Opt;
use crate::options::spec::OptionSpec;
use crate::options::values::Values;

/// For queries of residues, in the order of the usage text, with that default of `-seg`.
pub const fn of_residues(seg: &'static str) -> [OptionSpec; 2] {
    [SEG.default(seg).spec, SOFT_MASKING.spec]
}

/// `-seg`; each program has its default.
pub const SEG: Opt<OsString> = Opt::text(
    "seg",
    FILTER,
    &[
        "Filter query sequence with SEG (Format: 'yes', 'window locut hicut', or",
        "'no' to disable)",
    ],
)
.label("SEG_options");

/// `-soft_masking`.
pub const SOFT_MASKING: Opt<bool> =
    Opt::boolean("soft_masking", FILTER, &["Apply filtering locations as soft masks"])
        .label("soft_masking")
        .default("false");

/// What was typed.
#[derive(Clone, Debug, PartialEq)]
pub struct FilteringOptions {
    /// `-seg`.
    pub seg: OsString,
    /// `-soft_masking`.
    pub soft_masking: bool,
}

impl FilteringOptions {
    /// Reads the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self { seg: values.get(&SEG), soft_masking: values.get(&SOFT_MASKING) }
    }
}
