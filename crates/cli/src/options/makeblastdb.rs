//! The options of `makeblastdb`.

use std::ffi::OsString;

use fleetblast_makedb::DatabaseKind;
use fleetblast_stats::release::Release;

use super::RELEASE;
use super::blastdbcmd::COMPAT_HELP;
use super::compat::COMPAT;
use super::constraint::Constraint;
use super::later::{Change, Later};
use super::opt::{Opt, ValueWords};
use super::refused::Refused;
use super::search::threads::DEFAULT;
use super::spec::{self, Group, OptionSpec, Program};

/// The command `makeblastdb` with its table of options.
pub const MAKEBLASTDB: Program = Program {
    name: "makeblastdb",
    release: Some(RELEASE),
    about: "Makes databases of FASTA files or of other databases",
    description: &["Application to create BLAST databases, version"],
    groups: &[INPUT, CONFIGURATION, MASKING, OUTPUT, TAXONOMY, Group::FLEETBLAST],
    options: &[OPTIONS],
    details: &[],
    own_version: None,
    positional_option: None,
};

const INPUT: Group = Group("Input options");
const CONFIGURATION: Group = Group("Configuration options");
const MASKING: Group = Group("Sequence masking options");
const OUTPUT: Group = Group("Output options");
const TAXONOMY: Group = Group("Taxonomy options");

/// The options, in the order of the usage text.
const OPTIONS: &[OptionSpec] = &[
    spec::H,
    spec::HELP,
    HELP_FULL.spec,
    IN.spec,
    INPUT_TYPE.spec,
    DBTYPE.spec,
    TITLE.spec,
    PARSE_SEQIDS.spec,
    HASH_INDEX.spec,
    RANDOMIZE.spec,
    MASK_DATA.spec,
    MASK_ID.spec,
    MASK_DESC.spec,
    GI_MASK.spec,
    GI_MASK_NAME.spec,
    OUT.spec,
    BLASTDB_VERSION.spec,
    MAX_FILE_SZ.spec,
    METADATA_OUTPUT_PREFIX.spec,
    LOGFILE.spec,
    TAXID.spec,
    TAXID_MAP.spec,
    OID_MASKS.spec,
    spec::VERSION,
    NUM_THREADS.spec,
    COMPAT.help(COMPAT_HELP).spec,
];

/// The first release with metadata of databases and larger files.
const LATER: &Release = &Release::V2_16_0;

const SINCE_METADATA: &[Later] = &[Change::Added.since(LATER)];

const KINDS: ValueWords<DatabaseKind, 2> =
    ValueWords::new([("nucl", DatabaseKind::Nucleotide), ("prot", DatabaseKind::Protein)]);

/// `-help-full`, which other programs do not show in their help.
pub const HELP_FULL: Opt<bool> = Opt::flag(
    "help-full",
    Group::TOP,
    &["Print USAGE, DESCRIPTION and ARGUMENTS, including hidden ones; ignore all other \
         parameters"],
)
.later(&[Change::Added.since(&Release::V2_17_0)]);

/// `-in`.
pub const IN: Opt<OsString> =
    Opt::input("in", INPUT, &["Input file/database name"]).label("input_file").default("-");

/// `-input_type`.
pub const INPUT_TYPE: Opt<OsString> =
    Opt::text("input_type", INPUT, &["Type of the data specified in input_file"])
        .label("type")
        .default("fasta")
        .with_constraint(Constraint::Word(&["asn1_bin", "asn1_txt", "blastdb", "fasta"]))
        .refused(Refused::Values(&["asn1_bin", "asn1_txt"]));

/// `-dbtype`.
pub const DBTYPE: Opt<DatabaseKind> =
    Opt::word("dbtype", Group::TOP, &["Molecule type of target db"], &KINDS)
        .label("molecule_type")
        .mandatory();

/// `-title`.
pub const TITLE: Opt<OsString> = Opt::text(
    "title",
    CONFIGURATION,
    &["Title for BLAST database", "Default = input file name provided to -in argument"],
)
.label("database_title");

/// `-parse_seqids`.
pub const PARSE_SEQIDS: Opt<bool> = Opt::flag(
    "parse_seqids",
    CONFIGURATION,
    &["Option to parse seqid for FASTA input if set, for all other input types seqids are parsed \
         automatically"],
);

/// `-hash_index`.
pub const HASH_INDEX: Opt<bool> =
    Opt::flag("hash_index", CONFIGURATION, &["Create index of sequence hash values."]);

