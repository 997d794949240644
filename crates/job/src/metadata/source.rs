//! Metadata that came from another site.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use fleetblast_metadata::records::Records;
use fleetblast_metadata::{Header, MetadataError};

use crate::error::{Error, exit};

/// Opened metadata, of which the header is read.
pub struct Opened {
    /// Where they are.
    pub path: PathBuf,
    /// What holds for all queries.
    pub header: Header,
    pub(super) records: Records<BufReader<File>>,
}

impl Opened {
    /// Opens a file.
    ///
    /// # Errors
    /// A file that cannot be read, or is not whole as far as its header.
    pub fn open(path: PathBuf) -> Result<Self, Error> {
        let failed = |error: std::io::Error| {
            Error::new(exit::INPUT, format!("cannot open {}: {error}", path.display()))
        };
        let file = File::open(&path).map_err(failed)?;
        let read = || {
            let mut records = Records::open(BufReader::new(file))?;
            let header = records.next_record()?;
            let header = header.ok_or(MetadataError::CutOff { offset: records.offset() })?;
            Ok((Header::decode(&header)?, records))
        };
        let (header, records) = read().map_err(|error| fault(&path, &error))?;
        Ok(Opened { path, header, records })
    }
}

/// What is wrong with metadata.
pub fn fault(path: &std::path::Path, error: &MetadataError) -> Error {
    let advice = match error {
        MetadataError::Damaged { .. } => "; send it again",
        _ => "",
    };
    Error::new(exit::INPUT, format!("{} {error}{advice}", path.display()))
}
