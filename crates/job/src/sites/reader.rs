//! Reads the metadata of another site, for ranks that all make the report.

use fleetblast_metadata::MetadataError;
use fleetblast_metadata::records::RecordKind;

use crate::crossing::SearchEndpoint;
use crate::error::Error;
use crate::metadata::{OpenedMetadata, fault, no_room};

/// Sends the records of a file to the manager, and waits until the report is complete.
///
/// # Errors
/// Damaged or truncated metadata; the error that ended the manager.
pub fn read(mut opened: OpenedMetadata, mut endpoint: SearchEndpoint) -> Result<(), Error> {
    endpoint.send_record(RecordKind::Header, &opened.header.encode().map_err(no_room)?)?;
    loop {
        let path = opened.path.clone();
        let broken = |error: &MetadataError| {
            let advice = match error {
                MetadataError::CutOff { .. } => {
                    "; expand it in one process to have what is whole of it"
                }
                _ => "",
            };
            let error = fault(&path, error);
            Error { message: error.message + advice, ..error }
        };
        let record = opened.next_record().map_err(|error| broken(&error))?;
        let is_last = record.kind == RecordKind::End;
        endpoint.send_record(record.kind, &record.body)?;
        if is_last {
            return endpoint.finish();
        }
    }
}
