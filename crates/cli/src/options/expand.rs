//! The options of `expand`, which BLAST+ does not have.

use std::ffi::OsString;

use super::dbcheck::NUM_THREADS;
use super::opt::Opt;
use super::parse::GivenOptions;
use super::search::formatting;
use super::search::outfmt::OUTFMT_OF_METADATA;
use super::search::{self};
use super::spec::{self, Group, OptionSpec, Program};
use super::values::Values;

/// The command `expand` with its table of options.
pub const EXPAND: Program = Program {
    name: "expand",
    release: None,
    about: "Makes the report of a search at another site",
    description: &[
        "Makes the report of a search that was written with -metadata_out, from the same database. \
         Format options that are not given here are those of the search",
    ],
    groups: search::GROUPS,
    options: &[OPTIONS, FORMAT],
    details: &[],
    own_version: None,
    positional_option: Some(METADATA.name()),
};

/// The options, in the order of the usage text.
const OPTIONS: &[OptionSpec] = &[
    spec::H,
    spec::HELP,
    METADATA.spec,
    DB.spec,
    SUBJECT.spec,
    QUERY.spec,
    OUT.spec,
    NUM_THREADS.spec,
    MEMORY.spec,
];

/// Format options of the report. They have no defaults here: `expand` uses the values of the search
/// instead.
pub(super) const FORMAT: &[OptionSpec] = &[
    OptionSpec { default: None, ..OUTFMT_OF_METADATA.spec }.help(&[
        "The format, as for the search",
        "Default = the one that was typed for the search",
    ]),
    formatting::SHOW_GIS.spec,
    formatting::NUM_DESCRIPTIONS.spec,
    formatting::NUM_ALIGNMENTS.spec,
    formatting::LINE_LENGTH.spec,
    formatting::HTML.spec,
    formatting::SORTHITS.spec,
    formatting::SORTHSPS.spec,
    formatting::MAX_TARGET_SEQS.spec,
];

/// `-metadata`.
pub const METADATA: Opt<OsString> = Opt::input(
    "metadata",
    Group::TOP,
    &["File that a search wrote with -metadata_out, or - for standard input"],
)
.label("input_file")
.mandatory();

/// `-db`.
pub const DB: Opt<OsString> = Opt::text(
    "db",
    Group::TOP,
    &["The searched database, under any name", "Not needed for metadata with reports"],
)
.label("database_name")
.excludes(&["subject"]);

/// `-subject`.
pub const SUBJECT: Opt<OsString> =
    Opt::input("subject", Group::TOP, &["The file that was searched with -subject"])
        .label("subject_input_file");

/// `-query`.
pub const QUERY: Opt<OsString> = Opt::text(
    "query",
    Group::TOP,
    &["Report only these queries: identifiers, separated by commas", "Default = all"],
)
.label("identifiers");

/// `-out`.
pub const OUT: Opt<OsString> =
    Opt::output("out", Group::TOP, &["The report"]).label("output_file").default("-");

/// `-memory`.
pub const MEMORY: Opt<OsString> = Opt::text(
    "memory",
    Group::TOP,
    &[
        "Most memory for the sequences of the database, and for one record of the metadata, e.g. \
         500M or 16G",
        "Default = 80 % of the memory available",
    ],
)
.label("size");

/// Values of the options of `expand`, without those of the format.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpandOptions {
    /// `-metadata`.
    pub metadata: OsString,
    /// `-db`.
    pub db: Option<OsString>,
    /// `-subject`.
    pub subject: Option<OsString>,
    /// `-query`.
    pub query: Option<OsString>,
    /// `-out`.
    pub out: OsString,
    /// `-num_threads`.
    pub num_threads: Option<usize>,
    /// `-memory`.
    pub memory: Option<OsString>,
}

impl ExpandOptions {
    /// Reads the values of the options.
    pub fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&EXPAND, given);
        Self::from_values(&values, values.get(&METADATA))
    }

    /// Reads the options of `expand` from the values of another program. The metadata are in the
    /// file `metadata`.
    pub fn from_values(values: &Values<'_>, metadata: OsString) -> Self {
        Self {
            metadata,
            db: values.optional(&DB),
            subject: values.optional(&SUBJECT),
            query: values.optional(&QUERY),
            out: values.get(&OUT),
            num_threads: values.optional(&NUM_THREADS),
            memory: values.optional(&MEMORY),
        }
    }
}

/// Returns whether an option belongs to the report's format.
pub fn is_of_format(name: &str) -> bool {
    FORMAT.iter().any(|option| option.name == name)
}
