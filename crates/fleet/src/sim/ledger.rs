//! Checks of a simulated run: every task once, every byte of output once and in its place, memory within its bound.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::config::Config;
use crate::ids::{Address, BlockId, PartitionId, WorkerId};
use crate::payload::Payload;
use crate::work::{Holder, Owner, Run, Slice, Window};

use super::workload::Workload;

/// Sets of bytes.
#[derive(Clone, Debug, Default)]
pub struct Intervals {
    /// Ends by starts; disjoint, never touching.
    spans: BTreeMap<u64, u64>,
}

impl Intervals {
    /// Adds bytes; false if some are there already.
    pub fn add(&mut self, start: u64, length: u64) -> bool {
        if length == 0 {
            return true;
        }
        let mut end = start + length;
        let mut start = start;
        if let Some((&next, &next_end)) = self.spans.range(start..).next() {
            if next < end {
                return false;
            }
            if next == end {
                self.spans.remove(&next);
                end = next_end;
            }
        }
        if let Some((&before, &before_end)) = self.spans.range(..start).next_back() {
            if before_end > start {
                return false;
            }
            if before_end == start {
                start = before;
            }
        }
        self.spans.insert(start, end);
        true
    }

    /// True if these are exactly the bytes from `start` to `end`.
    pub fn are(&self, start: u64, end: u64) -> bool {
        if start == end {
            self.spans.is_empty()
        } else {
            self.spans.len() == 1 && self.spans.get(&start) == Some(&end)
        }
    }

    /// True if all of these bytes are in the set.
    pub fn have(&self, start: u64, length: u64) -> bool {
        let span = self.spans.range(..=start).next_back();
        length == 0 || span.is_some_and(|(_, &end)| end >= start + length)
    }
}

/// Where a block's pieces belong.
#[derive(Debug)]
struct Plan {
    places: BTreeMap<(Owner, u32), (u64, u64)>,
}

/// What the checkpoint has: for each block the bytes stored, and the size of its output.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    stored: BTreeMap<BlockId, (Intervals, u64)>,
}

impl Checkpoint {
    /// The blocks that are whole, with the bytes of their output: what a run can start from.
    pub fn finished(&self) -> BTreeMap<BlockId, u64> {
        let whole = self.stored.iter().filter(|(_, (bytes, size))| bytes.are(0, *size));
        whole.map(|(&block, &(_, size))| (block, size)).collect()
    }

    /// Drops what is not whole, as a run does that starts from it.
    pub fn trim(&mut self) {
        self.stored.retain(|_, (bytes, size)| bytes.are(0, *size));
    }
}

/// The account of a run.
#[derive(Debug)]
pub struct Ledger {
    workload: Workload,
    /// Offset of every block, and where the last ends.
    bases: Vec<u64>,
    plans: HashMap<BlockId, Plan>,
    searched: HashMap<(BlockId, PartitionId), WorkerId>,
    /// Who has a block's queries.
    informed: HashSet<(BlockId, WorkerId)>,
    /// Who answered, and in which round the last time.
    answered: HashMap<(BlockId, PartitionId), (WorkerId, u32)>,
    written: Intervals,
    /// Bytes of a grain of the output, if one rank alone may write it.
    grain: Option<u64>,
    /// Who has written in each grain; the supermaster if no worker.
    grains: HashMap<u64, Option<WorkerId>>,
    /// What is durable.
    pub checkpoint: Checkpoint,
    /// Bytes of output that each worker really holds.
    held: Vec<u64>,
    limit: u64,
    /// What was wrong.
    pub violations: Vec<String>,
}

impl Ledger {
    /// The account of a run that has not begun; the first block's output is to begin at `base`.
    pub fn new(
        workload: &Workload,
        base: u64,
        workers: usize,
        config: &Config,
        mut checkpoint: Checkpoint,
    ) -> Ledger {
        checkpoint.trim();
        let mut bases = vec![base];
        for block in (0..workload.blocks()).map(BlockId) {
            bases.push(bases[block.index()] + workload.size(block));
        }
        Ledger {
            workload: workload.clone(),
            bases,
            plans: HashMap::new(),
            searched: HashMap::new(),
            informed: HashSet::new(),
            answered: HashMap::new(),
            written: Intervals::default(),
            // Grains of a few bytes are too many to be looked at.
            grain: config.seams().filter(|&grain| grain >= 1024),
            // The supermaster writes what comes before.
            grains: HashMap::from([(0, None)]),
            checkpoint,
            held: vec![0; workers],
            limit: config.result_memory,
            violations: Vec::new(),
        }
    }

