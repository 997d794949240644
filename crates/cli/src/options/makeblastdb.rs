//! The options of `makeblastdb`.

use super::spec::{self, Constraint, Group, Kind, OptionSpec, Program};

/// The program.
pub const MAKEBLASTDB: Program = Program {
    name: "makeblastdb",
    blast: true,
    about: "Makes databases of FASTA files",
    description: &["Application to create BLAST databases, version 2.12.0+"],
    groups: &[INPUT, CONFIGURATION, MASKING, OUTPUT, TAXONOMY, Group::FLEETBLAST],
    options: &[OPTIONS],
    lone: None,
};

const INPUT: Group = Group("Input options");
const CONFIGURATION: Group = Group("Configuration options");
const MASKING: Group = Group("Sequence masking options");
const OUTPUT: Group = Group("Output options");
const TAXONOMY: Group = Group("Taxonomy options");

/// In the order of the usage text.
const OPTIONS: &[OptionSpec] = &[
    spec::H,
    spec::HELP,
    OptionSpec::new("in", Kind::InputFile, INPUT, &["Input file/database name"])
        .label("input_file")
        .default("-"),
    OptionSpec::new("input_type", Kind::Text, INPUT, &["Type of the data specified in input_file"])
        .label("type")
        .default("fasta")
        .within(Constraint::Word(&["asn1_bin", "asn1_txt", "blastdb", "fasta"])),
    OptionSpec::new("dbtype", Kind::Text, Group::TOP, &["Molecule type of target db"])
        .label("molecule_type")
        .within(Constraint::Word(&["nucl", "prot"]))
        .mandatory(),
    OptionSpec::new(
        "title",
        Kind::Text,
        CONFIGURATION,
        &["Title for BLAST database", "Default = input file name provided to -in argument"],
    )
    .label("database_title"),
    OptionSpec::new(
        "parse_seqids",
        Kind::Flag,
        CONFIGURATION,
        &[
            "Option to parse seqid for FASTA input if set, for all other input types",
            "seqids are parsed automatically",
        ],
    ),
    OptionSpec::new(
        "hash_index",
        Kind::Flag,
        CONFIGURATION,
        &["Create index of sequence hash values."],
    ),
    OptionSpec::new(
        "mask_data",
        Kind::Text,
        MASKING,
        &[
            "Comma-separated list of input files containing masking data as produced by",
            "NCBI masking applications (e.g. dustmasker, segmasker, windowmasker)",
        ],
    )
    .label("mask_data_files"),
    OptionSpec::new(
        "mask_id",
        Kind::Text,
        MASKING,
        &["Comma-separated list of strings to uniquely identify the masking algorithm"],
    )
    .label("mask_algo_ids")
    .requires(&["mask_data"])
    .excludes(&["gi_mask"]),
    OptionSpec::new(
        "mask_desc",
        Kind::Text,
        MASKING,
        &["Comma-separated list of free form strings to describe the masking algorithm", "details"],
    )
    .label("mask_algo_descriptions")
    .requires(&["mask_id"]),
    OptionSpec::new("gi_mask", Kind::Flag, MASKING, &["Create GI indexed masking data."])
        .requires(&["parse_seqids"])
        .excludes(&["mask_id"])
        .unsupported(),
    OptionSpec::new(
        "gi_mask_name",
        Kind::Text,
        MASKING,
        &["Comma-separated list of masking data output files."],
    )
    .label("gi_based_mask_names")
    .requires(&["mask_data", "gi_mask"])
    .unsupported(),
    OptionSpec::new(
        "out",
        Kind::Text,
        OUTPUT,
        &[
            "Name of BLAST database to be created",
            "Default = input file name provided to -in argumentRequired if multiple",
            "file(s)/database(s) are provided as input",
        ],
    )
    .label("database_name"),
    OptionSpec::new(
        "blastdb_version",
        Kind::Integer,
        OUTPUT,
        &["Version of BLAST database to be created"],
    )
    .label("version")
    .default("5")
    .within(Constraint::Between(4, 5)),
    OptionSpec::new(
        "max_file_sz",
        Kind::Text,
        OUTPUT,
        &["Maximum file size for BLAST database files"],
    )
    .label("number_of_bytes")
    .default("1GB"),
    OptionSpec::new(
        "logfile",
        Kind::OutputFile,
        OUTPUT,
        &["File to which the program log should be redirected"],
    )
    .label("File_Name"),
    OptionSpec::new("taxid", Kind::Integer, TAXONOMY, &["Taxonomy ID to assign to all sequences"])
        .label("TaxID")
        .within(Constraint::AtLeast(0))
        .excludes(&["taxid_map"]),
    OptionSpec::new(
        "taxid_map",
        Kind::InputFile,
        TAXONOMY,
        &[
            "Text file mapping sequence IDs to taxonomy IDs.",
            "Format:<SequenceId> <TaxonomyId><newline>",
        ],
    )
    .label("TaxIDMapFile")
    .requires(&["parse_seqids"])
    .excludes(&["taxid"]),
    spec::VERSION,
    OptionSpec::new(
        "num_threads",
        Kind::Integer,
        Group::FLEETBLAST,
        &["Number of threads that encode sequences (all cores by default)"],
    )
    .label("int_value")
    .within(Constraint::AtLeast(1)),
];
