//! The options of `segmasker`.

use super::RELEASE;
use super::blastdbcmd::COMPAT_HELP;
use super::compat::COMPAT;
use super::constraint::Constraint;
use super::masker::{
    IN, INFMT, OUT, OUTFMT, PARSE_SEQIDS, VERSION_FULL, VERSION_FULL_JSON, VERSION_FULL_XML, WINDOW,
};
use super::opt::Opt;
use super::spec::{self, Group, OptionSpec, Program};

/// The command `segmasker` with its table of options.
pub const SEGMASKER: Program = Program {
    name: "segmasker",
    release: Some(RELEASE),
    about: "Finds low complexity in proteins",
    description: &["Low complexity region masker based on the SEG algorithm"],
    details: &[],
    own_version: Some("1.0.0"),
    groups: &[FILES, SEG, Group::FLEETBLAST],
    options: &[OPTIONS],
    positional_option: None,
};

const FILES: Group = Group("Input/output options");
const SEG: Group = Group("SEG algorithm options");

const FORMATS: &[&str] = &[
    "fasta",
    "interval",
    "maskinfo_asn1_bin",
    "maskinfo_asn1_text",
    "maskinfo_xml",
    "seqloc_asn1_bin",
    "seqloc_asn1_text",
    "seqloc_xml",
];

/// The options, in the order of the usage text.
const OPTIONS: &[OptionSpec] = &[
    spec::H,
    spec::HELP,
    spec::XMLHELP,
    in_files(IN.spec),
    in_files(OUT.spec),
    in_files(INFMT.spec)
        .help(&["controls the format of the masker input"])
        .with_constraint(Constraint::Word(&["blastdb", "fasta"])),
    in_files(PARSE_SEQIDS.spec),
    in_files(OUTFMT.spec)
        .help(&["controls the format of the masker output"])
        .with_constraint(Constraint::Word(FORMATS)),
    OptionSpec { group: SEG, ..WINDOW.spec }
        .help(&["SEG window"])
        .label("integer_value")
        .default("12"),
    LOCUT.spec,
    HICUT.spec,
    VERSION_FULL,
    VERSION_FULL_XML,
    VERSION_FULL_JSON,
    COMPAT.help(COMPAT_HELP).spec,
];

const fn in_files(spec: OptionSpec) -> OptionSpec {
    OptionSpec { group: FILES, ..spec }
}

/// `-locut`.
pub const LOCUT: Opt<f64> =
    Opt::real("locut", SEG, &["SEG locut"]).label("float_value").default("2.2");

/// `-hicut`.
pub const HICUT: Opt<f64> =
    Opt::real("hicut", SEG, &["SEG hicut"]).label("float_value").default("2.5");
