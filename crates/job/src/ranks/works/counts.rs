//! Extensions of queries that are judged, in the checkpoint: who goes on judges the rest by them.

use fleetblast_fleet::ids::BlockId;
use fleetblast_spool::{Key, Kind, Reader, Share, Writer};

use crate::error::Error;
use crate::ranks::checkpoint::{Kept, failure};
use crate::ranks::wire::{pack, unpack};

/// Bytes that the writer collects before it writes.
const BUFFER: usize = 1 << 16;

/// What is kept of extensions.
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

    /// Keeps the extensions of the queries of a block; durable when it returns.
    ///
    /// # Errors
    /// A checkpoint that cannot be written.
    pub fn keep(&mut self, block: BlockId, extensions: &Vec<u64>) -> Result<(), Error> {
        let bytes = pack(extensions)?;
        let whole = Share::whole(bytes.get().len() as u64);
        let appended = self.writer.append(key(block), whole, bytes.get());
        appended.and_then(|_| self.writer.sync()).map_err(|error| failure(&error))
    }

    /// Those that an earlier run kept.
    ///
    /// # Errors
    /// A checkpoint that cannot be read, or does not have them.
    pub fn read(&mut self, block: BlockId) -> Result<Vec<u64>, Error> {
        let places = self.kept.earlier.cover(key(block)).ok_or_else(|| {
            Error::engine(format_args!(
                "the extensions of query block {block} are missing in the checkpoint"
            ))
        })?;
        let mut bytes = Vec::new();
        for place in places {
            let contents = self.reader.read(&place).map_err(|error| failure(&error))?;
            bytes.extend(contents);
        }
        unpack(&bytes.into())
    }
}

fn key(block: BlockId) -> Key {
    Key { block: u64::from(block.0), kind: Kind::COUNTS }
}
