//! Options that most searches with amino-acid words share, and the defaults that a task presets.

use std::ffi::OsString;

use super::composition::CompositionOptions;
use super::filtering::FilteringOptions;
use super::single::{MATRIX, THRESHOLD};
use crate::options::RELEASE;
use crate::options::values::Values;

/// A preset of `-task`: defaults for options left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskDefaults {
    /// The substitution matrix.
    pub matrix: &'static str,
    /// Number of letters in a word.
    pub word_size: usize,
    /// Least score of a neighbouring word; `None` for the suggestion for the matrix.
    pub threshold: Option<f64>,
}

impl TaskDefaults {
    /// Defaults of the task that has the name of the program.
    pub const USUAL: TaskDefaults =
        TaskDefaults { matrix: "BLOSUM62", word_size: 3, threshold: None };

    /// Defaults of the tasks whose names end with `-fast`.
    pub const FAST: TaskDefaults = TaskDefaults {
        matrix: "BLOSUM62",
        word_size: RELEASE.fast_word_size,
        threshold: Some(RELEASE.fast_word_threshold),
    };
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
