//! Replaces the processes of an I/O site in a build without MPI: refuses processes that were
//! started together.

use std::sync::Arc;

use super::Storage;
use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::metadata::OpenedMetadata;

/// Refuses to make a report with processes that cannot communicate.
///
/// # Errors
/// Always, where there are several.
pub fn report(_: &Storage, _: &Arc<dyn Audience>) -> Result<(), Error> {
    let refused = fleetblast_mpi::launched().map_or(Ok(()), |launch| launch.refuse_without_mpi());
    refused.map_err(|error| Error::new(exit::INPUT, error.to_string()))
}

/// Refuses to expand metadata with processes that cannot communicate.
///
/// # Errors
/// Always, where there are several.
pub fn expand(
    site: &Storage,
    _: impl FnOnce() -> Result<OpenedMetadata, Error> + Send,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    report(site, audience)
}
