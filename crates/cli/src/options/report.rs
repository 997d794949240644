//! The options of `report`, which BLAST+ does not have.

use std::ffi::OsString;

use super::opt::Opt;
use super::parse::GivenOptions;
use super::spec::{self, Group, OptionSpec, Program};
use super::values::Values;

/// The command `report` with its table of options.
pub const REPORT: Program = Program {
    name: "report",
    release: None,
    about: "Draws how the ranks of a search spent their time",
    description: &[
        "Makes a page for the browser that shows how the ranks of a search spent their time: \
         fleetblast report TRACE.json",
    ],
    groups: &[],
    options: &[OPTIONS],
    details: &[],
    own_version: None,
    positional_option: Some(TRACE.name()),
};

/// The options, in the order of the usage text.
const OPTIONS: &[OptionSpec] = &[spec::H, spec::HELP, TRACE.mandatory().spec, OUT.spec];

/// `-trace`.
pub const TRACE: Opt<OsString> =
    Opt::input("trace", Group::TOP, &["File that a search wrote with -trace"]).label("input_file");

/// `-out`.
pub const OUT: Opt<OsString> =
    Opt::output("out", Group::TOP, &["The page", "Default = the name of the trace, with .html"])
        .label("output_file");

/// Values of the options of `report`.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportOptions {
    /// `-trace`.
    pub trace: OsString,
    /// `-out`.
    pub out: Option<OsString>,
}

impl ReportOptions {
    /// Reads the values of the options.
    pub fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&REPORT, given);
        Self { trace: values.get(&TRACE), out: values.optional(&OUT) }
    }
}
