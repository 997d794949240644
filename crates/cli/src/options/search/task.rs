//! `CTaskCmdLineArgs`: presets of defaults.

use super::GENERAL;
use crate::options::opt::{Opt, ValueWords};

/// Creates the option `-task` with these tasks.
pub const fn option<T, const N: usize>(
    tasks: &'static ValueWords<T, N>,
    default: &'static str,
) -> Opt<T> {
    Opt::one_of("task", GENERAL, &["Task to execute"], tasks).label("task_name").default(default)
}
