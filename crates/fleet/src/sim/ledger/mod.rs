//! Checks a simulated run. Every task of every pass must be searched once, every byte of output
//! written once at its offset, and memory must stay within its limit.

mod checkpoint;
mod intervals;
mod passes;

use std::collections::{BTreeMap, HashMap};

use crate::config::{Config, Strategy};
use crate::ids::{Address, BlockId, Time, WorkerId};
use crate::payload::Payload;
use crate::work::{Extent, OutputRun, PieceLocation, PieceOwner, Slice, Window};

use super::workload::Workload;

pub use self::checkpoint::Checkpoint;
use self::intervals::Intervals;
pub use self::passes::{Passes, Task};

/// Offset and length of each piece in its block's output.
type Places = BTreeMap<(PieceOwner, u32), (u64, u64)>;

/// The record of a simulated run, and the violations found in it.
#[derive(Debug)]
pub struct Ledger {
    workload: Workload,
    /// Offset of every block in the output, and the end of the last block.
    bases: Vec<u64>,
    places: HashMap<BlockId, Places>,
    /// Records which worker searched and answered each task.
    pub passes: Passes,
    written: Intervals,
    /// Size of a grain in bytes, if only one rank may write each grain; otherwise `None`.
    grain: Option<u64>,
    /// Writer of each grain, by the grain's number; `None` stands for the supermaster.
    grains: HashMap<u64, Option<WorkerId>>,
    /// For each block, the time when it and all blocks before it were written.
    pub written_at: Vec<Time>,
    /// The simulated checkpoint.
    pub checkpoint: Checkpoint,
    /// Whether the checkpoint is the final output, so that no file is written.
    stays: bool,
    /// Number of bytes of output that each worker really holds.
    held: Vec<u64>,
    limit: u64,
    /// Descriptions of all violations of the run.
    pub violations: Vec<String>,
}

