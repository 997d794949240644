//! `CCompositionBasedStatsArgs`: composition-based statistics.

use std::ffi::OsString;

use super::{GENERAL, MISC};
use crate::options::opt::Opt;
use crate::options::spec::OptionSpec;
use crate::options::values::Values;

/// The options, in the order of the usage text.
pub const OPTIONS: &[OptionSpec] = &[COMP_BASED_STATS.spec, USE_SW_TBACK.spec];

/// `-comp_based_stats`.
pub const COMP_BASED_STATS: Opt<OsString> = Opt::text(
    "comp_based_stats",
    GENERAL,
    &[
        "Use composition-based statistics:",
        "    D or d: default (equivalent to 2 )",
        "    0 or F or f: No composition-based statistics",
        "    1: Composition-based statistics as in NAR 29:2994-3005, 2001",
        "    2 or T or t : Composition-based score adjustment as in Bioinformatics 21:902-911,",
        "    2005, conditioned on sequence properties",
        "    3: Composition-based score adjustment as in Bioinformatics 21:902-911,",
        "    2005, unconditionally",
        "",
    ],
)
.label("compo")
.default("2");

/// `-use_sw_tback`.
pub const USE_SW_TBACK: Opt<bool> =
    Opt::flag("use_sw_tback", MISC, &["Compute locally optimal Smith-Waterman alignments?"]);

/// Values of the options for composition-based statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct CompositionOptions {
    /// `-comp_based_stats`.
    pub comp_based_stats: OsString,
    /// `-use_sw_tback`.
    pub use_sw_tback: bool,
}

impl CompositionOptions {
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self {
            comp_based_stats: values.get(&COMP_BASED_STATS),
            use_sw_tback: values.get(&USE_SW_TBACK),
        }
    }
}
