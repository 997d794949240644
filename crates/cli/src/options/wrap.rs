//! The options of `wrap`, which BLAST+ does not have. The wrapped command follows them.

use std::ffi::OsString;

use fleetblast_fleet::config::Strategy;
use fleetblast_job::plan::{Codec, OutputJoin};

use super::constraint::Constraint;
use super::opt::{Opt, ValueWords};
use super::parse::GivenOptions;
use super::search::fleet::{CHECKPOINT, COMPRESSION, RESULT_MEMORY, RESUME, WRITE_BUFFER};
use super::search::resources::PROGRESS;
use super::spec::{self, Group, OptionSpec, Program};
use super::values::Values;
use crate::terminal::ProgressMode;

/// The command `wrap` with its table of options.
pub const WRAP: Program = Program {
    name: "wrap",
    release: None,
    about: "Runs another program on blocks of queries, by ranks",
    description: &[
        "Runs another program on each block of queries, and joins the outputs to one:",
        "fleetblast wrap -n 8 -query Q -db DB -- PROGRAM ARGUMENTS",
        "",
        "The program reads FASTA on standard input, or where {query} stands in its arguments, and \
         writes to standard output, or where {out} stands; {db} stands for the database. Blocks and \
         outputs are not files on disk",
    ],
    groups: &[],
    options: &[OPTIONS, spec_of_fleet::OPTIONS],
    details: &[],
    own_version: None,
    positional_option: None,
};

/// The options, in the order of the usage text.
const OPTIONS: &[OptionSpec] = &[
    spec::H,
    spec::HELP,
    N.spec,
    QUERY.mandatory().spec,
    DB.spec,
    OUT.spec,
    JOIN.spec,
    TIME_LIMIT.spec,
    TRIES.spec,
];

/// Options of ranks and checkpoints, in the order of the usage text.
mod spec_of_fleet {
    use super::{
        BLOCK_QUERIES, BLOCK_RESIDUES, CHECKPOINT, COMPRESSION, OUTPUT, OptionSpec, PROGRESS,
        RESULT_MEMORY, RESUME, WRITE_BUFFER,
    };

    pub(super) const OPTIONS: &[OptionSpec] = &[
        OUTPUT.spec,
        COMPRESSION.spec,
        BLOCK_RESIDUES.spec,
        BLOCK_QUERIES.spec,
        WRITE_BUFFER.spec,
        RESULT_MEMORY.spec,
        CHECKPOINT.spec,
        RESUME.spec,
        PROGRESS.spec,
    ];
}

const JOINS: ValueWords<Option<OutputJoin>, 5> = ValueWords::new([
    ("auto", None),
    ("comments", Some(OutputJoin::Comments)),
    ("plain", Some(OutputJoin::Plain)),
    ("report", Some(OutputJoin::Report)),
    ("xml", Some(OutputJoin::Xml)),
]);

const STRATEGIES: ValueWords<Strategy, 2> =
    ValueWords::new([("merge", Strategy::Merge), ("records", Strategy::Records)]);

/// `-n`.
pub const N: Opt<u32> = Opt::integer(
    "n",
    Group::TOP,
    &["Number of ranks that run the program, if a launcher such as mpirun does not start them"],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(1))
.default("1");

/// `-query`.
pub const QUERY: Opt<OsString> =
    Opt::input("query", Group::TOP, &["Queries in FASTA, each with a definition line"])
        .label("input_file");

/// `-db`.
pub const DB: Opt<OsString> = Opt::text(
    "db",
    Group::TOP,
    &["Database: a BLAST database, a file, or the first part of file names; its files are read \
         once on each host before the program starts"],
)
.label("database_name");

/// `-out`.
pub const OUT: Opt<OsString> =
    Opt::output("out", Group::TOP, &["Output file name"]).label("output_file").default("-");

