//! The options of `simulate`, which BLAST+ does not have.

use std::ffi::OsString;

use fleetblast_fleet::config::{QueryOrder, Schedule, Strategy};

use super::constraint::Constraint;
use super::opt::{Opt, ValueWords};
use super::parse::GivenOptions;
use super::report::TRACE;
use super::search::fleet::{QUERY_ORDERS, SCHEDULES, STRATEGIES};
use super::spec::{self, Group, OptionSpec, Program};
use super::values::Values;

/// The command `simulate` with its table of options.
pub const SIMULATE: Program = Program {
    name: "simulate",
    release: None,
    about: "Predicts how a search scales",
    description: &[
        "Predicts how long a search on many ranks takes, with the real scheduler on a model of a \
         machine; task times come from a trace, or are drawn at random",
    ],
    groups: &[OF_JOB, OF_MACHINE, OF_SITE],
    options: &[OPTIONS, JOB_OPTIONS, MACHINE_OPTIONS, SITE_OPTIONS],
    details: &[],
    own_version: None,
    positional_option: None,
};

/// Largest number of ranks: the memory and time of the simulator grow with them.
const MOST_RANKS: i32 = 1 << 20;
/// Largest number of partitions: each block has a task in each partition.
const MOST_PARTITIONS: i32 = 1 << 16;

const OF_JOB: Group = Group("The search");
const OF_MACHINE: Group = Group("The machine");
const OF_SITE: Group = Group("The other site");

/// The options, in the order of the usage text.
const OPTIONS: &[OptionSpec] =
    &[spec::H, spec::HELP, TRACE.spec, SCALING.spec, SITES.spec, JSON.spec, SEED.spec];

const JOB_OPTIONS: &[OptionSpec] = &[
    RANKS.spec,
    GROUPS.spec,
    REPLICAS.spec,
    PARTITIONS.spec,
    BLOCK_RESIDUES.spec,
    QUERIES.spec,
    OUTPUT.spec,
    SCHEDULE.spec,
    QUERY_ORDER.spec,
    NUM_ITERATIONS.spec,
];

const MACHINE_OPTIONS: &[OptionSpec] = &[
    MACHINE.spec,
    CORES.spec,
    RANKS_PER_HOST.spec,
    LATENCY.spec,
    BANDWIDTH.spec,
    FS_RATE.spec,
    FS_CLIENTS.spec,
    FAILURES.spec,
];

const SITE_OPTIONS: &[OptionSpec] = &[IO_RANKS.spec, SITE_RATE.spec, SITE_DELAY.spec];

/// The model of a machine that the simulator assumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// A Blue Gene/P, with its network and GPFS.
    BlueGene,
    /// One host for all ranks.
    Local,
    /// A present-day cluster.
    Modern,
}

const MODELS: ValueWords<Model, 3> = ValueWords::new([
    ("bluegene", Model::BlueGene),
    ("local", Model::Local),
    ("modern", Model::Modern),
]);

/// `-scaling`.
pub const SCALING: Opt<bool> = Opt::flag(
    "scaling",
    Group::TOP,
    &["Print a table of 4,096, 32,768 and 131,072 ranks, by dynamic and static schedules, on \
         both machines unless one is named; with -ranks, only for that number. Takes minutes a \
         line"],
)
.excludes(&[
    "trace",
    "schedule",
    "query_order",
    "num_iterations",
    "groups",
    "replicas",
    "partitions",
    "failures",
]);

/// `-sites`.
pub const SITES: Opt<bool> = Opt::flag(
    "sites",
    Group::TOP,
    &["Print a table of a search whose report is needed at another site, over several links or \
         that of -site_rate and -site_delay: the searching ranks write it there, or ranks there \
         make it from metadata. Takes minutes"],
)
.excludes(&["trace", "scaling", "output", "fs_rate", "fs_clients", "failures"]);

/// `-json`.
pub const JSON: Opt<OsString> =
    Opt::output("json", Group::TOP, &["File to write all figures to, as JSON"])
        .label("output_file");

/// `-seed`.
pub const SEED: Opt<u64> =
    number("seed", Group::TOP, &["Seed of the random numbers", "Default = 1"]);

/// `-ranks`.
pub const RANKS: Opt<u32> =
    number("ranks", OF_JOB, &["Ranks", "Default = those of the trace; without one, 4096"])
        .with_constraint(Constraint::Between(1, MOST_RANKS));

