//! How finely a job is cut, and the bounds that grow with it.

use super::Request;
use crate::config::Config;
use crate::payload::Weight;
use crate::topology::Shape;

/// Partitions that a worker of a group with several replicas holds: enough for replicas to cut at different places.
const PARTITIONS_PER_WORKER: u32 = 4;
/// Tasks of a block per worker when there are so few blocks that each must keep all workers busy.
const TASKS_PER_WORKER: u32 = 4;
/// Tasks of a worker in the whole job for the sake of which the database is cut finer: in the end each waits for half a
/// task.
const MANY_TASKS: u64 = 64;
/// The same as long as partitions stay large: a block of queries that takes a group long would have it end after the others.
const FINE_TASKS: u64 = 256;
/// Residues of a large partition: searching a small block of queries in it takes seconds.
const LARGE_RESIDUES: u64 = 8 << 20;
/// Workers of a group for one large partition, at most: the more of them search a block, the fewer blocks are under way, each
/// of which has output that waits for those before it.
const WORKERS_PER_PARTITION: u32 = 4;
/// Tasks of a worker in the whole job for the sake of which blocks are made smaller, when the database is cut as finely
/// as it can be. Fewer, since a smaller block has the database read more often.
const ENOUGH_TASKS: u64 = 32;
/// Blocks of a group in the whole job for the sake of which they are made smaller: what is handed to groups are blocks, and
/// in the end each group waits for half of one.
const BLOCKS_OF_GROUP: u64 = 80;
/// Residues of a block of queries: enough for the database to be read rarely.
pub const BLOCK_RESIDUES: u64 = 50_000;
/// Queries of a block, at most, by default.
pub const BLOCK_QUERIES: u64 = 1000;
/// Full blocks of a group that may be unfinished, if they are full because of their many queries.
const FULL_BLOCKS: u64 = 10;
/// Full blocks of a segment in the same case.
const SEGMENT_BLOCKS: u64 = 2;
/// Residues of a partition, at least, if that leaves a partition for each worker of a replica.
const LEAST_RESIDUES: u64 = 256 * 1024;
/// Partitions at most.
const MOST_PARTITIONS: u32 = 4096;
/// Bytes of output for each rank that may wait for an earlier block: an eighth of what a rank may hold by default.
const WAITING_PER_RANK: u64 = 32 << 20;
/// Tasks for each worker of a group that may be in unfinished blocks: one under way, one waiting, two being answered.
const OPEN_TASKS: u64 = 4;

/// Where queries are cut into blocks: after a batch, when there are enough residues or queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Residues of the queries that BLAST+ searches together.
    pub batch_residues: u64,
    /// Residues of a block that are enough.
    pub block_residues: u64,
    /// Queries of a block that are enough.
    pub block_queries: u64,
}

impl Cut {
    /// Whether a block is to end with the batches it has.
    pub fn is_full(&self, block: Weight) -> bool {
        block.sequences > 0
            && (block.residues >= self.block_residues || block.sequences >= self.block_queries)
    }
}

impl Request {
    /// As many partitions as the database may be cut into.
    pub(super) fn finest(&self, workers: u32, replicas: u32) -> u32 {
        let sequences = u32::try_from(self.database.sequences.max(1)).unwrap_or(u32::MAX);
        if let Some(partitions) = self.wishes.partitions {
            return partitions.clamp(1, sequences);
        }
        let by_size = (self.database.residues / LEAST_RESIDUES).min(self.database.sequences);
        let most = by_size.clamp(1, u64::from(MOST_PARTITIONS)) as u32;
        // A worker without a partition would be idle.
        let holders = workers.div_ceil(replicas).min(sequences);
        most.min(TASKS_PER_WORKER * workers).max(holders)
    }

    /// As many partitions as give each worker enough tasks in all.
    pub(super) fn partitions(
        &self,
        workers: u32,
        replicas: u32,
        groups: u32,
        blocks: Option<u32>,
    ) -> u32 {
        let few = PARTITIONS_PER_WORKER * workers.div_ceil(replicas);
        let (Some(blocks), None) = (blocks, self.wishes.partitions) else { return u32::MAX };
        let all = u64::from(workers) * u64::from(groups);
        let cut = |tasks: u64| (tasks * all).div_ceil(blocks.max(1).into());
        let shared = u64::from(workers / WORKERS_PER_PARTITION);
        let fine = cut(FINE_TASKS).max(shared).min(self.database.residues / LARGE_RESIDUES);
        u32::try_from(cut(MANY_TASKS).max(fine)).unwrap_or(u32::MAX).max(few)
    }

    /// Residues of a block of queries: fewer than usual if several ranks would not have enough tasks, in whole batches.
    pub(super) fn block_residues(&self, workers: u32, groups: u32, partitions: u32) -> u64 {
        if let Some(wish) = self.wishes.block_residues {
            return wish;
        }
        let most = self.most_block_residues;
        let Some(queries) = self.queries.filter(|_| self.ranks > 1) else { return most };
        let batch = self.batch_residues.max(1);
        let for_workers = (ENOUGH_TASKS * u64::from(workers)).div_ceil(partitions.max(1).into());
        let of_group = for_workers.max(if groups > 1 { BLOCKS_OF_GROUP } else { 1 });
        let batches = queries.residues / (u64::from(groups) * of_group).max(1) / batch;
        batches.saturating_mul(batch).max(batch).min(most)
    }

    /// About how many blocks there will be, if the queries could be counted.
    pub(super) fn blocks(&self, block_residues: u64) -> Option<u32> {
        // A block has a batch at least, and in the mean half a query more than it should.
        let queries = self.queries?;
        let block = block_residues.max(self.batch_residues).max(1);
        Some(u32::try_from(queries.residues.div_ceil(block).max(1)).unwrap_or(u32::MAX))
    }

    /// Settings whose bounds leave room for so many ranks.
    pub(super) fn bounds(&self, config: &Config, shape: Shape, block_residues: u64) -> Config {
        let groups = u64::from(shape.groups.max(1));
        let workers = u64::from(shape.ranks).div_ceil(groups);
        let partitions = u64::from(shape.partitions.max(1));
        let window = (OPEN_TASKS * workers).div_ceil(partitions);
        // What a group asks for when it runs short.
        let short = (workers as f64 * config.look_ahead / partitions as f64).ceil() as u64;
        let segment = short.saturating_mul(block_residues.min(BLOCK_RESIDUES));
        let segment = self.wishes.segment_residues.unwrap_or(config.segment_residues.max(segment));
        let queries_of = |blocks: u64| blocks.saturating_mul(self.block_queries);
        Config {
            waiting_limit: config.waiting_limit.max(u64::from(shape.ranks) * WAITING_PER_RANK),
            window: config.window.max(u32::try_from(window).unwrap_or(u32::MAX)),
            window_queries: config.window_queries.max(queries_of(window.max(FULL_BLOCKS))),
            segment_queries: config.segment_queries.max(queries_of(short.max(SEGMENT_BLOCKS))),
            segment_residues: segment,
            // A segment for each group; a residue of queries takes about a byte.
            read_ahead: config.read_ahead.max(groups.saturating_mul(segment)),
            total: self.queries,
            ..config.clone()
        }
    }
}