impl Ledger {
    /// Starts the record of a run. The output of the first block begins at `base`.
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
            places: HashMap::new(),
            passes: Passes::new(workload.clone(), checkpoint.clone()),
            written: Intervals::default(),
            // Smaller grains would be too many to check.
            grain: config.exclusive_grain().filter(|&grain| grain >= 1024),
            // The supermaster writes the bytes before the first block.
            grains: HashMap::from([(0, None)]),
            written_at: Vec::new(),
            checkpoint,
            stays: config.strategy == Strategy::Records,
            held: vec![0; workers],
            limit: config.result_memory,
            violations: Vec::new(),
        }
    }

    /// Notes the time at which blocks were written, for the blocks that are complete in the file by
    /// now.
    pub fn note_written_blocks(&mut self, now: Time) {
        let reach = self.written.end_of_span(self.bases[0]);
        while self.bases.get(self.written_at.len() + 1).is_some_and(|&end| end <= reach) {
            self.written_at.push(now.max(self.written_at.last().copied().unwrap_or_default()));
        }
    }

    /// Notes a violation, which `what` describes, unless the condition is met.
    pub fn check(&mut self, is_met: bool, what: impl FnOnce() -> String) {
        if !is_met {
            self.violations.push(what());
        }
    }

    /// Notes a violation if the result is an error.
    pub fn note(&mut self, result: Result<(), String>) {
        self.violations.extend(result.err());
    }

    fn place(&mut self, block: BlockId, slice: &Slice, writer: WorkerId) -> Option<u64> {
        let owner = match slice.location {
            PieceLocation::Checkpoint => {
                let stored = self.checkpoint.has_bytes(block, slice.start, slice.length);
                return stored.then_some(slice.start);
            }
            PieceLocation::Master => PieceOwner::Master,
            PieceLocation::Worker(worker, pass, partition) => {
                let answerer = self.passes.answerer((block, pass, partition));
                self.check(answerer == Some(worker), || {
                    format!(
                        "worker {writer} takes worker {worker} for that with the pieces of block {block}, pass {pass} × partition {partition}"
                    )
                });
                PieceOwner::Partition(pass, partition)
            }
        };
        let (workload, first) = (&self.workload, self.passes.first_pass(block));
        let places = self.places.entry(block).or_insert_with(|| {
            let mut offset = 0;
            let mut place = |extent: Extent| {
                offset += extent.length;
                ((extent.owner, extent.piece), (offset - extent.length, extent.length))
            };
            workload.layout(block, first).into_iter().map(&mut place).collect()
        });
        let &(offset, length) = places.get(&(owner, slice.piece))?;
        (slice.start + slice.length <= length).then_some(offset + slice.start)
    }

    /// Checks that the slices of runs go to their offsets, counted from `base`. Returns the number
    /// of bytes of each holder other than the writer; `None` stands for the master.
    fn check_runs(
        &mut self,
        writer: WorkerId,
        runs: &[OutputRun],
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
                match slice.location {
                    PieceLocation::Master => *others.entry(None).or_default() += slice.length,
                    PieceLocation::Worker(worker, ..) if worker != writer => {
                        *others.entry(Some(worker)).or_default() += slice.length;
                    }
                    PieceLocation::Worker(..) | PieceLocation::Checkpoint => {}
                }
            }
        }
        others
    }

    /// Notes that a worker wrote a window to the output. With `stored`, the worker wrote it to the
    /// checkpoint, and the whole output of the block has `stored` bytes.
    pub fn write<P: Payload>(&mut self, writer: WorkerId, window: &Window<P>, stored: Option<u64>) {
        self.check_window(writer, window, stored.is_some());
        match stored {
            Some(size) => self.store(window.block, &window.runs, size),
            None => self.cover(writer, &window.runs),
        }
    }

    /// Notes that a worker collected a window for the supermaster to write.
    pub fn hand_over<P: Payload>(&mut self, writer: WorkerId, window: &Window<P>) {
        self.check_window(writer, window, false);
    }

    /// Notes that the supermaster wrote bytes of a partial grain.
    pub fn write_partial_grain(&mut self, offset: u64, length: u64) {
        self.cover_stretch(None, offset, length);
    }

    /// Checks that the slices of a window go to their offsets, and that its parts have the right
    /// number of bytes from each holder.
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

    /// Notes that a worker wrote runs in a collective write, with `master` bytes of the master.
    pub fn write_together(&mut self, writer: WorkerId, runs: &[OutputRun], master: u64) {
        let others = self.check_runs(writer, runs, |ledger, block| ledger.bases[block.index()]);
        let only_master = others.keys().all(Option::is_none);
        let fine = only_master && others.get(&None).copied().unwrap_or(0) == master;
        self.check(fine, || {
            format!("worker {writer}: {master} bytes of the master, {others:?} expected")
        });
        self.cover(writer, runs);
    }

    fn cover(&mut self, writer: WorkerId, runs: &[OutputRun]) {
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

    fn store(&mut self, block: BlockId, runs: &[OutputRun], size: u64) {
        let new = self.checkpoint.store(block, runs, size);
        self.check(new, || format!("block {block}: stored twice, or its size changed"));
        let right = self.bases[block.index() + 1] - self.bases[block.index()];
        self.check(size == right, || format!("block {block}: {size} bytes stored of {right}"));
    }

    /// Adds `more` bytes to the bytes that a worker holds, and subtracts `less` bytes.
    pub fn change_held(&mut self, worker: WorkerId, more: u64, less: u64) {
        let held = &mut self.held[worker.index()];
        *held = (*held + more).saturating_sub(less);
        let (held, limit) = (*held, self.limit);
        self.check(held <= limit, || {
            format!("worker {worker} holds {held} bytes, more than {limit}")
        });
    }

    /// Checks at the end of the job that the output is complete and ends at `offset`.
    pub fn check_complete(&mut self, offset: u64) {
        let (start, end) = (self.bases[0], self.bases[self.bases.len() - 1]);
        self.check(offset == end, || format!("the output ends at {offset} instead of {end}"));
        // The supermaster writes the bytes after the last block.
        let last = self.grain.and_then(|grain| self.grains.get(&(end / grain)).copied().flatten());
        self.check(last.is_none(), || format!("{last:?} writes in the grain of the end"));
        let blocks = self.bases.len() - 1;
        let whole = match self.stays {
            true => {
                self.written.is_exactly(0, 0) && self.checkpoint.finished_blocks().len() == blocks
            }
            false => self.written.is_exactly(start, end),
        };
        self.check(whole, || "bytes of the output are missing".to_string());
        let held: Vec<usize> =
            (0..self.held.len()).filter(|&worker| self.held[worker] > 0).collect();
        self.check(held.is_empty(), || format!("workers {held:?} still hold output"));
        self.note(self.passes.check_complete());
    }
}
