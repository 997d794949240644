//! Tests of the public interface of the spool.

#[path = "../common/mod.rs"]
mod common;
mod damage;
mod disk_full;
mod jobs;
mod round_trips;
mod shared;

use std::path::Path;

use fleetblast_spool::{Codec, Run};
use proptest::test_runner::Config;

/// Returns a run in a directory that has no job file.
fn bare_run(root: &Path) -> Run {
    Run { root: root.to_path_buf(), number: 1, job: 0x0123_4567_89ab_cdef, codec: Codec::Zstd }
}

/// Returns the configuration for a number of random cases. A failure shows its smallest case.
/// Nothing is written to the source directory.
fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}
