//! `blastx`: its table of options, the single source for the parser, `-h` and `-help`; and the
//! types of their values.

use fleetblast_engine::params::Strands;
use fleetblast_seq::translation::GeneticCode;
use fleetblast_stats::program::BlastProgram;

use super::RELEASE;
use super::compat;
use super::opt::{Opt, ValueWords};
use super::parse::GivenOptions;
use super::search::composition::{COMP_BASED_STATS, USE_SW_TBACK};
use super::search::nucleotide::SUM_STATS;
use super::search::program::ProgramSpec;
use super::search::protein::{ProteinProgramOptions, TaskDefaults};
use super::search::query::{self, STRAND};
use super::search::single::{MATRIX, REMOTE, THRESHOLD, UNGAPPED, WINDOW_SIZE};
use super::search::translation::{MAX_INTRON_LENGTH, QUERY_GENCODE};
use super::search::{
    self, database, files, filtering, fleet, formatting, generic, hsps, metadata, outfmt,
    resources, strategy, task, threads,
};
use super::spec::{self, Program};
use super::values::Values;

/// Properties of `blastx` besides its table of options.
pub const SPEC: ProgramSpec =
    ProgramSpec { program: BlastProgram::Blastx, release: RELEASE, has_sort_options: true };

const TASKS: ValueWords<TaskDefaults, 2> =
    ValueWords::new([("blastx", TaskDefaults::USUAL), ("blastx-fast", TaskDefaults::FAST)]);

/// `-task`.
pub const TASK: Opt<TaskDefaults> = task::option(&TASKS, "blastx");

/// The command `blastx` with its table of options.
pub const BLASTX: Program = Program {
    name: SPEC.name(),
    release: Some(SPEC.release),
    about: "Translated Query-Protein Subject BLAST",
    description: &["Translated Query-Protein Subject BLAST"],
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
        &[SUM_STATS.spec, MAX_INTRON_LENGTH.spec],
        &filtering::of_residues("12 2.2 2.5"),
        &[MATRIX.spec, THRESHOLD.spec],
        hsps::OPTIONS,
        &[WINDOW_SIZE.spec, UNGAPPED.spec],
        query::OF_NUCLEOTIDES,
        &[QUERY_GENCODE.spec],
        &[outfmt::OUTFMT.spec],
        formatting::LAYOUT,
        threads::OPTIONS,
        &[REMOTE.spec],
        // BLAST+ 2.12.0 crashes or never ends with `-use_sw_tback`: it counts queries where it
        // needs contexts (`Blast_RedoOneMatchSmithWaterman`, redo_alignment.c).
        &[COMP_BASED_STATS.spec, USE_SW_TBACK.unsupported().spec],
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

/// Values of the options of `blastx`. Options left out are `None`, or hold the default if BLAST+
/// always applies one.
#[derive(Clone, Debug, PartialEq)]
pub struct BlastxOptions {
    /// Options that programs with tasks and amino-acid words share.
    pub shared: ProteinProgramOptions,
    /// `-sum_stats`.
    pub sum_stats: Option<bool>,
    /// `-max_intron_length`, in nucleotides.
    pub max_intron_length: i32,
    /// `-strand`.
    pub strands: Strands,
    /// `-query_gencode`.
    pub query_code: GeneticCode,
}

impl BlastxOptions {
    /// Reads the values of the options.
    pub fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&BLASTX, given);
        Self {
            shared: ProteinProgramOptions::read(&values, &TASK),
            sum_stats: values.optional(&SUM_STATS),
            max_intron_length: values.get(&MAX_INTRON_LENGTH),
            strands: values.get(&STRAND),
            query_code: values.get(&QUERY_GENCODE),
        }
    }
}
