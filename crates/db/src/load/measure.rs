//! Measures the rates of several methods of reading a file, to explain slow searches.
//!
//! Rates are in bytes per second. To measure reads from the disk, [`evict_pages`] first removes the
//! pages of the file from the page cache. It leaves those of other files.

use std::fs::File;
use std::num::NonZeroU64;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Advice, OFlags, fadvise};

use super::advice::{AccessPattern, advise, resident_bytes};
use super::files::{READ_BYTES, VolumeReader, run_parallel};
use super::{HUGE_PAGE_BYTES, PageBuffer};
use crate::DbError;
use crate::bytes::FileBytes;

/// Number of bytes of a small random read.
const SMALL_READ: u64 = 4096;
/// A file counts as evicted if at most this fraction of its pages is in the page cache.
const LEFT: f64 = 0.02;

/// Evicts the first `bytes` of a file from the page cache. Returns false if pages stay there,
/// because they are being changed, locked or mapped.
///
/// # Errors
/// [`DbError`] if the file cannot be opened.
pub fn evict_pages(path: &Path, bytes: u64) -> Result<bool, DbError> {
    let failed = |source: std::io::Error| DbError::open_error(path, source);
    let file = File::open(path).map_err(failed)?;
    // Pages that are not yet written to disk cannot be evicted.
    file.sync_data().map_err(failed)?;
    fadvise(&file, 0, NonZeroU64::new(bytes), Advice::DontNeed)
        .map_err(|error| failed(error.into()))?;
    let (map, _) = FileBytes::map_volume_file(path)?;
    let sample = &map[..map.len().min(bytes as usize)];
    let left = resident_bytes(sample).unwrap_or(0);
    Ok(left as f64 <= sample.len() as f64 * LEFT)
}

/// Returns the rate in bytes per second of large sequential reads, several at a time, of the first
/// `bytes` bytes of a file. With `direct` the reads bypass the page cache. The result is `None` if
/// the file system does not support direct reads.
///
/// # Errors
/// [`DbError`] for a file that cannot be read.
pub fn sequential_read_rate(path: &Path, bytes: u64, direct: bool) -> Result<Option<f64>, DbError> {
    let flags = if direct { OFlags::DIRECT } else { OFlags::empty() };
    let reader = match VolumeReader::open(path.to_path_buf(), flags) {
        Ok(reader) => reader,
        Err(_) if direct => return Ok(None),
        Err(error) => return Err(error),
    };
    // A direct read must not end within a disk block, so the reads always have full length.
    let reads = (bytes / READ_BYTES as u64).max(1);
    let mut pages = PageBuffer::new(READ_BYTES.max(HUGE_PAGE_BYTES) * reads.min(4) as usize)?;
    let chunks: Vec<&mut [u8]> = pages.bytes_mut().chunks_mut(READ_BYTES).collect();
    let threads = chunks.len() as u64;
    let start = Instant::now();
    let jobs = chunks.into_iter().zip(0u64..).collect();
    let got = std::sync::atomic::AtomicU64::new(0);
    let done = run_parallel(jobs, |(buffer, first)| {
        for read in (first..reads).step_by(threads as usize) {
            let count = reader.read_up_to(buffer, read * READ_BYTES as u64)?;
            got.fetch_add(count as u64, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(())
    });
    match done {
        Err(_) if direct => Ok(None),
        Err(error) => Err(error),
        Ok(()) => Ok(Some(got.into_inner() as f64 / start.elapsed().as_secs_f64())),
    }
}

/// Returns the rate in bytes per second of reading the first `bytes` bytes through a mapping, page
/// by page on one thread. Stops after `limit`. A program that only maps its database reads at this
/// rate.
///
/// # Errors
/// [`DbError`] if the file cannot be mapped.
pub fn sequential_map_rate(path: &Path, bytes: u64, limit: Duration) -> Result<f64, DbError> {
    let (map, _) = FileBytes::map_volume_file(path)?;
    let start = Instant::now();
    let (mut seen, mut touched) = (0u64, 0u8);
    for step in map[..map.len().min(bytes as usize)].chunks(READ_BYTES) {
        touched ^= touch(step);
        seen += step.len() as u64;
        if start.elapsed() > limit {
            break;
        }
    }
    std::hint::black_box(touched);
    Ok(seen as f64 / start.elapsed().as_secs_f64())
}

/// Reads a byte of each page. Returns a combination of the bytes, so that the compiler keeps the
/// reads.
fn touch(bytes: &[u8]) -> u8 {
    bytes.iter().step_by(SMALL_READ as usize).fold(0, |all, byte| all ^ byte)
}

/// Returns the number of small random reads per second by one thread in the first `bytes` bytes of
/// a file. With `mapped` it reads through a mapping that is advised for random access. Stops after
/// `limit`.
///
/// # Errors
/// [`DbError`] if the file cannot be read or mapped.
pub fn random_read_rate(
    path: &Path,
    bytes: u64,
    mapped: bool,
    limit: Duration,
) -> Result<f64, DbError> {
    let reader = VolumeReader::open(path.to_path_buf(), OFlags::empty())?;
    let (map, _) = FileBytes::map_volume_file(path)?;
    let blocks = (bytes.min(map.len() as u64) / SMALL_READ).max(1);
    if mapped {
        advise(&map, AccessPattern::Random);
    }
    let mut buffer = vec![0; SMALL_READ as usize];
    let start = Instant::now();
    // The multiplier scatters the reads over all blocks, in the same order at every call.
    let (mut reads, mut place) = (0u64, 1u64);
    while start.elapsed() < limit && reads < blocks {
        place =
            place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (place >> 33) % blocks * SMALL_READ;
        if mapped {
            std::hint::black_box(map.get(at as usize).copied());
        } else {
            reader.read_up_to(&mut buffer, at)?;
        }
        reads += 1;
    }
    Ok(reads as f64 / start.elapsed().as_secs_f64())
}
