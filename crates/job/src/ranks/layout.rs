//! Plans how a job uses its ranks, from the queries, the database and the memory.

use std::ops::Range;
use std::sync::Arc;

use fleetblast_db::load::machine;
#[cfg(feature = "mpi")]
use fleetblast_db::load::{self, LoadPurpose, LoaderChoice};
use fleetblast_db::load::{LoadMethod, MAX_MEMORY_FRACTION};
#[cfg(feature = "mpi")]
use fleetblast_db::partition::VolumeFile;
use fleetblast_db::{Database, PartitionContents};
use fleetblast_fleet::payload::Weight;
use fleetblast_fleet::plan::{BLOCK_RESIDUES, DatabaseSize, Layout, PlanInput, UserSettings};
use fleetblast_fleet::topology::{Topology, TopologyShape};

use super::checkpoint;
use crate::error::{Error, exit};
use crate::metadata::Estimate;
use crate::plan::Plan;
use crate::queries::count::count_queries;
use crate::standard;
use crate::subjects::SubjectDatabase;
use crate::threads::pool;

/// The ranks of a job, and the resources of their hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankResources {
    /// Number of ranks in the job.
    pub rank_count: u32,
    /// Largest number of ranks on a host.
    pub per_host: u32,
    /// Number of hosts.
    pub hosts: u32,
    /// Bytes of memory for each rank, on the host with the least memory per rank. `None` if no host
    /// reports its memory.
    pub memory: Option<u64>,
    /// Whether some host reads the database over a network.
    pub reads_over_network: bool,
}

impl RankResources {
    /// Describes `ranks` ranks in this process. With `-memory`, describes other machines: each rank
    /// then has a host of its own.
    pub fn in_one_process(plan: &Plan, ranks: u32) -> Self {
        let hosts = if plan.load.memory_limit.is_some() { ranks } else { 1 };
        let memory = memory_per_rank(ranks);
        RankResources {
            rank_count: ranks,
            per_host: ranks,
            hosts,
            memory,
            reads_over_network: false,
        }
    }

    /// Returns whether the ranks load the database together, by broadcast: as `wish` says, or by
    /// default if several hosts would read it over a network. For a single block of queries, which
    /// reads each partition only once, the default is no broadcast.
    fn uses_broadcast(&self, wish: Option<LoadMethod>, queries: Option<Weight>) -> bool {
        let single = queries.is_some_and(|all| all.residues <= BLOCK_RESIDUES);
        let several_read = self.hosts > 1 && self.reads_over_network && !single;
        wish.map_or(several_read, |method| method == LoadMethod::Broadcast)
    }
}

/// The partitions of the database, and the ranks that hold them.
pub struct DatabaseCut {
    /// OIDs of each partition, ascending, without gaps.
    pub partitions: Vec<Range<u32>>,
    /// The ranks that hold each partition.
    pub topology: Arc<Topology>,
}

impl DatabaseCut {
    /// Divides the database into the partitions of a layout.
    pub fn new(subjects: &SubjectDatabase, layout: &Layout) -> Self {
        let partitions = subjects.searched.partitions(layout.shape.partitions as usize);
        let shape = TopologyShape { partitions: partitions.len() as u32, ..layout.shape };
        DatabaseCut { partitions, topology: Arc::new(Topology::new(shape)) }
    }
}

/// Returns whether the database is on a network file system.
#[cfg(feature = "mpi")]
pub fn is_remote(database: &Database) -> bool {
    let path = database.volume_file(0, VolumeFile::Sequences);
    path.is_some_and(|path| machine::storage_location(&path) == machine::StorageLocation::Network)
}

/// Returns the bytes of memory that each of the `ranks_on_host` ranks of this host may use. `None`
/// if the host does not report its memory.
pub fn memory_per_rank(ranks_on_host: u32) -> Option<u64> {
    let usable = machine::available_memory()? as f64 * MAX_MEMORY_FRACTION;
    Some(usable as u64 / u64::from(ranks_on_host.max(1)))
}

