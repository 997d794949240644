//! `CQueryOptionsArgs`: how to read queries.

use std::ffi::OsString;

use fleetblast_engine::params::Strands;

use super::{FILTER, MISC, QUERY};
use crate::options::opt::{Opt, ValueWords};
use crate::options::spec::OptionSpec;
use crate::options::values::Values;

/// Options for proteins, in the order of the usage text.
pub const OF_PROTEINS: &[OptionSpec] = &[LCASE_MASKING.spec, QUERY_LOC.spec, PARSE_DEFLINES.spec];

/// Options for nucleotides, in the order of the usage text.
pub const OF_NUCLEOTIDES: &[OptionSpec] =
    &[LCASE_MASKING.spec, QUERY_LOC.spec, STRAND.spec, PARSE_DEFLINES.spec];

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

const STRANDS: ValueWords<Strands, 3> =
    ValueWords::new([("both", Strands::Both), ("minus", Strands::Minus), ("plus", Strands::Plus)]);

/// `-strand`.
pub const STRAND: Opt<Strands> =
    Opt::word("strand", QUERY, &["Query strand(s) to search against database/subject"], &STRANDS)
        .label("strand")
        .default("both");

/// `-parse_deflines`.
pub const PARSE_DEFLINES: Opt<bool> =
    Opt::flag("parse_deflines", MISC, &["Should the query and subject defline(s) be parsed?"]);

/// Values of the options for reading queries.
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
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self {
            lcase_masking: values.get(&LCASE_MASKING),
            query_loc: values.optional(&QUERY_LOC),
            parse_deflines: values.get(&PARSE_DEFLINES),
        }
    }
}
