//! Lays a job out over its ranks. The layout is a pure function of the facts that are known before
//! the job starts.

mod blocks;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::blocks::{BLOCK_QUERIES, BLOCK_RESIDUES, BlockLimits};
use crate::config::Config;
use crate::ids::PartitionId;
use crate::payload::Weight;
use crate::topology::{Topology, TopologyShape};

/// Approximate number of ranks in a group. In the simulator the master of 128 workers is busy for
/// 0.2 % of the time. With smaller groups, the groups would end at more different times.
const GROUP_RANKS: u32 = 128;
/// Bytes of memory that a rank needs besides database and output, for the program, queries and
/// hits. [`THREAD_MEMORY`] is added for each thread.
const FIXED_MEMORY: u64 = 128 << 20;
const THREAD_MEMORY: u64 = 16 << 20;

/// The facts that are known before the job starts, from which the layout is planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanInput {
    /// Number of ranks of the job.
    pub ranks: u32,
    /// Number of ranks per host that share their partitions of the database in memory.
    pub ranks_per_host: u32,
    /// Number of hosts. Consecutive ranks are assumed to be on the same host.
    pub hosts: u32,
    /// Whether all ranks load the database together (see [`loading`](crate::loading)). Otherwise
    /// each host reads its own partitions.
    pub broadcast: bool,
    /// Whether a rank may read its partitions piece by piece for each block of queries, if they do
    /// not fit into memory.
    pub stream: bool,
    /// Number of search threads per rank.
    pub threads: u32,
    /// Bytes of memory that a rank may use, including its share of the database memory of its host.
    pub memory: u64,
    /// Size of the database.
    pub database: DatabaseSize,
    /// Weight of all queries, if they were counted.
    pub queries: Option<Weight>,
    /// Residues of a batch of BLAST+. Blocks consist of whole batches.
    pub batch_residues: u64,
    /// Most residues of a block of queries, if the user chose no number.
    pub most_block_residues: u64,
    /// Number of queries with which a block is complete.
    pub block_queries: u64,
    /// Settings that the user chose.
    #[serde(rename = "wishes")]
    pub user_settings: UserSettings,
}

/// Size of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseSize {
    /// Size of the database in memory, in bytes.
    pub bytes: u64,
    /// Number of residues.
    pub residues: u64,
    /// Number of sequences.
    pub sequences: u64,
}

/// Settings that the user chose; the plan chooses those that are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserSettings {
    /// `-groups`: number of groups.
    pub groups: Option<u32>,
    /// `-replicas`: replicas of the database in each group.
    pub replicas: Option<u32>,
    /// `-partitions`: number of partitions, never more than the number of sequences.
    pub partitions: Option<u32>,
    /// Whether masters have ranks of their own.
    pub dedicated: Option<bool>,
    /// `-result_memory` in bytes. By default it is up to [`Config::result_memory`], as far as
    /// memory remains.
    pub result_memory: Option<u64>,
    /// `-block_residues`.
    pub block_residues: Option<u64>,
    /// `-segment_size` in residues.
    pub segment_residues: Option<u64>,
}

/// The layout of a job over its ranks, and its costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    /// Numbers of ranks, groups, replicas and partitions.
    pub shape: TopologyShape,
    /// The roles of the ranks, and the partitions of the workers.
    pub topology: Topology,
    /// Settings, with limits for this number of ranks and queries.
    pub config: Config,
    /// Number of residues with which a block of queries is complete, after a whole batch.
    pub block_residues: u64,
    /// Number of search threads per worker.
    pub threads: u32,
    /// Bytes of the database on the rank that holds most. If the ranks of a host share memory, only
    /// the rank's share of it counts.
    pub database_memory: u64,
    /// Bytes of memory that the rank with most memory uses, for all purposes.
    pub memory: u64,
    /// Bytes of the database on the host that holds most of it.
    pub host_memory: u64,
    /// Whether all ranks load the database together.
    pub broadcast: bool,
    /// Bytes of memory through which a worker reads its partitions for each block, if they do not
    /// fit into memory; otherwise `None`.
    pub streamed: Option<u64>,
    /// Bytes that all hosts together read from the file system. It is an upper limit if each host
    /// reads for itself.
    pub bytes_read: u64,
    /// Bytes that hosts receive from each other while they load the database.
    pub bytes_broadcast: u64,
    /// Expected share of the workers' time that is used for searching. The rest is lost to unequal
    /// shares of the database. If the number of blocks is known, waiting at the end of the job
    /// counts, too. Assumes that all residues take the same time.
    pub balance: f64,
}

