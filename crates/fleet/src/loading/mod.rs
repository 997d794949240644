//! How all ranks bring a database into memory together: each byte is read from files once and sent on to the other hosts
//! that hold it; the ranks of a host share what they hold.
//!
//! On every host that holds a partition one rank *fills* its memory. These ranks are in a row, its [`Route`]: the first reads
//! the partition from its files, the others get it along a binomial tree, so that the last has it after a time that grows
//! with the logarithm of their number. It travels in [`Piece`]s, which are passed on as soon as they are there. A [`Relay`]
//! is what one rank does of all that, without input and output.

mod relay;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use self::relay::{Awaited, Relay, Silence};
use crate::ids::{PartitionId, Rank};
use crate::topology::Topology;

/// Bytes that are read and sent at a time.
pub const PIECE_BYTES: usize = 4 << 20;

/// Some of the bytes of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Piece {
    /// The partition.
    pub partition: PartitionId,
    /// The pieces of a partition have [`PIECE_BYTES`] each, but for the last; from 0.
    pub number: u32,
}

impl Piece {
    /// The pieces of a partition of so many bytes.
    pub fn all(partition: PartitionId, size: u64) -> impl Iterator<Item = Piece> {
        let count = size.div_ceil(PIECE_BYTES as u64) as u32;
        (0..count).map(move |number| Piece { partition, number })
    }

    /// The byte of the partition with which the piece begins.
    pub fn start(self) -> u64 {
        u64::from(self.number) * PIECE_BYTES as u64
    }
}

/// The way of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The partition.
    pub partition: PartitionId,
    /// Its bytes.
    pub size: u64,
    /// The ranks that fill its memory, one on each host that holds it. The first reads it from files.
    pub fillers: Vec<Rank>,
}

impl Route {
    /// Where in the row a rank is.
    pub fn position(&self, rank: Rank) -> Option<usize> {
        self.fillers.iter().position(|&filler| filler == rank)
    }

    /// From whom the rank at `position` gets the partition; `None` for the first.
    pub fn parent(&self, position: usize) -> Option<Rank> {
        // Without the highest bit of the number.
        let highest = position.checked_ilog2()?;
        self.fillers.get(position - (1 << highest)).copied()
    }

    /// To whom the rank at `position` sends it, those first who send it to most others.
    pub fn children(&self, position: usize) -> impl Iterator<Item = Rank> {
        children(position, self.fillers.len()).map(|child| self.fillers[child])
    }
}

/// The positions that get a partition from `position`, if there are `count`.
fn children(position: usize, count: usize) -> impl Iterator<Item = usize> {
    let first = position.checked_ilog2().map_or(0, |highest| highest + 1);
    (first..usize::BITS).map(move |bit| position + (1 << bit)).take_while(move |&at| at < count)
}

/// The ways of all partitions that somebody holds. `hosts` has each rank's host, and `sizes` each partition's bytes. Reading,
/// sending, and receiving are spread evenly over hosts and over the ranks of a host.
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
        routes.push(Route { partition: PartitionId(number), size, fillers });
    }
    routes.retain(|route| !route.fillers.is_empty());
    routes
}

/// Where partitions are in the memory that the ranks of a host share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Where each partition of the host begins.
    pub starts: BTreeMap<PartitionId, usize>,
    /// Bytes in all.
    pub length: usize,
    /// The part that each rank of the host fills, in the order of `ranks`.
    pub shares: Vec<Range<usize>>,
}

impl Places {
    /// On the host of these ranks: the partitions that a rank fills lie one after the other, in the order of `routes`.
    pub fn new(routes: &[Route], ranks: &[Rank]) -> Places {
        let order: BTreeMap<Rank, usize> = ranks.iter().copied().zip(0..).collect();
        let mut filled: Vec<Vec<&Route>> = vec![Vec::new(); ranks.len()];
        for route in routes {
            // On each host one rank at most fills a partition.
            if let Some(&filler) = route.fillers.iter().find_map(|rank| order.get(rank)) {
                filled[filler].push(route);
            }
        }
        let mut places = Places::default();
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