/// `-randomize`.
pub const RANDOMIZE: Opt<bool> =
    Opt::flag("randomize", CONFIGURATION, &["Randomize input db seqs"])
        .later(&[Change::Added.since(&Release::V2_17_0)])
        .xml_flags(&["hidden"])
        .hidden()
        .unsupported();

/// `-mask_data`.
pub const MASK_DATA: Opt<OsString> = Opt::text(
    "mask_data",
    MASKING,
    &["Comma-separated list of input files containing masking data as produced by NCBI masking \
         applications (e.g. dustmasker, segmasker, windowmasker)"],
)
.label("mask_data_files");

/// `-mask_id`.
pub const MASK_ID: Opt<OsString> = Opt::text(
    "mask_id",
    MASKING,
    &["Comma-separated list of strings to uniquely identify the masking algorithm"],
)
.label("mask_algo_ids")
.requires(&["mask_data"])
.excludes(&["gi_mask"]);

/// `-mask_desc`.
pub const MASK_DESC: Opt<OsString> = Opt::text(
    "mask_desc",
    MASKING,
    &["Comma-separated list of free form strings to describe the masking algorithm details"],
)
.label("mask_algo_descriptions")
.requires(&["mask_id"]);

/// `-gi_mask`.
pub const GI_MASK: Opt<bool> = Opt::flag("gi_mask", MASKING, &["Create GI indexed masking data."])
    .requires(&["parse_seqids"])
    .excludes(&["mask_id"])
    .unsupported();

/// `-gi_mask_name`.
pub const GI_MASK_NAME: Opt<OsString> =
    Opt::text("gi_mask_name", MASKING, &["Comma-separated list of masking data output files."])
        .label("gi_based_mask_names")
        .requires(&["mask_data", "gi_mask"])
        .unsupported();

/// `-out`.
pub const OUT: Opt<OsString> = Opt::text(
    "out",
    OUTPUT,
    &[
        "Name of BLAST database to be created",
        "Default = input file name provided to -in argumentRequired if multiple \
         file(s)/database(s) are provided as input",
    ],
)
.label("database_name");

/// `-blastdb_version`.
pub const BLASTDB_VERSION: Opt<i32> =
    Opt::integer("blastdb_version", OUTPUT, &["Version of BLAST database to be created"])
        .label("version")
        .default("5")
        .with_constraint(Constraint::Between(4, 5));

/// `-max_file_sz`.
pub const MAX_FILE_SZ: Opt<OsString> =
    Opt::text("max_file_sz", OUTPUT, &["Maximum file size for BLAST database files"])
        .label("number_of_bytes")
        .default(RELEASE.default_max_file_size)
        .later(LARGER_FILES);

const LARGER_FILES: &[Later] = &[Change::Default(Some(LATER.default_max_file_size)).since(LATER)];

/// `-metadata_output_prefix`.
pub const METADATA_OUTPUT_PREFIX: Opt<OsString> = Opt::text(
    "metadata_output_prefix",
    OUTPUT,
    &["Path prefix for location of database files in metadata"],
)
.later(SINCE_METADATA);

/// `-logfile`.
pub const LOGFILE: Opt<OsString> =
    Opt::output("logfile", OUTPUT, &["File to which the program log should be redirected"])
        .xml_flags(&["append"])
        .label("File_Name");

/// `-taxid`.
pub const TAXID: Opt<i32> =
    Opt::integer("taxid", TAXONOMY, &["Taxonomy ID to assign to all sequences"])
        .label("TaxID")
        .with_constraint(Constraint::AtLeast(0))
        .excludes(&["taxid_map"]);

/// `-taxid_map`.
pub const TAXID_MAP: Opt<OsString> = Opt::input(
    "taxid_map",
    TAXONOMY,
    &[
        "Text file mapping sequence IDs to taxonomy IDs.",
        "Format:<SequenceId> <TaxonomyId><newline>",
    ],
)
.label("TaxIDMapFile")
.requires(&["parse_seqids"])
.excludes(&["taxid"]);

/// `-oid_masks`.
pub const OID_MASKS: Opt<i32> = Opt::integer("oid_masks", TAXONOMY, &["0x01 Exclude Model"])
    .label("oid_masks")
    .later(SINCE_METADATA)
    .unsupported();

/// `-num_threads`.
pub const NUM_THREADS: Opt<usize> = Opt::integer(
    "num_threads",
    Group::FLEETBLAST,
    &["Number of threads that encode sequences", DEFAULT],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(1));
