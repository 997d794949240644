//! The options of `receive`, which BLAST+ does not have.

use std::ffi::OsString;

use super::dbcheck::NUM_THREADS;
use super::expand::{self, DB, ExpandOptions, MEMORY, QUERY, SUBJECT};
use super::opt::Opt;
use super::parse::GivenOptions;
use super::search::metadata::{self as link, LinkOptions};
use super::search::{self};
use super::spec::{self, Group, OptionSpec, Program};
use super::values::Values;

/// The command `receive` with its table of options.
pub const RECEIVE: Program = Program {
    name: "receive",
    release: None,
    about: "Makes the report of a search that runs at another site",
    description: &[
        "Listens for a search with -send at another site, and makes its report from the same \
         database. Format options that are not given here are those of the search. Run again after \
         an interruption, it resumes with the data received before",
    ],
    groups: search::GROUPS,
    options: &[OPTIONS, expand::FORMAT],
    details: &[],
    own_version: None,
    positional_option: None,
};

/// The options, in the order of the usage text.
const OPTIONS: &[OptionSpec] = &[
    spec::H,
    spec::HELP,
    LISTEN.spec,
    KEY.spec,
    PEER.spec,
    LINK_TIMEOUT.spec,
    METADATA.spec,
    DB.spec,
    SUBJECT.spec,
    QUERY.spec,
    OUT.spec,
    NUM_THREADS.spec,
    MEMORY.spec,
];

/// `-listen`.
pub const LISTEN: Opt<OsString> = Opt::text(
    "listen",
    Group::TOP,
    &["The address and port of this host to listen on; port 0 for any free one"],
)
.label("addr:port")
.mandatory();

/// `-key`.
pub const KEY: Opt<OsString> =
    Opt::input("key", Group::TOP, link::KEY.spec.help).label("input_file").mandatory();

/// `-peer`.
pub const PEER: Opt<OsString> =
    Opt::text("peer", Group::TOP, link::PEER.spec.help).label("fingerprint").mandatory();

/// `-link_timeout`.
pub const LINK_TIMEOUT: Opt<u32> = Opt::integer(
    "link_timeout",
    Group::TOP,
    &["Give up after this many seconds without a connection to the other site", "Default = never"],
)
.label("seconds")
.with_constraint(link::LINK_TIMEOUT.spec.constraint);

/// `-metadata`.
pub const METADATA: Opt<OsString> = Opt::output(
    "metadata",
    Group::TOP,
    &[
        "Save the received metadata in this file, and keep it after the report is made",
        "Default = the name of the report and `.fbm', removed when the report is made",
    ],
)
.label("file");

/// `-out`.
pub const OUT: Opt<OsString> = expand::OUT;

/// Values of the options of `receive`, without those of the format.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiveOptions {
    /// Address to listen on, keys and timeout.
    pub link: LinkOptions,
    /// `-metadata`.
    pub metadata: Option<OsString>,
    /// Options for making the report from the metadata.
    pub expand: ExpandOptions,
}

impl ReceiveOptions {
    /// Reads the values of the options.
    pub fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&RECEIVE, given);
        let metadata = values.optional(&METADATA);
        Self {
            link: LinkOptions {
                address: values.get(&LISTEN),
                key: values.get(&KEY),
                peer: values.get(&PEER),
                timeout: values.optional(&LINK_TIMEOUT),
            },
            expand: ExpandOptions::from_values(&values, metadata.clone().unwrap_or_default()),
            metadata,
        }
    }
}
