//! A search whose report is made at another site, which BLAST+ does not have.

use std::ffi::OsString;

use fleetblast_metadata::{Encoding, EncodingChoice};

use crate::options::opt::{Choices, Opt};
use crate::options::spec::{Constraint, Group, OptionSpec, replaced};
use crate::options::values::Values;

/// In the order of the usage text.
pub const OPTIONS: &[OptionSpec] = &ALL;

/// The same with other specs of some.
pub const fn with<const N: usize>(others: [OptionSpec; N]) -> [OptionSpec; 8] {
    replaced(ALL, others)
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

/// Those by which there is no report here.
pub const INSTEAD: [&str; 2] = [METADATA_OUT.name(), SEND.name()];

/// The words of `-metadata`.
const KINDS: Choices<EncodingChoice, 4> = Choices::new([
    ("auto", EncodingChoice::Cheapest),
    ("hits", EncodingChoice::Only(Encoding::Hits)),
    ("oids", EncodingChoice::Only(Encoding::Oids)),
    ("report", EncodingChoice::Only(Encoding::Report)),
]);

/// What is told unless something else is wished.
pub const DEFAULT: EncodingChoice = EncodingChoice::Only(Encoding::Hits);

/// The `-metadata_limit` that holds unless something else is wished.
pub const DEFAULT_LIMIT: f64 = 0.5;

/// `-metadata_out`.
pub const METADATA_OUT: Opt<OsString> = Opt::output(
    "metadata_out",
    Group::FLEETBLAST,
    &[
        "Write no report, but to this file what another site that has the database needs",
        "to make it, in any format: 'fleetblast expand'",
    ],
)
.label("output_file")
.excludes(&["out", "send"]);

/// `-metadata`.
pub const METADATA: Opt<EncodingChoice> = Opt::one_of(
    "metadata",
    Group::FLEETBLAST,
    &[
        "What to write there, or to send:",
        "    hits: alignments; the other site looks their sequences up",
        "    oids: which sequences are found, a tenth of that; the other site searches",
        "    these again",
        "    report: the report, compressed, in the format of -outfmt; the other site",
        "    needs no database",
        "    auto: block by block what is cheapest, by the bytes of each, the link and what",
        "    the other site would take; the format is that of -outfmt",
        "psiblast has hits, and the report",
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
        "With -metadata auto: send the report where the others have more than this share of",
        "its bytes, 0 to 1",
        "Default = `0.5'",
    ],
)
.label("share")
.requires(&["metadata"]);

/// `-send`.
pub const SEND: Opt<OsString> = Opt::text(
    "send",
    Group::FLEETBLAST,
    &[
        "Write no report, but send what another site that has the database needs to make",
        "it there while the search goes on: to 'fleetblast receive', which listens at this",
        "address. After an end, typed again, it goes on with what arrived",
    ],
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
    &[
        "The other site's key, by the fingerprint that 'fleetblast keygen' told there; of",
        "several, separated by commas, one. Whoever has none of these is refused",
    ],
)
.label("fingerprint")
.requires(&["send"]);

/// `-link_timeout`.
pub const LINK_TIMEOUT: Opt<u32> = Opt::integer(
    "link_timeout",
    Group::FLEETBLAST,
    &[
        "Give up after so many seconds in which the other site confirms nothing, with or",
        "without a connection",
        "Default = `600'",
    ],
)
.label("seconds")
.requires(&["send"])
.within(Constraint::AtLeast(1));

/// `-io_ranks`.
pub const IO_RANKS: Opt<u32> = Opt::integer(
    "io_ranks",
    Group::FLEETBLAST,
    &[
        "Have the last so many ranks of the job (MPI, -ranks), at another site that has the",
        "database, make and write the report, of what -metadata tells of the search of the",
        "others: -query is a file there, -out a file here",
    ],
)
.label("int_value")
.within(Constraint::AtLeast(1))
.excludes(&["metadata_out", "send", "checkpoint", "resume"]);

/// What was typed.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataOptions {
    /// `-metadata_out`.
    pub out: Option<OsString>,
    /// `-metadata`.
    pub encodings: Option<EncodingChoice>,
    /// `-metadata_limit`.
    pub limit: Option<f64>,
    /// `-send`, and what it needs.
    pub send: Option<LinkOptions>,
    /// `-io_ranks`.
    pub io_ranks: Option<u32>,
}

/// A link, as it was typed.
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
    /// The option by which it is not the search that makes the report.
    pub fn asked_for(&self) -> Option<&'static str> {
        let out = self.out.is_some().then_some(METADATA_OUT.name());
        let send = self.send.is_some().then_some(SEND.name());
        out.or(send).or(self.io_ranks.is_some().then_some(IO_RANKS.name()))
    }

    /// Reads the options.
    pub fn read(values: &Values<'_>) -> Self {
        // They go with it only all together.
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
