//! Reads a file of metadata, and sends its records to the ranks that make the report.

use fleetblast_metadata::MetadataError;
use fleetblast_metadata::records::RecordKind;

use crate::error::Error;
use crate::io_channel::SearchEndpoint;
use crate::metadata::{OpenedMetadata, memory_error, metadata_error};

/// Sends the records of a file to the manager and waits for the report.
///
/// # Errors
/// Damaged or truncated metadata; the error that ended the manager.
pub fn send_records(mut opened: OpenedMetadata, mut endpoint: SearchEndpoint) -> Result<(), Error> {
    endpoint.send_record(RecordKind::Header, &opened.header.encode().map_err(memory_error)?)?;
    loop {
        let path = opened.path.clone();
        let broken = |error: &MetadataError| {
            let advice = match error {
                MetadataError::CutOff { .. } => {
                    "; expand it in one process to have what is whole of it"
                }
                _ => "",
            };
            let error = metadata_error(&path, error);
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