/// Plans the layout of the job: groups, partitions and blocks.
///
/// # Errors
/// The database does not fit, a setting of the user cannot be met, or an offset in a database index
/// is invalid.
pub fn plan_layout(
    plan: &Plan,
    subjects: &SubjectDatabase,
    ranks: RankResources,
) -> Result<Layout, Error> {
    let (config, queries) = (&plan.fleet.config, count_queries(plan));
    let broadcast = ranks.uses_broadcast(plan.load.method, queries);
    let kept = plan.fleet.checkpoint.as_ref().and_then(checkpoint::kept_block_residues);
    let wished = plan.fleet.user_settings;
    let (batch_residues, most_block_residues) = plan.batch_size.block_residues();
    let most_block_residues =
        plan.block_residues(most_block_residues, subjects.searched.residue_count());
    let user_settings = UserSettings { block_residues: wished.block_residues.or(kept), ..wished };
    let mut request = PlanInput {
        ranks: ranks.rank_count,
        ranks_per_host: ranks.per_host,
        hosts: ranks.hosts,
        broadcast,
        // Mapped files are in the kernel's page cache, so their memory cannot be limited.
        stream: !broadcast && plan.load.method != Some(LoadMethod::Map),
        threads: plan.threads.count as u32,
        memory: ranks.memory.unwrap_or(u64::MAX),
        database: database_size(&subjects.searched)?,
        queries,
        batch_residues,
        most_block_residues,
        block_queries: plan.batch_size.block_queries(),
        user_settings,
    };
    if let Some(wanted) = plan.load.memory_limit {
        // The user's limit applies to the database alone, and to each rank on any host.
        request.memory = wanted.saturating_add(request.other_memory(config));
        request.ranks_per_host = 1;
    }
    request.plan(config).map_err(|error| Error::new(exit::INPUT, format!("Error: {error}")))
}

fn database_size(database: &Database) -> Result<DatabaseSize, fleetblast_db::DbError> {
    Ok(DatabaseSize {
        bytes: database
            .partition(0..database.oid_count(), PartitionContents::Residues)?
            .byte_count(),
        residues: database.residue_count(),
        sequences: database.sequence_count(),
    })
}

/// Chooses how processes load the database.
///
/// # Errors
/// The database cannot be loaded as wished, or an offset in a database index is invalid.
#[cfg(feature = "mpi")]
pub fn choose_loader(
    plan: &Plan,
    subjects: &SubjectDatabase,
    layout: &Layout,
) -> Result<LoaderChoice, Error> {
    let why = match plan.load.method {
        Some(_) => "as asked for",
        None => "several hosts and a network file system: each byte is read once",
    };
    let choice = match layout.broadcast {
        true => LoaderChoice::for_broadcast(&subjects.searched, why),
        false => load::choose_loader(&subjects.searched, LoadPurpose::Search, plan.load),
    };
    choice.map_err(Error::from)
}

/// Prints a layout. If the plan has metadata, also prints their estimated size.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_layout(layout: &Layout, plan: &Plan, subjects: &SubjectDatabase) -> Result<(), Error> {
    let mut text = format!("{layout}\n");
    if let Some(metadata) = &plan.metadata {
        let ranks = layout.shape.ranks;
        let estimate = || Estimate::new(plan, metadata, subjects, ranks);
        text += &format!("{}\n", pool(plan.threads.count)?.install(estimate)?);
    }
    standard::print(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_load_together_instead_of_reading_over_a_network_several_times() {
        let ranks = |hosts, reads_over_network| RankResources {
            rank_count: 8,
            per_host: 4,
            hosts,
            memory: None,
            reads_over_network,
        };
        let of = |residues: u64| Some(Weight { sequences: 1, residues });
        for queries in [None, of(2 * BLOCK_RESIDUES)] {
            assert!(ranks(2, true).uses_broadcast(None, queries));
            assert!(!ranks(1, true).uses_broadcast(None, queries));
            assert!(!ranks(2, false).uses_broadcast(None, queries));
            assert!(!ranks(2, true).uses_broadcast(Some(LoadMethod::Map), queries));
        }
        let single = of(BLOCK_RESIDUES);
        assert!(!ranks(2, true).uses_broadcast(None, single));
        assert!(ranks(1, false).uses_broadcast(Some(LoadMethod::Broadcast), single));
    }
}
