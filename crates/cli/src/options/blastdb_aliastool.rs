//! The options of `blastdb_aliastool`.

use std::ffi::OsString;

use fleetblast_db::SequenceKind;
use fleetblast_stats::release::Release;

use super::RELEASE;
use super::blastdbcmd::COMPAT_HELP;
use super::compat::COMPAT;
use super::constraint::Constraint;
use super::later::{Change, Later};
use super::opt::{Opt, ValueWords};
use super::spec::{self, Group, OptionSpec, Program};

/// The command `blastdb_aliastool` with its table of options.
pub const BLASTDB_ALIASTOOL: Program = Program {
    name: "blastdb_aliastool",
    release: Some(RELEASE),
    about: "Makes aliases of databases, and binary lists of sequences",
    description: &["Application to create BLAST database aliases, version"],
    details: DETAILS,
    groups: &[GI_FILE, ALIAS, SEQID_FILE, Group::FLEETBLAST],
    options: &[OPTIONS],
    own_version: None,
    positional_option: None,
};

const DETAILS: &[&str] = &[
    "",
    "This application has three modes of operation:",
    "",
    "1) GI file conversion:",
    "   Converts a text file containing GIs (one per line) to a more efficient",
    "   binary format. This can be provided as an argument to the -gilist option",
    "   of the BLAST search command line binaries or to the -gilist option of",
    "   this program to create an alias file for a BLAST database (see below).",
    "",
    "2) Alias file creation (restricting with GI List or Sequence ID List):",
    "   Creates an alias for a BLAST database and a GI or ID list which",
    "   restricts this database. This is useful if one often searches a subset",
    "   of a database (e.g., based on organism or a curated list). The alias",
    "   file makes the search appear as if one were searching a regular BLAST",
    "   database rather than the subset of one.",
    "",
    "3) Alias file creation (aggregating BLAST databases):",
    "   Creates an alias for multiple BLAST databases. All databases must be of",
    "   the same molecule type (no validation is done). The relevant options are",
    "   -dblist and -num_volumes.",
    "",
];

const GI_FILE: Group = Group("GI file conversion options");
const ALIAS: Group = Group("Alias file creation options");
const SEQID_FILE: Group = Group("Seqd ID file conversion options");

/// The options, in the order of the usage text.
const OPTIONS: &[OptionSpec] = &[
    spec::H,
    spec::HELP,
    GI_FILE_IN.spec,
    GI_FILE_OUT.spec,
    DB.spec,
    DBTYPE.spec,
    TITLE.spec,
    GILIST.spec,
    SEQIDLIST.spec,
    TAXIDLIST.spec,
    OID_MASKS.spec,
    OUT.spec,
    DBLIST.spec,
    DBLIST_FILE.spec,
    VDBLIST.spec,
    VDBLIST_FILE.spec,
    NUM_VOLUMES.spec,
    SEQID_FILE_IN.spec,
    SEQID_TITLE.spec,
    SEQID_FILE_OUT.spec,
    SEQID_DB.spec,
    SEQID_DBTYPE.spec,
    SEQID_FILE_INFO.spec,
    LOGFILE.spec,
    spec::VERSION,
    COMPAT.help(COMPAT_HELP).spec,
];

const SINCE_OID_MASKS: &[Later] = &[Change::Added.since(&Release::V2_16_0)];

const KINDS: ValueWords<SequenceKind, 2> =
    ValueWords::new([("nucl", SequenceKind::Nucleotide), ("prot", SequenceKind::Protein)]);

/// Options that convert or describe lists. Options that make aliases exclude them.
const LIST_FILES: &[&str] =
    &["gi_file_in", "gi_file_out", "seqid_file_in", "seqid_file_out", "seqid_file_info"];
/// Options that cannot be combined with the conversion of a list of GIs.
const NOT_WITH_GI_FILES: &[&str] = &[
    "db",
    "dblist",
    "dbtype",
    "gilist",
    "num_volumes",
    "out",
    "seqid_db",
    "seqid_dbtype",
    "seqid_file_in",
    "seqid_file_info",
    "seqid_file_out",
    "seqidlist",
    "title",
    "vdblist",
];
/// Options that cannot be combined with the conversion of a list of identifiers.
const NOT_WITH_SEQID_FILES: &[&str] = &[
    "gi_file_in",
    "gi_file_out",
    "db",
    "dblist",
    "dbtype",
    "gilist",
    "num_volumes",
    "out",
    "seqidlist",
    "title",
    "vdblist",
    "seqid_file_info",
];
/// Options that convert lists of GIs.
const GI_FILES: &[&str] = &["gi_file_in", "gi_file_out"];