/// `-groups`.
pub const GROUPS: Opt<u32> = number(
    "groups",
    OF_JOB,
    &["Groups of ranks", "Default = as in the trace for its number of ranks, else as for blastp"],
);

/// `-replicas`.
pub const REPLICAS: Opt<u32> =
    number("replicas", OF_JOB, &["How many times a group holds the database"]);

/// `-partitions`.
pub const PARTITIONS: Opt<u32> = number("partitions", OF_JOB, &["Partitions of the database"])
    .with_constraint(Constraint::Between(1, MOST_PARTITIONS));

/// `-block_residues`.
pub const BLOCK_RESIDUES: Opt<u64> = number(
    "block_residues",
    OF_JOB,
    &[
        "Least residues of a block of queries, as for blastp",
        "Default = as for blastp; with a trace, as in the trace",
    ],
);

/// `-queries`.
pub const QUERIES: Opt<u32> = number(
    "queries",
    OF_JOB,
    &[
        "Number of queries; those of a trace are repeated",
        "Default = as in the trace; without one, 250000 (modern: 10000000)",
    ],
);

/// `-output`.
pub const OUTPUT: Opt<Strategy> =
    Opt::one_of("output", OF_JOB, &["How ranks write the report, as for blastp"], &STRATEGIES)
        .label("strategy");

/// `-schedule`.
pub const SCHEDULE: Opt<Schedule> =
    Opt::one_of("schedule", OF_JOB, &["How queries are distributed, as for blastp"], &SCHEDULES)
        .label("schedule");

/// `-query_order`.
pub const QUERY_ORDER: Opt<QueryOrder> =
    Opt::one_of("query_order", OF_JOB, &["Order of blocks, as for blastp"], &QUERY_ORDERS)
        .label("order");

/// `-num_iterations`.
pub const NUM_ITERATIONS: Opt<u32> = number(
    "num_iterations",
    OF_JOB,
    &["Most iterations of a query, as for psiblast; each query's number is random", "Default = 1"],
)
.with_constraint(Constraint::Between(1, 5))
.excludes(&["trace"]);

/// `-machine`.
pub const MACHINE: Opt<Model> = Opt::one_of(
    "machine",
    OF_MACHINE,
    &[
        "The model of a machine; the options below change it:",
        "    bluegene: a Blue Gene/P, four ranks a node, with its network and GPFS",
        "    modern: two ranks of 64 threads a node, 100 Gbit links, 100 GB/s",
        "    local: one host for all ranks",
        "Default = the host of the trace; without a trace, bluegene",
    ],
    &MODELS,
)
.label("model");

/// `-cores`.
pub const CORES: Opt<u32> = number(
    "cores",
    OF_MACHINE,
    &[
        "Cores of each host, which its ranks share (see -ranks_per_host)",
        "Default = those of the trace's host, with a trace and no -machine; all ranks share that \
         host. Otherwise each rank has its own cores",
    ],
);

/// `-ranks_per_host`.
pub const RANKS_PER_HOST: Opt<u32> = number("ranks_per_host", OF_MACHINE, &["Ranks on a host"]);

/// `-latency`.
pub const LATENCY: Opt<f64> =
    Opt::real("latency", OF_MACHINE, &["Least time of a message, in microseconds"])
        .label("float_value");

/// `-bandwidth`.
pub const BANDWIDTH: Opt<OsString> =
    Opt::text("bandwidth", OF_MACHINE, &["Bytes a second of a host's link, e.g. 12G"])
        .label("size");

/// `-fs_rate`.
pub const FS_RATE: Opt<OsString> =
    Opt::text("fs_rate", OF_MACHINE, &["Bytes a second that the file system writes"]).label("size");

/// `-fs_clients`.
pub const FS_CLIENTS: Opt<u32> =
    number("fs_clients", OF_MACHINE, &["Clients that the file system serves at a time"]);

/// `-failures`.
pub const FAILURES: Opt<f64> = Opt::real(
    "failures",
    OF_MACHINE,
    &["Mean seconds until a failure ends the job, which is then resumed from its checkpoint"],
)
.label("float_value");

