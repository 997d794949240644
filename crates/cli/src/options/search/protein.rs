//! Options that searches with words of proteins share, and what their tasks preset.

use std::ffi::OsString;

use super::composition::CompositionOptions;
use super::filtering::FilteringOptions;
use super::single::{MATRIX, THRESHOLD};
use crate::options::RELEASE;
use crate::options::values::Values;

/// A preset of a task: defaults for options left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskDefaults {
    /// The substitution matrix.
    pub matrix: &'static str,
    /// Letters of a word.
    pub word_size: usize,
    /// Least score of a neighbouring word; `None` for the default of the matrix.
    pub threshold: Option<f64>,
}

impl TaskDefaults {
    /// The task with the name of the program.
    pub const USUAL: TaskDefaults =
        TaskDefaults { matrix: "BLOSUM62", word_size: 3, threshold: None };

    /// The tasks whose names end with `-fast`.
    pub const FAST: TaskDefaults = TaskDefaults {
        matrix: "BLOSUM62",
        word_size: RELEASE.fast_word_size,
        threshold: Some(RELEASE.fast_word_threshold),
    };
}

/// Values of the options.
#[derive(Clone, Debug, PartialEq)]
pub struct ProteinOptions {
    /// Masks of queries.
    pub filtering: FilteringOptions,
    /// `-matrix`.
    pub matrix: Option<OsString>,
    /// `-threshold`.
    pub threshold: Option<f64>,
    /// Composition-based statistics.
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
