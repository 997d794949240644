//! `blastp`: its table of options, the single source for the parser, `-h` and `-help`; and what was typed.

use std::ffi::OsString;

use super::RELEASE;
use super::opt::{Choices, Opt};
use super::parse::Given;
use super::search::composition::{self, CompositionOptions};
use super::search::database::{self, DatabaseOptions};
use super::search::files::{self, FileOptions};
use super::search::filtering::{self, FilteringOptions};
use super::search::fleet::{self, FleetOptions};
use super::search::formatting::{self, FormattingOptions};
use super::search::generic::{self, SearchOptions};
use super::search::hsps::{self, HspFilteringOptions};
use super::search::program::ProgramSpec;
use super::search::query::{self, QueryOptions};
use super::search::resources::{self, ResourceOptions};
use super::search::single::{MATRIX, REMOTE, THRESHOLD, UNGAPPED, WINDOW_SIZE};
use super::search::task::{self, Task};
use super::search::threads::{self, ThreadOptions};
use super::search::{self, strategy};
use super::spec::{self, Program};
use super::values::Values;

/// What it sets.
pub const SPEC: ProgramSpec = ProgramSpec {
    name: "blastp",
    release: RELEASE,
    tasks: &[
        Task { name: "blastp", matrix: "BLOSUM62", word_size: 3, threshold: None },
        Task {
            name: "blastp-fast",
            matrix: "BLOSUM62",
            word_size: RELEASE.fast_word_size,
            threshold: Some(RELEASE.fast_threshold),
        },
        Task { name: "blastp-short", matrix: "PAM30", word_size: 2, threshold: None },
    ],
    batch_size: 10_000,
};

const TASKS: Choices<Task, 3> = task::choices(SPEC.tasks);

/// `-task`.
pub const TASK: Opt<Task> = task::option(&TASKS, SPEC.tasks[0].name);

/// The program.
pub const BLASTP: Program = Program {
    name: SPEC.name,
    release: Some(SPEC.release),
    about: "Protein-Protein BLAST",
    description: &["Protein-Protein BLAST"],
    groups: search::GROUPS,
    options: &[
        &[spec::H, spec::HELP],
        strategy::OPTIONS,
        &[TASK.spec],
        database::OPTIONS,
        files::OPTIONS,
        &generic::options(2),
        &filtering::of_residues("no"),
        &[MATRIX.spec, THRESHOLD.spec],
        hsps::OPTIONS,
        &[WINDOW_SIZE.spec],
        query::OPTIONS,
        formatting::OPTIONS,
        threads::OPTIONS,
        &[UNGAPPED.spec, REMOTE.spec],
        composition::OPTIONS,
        &[spec::VERSION],
        resources::OPTIONS,
        fleet::OPTIONS,
    ],
    lone: None,
};

/// What was typed. Options left out are `None`, or hold the default when BLAST+ always applies one.
#[derive(Clone, Debug, PartialEq)]
pub struct BlastpOptions {
    /// `-task`.
    pub task: Task,
    /// What is searched.
    pub database: DatabaseOptions,
    /// Queries and report.
    pub files: FileOptions,
    /// The search.
    pub search: SearchOptions,
    /// What of the queries is masked.
    pub filtering: FilteringOptions,
    /// `-matrix`.
    pub matrix: Option<OsString>,
    /// `-threshold`.
    pub threshold: Option<f64>,
    /// Which hits make others superfluous.
    pub hsps: HspFilteringOptions,
    /// `-window_size`.
    pub window_size: Option<i32>,
    /// How queries are read.
    pub queries: QueryOptions,
    /// What the report looks like.
    pub formatting: FormattingOptions,
    /// Threads.
    pub threads: ThreadOptions,
    /// `-ungapped`.
    pub ungapped: bool,
    /// Composition of sequences.
    pub composition: CompositionOptions,
    /// The machine.
    pub resources: ResourceOptions,
    /// A search by many ranks.
    pub fleet: FleetOptions,
    /// The first option given, in the order of the usage text, that FleetBLAST does not support.
    pub unsupported: Option<&'static str>,
}

impl BlastpOptions {
    /// Gives each option its type.
    pub fn new(given: &Given) -> Self {
        let values = Values::new(&BLASTP, given);
        Self {
            task: values.get(&TASK),
            database: DatabaseOptions::read(&values),
            files: FileOptions::read(&values),
            search: SearchOptions::read(&values),
            filtering: FilteringOptions::read(&values),
            matrix: values.optional(&MATRIX),
            threshold: values.optional(&THRESHOLD),
            hsps: HspFilteringOptions::read(&values),
            window_size: values.optional(&WINDOW_SIZE),
            queries: QueryOptions::read(&values),
            formatting: FormattingOptions::read(&values),
            threads: ThreadOptions::read(&values),
            ungapped: values.get(&UNGAPPED),
            composition: CompositionOptions::read(&values),
            resources: ResourceOptions::read(&values),
            fleet: FleetOptions::read(&values),
            unsupported: values.unsupported(),
        }
    }
}
