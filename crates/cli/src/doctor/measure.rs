//! Measurements of storage and memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fleetblast_db::load::machine::{self, StorageLocation};
use fleetblast_db::load::{self, LoadPurpose, LoaderRequest, measure, read_ahead_bytes};
use fleetblast_db::partition::VolumeFile;
use fleetblast_db::{Database, DbError};
use serde::Serialize;

use crate::cpus::Cpus;

/// Bytes of a huge page.
const HUGE: usize = 2 << 20;

/// Results of the measurements. Rates are in bytes per second, or in reads of 4 kB per second;
/// `None` where the system does not allow the measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Findings {
    /// Name of the database as given.
    pub database: String,
    /// Residues of the database, or an upper bound of its bases.
    pub residues: u64,
    /// Bytes of the index, sequence and header files of all volumes.
    pub bytes: u64,
    /// Bytes of these files that were in the page cache before the measurements.
    pub cached_bytes: Option<u64>,
    /// The measured file: the largest sequence file.
    pub file: PathBuf,
    /// Bytes read of the measured file.
    pub sample_bytes: u64,
    /// Location of the measured file: `local`, `network` or `memory`.
    pub storage: &'static str,
    /// Read-ahead of the device, in bytes.
    pub read_ahead_bytes: Option<u64>,
    /// Whether the sample could be dropped from the page cache, so that there are cold rates.
    pub evictable: bool,
    /// Rates with the sample not in the page cache.
    pub cold: Rates,
    /// Rates with the sample in the page cache.
    pub warm: Rates,
    /// Memory of the machine.
    pub memory: Memory,
    /// Threads this process may use.
    pub threads: usize,
    /// The loader that a search would choose.
    pub choice: String,
    /// The reason for that choice.
    pub reason: String,
}

/// Rates of reading the sample, by method.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Rates {
    /// Rate of large reads in order, several at a time, in bytes per second.
    pub read: Option<f64>,
    /// Rate of large reads that bypass the page cache, in bytes per second.
    pub direct: Option<f64>,
    /// Rate of reading page after page through a mapping, in bytes per second.
    pub mapped: Option<f64>,
    /// Number of small reads at random offsets per second.
    pub small_reads: Option<f64>,
    /// Number of small random reads through a mapping per second.
    pub small_mapped: Option<f64>,
}

/// Memory of the machine.
#[derive(Clone, Debug, Serialize)]
pub struct Memory {
    /// Total memory in bytes.
    pub total_bytes: Option<u64>,
    /// Memory in bytes that this process can get without swapping, within its cgroups.
    pub available_bytes: Option<u64>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Setting of transparent huge pages for memory that processes share.
    pub shared_huge_pages: Option<String>,
    /// Reserved huge pages that are free.
    pub reserved_huge_pages: Option<u64>,
    /// Kind of pages that a test buffer got.
    pub huge_pages_tried: &'static str,
}

impl Findings {
    /// Measures the storage of a database, and this machine. Reads at most `sample` bytes of the
    /// largest file, with each slow method for at most `limit`.
    pub fn measure(
        name: &str,
        database: &Database,
        sample: u64,
        limit: Duration,
    ) -> Result<Self, DbError> {
        // The measurements change the page cache, so its state is recorded first.
        let cached = database.cached_bytes();
        let (file, length) = largest(database)?;
        let sample_bytes = sample.min(length);
        let choice = load::choose_loader(database, LoadPurpose::Search, LoaderRequest::default())?;
        let warm_first = cached.is_some_and(|(cached, all)| cached == all);
        let (cold, evictable) = cold(&file, sample_bytes, limit)?;
        let warm = warm(&file, sample_bytes, limit)?;
        if !warm_first {
            // Leave the page cache as it was.
            measure::evict_pages(&file, sample_bytes)?;
        }
        Ok(Self {
            database: name.to_owned(),
            residues: database.residue_count(),
            bytes: cached.map_or(0, |(_, all)| all),
            cached_bytes: cached.map(|(cached, _)| cached),
            storage: match machine::storage_location(&file) {
                StorageLocation::Memory => "memory",
                StorageLocation::Local => "local",
                StorageLocation::Network => "network",
            },
            read_ahead_bytes: read_ahead_bytes(&file),
            file,
            sample_bytes,
            evictable,
            cold,
            warm,
            memory: Memory::detect()?,
            threads: Cpus::detect().allowed,
            choice: choice.method.name().to_owned(),
            reason: choice.reason,
        })
    }
}

/// Returns the largest sequence file and its length.
fn largest(database: &Database) -> Result<(PathBuf, u64), DbError> {
    let files = (0..database.volume_count())
        .filter_map(|volume| database.volume_file(volume, VolumeFile::Sequences));
    let sized = files.filter_map(|path| Some((fs::metadata(&path).ok()?.len(), path)));
    match sized.max() {
        Some((length, path)) => Ok((path, length)),
        None => Err(DbError::InMemoryDatabase),
    }
}

/// Measures the rate of each method, each after the sample was dropped from the page cache. Also
/// returns whether it could be dropped.
fn cold(file: &Path, bytes: u64, limit: Duration) -> Result<(Rates, bool), DbError> {
    let mut rates = Rates::default();
    let evicted = || measure::evict_pages(file, bytes);
    if !evicted()? {
        return Ok((rates, false));
    }
    rates.read = measure::sequential_read_rate(file, bytes, false)?;
    evicted()?;
    rates.direct = measure::sequential_read_rate(file, bytes, true)?;
    rates.mapped = Some(measure::sequential_map_rate(file, bytes, limit)?);
    evicted()?;
    rates.small_reads = Some(measure::random_read_rate(file, bytes, false, limit)?);
    evicted()?;
    rates.small_mapped = Some(measure::random_read_rate(file, bytes, true, limit)?);
    Ok((rates, true))
}

/// Measures the rate of each method with the sample in the page cache.
fn warm(file: &Path, bytes: u64, limit: Duration) -> Result<Rates, DbError> {
    measure::sequential_read_rate(file, bytes, false)?;
    Ok(Rates {
        read: measure::sequential_read_rate(file, bytes, false)?,
        direct: None,
        mapped: Some(measure::sequential_map_rate(file, bytes, limit)?),
        small_reads: Some(measure::random_read_rate(file, bytes, false, limit)?),
        small_mapped: Some(measure::random_read_rate(file, bytes, true, limit)?),
    })
}

impl Memory {
    fn detect() -> Result<Self, DbError> {
        let setting = |name: &str| {
            let path = Path::new("/sys/kernel/mm/transparent_hugepage").join(name);
            selected_word(&fs::read_to_string(path).ok()?)
        };
        Ok(Self {
            total_bytes: machine::meminfo_entry("MemTotal"),
            available_bytes: machine::available_memory(),
            transparent_huge_pages: setting("enabled"),
            shared_huge_pages: setting("shmem_enabled"),
            reserved_huge_pages: machine::meminfo_entry("HugePages_Free"),
            huge_pages_tried: load::PageBuffer::new(HUGE)?.page_kind().name(),
        })
    }
}

/// Returns the word in brackets of a setting such as `always [madvise] never`.
fn selected_word(setting: &str) -> Option<String> {
    let (_, rest) = setting.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_is_in_brackets() {
        assert_eq!(selected_word("always [madvise] never\n").as_deref(), Some("madvise"));
        assert_eq!(selected_word("never"), None);
    }
}
