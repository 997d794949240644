//! The options of `dbcheck`, which BLAST+ does not have.

use super::spec::{self, Constraint, Group, Kind, OptionSpec, Program};

/// The program.
pub const DBCHECK: Program = Program {
    name: "dbcheck",
    blast: false,
    about: "Checks whether a database is sound",
    description: &[
        "Checks every record of a BLAST database, and the files beside it;",
        "the exit code is 0 only if all is sound",
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
        "num_threads",
        Kind::Integer,
        Group::TOP,
        &["Number of threads to use", "Default = all cores this process may use"],
    )
    .label("int_value")
    .within(Constraint::AtLeast(1)),
    OptionSpec::new(
        "loader",
        Kind::Text,
        Group::TOP,
        &["How to bring the database into memory, as for searches"],
    )
    .label("method")
    .default("auto")
    .within(spec::LOADERS),
    OptionSpec::new(
        "memory",
        Kind::Text,
        Group::TOP,
        &[
            "Most memory to use for the database, e.g. 500M or 16G",
            "Default = 80 % of the memory available",
        ],
    )
    .label("size"),
];

/// `-db`.
pub(super) const DB: OptionSpec =
    OptionSpec::new("db", Kind::Text, Group::TOP, &["BLAST database name"])
        .label("database_name")
        .mandatory();

/// `-dbtype`.
pub(super) const DBTYPE: OptionSpec = OptionSpec::new(
    "dbtype",
    Kind::Text,
    Group::TOP,
    &["Molecule type of the database; guess: protein if there is such a database"],
)
.label("molecule_type")
.default("guess")
.within(Constraint::OneOf(&["guess", "nucl", "prot"]));
