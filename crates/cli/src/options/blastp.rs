//! `blastp`: its table of options, the single source for the parser, `-h` and `-help`; and what was typed.

use std::ffi::OsString;

use fleetblast_db::SequenceKind;

use super::RELEASE;
use super::opt::{Choices, Opt};
use super::parse::Given;
use super::search::common::CommonOptions;
use super::search::composition::{self, CompositionOptions};
use super::search::filtering::{self, FilteringOptions};
use super::search::metadata::{self, MetadataOptions};
use super::search::program::ProgramSpec;
use super::search::single::{MATRIX, REMOTE, THRESHOLD, UNGAPPED, WINDOW_SIZE};
use super::search::{
    self, database, files, fleet, formatting, generic, hsps, query, resources, strategy, task,
    threads,
};
use super::spec::{self, Program};
use super::values::Values;

/// What it sets.
pub const SPEC: ProgramSpec = ProgramSpec {
    name: "blastp",
    release: RELEASE,
    queries: SequenceKind::Protein,
    subjects: SequenceKind::Protein,
    has_sam: false,
    tunes_format: true,
};

/// A preset: what holds where nothing else is typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// The matrix.
    pub matrix: &'static str,
    /// Letters of a word.
    pub word_size: usize,
    /// What a word must score; `None` for what the matrix suggests.
    pub threshold: Option<f64>,
}

const TASKS: Choices<Task, 3> = Choices::new([
    ("blastp", Task { matrix: "BLOSUM62", word_size: 3, threshold: None }),
    (
        "blastp-fast",
        Task {
            matrix: "BLOSUM62",
            word_size: RELEASE.fast_word_size,
            threshold: Some(RELEASE.fast_threshold),
        },
    ),
    ("blastp-short", Task { matrix: "PAM30", word_size: 2, threshold: None }),
]);

/// `-task`.
pub const TASK: Opt<Task> = task::option(&TASKS, "blastp");

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
        formatting::OPTIONS,
        threads::OPTIONS,
        &[UNGAPPED.spec, REMOTE.spec],
        composition::OPTIONS,
        &[spec::VERSION],
        resources::OPTIONS,
        fleet::OPTIONS,
        metadata::OPTIONS,
    ],
    lone: None,
};

/// What was typed. Options left out are `None`, or hold the default when BLAST+ always applies one.
#[derive(Clone, Debug, PartialEq)]
pub struct BlastpOptions {
    /// What any search has.
    pub common: CommonOptions,
    /// A report made at another site.
    pub metadata: MetadataOptions,
    /// `-task`.
    pub task: Task,
    /// What of the queries is masked.
    pub filtering: FilteringOptions,
    /// `-matrix`.
    pub matrix: Option<OsString>,
    /// `-threshold`.
    pub threshold: Option<f64>,
    /// Composition of sequences.
    pub composition: CompositionOptions,
}

impl BlastpOptions {
    /// Gives each option its type.
    pub fn new(given: &Given) -> Self {
        let values = Values::new(&BLASTP, given);
        Self {
            common: CommonOptions::read(&values),
            metadata: MetadataOptions::read(&values),
            task: values.get(&TASK),
            filtering: FilteringOptions::read(&values),
            matrix: values.optional(&MATRIX),
            threshold: values.optional(&THRESHOLD),
            composition: CompositionOptions::read(&values),
        }
    }
}
