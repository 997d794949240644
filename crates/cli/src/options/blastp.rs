//! `blastp`: its table of options, the single source for the parser, `-h` and `-help`; and the
//! types of their values.

use fleetblast_stats::program::BlastProgram;

use super::RELEASE;
use super::compat;
use super::opt::{Opt, ValueWords};
use super::parse::GivenOptions;
use super::search::program::ProgramSpec;
use super::search::protein::{ProteinProgramOptions, TaskDefaults};
use super::search::single::{MATRIX, REMOTE, THRESHOLD, UNGAPPED, WINDOW_SIZE};
use super::search::{
    self, composition, database, files, filtering, fleet, formatting, generic, hsps, metadata,
    outfmt, query, resources, strategy, task, threads,
};
use super::spec::{self, Program};
use super::values::Values;

/// Properties of `blastp` besides its table of options.
pub const SPEC: ProgramSpec =
    ProgramSpec { program: BlastProgram::Blastp, release: RELEASE, has_sort_options: true };

const TASKS: ValueWords<TaskDefaults, 3> = ValueWords::new([
    ("blastp", TaskDefaults::USUAL),
    ("blastp-fast", TaskDefaults::FAST),
    ("blastp-short", TaskDefaults::SHORT),
]);

/// `-task`.
pub const TASK: Opt<TaskDefaults> = task::option(&TASKS, "blastp");

/// The command `blastp` with its table of options.
pub const BLASTP: Program = Program {
    name: SPEC.name(),
    release: Some(SPEC.release),
    about: "Protein-Protein BLAST",
    description: &["Protein-Protein BLAST"],
    groups: search::GROUPS,
    options: &[
        &[spec::H, spec::HELP],
        strategy::OPTIONS,
        &[TASK.spec],
        database::LISTS,
        database::IDENTICAL_PROTEINS,
        database::QUERY,
        database::MASKS,
        database::SUBJECTS,
        files::OPTIONS,
        generic::OF_PROTEINS,
        &filtering::of_residues("no"),
        &[MATRIX.spec, THRESHOLD.spec],
        hsps::OPTIONS,
        &[WINDOW_SIZE.spec],
        query::OF_PROTEINS,
        &[outfmt::OUTFMT.spec],
        formatting::LAYOUT,
        threads::OPTIONS,
        &[UNGAPPED.spec, REMOTE.spec],
        composition::OPTIONS,
        &[spec::VERSION],
        compat::OPTIONS,
        resources::OPTIONS,
        fleet::OPTIONS,
        metadata::OPTIONS,
    ],
    details: &[],
    own_version: None,
    positional_option: None,
};

/// Values of the options of `blastp`. Options left out are `None`, or hold the default if BLAST+
/// always applies one.
#[derive(Clone, Debug, PartialEq)]
pub struct BlastpOptions {
    /// Options that programs with tasks and amino-acid words share.
    pub shared: ProteinProgramOptions,
}

impl BlastpOptions {
    /// Reads the values of the options.
    pub fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&BLASTP, given);
        Self { shared: ProteinProgramOptions::read(&values, &TASK) }
    }
}
