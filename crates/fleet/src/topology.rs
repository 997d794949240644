//! The roles of a job, their ranks, and the partitions that workers hold.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{GroupId, PartitionId, Rank, WorkerId};

/// The roles of a job and their ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    /// Number of ranks of the job.
    pub ranks: u32,
    /// Number of partitions of the database.
    pub partitions: u32,
    /// The supermaster's rank.
    pub supermaster: Rank,
    /// The groups.
    pub groups: Vec<Group>,
    /// All workers, group by group.
    pub workers: Vec<WorkerAssignment>,
}

/// A master and its workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The master's rank.
    pub master: Rank,
    /// Numbers of the group's workers.
    pub workers: Range<u32>,
}

/// The rank, group and partitions of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerAssignment {
    /// Rank of the worker.
    pub rank: Rank,
    /// Group of the worker.
    pub group: GroupId,
    /// Number of a replica, from 0, in the worker's group. The worker's partitions are a share of
    /// this replica.
    pub replica: u32,
    /// Partitions that the worker holds, ascending. Workers of different groups share this list in
    /// memory.
    pub partitions: Arc<[PartitionId]>,
}

/// The numbers that determine a topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopologyShape {
    /// Number of ranks, at least 1.
    pub ranks: u32,
    /// Number of groups, from 1 to the number of ranks.
    pub groups: u32,
    /// Number of replicas of the database in each group.
    pub replicas: u32,
    /// Number of partitions of the database, at least 1.
    pub partitions: u32,
    /// Whether masters and the supermaster have ranks of their own, which do not search.
    pub dedicated: bool,
}

impl Topology {
    /// Assigns roles to ranks. Consecutive ranks form a group. The first rank of all hosts the
    /// supermaster, and the first rank of each group hosts its master. With `dedicated`, the
    /// supermaster and the masters get ranks of their own, as far as every group keeps a worker. A
    /// group never has more replicas than workers, and enough replicas that every worker has a
    /// partition.
    pub fn new(shape: TopologyShape) -> Topology {
        let (ranks, partitions) = (shape.ranks.max(1), shape.partitions.max(1));
        let group_count = shape.groups.clamp(1, ranks);
        let mut groups = Vec::with_capacity(group_count as usize);
        let mut workers = Vec::with_capacity(ranks as usize);
        // The shares of partitions by the number of workers in a group, since many groups have the
        // same size.
        let mut held: HashMap<u32, Vec<HeldShare>> = HashMap::new();
        for number in 0..group_count {
            let members = nth_share(ranks, group_count, number);
            let no_worker = match (shape.dedicated, number) {
                (false, _) => 0,
                (true, 0) => 2,
                (true, _) => 1,
            }
            .min(members.len() as u32 - 1);
            let first = workers.len() as u32;
            let master = Rank(members.start + no_worker.saturating_sub(1));
            let searching = members.start + no_worker..members.end;
            let count = searching.len() as u32;
            let held = held.entry(count).or_insert_with(|| {
                assign_partitions(
                    count,
                    shape.replicas.clamp(count.div_ceil(partitions), count),
                    partitions,
                )
            });
            workers.extend(searching.zip(held).map(|(rank, (replica, partitions))| {
                WorkerAssignment {
                    rank: Rank(rank),
                    group: GroupId(number),
                    replica: *replica,
                    partitions: Arc::clone(partitions),
                }
            }));
            groups.push(Group { master, workers: first..workers.len() as u32 });
        }
        Topology { ranks, partitions, supermaster: Rank(0), groups, workers }
    }

    /// Returns the worker on a rank, or `None` if the rank has no worker.
    pub fn worker_on(&self, rank: Rank) -> Option<WorkerId> {
        let at = self.workers.iter().position(|place| place.rank == rank)?;
        Some(WorkerId(at as u32))
    }

    /// Returns the rank, group and partitions of a worker.
    pub fn worker(&self, worker: WorkerId) -> &WorkerAssignment {
        &self.workers[worker.index()]
    }

    /// Returns a group.
    pub fn group(&self, group: GroupId) -> &Group {
        &self.groups[group.index()]
    }

    /// Returns the partitions that a worker holds, ascending.
    pub fn partitions_of(&self, worker: WorkerId) -> &[PartitionId] {
        &self.worker(worker).partitions
    }
}

/// The replica of a worker and the partitions that the worker holds.
type HeldShare = (u32, Arc<[PartitionId]>);

