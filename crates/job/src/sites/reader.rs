//! Reads metadata that another site wrote, for ranks that all make the report.

use fleetblast_metadata::MetadataError;
use fleetblast_metadata::records::RecordKind;

use crate::crossing::Near;
use crate::error::Error;
use crate::metadata::{Opened, fault, no_room};

/// Tells the manager what is in a file, block by block, until the report is whole.
///
/// # Errors
/// Metadata that are damaged or cut off; what ended the manager.
pub fn read(mut opened: Opened, mut near: Near) -> Result<(), Error> {
    near.record(RecordKind::Header, &opened.header.encode().map_err(no_room)?)?;
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
        near.record(record.kind, &record.body)?;
        if is_last {
            return near.finish();
        }
    }
}
