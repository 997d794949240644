//! Tracks the output of each block, from its layout until it is in the file.

use std::collections::{BTreeMap, VecDeque};

use crate::config::{Config, Strategy};
use crate::ids::{BlockId, WorkerId};
use crate::work::{OutputRun, PieceLocation, Slice};
use crate::worker::cut_into_windows;

/// The part of a block's output that one worker stores or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Portion {
    /// The worker that stores or writes the portion.
    pub worker: WorkerId,
    /// Bytes of the portion. Offsets count from the start of the block's output until its offset in
    /// the file is known, then from the start of the file.
    pub runs: Vec<OutputRun>,
}

/// The step at which a block's output is.
#[derive(Debug)]
enum OutputStage {
    /// Workers are making portions durable; this many are not durable yet.
    Storing(u32),
    /// The output waits until its offset in the file is known.
    Waiting,
    /// Workers are writing portions to the file; this many are not written yet.
    Placing(u32),
}

/// The output of a block and its progress.
#[derive(Debug)]
struct BlockOutput {
    stage: OutputStage,
    size: u64,
    portions: Vec<Portion>,
    /// Whether this group searched the block in this run. Otherwise the block comes from a
    /// checkpoint.
    is_new: bool,
}

impl BlockOutput {
    /// Returns the bytes that the block takes in memory: its output, and the overhead of each
    /// slice.
    fn memory_bytes(&self) -> u64 {
        let runs = self.portions.iter().flat_map(|portion| &portion.runs);
        self.size + SLICE_MEMORY * runs.map(|run| run.slices.len() as u64).sum::<u64>()
    }
}

/// Bytes that a slice takes in addition to its contents, at the master and at the worker that has
/// the piece.
const SLICE_MEMORY: u64 = 200;

/// Distributes a block's output to the workers that store or write it. Returns at least one
/// portion, even for an empty output. The worker `spare` gets the output if no worker has formatted
/// any piece of it.
pub fn portions(
    strategy: Strategy,
    block: BlockId,
    slices: Vec<Slice>,
    spare: WorkerId,
) -> Vec<Portion> {
    let mut bytes: BTreeMap<WorkerId, u64> = BTreeMap::new();
    for slice in &slices {
        if let PieceLocation::Worker(worker, ..) = slice.location {
            *bytes.entry(worker).or_default() += slice.length;
        }
    }
    let most = bytes.iter().max_by_key(|&(worker, bytes)| (bytes, std::cmp::Reverse(worker)));
    let most = most.map_or(spare, |(&worker, _)| worker);
    if slices.is_empty() {
        return vec![Portion { worker: spare, runs: Vec::new() }];
    }
    if matches!(strategy, Strategy::Merge | Strategy::Records) {
        return vec![Portion { worker: most, runs: vec![OutputRun { block, offset: 0, slices }] }];
    }
    let mut runs: BTreeMap<WorkerId, Vec<OutputRun>> = BTreeMap::new();
    let (mut offset, mut last) = (0, None);
    for slice in slices {
        let writer = match slice.location {
            PieceLocation::Worker(worker, ..) => worker,
            _ => most,
        };
        let own = runs.entry(writer).or_default();
        match own.last_mut() {
            Some(run) if last == Some(writer) => run.slices.push(slice),
            _ => own.push(OutputRun { block, offset, slices: vec![slice] }),
        }
        offset += slice.length;
        last = Some(writer);
    }
    runs.into_iter().map(|(worker, runs)| Portion { worker, runs }).collect()
}

/// The next step that the master takes for a block's output.
#[derive(Debug)]
pub enum OutputStep {
    /// Make these portions durable. The second value is their size in bytes.
    Store(Vec<Portion>, u64),
    /// Report to the supermaster that the block is finished.
    Finished {
        /// Bytes of the output.
        size: u64,
        /// Bytes that the group holds for the output.
        held: u64,
    },
    /// Write these portions to the file.
    WriteOutput(Vec<Portion>),
    /// Report that the output is in the file.
    Placed,
    /// Do nothing yet.
    Nothing,
}

/// Outputs of a group's blocks that are not in the file yet.
#[derive(Debug)]
pub struct BlockOutputs {
    /// Whether workers store each block before it counts as finished.
    stores: bool,
    /// Whether the stored blocks are the final output, so that no file is written.
    stays: bool,
    blocks: BTreeMap<BlockId, BlockOutput>,
    /// Number of outputs that are not durable yet.
    storing: usize,
    /// Number of new outputs that workers are writing. It does not count outputs for a collective
    /// write, because such a write begins only when enough of them wait.
    placing: usize,
    collective: bool,
}

