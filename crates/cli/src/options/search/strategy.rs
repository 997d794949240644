//! `CSearchStrategyArgs`: saved search strategies.

use std::ffi::OsString;

use super::STRATEGY;
use crate::options::opt::Opt;
use crate::options::spec::OptionSpec;

/// The options, in the order of the usage text.
pub const OPTIONS: &[OptionSpec] = &[IMPORT_SEARCH_STRATEGY.spec, EXPORT_SEARCH_STRATEGY.spec];

/// `-import_search_strategy`.
pub const IMPORT_SEARCH_STRATEGY: Opt<OsString> =
    Opt::input("import_search_strategy", STRATEGY, &["Search strategy to use"])
        .label("filename")
        .excludes(&["export_search_strategy"]);

/// `-export_search_strategy`.
pub const EXPORT_SEARCH_STRATEGY: Opt<OsString> = Opt::output(
    "export_search_strategy",
    STRATEGY,
    &["File name to record the search strategy used"],
)
.label("filename")
.excludes(&["import_search_strategy"]);
