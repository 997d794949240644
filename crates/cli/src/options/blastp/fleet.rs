//! Options for a search by many ranks. They never change what is reported.

use super::super::spec::{Constraint, Group, Kind, OptionSpec};

/// In the order of the usage text.
pub const FLEET: &[OptionSpec] = &[
    OptionSpec::new(
        "ranks",
        Kind::Integer,
        Group::FLEETBLAST,
        &[
            "Search as so many ranks would, each with its own threads (-num_threads), but",
            "all in this process",
        ],
    )
    .label("int_value")
    .within(Constraint::AtLeast(1)),
    OptionSpec::new(
        "plan",
        Kind::Flag,
        Group::FLEETBLAST,
        &[
            "Do not search: print how the search would be laid out over the ranks, what",
            "each needs of memory, and whether that fits; with -memory for ranks elsewhere",
        ],
    ),
    OptionSpec::new(
        "groups",
        Kind::Integer,
        Group::FLEETBLAST,
        &[
            "Number of groups of ranks; each searches other queries",
            "Default = by the number of ranks",
        ],
    )
    .label("int_value")
    .within(Constraint::AtLeast(1)),
    OptionSpec::new(
        "replicas",
        Kind::Integer,
        Group::FLEETBLAST,
        &[
            "How many times a group of ranks holds the database",
            "Default = as often as memory allows",
        ],
    )
    .label("int_value")
    .within(Constraint::AtLeast(1)),
    OptionSpec::new(
        "output",
        Kind::Text,
        Group::FLEETBLAST,
        &[
            "How ranks write the report:",
            "    merge: the one with most of it collects the rest",
            "    individual: each writes its own pieces",
            "    collective: those of a group write together",
        ],
    )
    .label("strategy")
    .default("merge")
    .within(Constraint::OneOf(&["collective", "individual", "merge"])),
    OptionSpec::new(
        "schedule",
        Kind::Text,
        Group::FLEETBLAST,
        &[
            "How queries are shared out among groups of ranks:",
            "    dynamic: whenever a group runs short",
            "    length: once, in shares of equal residues",
            "    weight: once, in shares of equal residues + 225 x sequences",
        ],
    )
    .label("schedule")
    .default("dynamic")
    .within(Constraint::OneOf(&["dynamic", "length", "weight"])),
    OptionSpec::new(
        "block_residues",
        Kind::Integer,
        Group::FLEETBLAST,
        &[
            "Residues of queries that are searched together, at least; whole batches of",
            "BLAST+'s, whatever is said here",
            "Default = 50000; fewer where many ranks would not have enough to do",
        ],
    )
    .label("int_value")
    .within(Constraint::AtLeast(1)),
    OptionSpec::new(
        "segment_size",
        Kind::Integer,
        Group::FLEETBLAST,
        &["Residues of queries that a group of ranks gets at a time, at most"],
    )
    .label("int_value")
    .within(Constraint::AtLeast(1)),
    OptionSpec::new(
        "write_buffer",
        Kind::Text,
        Group::FLEETBLAST,
        &["Most bytes that a rank writes or sends at once, e.g. 4MiB", "Default = `4MiB'"],
    )
    .label("size"),
    OptionSpec::new(
        "result_memory",
        Kind::Text,
        Group::FLEETBLAST,
        &[
            "Most memory of a rank for parts of the report that wait to be written;",
            "what is more goes to a file beside the report",
            "Default = `256MiB'",
        ],
    )
    .label("size"),
    OptionSpec::new(
        "checkpoint",
        Kind::Text,
        Group::FLEETBLAST,
        &[
            "Directory in which to keep what is finished until the report is complete, so",
            "that a search that was ended, by whatever, can be resumed. It is made, and",
            "removed at the end. All ranks must see it. SIGTERM and SIGUSR1 have the search",
            "end in order, with exit code 75",
        ],
    )
    .label("directory"),
    OptionSpec::new(
        "resume",
        Kind::Flag,
        Group::FLEETBLAST,
        &[
            "Go on with what the directory of -checkpoint keeps, or begin if it keeps",
            "nothing yet; any number of ranks and threads will do",
        ],
    )
    .requires(&["checkpoint"]),
    OptionSpec::new(
        "trace",
        Kind::OutputFile,
        Group::FLEETBLAST,
        &[
            "File to write to what every rank did when, for 'fleetblast report', 'fleetblast",
            "simulate' and ui.perfetto.dev. All ranks must see its directory",
        ],
    )
    .label("output_file"),
];
