//! Loads partitions one after the other while the search works on earlier ones.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Loader;
use crate::{Bases, Database, DbError, LoadedPartition, Partition, PartitionContents};

/// A partition that is loaded as a whole, and its ranges, which are searched separately.
#[derive(Clone, Debug)]
pub struct LoadUnit {
    /// The partition to load.
    pub partition: Partition,
    /// Ranges of OIDs that make up the partition.
    pub ranges: Vec<Range<u32>>,
}

/// Loads all partitions of a database in order, and keeps them in memory if requested.
pub struct PartitionSupply {
    loader: Box<dyn Loader>,
    units: Vec<LoadUnit>,
    /// The loaded partition of each unit; `None` if units are not kept.
    kept: Option<Vec<OnceLock<Arc<LoadedPartition>>>>,
    /// Lock that a thread holds while it loads a unit.
    loading: Mutex<()>,
}

/// A range of OIDs to search, whose bytes are in memory.
pub struct LoadedRange {
    /// A loaded partition that contains the range. Its bytes stay in memory as long as this value.
    pub partition: Arc<LoadedPartition>,
    /// The OIDs to search.
    pub range: Range<u32>,
}

/// Groups consecutive ranges into units of at most `size` bytes. A range above `size` is a unit by
/// itself.
///
/// # Errors
/// [`DbError::InvalidOffset`] for offsets out of order at the ends of a range.
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
    /// Creates a supply that loads `units` in this order. With `keep`, loaded units stay in memory.
    pub fn new(loader: Box<dyn Loader>, units: Vec<LoadUnit>, keep: bool) -> Self {
        let kept = keep.then(|| units.iter().map(|_| OnceLock::new()).collect());
        Self { loader, units, kept, loading: Mutex::default() }
    }

    /// Returns the units in the order of loading.
    pub fn units(&self) -> &[LoadUnit] {
        &self.units
    }

    /// Returns the loader.
    pub fn loader(&self) -> &dyn Loader {
        &*self.loader
    }

    /// Returns the residues of a sequence that was loaded and kept.
    pub fn kept_residues_of(&self, oid: u32) -> Option<&[u8]> {
        self.kept_partition(oid).map(|partition| partition.residues_of(oid))
    }

    /// Returns all stored bytes of a sequence that was loaded and kept, like
    /// [`stored_of`](LoadedPartition::stored_bytes_of).
    pub fn kept_stored_bytes_of(&self, oid: u32) -> Option<&[u8]> {
        self.kept_partition(oid).map(|partition| partition.stored_bytes_of(oid))
    }

    /// Returns the bases of a sequence that was loaded and kept. Returns `None` also for a damaged
    /// sequence, which [`validate`](LoadedPartition::validate) finds.
    pub fn kept_bases_of(&self, oid: u32) -> Option<Bases<'_>> {
        self.kept_partition(oid).and_then(|partition| partition.bases_of(oid).ok())
    }

    /// Returns the partition that contains a sequence, if it was loaded and kept.
    fn kept_partition(&self, oid: u32) -> Option<&LoadedPartition> {
        let kept = self.kept.as_ref()?;
        let at = self.units.partition_point(|unit| unit.partition.oids.end <= oid);
        kept.get(at)?.get().map(AsRef::as_ref)
    }

    /// Makes one pass through the database. `work` gets ranges from the queue on any number of
    /// threads, while another thread loads the next ones. Returns the result of `work` and the
    /// total time that its threads waited.
    ///
    /// # Errors
    /// The error nearest to the beginning of the database, among the errors of loading and those
    /// that `work` [reports](RangeQueue::fail).
    pub fn run_pass<R>(
        &self,
        work: impl FnOnce(&RangeQueue) -> R,
    ) -> Result<(R, Duration), DbError> {
        let queue = RangeQueue::default();
        let done = thread::scope(|scope| {
            // If `work` panics, this value closes the queue, so that the loading thread stops.
            let closing = CloseOnDrop(&queue);
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

    /// Loads units until the last one is loaded or the queue is closed.
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
        // Passes on several threads must not load the same unit at once.
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

/// Queue of loaded ranges in OID order, for the threads that search them.
#[derive(Default)]
pub struct RangeQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ready: VecDeque<LoadedRange>,
    /// Whether the last range has been added.
    finished: bool,
    /// Whether the pass has ended, so that no thread gets a range any more.
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
    /// the lowest OID. Since threads get the ranges in order, this choice is deterministic.
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
        // The lock is released first, because freeing the ranges can wake the loading thread.
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
struct CloseOnDrop<'a>(&'a RangeQueue);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close(self.0.lock());
    }
}