/// `-gi_file_in`.
pub const GI_FILE_IN: Opt<OsString> =
    Opt::input("gi_file_in", GI_FILE, &["Text file to convert, should contain one GI per line"])
        .label("input_file")
        .excludes(NOT_WITH_GI_FILES);

/// `-gi_file_out`.
pub const GI_FILE_OUT: Opt<OsString> = Opt::output(
    "gi_file_out",
    GI_FILE,
    &[
        "File name of converted GI file",
        "Default = input file name provided to -gi_file_in argument with the .bgl extension",
    ],
)
.label("output_file")
.xml_flags(&["preOpen", "binary"])
.requires(&["gi_file_in"])
.excludes(NOT_WITH_GI_FILES);

/// `-db`.
pub const DB: Opt<OsString> = Opt::text("db", ALIAS, &["BLAST database name"])
    .label("dbname")
    .requires(&["out"])
    .excludes(&[
        "gi_file_in",
        "gi_file_out",
        "dblist",
        "dblist_file",
        "vdblist",
        "vdblist_file",
        "num_volumes",
        "seqid_file_in",
        "seqid_file_out",
        "seqid_file_info",
    ]);

/// `-dbtype`.
pub const DBTYPE: Opt<SequenceKind> =
    Opt::word("dbtype", ALIAS, &["Molecule type stored in BLAST database"], &KINDS)
        .label("molecule_type")
        .default("prot")
        .excludes(LIST_FILES);

/// `-title`.
pub const TITLE: Opt<OsString> = Opt::text(
    "title",
    ALIAS,
    &[
        "Title for BLAST database",
        "Default = name of BLAST database provided to -db argument with the -gifile argument \
         appended to it",
    ],
)
.label("database_title")
.requires(&["out"])
.excludes(LIST_FILES);

/// `-gilist`.
pub const GILIST: Opt<OsString> = Opt::input(
    "gilist",
    ALIAS,
    &[
        "Text or binary gi file to restrict the BLAST database provided in -db argument",
        "If text format is provided, it will be converted to binary",
    ],
)
.label("input_file")
.requires(&["out"])
.excludes(&[
    "gi_file_in",
    "gi_file_out",
    "seqidlist",
    "taxidlist",
    "oid_masks",
    "num_volumes",
    "seqid_file_in",
    "seqid_file_out",
    "seqid_file_info",
]);

/// `-seqidlist`.
pub const SEQIDLIST: Opt<OsString> = Opt::input(
    "seqidlist",
    ALIAS,
    &["Text sequence id or accession file to restrict the BLAST database provided in -db \
         argument"],
)
.label("input_file")
.requires(&["out"])
.excludes(&[
    "gi_file_in",
    "gi_file_out",
    "gilist",
    "taxidlist",
    "oid_masks",
    "num_volumes",
    "seqid_file_in",
    "seqid_file_out",
    "seqid_file_info",
]);

/// `-taxidlist`.
pub const TAXIDLIST: Opt<OsString> = Opt::input(
    "taxidlist",
    ALIAS,
    &["Text taxonomy id file to restrict the BLAST database provided in -db argument"],
)
.label("input_file")
.requires(&["out"])
.excludes(&["gilist", "seqidlist", "oid_masks"]);

/// `-oid_masks`.
pub const OID_MASKS: Opt<i32> = Opt::integer(
    "oid_masks",
    ALIAS,
    &["Create alias db with pre-built oid masks", "0x01 Exclude Model"],
)
.label("oid_masks")
.requires(&["out"])
.excludes(&["gilist", "seqidlist", "taxidlist"])
.later(SINCE_OID_MASKS)
.unsupported();

/// `-out`.
pub const OUT: Opt<OsString> =
    Opt::text("out", ALIAS, &["Name of BLAST database alias to be created"])
        .label("database_name")
        .excludes(LIST_FILES);

/// `-dblist`.
pub const DBLIST: Opt<OsString> =
    Opt::text("dblist", ALIAS, &["A space separated list of BLAST database names to aggregate"])
        .label("database_names")
        .requires(&["out", "dbtype", "title"])
        .excludes(&[
            "gi_file_in",
            "gi_file_out",
            "db",
            "num_volumes",
            "dblist_file",
            "seqid_file_in",
            "seqid_file_out",
            "seqid_file_info",
        ]);