    /// Notes a violation unless `fine`.
    pub fn check(&mut self, fine: bool, what: impl FnOnce() -> String) {
        if !fine {
            self.violations.push(what());
        }
    }

    /// A task was searched.
    pub fn search(&mut self, block: BlockId, partition: PartitionId, worker: WorkerId) {
        let again = self.searched.insert((block, partition), worker);
        self.informed.insert((block, worker));
        self.check(again.is_none(), || {
            format!("block {block} × partition {partition}: searched twice")
        });
        let earlier = self.checkpoint.finished().contains_key(&block);
        self.check(!earlier, || format!("block {block}: searched though it was finished"));
    }

    /// A worker that holds the partition answered a round: it must have the queries, since it searched some of the block,
    /// and what it made in the rounds before.
    pub fn answer(&mut self, block: BlockId, partition: PartitionId, worker: WorkerId, round: u32) {
        let informed = self.informed.contains(&(block, worker));
        let before = self.answered.insert((block, partition), (worker, round));
        let continued = match before {
            None => round == 0,
            Some((before, last)) => before == worker && last + 1 == round,
        };
        self.check(informed && continued, || {
            format!(
                "block {block} × partition {partition}: worker {worker} answers round {round}; it \
                 searched some of the block: {informed}; before: {before:?}"
            )
        });
    }

    fn place(&mut self, block: BlockId, slice: &Slice, writer: WorkerId) -> Option<u64> {
        let workload = &self.workload;
        let plan = self.plans.entry(block).or_insert_with(|| {
            let mut places = BTreeMap::new();
            let mut offset = 0;
            for extent in workload.layout(block) {
                places.insert((extent.owner, extent.piece), (offset, extent.length));
                offset += extent.length;
            }
            Plan { places }
        });
        let owner = match slice.holder {
            Holder::Record => {
                let stored = self.checkpoint.stored.get(&block)?;
                return stored.0.have(slice.start, slice.length).then_some(slice.start);
            }
            Holder::Master => Owner::Master,
            Holder::Worker(worker, partition) => {
                let answerer = self.answered.get(&(block, partition));
                if answerer.is_none_or(|(answerer, _)| *answerer != worker) {
                    self.violations.push(format!(
                        "worker {writer} takes worker {worker} for that with the pieces of block {block} × partition {partition}"
                    ));
                }
                Owner::Partition(partition)
            }
        };
        let &(offset, length) = plan.places.get(&(owner, slice.piece))?;
        (slice.start + slice.length <= length).then_some(offset + slice.start)
    }

    /// Checks that the slices of runs belong where they go, counted from `base`; returns the bytes of each other holder.
    fn check_runs(
        &mut self,
        writer: WorkerId,
        runs: &[Run],
        base: impl Fn(&Ledger, BlockId) -> u64,
    ) -> BTreeMap<Option<WorkerId>, u64> {
        let mut others = BTreeMap::new();
        for run in runs {
            let mut offset = run.offset;
            for slice in &run.slices {
                let right = self.place(run.block, slice, writer);
                let base = base(self, run.block);
                self.check(right.map(|place| base + place) == Some(offset), || {
                    format!(
                        "block {}: {slice:?} goes to {offset}, belongs to {base} + {right:?}",
                        run.block
                    )
                });
                offset += slice.length;
                match slice.holder {
                    Holder::Master => *others.entry(None).or_default() += slice.length,
                    Holder::Worker(worker, _) if worker != writer => {
                        *others.entry(Some(worker)).or_default() += slice.length;
                    }
                    Holder::Worker(..) | Holder::Record => {}
                }
            }
        }
        others
    }

    /// A window was written to the output, or to the checkpoint of a block whose output has `stored` bytes.
    pub fn write<P: Payload>(&mut self, writer: WorkerId, window: &Window<P>, stored: Option<u64>) {
        self.check_window(writer, window, stored.is_some());
        match stored {
            Some(size) => self.store(window.block, &window.runs, size),
            None => self.cover(writer, &window.runs),
        }
    }

    /// A window for the supermaster to write was put together.
    pub fn hand_over<P: Payload>(&mut self, writer: WorkerId, window: &Window<P>) {
        self.check_window(writer, window, false);
    }

