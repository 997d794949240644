//! The measurements.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fleetblast_db::load::machine::{self, Storage};
use fleetblast_db::load::{self, Purpose, Wish, measure, read_ahead};
use fleetblast_db::partition::VolumeFile;
use fleetblast_db::{Database, DbError};
use serde::Serialize;

use crate::cpus::Cpus;

/// Bytes of a huge page.
const HUGE: usize = 2 << 20;

/// What was found. Rates are in bytes per second, or in reads of 4 kB per second; nothing where the system does not
/// allow to measure.
#[derive(Clone, Debug, Serialize)]
pub struct Findings {
    /// The database as named.
    pub database: String,
    /// Residues, or at most so many bases.
    pub residues: u64,
    /// Bytes of index, sequence and header files of all volumes.
    pub bytes: u64,
    /// Of these, in the page cache before anything was measured.
    pub cached_bytes: Option<u64>,
    /// The measured file: the largest sequence file.
    pub file: PathBuf,
    /// Bytes of it that were read.
    pub sample_bytes: u64,
    /// `local`, `network` or `memory`.
    pub storage: &'static str,
    /// Read-ahead of the device, in bytes.
    pub read_ahead_bytes: Option<u64>,
    /// The sample could be dropped from the page cache, so that there are cold figures.
    pub evictable: bool,
    /// Not in the page cache.
    pub cold: Rates,
    /// In the page cache.
    pub warm: Rates,
    /// What the machine has.
    pub memory: Memory,
    /// Threads this process may use.
    pub threads: usize,
    /// What a search would do by itself.
    pub choice: String,
    /// Why.
    pub reason: String,
}

/// How fast the sample came.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Rates {
    /// Large reads in order, several at a time.
    pub read: Option<f64>,
    /// The same past the page cache.
    pub direct: Option<f64>,
    /// Page after page through a mapping.
    pub mapped: Option<f64>,
    /// Small reads here and there, a second.
    pub small_reads: Option<f64>,
    /// The same through a mapping.
    pub small_mapped: Option<f64>,
}

/// Memory of the machine.
#[derive(Clone, Debug, Serialize)]
pub struct Memory {
    /// In all.
    pub total_bytes: Option<u64>,
    /// For this process, without driving others out, and within its control groups.
    pub available_bytes: Option<u64>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// The same for memory shared between processes.
    pub shared_huge_pages: Option<String>,
    /// Reserved huge pages that are free.
    pub reserved_huge_pages: Option<u64>,
    /// What a buffer for sequences got when it was tried.
    pub huge_pages_tried: &'static str,
}

impl Findings {
    /// Measures with at most `sample` bytes, each slow way for at most `limit`.
    pub fn measure(
        name: &str,
        database: &Database,
        sample: u64,
        limit: Duration,
    ) -> Result<Self, DbError> {
        // First of all: everything below changes it.
        let cached = database.cached_bytes();
        let (file, length) = largest(database)?;
        let sample_bytes = sample.min(length);
        let choice = load::choose(database, Purpose::Search, Wish::default())?;
        let warm_first = cached.is_some_and(|(cached, all)| cached == all);
        let (cold, evictable) = cold(&file, sample_bytes, limit)?;
        let warm = warm(&file, sample_bytes, limit)?;
        if !warm_first {
            // As it was found: what was not cached need not stay.
            measure::evict(&file, sample_bytes)?;
        }
        Ok(Self {
            database: name.to_owned(),
            residues: database.residues(),
            bytes: cached.map_or(0, |(_, all)| all),
            cached_bytes: cached.map(|(cached, _)| cached),
            storage: match machine::storage(&file) {
                Storage::Memory => "memory",
                Storage::Local => "local",
                Storage::Network => "network",
            },
            read_ahead_bytes: read_ahead(&file),
            file,
            sample_bytes,
            evictable,
            cold,
            warm,
            memory: Memory::look()?,
            threads: Cpus::look().allowed,
            choice: choice.method.name().to_owned(),
            reason: choice.reason,
        })
    }
}

/// The largest sequence file and its length.
fn largest(database: &Database) -> Result<(PathBuf, u64), DbError> {
    let files = (0..database.volume_count())
        .filter_map(|volume| database.volume_file(volume, VolumeFile::Sequences));
    let sized = files.filter_map(|path| Some((fs::metadata(&path).ok()?.len(), path)));
    match sized.max() {
        Some((length, path)) => Ok((path, length)),
        None => Err(DbError::NotOnDisk),
    }
}

/// Each way after dropping the sample from the page cache, and whether that was possible.
fn cold(file: &Path, bytes: u64, limit: Duration) -> Result<(Rates, bool), DbError> {
    let mut rates = Rates::default();
    let evicted = || measure::evict(file, bytes);
    if !evicted()? {
        return Ok((rates, false));
    }
    rates.read = measure::read_in_order(file, bytes, false)?;
    evicted()?;
    rates.direct = measure::read_in_order(file, bytes, true)?;
    rates.mapped = Some(measure::map_in_order(file, bytes, limit)?);
    evicted()?;
    rates.small_reads = Some(measure::read_here_and_there(file, bytes, false, limit)?);
    evicted()?;
    rates.small_mapped = Some(measure::read_here_and_there(file, bytes, true, limit)?);
    Ok((rates, true))
}

/// The same with everything in the page cache.
fn warm(file: &Path, bytes: u64, limit: Duration) -> Result<Rates, DbError> {
    measure::read_in_order(file, bytes, false)?;
    Ok(Rates {
        read: measure::read_in_order(file, bytes, false)?,
        direct: None,
        mapped: Some(measure::map_in_order(file, bytes, limit)?),
        small_reads: Some(measure::read_here_and_there(file, bytes, false, limit)?),
        small_mapped: Some(measure::read_here_and_there(file, bytes, true, limit)?),
    })
}

impl Memory {
    fn look() -> Result<Self, DbError> {
        let setting = |name: &str| {
            let path = Path::new("/sys/kernel/mm/transparent_hugepage").join(name);
            chosen(&fs::read_to_string(path).ok()?)
        };
        Ok(Self {
            total_bytes: machine::meminfo("MemTotal"),
            available_bytes: machine::available_memory(),
            transparent_huge_pages: setting("enabled"),
            shared_huge_pages: setting("shmem_enabled"),
            reserved_huge_pages: machine::meminfo("HugePages_Free"),
            huge_pages_tried: load::Pages::new(HUGE)?.kind().name(),
        })
    }
}

/// The word in brackets: `always [madvise] never`.
fn chosen(setting: &str) -> Option<String> {
    let (_, rest) = setting.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_is_in_brackets() {
        assert_eq!(chosen("always [madvise] never\n").as_deref(), Some("madvise"));
        assert_eq!(chosen("never"), None);
    }
}
