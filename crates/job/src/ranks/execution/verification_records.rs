//! Checkpoint records of verified blocks. A resumed job needs them to verify later blocks.

use fleetblast_db::check_mapped_files;
use fleetblast_fleet::ids::BlockId;
use fleetblast_spool::{Reader, ResultKey, ResultKind, ShareRange, Writer};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::ranks::checkpoint::{CheckpointState, checkpoint_error};
use crate::ranks::wire::{decode, encode};

/// Number of bytes that the writer buffers.
const BUFFER: usize = 1 << 16;

/// Writes and reads the data of a block on which later blocks depend: the extensions of each query,
/// or the outcome of its iterations.
pub struct VerificationRecords {
    checkpoint_state: CheckpointState,
    writer: Writer,
    reader: Reader,
}

impl VerificationRecords {
    /// Creates the records. No other writer of the job may have the number `writer`.
    ///
    /// # Errors
    /// There are too many ranks, or too little memory.
    pub fn new(checkpoint_state: &CheckpointState, writer: u32) -> Result<Self, Error> {
        let writer = Writer::new(&checkpoint_state.run, writer, BUFFER)
            .map_err(|error| checkpoint_error(&error))?;
        Ok(VerificationRecords {
            checkpoint_state: checkpoint_state.clone(),
            writer,
            reader: Reader::new(&checkpoint_state.run),
        })
    }

    /// Writes the record of a block. It is on disk when the function returns.
    ///
    /// # Errors
    /// The checkpoint cannot be written, or a mapped file has changed.
    pub fn write<T: Serialize>(&mut self, block: BlockId, value: &T) -> Result<(), Error> {
        check_mapped_files()?;
        let bytes = encode(value)?;
        let share = ShareRange::whole(bytes.get().len() as u64);
        let appended = self.writer.append(key(block), share, bytes.get());
        appended.and_then(|_| self.writer.sync()).map_err(|error| checkpoint_error(&error))
    }

    /// Reads the record of a block that an earlier run wrote.
    ///
    /// # Errors
    /// The checkpoint cannot be read, or has no record for this block.
    pub fn read<T: DeserializeOwned>(&mut self, block: BlockId) -> Result<T, Error> {
        let places =
            self.checkpoint_state.earlier.shares_of_result(key(block)).ok_or_else(|| {
                Error::engine(format_args!(
                    "the record that verifies query block {block} is missing in the checkpoint"
                ))
            })?;
        let mut bytes = Vec::new();
        for place in places {
            let contents = self.reader.read(&place).map_err(|error| checkpoint_error(&error))?;
            // Records may overlap. Later bytes replace earlier ones.
            bytes.truncate(place.share.start as usize);
            bytes.extend(contents);
        }
        decode(&bytes.into())
    }
}

fn key(block: BlockId) -> ResultKey {
    ResultKey { block: u64::from(block.0), kind: ResultKind::VERIFICATION }
}
