//! `CMTArgs`: the number of threads, and whether they split the queries or the database.

use fleetblast_stats::release::Release;

use super::MISC;
use crate::options::constraint::Constraint;
use crate::options::later::Change;
use crate::options::opt::Opt;
use crate::options::spec::OptionSpec;
use crate::options::values::Values;

/// The options, in the order of the usage text.
pub const OPTIONS: &[OptionSpec] = &[NUM_THREADS.spec, MT_MODE.spec];

/// Options of programs whose threads split only the database.
pub const WITHOUT_MODE: &[OptionSpec] = &[NUM_THREADS.spec];

/// The default number of threads of every command, as the help describes it.
pub const DEFAULT: &str = "Default = FLEETBLAST_THREADS, OMP_NUM_THREADS or SLURM_CPUS_PER_TASK in \
     the environment, else all CPUs that this process may use";

/// `-num_threads`.
pub const NUM_THREADS: Opt<usize> = Opt::integer(
    "num_threads",
    MISC,
    &["Number of threads (CPUs) to use in the BLAST search", DEFAULT],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(1))
.excludes(&["remote"]);

/// `-mt_mode`.
pub const MT_MODE: Opt<i32> = Opt::integer(
    "mt_mode",
    MISC,
    &[
        "Multi-thread mode to use in BLAST search:",
        " 0 (auto) split by database ",
        " 1 split by queries",
    ],
)
.label("int_value")
.default("0")
.with_constraint(Constraint::UpTo(1))
.later(&[
    Change::Constraint(Constraint::UpTo(2)).since(&Release::V2_16_0),
    Change::Help(&[
        "Multi-thread mode to use in BLAST search:",
        " 0 auto split by database or queries ",
        " 1 split by queries",
        " 2 split by database",
    ])
    .since(&Release::V2_16_0),
])
.requires(&["num_threads"]);

/// Values of the options for threads.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadOptions {
    /// `-num_threads`.
    pub num_threads: Option<usize>,
    /// `-mt_mode`.
    pub mt_mode: i32,
}

impl ThreadOptions {
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        let mt_mode = if values.has(&MT_MODE) { values.get(&MT_MODE) } else { 0 };
        Self { num_threads: values.optional(&NUM_THREADS), mt_mode }
    }
}
