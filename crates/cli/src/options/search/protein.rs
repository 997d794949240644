//! Options that most searches with amino-acid words share, and the defaults that a task presets.

use std::ffi::OsString;

use fleetblast_stats::release::Release;

use super::common::CommonOptions;
use super::composition::CompositionOptions;
use super::filtering::FilteringOptions;
use super::metadata::MetadataOptions;
use super::single::{MATRIX, THRESHOLD};
use crate::options::opt::Opt;
use crate::options::values::Values;

/// A preset of `-task`: defaults for options left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskDefaults {
    /// The substitution matrix.
    pub matrix: &'static str,
    /// The words.
    pub words: TaskWords,
}

/// The words of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskWords {
    /// Words of three residues.
    Usual,
    /// Words of two residues, for short queries.
    Short,
    /// Long words, whose length depends on the release.
    Fast,
}

impl TaskWords {
    /// Returns the number of residues in a word.
    pub fn size(self, release: &Release) -> usize {
        match self {
            TaskWords::Usual => 3,
            TaskWords::Short => 2,
            TaskWords::Fast => release.fast_word_size,
        }
    }

    /// Returns the least score of a neighbouring word; `None` for the suggestion for the matrix.
    pub fn threshold(self, release: &Release) -> Option<f64> {
        (self == TaskWords::Fast).then_some(release.fast_word_threshold)
    }
}

impl TaskDefaults {
    /// Defaults of the task that has the name of the program.
    pub const USUAL: TaskDefaults = TaskDefaults { matrix: "BLOSUM62", words: TaskWords::Usual };

    /// Defaults of the tasks whose names end with `-fast`.
    pub const FAST: TaskDefaults = TaskDefaults { matrix: "BLOSUM62", words: TaskWords::Fast };

    /// Defaults of the task for short queries.
    pub const SHORT: TaskDefaults = TaskDefaults { matrix: "PAM30", words: TaskWords::Short };
}

/// Values of the options that most searches with amino-acid words share.
#[derive(Clone, Debug, PartialEq)]
pub struct ProteinOptions {
    /// Options that mask queries.
    pub filtering: FilteringOptions,
    /// `-matrix`.
    pub matrix: Option<OsString>,
    /// `-threshold`.
    pub threshold: Option<f64>,
    /// Options for composition-based statistics.
    pub composition: CompositionOptions,
}

impl ProteinOptions {
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self {
            filtering: FilteringOptions::read(values),
            matrix: values.optional(&MATRIX),
            threshold: values.optional(&THRESHOLD),
            composition: CompositionOptions::read(values),
        }
    }
}

/// Values of the options that `blastp`, `blastx` and `tblastn` share.
#[derive(Clone, Debug, PartialEq)]
pub struct ProteinProgramOptions {
    /// Options of all searches.
    pub common: CommonOptions,
    /// Options for a report made at another site.
    pub metadata: MetadataOptions,
    /// `-task`.
    pub task: TaskDefaults,
    /// Options that searches with amino-acid words share.
    pub protein: ProteinOptions,
}

impl ProteinProgramOptions {
    /// Reads the values of the options; `task` is the program's `-task`.
    pub fn read(values: &Values<'_>, task: &Opt<TaskDefaults>) -> Self {
        Self {
            common: CommonOptions::read(values),
            metadata: MetadataOptions::read(values),
            task: values.get(task),
            protein: ProteinOptions::read(values),
        }
    }
}
