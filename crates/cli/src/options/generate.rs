//! The options of `generate`, which BLAST+ does not have.

use super::spec::{self, Constraint, Group, Kind, OptionSpec, Program};

/// The program.
pub const GENERATE: Program = Program {
    name: "generate",
    blast: false,
    about: "Prints the manual, or completions for a shell",
    description: &[
        "Prints what is installed beside the program, made from its options:",
        "fleetblast generate bash",
    ],
    groups: &[],
    options: &[OPTIONS],
    lone: Some("what"),
};

/// In the order of the usage text.
const OPTIONS: &[OptionSpec] = &[
    spec::H,
    spec::HELP,
    OptionSpec::new(
        "what",
        Kind::Text,
        Group::TOP,
        &[
            "What to print:",
            "    bash, fish, zsh: completions for this shell",
            "    links: the names of BLAST+ by which the program can be called, by links",
            "    man: a page of the manual",
            "    pages: the commands that have a page of their own",
        ],
    )
    .label("what")
    .within(Constraint::OneOf(&["bash", "fish", "links", "man", "pages", "zsh"]))
    .mandatory(),
    OptionSpec::new(
        "command",
        Kind::Text,
        Group::TOP,
        &["Whose page of the manual to print", "Default = that of the whole program"],
    )
    .label("name"),
];
