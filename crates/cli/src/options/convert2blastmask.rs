//! The options of `convert2blastmask`.

use std::ffi::OsString;

use super::blastdbcmd::COMPAT_HELP;
use super::compat::COMPAT;
use super::constraint::Constraint;
use super::masker::{IN, OUT, PARSE_SEQIDS};
use super::opt::Opt;
use super::spec::{self, Group, OptionSpec, Program};
use super::{RELEASE, UNDESCRIBED_RELEASE};

/// The command `convert2blastmask` with its table of options.
pub const CONVERT2BLASTMASK: Program = Program {
    name: "convert2blastmask",
    release: Some(RELEASE),
    about: "Converts masks in FASTA to files for makeblastdb",
    description: &[
        "Convert masking information in lower-case masked FASTA input to file formats suitable for \
         makeblastdb",
    ],
    details: &[],
    own_version: Some(UNDESCRIBED_RELEASE),
    groups: &[Group::FLEETBLAST],
    options: &[OPTIONS],
    positional_option: None,
};

/// The options, in the order of the usage text.
const OPTIONS: &[OptionSpec] = &[
    spec::H,
    spec::HELP,
    IN.spec.help(&["Input file name"]),
    OUT.spec.help(&["Output file name"]),
    OUTFMT.spec,
    PARSE_SEQIDS.spec,
    MASKING_ALGORITHM.spec,
    MASKING_OPTIONS.spec,
    spec::VERSION,
    COMPAT.help(COMPAT_HELP).spec,
];

/// `-outfmt`.
pub const OUTFMT: Opt<OsString> = Opt::text("outfmt", Group::TOP, &["Output file format"])
    .label("output_format")
    .default("maskinfo_asn1_text")
    .with_constraint(Constraint::Word(&[
        "interval",
        "maskinfo_asn1_bin",
        "maskinfo_asn1_text",
        "maskinfo_xml",
    ]));

/// `-masking_algorithm`.
pub const MASKING_ALGORITHM: Opt<OsString> = Opt::text(
    "masking_algorithm",
    Group::TOP,
    &["Masking algorithm name (e.g.: dust, seg, windowmasker, repeat). Use 'other' for \
         user-defined type"],
)
.label("mask_program_name")
.mandatory();

/// `-masking_options`.
pub const MASKING_OPTIONS: Opt<OsString> = Opt::text(
    "masking_options",
    Group::TOP,
    &["Masking algorithm options to create the masked input (free text to describe/include \
         (command line) options used to create the masking)"],
)
.label("mask_program_options")
.mandatory();
