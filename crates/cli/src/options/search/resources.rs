//! Options for resources of the machine, measurements and progress, which BLAST+ does not have.
//! They never change the report.

use std::ffi::OsString;

use fleetblast_db::load::LoadMethod;

use crate::options::constraint::Constraint;
use crate::options::opt::{Opt, ValueWords};
use crate::options::spec::{Group, OptionSpec};
use crate::options::values::Values;
use crate::terminal::ProgressMode;

/// The options, in the order of the usage text.
pub const OPTIONS: &[OptionSpec] =
    &[TIMING.spec, PARTITIONS.spec, LOADER.spec, MEMORY.spec, PROGRESS.spec];

const LOADERS: ValueWords<Option<LoadMethod>, 5> = ValueWords::new([
    ("auto", None),
    ("broadcast", Some(LoadMethod::Broadcast)),
    ("direct", Some(LoadMethod::Direct)),
    ("map", Some(LoadMethod::Map)),
    ("read", Some(LoadMethod::Read)),
]);

const WHENS: ValueWords<ProgressMode, 3> = ValueWords::new([
    ("auto", ProgressMode::Auto),
    ("no", ProgressMode::No),
    ("yes", ProgressMode::Yes),
]);

/// `-timing`.
pub const TIMING: Opt<OsString> = Opt::output(
    "timing",
    Group::FLEETBLAST,
    &["Write the times of all stages to this file, as JSON"],
)
.label("output_file");

/// `-partitions`.
pub const PARTITIONS: Opt<usize> = Opt::integer(
    "partitions",
    Group::FLEETBLAST,
    &[
        "Number of ranges of subjects that are searched separately before their hits are merged",
        "Default = by the size of the database and the number of threads",
    ],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(1));

/// `-loader`.
pub const LOADER: Opt<Option<LoadMethod>> = Opt::one_of(
    "loader",
    Group::FLEETBLAST,
    &[
        "How to load the database into memory:",
        "    auto: by its size, the memory available and the file system",
        "    map: map its files, after large reads into the page cache",
        "    read: read into memory of this process, on 2 MB pages if there are any",
        "    direct: the same, without the page cache",
        "    broadcast: all MPI processes together read it once and send it to each",
        "    other, into memory that the processes of a host share",
    ],
    &LOADERS,
)
.label("method")
.default("auto")
.excludes(&["subject"]);

/// `-memory`.
pub const MEMORY: Opt<OsString> = Opt::text(
    "memory",
    Group::FLEETBLAST,
    &[
        "Most memory to use for the sequences of the database, e.g. 500M or 16G;",
        "a larger database is read piece by piece during the search",
        "Default = 80 % of the memory available",
    ],
)
.label("size")
.excludes(&["subject"]);

/// `-progress`.
pub const PROGRESS: Opt<ProgressMode> = Opt::one_of(
    "progress",
    Group::FLEETBLAST,
    &[
        "Show the progress of the search on standard error:",
        "    auto: if that is a terminal, and standard output is no pipe, for",
        "    example to a pager, which draws on the same terminal",
        "    no: never",
        "    yes: always; without a terminal, a line now and then",
    ],
    &WHENS,
)
.label("when")
.default("auto");

/// Values of the options for resources, measurements and progress.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceOptions {
    /// `-timing`.
    pub timing: Option<OsString>,
    /// `-partitions`.
    pub partitions: Option<usize>,
    /// `-loader`; `None` to choose automatically.
    pub loader: Option<LoadMethod>,
    /// `-memory`.
    pub memory: Option<OsString>,
    /// `-progress`.
    pub progress: ProgressMode,
}

impl ResourceOptions {
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self {
            timing: values.optional(&TIMING),
            partitions: values.optional(&PARTITIONS),
            loader: values.get(&LOADER),
            memory: values.optional(&MEMORY),
            progress: values.get(&PROGRESS),
        }
    }
}
