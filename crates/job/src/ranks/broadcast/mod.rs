//! Loads the database before the search, by all processes together (`-loader broadcast`).
//!
//! [`fleetblast_fleet::loading`] plans which rank reads each piece, and which ranks it sends the
//! piece to. This module has the memory that the ranks of a host share, the threads that read
//! files, and the messages.

mod exchange;
mod host_memory;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fleetblast_db::load::{FileSource, LoadStatistics, MemoryLoader};
use fleetblast_db::partition::FilledMemory;
use fleetblast_db::{Partition, PartitionContents};
use fleetblast_fleet::ids::{PartitionId, Rank};
use fleetblast_fleet::loading::{PIECE_BYTES, PartitionOffsets, Piece, Route, routes};
use fleetblast_mpi::Comm;

pub use self::exchange::BroadcastContext;
use self::exchange::{PieceExchange, PieceSlot, PieceToRead};
use self::host_memory::HostMemory;
use crate::error::Error;
use crate::processes::{Collective, JobProcesses, mpi_failure, require_broadcast};
use crate::ranks::context::RankContext;
use crate::ranks::job::RankJob;

/// Loads the partitions that this rank's worker holds. Collective over all ranks.
///
/// # Errors
/// A silent error: all ranks have it, and the first rank has reported it. Any other error is known
/// only to this rank, and was not reported.
pub fn load(
    broadcast_context: BroadcastContext,
    context: &RankContext<RankJob>,
) -> Result<HashMap<PartitionId, MemoryLoader>, Error> {
    let (start, processes) = (Instant::now(), broadcast_context.processes);
    let world = &processes.world;
    let database = &context.job.subjects.searched;
    let partitions = processes.require_all(list_partitions(context))?;
    let sizes: Vec<u64> = partitions.iter().map(Partition::byte_count).collect();
    agree_on_sizes(processes, &sizes)?;
    let host = world.comm().split_by_host().map_err(mpi_failure)?;
    let (on_host, host_of) = ranks_and_hosts(processes, &host)?;
    let routes = routes(&context.topology, &host_of, &sizes);
    let places = PartitionOffsets::new(&routes, &on_host);
    let own = places.shares.get(host.rank()).cloned().ok_or_else(inconsistent_ranks)?;
    let share = own.len();
    let mut host_memory = HostMemory::new(processes, &host, places.length, own)?;

    let own_rank = Rank(world.rank() as u32);
    let (slots, jobs) = split_memory(host_memory.own_mut(), &routes, own_rank);
    let source = FileSource::new(database.clone());
    let read = |piece: Piece, room: &mut [u8]| {
        let partition = &partitions[piece.partition.index()];
        source.read(partition, piece.start(), room).map_err(Error::from)
    };
    PieceExchange::new(broadcast_context, context.unpublished_files(), &routes, slots)?
        .run(jobs, read)?;
    let (memory, pages) = host_memory.finish(processes)?;
    let took = start.elapsed();
    let own = context
        .topology
        .worker_on(own_rank)
        .map_or(&[][..], |worker| context.topology.partitions_of(worker));
    let held = routes.iter().filter(|route| own.binary_search(&route.partition).is_ok());
    let held = held.map(|route| {
        let (id, memory) = (route.partition, Arc::clone(&memory));
        let filled =
            FilledMemory { memory, start: *places.starts.get(&id).ok_or_else(inconsistent_ranks)? };
        let (database, partition) = (database.clone(), partitions[id.index()].clone());
        let loading_statistics = loading_statistics(route, own_rank, share, took);
        Ok((id, MemoryLoader::new(database, partition, filled, loading_statistics, pages)))
    });
    held.collect()
}

/// Returns all partitions, with their ranges in the files.
fn list_partitions(context: &RankContext<RankJob>) -> Result<Vec<Partition>, Error> {
    let database = &context.job.subjects.searched;
    // There is a partition even if nothing of the database is included.
    let all = (0..context.topology.partitions).map(|id| context.job.oids(PartitionId(id)));
    let all: Result<_, _> =
        all.map(|oids| database.partition(oids, PartitionContents::Residues)).collect();
    all.map_err(Error::from)
}

/// Checks that all hosts have databases of the same size: otherwise pieces of one host would not
/// fit on another.
fn agree_on_sizes(processes: &JobProcesses, sizes: &[u64]) -> Result<(), Error> {
    let first: Vec<u64> = require_broadcast(processes.broadcast(Some(sizes.to_vec()))?)?;
    let same = match first == sizes {
        true => Ok(()),
        false => Err(Error::database(format_args!(
            "the database has other sizes on host {} than on that of rank 0",
            processes.world.host()
        ))),
    };
    processes.require_all(same)
}

/// Returns the ranks on this host in the order of `host`, and the number of the host of each rank
/// of the job.
fn ranks_and_hosts(processes: &JobProcesses, host: &Comm) -> Result<(Vec<Rank>, Vec<u32>), Error> {
    let number = |bytes: &Vec<u8>| {
        bytes.as_slice().try_into().map(u32::from_le_bytes).map_err(|_| inconsistent_ranks())
    };
    let own = (processes.number() as u32).to_le_bytes();
    let on_host = host.gather_all(&own).map_err(mpi_failure)?;
    let on_host: Vec<Rank> =
        on_host.iter().map(|bytes| number(bytes).map(Rank)).collect::<Result<_, _>>()?;
    // The number of a host is that of its first rank.
    let first = on_host.first().ok_or_else(inconsistent_ranks)?.0;
    Ok((on_host, processes.gather(&first)?))
}

/// Divides the memory of a rank into slots for pieces that other ranks send, and pieces that it
/// reads itself.
fn split_memory<'m>(
    mut memory: &'m mut [u8],
    routes: &[Route],
    own_rank: Rank,
) -> (HashMap<Piece, PieceSlot<'m>>, VecDeque<PieceToRead<'m>>) {
    let (mut slots, mut jobs) = (HashMap::new(), VecDeque::new());
    for route in routes.iter().filter(|route| route.position(own_rank).is_some()) {
        let (bytes, rest) = memory.split_at_mut(route.size as usize);
        memory = rest;
        let pieces = Piece::pieces_of_partition(route.partition, route.size)
            .zip(bytes.chunks_mut(PIECE_BYTES));
        match route.ranks.first() == Some(&own_rank) {
            true => jobs.extend(pieces),
            false => slots.extend(pieces.map(|(piece, room)| (piece, PieceSlot::Empty(room)))),
        }
    }
    (slots, jobs)
}

/// Returns the statistics of a partition: the bytes that this rank read or received, and their
/// share of the loading time `took`. The rank loaded `filled` bytes in that time, in all
/// partitions.
fn loading_statistics(
    route: &Route,
    own_rank: Rank,
    filled: usize,
    took: Duration,
) -> LoadStatistics {
    let (bytes, received) = match route.position(own_rank) {
        Some(0) => (route.size, 0),
        Some(_) => (0, route.size),
        None => (0, 0),
    };
    let share = (bytes + received) as f64 / filled.max(1) as f64;
    LoadStatistics { read_bytes: bytes, received_bytes: received, wall_time: took.mul_f64(share) }
}

/// Creates the error for lists that contradict each other, a fault of the program.
fn inconsistent_ranks() -> Error {
    Error::engine(
        "loading the database: ranks have different lists of ranks and hosts; all must run the same build of the program",
    )
}