/// `-io_ranks`.
pub const IO_RANKS: Opt<u32> = number(
    "io_ranks",
    OF_SITE,
    &[
        "Ranks at the other site that make the report, on a machine like that of the search",
        "Default = a tenth of -ranks",
    ],
)
.with_constraint(Constraint::Between(1, MOST_RANKS))
.requires(&["sites"]);

/// `-site_rate`.
pub const SITE_RATE: Opt<OsString> =
    Opt::text("site_rate", OF_SITE, &["Bytes a second of the link between the sites, e.g. 125M"])
        .label("size")
        .requires(&["sites", "site_delay"]);

/// `-site_delay`.
pub const SITE_DELAY: Opt<f64> =
    Opt::real("site_delay", OF_SITE, &["Delay of the link in one direction, in milliseconds"])
        .label("float_value")
        .with_constraint(Constraint::AtLeast(0))
        .requires(&["sites", "site_rate"]);

/// Values of the options of `simulate`.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulateOptions {
    /// `-trace`.
    pub trace: Option<OsString>,
    /// `-scaling`.
    pub scaling: bool,
    /// `-sites`.
    pub sites: bool,
    /// `-json`.
    pub json: Option<OsString>,
    /// `-seed`.
    pub seed: Option<u64>,
    /// `-ranks`.
    pub ranks: Option<u32>,
    /// `-groups`.
    pub groups: Option<u32>,
    /// `-replicas`.
    pub replicas: Option<u32>,
    /// `-partitions`.
    pub partitions: Option<u32>,
    /// `-block_residues`.
    pub block_residues: Option<u64>,
    /// `-queries`.
    pub queries: Option<u32>,
    /// `-output`.
    pub output: Option<Strategy>,
    /// `-schedule`.
    pub schedule: Option<Schedule>,
    /// `-query_order`.
    pub query_order: Option<QueryOrder>,
    /// `-num_iterations`.
    pub num_iterations: Option<u32>,
    /// `-machine`.
    pub machine: Option<Model>,
    /// `-cores`.
    pub cores: Option<u32>,
    /// `-ranks_per_host`.
    pub ranks_per_host: Option<u32>,
    /// `-latency`, in microseconds.
    pub latency: Option<f64>,
    /// `-bandwidth`, in bytes a second.
    pub bandwidth: Option<OsString>,
    /// `-fs_rate`, in bytes a second.
    pub fs_rate: Option<OsString>,
    /// `-fs_clients`.
    pub fs_clients: Option<u32>,
    /// `-failures`, the mean time between failures in seconds.
    pub failures: Option<f64>,
    /// `-io_ranks`.
    pub io_ranks: Option<u32>,
    /// `-site_rate`, in bytes a second.
    pub site_rate: Option<OsString>,
    /// `-site_delay`, in milliseconds.
    pub site_delay: Option<f64>,
}

impl SimulateOptions {
    /// Reads the values of the options.
    pub fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&SIMULATE, given);
        Self {
            trace: values.optional(&TRACE),
            scaling: values.get(&SCALING),
            sites: values.get(&SITES),
            json: values.optional(&JSON),
            seed: values.optional(&SEED),
            ranks: values.optional(&RANKS),
            groups: values.optional(&GROUPS),
            replicas: values.optional(&REPLICAS),
            partitions: values.optional(&PARTITIONS),
            block_residues: values.optional(&BLOCK_RESIDUES),
            queries: values.optional(&QUERIES),
            output: values.optional(&OUTPUT),
            schedule: values.optional(&SCHEDULE),
            query_order: values.optional(&QUERY_ORDER),
            num_iterations: values.optional(&NUM_ITERATIONS),
            machine: values.optional(&MACHINE),
            cores: values.optional(&CORES),
            ranks_per_host: values.optional(&RANKS_PER_HOST),
            latency: values.optional(&LATENCY),
            bandwidth: values.optional(&BANDWIDTH),
            fs_rate: values.optional(&FS_RATE),
            fs_clients: values.optional(&FS_CLIENTS),
            failures: values.optional(&FAILURES),
            io_ranks: values.optional(&IO_RANKS),
            site_rate: values.optional(&SITE_RATE),
            site_delay: values.optional(&SITE_DELAY),
        }
    }
}

const fn number<T: TryFrom<i64>>(
    name: &'static str,
    group: Group,
    help: &'static [&'static str],
) -> Opt<T> {
    Opt::integer(name, group, help).label("int_value").with_constraint(Constraint::AtLeast(1))
}
