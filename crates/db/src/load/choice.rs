//! Chooses a loader by the size of the database, the memory and the file system.

use serde::{Deserialize, Serialize};
use std::ops::Range;

use super::advice::{AccessPattern, announce_access, populate_pages, prefer_large_pages};
use super::machine::{self, StorageLocation};
use super::read::memory_needed;
use super::supply::{PartitionSupply, group_into_units};
use super::{MapLoader, ReadLoader};
use crate::partition::{VolumeFile, VolumePart};
use crate::{Database, DbError, LoadedPartition, Partition, PartitionContents};

/// Number of bytes to load at a time. With small units a search begins early and never waits long.
pub(super) const LOAD_UNIT_BYTES: u64 = 32 << 20;
/// Fraction of the available memory that the database may occupy, from 0 to 1. The rest is for
/// queries, hits and other processes.
pub const MAX_MEMORY_FRACTION: f64 = 0.8;
/// Minimal number of buffers for streaming: the search reads one while the loader fills the other.
const LEAST_BUFFERS: u64 = 2;

/// The method by which a loader brings partitions into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoadMethod {
    /// The files are mapped, after large reads into the page cache.
    Map,
    /// The files are read through the page cache into memory of this process.
    Read,
    /// The files are read past the page cache into memory of this process.
    Direct,
    /// Cooperating processes read each byte once and send it to each other. The processes of a host
    /// share the memory.
    Broadcast,
}

impl LoadMethod {
    /// Returns the name of the method on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Read => "read",
            Self::Direct => "direct",
            Self::Broadcast => "broadcast",
        }
    }
}

/// The method and the memory limit that the user requested for loading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoaderRequest {
    /// The method; `None` to choose one by size and memory.
    pub method: Option<LoadMethod>,
    /// Maximal memory in bytes that the database may occupy at a time.
    pub memory_limit: Option<u64>,
}

/// The purpose of loading, which determines the files and OIDs to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadPurpose {
    /// A search, which needs the residues of the included sequences.
    Search,
    /// An integrity check, which needs all contents of all volumes.
    Check,
}

impl LoadPurpose {
    fn contents(self) -> PartitionContents {
        match self {
            Self::Search => PartitionContents::Residues,
            Self::Check => PartitionContents::All,
        }
    }

    fn ranges(self, database: &Database, n: usize) -> Vec<Range<u32>> {
        match self {
            Self::Search => database.partitions(n),
            Self::Check => database.partitions_of_all(n),
        }
    }
}

/// The chosen loader of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoaderChoice {
    /// The purpose of loading.
    pub purpose: LoadPurpose,
    /// The method of loading.
    pub method: LoadMethod,
    /// Total size of the buffers in bytes, if the database does not fit into memory and is
    /// streamed.
    pub streaming_bytes: Option<u64>,
    /// The reason for the choice, for messages.
    pub reason: String,
}

/// Chooses the loader of a single process for `database`.
///
/// # Errors
/// [`DbError::BroadcastWithoutMpi`] if broadcast was requested. [`DbError::MapTooLarge`] if mapping
/// was requested for a database larger than the requested memory, since the memory of a mapping
/// cannot be limited. [`DbError::InvalidOffset`] for an index with offsets out of order.
pub fn choose_loader(
    database: &Database,
    purpose: LoadPurpose,
    wish: LoaderRequest,
) -> Result<LoaderChoice, DbError> {
    if wish.method == Some(LoadMethod::Broadcast) {
        return Err(DbError::BroadcastWithoutMpi);
    }
    let all = database.partition(0..database.oid_count(), purpose.contents())?;
    let size = all.byte_count();
    fetch_offsets(database, &all)?;
    let first = database.volume_file(0, VolumeFile::Sequences);
    let chosen = |method, streamed, reason: String| {
        Ok(LoaderChoice { purpose, method, streaming_bytes: streamed, reason })
    };
    let Some(first) = first else {
        return chosen(LoadMethod::Map, None, "the sequences are in memory".to_owned());
    };
    let storage = machine::storage_location(&first);
    let available = machine::available_memory();
    let usable = available.map(|bytes| (bytes as f64 * MAX_MEMORY_FRACTION) as u64);
    // Files on a file system in memory need no further memory.
    let limit = wish.memory_limit.or(usable.filter(|_| storage != StorageLocation::Memory));
    let fits = limit.is_none_or(|limit| size <= limit);
    let sizes = match limit {
        Some(limit) => format!("{} to hold, {} of memory for it", mb(size), mb(limit)),
        None => format!("{} to hold", mb(size)),
    };
    let streamed = if fits { None } else { limit };
    match (wish.method, fits) {
        (Some(LoadMethod::Map), false) if wish.memory_limit.is_some() => {
            Err(DbError::MapTooLarge { size, limit: limit.unwrap_or(0) })
        }
        (Some(LoadMethod::Map), _) => {
            chosen(LoadMethod::Map, None, format!("as asked for; {sizes}"))
        }
        (Some(method), _) => chosen(method, streamed, format!("as asked for; {sizes}")),
        (None, true) => {
            let place = match storage {
                StorageLocation::Memory => "a file system in memory",
                StorageLocation::Local => "a local file system",
                StorageLocation::Network => "a network file system",
            };
            chosen(LoadMethod::Map, None, format!("fits in memory: {sizes}; {place}"))
        }
        (None, false) => {
            chosen(LoadMethod::Direct, streamed, format!("larger than memory, streamed: {sizes}"))
        }
    }
}

