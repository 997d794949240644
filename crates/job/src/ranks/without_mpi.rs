//! What a build without MPI does where processes were started together.

use std::sync::Arc;

use fleetblast_mpi::Launch;

use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::interrupt::DrainSignals;
use crate::plan::Plan;

/// Refuses a search on processes that cannot talk to each other.
///
/// # Errors
/// Always.
pub fn on_processes(
    _: Plan,
    launch: Launch,
    _: Option<DrainSignals>,
    _: &Arc<dyn Audience>,
) -> Result<(), Error> {
    refuse(launch)
}

/// The same, whatever is to be done.
///
/// # Errors
/// Always.
pub fn refuse(launch: Launch) -> Result<(), Error> {
    launch.refuse_without_mpi().map_err(|error| Error::new(exit::INPUT, error.to_string()))
}
