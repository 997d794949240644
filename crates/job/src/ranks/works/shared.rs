//! What a worker's lanes and its driver share: formatted pieces on their way to the output, and cuts.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fleetblast_fleet::ids::{BlockId, PassId};
use fleetblast_fleet::work::{Run, WorkerOutcome, WorkerWork};

use super::records::Records;
use super::store::{self, Store};
use crate::error::Error;
use crate::ranks::output::{SharedOutput, Stretch};
use crate::ranks::wire::Bytes;

/// A block, and a pass of it.
pub type Pass = (BlockId, PassId);

/// What a worker's lanes and its driver share.
pub struct Shared {
    /// Formatted pieces.
    pub(super) store: Mutex<Store>,
    /// The checkpoint, if there is one: all that is written to the output is kept there first.
    records: Option<Mutex<Records>>,
    output: SharedOutput,
    /// The highest cut known of each pass that is searched.
    pub(super) cuts: Mutex<HashMap<Pass, Bytes>>,
}

impl Shared {
    /// For a worker that keeps its pieces in `store`, makes them durable with `records`, and writes to `output`.
    pub fn new(store: Store, records: Option<Records>, output: SharedOutput) -> Self {
        let (store, records) = (Mutex::new(store), records.map(Mutex::new));
        Shared { store, records, output, cuts: Mutex::new(HashMap::new()) }
    }

    /// Carries out a work of the other lane, but for writing to the output.
    ///
    /// # Errors
    /// Checkpoint or spool that fail.
    pub fn move_bytes(&self, work: WorkerWork<Bytes>) -> Result<Moved, Error> {
        match work {
            WorkerWork::Gather { block, slices } => {
                let (bytes, freed) = lock(&self.store).gather(block, &slices)?;
                Ok(Moved::Done(WorkerOutcome::Gathered { bytes, freed }))
            }
            WorkerWork::HandOver(window) => {
                let (stretches, freed) = match &self.records {
                    Some(records) => (lock(records).stretches(&window.runs)?, 0),
                    None => lock(&self.store).assemble(window)?,
                };
                let bytes: Vec<_> = stretches.into_iter().map(|stretch| stretch.bytes).collect();
                Ok(Moved::Done(WorkerOutcome::Gathered { bytes: bytes.concat().into(), freed }))
            }
            WorkerWork::Write(window) => match &self.records {
                Some(records) => restored(records, &window.runs),
                None => Ok(Moved::assembled(lock(&self.store).assemble(window)?)),
            },
            WorkerWork::Collective { runs, master } => match &self.records {
                Some(records) => restored(records, &runs),
                None => Ok(Moved::assembled(lock(&self.store).assemble_share(&runs, master)?)),
            },
            WorkerWork::Persist { window, size, last } => {
                let block = window.block;
                let records = self.records.as_ref().ok_or_else(|| unknown(block))?;
                let (stretches, freed) = lock(&self.store).assemble(window)?;
                lock(records).keep(block, size, &stretches, last)?;
                Ok(Moved::Done(WorkerOutcome::Written { freed }))
            }
            WorkerWork::Search { block, .. } | WorkerWork::Answer { block, .. } => {
                Err(unknown(block))
            }
        }
    }

    /// Keeps a formatted piece, in memory if it has at most `budget` bytes; returns the bytes of memory it takes.
    ///
    /// # Errors
    /// A spool that cannot be written.
    pub fn keep(&self, key: store::Key, bytes: Vec<u8>, budget: u64) -> Result<u64, Error> {
        lock(&self.store).keep(key, bytes, budget)
    }

    /// The file that is written to.
    pub fn output(&self) -> &SharedOutput {
        &self.output
    }

    /// Brings to disk what was written here.
    ///
    /// # Errors
    /// Names the file.
    pub fn finish(&self) -> Result<(), Error> {
        self.records.as_ref().map_or(Ok(()), |records| lock(records).finish())?;
        self.output.sync()
    }

    /// Takes note of a cut that has risen.
    pub fn raise_cut(&self, pass: Pass, cut: Bytes) {
        lock(&self.cuts).insert(pass, cut);
    }
}

/// What came of a work beside the search.
pub enum Moved {
    /// Bytes of the output, which are to be written; so many bytes of memory are free then.
    Assembled {
        /// The bytes.
        stretches: Vec<Stretch>,
        /// Memory.
        freed: u64,
    },
    /// It is through.
    Done(WorkerOutcome<Bytes>),
}

impl Moved {
    fn assembled((stretches, freed): (Vec<Stretch>, u64)) -> Self {
        Moved::Assembled { stretches, freed }
    }
}

/// What is in the checkpoint takes no memory of formatted pieces any more.
fn restored(records: &Mutex<Records>, runs: &[Run]) -> Result<Moved, Error> {
    Ok(Moved::assembled((lock(records).stretches(runs)?, 0)))
}

/// What a panicking thread left behind is not looked at: its panic ends the run.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A work on a block that is not here.
pub fn unknown(block: BlockId) -> Error {
    Error::engine(format_args!(
        "a rank was asked about query block {block}, which it does not have"
    ))
}
