//! Describes how all ranks load a database into memory together. One rank reads each byte from the
//! files, and sends it to the other hosts that hold it. The ranks of a host share the partitions
//! that they hold.
//!
//! On every host that holds a partition, one rank *fills* the partition's memory. These ranks form
//! a row, the partition's [`Route`]. The first rank reads the partition from its files. The others
//! receive it along a binomial tree, so the time grows with the logarithm of their number. A
//! partition travels in [`Piece`]s, which each rank sends on as soon as they arrive. A
//! [`LoadingState`] is the state of one rank, without input and output.

mod state;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use self::state::{AwaitedMessage, LoadingState, SilentRank};
use crate::ids::{PartitionId, Rank};
use crate::topology::Topology;

/// Size of a piece in bytes: ranks read and send this many bytes at a time.
pub const PIECE_BYTES: usize = 4 << 20;

/// A part of a partition's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Piece {
    /// The partition.
    pub partition: PartitionId,
    /// Number of the piece in its partition, from 0. Each piece has [`PIECE_BYTES`] bytes, except
    /// the last.
    pub number: u32,
}

impl Piece {
    /// Returns all pieces of a partition of `size` bytes.
    pub fn pieces_of_partition(partition: PartitionId, size: u64) -> impl Iterator<Item = Piece> {
        let count = size.div_ceil(PIECE_BYTES as u64) as u32;
        (0..count).map(move |number| Piece { partition, number })
    }

    /// Returns the offset of the piece in its partition, in bytes.
    pub fn start(self) -> u64 {
        u64::from(self.number) * PIECE_BYTES as u64
    }
}

/// The ranks through which a partition travels while it is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The partition.
    pub partition: PartitionId,
    /// Size of the partition in bytes.
    pub size: u64,
    /// The row of ranks that fill the partition's memory, one per host that holds it. The first
    /// rank reads the partition from files.
    pub ranks: Vec<Rank>,
}

impl Route {
    /// Returns the position of a rank in the row, or `None` if the rank does not fill the
    /// partition.
    pub fn position(&self, rank: Rank) -> Option<usize> {
        self.ranks.iter().position(|&filler| filler == rank)
    }

    /// Returns the rank that sends the partition to the rank at `position`, or `None` for the first
    /// rank.
    pub fn parent(&self, position: usize) -> Option<Rank> {
        // The parent's position is this position without its highest bit.
        let highest = position.checked_ilog2()?;
        self.ranks.get(position - (1 << highest)).copied()
    }

    /// Returns the ranks to which the rank at `position` sends the partition. Ranks with most ranks
    /// below them in the tree come first.
    pub fn children(&self, position: usize) -> impl Iterator<Item = Rank> {
        children(position, self.ranks.len()).map(|child| self.ranks[child])
    }
}

/// Returns the positions to which the rank at `position` sends a partition, in a row of `count`
/// ranks.
fn children(position: usize, count: usize) -> impl Iterator<Item = usize> {
    let first = position.checked_ilog2().map_or(0, |highest| highest + 1);
    (first..usize::BITS).map(move |bit| position + (1 << bit)).take_while(move |&at| at < count)
}

/// Computes the routes of all partitions that a worker holds. `hosts` has each rank's host, and
/// `sizes` each partition's bytes. The routes spread reading, sending and receiving evenly over the
/// hosts, and over the ranks of each host.
pub fn routes(topology: &Topology, hosts: &[u32], sizes: &[u64]) -> Vec<Route> {
    let mut holders: Vec<BTreeMap<u32, Vec<Rank>>> = vec![BTreeMap::new(); sizes.len()];
    for worker in &topology.workers {
        for partition in worker.partitions.iter() {
            if let (Some(holders), Some(&host)) =
                (holders.get_mut(partition.index()), hosts.get(worker.rank.index()))
            {
                holders.entry(host).or_default().push(worker.rank);
            }
        }
    }
    // Bytes that pass through each host, and through each rank.
    let mut on_hosts: BTreeMap<u32, u64> = BTreeMap::new();
    let mut on_ranks: BTreeMap<Rank, u64> = BTreeMap::new();
    let mut routes = Vec::with_capacity(sizes.len());
    for ((holders, &size), number) in holders.iter().zip(sizes).zip(0..) {
        let mut row: Vec<u32> = holders.keys().copied().collect();
        row.sort_by_key(|host| (on_hosts.get(host).copied().unwrap_or(0), *host));
        let mut fillers = Vec::with_capacity(row.len());
        for (position, host) in row.iter().enumerate() {
            let ranks = holders[host].iter().copied();
            let busy = |rank: &Rank| (on_ranks.get(rank).copied().unwrap_or(0), *rank);
            let Some(filler) = ranks.min_by_key(busy) else { continue };
            let through = size * (1 + children(position, row.len()).count() as u64);
            *on_hosts.entry(*host).or_default() += through;
            *on_ranks.entry(filler).or_default() += through;
            fillers.push(filler);
        }
        routes.push(Route { partition: PartitionId(number), size, ranks: fillers });
    }
    routes.retain(|route| !route.ranks.is_empty());
    routes
}

/// Offsets of partitions in the memory that the ranks of a host share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionOffsets {
    /// Offset in bytes of each partition that the host holds.
    pub starts: BTreeMap<PartitionId, usize>,
    /// Bytes of all partitions together.
    pub length: usize,
    /// Range of bytes that each rank of the host fills, in the order of the `ranks` given to
    /// [`PartitionOffsets::new`].
    pub shares: Vec<Range<usize>>,
}

impl PartitionOffsets {
    /// Computes the offsets on the host of these ranks. The partitions that one rank fills are
    /// adjacent, in the order of `routes`.
    pub fn new(routes: &[Route], ranks: &[Rank]) -> PartitionOffsets {
        let order: BTreeMap<Rank, usize> = ranks.iter().copied().zip(0..).collect();
        let mut filled: Vec<Vec<&Route>> = vec![Vec::new(); ranks.len()];
        for route in routes {
            // At most one rank of each host fills a partition.
            if let Some(&filler) = route.ranks.iter().find_map(|rank| order.get(rank)) {
                filled[filler].push(route);
            }
        }
        let mut places = PartitionOffsets::default();
        for routes in filled {
            let start = places.length;
            for route in routes {
                places.starts.insert(route.partition, places.length);
                places.length += route.size as usize;
            }
            places.shares.push(start..places.length);
        }
        places
    }
}
