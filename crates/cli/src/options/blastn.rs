//! `blastn`: its table of options, the single source for the parser, `-h` and `-help`; and what was typed.

use fleetblast_db::SequenceKind;
use fleetblast_engine::params::Strands;

use super::RELEASE;
use super::opt::{Choices, Opt};
use super::parse::Given;
use super::refused::Refused;
use super::search::common::CommonOptions;
use super::search::filtering::{self, NucleotideFilteringOptions};
use super::search::megablast::{self, MegablastOptions, OFF_DIAGONAL_RANGE};
use super::search::metadata::{self, MetadataOptions};
use super::search::nucleotide::{self, NucleotideOptions};
use super::search::program::ProgramSpec;
use super::search::query::{self, STRAND};
use super::search::single::{REMOTE, UNGAPPED, WINDOW_SIZE};
use super::search::{
    self, database, files, fleet, formatting, generic, hsps, resources, strategy, task, threads,
};
use super::spec::{self, OptionSpec, Program};
use super::values::Values;

/// What it sets.
pub const SPEC: ProgramSpec = ProgramSpec {
    name: "blastn",
    release: RELEASE,
    queries: SequenceKind::Nucleotide,
    subjects: SequenceKind::Nucleotide,
    has_sam: true,
    tunes_format: true,
};

/// A preset: what holds where nothing else is typed.
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

const TASKS: Choices<Task, 5> = Choices::new([
    ("blastn", Task::Blastn),
    ("blastn-short", Task::Short),
    ("dc-megablast", Task::Discontiguous),
    ("megablast", Task::Megablast),
    ("rmblastn", Task::Rmblastn),
]);

/// `-task`.
pub const TASK: Opt<Task> =
    task::option(&TASKS, "megablast").refused(Refused::Values(&["rmblastn"]));

/// Options of ranks that hand out blocks far ahead, which batches of unknown size do not allow.
const FLEET: [OptionSpec; 3] = [
    fleet::SCHEDULE.refused(Refused::ValuesWhen(&["length", "weight"], "by blastn")).spec,
    fleet::QUERY_ORDER.refused(Refused::ValuesWhen(&["longest"], "by blastn")).spec,
    fleet::SEGMENT_SIZE.refused(Refused::When("by blastn")).spec,
];

/// The program.
pub const BLASTN: Program = Program {
    name: SPEC.name,
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
        formatting::WITH_SAM,
        threads::OPTIONS,
        &[REMOTE.spec, spec::VERSION],
        resources::OPTIONS,
        &fleet::with(FLEET),
        metadata::OPTIONS,
    ],
    lone: None,
};

/// What was typed. Options left out are `None`, or hold the default when BLAST+ always applies one.
#[derive(Clone, Debug, PartialEq)]
pub struct BlastnOptions {
    /// What any search has.
    pub common: CommonOptions,
    /// A report made at another site.
    pub metadata: MetadataOptions,
    /// `-task`.
    pub task: Task,
    /// `-strand`.
    pub strands: Strands,
    /// Scores.
    pub nucleotide: NucleotideOptions,
    /// Words.
    pub megablast: MegablastOptions,
    /// What of the queries is masked.
    pub filtering: NucleotideFilteringOptions,
}

impl BlastnOptions {
    /// Gives each option its type.
    pub fn new(given: &Given) -> Self {
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