/// Assigns the partitions to the workers of a group, and returns the share of each worker.
fn assign_partitions(workers: u32, replicas: u32, partitions: u32) -> Vec<HeldShare> {
    let holders = |replica| {
        let holders = nth_share(workers, replicas, replica);
        let size = holders.len() as u32;
        let by = nth_share(partitions / size, replicas, replica).start;
        (0..size).map(move |holder| {
            (replica, stagger(nth_share(partitions, size, holder), partitions, by).into())
        })
    };
    (0..replicas).flat_map(holders).collect()
}

/// Shifts a worker's range of partitions by `by`, modulo the number of partitions.
///
/// Each replica of a group begins at another partition. If all replicas were cut alike, the workers
/// with the same share would form a separate pool. Every block has equally many tasks for each
/// pool, so a pool with faster tasks would run out of tasks. With shifted ranges, each pool
/// overlaps with the next ones.
fn stagger(share: Range<u32>, partitions: u32, by: u32) -> Vec<PartitionId> {
    let mut held: Vec<_> = share.map(|p| PartitionId((p + by) % partitions)).collect();
    held.sort_unstable();
    held
}

/// Divides `total` items into `parts` consecutive ranges of nearly equal length, and returns range
/// `number`.
pub fn nth_share(total: u32, parts: u32, number: u32) -> Range<u32> {
    let edge = |n: u32| (u64::from(total) * u64::from(n) / u64::from(parts.max(1))) as u32;
    edge(number)..edge(number + 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn topology(
        ranks: u32,
        groups: u32,
        replicas: u32,
        partitions: u32,
        dedicated: bool,
    ) -> Topology {
        Topology::new(TopologyShape { ranks, groups, replicas, partitions, dedicated })
    }

    #[test]
    fn every_replica_holds_every_partition_once() {
        for ranks in [1, 2, 3, 7, 16, 61, 200] {
            for (groups, replicas, partitions) in
                [(1, 1, 1), (1, 2, 3), (3, 1, 16), (2, 4, 61), (7, 100, 5)]
            {
                for dedicated in [false, true] {
                    let topology = topology(ranks, groups, replicas, partitions, dedicated);
                    let ranks_used: BTreeSet<Rank> =
                        topology.workers.iter().map(|worker| worker.rank).collect();
                    assert_eq!(
                        ranks_used.len(),
                        topology.workers.len(),
                        "a worker per rank at most"
                    );
                    let mut held: BTreeSet<(GroupId, u32, PartitionId)> = BTreeSet::new();
                    let mut replicas_seen = BTreeSet::new();
                    for worker in &topology.workers {
                        assert!(!worker.partitions.is_empty());
                        assert!(worker.partitions.is_sorted());
                        replicas_seen.insert((worker.group, worker.replica));
                        for &partition in worker.partitions.iter() {
                            assert!(held.insert((worker.group, worker.replica, partition)));
                        }
                    }
                    assert_eq!(held.len(), replicas_seen.len() * partitions as usize);
                    for (number, group) in topology.groups.iter().enumerate() {
                        assert!(!group.workers.is_empty());
                        let members = &topology.workers
                            [group.workers.start as usize..group.workers.end as usize];
                        assert!(members.iter().all(|worker| worker.group.index() == number));
                    }
                }
            }
        }
    }

    #[test]
    fn dedicated_ranks_do_not_search() {
        let topology = topology(8, 2, 1, 4, true);
        assert_eq!(topology.supermaster, Rank(0));
        assert_eq!(topology.groups[0].master, Rank(1));
        assert_eq!(topology.groups[1].master, Rank(4));
        let ranks: Vec<u32> = topology.workers.iter().map(|worker| worker.rank.0).collect();
        assert_eq!(ranks, [2, 3, 5, 6, 7]);
        assert_eq!(
            (topology.worker_on(Rank(4)), topology.worker_on(Rank(5))),
            (None, Some(WorkerId(2)))
        );
    }

    #[test]
    fn one_rank_does_everything() {
        let topology = topology(1, 1, 1, 3, true);
        assert_eq!(topology.workers.len(), 1);
        assert_eq!(
            topology.partitions_of(WorkerId(0)),
            [PartitionId(0), PartitionId(1), PartitionId(2)]
        );
        assert_eq!((topology.supermaster, topology.groups[0].master), (Rank(0), Rank(0)));
    }

    #[test]
    fn replicas_cut_at_different_places() {
        let topology = topology(4, 1, 2, 4, false);
        let held: Vec<Vec<u32>> = topology
            .workers
            .iter()
            .map(|worker| worker.partitions.iter().map(|p| p.0).collect())
            .collect();
        assert_eq!(held, [vec![0, 1], vec![2, 3], vec![1, 2], vec![0, 3]]);
    }
}