/// Error for a layout that is impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// The database does not fit into the memory of the ranks.
    #[error(
        "the database does not fit: a rank would need {needed} bytes of memory and may use {available}; give each rank \
         that much, or use at least {least_ranks} ranks{fewer_replicas}"
    )]
    Memory {
        /// Bytes that the rank with most memory would need.
        needed: u64,
        /// Bytes that a rank may use.
        available: u64,
        /// Least number of ranks with which the database would fit.
        least_ranks: u64,
        /// Further advice about `-groups` and `-replicas`; may be empty.
        fewer_replicas: &'static str,
    },
    /// The memory of a rank does not suffice for any part of the database.
    #[error(
        "{available} bytes of memory per rank are too little: {needed} are needed besides the database"
    )]
    NoMemory {
        /// Bytes needed for other purposes.
        needed: u64,
        /// Bytes that a rank may use.
        available: u64,
    },
    /// A setting that the user chose is impossible.
    #[error("{option} {given} is not possible: it must be from 1 to {most} {reason}")]
    Setting {
        /// Name of the option.
        option: &'static str,
        /// Value of the option.
        given: u32,
        /// The largest possible value.
        most: u64,
        /// Reason for the largest value.
        reason: &'static str,
    },
}

impl PlanInput {
    /// Lays the job out over its ranks.
    ///
    /// # Errors
    /// The database does not fit into the ranks' memory, or a user's setting is impossible. The
    /// error has the numbers.
    pub fn plan(&self, config: &Config) -> Result<Layout, LayoutError> {
        self.check()?;
        let dedicated = self.user_settings.dedicated.unwrap_or(false);
        let other = self.other_memory(config);
        let room = self.memory.saturating_sub(other);
        if room == 0 {
            return Err(LayoutError::NoMemory { needed: other, available: self.memory });
        }
        // The number of workers that are needed to hold the database together.
        let holders = match self.database.bytes <= room.saturating_mul(self.sharers()) {
            true => 1,
            false => self.database.bytes.div_ceil(room),
        };
        let groups = self.user_settings.groups.unwrap_or_else(|| self.groups(holders));
        let members = self.ranks / groups;
        let workers = members.saturating_sub(if dedicated { 2 } else { 0 }).max(1);
        // Partitions differ in size, so a tenth of the memory stays free.
        let fit = u64::from(workers) * 9 / (10 * holders).max(1);
        let chosen = if holders == 1 { workers } else { (fit as u32).max(1) };
        let replicas = self.user_settings.replicas.unwrap_or(chosen).min(workers);
        let most_partitions = self.most_partitions(workers, replicas);
        let block_residues = self.block_residues(workers, groups, most_partitions);
        let blocks = self.blocks(block_residues);
        let partitions = self.partitions(workers, replicas, groups, blocks).min(most_partitions);
        let shape = TopologyShape { ranks: self.ranks, groups, replicas, partitions, dedicated };
        let config = self.limits(config, shape, block_residues);
        let layout = self.assess(shape, (config, block_residues), other, holders)?;
        Ok(self.add_result_memory(layout))
    }

