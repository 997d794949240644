//! Options for a report made at another site, which BLAST+ does not have.

use std::ffi::OsString;

use fleetblast_metadata::{Encoding, EncodingChoice};

use crate::options::constraint::Constraint;
use crate::options::opt::{Opt, ValueWords};
use crate::options::spec::{Group, OptionSpec, replace_options};
use crate::options::values::Values;

/// The options, in the order of the usage text.
pub const OPTIONS: &[OptionSpec] = &ALL;

/// Returns [`OPTIONS`], where each spec in `others` replaces the one of the same name.
pub const fn with<const N: usize>(others: [OptionSpec; N]) -> [OptionSpec; 8] {
    replace_options(ALL, others)
}

const ALL: [OptionSpec; 8] = [
    METADATA_OUT.spec,
    METADATA.spec,
    METADATA_LIMIT.spec,
    SEND.spec,
    KEY.spec,
    PEER.spec,
    LINK_TIMEOUT.spec,
    IO_RANKS.spec,
];

/// Options with which the search writes no report.
pub const REPORT_REPLACING_OPTIONS: [&str; 2] = [METADATA_OUT.name(), SEND.name()];

/// The words of `-metadata`.
const KINDS: ValueWords<EncodingChoice, 4> = ValueWords::new([
    ("auto", EncodingChoice::Cheapest),
    ("hits", EncodingChoice::Only(Encoding::Hits)),
    ("oids", EncodingChoice::Only(Encoding::Oids)),
    ("report", EncodingChoice::Only(Encoding::Report)),
]);

/// The default encoding of metadata.
pub const DEFAULT: EncodingChoice = EncodingChoice::Only(Encoding::Hits);

/// The default of `-metadata_limit`.
pub const DEFAULT_LIMIT: f64 = 0.5;

/// `-metadata_out`.
pub const METADATA_OUT: Opt<OsString> = Opt::output(
    "metadata_out",
    Group::FLEETBLAST,
    &["Write the metadata of the search to this file instead of the report; another site with \
         the database makes the report, in any format: 'fleetblast expand'"],
)
.label("output_file")
.excludes(&["out", "send"]);

/// `-metadata`.
pub const METADATA: Opt<EncodingChoice> = Opt::one_of(
    "metadata",
    Group::FLEETBLAST,
    &[
        "Encoding of the metadata:",
        "    hits: alignments; the other site reads their sequences from its",
        "    database",
        "    oids: numbers of the subjects, a tenth of the bytes; the other site",
        "    searches these subjects again",
        "    report: the report, compressed, in the format of -outfmt; the other",
        "    site needs no database",
        "    auto: for each block the cheapest, by its bytes, the rate of the link",
        "    and the time at the other site; the format is that of -outfmt",
        "psiblast supports hits and report",
        "Default = `hits'",
    ],
    &KINDS,
)
.label("kind");

/// `-metadata_limit`.
pub const METADATA_LIMIT: Opt<f64> = Opt::real(
    "metadata_limit",
    Group::FLEETBLAST,
    &[
        "With -metadata auto: send the report if the other encodings have more than this share of \
         its bytes, 0 to 1",
        "Default = `0.5'",
    ],
)
.label("share")
.requires(&["metadata"]);

/// `-send`.
pub const SEND: Opt<OsString> = Opt::text(
    "send",
    Group::FLEETBLAST,
    &["Send the metadata of the search instead of writing the report, while the search runs, to \
         'fleetblast receive', which listens at this address at a site with the database. Run \
         again after an interruption, it sends only the missing blocks"],
)
.label("host:port")
.excludes(&["out", "metadata_out"])
.requires(&["key", "peer"]);

/// `-key`.
pub const KEY: Opt<OsString> =
    Opt::input("key", Group::FLEETBLAST, &["The key of this site, made by 'fleetblast keygen'"])
        .label("input_file")
        .requires(&["send"]);

/// `-peer`.
pub const PEER: Opt<OsString> = Opt::text(
    "peer",
    Group::FLEETBLAST,
    &["Fingerprint of the other site's key, which 'fleetblast keygen' prints there; or several, \
         separated by commas. Peers with other keys are refused"],
)
.label("fingerprint")
.requires(&["send"]);

/// `-link_timeout`.
pub const LINK_TIMEOUT: Opt<u32> = Opt::integer(
    "link_timeout",
    Group::FLEETBLAST,
    &[
        "Give up after this many seconds without a confirmation from the other site, with or \
         without a connection",
        "Default = `600'",
    ],
)
.label("seconds")
.requires(&["send"])
.with_constraint(Constraint::AtLeast(1));

/// `-io_ranks`.
pub const IO_RANKS: Opt<u32> = Opt::integer(
    "io_ranks",
    Group::FLEETBLAST,
    &["The last ranks of the job (MPI, -ranks), this many, make and write the report at another \
         site with the database, from the metadata of the other ranks. -query is a file at the \
         search site, -out a file at the other one"],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(1))
.excludes(&["metadata_out", "send", "checkpoint", "resume"]);

/// Values of the options for a report made at another site.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataOptions {
    /// `-metadata_out`.
    pub out: Option<OsString>,
    /// `-metadata`.
    pub encodings: Option<EncodingChoice>,
    /// `-metadata_limit`.
    pub limit: Option<f64>,
    /// `-send`, and the options that it requires.
    pub send: Option<LinkOptions>,
    /// `-io_ranks`.
    pub io_ranks: Option<u32>,
}

/// Values of the options for a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkOptions {
    /// `-send` or `-listen`.
    pub address: OsString,
    /// `-key`.
    pub key: OsString,
    /// `-peer`.
    pub peer: OsString,
    /// `-link_timeout`.
    pub timeout: Option<u32>,
}

impl MetadataOptions {
    /// Returns the option that leaves the report to another process, if one is given.
    pub fn metadata_destination_option(&self) -> Option<&'static str> {
        let out = self.out.is_some().then_some(METADATA_OUT.name());
        let send = self.send.is_some().then_some(SEND.name());
        out.or(send).or(self.io_ranks.is_some().then_some(IO_RANKS.name()))
    }

    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        // These options are given together or not at all.
        let needed = values.optional(&KEY).zip(values.optional(&PEER));
        let send = values.optional(&SEND).zip(needed).map(|(address, (key, peer))| LinkOptions {
            address,
            key,
            peer,
            timeout: values.optional(&LINK_TIMEOUT),
        });
        Self {
            out: values.optional(&METADATA_OUT),
            encodings: values.optional(&METADATA),
            limit: values.optional(&METADATA_LIMIT),
            send,
            io_ranks: values.optional(&IO_RANKS),
        }
    }
}
