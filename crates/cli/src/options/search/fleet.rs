//! Options for a search by many ranks, which BLAST+ does not have. They never change the report.

use std::ffi::OsString;

use fleetblast_fleet::config::{QueryOrder, Schedule, Strategy};
use fleetblast_job::plan::Codec;

use crate::options::constraint::Constraint;
use crate::options::opt::{Opt, ValueWords};
use crate::options::spec::{Group, OptionSpec, replace_options};
use crate::options::values::Values;

/// The options, in the order of the usage text.
pub const OPTIONS: &[OptionSpec] = &ALL;

/// Returns [`OPTIONS`], where each spec in `others` replaces the one of the same name.
pub const fn with<const N: usize>(others: [OptionSpec; N]) -> [OptionSpec; 15] {
    replace_options(ALL, others)
}

const ALL: [OptionSpec; 15] = [
    RANKS.spec,
    PLAN.spec,
    GROUPS.spec,
    REPLICAS.spec,
    OUTPUT.spec,
    COMPRESSION.spec,
    SCHEDULE.spec,
    QUERY_ORDER.spec,
    BLOCK_RESIDUES.spec,
    SEGMENT_SIZE.spec,
    WRITE_BUFFER.spec,
    RESULT_MEMORY.spec,
    CHECKPOINT.spec,
    RESUME.spec,
    TRACE.spec,
];

/// The words of `-output`.
pub const STRATEGIES: ValueWords<Strategy, 4> = ValueWords::new([
    ("collective", Strategy::Collective),
    ("individual", Strategy::Individual),
    ("merge", Strategy::Merge),
    ("records", Strategy::Records),
]);

/// The words of `-compression`.
pub const CODECS: ValueWords<Codec, 2> =
    ValueWords::new([("gzip", Codec::Gzip), ("zstd", Codec::Zstd)]);

/// The words of `-schedule`.
pub const SCHEDULES: ValueWords<Schedule, 3> = ValueWords::new([
    ("dynamic", Schedule::Dynamic),
    ("length", Schedule::Length),
    ("weight", Schedule::Weight),
]);

/// The words of `-query_order`.
pub const QUERY_ORDERS: ValueWords<QueryOrder, 2> =
    ValueWords::new([("given", QueryOrder::Given), ("longest", QueryOrder::Longest)]);

/// `-ranks`.
pub const RANKS: Opt<u32> = Opt::integer(
    "ranks",
    Group::FLEETBLAST,
    &["Search with this number of ranks, each with its own threads (-num_threads), all in this \
         process"],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(1));

/// `-plan`.
pub const PLAN: Opt<bool> = Opt::flag(
    "plan",
    Group::FLEETBLAST,
    &["Do not search: print the layout of ranks, the memory of each, and whether the hosts have \
         that much; -memory sets the memory of other hosts. With -metadata_out, -send or -io_ranks \
         also print the expected bytes and time of a transfer, estimated by a search with some of \
         the queries"],
);

/// `-groups`.
pub const GROUPS: Opt<u32> = Opt::integer(
    "groups",
    Group::FLEETBLAST,
    &["Number of groups of ranks; each searches other queries", "Default = by the number of ranks"],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(1));

/// `-replicas`.
pub const REPLICAS: Opt<u32> = Opt::integer(
    "replicas",
    Group::FLEETBLAST,
    &["Copies of the database in a group of ranks", "Default = as many as memory allows"],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(1));

/// `-output`.
pub const OUTPUT: Opt<Strategy> = Opt::one_of(
    "output",
    Group::FLEETBLAST,
    &[
        "How ranks write the report:",
        "    merge: the rank with most of a block collects the rest of it",
        "    individual: each rank writes its own parts",
        "    collective: the ranks of a group write together",
        "    records: each rank writes its own compressed files in the directory",
        "    -out, for 'fleetblast cat'",
    ],
    &STRATEGIES,
)
.label("strategy")
.default("merge");

/// `-compression`.
pub const COMPRESSION: Opt<Codec> = Opt::one_of(
    "compression",
    Group::FLEETBLAST,
    &[
        "Compression of the files of -output records; gzip is slower, for tools without zstd",
        "Default = `zstd'",
    ],
    &CODECS,
)
.label("codec")
.requires(&["output"]);

/// `-schedule`.
pub const SCHEDULE: Opt<Schedule> = Opt::one_of(
    "schedule",
    Group::FLEETBLAST,
    &[
        "How queries are distributed over groups of ranks:",
        "    dynamic: when a group needs more",
        "    length: at the start, in shares of equal residues",
        "    weight: at the start, in shares of equal residues + 225 x sequences",
    ],
    &SCHEDULES,
)
.label("schedule")
.default("dynamic");

