//! The simulated search and its results. They are drawn from distributions, or recorded in a real
//! run.

mod source;

use std::sync::Arc;

use rand::Rng;
use rand::SeedableRng;
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::ids::{BlockId, PartitionId, PassId};
use crate::payload::Weight;
use crate::plan::BlockLimits;
use crate::work::{Extent, PieceOwner};

pub use self::source::{Distribution, Source, Trace, TraceBlock};

/// Bytes of statistics and masks that a master adds to each query when it prepares it.
const FINDINGS: u64 = 50;

/// A block of drawn queries.
#[derive(Clone, Debug, Default)]
struct DrawnBlock {
    weight: Weight,
    /// Work of each pass, in units of a query of mean size and mean time. A pass has only the
    /// queries that need it.
    work: Vec<f64>,
}

impl DrawnBlock {
    /// Adds a query that needs `passes` passes, with `work` units in each.
    fn push(&mut self, residues: u64, work: f64, passes: usize) {
        self.weight.sequences += 1;
        self.weight.residues += residues;
        self.work.resize(self.work.len().max(passes), 0.0);
        self.work[..passes].iter_mut().for_each(|pass| *pass += work);
    }
}

/// The queries of a job, and the times and sizes of all works on them, for a given number of
/// partitions. The seed determines them all. They do not depend on the rank or on the order of the
/// works.
#[derive(Clone, Debug)]
pub struct Workload {
    source: Source,
    /// The drawn blocks; empty if the workload is recorded.
    drawn: Arc<[DrawnBlock]>,
    partitions: u32,
    seed: u64,
}

/// Purposes for which random numbers are drawn. Each purpose has a random sequence of its own.
#[derive(Clone, Copy)]
enum Draw {
    Queries = 1,
    Task,
    Pieces,
    Order,
    Cut,
    Passes,
}

impl Workload {
    /// Creates the workload of a seed. Drawn queries are cut into blocks as real input is. Recorded
    /// blocks are cut already.
    pub fn new(source: Source, cut: BlockLimits, partitions: u32, seed: u64) -> Workload {
        let mut workload = Workload { source, drawn: Arc::default(), partitions, seed };
        if let Source::Drawn(of) = &workload.source {
            workload.drawn = workload.draw_blocks(of, cut).into();
        }
        workload
    }

    /// Returns a workload of the same queries whose times and results come from another source.
    #[must_use]
    pub fn with_source(self, source: Source) -> Workload {
        Workload { source, ..self }
    }

    fn draw_blocks(&self, of: &Distribution, cut: BlockLimits) -> Vec<DrawnBlock> {
        let mut rng = self.draw(Draw::Queries, BlockId(0), PassId(0), 0);
        let mut passes = self.draw(Draw::Passes, BlockId(0), PassId(0), 0);
        let mut blocks = Vec::new();
        let mut left = of.queries;
        while left > 0 {
            let mut block = DrawnBlock::default();
            // Predictions apply to whole blocks, so all queries of a block need equally many
            // passes.
            let of_block = of.draw_passes(&mut passes);
            while left > 0 && !cut.is_full(block.weight) {
                let mut batch = 0;
                while left > 0 && batch < cut.batch_residues.max(1) {
                    let size = log_normal(&mut rng, of.residue_spread);
                    let residues = ((of.residues * size) as u64).max(1);
                    let work = size * log_normal(&mut rng, of.query_spread);
                    let needed = if of.predicted { of_block } else { of.draw_passes(&mut passes) };
                    block.push(residues, work, needed);
                    batch += residues;
                    left -= 1;
                }
            }
            blocks.push(block);
        }
        blocks
    }

