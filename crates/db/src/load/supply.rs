//! Loads partitions one after the other while the search works on earlier ones.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Loader;
use crate::{Bases, Database, DbError, LoadedPartition, Partition, PartitionContents};

/// A partition that is loaded at a time, and its ranges, which are searched separately.
#[derive(Clone, Debug)]
pub struct LoadUnit {
    /// The partition to load.
    pub partition: Partition,
    /// Ranges of OIDs that make up the partition.
    pub ranges: Vec<Range<u32>>,
}

/// Loads all partitions of a database in order; keeps loaded partitions if required.
pub struct PartitionSupply {
    loader: Box<dyn Loader>,
    units: Vec<LoadUnit>,
    /// Loaded bytes of each unit, if units are kept.
    kept: Option<Vec<OnceLock<Arc<LoadedPartition>>>>,
    /// Held while a unit is loaded.
    loading: Mutex<()>,
}

/// A range of OIDs to search, whose bytes are in memory.
pub struct LoadedRange {
    /// The bytes of the range and of neighbouring ones. They stay in memory as long as this value.
    pub partition: Arc<LoadedPartition>,
    /// The OIDs to search.
    pub range: Range<u32>,
}

/// Groups consecutive ranges into units of at most `size` bytes. A larger range is a unit of its
/// own.
///
/// # Errors
/// Offsets out of order at the ends of a range.
pub(super) fn group_into_units(
    database: &Database,
    ranges: Vec<Range<u32>>,
    contents: PartitionContents,
    size: u64,
) -> Result<Vec<LoadUnit>, DbError> {
    let mut units: Vec<LoadUnit> = Vec::new();
    for range in ranges {
        let partition = database.partition(range.clone(), contents)?;
        if let Some(last) = units.last_mut()
            && last.partition.byte_count() + partition.byte_count() <= size
        {
            let oids = last.partition.oids.start..range.end;
            last.partition = database.partition(oids, contents)?;
            last.ranges.push(range);
            continue;
        }
        units.push(LoadUnit { partition, ranges: vec![range] });
    }
    Ok(units)
}

impl PartitionSupply {
    /// Makes a supply of these units, in this order. With `keep`, loaded units stay in memory.
    pub fn new(loader: Box<dyn Loader>, units: Vec<LoadUnit>, keep: bool) -> Self {
        let kept = keep.then(|| units.iter().map(|_| OnceLock::new()).collect());
        Self { loader, units, kept, loading: Mutex::default() }
    }

    /// Units in the order of loading.
    pub fn units(&self) -> &[LoadUnit] {
        &self.units
    }

    /// The loader.
    pub fn loader(&self) -> &dyn Loader {
        &*self.loader
    }

    /// Returns the residues of a sequence that was loaded and kept.
    pub fn kept_residues_of(&self, oid: u32) -> Option<&[u8]> {
        self.kept_partition(oid).map(|partition| partition.residues_of(oid))
    }

    /// Returns all stored bytes of a sequence that was loaded and kept, as
    /// [`stored_of`](LoadedPartition::stored_bytes_of) does.
    pub fn kept_stored_bytes_of(&self, oid: u32) -> Option<&[u8]> {
        self.kept_partition(oid).map(|partition| partition.stored_bytes_of(oid))
    }

