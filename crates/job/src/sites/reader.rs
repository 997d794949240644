//! Reads metadata that another site wrote, for ranks that all make the report.

use fleetblast_metadata::MetadataError;
use fleetblast_metadata::records::RecordKind;

use super::crossing::ROOM;
use super::post::{Address, Message, Post};
use crate::error::{Error, exit};
use crate::metadata::{Opened, fault, no_room};

/// Tells the manager what is in a file, block by block, until the report is whole.
///
/// # Errors
/// Metadata that are damaged or cut off; silent where something went wrong elsewhere.
pub fn read(opened: Opened, post: &Post) -> Result<(), Error> {
    let told =
        tell(opened, post).and_then(|()| hear_until(post, |message| *message == Message::Done));
    told.inspect_err(|error| post.fail(error))
}

fn tell(mut opened: Opened, post: &Post) -> Result<(), Error> {
    let mut under_way = Sent(0);
    under_way.send(post, RecordKind::Header, opened.header.encode().map_err(no_room)?)?;
    loop {
        let broken = |error: &MetadataError| {
            let advice = match error {
                MetadataError::CutOff { .. } => {
                    "; expand it in one process to have what is whole of it"
                }
                _ => "",
            };
            let error = fault(&opened.path, error);
            Error { message: error.message + advice, ..error }
        };
        let record = opened.records.next_record().map_err(|error| broken(&error))?;
        let record = record.ok_or_else(|| broken(&MetadataError::CutOff { offset: 0 }))?;
        let is_last = record.kind == RecordKind::End;
        if is_last {
            // What comes after it is no part of this.
            opened.records.next_record().map_err(|error| fault(&opened.path, &error))?;
        }
        under_way.send(post, record.kind, record.body)?;
        if is_last {
            return Ok(());
        }
    }
}

/// Bytes of records of which the report is not written.
struct Sent(u64);

impl Sent {
    /// Sends a record, and waits while there is much of which the report is not written.
    fn send(&mut self, post: &Post, kind: RecordKind, body: Vec<u8>) -> Result<(), Error> {
        self.0 += body.len() as u64;
        post.send(Address::Manager, Message::Record(kind, body));
        let under_way = &mut self.0;
        if *under_way <= ROOM {
            return Ok(());
        }
        hear_until(post, |message| {
            if let Message::Written(bytes) = message {
                *under_way = under_way.saturating_sub(*bytes);
            }
            *under_way <= ROOM
        })
    }
}

/// Hears the manager until it says something.
fn hear_until(post: &Post, mut is_it: impl FnMut(&Message) -> bool) -> Result<(), Error> {
    loop {
        // Who is gone has told why.
        let parcel = post.wait().map_err(|_| Error::new(exit::UNKNOWN, ""))?;
        match parcel.message {
            Message::Failed(code, message) => return Err(Error::new(code, message)),
            message if is_it(&message) => return Ok(()),
            _ => {}
        }
    }
}
