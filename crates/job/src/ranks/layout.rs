//! How a search is laid out over its ranks, from what there is of queries, database, and memory.

use std::ops::Range;
use std::sync::Arc;

use fleetblast_db::load::machine;
#[cfg(feature = "mpi")]
use fleetblast_db::load::{self, Choice, Purpose};
use fleetblast_db::load::{HELD_SHARE, Method};
#[cfg(feature = "mpi")]
use fleetblast_db::partition::VolumeFile;
use fleetblast_db::{Contents, Database};
use fleetblast_fleet::payload::Weight;
use fleetblast_fleet::plan::{BLOCK_RESIDUES, Layout, Request, Size, Wishes};
use fleetblast_fleet::topology::{Shape, Topology};

use super::checkpoint;
use crate::error::{Error, exit};
use crate::metadata::Estimate;
use crate::plan::Plan;
use crate::queries::count::count_queries;
use crate::standard;
use crate::subjects::SubjectDatabase;
use crate::threads::pool;

/// The ranks and what a host has for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// In the job.
    pub all: u32,
    /// On the fullest host.
    pub per_host: u32,
    /// Hosts.
    pub hosts: u32,
    /// Bytes of memory that a rank may use, on the host that has least; `None` if no host tells.
    pub memory: Option<u64>,
    /// Some host has the database on other machines.
    pub remote: bool,
}

impl Ranks {
    /// So many in this process. With `-memory` they are a plan for elsewhere, each on a host of its
    /// own.
    pub fn of_one_process(plan: &Plan, ranks: u32) -> Self {
        let hosts = if plan.load.memory.is_some() { ranks } else { 1 };
        let memory = memory_per_rank(ranks);
        Ranks { all: ranks, per_host: ranks, hosts, memory, remote: false }
    }

    /// Whether they load the database together: where several hosts would read it over a network,
    /// unless the user wants otherwise. A single block of queries is searched in each partition
    /// once, so that nothing would be read twice. That the database fits is a condition of any
    /// layout.
    fn broadcast(&self, wish: Option<Method>, queries: Option<Weight>) -> bool {
        let single = queries.is_some_and(|all| all.residues <= BLOCK_RESIDUES);
        let several_read = self.hosts > 1 && self.remote && !single;
        wish.map_or(several_read, |method| method == Method::Broadcast)
    }
}

/// How the database is cut, and who holds what of it.
pub struct Cut {
    /// OIDs of each partition, ascending, without gaps.
    pub partitions: Vec<Range<u32>>,
    /// Who holds what.
    pub topology: Arc<Topology>,
}

impl Cut {
    /// As a layout says.
    pub fn new(target: &SubjectDatabase, layout: &Layout) -> Self {
        let partitions = target.searched.partitions(layout.shape.partitions as usize);
        let shape = Shape { partitions: partitions.len() as u32, ..layout.shape };
        Cut { partitions, topology: Arc::new(Topology::new(shape)) }
    }
}

/// Whether the database is on other machines.
#[cfg(feature = "mpi")]
pub fn is_remote(database: &Database) -> bool {
    let path = database.volume_file(0, VolumeFile::Sequences);
    path.is_some_and(|path| machine::storage(&path) == machine::Storage::Network)
}

/// What a rank of this host may use, if there are so many of them.
pub fn memory_per_rank(ranks_on_host: u32) -> Option<u64> {
    let usable = machine::available_memory()? as f64 * HELD_SHARE;
    Some(usable as u64 / u64::from(ranks_on_host.max(1)))
}

/// Lays the search out.
///
/// # Errors
/// A database that does not fit, wishes that cannot be had; an index out of order.
pub fn lay_out(plan: &Plan, target: &SubjectDatabase, ranks: Ranks) -> Result<Layout, Error> {
    let (config, queries) = (&plan.fleet.config, count_queries(plan));
    let broadcast = ranks.broadcast(plan.load.method, queries);
    let kept = plan.fleet.checkpoint.as_ref().and_then(checkpoint::kept_block_residues);
    let wished = plan.fleet.wishes;
    let (batch_residues, most_block_residues) = plan.batch_size.block_residues();
    let most_block_residues = plan.block_residues(most_block_residues, target.searched.residues());
    let wishes = Wishes { block_residues: wished.block_residues.or(kept), ..wished };
    let mut request = Request {
        ranks: ranks.all,
        ranks_per_host: ranks.per_host,
        hosts: ranks.hosts,
        broadcast,
        // What is mapped is not held, so its memory cannot be limited.
        stream: !broadcast && plan.load.method != Some(Method::Map),
        threads: plan.threads.count as u32,
        memory: ranks.memory.unwrap_or(u64::MAX),
        database: size(&target.searched)?,
        queries,
        batch_residues,
        most_block_residues,
        block_queries: plan.batch_size.block_queries(),
        wishes,
    };
    if let Some(wanted) = plan.load.memory {
        // What the user grants is for the database alone, and for each rank, wherever it is.
        request.memory = wanted.saturating_add(request.other_memory(config));
        request.ranks_per_host = 1;
    }
    request.plan(config).map_err(|error| Error::new(exit::INPUT, format!("Error: {error}")))
}

fn size(database: &Database) -> Result<Size, fleetblast_db::DbError> {
    Ok(Size {
        bytes: database.partition(0..database.oid_count(), Contents::Residues)?.size(),
        residues: database.residues(),
        sequences: database.sequences(),
    })
}

/// How the processes of a layout bring the database into memory.
///
/// # Errors
/// A database that cannot be loaded as wished; an index out of order.
#[cfg(feature = "mpi")]
pub fn loading(plan: &Plan, target: &SubjectDatabase, layout: &Layout) -> Result<Choice, Error> {
    let why = match plan.load.method {
        Some(_) => "as asked for",
        None => "several hosts and a network file system: each byte is read once",
    };
    let choice = match layout.broadcast {
        true => Choice::broadcast(&target.searched, why),
        false => load::choose(&target.searched, Purpose::Search, plan.load),
    };
    choice.map_err(Error::from)
}

/// Prints a layout.
///
/// # Errors
/// Standard output that takes nothing.
pub fn print(layout: &Layout, plan: &Plan, target: &SubjectDatabase) -> Result<(), Error> {
    let mut text = format!("{layout}\n");
    if let Some(metadata) = &plan.metadata {
        let ranks = layout.shape.ranks;
        let estimate = || Estimate::new(plan, metadata, target, ranks);
        text += &format!("{}\n", pool(plan.threads.count)?.install(estimate)?);
    }
    standard::print(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_load_together_where_they_would_read_over_a_network_several_times() {
        let ranks = |hosts, remote| Ranks { all: 8, per_host: 4, hosts, memory: None, remote };
        let of = |residues: u64| Some(Weight { sequences: 1, residues });
        for queries in [None, of(2 * BLOCK_RESIDUES)] {
            assert!(ranks(2, true).broadcast(None, queries));
            assert!(!ranks(1, true).broadcast(None, queries));
            assert!(!ranks(2, false).broadcast(None, queries));
            assert!(!ranks(2, true).broadcast(Some(Method::Map), queries));
        }
        let single = of(BLOCK_RESIDUES);
        assert!(!ranks(2, true).broadcast(None, single));
        assert!(ranks(1, false).broadcast(Some(Method::Broadcast), single));
    }
}
