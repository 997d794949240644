//! Replaces the jobs of several processes in a build without MPI.

use std::sync::Arc;

use fleetblast_mpi::Launch;

use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::interrupt::DrainSignals;
use crate::plan::Plan;

/// Refuses to search on several processes, which cannot exchange messages without MPI.
///
/// # Errors
/// Always fails.
pub fn on_processes(
    _: Plan,
    launch: Launch,
    _: Option<DrainSignals>,
    _: &Arc<dyn Audience>,
) -> Result<(), Error> {
    refuse(launch)
}

/// Refuses a start of several processes.
///
/// # Errors
/// Always fails.
pub fn refuse(launch: Launch) -> Result<(), Error> {
    launch.refuse_without_mpi().map_err(|error| Error::new(exit::INPUT, error.to_string()))
}