    /// Returns the number of partitions of the database.
    pub fn partitions(&self) -> u32 {
        self.partitions
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> u32 {
        match &self.source {
            Source::Drawn(_) => self.drawn.len() as u32,
            Source::Recorded(trace, blocks) if !trace.blocks.is_empty() => *blocks,
            Source::Recorded(..) => 0,
        }
    }

    /// Returns the weight of all queries.
    pub fn total(&self) -> Weight {
        (0..self.blocks()).map(|block| self.weight(BlockId(block))).fold(
            Weight::default(),
            |sum, weight| Weight {
                sequences: sum.sequences + weight.sequences,
                residues: sum.residues + weight.residues,
            },
        )
    }

    fn draw(&self, what: Draw, block: BlockId, pass: PassId, partition: u32) -> Xoshiro256PlusPlus {
        let place = u64::from(block.0) << 32 | u64::from(partition);
        let end = (what as u64) << 56 ^ u64::from(pass.0) << 40;
        let mixed = place.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ end;
        Xoshiro256PlusPlus::seed_from_u64(self.seed ^ mixed)
    }

    fn recorded_block(trace: &Trace, block: BlockId) -> &TraceBlock {
        &trace.blocks[block.index() % trace.blocks.len()]
    }

    /// Returns the recorded value for a partition. It is scaled if the recorded run had another
    /// number of partitions.
    fn share(&self, recorded: &[f64], partition: PartitionId) -> f64 {
        let count = recorded.len();
        let place = partition.index() * count / self.partitions as usize;
        recorded.get(place).map_or(0.0, |value| value * count as f64 / f64::from(self.partitions))
    }

    /// Returns the weight of a block.
    pub fn weight(&self, block: BlockId) -> Weight {
        match &self.source {
            Source::Drawn(_) => self.drawn[block.index()].weight,
            Source::Recorded(trace, _) => Self::recorded_block(trace, block).weight,
        }
    }

    /// Returns the size of a block's queries in bytes; with `prepared`, including masks and
    /// statistics.
    pub fn query_bytes(&self, block: BlockId, prepared: bool) -> u64 {
        let findings = if prepared { FINDINGS * self.weight(block).sequences } else { 0 };
        match &self.source {
            Source::Drawn(_) => self.weight(block).residues + findings,
            Source::Recorded(trace, _) => Self::recorded_block(trace, block).query_bytes + findings,
        }
    }

    /// Returns the time to read a block, in seconds.
    pub fn read_seconds(&self, block: BlockId) -> f64 {
        match &self.source {
            Source::Drawn(of) => of.read_seconds * self.weight(block).residues as f64,
            Source::Recorded(trace, _) => Self::recorded_block(trace, block).read_seconds,
        }
    }

    /// Returns the time to prepare a block's queries for the search, in seconds.
    pub fn prepare_seconds(&self, block: BlockId) -> f64 {
        match &self.source {
            Source::Drawn(of) => of.prepare_seconds * self.weight(block).residues as f64,
            Source::Recorded(trace, _) => Self::recorded_block(trace, block).prepare_seconds,
        }
    }

    /// Returns the number of passes of a block, at least one.
    pub fn passes(&self, block: BlockId) -> u32 {
        match &self.source {
            Source::Drawn(_) => self.drawn[block.index()].work.len() as u32,
            Source::Recorded(..) => 1,
        }
    }

    /// Whether a pass is the last of its block.
    pub fn is_last(&self, block: BlockId, pass: PassId) -> bool {
        pass.next().0 >= self.passes(block)
    }

    /// Whether passes are predictions. Then verification confirms only the last pass of a block.
    pub fn is_predicted(&self) -> bool {
        matches!(&self.source, Source::Drawn(of) if of.predicted)
    }

    /// Returns the time to search a task, in seconds.
    pub fn search_seconds(&self, block: BlockId, pass: PassId, partition: PartitionId) -> f64 {
        match &self.source {
            Source::Drawn(of) => {
                let mut rng = self.draw(Draw::Task, block, pass, partition.0);
                let of_task = log_normal(&mut rng, of.task_spread);
                let of_block = self.drawn[block.index()].work[pass.index()];
                of.search_seconds / f64::from(self.partitions) * of_block * of_task
            }
            Source::Recorded(trace, _) => {
                self.share(&Self::recorded_block(trace, block).search_seconds, partition)
            }
        }
    }

    /// Returns the number of rounds of a pass that has hits.
    pub fn rounds(&self) -> u32 {
        match &self.source {
            Source::Drawn(of) => of.rounds,
            Source::Recorded(trace, _) => trace.rounds.max(2),
        }
    }

    /// Returns the mean number of subjects that a pass of a block reports in one partition.
    fn subjects(&self, of: &Distribution, block: BlockId) -> f64 {
        of.subjects * self.weight(block).sequences as f64 / f64::from(self.partitions)
    }

    /// Returns the time to answer one round for a partition that has hits, in seconds.
    pub fn answer_seconds(&self, block: BlockId, pass: PassId, partition: PartitionId) -> f64 {
        let rounds = f64::from(self.rounds());
        match &self.source {
            Source::Drawn(of) => {
                let chance = self.subjects(of, block).clamp(1e-9, 1.0);
                self.search_seconds(block, pass, partition) * of.answer_share / chance / rounds
            }
            Source::Recorded(trace, _) => {
                self.share(&Self::recorded_block(trace, block).answer_seconds, partition) / rounds
            }
        }
    }

    /// Returns the time of the longest block in seconds, if each of its tasks had a worker of its
    /// own. No schedule is shorter.
    pub fn longest_block(&self) -> f64 {
        let of_block = |block| -> f64 {
            (0..self.passes(block)).map(|pass| self.longest(block, PassId(pass))).sum()
        };
        (0..self.blocks()).map(|block| of_block(BlockId(block))).fold(0.0, f64::max)
    }

    /// Returns the time of one pass of a block in seconds, if each task had a worker of its own.
    fn longest(&self, block: BlockId, pass: PassId) -> f64 {
        let partitions = || (0..self.partitions).map(PartitionId);
        let search = partitions().map(|partition| self.search_seconds(block, pass, partition));
        let answer =
            partitions().map(|partition| match self.pieces(block, pass, partition).is_empty() {
                true => 0.0,
                false => self.answer_seconds(block, pass, partition) * f64::from(self.rounds()),
            });
        search.fold(0.0, f64::max) + answer.fold(0.0, f64::max)
    }

    /// Returns the time of one work of a master on a block, in seconds.
    pub fn master_seconds(&self, block: BlockId) -> f64 {
        let works = f64::from(self.partitions + self.rounds() + 1);
        match &self.source {
            Source::Drawn(of) => {
                let queries = self.weight(block).sequences as f64;
                of.work_seconds + of.master_seconds * queries / works
            }
            Source::Recorded(trace, _) => Self::recorded_block(trace, block).master_seconds / works,
        }
    }

    /// Returns the size of a task's preliminary hits in bytes.
    pub fn hit_bytes(&self, block: BlockId, partition: PartitionId) -> u64 {
        match &self.source {
            Source::Drawn(of) => {
                let queries = self.weight(block).sequences as f64;
                (of.hit_bytes * queries / f64::from(self.partitions)) as u64
            }
            Source::Recorded(trace, _) => {
                let bytes: Vec<f64> = Self::recorded_block(trace, block)
                    .hit_bytes
                    .iter()
                    .map(|&bytes| bytes as f64)
                    .collect();
                self.share(&bytes, partition) as u64
            }
        }
    }

    /// Whether the cut rises when the master absorbs the result of a task.
    pub fn raises_cut(&self, block: BlockId, pass: PassId, partition: PartitionId) -> bool {
        self.draw(Draw::Cut, block, pass, partition.0).random_bool(0.5)
    }

    /// Returns the lengths in bytes of a partition's formatted pieces in a pass. They are empty if
    /// the partition has no hits.
    pub fn pieces(&self, block: BlockId, pass: PassId, partition: PartitionId) -> Vec<u64> {
        match &self.source {
            Source::Drawn(of) if of.predicted && !self.is_last(block, pass) => Vec::new(),
            Source::Drawn(of) => {
                let mut rng = self.draw(Draw::Pieces, block, pass, partition.0);
                let subjects = (self.subjects(of, block) + rng.random::<f64>()).floor();
                let count = subjects.min(of.most_pieces.max(1).into());
                let mean = of.piece_bytes * subjects / count.max(1.0);
                let length = |_| (mean * log_normal(&mut rng, of.piece_spread)) as u64;
                (0..count as u32).map(length).collect()
            }
            Source::Recorded(trace, _) => {
                let recorded: Vec<f64> = Self::recorded_block(trace, block)
                    .piece_bytes
                    .iter()
                    .map(|&bytes| bytes as f64)
                    .collect();
                match self.share(&recorded, partition) as u64 {
                    0 => Vec::new(),
                    bytes => vec![bytes],
                }
            }
        }
    }

    /// Returns the size of a block's output in bytes.
    pub fn size(&self, block: BlockId) -> u64 {
        self.layout(block, PassId(0)).iter().map(|extent| extent.length).sum()
    }

    /// Returns the layout of a block's output: the pieces of all passes and partitions in a random
    /// order, between two pieces of the master. The pieces of passes before `first`, which an
    /// earlier run finished, belong to the master.
    pub fn layout(&self, block: BlockId, first: PassId) -> Vec<Extent> {
        let mut rng = self.draw(Draw::Order, block, PassId(0), 0);
        let mut extents = Vec::new();
        let mut kept = 2..;
        for pass in (0..self.passes(block)).map(PassId) {
            for partition in (0..self.partitions).map(PartitionId) {
                for (piece, length) in (0..).zip(self.pieces(block, pass, partition)) {
                    let owner = PieceOwner::Partition(pass, partition);
                    extents.push(match kept.next().filter(|_| pass < first) {
                        Some(piece) => Extent { owner: PieceOwner::Master, piece, length },
                        None => Extent { owner, piece, length },
                    });
                }
            }
        }
        for place in (1..extents.len()).rev() {
            extents.swap(place, rng.random_range(0..=place));
        }
        let master = match &self.source {
            Source::Drawn(of) => of.master_bytes * self.weight(block).sequences / 2,
            Source::Recorded(trace, _) => Self::recorded_block(trace, block).master_bytes / 2,
        };
        let own = |piece| Extent { owner: PieceOwner::Master, piece, length: master };
        if master > 0 {
            extents.insert(0, own(0));
            extents.push(own(1));
        }
        extents
    }
}

/// Draws a log-normal number with mean 1. `spread` is the standard deviation of its logarithm.
pub fn log_normal(rng: &mut Xoshiro256PlusPlus, spread: f64) -> f64 {
    let normal: f64 = rng.sample(StandardNormal);
    (normal * spread - spread * spread / 2.0).exp()
}
