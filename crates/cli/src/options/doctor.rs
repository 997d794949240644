//! The options of `doctor`, which BLAST+ does not have.

use std::ffi::OsString;

use fleetblast_db::SequenceKind;
use fleetblast_db::load::LoadMethod;

use super::constraint::Constraint;
use super::dbcheck::{DB, DBTYPE, LOADERS};
use super::opt::Opt;
use super::parse::GivenOptions;
use super::spec::{self, Group, OptionSpec, Program};
use super::values::Values;

/// The command `doctor` with its table of options.
pub const DOCTOR: Program = Program {
    name: "doctor",
    release: None,
    about: "Shows what limits the speed of a search on this machine",
    description: &[
        "Measures how fast a BLAST database is loaded on this machine, and shows what limits the \
         speed of a search of it",
    ],
    groups: &[],
    options: &[OPTIONS],
    details: &[],
    own_version: None,
    positional_option: None,
};

/// The options, in the order of the usage text.
const OPTIONS: &[OptionSpec] =
    &[spec::H, spec::HELP, DB.spec, DBTYPE.spec, SAMPLE.spec, LOADER.spec, JSON.spec, SECONDS.spec];

/// `-sample`.
pub const SAMPLE: Opt<OsString> =
    Opt::text("sample", Group::TOP, &["Most bytes of the database to measure with, e.g. 1G"])
        .label("size")
        .default("256M");

/// `-loader`.
pub const LOADER: Opt<Option<LoadMethod>> = Opt::one_of(
    "loader",
    Group::TOP,
    &["Only load the whole database this way, and print the rate"],
    &LOADERS,
)
.label("method");

/// `-json`.
pub const JSON: Opt<OsString> =
    Opt::output("json", Group::TOP, &["File to write the measurements to, as JSON"])
        .label("output_file");

/// `-seconds`.
pub const SECONDS: Opt<u64> =
    Opt::integer("seconds", Group::TOP, &["Most time for one measurement of a slow way to read"])
        .label("int_value")
        .default("3")
        .with_constraint(Constraint::AtLeast(1));

/// Values of the options of `doctor`.
#[derive(Clone, Debug, PartialEq)]
pub struct DoctorOptions {
    /// `-db`.
    pub db: OsString,
    /// `-dbtype`; `None` to guess.
    pub kind: Option<SequenceKind>,
    /// `-sample`, a size with a unit.
    pub sample: OsString,
    /// `-loader`: load the database this way and do nothing else; `Some(None)` for `auto`.
    pub loader: Option<Option<LoadMethod>>,
    /// `-json`.
    pub json: Option<OsString>,
    /// `-seconds`, the longest time of a slow measurement.
    pub seconds: u64,
}

impl DoctorOptions {
    /// Reads the values of the options.
    pub fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&DOCTOR, given);
        Self {
            db: values.get(&DB),
            kind: values.get(&DBTYPE),
            sample: values.get(&SAMPLE),
            loader: values.optional(&LOADER),
            json: values.optional(&JSON),
            seconds: values.get(&SECONDS),
        }
    }
}
