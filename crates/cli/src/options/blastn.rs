//! `blastn`: its table of options, the single source for the parser, `-h` and `-help`; and the
//! types of their values.

use fleetblast_engine::params::Strands;
use fleetblast_stats::program::BlastProgram;

use super::RELEASE;
use super::compat;
use super::opt::{Opt, ValueWords};
use super::parse::GivenOptions;
use super::refused::Refused;
use super::search::common::CommonOptions;
use super::search::filtering::{self, NucleotideFilteringOptions};
use super::search::megablast::{self, MegablastOptions, OFF_DIAGONAL_RANGE};
use super::search::metadata::{self, MetadataOptions};
use super::search::nucleotide::{self, NucleotideOptions};
use super::search::program::ProgramSpec;
use super::search::query::{self, STRAND};
use super::search::single::{REMOTE_OF_BLASTN, UNGAPPED, WINDOW_SIZE};
use super::search::{
    self, database, files, fleet, formatting, generic, hsps, outfmt, resources, strategy, task,
    threads,
};
use super::spec::{self, OptionSpec, Program};
use super::values::Values;

/// Properties of `blastn` besides its table of options.
pub const SPEC: ProgramSpec =
    ProgramSpec { program: BlastProgram::Blastn, release: RELEASE, has_sort_options: true };

/// A preset of `blastn`: defaults for options left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// `blastn`.
    Blastn,
    /// `blastn-short`.
    Short,
    /// `dc-megablast`.
    Discontiguous,
    /// `megablast`.
    Megablast,
    /// `rmblastn`, which is refused.
    Rmblastn,
}

const TASKS: ValueWords<Task, 5> = ValueWords::new([
    ("blastn", Task::Blastn),
    ("blastn-short", Task::Short),
    ("dc-megablast", Task::Discontiguous),
    ("megablast", Task::Megablast),
    ("rmblastn", Task::Rmblastn),
]);

/// `-task`.
pub const TASK: Opt<Task> =
    task::option(&TASKS, "megablast").refused(Refused::Values(&["rmblastn"]));

/// Options of ranks with the values that `blastn` refuses. These would assign blocks far ahead,
/// which is impossible while the sizes of batches are unknown.
const FLEET: [OptionSpec; 3] = [
    fleet::SCHEDULE.refused(Refused::ValuesWhen(&["length", "weight"], "by blastn")).spec,
    fleet::QUERY_ORDER.refused(Refused::ValuesWhen(&["longest"], "by blastn")).spec,
    fleet::SEGMENT_SIZE.refused(Refused::When("by blastn")).spec,
];

/// The command `blastn` with its table of options.
pub const BLASTN: Program = Program {
    name: SPEC.name(),
    release: Some(SPEC.release),
    about: "Nucleotide-Nucleotide BLAST",
    description: &["Nucleotide-Nucleotide BLAST"],
    groups: search::GROUPS,
    options: &[
        &[spec::H, spec::HELP],
        strategy::OPTIONS,
        &[TASK.spec],
        database::LISTS,
        database::QUERY,
        database::MASKS,
        database::SUBJECTS_OF_NUCLEOTIDES,
        files::OPTIONS,
        generic::OF_NUCLEOTIDES,
        nucleotide::OPTIONS,
        megablast::OPTIONS,
        filtering::OF_NUCLEOTIDES,
        &[UNGAPPED.spec],
        hsps::OPTIONS,
        &[WINDOW_SIZE.spec, OFF_DIAGONAL_RANGE.spec],
        megablast::OF_INDEX,
        query::OF_NUCLEOTIDES,
        &[outfmt::OUTFMT_WITH_SAM.spec],
        formatting::LAYOUT,
        threads::OPTIONS,
        &[REMOTE_OF_BLASTN.spec, spec::VERSION],
        compat::OPTIONS,
        resources::OPTIONS,
        &fleet::with(FLEET),
        metadata::OPTIONS,
    ],
    details: &[],
    own_version: None,
    positional_option: None,
};

/// Values of the options of `blastn`. Options left out are `None`, or hold the default if BLAST+
/// always applies one.
#[derive(Clone, Debug, PartialEq)]
pub struct BlastnOptions {
    /// Options of all searches.
    pub common: CommonOptions,
    /// Options for a report made at another site.
    pub metadata: MetadataOptions,
    /// `-task`.
    pub task: Task,
    /// `-strand`.
    pub strands: Strands,
    /// Options for scores of nucleotides.
    pub nucleotide: NucleotideOptions,
    /// Options for seeds.
    pub megablast: MegablastOptions,
    /// Options that mask queries.
    pub filtering: NucleotideFilteringOptions,
}

impl BlastnOptions {
    /// Reads the values of the options.
    pub fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&BLASTN, given);
        Self {
            common: CommonOptions::read(&values),
            metadata: MetadataOptions::read(&values),
            task: values.get(&TASK),
            strands: values.get(&STRAND),
            nucleotide: NucleotideOptions::read(&values),
            megablast: MegablastOptions::read(&values),
            filtering: NucleotideFilteringOptions::read(&values),
        }
    }
}
