//! Metadata that came from another site.

use std::io::Read;
use std::path::{Path, PathBuf};

use fleetblast_metadata::records::Records;
use fleetblast_metadata::{Header, MetadataError};

use super::seal;
use crate::error::{Error, exit};

/// Opened metadata, of which the header is read.
pub struct Opened {
    /// Where they are.
    pub path: PathBuf,
    /// What holds for all queries.
    pub header: Header,
    pub(crate) records: Records<Box<dyn Read + Send>>,
}

impl Opened {
    /// Opens a file; one that is encrypted, by an identity for which it is.
    ///
    /// # Errors
    /// A file that cannot be read, or is not whole as far as its header.
    pub fn open(path: PathBuf, identity: Option<&Path>) -> Result<Self, Error> {
        let input = seal::open(&path, identity)?;
        Self::of(path, input, |error| match error {
            // Somebody encrypted it for this identity, and what it begins with cannot be decrypted.
            MetadataError::Foreign if identity.is_some() => MetadataError::CutOff { offset: 0 },
            error => error,
        })
    }

    /// Reads what is called `path`.
    ///
    /// # Errors
    /// What is not whole as far as its header.
    pub(super) fn read(path: PathBuf, input: Box<dyn Read + Send>) -> Result<Self, Error> {
        Self::of(path, input, |error| error)
    }

    fn of(
        path: PathBuf,
        input: Box<dyn Read + Send>,
        judged: impl FnOnce(MetadataError) -> MetadataError,
    ) -> Result<Self, Error> {
        let read = || {
            let mut records = Records::open(input)?;
            let header = records.next_record()?;
            let header = header.ok_or(MetadataError::CutOff { offset: records.offset() })?;
            Ok((Header::decode(&header)?, records))
        };
        let (header, records) = read().map_err(|error| fault(&path, &judged(error)))?;
        Ok(Opened { path, header, records })
    }
}

/// What is wrong with metadata.
pub fn fault(path: &Path, error: &MetadataError) -> Error {
    let advice = match error {
        MetadataError::Damaged { .. } => "; send it again",
        _ => "",
    };
    Error::new(exit::INPUT, format!("{} {error}{advice}", path.display()))
}
