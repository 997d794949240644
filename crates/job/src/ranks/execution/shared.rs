//! Data that the threads of a worker share: formatted pieces, checkpoint records, and cuts.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fleetblast_fleet::ids::{BlockId, PassId};
use fleetblast_fleet::work::{OutputRun, WorkerOutcome, WorkerWork};

use super::piece_store::{self, PieceStore};
use super::rank_records::RankRecords;
use crate::error::Error;
use crate::ranks::output::{OutputSlice, SharedOutput};
use crate::ranks::wire::Bytes;

/// Identifies a pass: its block, and its number.
pub type PassKey = (BlockId, PassId);

/// Data that the threads of a worker share.
pub struct WorkerShared {
    /// Formatted pieces.
    pub(super) store: Mutex<PieceStore>,
    /// The checkpoint records of this rank, if the job has records. All output is stored there
    /// first.
    records: Option<Mutex<RankRecords>>,
    output: SharedOutput,
    /// The highest known cut of each pass in progress, below which hits cannot be chosen.
    pub(super) cuts: Mutex<HashMap<PassKey, Bytes>>,
}

impl WorkerShared {
    /// Creates the data of a worker. It keeps pieces in `store`, makes them durable with `records`,
    /// and writes to `output`.
    pub fn new(store: PieceStore, records: Option<RankRecords>, output: SharedOutput) -> Self {
        let (store, records) = (Mutex::new(store), records.map(Mutex::new));
        WorkerShared { store, records, output, cuts: Mutex::new(HashMap::new()) }
    }

    /// Executes the work of the output thread, except writing to the output.
    ///
    /// # Errors
    /// The checkpoint or the spool cannot be read or written.
    pub fn execute(&self, work: WorkerWork<Bytes>) -> Result<OutputOutcome, Error> {
        match work {
            WorkerWork::Gather { block, slices } => {
                let (bytes, freed) = lock(&self.store).take_slices(block, &slices)?;
                Ok(OutputOutcome::Done(WorkerOutcome::Gathered { bytes, freed }))
            }
            WorkerWork::HandOver(window) => {
                let (output_slices, freed) = match &self.records {
                    Some(records) => (lock(records).read_slices(&window.runs)?, 0),
                    None => lock(&self.store).assemble(window)?,
                };
                let bytes: Vec<_> =
                    output_slices.into_iter().map(|output_slice| output_slice.bytes).collect();
                Ok(OutputOutcome::Done(WorkerOutcome::Gathered {
                    bytes: bytes.concat().into(),
                    freed,
                }))
            }
            WorkerWork::Write(window) => match &self.records {
                Some(records) => read_records(records, &window.runs),
                None => Ok(OutputOutcome::from_assembled(lock(&self.store).assemble(window)?)),
            },
            WorkerWork::Collective { runs, master } => match &self.records {
                Some(records) => read_records(records, &runs),
                None => Ok(OutputOutcome::from_assembled(
                    lock(&self.store).assemble_share(&runs, master)?,
                )),
            },
            WorkerWork::Persist { window, size, last } => {
                let block = window.block;
                let records = self.records.as_ref().ok_or_else(|| unknown_block(block))?;
                let (output_slices, freed) = lock(&self.store).assemble(window)?;
                lock(records).append(block, size, &output_slices, last)?;
                Ok(OutputOutcome::Done(WorkerOutcome::Written { freed }))
            }
            WorkerWork::Search { block, .. } | WorkerWork::Answer { block, .. } => {
                Err(unknown_block(block))
            }
        }
    }

    /// Stores a formatted piece: in memory if it has at most `budget` bytes, else in the spool.
    /// Returns the bytes of memory that it takes.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn store_piece(
        &self,
        key: piece_store::PieceKey,
        bytes: Vec<u8>,
        budget: u64,
    ) -> Result<u64, Error> {
        lock(&self.store).insert(key, bytes, budget)
    }

    /// Returns the output.
    pub fn output(&self) -> &SharedOutput {
        &self.output
    }

    /// Completes the output of this rank. If the job has a checkpoint, brings output and records to
    /// disk. Otherwise only reports errors of bytes that this rank has written.
    ///
    /// # Errors
    /// Bytes could not be stored. The message names the file.
    pub fn finish(&self, has_checkpoint: bool) -> Result<(), Error> {
        if !has_checkpoint {
            return self.output.flush();
        }
        self.records.as_ref().map_or(Ok(()), |records| lock(records).write_report_index())?;
        self.output.sync()
    }

    /// Sets the cut of a pass.
    pub fn set_cut(&self, pass: PassKey, cut: Bytes) {
        lock(&self.cuts).insert(pass, cut);
    }
}

/// The outcome of work on the output thread.
pub enum OutputOutcome {
    /// Assembled bytes of the output, to be written.
    Assembled {
        /// The bytes.
        output_slices: Vec<OutputSlice>,
        /// Bytes of memory that are free after the write.
        freed: u64,
    },
    /// The work is complete.
    Done(WorkerOutcome<Bytes>),
}

impl OutputOutcome {
    fn from_assembled((output_slices, freed): (Vec<OutputSlice>, u64)) -> Self {
        OutputOutcome::Assembled { output_slices, freed }
    }
}

/// Reads runs of the output from the records. Frees no memory: pieces are dropped when they are
/// stored in records.
fn read_records(records: &Mutex<RankRecords>, runs: &[OutputRun]) -> Result<OutputOutcome, Error> {
    Ok(OutputOutcome::from_assembled((lock(records).read_slices(runs)?, 0)))
}

/// Locks a mutex. If another thread panicked, the run ends and the data are not used any more.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates the error for work on a block that this rank does not have.
pub fn unknown_block(block: BlockId) -> Error {
    Error::engine(format_args!(
        "a rank was asked about query block {block}, which it does not have"
    ))
}
