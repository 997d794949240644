//! What blocks are judged by, in the checkpoint: who goes on judges the rest by it.

use fleetblast_db::check_mapped_files;
use fleetblast_fleet::ids::BlockId;
use fleetblast_spool::{Key, Kind, Reader, Share, Writer};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::ranks::checkpoint::{Kept, failure};
use crate::ranks::wire::{pack, unpack};

/// Bytes that the writer collects before it writes.
const BUFFER: usize = 1 << 16;

/// What is kept of what is judged: the extensions of each query of a block, or what became of the queries.
pub struct Counts {
    kept: Kept,
    writer: Writer,
    reader: Reader,
}

impl Counts {
    /// With the writer of this number, which is no rank's.
    ///
    /// # Errors
    /// Too many ranks, too little memory.
    pub fn new(kept: &Kept, writer: u32) -> Result<Self, Error> {
        let writer = Writer::new(&kept.run, writer, BUFFER).map_err(|error| failure(&error))?;
        Ok(Counts { kept: kept.clone(), writer, reader: Reader::new(&kept.run) })
    }

    /// Keeps what a block is judged by; durable when it returns.
    ///
    /// # Errors
    /// A checkpoint that cannot be written; a mapped file that has changed.
    pub fn keep<T: Serialize>(&mut self, block: BlockId, found: &T) -> Result<(), Error> {
        check_mapped_files()?;
        let bytes = pack(found)?;
        let whole = Share::whole(bytes.get().len() as u64);
        let appended = self.writer.append(key(block), whole, bytes.get());
        appended.and_then(|_| self.writer.sync()).map_err(|error| failure(&error))
    }

    /// What an earlier run kept.
    ///
    /// # Errors
    /// A checkpoint that cannot be read, or does not have it.
    pub fn read<T: DeserializeOwned>(&mut self, block: BlockId) -> Result<T, Error> {
        let places = self.kept.earlier.cover(key(block)).ok_or_else(|| {
            Error::engine(format_args!(
                "what query block {block} is judged by is missing in the checkpoint"
            ))
        })?;
        let mut bytes = Vec::new();
        for place in places {
            let contents = self.reader.read(&place).map_err(|error| failure(&error))?;
            // It may begin before the end of the one before it.
            bytes.truncate(place.share.start as usize);
            bytes.extend(contents);
        }
        unpack(&bytes.into())
    }
}

fn key(block: BlockId) -> Key {
    Key { block: u64::from(block.0), kind: Kind::COUNTS }
}
