//! The options of `dustmasker`.

use fleetblast_stats::release::Release;

use super::RELEASE;
use super::blastdbcmd::COMPAT_HELP;
use super::compat::COMPAT;
use super::constraint::Constraint;
use super::later::Change;
use super::masker::{
    IN, INFMT, OUT, OUTFMT, PARSE_SEQIDS, VERSION_FULL, VERSION_FULL_JSON, VERSION_FULL_XML, WINDOW,
};
use super::opt::Opt;
use super::spec::{self, Group, OptionSpec, Program};

/// The command `dustmasker` with its table of options.
pub const DUSTMASKER: Program = Program {
    name: "dustmasker",
    release: Some(RELEASE),
    about: "Finds low complexity in nucleotides",
    description: &["Low complexity region masker based on Symmetric DUST algorithm"],
    details: &[],
    own_version: Some("1.0.0"),
    groups: &[Group::FLEETBLAST],
    options: &[OPTIONS],
    positional_option: None,
};

const FORMATS: &[&str] = &[
    "acclist",
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
    IN.spec,
    OUT.spec,
    WINDOW.spec.help(&["DUST window length"]).label("window_size").default("64"),
    LEVEL.spec,
    LINKER.spec,
    INFMT.spec.help(&["input format (possible values: fasta, blastdb)"]),
    OUTFMT.spec.help(&["output format"]).with_constraint(Constraint::Word(FORMATS)),
    PARSE_SEQIDS.spec,
    HARD_MASKING.spec,
    VERSION_FULL,
    VERSION_FULL_XML,
    VERSION_FULL_JSON,
    COMPAT.help(COMPAT_HELP).spec,
];

/// `-level`.
pub const LEVEL: Opt<i32> =
    Opt::integer("level", Group::TOP, &["DUST level (score threshold for subwindows)"])
        .label("level")
        .default("20");

/// `-linker`.
pub const LINKER: Opt<i32> = Opt::integer(
    "linker",
    Group::TOP,
    &["DUST linker (how close masked intervals should be to get merged together)."],
)
.label("linker")
.default("1");

/// `-hard_masking`.
pub const HARD_MASKING: Opt<bool> =
    Opt::flag("hard_masking", Group::TOP, &["Use hard masking for fasta outfmt"])
        .later(&[Change::Added.since(&Release::V2_16_0)]);