    fn check(&self) -> Result<(), LayoutError> {
        let ranks = u64::from(self.ranks);
        for (option, given, most, reason) in [
            ("-groups", self.user_settings.groups, ranks, "(a rank each)"),
            ("-replicas", self.user_settings.replicas, ranks, "(a rank each)"),
        ] {
            if let Some(given) = given
                && (given == 0 || u64::from(given) > most)
            {
                return Err(LayoutError::Setting { option, given, most, reason });
            }
        }
        Ok(())
    }

    /// Returns the number of ranks of a host that share their partitions in memory.
    fn sharers(&self) -> u64 {
        u64::from(self.ranks_per_host.clamp(1, self.ranks.max(1)))
    }

    /// Returns the bytes of memory that a rank needs besides the database.
    pub fn other_memory(&self, config: &Config) -> u64 {
        FIXED_MEMORY + u64::from(self.threads) * THREAD_MEMORY + self.least_result_memory(config)
    }

    fn least_result_memory(&self, config: &Config) -> u64 {
        self.user_settings.result_memory.unwrap_or_else(|| config.least_result_memory())
    }

    /// Gives the remaining memory to results, unless the user chose a number of bytes.
    fn add_result_memory(&self, mut layout: Layout) -> Layout {
        let least = self.least_result_memory(&layout.config);
        let most =
            self.user_settings.result_memory.unwrap_or(layout.config.result_memory).max(least);
        layout.config.result_memory = least.saturating_add(self.memory - layout.memory).min(most);
        layout.memory += layout.config.result_memory - least;
        layout
    }

    fn groups(&self, holders: u64) -> u32 {
        let most = u64::from(self.ranks) / holders;
        ((self.ranks + GROUP_RANKS / 2) / GROUP_RANKS)
            .clamp(1, most.clamp(1, u64::from(self.ranks)) as u32)
    }

    /// Computes the costs of a layout, or an error if it does not fit into memory.
    fn assess(
        &self,
        shape: TopologyShape,
        (config, block_residues): (Config, u64),
        other: u64,
        holders: u64,
    ) -> Result<Layout, LayoutError> {
        let topology = Topology::new(shape);
        let most = topology.workers.iter().map(|worker| worker.partitions.len() as u64).max();
        let most = most.unwrap_or(0);
        let share = most as f64 / f64::from(shape.partitions);
        // Either each rank of a host holds its own partitions, or all ranks of the host share the
        // whole database.
        let own = (self.database.bytes as f64 * share).ceil() as u64;
        let database_memory = own.min(self.database.bytes.div_ceil(self.sharers()));
        let memory = other + database_memory;
        let fits = memory <= self.memory;
        let streamed = (!fits && self.stream).then_some(self.memory - other);
        if !fits && streamed.is_none() {
            let least_ranks =
                holders * u64::from(shape.groups) + if shape.dedicated { 2 } else { 0 };
            let fewer =
                self.user_settings.replicas.is_some() || self.user_settings.groups.is_some();
            let fewer_replicas = if fewer { ", or fewer -groups and -replicas" } else { "" };
            let available = self.memory;
            return Err(LayoutError::Memory {
                needed: memory,
                available,
                least_ranks,
                fewer_replicas,
            });
        }
        let hosts = self.held_by_hosts(&topology);
        let bytes = |held: u64| {
            let bytes = u128::from(self.database.bytes) * u128::from(held);
            (bytes / u128::from(shape.partitions.max(1))) as u64
        };
        let held = bytes(hosts.iter().sum());
        let blocks = self.blocks(block_residues);
        let (bytes_read, bytes_broadcast) = match self.broadcast {
            true => (self.database.bytes, held.saturating_sub(self.database.bytes)),
            // Each worker reads its partitions again for each block.
            false if streamed.is_some() => {
                let blocks = blocks.unwrap_or(1).into();
                (self.database.bytes.saturating_mul(blocks), 0)
            }
            // A host reads a partition when one of its workers first searches a block in it.
            false => match blocks {
                Some(blocks) => (held.min(self.database.bytes.saturating_mul(blocks.into())), 0),
                None => (held, 0),
            },
        };
        Ok(Layout {
            balance: self.balance(&topology, blocks),
            shape,
            topology,
            config,
            block_residues,
            threads: self.threads,
            database_memory: streamed.unwrap_or(database_memory),
            memory: memory.min(self.memory),
            host_memory: match streamed {
                Some(buffers) => buffers.saturating_mul(self.sharers()),
                None => bytes(hosts.into_iter().max().unwrap_or(0)),
            },
            broadcast: self.broadcast,
            streamed,
            bytes_read,
            bytes_broadcast,
        })
    }

