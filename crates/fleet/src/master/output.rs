//! A block from its layout until it stands in the file.

use std::collections::{BTreeMap, VecDeque};

use crate::config::{Config, Strategy};
use crate::ids::{BlockId, WorkerId};
use crate::work::{Holder, Run, Slice};
use crate::worker::windows;

/// What a worker writes of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Portion {
    /// The worker.
    pub worker: WorkerId,
    /// The bytes; offsets count from the start of the block's output until the base is known.
    pub runs: Vec<Run>,
}

/// How far a block's output is.
#[derive(Debug)]
enum Stage {
    /// So many portions are not durable yet.
    Storing(u32),
    /// Its offset is not known.
    Waiting,
    /// So many portions are not written yet.
    Placing(u32),
}

/// A block's output.
#[derive(Debug)]
struct Laid {
    stage: Stage,
    size: u64,
    portions: Vec<Portion>,
    /// The group searched the block: it was not restored.
    is_new: bool,
}

impl Laid {
    /// Bytes that are held for it: its bytes, and what each slice takes besides.
    fn held(&self) -> u64 {
        let runs = self.portions.iter().flat_map(|portion| &portion.runs);
        self.size + SLICE_MEMORY * runs.map(|run| run.slices.len() as u64).sum::<u64>()
    }
}

/// Memory of a slice with the master, and of its piece with the worker, besides the bytes of the piece.
const SLICE_MEMORY: u64 = 200;

/// Deals a block's output out to the workers that write it: at least one, if only to note that there is nothing. `spare`
/// writes where no worker holds anything.
pub fn portions(
    strategy: Strategy,
    block: BlockId,
    slices: Vec<Slice>,
    spare: WorkerId,
) -> Vec<Portion> {
    let mut bytes: BTreeMap<WorkerId, u64> = BTreeMap::new();
    for slice in &slices {
        if let Holder::Worker(worker, ..) = slice.holder {
            *bytes.entry(worker).or_default() += slice.length;
        }
    }
    let most = bytes.iter().max_by_key(|&(worker, bytes)| (bytes, std::cmp::Reverse(worker)));
    let most = most.map_or(spare, |(&worker, _)| worker);
    if slices.is_empty() {
        return vec![Portion { worker: spare, runs: Vec::new() }];
    }
    if matches!(strategy, Strategy::Merge | Strategy::Records) {
        return vec![Portion { worker: most, runs: vec![Run { block, offset: 0, slices }] }];
    }
    let mut runs: BTreeMap<WorkerId, Vec<Run>> = BTreeMap::new();
    let (mut offset, mut last) = (0, None);
    for slice in slices {
        let writer = match slice.holder {
            Holder::Worker(worker, ..) => worker,
            _ => most,
        };
        let own = runs.entry(writer).or_default();
        match own.last_mut() {
            Some(run) if last == Some(writer) => run.slices.push(slice),
            _ => own.push(Run { block, offset, slices: vec![slice] }),
        }
        offset += slice.length;
        last = Some(writer);
    }
    runs.into_iter().map(|(worker, runs)| Portion { worker, runs }).collect()
}

/// What is to be done for a block's output next.
#[derive(Debug)]
pub enum Next {
    /// These portions of so many bytes in all are to be made durable.
    Store(Vec<Portion>, u64),
    /// It is finished; the supermaster is to know its size, and how many bytes are held for it.
    Finished {
        /// Bytes of the output.
        size: u64,
        /// Bytes held.
        held: u64,
    },
    /// These portions are to be written.
    Place(Vec<Portion>),
    /// It stands in the file.
    Placed,
    /// Nothing yet.
    Nothing,
}

/// The outputs of a group's blocks.
#[derive(Debug)]
pub struct Outputs {
    /// Blocks are stored ...
    stores: bool,
    /// ... and what is stored is all that is to come of them.
    stays: bool,
    blocks: BTreeMap<BlockId, Laid>,
    /// Outputs that are not durable yet.
    storing: usize,
    /// New outputs that are being written; those for a collective write are not counted, which begins when
    /// there are enough.
    placing: usize,
    collective: bool,
}

impl Outputs {
    /// None.
    pub fn new(config: &Config) -> Outputs {
        let (stores, stays) = (config.stores(), config.strategy == Strategy::Records);
        let collective = config.strategy == Strategy::Collective;
        Outputs { stores, stays, blocks: BTreeMap::new(), storing: 0, placing: 0, collective }
    }

    /// True while outputs are made durable.
    pub fn is_storing(&self) -> bool {
        self.storing > 0
    }

    /// Number of new outputs that are being written.
    pub fn placing(&self) -> usize {
        self.placing
    }

    /// A block is laid out.
    pub fn lay(&mut self, block: BlockId, portions: Vec<Portion>) -> Next {
        let size = portions.iter().flat_map(|portion| &portion.runs).map(Run::length).sum();
        if self.stores {
            let stage = Stage::Storing(portions.len() as u32);
            self.storing += 1;
            let laid = Laid { stage, size, portions: recorded(&portions), is_new: true };
            self.blocks.insert(block, laid);
            return Next::Store(portions, size);
        }
        let laid = Laid { stage: Stage::Waiting, size, portions, is_new: true };
        let held = laid.held();
        self.blocks.insert(block, laid);
        Next::Finished { size, held }
    }