impl BlockOutputs {
    /// Creates the state for a group without outputs.
    pub fn new(config: &Config) -> BlockOutputs {
        let (stores, stays) = (config.stores_blocks(), config.strategy == Strategy::Records);
        let collective = config.strategy == Strategy::Collective;
        BlockOutputs { stores, stays, blocks: BTreeMap::new(), storing: 0, placing: 0, collective }
    }

    /// Whether workers are making outputs durable.
    pub fn is_storing(&self) -> bool {
        self.storing > 0
    }

    /// Returns the number of new outputs that workers are writing, not counting collective writes.
    pub fn placing(&self) -> usize {
        self.placing
    }

    /// Adds the output of a block that has been laid out. Returns the next step.
    pub fn add_layout(&mut self, block: BlockId, portions: Vec<Portion>) -> OutputStep {
        let size = portions.iter().flat_map(|portion| &portion.runs).map(OutputRun::length).sum();
        if self.stores {
            let stage = OutputStage::Storing(portions.len() as u32);
            self.storing += 1;
            let laid = BlockOutput {
                stage,
                size,
                portions: with_checkpoint_bytes(&portions),
                is_new: true,
            };
            self.blocks.insert(block, laid);
            return OutputStep::Store(portions, size);
        }
        let laid = BlockOutput { stage: OutputStage::Waiting, size, portions, is_new: true };
        let held = laid.memory_bytes();
        self.blocks.insert(block, laid);
        OutputStep::Finished { size, held }
    }

    /// Notes that a portion of a block is durable. Returns the next step.
    pub fn portion_stored(&mut self, block: BlockId) -> OutputStep {
        let Some(laid) = self.blocks.get_mut(&block) else { return OutputStep::Nothing };
        let OutputStage::Storing(left) = &mut laid.stage else { return OutputStep::Nothing };
        *left -= 1;
        if *left > 0 {
            return OutputStep::Nothing;
        }
        laid.stage = OutputStage::Waiting;
        self.storing -= 1;
        OutputStep::Finished { size: laid.size, held: laid.memory_bytes() }
    }

    /// Adds a block that an earlier run finished: `worker` copies it from the checkpoint to the
    /// offset `base`. Returns the next step.
    pub fn restore(
        &mut self,
        block: BlockId,
        base: u64,
        size: u64,
        worker: WorkerId,
    ) -> OutputStep {
        let portions = vec![Portion { worker, runs: vec![record(block, 0, size)] }];
        let laid = BlockOutput { stage: OutputStage::Waiting, size, portions, is_new: false };
        self.blocks.insert(block, laid);
        self.set_offset(block, base)
    }

    /// Notes the offset of a block in the file. Returns the next step.
    pub fn set_offset(&mut self, block: BlockId, base: u64) -> OutputStep {
        let Some(laid) = self.blocks.get_mut(&block) else { return OutputStep::Nothing };
        let mut portions = std::mem::take(&mut laid.portions);
        if laid.size == 0 || self.stays {
            self.blocks.remove(&block);
            return OutputStep::Placed;
        }
        for run in portions.iter_mut().flat_map(|portion| &mut portion.runs) {
            run.offset += base;
        }
        laid.stage = OutputStage::Placing(portions.len() as u32);
        self.placing += usize::from(laid.is_new && !self.collective);
        OutputStep::WriteOutput(portions)
    }

    /// Notes that a portion of a block is in the file. Returns the next step.
    pub fn portion_written(&mut self, block: BlockId) -> OutputStep {
        let Some(laid) = self.blocks.get_mut(&block) else { return OutputStep::Nothing };
        let OutputStage::Placing(left) = &mut laid.stage else { return OutputStep::Nothing };
        *left -= 1;
        if *left > 0 {
            return OutputStep::Nothing;
        }
        self.placing -= usize::from(laid.is_new && !self.collective);
        self.blocks.remove(&block);
        OutputStep::Placed
    }
}

/// Returns a run with bytes of a block that are stored in the checkpoint.
fn record(block: BlockId, start: u64, length: u64) -> OutputRun {
    let slice = Slice { location: PieceLocation::Checkpoint, piece: 0, start, length };
    OutputRun { block, offset: start, slices: vec![slice] }
}

