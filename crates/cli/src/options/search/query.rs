//! `CQueryOptionsArgs`: how queries are read.

use std::ffi::OsString;

use super::{FILTER, MISC, QUERY};
use crate::options::opt::Opt;
use crate::options::spec::OptionSpec;
use crate::options::values::Values;

/// In the order of the usage text.
pub const OPTIONS: &[OptionSpec] = &[LCASE_MASKING.spec, QUERY_LOC.spec, PARSE_DEFLINES.spec];

/// `-lcase_masking`.
pub const LCASE_MASKING: Opt<bool> = Opt::flag(
    "lcase_masking",
    FILTER,
    &["Use lower case filtering in query and subject sequence(s)?"],
);

/// `-query_loc`.
pub const QUERY_LOC: Opt<OsString> = Opt::text(
    "query_loc",
    QUERY,
    &["Location on the query sequence in 1-based offsets (Format: start-stop)"],
)
.label("range");

/// `-parse_deflines`.
pub const PARSE_DEFLINES: Opt<bool> =
    Opt::flag("parse_deflines", MISC, &["Should the query and subject defline(s) be parsed?"]);

/// What was typed.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryOptions {
    /// `-lcase_masking`.
    pub lcase_masking: bool,
    /// `-query_loc`.
    pub query_loc: Option<OsString>,
    /// `-parse_deflines`.
    pub parse_deflines: bool,
}

impl QueryOptions {
    /// Reads the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self {
            lcase_masking: values.get(&LCASE_MASKING),
            query_loc: values.optional(&QUERY_LOC),
            parse_deflines: values.get(&PARSE_DEFLINES),
        }
    }
}
