//! The options of `report`, which BLAST+ does not have.

use super::spec::{self, Group, Kind, OptionSpec, Program};

/// The program.
pub const REPORT: Program = Program {
    name: "report",
    blast: false,
    about: "Draws what the ranks of a search did",
    description: &[
        "Draws what the ranks of a search did, and where their time went, as a page",
        "for the browser: fleetblast report TRACE.json",
    ],
    groups: &[],
    options: &[OPTIONS],
    lone: Some("trace"),
};

/// In the order of the usage text.
const OPTIONS: &[OptionSpec] = &[
    spec::H,
    spec::HELP,
    TRACE.mandatory(),
    OptionSpec::new(
        "out",
        Kind::OutputFile,
        Group::TOP,
        &["The page", "Default = the name of the trace, with .html"],
    )
    .label("output_file"),
];

/// `-trace`.
pub(super) const TRACE: OptionSpec = OptionSpec::new(
    "trace",
    Kind::InputFile,
    Group::TOP,
    &["File that a search wrote with -trace"],
)
.label("input_file");