/// Returns the same portions, with bytes from the checkpoint instead of from workers.
fn with_checkpoint_bytes(portions: &[Portion]) -> Vec<Portion> {
    let record = |run: &OutputRun| record(run.block, run.offset, run.length());
    portions
        .iter()
        .map(|portion| Portion {
            worker: portion.worker,
            runs: portion.runs.iter().map(record).collect(),
        })
        .collect()
}

/// Portions that wait for a collective write, cut into runs of at most a write buffer. They are
/// ordered by block as their offsets become known, and within a block by offset.
#[derive(Debug)]
pub struct Collective {
    buffer: u64,
    queue: VecDeque<(WorkerId, u64, OutputRun)>,
    bytes: u64,
    /// For each block, the number of its runs that are not written, and the number of its portions.
    left: BTreeMap<BlockId, (u32, u32)>,
    /// Block and writer of each run that is being written, and the number of workers that have not
    /// reported the end of the write.
    running: Option<(Vec<(BlockId, WorkerId)>, u32)>,
}

/// The runs that each worker writes in one collective write.
pub type CollectiveRound = BTreeMap<WorkerId, Vec<OutputRun>>;

impl Collective {
    /// Creates an empty queue. Runs have at most `buffer` bytes.
    pub fn new(buffer: u64) -> Collective {
        let (queue, left) = (VecDeque::new(), BTreeMap::new());
        Collective { buffer, queue, bytes: 0, left, running: None }
    }

    /// Adds the portions of a block whose offset in the file is known.
    pub fn add(&mut self, block: BlockId, portions: Vec<Portion>) {
        let count = portions.len() as u32;
        let mut pieces = Vec::new();
        for Portion { worker, runs } in portions {
            let flat = cut_into_windows(runs, self.buffer).into_iter().flat_map(|(_, runs)| runs);
            pieces.extend(flat.map(|run| (worker, run.length(), run)));
        }
        pieces.sort_unstable_by_key(|(_, _, run)| run.offset);
        self.bytes += pieces.iter().map(|(_, length, _)| length).sum::<u64>();
        self.left.insert(block, (pieces.len() as u32, count));
        self.queue.extend(pieces);
    }

    /// Whether a collective write is under way.
    pub fn is_writing(&self) -> bool {
        self.running.is_some()
    }

    /// Begins the next write if none is under way and at least a write buffer waits; with `hurry`,
    /// any bytes suffice. Returns the runs of each worker. Together the runs form one range of the
    /// file without gaps, because MPI libraries read the bytes of gaps and write them back, over
    /// bytes that other groups may have written meanwhile.
    pub fn begin(&mut self, members: u32, hurry: bool) -> Option<CollectiveRound> {
        let enough = self.bytes >= if hurry { 1 } else { self.buffer };
        if self.running.is_some() || !enough {
            return None;
        }
        let mut round = CollectiveRound::new();
        let mut pieces = Vec::new();
        let mut totals: BTreeMap<WorkerId, u64> = BTreeMap::new();
        let (mut masters, mut end) = (0, None);
        while let Some((worker, length, run)) = self.queue.front() {
            let total = totals.entry(*worker).or_default();
            let of_master =
                run.slices.iter().filter(|slice| slice.location == PieceLocation::Master);
            let of_master: u64 = of_master.map(|slice| slice.length).sum();
            let gap = end.is_some_and(|end| end != run.offset);
            if gap || *total + length > self.buffer || masters + of_master > self.buffer {
                break;
            }
            end = Some(run.offset + length);
            *total += length;
            masters += of_master;
            self.bytes -= length;
            let (worker, _, run) = self.queue.pop_front().expect("just seen");
            pieces.push((run.block, worker));
            round.entry(worker).or_default().push(run);
        }
        self.running = Some((pieces, members));
        Some(round)
    }

    /// Notes that a worker has ended its part of the write. After the last worker, returns the
    /// blocks that are now in the file, each with its number of portions.
    pub fn member_finished(&mut self) -> Vec<(BlockId, u32)> {
        let Some((pieces, left)) = &mut self.running else { return Vec::new() };
        *left -= 1;
        if *left > 0 {
            return Vec::new();
        }
        let mut placed = Vec::new();
        for (block, _) in std::mem::take(pieces) {
            let Some((left, portions)) = self.left.get_mut(&block) else { continue };
            *left -= 1;
            if *left == 0 {
                placed.push((block, *portions));
                self.left.remove(&block);
            }
        }
        self.running = None;
        placed
    }
}
