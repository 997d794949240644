//! The options of `cat`, which BLAST+ does not have.

use std::ffi::OsString;

use super::opt::Opt;
use super::parse::GivenOptions;
use super::spec::{self, Group, OptionSpec, Program};
use super::values::Values;

/// The command `cat` with its table of options.
pub const CAT: Program = Program {
    name: "cat",
    release: None,
    about: "Joins the records of a report to one file",
    description: &[
        "Joins the files that a search wrote with -output records to the bytes of one report, in \
         the order of the queries, or of one query: fleetblast cat DIR",
    ],
    groups: &[],
    options: &[OPTIONS],
    details: &[],
    own_version: None,
    positional_option: Some(RECORDS.name()),
};

/// The options, in the order of the usage text.
const OPTIONS: &[OptionSpec] =
    &[spec::H, spec::HELP, RECORDS.mandatory().spec, QUERY.spec, PARTIAL.spec, OUT.spec];

/// `-records`.
pub const RECORDS: Opt<OsString> =
    Opt::text("records", Group::TOP, &["Directory that a search wrote with -output records"])
        .label("directory");

/// `-query`.
pub const QUERY: Opt<OsString> = Opt::text(
    "query",
    Group::TOP,
    &["Write only the report of this query, without reading the rest; if several queries have \
         this name, all of them, in their order"],
)
.label("name");

/// `-partial`.
pub const PARTIAL: Opt<bool> = Opt::flag(
    "partial",
    Group::TOP,
    &["Write the complete blocks of queries even if others are missing or damaged; standard \
         error lists the missing ones"],
)
.excludes(&["query"]);

/// `-out`.
pub const OUT: Opt<OsString> =
    Opt::output("out", Group::TOP, &["The report"]).label("output_file").default("-");

/// Values of the options of `cat`.
#[derive(Clone, Debug, PartialEq)]
pub struct CatOptions {
    /// `-records`.
    pub records: OsString,
    /// `-query`.
    pub query: Option<OsString>,
    /// `-partial`.
    pub partial: bool,
    /// `-out`.
    pub out: OsString,
}

impl CatOptions {
    /// Reads the values of the options.
    pub fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&CAT, given);
        Self {
            records: values.get(&RECORDS),
            query: values.optional(&QUERY),
            partial: values.get(&PARTIAL),
            out: values.get(&OUT),
        }
    }
}
