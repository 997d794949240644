//! The table of all options of `blastp`: the single source for the parser, `-h` and `-help`.
//!
//! Names, types, defaults, constraints, texts and their order are those of BLAST+ 2.12.0 (`blast_args.cpp`);
//! the parts are cut where the usage text of BLAST+ moves to another subject. what BLAST+ does not know comes last.

mod output;
mod run;
mod search;
mod subjects;

use super::spec::{Constraint, Group, Kind, OptionSpec};

/// Options of FleetBLAST itself. They never change what is reported.
const FLEETBLAST: &[OptionSpec] = &[
    OptionSpec::new(
        "timing",
        Kind::OutputFile,
        Group::FleetBlast,
        &["File to write to, as JSON, where the time went"],
    )
    .label("output_file"),
    OptionSpec::new(
        "partitions",
        Kind::Integer,
        Group::FleetBlast,
        &[
            "Number of ranges of subjects to search on their own before their hits are",
            "merged",
            "Default = by the size of the database and the number of threads",
        ],
    )
    .label("int_value")
    .within(Constraint::AtLeast(1)),
    OptionSpec::new(
        "progress",
        Kind::Text,
        Group::FleetBlast,
        &[
            "Show on standard error how far the search is: auto (if standard error is",
            "a terminal), yes, or no",
        ],
    )
    .label("when")
    .default("auto")
    .within(Constraint::OneOf(&["auto", "no", "yes"])),
];

/// All options, BLAST+'s first, in the order of its usage text.
pub fn all() -> impl Iterator<Item = &'static OptionSpec> {
    [subjects::SUBJECTS, search::SEARCH, output::OUTPUT, run::RUN, FLEETBLAST].into_iter().flatten()
}

/// The option of that name (without the dash).
pub fn find(name: &str) -> Option<&'static OptionSpec> {
    all().find(|option| option.name == name)
}
