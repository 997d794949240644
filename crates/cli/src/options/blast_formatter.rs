//! The options of `blast_formatter`.

use std::ffi::OsString;

use fleetblast_stats::release::Release;

use super::RELEASE;
use super::compat::COMPAT;
use super::opt::Opt;
use super::parse::GivenOptions;
use super::search::formatting::{self, FormattingOptions};
use super::search::query::PARSE_DEFLINES;
use super::search::{FORMAT, MISC, RESTRICT, outfmt};
use super::spec::{self, Group, Program};
use super::values::Values;

/// The command `blast_formatter` with its table of options.
pub const BLAST_FORMATTER: Program = Program {
    name: "blast_formatter",
    release: Some(RELEASE),
    about: "Makes reports of archives (-outfmt 11)",
    description: &["Stand-alone BLAST formatter client, version"],
    groups: &[INPUT, FORMAT, RESTRICT, OUTPUT, MISC, Group::FLEETBLAST],
    options: &[
        &[spec::H, spec::HELP, RID.spec, ARCHIVE.spec],
        &[outfmt::OUTFMT_WITH_SAM.spec],
        formatting::LAYOUT,
        &[OUT.spec, PARSE_DEFLINES.spec, spec::VERSION],
        &[COMPAT.help(COMPAT_HELP).spec],
    ],
    details: &[],
    own_version: None,
    positional_option: None,
};

const COMPAT_HELP: &[&str] = &[
    "Release of BLAST+ whose reports the program makes",
    "Default = the environment variable FLEETBLAST_COMPAT, or auto",
];

const INPUT: Group = Group("Input options");
const OUTPUT: Group = Group("Output configuration options");

/// `-rid`.
pub const RID: Opt<OsString> = Opt::text("rid", INPUT, &["BLAST Request ID (RID)"])
    .label("BLAST_RID")
    .excludes(&["archive"])
    .unsupported();

/// `-archive`.
pub const ARCHIVE: Opt<OsString> = Opt::input(
    "archive",
    INPUT,
    &["File containing BLAST Archive format in ASN.1 (i.e.: output format 11)"],
)
.label("ArchiveFile")
.excludes(&["rid"]);

/// `-out`.
pub const OUT: Opt<OsString> =
    Opt::output("out", OUTPUT, &["Output file name"]).label("output_file").default("-");

/// Values of the options of `blast_formatter`.
#[derive(Clone, Debug, PartialEq)]
pub struct FormatterOptions {
    /// `-archive`.
    pub archive: Option<OsString>,
    /// The release whose reports the program makes.
    pub release: &'static Release,
    /// The options for the format of the report.
    pub formatting: FormattingOptions,
    /// `-out`.
    pub out: OsString,
    /// `-parse_deflines`.
    pub parse_deflines: bool,
    /// The option that FleetBLAST does not support, if one is given.
    pub unsupported: Option<fleetblast_job::error::Error>,
}

impl FormatterOptions {
    /// Reads the values of the options.
    pub fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&BLAST_FORMATTER, given);
        Self {
            archive: values.optional(&ARCHIVE),
            release: values.release(),
            formatting: FormattingOptions::read(&values),
            out: values.get(&OUT),
            parse_deflines: values.get(&PARSE_DEFLINES),
            unsupported: values.unsupported(),
        }
    }
}
