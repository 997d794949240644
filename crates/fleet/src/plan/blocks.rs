//! Chooses the number of partitions, the size of blocks, and the limits that depend on them.

use super::PlanInput;
use crate::config::Config;
use crate::payload::Weight;
use crate::topology::TopologyShape;

/// Fewest partitions per worker, as far as the database allows. With several of them, the replicas
/// of a group can begin at different partitions.
const PARTITIONS_PER_WORKER: u32 = 4;
/// Most partitions per worker of a group. With this many tasks per worker, a single block keeps all
/// workers busy.
const TASKS_PER_WORKER: u32 = 4;
/// Number of tasks per worker, in the whole job, up to which the plan cuts the database into more
/// partitions. At the end of the job a worker waits for half a task on average.
const MANY_TASKS: u64 = 64;
/// Number of tasks per worker, in the whole job, up to which the plan cuts the database into more
/// partitions if these stay large. With fewer tasks, a group whose last block takes long would end
/// after the others.
const FINE_TASKS: u64 = 256;
/// Residues of a large partition. Its search with a small block of queries takes seconds.
const LARGE_RESIDUES: u64 = 8 << 20;
/// Most workers of a group per large partition. The more partitions there are, the more workers
/// search one block. Then fewer blocks are searched at once, and less output waits for earlier
/// blocks.
const WORKERS_PER_PARTITION: u32 = 4;
/// Number of tasks per worker up to which the plan makes blocks smaller, once the database cannot
/// be cut finer. It is below [`MANY_TASKS`] and [`FINE_TASKS`], because smaller blocks read the
/// database more often.
const ENOUGH_TASKS: u64 = 32;
/// Number of blocks per group up to which the plan makes blocks smaller. Groups receive whole
/// blocks, so at the end of the job a group waits for half a block on average.
const BLOCKS_OF_GROUP: u64 = 80;
/// Default number of residues in a block of queries: enough that the database is rarely read.
pub const BLOCK_RESIDUES: u64 = 50_000;
/// Default for the most queries in a block.
pub const BLOCK_QUERIES: u64 = 1000;
/// Number of unfinished blocks that a group may have when blocks are full because of their many
/// queries.
const FULL_BLOCKS: u64 = 10;
/// Number of blocks in a query segment when blocks are full because of their many queries.
const SEGMENT_BLOCKS: u64 = 2;
/// Fewest residues of a partition, unless some worker would then have no partition.
const LEAST_RESIDUES: u64 = 256 * 1024;
/// Most partitions of a database, unless some worker would then have no partition.
const MOST_PARTITIONS: u32 = 4096;
/// Bytes of output per rank that may wait for an earlier block: an eighth of
/// [`Config::result_memory`], the bytes that a rank may hold by default.
const WAITING_PER_RANK: u64 = 32 << 20;
/// Tasks of unfinished blocks per worker of a group: one that it searches, one that waits, and two
/// about which it answers questions.
const OPEN_TASKS: u64 = 4;

/// Limits at which a block of queries is complete. A block ends after the first batch with which it
/// reaches one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLimits {
    /// Residues of a batch of BLAST+.
    pub batch_residues: u64,
    /// Number of residues with which a block is complete.
    pub block_residues: u64,
    /// Number of queries with which a block is complete.
    pub block_queries: u64,
}

impl BlockLimits {
    /// Whether a block of this weight is complete.
    pub fn is_full(&self, block: Weight) -> bool {
        block.sequences > 0
            && (block.residues >= self.block_residues || block.sequences >= self.block_queries)
    }
}

impl PlanInput {
    /// Returns the largest number of partitions into which the database may be cut.
    pub(super) fn most_partitions(&self, workers: u32, replicas: u32) -> u32 {
        let sequences = u32::try_from(self.database.sequences.max(1)).unwrap_or(u32::MAX);
        if let Some(partitions) = self.user_settings.partitions {
            return partitions.clamp(1, sequences);
        }
        let by_size = (self.database.residues / LEAST_RESIDUES).min(self.database.sequences);
        let most = by_size.clamp(1, u64::from(MOST_PARTITIONS)) as u32;
        // A worker without a partition would be idle, so there are at least enough partitions for
        // all.
        let holders = workers.div_ceil(replicas).min(sequences);
        most.min(TASKS_PER_WORKER * workers).max(holders)
    }

    /// Returns the number of partitions with which each worker gets enough tasks.
    pub(super) fn partitions(
        &self,
        workers: u32,
        replicas: u32,
        groups: u32,
        blocks: Option<u32>,
    ) -> u32 {
        let few = PARTITIONS_PER_WORKER * workers.div_ceil(replicas);
        let (Some(blocks), None) = (blocks, self.user_settings.partitions) else { return u32::MAX };
        let all = u64::from(workers) * u64::from(groups);
        let cut = |tasks: u64| (tasks * all).div_ceil(blocks.max(1).into());
        let shared = u64::from(workers / WORKERS_PER_PARTITION);
        let fine = cut(FINE_TASKS).max(shared).min(self.database.residues / LARGE_RESIDUES);
        u32::try_from(cut(MANY_TASKS).max(fine)).unwrap_or(u32::MAX).max(few)
    }

    /// Returns the residues of a block of queries, in whole batches. It is less than the default if
    /// there would not be enough tasks for several ranks.
    pub(super) fn block_residues(&self, workers: u32, groups: u32, partitions: u32) -> u64 {
        if let Some(wish) = self.user_settings.block_residues {
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

    /// Estimates the number of blocks; `None` if the queries were not counted.
    pub(super) fn blocks(&self, block_residues: u64) -> Option<u32> {
        // A block has at least one batch, and exceeds the limit by half a query on average.
        let queries = self.queries?;
        let block = block_residues.max(self.batch_residues).max(1);
        Some(u32::try_from(queries.residues.div_ceil(block).max(1)).unwrap_or(u32::MAX))
    }

    /// Returns the settings, with limits raised to fit the number of ranks.
    pub(super) fn limits(
        &self,
        config: &Config,
        shape: TopologyShape,
        block_residues: u64,
    ) -> Config {
        let groups = u64::from(shape.groups.max(1));
        let workers = u64::from(shape.ranks).div_ceil(groups);
        let partitions = u64::from(shape.partitions.max(1));
        let window = (OPEN_TASKS * workers).div_ceil(partitions);
        // The number of blocks that a group asks for when it has few tasks left.
        let short = (workers as f64 * config.look_ahead / partitions as f64).ceil() as u64;
        let segment = short.saturating_mul(block_residues.min(BLOCK_RESIDUES));
        let segment =
            self.user_settings.segment_residues.unwrap_or(config.segment_residues.max(segment));
        let queries_of = |blocks: u64| blocks.saturating_mul(self.block_queries);
        Config {
            waiting_limit: config.waiting_limit.max(u64::from(shape.ranks) * WAITING_PER_RANK),
            most_unfinished_blocks: config
                .most_unfinished_blocks
                .max(u32::try_from(window).unwrap_or(u32::MAX)),
            most_unfinished_queries: config
                .most_unfinished_queries
                .max(queries_of(window.max(FULL_BLOCKS))),
            segment_queries: config.segment_queries.max(queries_of(short.max(SEGMENT_BLOCKS))),
            segment_residues: segment,
            // One query segment for each group. A residue of a query takes about a byte.
            read_ahead: config.read_ahead.max(groups.saturating_mul(segment)),
            total: self.queries,
            ..config.clone()
        }
    }
}
