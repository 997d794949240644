//! Replaces the I/O ranks in a build without MPI: refuses several processes.

use std::sync::Arc;

use super::IoSitePlan;
use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::metadata::OpenedMetadata;

/// Refuses to make a report in several processes, which cannot communicate.
///
/// # Errors
/// The job was started in several processes.
pub fn run_io_ranks(_: &IoSitePlan, _: &Arc<dyn Audience>) -> Result<(), Error> {
    let refused = fleetblast_mpi::launched().map_or(Ok(()), |launch| launch.refuse_without_mpi());
    refused.map_err(|error| Error::new(exit::INPUT, error.to_string()))
}

/// Refuses to expand metadata in several processes, which cannot communicate.
///
/// # Errors
/// The job was started in several processes.
pub fn expand(
    site: &IoSitePlan,
    _: impl FnOnce() -> Result<OpenedMetadata, Error> + Send,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    run_io_ranks(site, audience)
}