    /// A portion of a block is durable.
    pub fn stored(&mut self, block: BlockId) -> Next {
        let Some(laid) = self.blocks.get_mut(&block) else { return Next::Nothing };
        let Stage::Storing(left) = &mut laid.stage else { return Next::Nothing };
        *left -= 1;
        if *left > 0 {
            return Next::Nothing;
        }
        laid.stage = Stage::Waiting;
        self.storing -= 1;
        Next::Finished { size: laid.size, held: laid.held() }
    }

    /// A block of an earlier run is to be copied from the checkpoint by `worker`.
    pub fn restore(&mut self, block: BlockId, base: u64, size: u64, worker: WorkerId) -> Next {
        let portions = vec![Portion { worker, runs: vec![record(block, 0, size)] }];
        let laid = Laid { stage: Stage::Waiting, size, portions, is_new: false };
        self.blocks.insert(block, laid);
        self.base(block, base)
    }

    /// The offset of a block in the file has become known.
    pub fn base(&mut self, block: BlockId, base: u64) -> Next {
        let Some(laid) = self.blocks.get_mut(&block) else { return Next::Nothing };
        let mut portions = std::mem::take(&mut laid.portions);
        if laid.size == 0 || self.stays {
            self.blocks.remove(&block);
            return Next::Placed;
        }
        for run in portions.iter_mut().flat_map(|portion| &mut portion.runs) {
            run.offset += base;
        }
        laid.stage = Stage::Placing(portions.len() as u32);
        self.placing += usize::from(laid.is_new && !self.collective);
        Next::Place(portions)
    }

    /// A portion of a block stands in the file.
    pub fn written(&mut self, block: BlockId) -> Next {
        let Some(laid) = self.blocks.get_mut(&block) else { return Next::Nothing };
        let Stage::Placing(left) = &mut laid.stage else { return Next::Nothing };
        *left -= 1;
        if *left > 0 {
            return Next::Nothing;
        }
        self.placing -= usize::from(laid.is_new && !self.collective);
        self.blocks.remove(&block);
        Next::Placed
    }
}

/// A stretch of a block as the checkpoint has it.
fn record(block: BlockId, start: u64, length: u64) -> Run {
    let slice = Slice { holder: Holder::Record, piece: 0, start, length };
    Run { block, offset: start, slices: vec![slice] }
}

/// The same portions once they are in the checkpoint.
fn recorded(portions: &[Portion]) -> Vec<Portion> {
    let record = |run: &Run| record(run.block, run.offset, run.length());
    portions
        .iter()
        .map(|portion| Portion {
            worker: portion.worker,
            runs: portion.runs.iter().map(record).collect(),
        })
        .collect()
}

/// Shares that wait for a collective write, cut into pieces of at most a write buffer, block by block in the order of
/// the file.
#[derive(Debug)]
pub struct Collective {
    buffer: u64,
    queue: VecDeque<(WorkerId, u64, Run)>,
    bytes: u64,
    /// Pieces of each block that are not written.
    left: BTreeMap<BlockId, (u32, u32)>,
    /// Blocks of the pieces being written, and who has not reported.
    running: Option<(Vec<(BlockId, WorkerId)>, u32)>,
}

/// A collective write: for each worker its runs.
pub type CollectiveRound = BTreeMap<WorkerId, Vec<Run>>;

impl Collective {
    /// Nothing waits.
    pub fn new(buffer: u64) -> Collective {
        let (queue, left) = (VecDeque::new(), BTreeMap::new());
        Collective { buffer, queue, bytes: 0, left, running: None }
    }

    /// Takes the portions of a block.
    pub fn add(&mut self, block: BlockId, portions: Vec<Portion>) {
        let count = portions.len() as u32;
        let mut pieces = Vec::new();
        for Portion { worker, runs } in portions {
            let flat = windows(runs, self.buffer).into_iter().flat_map(|(_, runs)| runs);
            pieces.extend(flat.map(|run| (worker, run.length(), run)));
        }
        pieces.sort_unstable_by_key(|(_, _, run)| run.offset);
        self.bytes += pieces.iter().map(|(_, length, _)| length).sum::<u64>();
        self.left.insert(block, (pieces.len() as u32, count));
        self.queue.extend(pieces);
    }

    /// True while a write is under way.
    pub fn is_writing(&self) -> bool {
        self.running.is_some()
    }

    /// The next write, if none is under way and enough is waiting, or anything at all when `hurry`. Together the members
    /// write one stretch of the file without gaps: MPI libraries fill gaps with what they read there before, which other
    /// groups may have written meanwhile.
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
            let of_master = run.slices.iter().filter(|slice| slice.holder == Holder::Master);
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

    /// A member is through; when it was the last, returns the blocks that now stand in the file, each as often as it
    /// has portions.
    pub fn written(&mut self) -> Vec<(BlockId, u32)> {
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