/// `-join`.
pub const JOIN: Opt<Option<OutputJoin>> = Opt::one_of(
    "join",
    Group::TOP,
    &[
        "How to join the outputs of blocks:",
        "    auto: by -outfmt, if the program is one of BLAST+; else plain",
        "    plain: one after the other",
        "    report: BLAST+'s -outfmt 0, with one head and one end",
        "    xml: BLAST+'s -outfmt 5, as one document",
        "    comments: BLAST+'s -outfmt 7, with one count at the end",
    ],
    &JOINS,
)
.label("how")
.default("auto");

/// `-time_limit`.
pub const TIME_LIMIT: Opt<u64> = Opt::integer(
    "time_limit",
    Group::TOP,
    &["Most seconds of the program for a block; then it is killed"],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(1))
.default("3600");

/// `-tries`.
pub const TRIES: Opt<u32> = Opt::integer(
    "tries",
    Group::TOP,
    &["Most runs of the program for a block on which it fails; then the block is left out with a \
         message, and the exit code is 3"],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(1))
.default("2");

/// `-output`.
pub const OUTPUT: Opt<Strategy> = Opt::one_of(
    "output",
    Group::FLEETBLAST,
    &[
        "How ranks write the output:",
        "    merge: to one file",
        "    records: each rank to its own compressed files in the directory -out,",
        "    for 'fleetblast cat'",
    ],
    &STRATEGIES,
)
.label("strategy")
.default("merge");

/// `-block_residues`.
pub const BLOCK_RESIDUES: Opt<u64> = Opt::integer(
    "block_residues",
    Group::FLEETBLAST,
    &[
        "Least letters of a block of queries",
        "Default = enough for 24 blocks a rank, at most 50000",
    ],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(1));

/// `-block_queries`.
pub const BLOCK_QUERIES: Opt<u64> =
    Opt::integer("block_queries", Group::FLEETBLAST, &["Most queries of a block"])
        .label("int_value")
        .with_constraint(Constraint::AtLeast(1))
        .default("10000");

/// Values of the options of `wrap`.
#[derive(Clone, Debug, PartialEq)]
pub struct WrapOptions {
    /// `-n`.
    pub n: u32,
    /// `-query`.
    pub query: OsString,
    /// `-db`.
    pub db: Option<OsString>,
    /// `-out`.
    pub out: OsString,
    /// `-join`.
    pub join: Option<OutputJoin>,
    /// `-time_limit`, in seconds.
    pub time_limit: u64,
    /// `-tries`.
    pub tries: u32,
    /// `-output`.
    pub output: Strategy,
    /// `-compression`.
    pub compression: Option<Codec>,
    /// `-block_residues`.
    pub block_residues: Option<u64>,
    /// `-block_queries`.
    pub block_queries: u64,
    /// `-write_buffer`.
    pub write_buffer: Option<OsString>,
    /// `-result_memory`.
    pub result_memory: Option<OsString>,
    /// `-checkpoint`.
    pub checkpoint: Option<OsString>,
    /// `-resume`.
    pub resume: bool,
    /// `-progress`.
    pub progress: ProgressMode,
}

impl WrapOptions {
    /// Reads the values of the options.
    pub fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&WRAP, given);
        Self {
            n: values.get(&N),
            query: values.get(&QUERY),
            db: values.optional(&DB),
            out: values.get(&OUT),
            join: values.get(&JOIN),
            time_limit: values.get(&TIME_LIMIT),
            tries: values.get(&TRIES),
            output: values.get(&OUTPUT),
            compression: values.optional(&COMPRESSION),
            block_residues: values.optional(&BLOCK_RESIDUES),
            block_queries: values.get(&BLOCK_QUERIES),
            write_buffer: values.optional(&WRITE_BUFFER),
            result_memory: values.optional(&RESULT_MEMORY),
            checkpoint: values.optional(&CHECKPOINT),
            resume: values.get(&RESUME),
            progress: values.get(&PROGRESS),
        }
    }
}