/// `-query_order`.
pub const QUERY_ORDER: Opt<QueryOrder> = Opt::one_of(
    "query_order",
    Group::FLEETBLAST,
    &[
        "Order in which ranks get blocks of queries:",
        "    given: the order of the input",
        "    longest: the longest first, if the input is a file",
        "Default = the order of the input, but the longest block early enough not to end last",
    ],
    &QUERY_ORDERS,
)
.label("order");

/// `-block_residues`.
pub const BLOCK_RESIDUES: Opt<u64> = Opt::integer(
    "block_residues",
    Group::FLEETBLAST,
    &[
        "Least residues of a block of queries; a block consists of whole batches of BLAST+, \
         whatever this number is",
        "Default = 50000; fewer if many ranks would otherwise be idle, and for psiblast with small \
         databases",
    ],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(1));

/// `-segment_size`.
pub const SEGMENT_SIZE: Opt<u64> = Opt::integer(
    "segment_size",
    Group::FLEETBLAST,
    &["Most residues of queries that a group of ranks gets at a time"],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(1));

/// `-write_buffer`.
pub const WRITE_BUFFER: Opt<OsString> = Opt::text(
    "write_buffer",
    Group::FLEETBLAST,
    &["Most bytes that a rank writes or sends at once, e.g. 4MiB", "Default = `4MiB'"],
)
.label("size");

/// `-result_memory`.
pub const RESULT_MEMORY: Opt<OsString> = Opt::text(
    "result_memory",
    Group::FLEETBLAST,
    &[
        "Most memory of a rank for parts of the report that wait to be written;",
        "the rest waits in a file beside the report",
        "Default = `256MiB'",
    ],
)
.label("size");

/// `-checkpoint`.
pub const CHECKPOINT: Opt<OsString> = Opt::text(
    "checkpoint",
    Group::FLEETBLAST,
    &["Directory for finished results, with which a search that ended early for any reason can \
         be resumed. It is created, and removed when the report is complete; with -output records \
         it is the directory of -out, and stays. All ranks must see it. On SIGTERM and SIGUSR1 the \
         search saves its results and ends with exit code 75"],
)
.label("directory");

/// `-resume`.
pub const RESUME: Opt<bool> = Opt::flag(
    "resume",
    Group::FLEETBLAST,
    &["Resume from the directory of -checkpoint, or begin if it has no results yet; the numbers \
         of ranks and threads may differ"],
)
.requires(&["checkpoint"]);

/// `-trace`.
pub const TRACE: Opt<OsString> = Opt::output(
    "trace",
    Group::FLEETBLAST,
    &["Write a timeline of all ranks to this file, for 'fleetblast report', 'fleetblast \
         simulate' and ui.perfetto.dev. All ranks must see its directory"],
)
.label("output_file");

/// Values of the options for a search by many ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetOptions {
    /// `-ranks`.
    pub ranks: Option<u32>,
    /// `-plan`.
    pub plan: bool,
    /// `-groups`.
    pub groups: Option<u32>,
    /// `-replicas`.
    pub replicas: Option<u32>,
    /// `-output`.
    pub output: Strategy,
    /// `-compression`.
    pub compression: Option<Codec>,
    /// `-schedule`.
    pub schedule: Schedule,
    /// `-query_order`.
    pub query_order: Option<QueryOrder>,
    /// `-block_residues`.
    pub block_residues: Option<u64>,
    /// `-segment_size`.
    pub segment_size: Option<u64>,
    /// `-write_buffer`.
    pub write_buffer: Option<OsString>,
    /// `-result_memory`.
    pub result_memory: Option<OsString>,
    /// `-checkpoint`.
    pub checkpoint: Option<OsString>,
    /// `-resume`.
    pub resume: bool,
    /// `-trace`.
    pub trace: Option<OsString>,
}

impl FleetOptions {
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self {
            ranks: values.optional(&RANKS),
            plan: values.get(&PLAN),
            groups: values.optional(&GROUPS),
            replicas: values.optional(&REPLICAS),
            output: values.get(&OUTPUT),
            compression: values.optional(&COMPRESSION),
            schedule: values.get(&SCHEDULE),
            query_order: values.optional(&QUERY_ORDER),
            block_residues: values.optional(&BLOCK_RESIDUES),
            segment_size: values.optional(&SEGMENT_SIZE),
            write_buffer: values.optional(&WRITE_BUFFER),
            result_memory: values.optional(&RESULT_MEMORY),
            checkpoint: values.optional(&CHECKPOINT),
            resume: values.get(&RESUME),
            trace: values.optional(&TRACE),
        }
    }
}
