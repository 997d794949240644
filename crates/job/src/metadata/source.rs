//! Reads metadata that a search site made.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use fleetblast_db::load::MAX_MEMORY_FRACTION;
use fleetblast_db::load::machine::available_memory;
use fleetblast_metadata::order::RecordOrder;
use fleetblast_metadata::records::{Record, RecordKind, Records};
use fleetblast_metadata::{Header, MetadataError};

use crate::error::{Error, exit};
use crate::standard;

/// Opened metadata whose header has been read.
pub struct OpenedMetadata {
    /// Path of the file, or the name of another input.
    pub path: PathBuf,
    /// The header of the metadata.
    pub header: Header,
    records: Records<Box<dyn Read + Send>>,
    order: RecordOrder,
    /// Most bytes of memory that a record may use.
    memory: u64,
}

impl OpenedMetadata {
    /// Opens a file, or standard input if there is no path. A record that needs more than `memory`
    /// bytes of memory is an error.
    ///
    /// # Errors
    /// A file that cannot be read, or has no valid header.
    pub fn open(path: Option<PathBuf>, memory: u64) -> Result<Self, Error> {
        let Some(path) = path else {
            let name = "standard input";
            let input = standard::input()
                .map_err(|error| Error::new(exit::INPUT, format!("{name}: {error}")))?;
            return Self::read(name.into(), Box::new(input), memory);
        };
        let file = File::open(&path).map_err(|error| {
            Error::new(exit::INPUT, format!("cannot open {}: {error}", path.display()))
        })?;
        Self::read(path, Box::new(BufReader::new(file)), memory)
    }

    /// Reads the header from `input`. `path` names the input in messages.
    ///
    /// # Errors
    /// An input without a valid header.
    pub(super) fn read(
        path: PathBuf,
        input: Box<dyn Read + Send>,
        memory: u64,
    ) -> Result<Self, Error> {
        let read = || {
            let mut records = Records::open(input)?;
            let header = records.next_record()?;
            let header = header.ok_or(MetadataError::CutOff { offset: records.offset() })?;
            header.verify_memory(memory)?;
            Ok((Header::decode(&header)?, records))
        };
        let (header, records) = read().map_err(|error| metadata_error(&path, &error))?;
        Ok(OpenedMetadata { path, header, records, order: RecordOrder::default(), memory })
    }

    /// Reads the next block or the end record. The input must end after the end record.
    ///
    /// # Errors
    /// Damaged or truncated metadata; blocks that are missing or misplaced.
    pub(crate) fn next_record(&mut self) -> Result<Record, MetadataError> {
        let cut_off = MetadataError::CutOff { offset: 0 };
        let record = self.records.next_record()?.ok_or(cut_off)?;
        record.verify_memory(self.memory)?;
        self.order.verify(&record)?;
        if record.kind == RecordKind::End {
            // Verifies that nothing follows the end record.
            self.records.next_record()?;
        }
        Ok(record)
    }
}

/// Returns the most bytes of memory that a record may use: `wished`, or 80 % of the available
/// memory.
pub fn record_memory(wished: Option<u64>) -> u64 {
    let usual = || available_memory().map(|bytes| (bytes as f64 * MAX_MEMORY_FRACTION) as u64);
    wished.or_else(usual).unwrap_or(u64::MAX)
}

/// Converts an error of the metadata in the file `path`, and adds advice.
pub fn metadata_error(path: &Path, error: &MetadataError) -> Error {
    let advice = match error {
        MetadataError::Damaged { .. }
        | MetadataError::Order { .. }
        | MetadataError::Counts { .. } => "; send it again",
        _ => "",
    };
    Error::new(exit::INPUT, format!("{} {error}{advice}", path.display()))
}