/// Brings the sequence offsets into memory by large reads, because cutting the database reads them
/// at random.
fn fetch_offsets(database: &Database, all: &Partition) -> Result<(), DbError> {
    let mapped = LoadedPartition::from_resident(database, all)?;
    for bytes in mapped.part_memory(VolumePart::SequenceOffsets) {
        if !prefer_large_pages(bytes) {
            announce_access(bytes);
        }
        // The system reads the remaining pages when they are accessed.
        let _ = populate_pages(bytes);
    }
    Ok(())
}

impl LoaderChoice {
    /// Chooses the loader of processes that load `database` together for a search. `why` states the
    /// reason in messages.
    ///
    /// # Errors
    /// [`DbError::InvalidOffset`] for an index with offsets out of order.
    pub fn for_broadcast(database: &Database, why: &str) -> Result<Self, DbError> {
        // Each process reads only the parts of the files that it needs to cut the database and to
        // report hits.
        for part in VolumePart::ALL {
            database.advise(part, AccessPattern::Random);
        }
        let purpose = LoadPurpose::Search;
        let size = database.partition(0..database.oid_count(), purpose.contents())?.byte_count();
        let reason = format!("{why}; {} to hold", mb(size));
        Ok(Self { purpose, method: LoadMethod::Broadcast, streaming_bytes: None, reason })
    }

    /// Makes the supply of the sequences in `ranges`, without a memory limit. For a broadcast
    /// database use [`MemoryLoader::supply`](super::MemoryLoader::supply).
    ///
    /// # Errors
    /// [`DbError::InvalidOffset`] for an index with offsets out of order;
    /// [`DbError::BroadcastWithoutMpi`] if the method is broadcast.
    pub fn supply_ranges(
        &self,
        database: &Database,
        ranges: Vec<Range<u32>>,
    ) -> Result<PartitionSupply, DbError> {
        let contents = self.purpose.contents();
        let units = group_into_units(database, ranges, contents, LOAD_UNIT_BYTES)?;
        let (database, direct) = (database.clone(), self.method == LoadMethod::Direct);
        Ok(match self.method {
            LoadMethod::Map => {
                PartitionSupply::new(Box::new(MapLoader::new(database, contents)), units, false)
            }
            LoadMethod::Read | LoadMethod::Direct => PartitionSupply::new(
                Box::new(ReadLoader::new(database, contents, direct)),
                units,
                true,
            ),
            LoadMethod::Broadcast => return Err(DbError::BroadcastWithoutMpi),
        })
    }

    /// Makes the supply of `database` in about `n` ranges.
    ///
    /// # Errors
    /// [`DbError::InvalidOffset`] for an index with offsets out of order.
    pub fn supply(&self, database: &Database, n: usize) -> Result<PartitionSupply, DbError> {
        let purpose = self.purpose;
        let Some(memory) = self.streaming_bytes else {
            return self.supply_ranges(database, purpose.ranges(database, n));
        };
        let size = database.partition(0..database.oid_count(), purpose.contents())?.byte_count();
        self.stream(database, size, memory, |least| purpose.ranges(database, n.max(least)))
    }

    /// Makes the supply of the partition `oids` in about `n` ranges. Streams it through `memory`
    /// bytes.
    ///
    /// # Errors
    /// [`DbError::InvalidOffset`] for an index with offsets out of order.
    pub fn supply_streamed(
        &self,
        database: &Database,
        oids: Range<u32>,
        n: usize,
        memory: u64,
    ) -> Result<PartitionSupply, DbError> {
        let size = database.partition(oids.clone(), self.purpose.contents())?.byte_count();
        self.stream(database, size, memory, |least| database.partitions_within(oids, n.max(least)))
    }

    /// Makes the supply of `size` bytes, streamed through `memory` bytes. `ranges` cuts the
    /// sequences into at least a given number of ranges.
    fn stream(
        &self,
        database: &Database,
        size: u64,
        memory: u64,
        ranges: impl FnOnce(usize) -> Vec<Range<u32>>,
    ) -> Result<PartitionSupply, DbError> {
        let (contents, direct) = (self.purpose.contents(), self.method == LoadMethod::Direct);
        // Definition lines and residues of chosen hits are read at random.
        for part in VolumePart::ALL {
            database.advise(part, AccessPattern::Random);
        }
        let unit = (memory / LEAST_BUFFERS).clamp(1, LOAD_UNIT_BYTES);
        // A range must fit into a unit. Ranges of half a unit or less fill the units better.
        let least = usize::try_from(size.div_ceil(unit) * 2).unwrap_or(usize::MAX);
        let units = group_into_units(database, ranges(least), contents, unit)?;
        let largest = units.iter().map(|unit| memory_needed(&unit.partition)).max().unwrap_or(0);
        let buffers = (memory / (largest as u64).max(1)).max(LEAST_BUFFERS) as usize;
        let loader =
            ReadLoader::new(database.clone(), contents, direct).with_buffers(buffers, largest);
        Ok(PartitionSupply::new(Box::new(loader), units, false))
    }
}

fn mb(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