    /// The supermaster wrote so many bytes that were handed over.
    pub fn write_end(&mut self, offset: u64, length: u64) {
        self.cover_stretch(None, offset, length);
    }

    /// Checks that the bytes of a window are those that belong where it goes.
    fn check_window<P: Payload>(&mut self, writer: WorkerId, window: &Window<P>, stored: bool) {
        let others = match stored {
            true => self.check_runs(writer, &window.runs, |_, _| 0),
            false => {
                self.check_runs(writer, &window.runs, |ledger, block| ledger.bases[block.index()])
            }
        };
        let mut parts = BTreeMap::new();
        for (from, part) in &window.parts {
            let holder = if let Address::Worker(worker) = from { Some(*worker) } else { None };
            *parts.entry(holder).or_default() += part.bytes();
        }
        self.check(parts == others, || {
            format!("block {}: parts {parts:?} instead of {others:?}", window.block)
        });
    }

    /// Runs were written to the output in a collective write, with so many bytes of the master.
    pub fn write_together(&mut self, writer: WorkerId, runs: &[Run], master: u64) {
        let others = self.check_runs(writer, runs, |ledger, block| ledger.bases[block.index()]);
        let only_master = others.keys().all(Option::is_none);
        let fine = only_master && others.get(&None).copied().unwrap_or(0) == master;
        self.check(fine, || {
            format!("worker {writer}: {master} bytes of the master, {others:?} expected")
        });
        self.cover(writer, runs);
    }

    fn cover(&mut self, writer: WorkerId, runs: &[Run]) {
        for run in runs {
            self.cover_stretch(Some(writer), run.offset, run.length());
        }
    }

    fn cover_stretch(&mut self, writer: Option<WorkerId>, offset: u64, length: u64) {
        let new = self.written.add(offset, length);
        self.check(new, || format!("written twice at {offset}"));
        let Some(grain) = self.grain.filter(|_| length > 0) else { return };
        for number in offset / grain..=(offset + length - 1) / grain {
            let first = *self.grains.entry(number).or_insert(writer);
            self.check(first == writer, || {
                format!("both {first:?} and {writer:?} write in grain {number} of {grain} bytes")
            });
        }
    }

    fn store(&mut self, block: BlockId, runs: &[Run], size: u64) {
        let stored = self.checkpoint.stored.entry(block).or_insert((Intervals::default(), size));
        let new = runs.iter().all(|run| stored.0.add(run.offset, run.length()));
        let same = stored.1 == size;
        self.check(new && same, || format!("block {block}: stored twice, or its size changed"));
        let right = self.bases[block.index() + 1] - self.bases[block.index()];
        self.check(size == right, || format!("block {block}: {size} bytes stored of {right}"));
    }

    /// A worker holds more, or less.
    pub fn hold(&mut self, worker: WorkerId, more: u64, less: u64) {
        let held = &mut self.held[worker.index()];
        *held = (*held + more).saturating_sub(less);
        let (held, limit) = (*held, self.limit);
        self.check(held <= limit, || {
            format!("worker {worker} holds {held} bytes, more than {limit}")
        });
    }

    /// The output ends at `offset`; all must be there.
    pub fn close(&mut self, offset: u64) {
        let (start, end) = (self.bases[0], self.bases[self.bases.len() - 1]);
        self.check(offset == end, || format!("the output ends at {offset} instead of {end}"));
        // The supermaster writes what comes after.
        let last = self.grain.and_then(|grain| self.grains.get(&(end / grain)).copied().flatten());
        self.check(last.is_none(), || format!("{last:?} writes in the grain of the end"));
        let whole = self.written.are(start, end);
        self.check(whole, || "bytes of the output are missing".to_string());
        let held: Vec<usize> =
            (0..self.held.len()).filter(|&worker| self.held[worker] > 0).collect();
        self.check(held.is_empty(), || format!("workers {held:?} still hold output"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_join_and_refuse() {
        let mut bytes = Intervals::default();
        assert!(bytes.add(10, 10) && bytes.add(30, 10) && bytes.add(20, 10));
        assert!(bytes.are(10, 40));
        assert!(!bytes.add(39, 1) && !bytes.add(5, 6) && !bytes.add(0, 100) && !bytes.add(15, 5));
        assert!(bytes.add(0, 5) && bytes.have(12, 28) && !bytes.have(4, 8));
        assert!(!bytes.are(0, 40));
    }
}