/// `-dblist_file`.
pub const DBLIST_FILE: Opt<OsString> = Opt::input(
    "dblist_file",
    ALIAS,
    &["A file containing a list of BLAST database names to aggregate, one per line"],
)
.label("file_name")
.requires(&["out", "dbtype", "title"])
.excludes(&["db", "num_volumes", "dblist"]);

/// `-vdblist`.
pub const VDBLIST: Opt<OsString> =
    Opt::text("vdblist", ALIAS, &["A space separated list of VDB names to aggregate"])
        .label("vdb_names")
        .requires(&["out", "dbtype", "title"])
        .excludes(&[
            "gi_file_in",
            "gi_file_out",
            "db",
            "num_volumes",
            "vdblist_file",
            "seqid_file_in",
            "seqid_file_out",
            "seqid_file_info",
        ]);

/// `-vdblist_file`.
pub const VDBLIST_FILE: Opt<OsString> = Opt::input(
    "vdblist_file",
    ALIAS,
    &["A file containing a list of vdb names to aggregate, one per line"],
)
.label("file_name")
.requires(&["out", "dbtype", "title"])
.excludes(&["db", "num_volumes", "vdblist"]);

/// `-num_volumes`.
pub const NUM_VOLUMES: Opt<u32> = Opt::integer(
    "num_volumes",
    ALIAS,
    &["Number of volumes to aggregate, in which case the basename for the database is extracted \
         from the out option"],
)
.label("positive_integer")
.with_constraint(Constraint::AtLeast(1))
.requires(&["out", "dbtype", "title"])
.excludes(&[
    "gi_file_in",
    "gi_file_out",
    "dblist",
    "dblist_file",
    "vdblist",
    "vdblist_file",
    "db",
    "gilist",
    "seqidlist",
    "seqid_file_in",
    "seqid_file_out",
    "seqid_file_info",
]);

/// `-seqid_file_in`.
pub const SEQID_FILE_IN: Opt<OsString> = Opt::input(
    "seqid_file_in",
    SEQID_FILE,
    &["Text file to convert, should contain one seq id per line"],
)
.label("input_file")
.excludes(NOT_WITH_SEQID_FILES);

/// `-seqid_title`.
pub const SEQID_TITLE: Opt<OsString> = Opt::text(
    "seqid_title",
    SEQID_FILE,
    &["Title for seqid list.", " Default = input file name provided to -seqid_file_in argument"],
)
.label("seqid_title")
.requires(&["seqid_file_in"]);

/// `-seqid_file_out`.
pub const SEQID_FILE_OUT: Opt<OsString> = Opt::text(
    "seqid_file_out",
    SEQID_FILE,
    &[
        "File name of converted seq id file",
        "Default = input file name provided to -seqid_file_in argument with the .bsl extension",
    ],
)
.label("output_file")
.excludes(NOT_WITH_SEQID_FILES);

/// `-seqid_db`.
pub const SEQID_DB: Opt<OsString> =
    Opt::text("seqid_db", SEQID_FILE, &["BLAST database for seqidlist"])
        .label("dbname")
        .requires(&["seqid_file_in"])
        .excludes(GI_FILES);

/// `-seqid_dbtype`.
pub const SEQID_DBTYPE: Opt<SequenceKind> =
    Opt::word("seqid_dbtype", SEQID_FILE, &["Molecule type BLAST database"], &KINDS)
        .label("molecule_type")
        .requires(&["seqid_file_in", "seqid_db"])
        .excludes(GI_FILES);

/// `-seqid_file_info`.
pub const SEQID_FILE_INFO: Opt<OsString> =
    Opt::text("seqid_file_info", SEQID_FILE, &["Display seqidlist file info"])
        .label("seqid_file_info")
        .excludes(&[
            "gi_file_in",
            "gi_file_out",
            "db",
            "dblist",
            "dbtype",
            "gilist",
            "num_volumes",
            "out",
            "seqid_file_in",
            "seqid_file_out",
            "seqidlist",
            "title",
            "vdblist",
        ]);

/// `-logfile`.
pub const LOGFILE: Opt<OsString> =
    Opt::output("logfile", SEQID_FILE, &["File to which the program log should be redirected"])
        .label("File_Name");
