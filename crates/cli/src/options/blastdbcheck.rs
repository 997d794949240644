//! The options of `blastdbcheck`.

use std::ffi::OsString;

use fleetblast_db::SequenceKind;

use super::blastdbcmd::COMPAT_HELP;
use super::compat::COMPAT;
use super::constraint::Constraint;
use super::opt::{Opt, ValueWords};
use super::spec::{self, Group, OptionSpec, Program};
use super::{RELEASE, UNDESCRIBED_RELEASE};

/// The command `blastdbcheck` with its table of options.
pub const BLASTDBCHECK: Program = Program {
    name: "blastdbcheck",
    release: Some(RELEASE),
    about: "Tests databases as BLAST+ does, by default a sample",
    description: &["BLAST database integrity and validity checking application"],
    details: &[],
    own_version: Some(UNDESCRIBED_RELEASE),
    groups: &[INPUT, OUTPUT, TESTS, Group::FLEETBLAST],
    options: &[OPTIONS],
    positional_option: None,
};

const INPUT: Group = Group("Input Options");
const OUTPUT: Group = Group("Output Options");
const TESTS: Group = Group("Test Methods");

/// The options, in the order of the usage text.
const OPTIONS: &[OptionSpec] = &[
    spec::H,
    spec::HELP,
    DB.spec,
    DBTYPE.spec,
    DIR.spec,
    RECURSIVE.spec,
    LOGFILE.spec,
    VERBOSITY.spec,
    FULL.spec,
    STRIDE.spec,
    RANDOM.spec,
    ENDS.spec,
    NO_ISAM.spec,
    LEGACY.spec,
    MUST_HAVE_TAXIDS.spec,
    CDD_DELTA.spec,
    spec::VERSION,
    COMPAT.help(COMPAT_HELP).spec,
];

/// The words of `-dbtype`; the first means proteins, or else nucleotides.
const KINDS: ValueWords<Option<SequenceKind>, 3> = ValueWords::new([
    ("guess", None),
    ("nucl", Some(SequenceKind::Nucleotide)),
    ("prot", Some(SequenceKind::Protein)),
]);

/// `-db`.
pub const DB: Opt<OsString> = Opt::text("db", INPUT, &["Specify a database name."])
    .label("DbName")
    .excludes(&["dir", "recursive"]);

/// `-dbtype`.
pub const DBTYPE: Opt<Option<SequenceKind>> =
    Opt::word("dbtype", INPUT, &["Molecule type of database"], &KINDS)
        .label("molecule_type")
        .default("guess");

/// `-dir`.
pub const DIR: Opt<OsString> =
    Opt::text("dir", INPUT, &["Specify a directory containing one or more databases."])
        .label("DirName")
        .excludes(&["db"]);

/// `-recursive`.
pub const RECURSIVE: Opt<bool> =
    Opt::flag("recursive", INPUT, &["Specify true to recurse through all dbs in directory tree."])
        .excludes(&["db"]);

/// `-logfile`.
pub const LOGFILE: Opt<OsString> =
    Opt::output("logfile", OUTPUT, &["If specified, output will be redirected to this file."])
        .label("LogFile")
        .hidden();

/// `-verbosity`.
pub const VERBOSITY: Opt<u8> =
    Opt::integer("verbosity", OUTPUT, &["0=Quiet, 1=Brief, 2=Summary, 3=Detailed, 4=Minutiae"])
        .label("DefaultKey")
        .default("2")
        .with_constraint(Constraint::UpTo(4));

/// `-full`.
pub const FULL: Opt<bool> =
    Opt::flag("full", TESTS, &["If true, test every sequence (warning: may be slow)."])
        .excludes(&["stride", "random", "ends"]);

/// `-stride`.
pub const STRIDE: Opt<i32> =
    Opt::integer("stride", TESTS, &["Check integrity of every Nth sequence."])
        .label("StrideLength")
        .excludes(&["full"]);

/// `-random`.
pub const RANDOM: Opt<i32> =
    Opt::integer("random", TESTS, &["Check this many randomly selected sequences."])
        .label("NumSequences")
        .excludes(&["full"]);

/// `-ends`.
pub const ENDS: Opt<i32> =
    Opt::integer("ends", TESTS, &["Check this many sequences at each end of the database."])
        .label("NumSequences")
        .excludes(&["full"]);

/// `-no_isam`.
pub const NO_ISAM: Opt<bool> = Opt::flag("no_isam", TESTS, &["Disable ISAM testing."]);

/// `-legacy`.
pub const LEGACY: Opt<bool> =
    Opt::flag("legacy", TESTS, &["Enable check for existence of temporary files."]);

/// `-must_have_taxids`.
pub const MUST_HAVE_TAXIDS: Opt<bool> = Opt::flag(
    "must_have_taxids",
    TESTS,
    &["Require that all sequences in the database have taxid set."],
);

/// `-cdd_delta`. FleetBLAST has no DELTA-BLAST.
pub const CDD_DELTA: Opt<bool> =
    Opt::flag("cdd_delta", TESTS, &["Do additional tests for a CDD database for DELTA-BLAST"])
        .unsupported();