    /// Returns the bases of a sequence that was loaded and kept. Also `None` for a damaged
    /// database, which [`validate`](LoadedPartition::validate) finds.
    pub fn kept_bases_of(&self, oid: u32) -> Option<Bases<'_>> {
        self.kept_partition(oid).and_then(|partition| partition.bases_of(oid).ok())
    }

    /// Returns the partition that contains a sequence, if it was loaded and kept.
    fn kept_partition(&self, oid: u32) -> Option<&LoadedPartition> {
        let kept = self.kept.as_ref()?;
        let at = self.units.partition_point(|unit| unit.partition.oids.end <= oid);
        kept.get(at)?.get().map(AsRef::as_ref)
    }

    /// Makes one pass through the database. `work` takes ranges from the queue, on any number of
    /// threads, while another thread loads the next ones. Also returns the time that these threads
    /// waited, in total.
    ///
    /// # Errors
    /// Of the errors of loading and of those that `work` [reports](RangeQueue::fail), the error
    /// nearest to the beginning of the database.
    pub fn run_pass<R>(
        &self,
        work: impl FnOnce(&RangeQueue) -> R,
    ) -> Result<(R, Duration), DbError> {
        let queue = RangeQueue::default();
        let done = thread::scope(|scope| {
            // If `work` panics, the loading thread must not wait for it.
            let closing = Closing(&queue);
            let feeding = scope.spawn(|| self.feed(&queue));
            let result = work(&queue);
            drop(closing);
            feeding.join().map(|()| result)
        });
        let state = queue.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match (state.failure, done) {
            (Some((_, error)), _) => Err(error),
            (None, Ok(result)) => Ok((result, state.waiting)),
            (None, Err(panic)) => std::panic::resume_unwind(panic),
        }
    }

    /// Loads units until the last one, or until the queue is closed.
    fn feed(&self, queue: &RangeQueue) {
        for (number, unit) in self.units.iter().enumerate() {
            match self.load(number, unit) {
                Ok(partition) => {
                    if !queue.push(&partition, &unit.ranges) {
                        return;
                    }
                }
                Err(error) => return queue.fail(unit.partition.oids.start, error),
            }
        }
        queue.finish();
    }

    fn load(&self, number: usize, unit: &LoadUnit) -> Result<Arc<LoadedPartition>, DbError> {
        let slot = self.kept.as_ref().and_then(|kept| kept.get(number));
        let kept = || slot.and_then(OnceLock::get).cloned();
        if let Some(partition) = kept() {
            return Ok(partition);
        }
        // Passes on several threads must not read the same unit at once.
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(partition) = kept() {
            return Ok(partition);
        }
        let partition = self.loader.load(&unit.partition)?;
        Ok(match slot {
            Some(slot) => Arc::clone(slot.get_or_init(|| partition)),
            None => partition,
        })
    }
}

/// Ranges that are in memory, in OID order, from which threads take them.
#[derive(Default)]
pub struct RangeQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ready: VecDeque<LoadedRange>,
    /// The last range was added.
    finished: bool,
    /// No thread requests further ranges.
    closed: bool,
    failure: Option<(u32, DbError)>,
    waiting: Duration,
}

impl RangeQueue {
    /// Waits for the next range; `None` after the last range and after an error.
    pub fn next(&self) -> Option<LoadedRange> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(work) = state.ready.pop_front() {
                return Some(work);
            }
            if state.finished {
                return None;
            }
            let start = Instant::now();
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting += start.elapsed();
        }
    }

    /// Ends the pass because of an error at `oid`. Of several errors, the pass returns the one with
    /// the lowest OID. Since ranges are handed out in order, this choice is deterministic.
    pub fn fail(&self, oid: u32, error: DbError) {
        let mut state = self.lock();
        if state.failure.as_ref().is_none_or(|(least, _)| oid < *least) {
            state.failure = Some((oid, error));
        }
        self.close(state);
    }

    /// Appends ranges of a loaded partition. Returns false if the queue is closed.
    fn push(&self, partition: &Arc<LoadedPartition>, ranges: &[Range<u32>]) -> bool {
        let mut state = self.lock();
        if state.closed {
            return false;
        }
        state.ready.extend(
            ranges.iter().map(|range| LoadedRange {
                partition: Arc::clone(partition),
                range: range.clone(),
            }),
        );
        drop(state);
        self.changed.notify_all();
        true
    }

    fn finish(&self) {
        self.lock().finished = true;
        self.changed.notify_all();
    }

    fn close(&self, mut state: MutexGuard<'_, State>) {
        state.closed = true;
        // The lock is released first: freeing memory can wake the loading thread.
        let unwanted = std::mem::take(&mut state.ready);
        drop(state);
        drop(unwanted);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes a queue when dropped.
struct Closing<'a>(&'a RangeQueue);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close(self.0.lock());
    }
}