    /// Returns the number of different partitions on each host.
    fn held_by_hosts(&self, topology: &Topology) -> Vec<u64> {
        let hosts = self.hosts.clamp(1, self.ranks.max(1));
        let ranks_of_host = self.ranks.div_ceil(hosts).max(1);
        let mut held: Vec<BTreeSet<PartitionId>> = vec![BTreeSet::new(); hosts as usize];
        for worker in &topology.workers {
            if let Some(held) = held.get_mut((worker.rank.0 / ranks_of_host) as usize) {
                held.extend(worker.partitions.iter());
            }
        }
        held.iter().map(|held| held.len() as u64).collect()
    }

    fn balance(&self, topology: &Topology, blocks: Option<u32>) -> f64 {
        // Several replicas begin at different partitions, which evens out unequal shares. With a
        // single replica, the worker with the largest share takes longest.
        let shares = topology.groups.iter().map(|group| {
            let members =
                &topology.workers[group.workers.start as usize..group.workers.end as usize];
            let held = members.iter().map(|worker| worker.partitions.len());
            let (sum, most) = held.fold((0, 0), |(sum, most), held| (sum + held, most.max(held)));
            let single = members.iter().all(|worker| worker.replica == 0);
            if single { sum as f64 / (most * members.len()) as f64 } else { 1.0 }
        });
        let shares = shares.fold(1.0, f64::min);
        // At the end of the job each worker waits for half a task on average.
        let Some(blocks) = blocks else { return shares };
        let tasks =
            f64::from(blocks) * f64::from(topology.partitions) / topology.workers.len() as f64;
        shares * tasks / (tasks + 0.5)
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TopologyShape { ranks, groups, replicas, partitions, dedicated } = self.shape;
        let masters = if dedicated { "on ranks of their own" } else { "on workers' ranks" };
        writeln!(f, "ranks                       {ranks}")?;
        writeln!(f, "groups                      {groups}, their masters {masters}")?;
        writeln!(f, "workers                     {}", self.topology.workers.len())?;
        writeln!(f, "threads of a worker         {}", self.threads)?;
        writeln!(f, "replicas in a group         {replicas}")?;
        writeln!(f, "partitions                  {partitions}")?;
        writeln!(f, "residues of a block         {}", self.block_residues)?;
        writeln!(f, "memory of a rank, at most   {}", size(self.memory))?;
        writeln!(f, "  of it for the database    {}", size(self.database_memory))?;
        writeln!(f, "  for output that waits     {}", size(self.config.result_memory))?;
        let loading = match (self.broadcast, self.streamed) {
            (true, _) => "all ranks together",
            (false, None) => "each host for itself",
            (false, Some(_)) => "each rank part by part, again for each block: it does not fit",
        };
        writeln!(f, "loading                     {loading}")?;
        writeln!(f, "  held by a host, at most   {}", size(self.host_memory))?;
        writeln!(f, "  read from files, in all   {}", size(self.bytes_read))?;
        writeln!(f, "  got from other hosts      {}", size(self.bytes_broadcast))?;
        write!(f, "expected balance            {:.1} %", 100.0 * self.balance)
    }
}

/// Formats a number of bytes with a unit, for messages.
fn size(bytes: u64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match units.into_iter().find(|&(unit, _)| bytes as f64 >= unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit),
        None => format!("{bytes} bytes"),
    }
}
