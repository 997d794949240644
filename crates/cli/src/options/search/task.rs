//! `CTaskCmdLineArgs`: presets of defaults.

use super::GENERAL;
use crate::options::opt::{Choices, Opt};

/// A preset: what holds where nothing else is typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// The word for it.
    pub name: &'static str,
    /// The matrix.
    pub matrix: &'static str,
    /// Letters of a word.
    pub word_size: usize,
    /// What a word must score; `None` for what the matrix suggests.
    pub threshold: Option<f64>,
}

/// The words for tasks, of which there are `N`.
pub const fn choices<const N: usize>(tasks: &[Task]) -> Choices<Task, N> {
    assert!(tasks.len() == N);
    let mut pairs = [(tasks[0].name, tasks[0]); N];
    let mut at = 0;
    while at < N {
        pairs[at] = (tasks[at].name, tasks[at]);
        at += 1;
    }
    Choices::new(pairs)
}

/// `-task`, one of these.
pub const fn option<const N: usize>(
    tasks: &'static Choices<Task, N>,
    default: &'static str,
) -> Opt<Task> {
    Opt::one_of("task", GENERAL, &["Task to execute"], tasks).label("task_name").default(default)
}
