//! A search whose report is made at another site, which BLAST+ does not have.

use std::ffi::OsString;

use fleetblast_metadata::Kind;

use crate::options::opt::{Choices, Opt};
use crate::options::spec::{Group, OptionSpec};
use crate::options::values::Values;

/// In the order of the usage text.
pub const OPTIONS: &[OptionSpec] = &[METADATA_OUT.spec, METADATA.spec];

/// The words of `-metadata`.
const KINDS: Choices<Kind, 3> =
    Choices::new([("hits", Kind::Hits), ("oids", Kind::Oids), ("report", Kind::Report)]);

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
.excludes(&["out", "ranks", "plan", "checkpoint"]);

/// `-metadata`.
pub const METADATA: Opt<Kind> = Opt::one_of(
    "metadata",
    Group::FLEETBLAST,
    &[
        "What to write there:",
        "    hits: alignments; the other site looks their sequences up",
        "    oids: which sequences are found, a tenth of that; the other site searches",
        "    these again",
        "    report: the report, compressed, in the format of -outfmt; the other site",
        "    needs no database",
        "Default = `hits'",
    ],
    &KINDS,
)
.label("kind")
.requires(&["metadata_out"]);

/// What was typed.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataOptions {
    /// `-metadata_out`.
    pub out: Option<OsString>,
    /// `-metadata`.
    pub kind: Kind,
}

impl MetadataOptions {
    /// Reads the options.
    pub fn read(values: &Values<'_>) -> Self {
        let kind = values.optional(&METADATA).unwrap_or(Kind::Hits);
        Self { out: values.optional(&METADATA_OUT), kind }
    }
}
