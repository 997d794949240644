//! Metadata that came from another site.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use fleetblast_db::load::HELD_SHARE;
use fleetblast_db::load::machine::available_memory;
use fleetblast_metadata::order::Order;
use fleetblast_metadata::records::{Record, RecordKind, Records};
use fleetblast_metadata::{Header, MetadataError};

use crate::error::{Error, exit};
use crate::standard;

/// Opened metadata, of which the header is read.
pub struct Opened {
    /// Where they are.
    pub path: PathBuf,
    /// What holds for all queries.
    pub header: Header,
    records: Records<Box<dyn Read + Send>>,
    order: Order,
    /// Most memory that a record may take, in bytes.
    memory: u64,
}

impl Opened {
    /// Opens a file, or standard input if there is no path. No record may take more than
    /// `memory` bytes of memory.
    ///
    /// # Errors
    /// A file that cannot be read, or is not whole as far as its header.
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

    /// Reads `input`, which messages call `path`.
    ///
    /// # Errors
    /// What is not whole as far as its header.
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
        let (header, records) = read().map_err(|error| fault(&path, &error))?;
        Ok(Opened { path, header, records, order: Order::default(), memory })
    }

    /// The next block, or the end, after which there is nothing.
    ///
    /// # Errors
    /// Damage; metadata that are cut off; blocks that are missing or out of their place.
    pub(crate) fn next_record(&mut self) -> Result<Record, MetadataError> {
        let cut_off = MetadataError::CutOff { offset: 0 };
        let record = self.records.next_record()?.ok_or(cut_off)?;
        record.verify_memory(self.memory)?;
        self.order.verify(&record)?;
        if record.kind == RecordKind::End {
            // What comes after it is no part of this.
            self.records.next_record()?;
        }
        Ok(record)
    }
}

/// Returns the bytes of memory that a record may take: the wish, or 80 % of the available memory.
pub fn record_memory(wished: Option<u64>) -> u64 {
    let usual = || available_memory().map(|bytes| (bytes as f64 * HELD_SHARE) as u64);
    wished.or_else(usual).unwrap_or(u64::MAX)
}

/// What is wrong with metadata.
pub fn fault(path: &Path, error: &MetadataError) -> Error {
    let advice = match error {
        MetadataError::Damaged { .. }
        | MetadataError::Order { .. }
        | MetadataError::Counts { .. } => "; send it again",
        _ => "",
    };
    Error::new(exit::INPUT, format!("{} {error}{advice}", path.display()))
}
