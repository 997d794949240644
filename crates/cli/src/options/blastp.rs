//! The table of all options of `blastp`: the single source for the parser, `-h` and `-help`.
//!
//! Names, types, defaults, constraints, texts and their order are those of BLAST+ 2.12.0 (`blast_args.cpp`);
//! the parts are cut where the usage text of BLAST+ moves to another subject. what BLAST+ does not know comes last.

mod fleet;
mod output;
mod run;
mod search;
mod subjects;

use super::spec::{Constraint, Group, Kind, OptionSpec, Program};

/// The program.
pub const BLASTP: Program = Program {
    name: "blastp",
    blast: true,
    about: "Protein-Protein BLAST",
    description: &["Protein-Protein BLAST 2.12.0+"],
    groups: &[
        QUERY,
        GENERAL,
        SUBJECT_SEQUENCES,
        FORMAT,
        FILTER,
        RESTRICT,
        STATISTICS,
        STRATEGY,
        EXTENSION,
        MISC,
        Group::FLEETBLAST,
    ],
    options: &[
        subjects::SUBJECTS,
        search::SEARCH,
        output::OUTPUT,
        run::RUN,
        FLEETBLAST,
        fleet::FLEET,
    ],
    lone: None,
};

const QUERY: Group = Group("Input query options");
const GENERAL: Group = Group("General search options");
const SUBJECT_SEQUENCES: Group = Group("BLAST-2-Sequences options");
const FORMAT: Group = Group("Formatting options");
const FILTER: Group = Group("Query filtering options");
const RESTRICT: Group = Group("Restrict search or results");
const STATISTICS: Group = Group("Statistical options");
const STRATEGY: Group = Group("Search strategy options");
const EXTENSION: Group = Group("Extension options");
const MISC: Group = Group("Miscellaneous options");

/// Options of FleetBLAST itself. They never change what is reported.
const FLEETBLAST: &[OptionSpec] = &[
    OptionSpec::new(
        "timing",
        Kind::OutputFile,
        Group::FLEETBLAST,
        &["File to write to, as JSON, where the time went"],
    )
    .label("output_file"),
    OptionSpec::new(
        "partitions",
        Kind::Integer,
        Group::FLEETBLAST,
        &[
            "Number of ranges of subjects to search on their own before their hits are",
            "merged",
            "Default = by the size of the database and the number of threads",
        ],
    )
    .label("int_value")
    .within(Constraint::AtLeast(1)),
    OptionSpec::new(
        "loader",
        Kind::Text,
        Group::FLEETBLAST,
        &[
            "How to bring the database into memory:",
            "    auto: by its size, the memory available and the file system",
            "    map: mapped, after large reads into the page cache",
            "    read: into memory of this process, on 2 MB pages where there are any",
            "    direct: the same, without the page cache",
            "    broadcast: read once by all MPI processes together, which tell each other,",
            "    into memory that those of a host share",
        ],
    )
    .label("method")
    .default("auto")
    .within(Constraint::OneOf(&["auto", "broadcast", "direct", "map", "read"]))
    .excludes(&["subject"]),
    OptionSpec::new(
        "memory",
        Kind::Text,
        Group::FLEETBLAST,
        &[
            "Most memory to use for the sequences of the database, e.g. 500M or 16G;",
            "a larger database is read part by part while it is searched",
            "Default = 80 % of the memory available",
        ],
    )
    .label("size")
    .excludes(&["subject"]),
    OptionSpec::new(
        "progress",
        Kind::Text,
        Group::FLEETBLAST,
        &[
            "Show on standard error how far the search is:",
            "    auto: if that is a terminal, and standard output is no pipe, such as to",
            "    a pager, which draws on the same terminal",
            "    no: never",
            "    yes: always; where there is no terminal, a line now and then",
        ],
    )
    .label("when")
    .default("auto")
    .within(Constraint::OneOf(&["auto", "no", "yes"])),
];
