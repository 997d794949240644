//! The tests of a volume.

use fleetblast_db::SearchPath;
use fleetblast_job::error::Error;

use super::log::{Log, describe};
use super::metadata::MetadataCheck;
use super::options::{Level, Options};
use super::sequences::SequenceCheck;
use super::targets::CheckTarget;
use super::volume::OpenVolume;

/// The tests of volumes.
pub(super) struct VolumeChecks<'a> {
    search: &'a SearchPath,
    metadata: MetadataCheck,
    sequences: SequenceCheck<'a>,
}

impl<'a> VolumeChecks<'a> {
    pub(super) fn new(options: &'a Options, search: &'a SearchPath) -> Self {
        let metadata = MetadataCheck::new(search, options.checks_legacy_files);
        Self { search, metadata, sequences: SequenceCheck::new(options) }
    }

    /// Tests a volume. Returns the number of faults.
    pub(super) fn check(&mut self, volume: &CheckTarget, log: &mut Log) -> Result<usize, Error> {
        let name = String::from_utf8_lossy(&volume.path);
        let volume = match OpenVolume::open(&name, volume.kind, self.search) {
            Ok(volume) => volume,
            Err(error) => {
                log.line(Level::Brief, format!("  [ERROR] caught exception in {name}"))?;
                log.line(Level::Details, describe(log.release(), error))?;
                return Ok(1);
            }
        };
        Ok(self.metadata.check(&volume, log)? + self.sequences.check(&volume, log)?)
    }
}
