//! The options of `dbcheck`, which BLAST+ does not have.

use std::ffi::OsString;

use fleetblast_db::SequenceKind;
use fleetblast_db::load::LoadMethod;

use super::constraint::Constraint;
use super::opt::{Opt, ValueWords};
use super::parse::GivenOptions;
use super::search::threads::DEFAULT;
use super::spec::{self, Group, OptionSpec, Program};
use super::values::Values;

/// The command `dbcheck` with its table of options.
pub const DBCHECK: Program = Program {
    name: "dbcheck",
    release: None,
    about: "Checks a database for damage",
    description: &[
        "Checks every record of a BLAST database, and the files beside it; the exit code is 0 \
         without damage, 2 for damage, 65 for suspicious long runs of zeros",
    ],
    groups: &[],
    options: &[OPTIONS],
    details: &[],
    own_version: None,
    positional_option: None,
};

/// The options, in the order of the usage text.
const OPTIONS: &[OptionSpec] =
    &[spec::H, spec::HELP, DB.spec, DBTYPE.spec, NUM_THREADS.spec, LOADER.spec, MEMORY.spec];

/// The words of `-dbtype`; the first means the type of the database that exists.
const KINDS: ValueWords<Option<SequenceKind>, 3> = ValueWords::new([
    ("guess", None),
    ("nucl", Some(SequenceKind::Nucleotide)),
    ("prot", Some(SequenceKind::Protein)),
]);

/// The loaders of a single process.
pub(super) const LOADERS: ValueWords<Option<LoadMethod>, 4> = ValueWords::new([
    ("auto", None),
    ("direct", Some(LoadMethod::Direct)),
    ("map", Some(LoadMethod::Map)),
    ("read", Some(LoadMethod::Read)),
]);

/// `-db`.
pub const DB: Opt<OsString> =
    Opt::text("db", Group::TOP, &["BLAST database name"]).label("database_name").mandatory();

/// `-dbtype`.
pub const DBTYPE: Opt<Option<SequenceKind>> = Opt::one_of(
    "dbtype",
    Group::TOP,
    &["Molecule type of the database; guess: protein if there is such a database"],
    &KINDS,
)
.label("molecule_type")
.default("guess");

/// `-num_threads`.
pub const NUM_THREADS: Opt<usize> =
    Opt::integer("num_threads", Group::TOP, &["Number of threads to use", DEFAULT])
        .label("int_value")
        .with_constraint(Constraint::AtLeast(1));

/// `-loader`.
pub const LOADER: Opt<Option<LoadMethod>> = Opt::one_of(
    "loader",
    Group::TOP,
    &["How to load the database into memory, as for searches"],
    &LOADERS,
)
.label("method")
.default("auto");

/// `-memory`.
pub const MEMORY: Opt<OsString> = Opt::text(
    "memory",
    Group::TOP,
    &[
        "Most memory to use for the database, e.g. 500M or 16G",
        "Default = 80 % of the memory available",
    ],
)
.label("size");

/// Values of the options of `dbcheck`.
#[derive(Clone, Debug, PartialEq)]
pub struct DbcheckOptions {
    /// `-db`.
    pub db: OsString,
    /// `-dbtype`; `None` to guess.
    pub kind: Option<SequenceKind>,
    /// `-num_threads`.
    pub num_threads: Option<usize>,
    /// `-loader`; `None` to choose one.
    pub loader: Option<LoadMethod>,
    /// `-memory`.
    pub memory: Option<OsString>,
}

impl DbcheckOptions {
    /// Reads the values of the options.
    pub fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&DBCHECK, given);
        Self {
            db: values.get(&DB),
            kind: values.get(&DBTYPE),
            num_threads: values.optional(&NUM_THREADS),
            loader: values.get(&LOADER),
            memory: values.optional(&MEMORY),
        }
    }
}
