//! The options of `simulate`, which BLAST+ does not have.

use super::report::TRACE;
use super::spec::{self, Constraint, Group, Kind, OptionSpec, Program};

/// The program.
pub const SIMULATE: Program = Program {
    name: "simulate",
    blast: false,
    about: "Tells how a search would scale",
    description: &[
        "Tells how long a search on many ranks would take, with the real scheduler on",
        "a model of a machine; task times are those of a trace, or drawn at random",
    ],
    groups: &[JOB, MACHINE],
    options: &[OPTIONS, JOB_OPTIONS, MACHINE_OPTIONS],
    lone: None,
};

const JOB: Group = Group("The search");
const MACHINE: Group = Group("The machine");

/// In the order of the usage text.
const OPTIONS: &[OptionSpec] = &[
    spec::H,
    spec::HELP,
    TRACE,
    OptionSpec::new(
        "scaling",
        Kind::Flag,
        Group::TOP,
        &[
            "Print a table of 4,096, 32,768 and 131,072 ranks, by dynamic and static",
            "schedules, on both machines unless one is named; with -ranks, of that many",
            "only. Takes minutes a line",
        ],
    )
    .excludes(&["trace", "schedule", "groups", "replicas", "partitions", "failures"]),
    OptionSpec::new(
        "json",
        Kind::OutputFile,
        Group::TOP,
        &["File to write all figures to, as JSON"],
    )
    .label("output_file"),
    number("seed", Group::TOP, &["Determines all chance", "Default = 1"]),
];

const JOB_OPTIONS: &[OptionSpec] = &[
    number("ranks", JOB, &["Ranks", "Default = those of the trace; without one, 4096"]),
    number(
        "groups",
        JOB,
        &["Groups of ranks", "Default = as traced on as many ranks, else as for blastp"],
    ),
    number("replicas", JOB, &["How many times a group holds the database"]),
    number("partitions", JOB, &["Partitions of the database"]),
    number(
        "block_residues",
        JOB,
        &[
            "Residues of queries that are searched together, as for blastp",
            "Default = as for blastp; with a trace, those of it",
        ],
    ),
    number(
        "queries",
        JOB,
        &[
            "Queries; those of a trace are repeated",
            "Default = as traced; without one, 250000 (modern: 10000000)",
        ],
    ),
    OptionSpec::new("output", Kind::Text, JOB, &["How ranks write the report, as for blastp"])
        .label("strategy")
        .within(Constraint::OneOf(&["collective", "individual", "merge"])),
    OptionSpec::new("schedule", Kind::Text, JOB, &["How queries are shared out, as for blastp"])
        .label("schedule")
        .within(Constraint::OneOf(&["dynamic", "length", "weight"])),
];

const MACHINE_OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(
        "machine",
        Kind::Text,
        MACHINE,
        &[
            "A model to begin with:",
            "    bluegene: a Blue Gene/P, four ranks a node, with its network and GPFS",
            "    modern: two ranks of 64 threads a node, 100 Gbit links, 100 GB/s",
            "    local: one host for all ranks",
            "Default = with a trace, the one host that it was made on; else bluegene",
        ],
    )
    .label("model")
    .within(Constraint::OneOf(&["bluegene", "local", "modern"])),
    number(
        "cores",
        MACHINE,
        &[
            "Cores of each host, which its ranks share (see -ranks_per_host)",
            "Default = with a trace and no -machine, those of its host, on which all ranks",
            "are; else each rank has its own",
        ],
    ),
    number("ranks_per_host", MACHINE, &["Ranks on a host"]),
    real("latency", MACHINE, &["Microseconds that a message takes at least"]),
    size("bandwidth", MACHINE, &["Bytes a second of a host's link, e.g. 12G"]),
    size("fs_rate", MACHINE, &["Bytes a second that the file system takes"]),
    number("fs_clients", MACHINE, &["Clients that it serves at a time"]),
    real(
        "failures",
        MACHINE,
        &[
            "Mean seconds until something ends the job, which is then resumed from its",
            "checkpoint",
        ],
    ),
];

const fn number(name: &'static str, group: Group, help: &'static [&'static str]) -> OptionSpec {
    OptionSpec::new(name, Kind::Integer, group, help)
        .label("int_value")
        .within(Constraint::AtLeast(1))
}

const fn real(name: &'static str, group: Group, help: &'static [&'static str]) -> OptionSpec {
    OptionSpec::new(name, Kind::Real, group, help).label("float_value")
}

const fn size(name: &'static str, group: Group, help: &'static [&'static str]) -> OptionSpec {
    OptionSpec::new(name, Kind::Text, group, help).label("size")
}
