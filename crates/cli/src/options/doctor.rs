//! The options of `doctor`, which BLAST+ does not have.

use super::dbcheck::{DB, DBTYPE};
use super::spec::{self, Constraint, Group, Kind, OptionSpec, Program};

/// The program.
pub const DOCTOR: Program = Program {
    name: "doctor",
    blast: false,
    about: "Tells what bounds a search of a database here",
    description: &[
        "Measures how fast a BLAST database comes into memory here, and tells",
        "what bounds a search of it",
    ],
    groups: &[],
    options: &[OPTIONS],
    lone: None,
};

/// In the order of the usage text.
const OPTIONS: &[OptionSpec] = &[
    spec::H,
    spec::HELP,
    DB,
    DBTYPE,
    OptionSpec::new(
        "sample",
        Kind::Text,
        Group::TOP,
        &["Most bytes of the database to measure with, e.g. 1G"],
    )
    .label("size")
    .default("256M"),
    OptionSpec::new(
        "loader",
        Kind::Text,
        Group::TOP,
        &["Only load the whole database this way, and tell how fast that was"],
    )
    .label("method")
    .within(spec::LOADERS),
    OptionSpec::new(
        "json",
        Kind::OutputFile,
        Group::TOP,
        &["File to write the measurements to, as JSON"],
    )
    .label("output_file"),
    OptionSpec::new(
        "seconds",
        Kind::Integer,
        Group::TOP,
        &["Most time for one measurement of a slow way to read"],
    )
    .label("int_value")
    .default("3")
    .within(Constraint::AtLeast(1)),
];
