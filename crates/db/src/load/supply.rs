//! The supply of a search: partitions, loaded one after the other while earlier ones are searched.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Loader;
use crate::{Bases, Contents, Database, DbError, LoadedPartition, Partition};

/// What is loaded at a time: some of the ranges that are searched on their own.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The bytes.
    pub partition: Partition,
    /// Ranges of OIDs that make up the partition.
    pub ranges: Vec<Range<u32>>,
}

/// All partitions of a database, the way to load them, and what is kept of them.
pub struct Supply {
    loader: Box<dyn Loader>,
    units: Vec<Unit>,
    /// For each unit what was loaded, if units are kept.
    kept: Option<Vec<OnceLock<Arc<LoadedPartition>>>>,
}

/// A range to search, in memory.
pub struct Work {
    /// The bytes of the range, and of others around it. As long as this lives, they stay in memory.
    pub partition: Arc<LoadedPartition>,
    /// The range.
    pub range: Range<u32>,
}

/// Groups consecutive ranges into units of at most `size` bytes, or of one range if that alone is larger.
///
/// # Errors
/// Offsets out of order at the ends of a range.
pub(super) fn units(
    database: &Database,
    ranges: Vec<Range<u32>>,
    contents: Contents,
    size: u64,
) -> Result<Vec<Unit>, DbError> {
    let mut units: Vec<Unit> = Vec::new();
    for range in ranges {
        let partition = database.partition(range.clone(), contents)?;
        if let Some(last) = units.last_mut()
            && last.partition.size() + partition.size() <= size
        {
            let oids = last.partition.oids.start..range.end;
            last.partition = database.partition(oids, contents)?;
            last.ranges.push(range);
            continue;
        }
        units.push(Unit { partition, ranges: vec![range] });
    }
    Ok(units)
}

impl Supply {
    /// A supply of these units, in this order. `keep`: what was loaded once stays in memory.
    pub fn new(loader: Box<dyn Loader>, units: Vec<Unit>, keep: bool) -> Self {
        let kept = keep.then(|| units.iter().map(|_| OnceLock::new()).collect());
        Self { loader, units, kept }
    }

    /// What is loaded at a time.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// The loader.
    pub fn loader(&self) -> &dyn Loader {
        &*self.loader
    }

    /// Residues of a sequence that was loaded and kept.
    pub fn kept_residues_of(&self, oid: u32) -> Option<&[u8]> {
        self.kept_partition(oid).map(|partition| partition.residues_of(oid))
    }

    /// All stored bytes of a sequence that was loaded and kept, see
    /// [`stored_of`](LoadedPartition::stored_of).
    pub fn kept_stored_of(&self, oid: u32) -> Option<&[u8]> {
        self.kept_partition(oid).map(|partition| partition.stored_of(oid))
    }

    /// Bases of a sequence that was loaded and kept. `None` also for a damaged database, which
    /// [`validate`](LoadedPartition::validate) finds.
    pub fn kept_bases_of(&self, oid: u32) -> Option<Bases<'_>> {
        self.kept_partition(oid).and_then(|partition| partition.bases_of(oid).ok())
    }

    /// The partition with a sequence, if it was loaded and kept.
    fn kept_partition(&self, oid: u32) -> Option<&LoadedPartition> {
        let kept = self.kept.as_ref()?;
        let at = self.units.partition_point(|unit| unit.partition.oids.end <= oid);
        kept.get(at)?.get().map(AsRef::as_ref)
    }

    /// Goes once through the database: `work` takes ranges from the queue, on as many threads as it likes, while a
    /// thread of its own loads what comes next. Tells also how long `work`'s threads waited, in sum.
    ///
    /// # Errors
    /// The failure nearest to the begin of the database, in loading or [told](Queue::fail) by `work`.
    pub fn pass<R>(&self, work: impl FnOnce(&Queue) -> R) -> Result<(R, Duration), DbError> {
        let queue = Queue::default();
        let done = thread::scope(|scope| {
            // Whatever happens to `work`, the other thread must not wait for it.
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

    /// Loads all units, as long as somebody wants them.
    fn feed(&self, queue: &Queue) {
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

    fn load(&self, number: usize, unit: &Unit) -> Result<Arc<LoadedPartition>, DbError> {
        let slot = self.kept.as_ref().and_then(|kept| kept.get(number));
        if let Some(partition) = slot.and_then(OnceLock::get) {
            return Ok(Arc::clone(partition));
        }
        let partition = self.loader.load(&unit.partition)?;
        Ok(match slot {
            Some(slot) => Arc::clone(slot.get_or_init(|| partition)),
            None => partition,
        })
    }
}

/// Ranges that are in memory, in the order of the database.
#[derive(Default)]
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Work>,
    /// Nothing more will come.
    finished: bool,
    /// Nothing more is wanted.
    closed: bool,
    failure: Option<(u32, DbError)>,
    waiting: Duration,
}

impl Queue {
    /// The next range, as soon as it is in memory; `None` after the last one, and after a failure.
    pub fn next(&self) -> Option<Work> {
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

    /// Ends the pass because of what is wrong at `oid`. Of several failures the one with the least OID counts; since
    /// ranges are handed out in order, that is always the same.
    pub fn fail(&self, oid: u32, error: DbError) {
        let mut state = self.lock();
        if state.failure.as_ref().is_none_or(|(least, _)| oid < *least) {
            state.failure = Some((oid, error));
        }
        self.close(state);
    }

    /// False if nobody wants more.
    fn push(&self, partition: &Arc<LoadedPartition>, ranges: &[Range<u32>]) -> bool {
        let mut state = self.lock();
        if state.closed {
            return false;
        }
        state.ready.extend(
            ranges
                .iter()
                .map(|range| Work { partition: Arc::clone(partition), range: range.clone() }),
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
        // Not under the lock: this gives memory back, for which the loading thread may be waiting.
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
struct Closing<'a>(&'a Queue);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close(self.0.lock());
    }
}
