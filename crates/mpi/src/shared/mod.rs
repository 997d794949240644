//! Bytes that all ranks of a host share in memory.

mod residence;
mod segment;

use std::ops::{Deref, Range};
use std::sync::Arc;

use memmap2::Mmap;

pub use self::residence::PageStatistics;
use self::segment::{FillingMemory, SegmentError};
use crate::{Comm, MpiError};

/// Memory that the ranks of a host share while they fill it, each rank a range of its own.
pub struct SharedFill {
    segment: FillingMemory,
    length: usize,
    host: Comm,
}

/// Bytes that all ranks of a host share, once in memory. They do not change any more.
///
/// They do not depend on MPI: any thread can read them, also after MPI is finalized. The system
/// frees the memory when every rank has dropped it or has died in any way. It has no name, so
/// nothing of it can stay behind.
#[derive(Clone)]
pub struct SharedBytes {
    memory: Arc<Mmap>,
    length: usize,
}

impl SharedFill {
    /// Allocates `length` bytes, all zero, that the ranks of `host` share (collective; see
    /// [`Comm::split_by_host`]). `own` is the range that this rank will fill.
    ///
    /// All memory is allocated when this returns, so no later access fails for lack of memory. If
    /// the host has too little, the kernel kills processes, so callers must check before. The
    /// memory is on huge pages if the system has them.
    ///
    /// # Errors
    /// If any rank has an error, all ranks get one. [`MpiError::Shares`] if ranges overlap or
    /// lengths differ; [`MpiError::Memory`]; [`MpiError::Call`].
    pub fn new(host: &Comm, length: usize, own: Range<usize>) -> Result<Self, MpiError> {
        agree_on_shares(host, length, &own)?;
        let first = host.agree(match host.rank() {
            0 => {
                // SAFETY: all ranks that get to know the segment have just agreed on ranges that do
                // not overlap.
                let segment = unsafe { FillingMemory::first(length, own.clone()) };
                segment.map(Some).map_err(memory_error(host, length))
            }
            _ => Ok(None),
        })?;
        let name = first.as_ref().map(FillingMemory::name).unwrap_or_default();
        let names = host.gather_all(name.as_bytes())?;
        // The first rank of the host has sent the name; every group has a first rank.
        let name = String::from_utf8_lossy(&names[0]);
        let segment = host.agree(match first {
            Some(segment) => Ok(segment),
            None => {
                // SAFETY: the ranks have agreed on ranges that do not overlap, and this is the
                // segment of the host's first rank.
                unsafe { FillingMemory::join(&name, length, own) }
                    .map_err(memory_error(host, length))
            }
        })?;
        host.agree(segment.populate().map_err(memory_error(host, length)))?;
        Ok(Self { segment, length, host: host.clone() })
    }

    /// Returns the bytes that this rank fills.
    pub fn own_mut(&mut self) -> &mut [u8] {
        self.segment.own_mut()
    }

    /// Waits until all ranks of the host have filled their ranges (collective). Returns the whole
    /// memory for reading.
    ///
    /// # Errors
    /// [`MpiError::Memory`], [`MpiError::Call`].
    pub fn finish(self) -> Result<SharedBytes, MpiError> {
        let Self { segment, length, host } = self;
        let segment = segment.complete();
        host.agree(Ok(()))?;
        // SAFETY: all ranks have given up their right to write, or one of them has an error and no
        // rank gets here.
        let memory = unsafe { segment.read() }.map_err(memory_error(&host, length));
        Ok(SharedBytes { memory: Arc::new(host.agree(memory)?), length })
    }
}

impl Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[..self.length]
    }
}

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// Returns a function that converts an error of a segment.
fn memory_error(host: &Comm, length: usize) -> impl FnOnce(SegmentError) -> MpiError {
    let (rank, host) = (host.rank(), host.session().host.clone());
    move |SegmentError { step, source }| {
        let text = source.to_string();
        MpiError::Memory { rank, host, wanted: length as u64, step, text }
    }
}

/// Checks that the ranks of a host agree on the length and fill disjoint ranges.
fn agree_on_shares(host: &Comm, length: usize, own: &Range<usize>) -> Result<(), MpiError> {
    let words = [length, own.start, own.end].map(|word| (word as u64).to_le_bytes());
    let all = host.gather_all(words.as_flattened())?;
    let mut shares = Vec::with_capacity(all.len());
    for bytes in &all {
        let (words, _) = bytes.as_chunks::<8>();
        let &[length, start, end] = words else {
            let text = format!("rank {} says {} bytes of its share", shares.len(), bytes.len());
            return Err(MpiError::Shares { rank: host.rank(), length: length as u64, text });
        };
        let [length, start, end] =
            [length, start, end].map(|word| u64::from_le_bytes(word) as usize);
        shares.push((length, start..end));
    }
    contradiction(&shares).map_or(Ok(()), |text| {
        Err(MpiError::Shares { rank: host.rank(), length: length as u64, text })
    })
}

/// Returns the description of a contradiction between the lengths and ranges of the ranks, if any.
fn contradiction(shares: &[(usize, Range<usize>)]) -> Option<String> {
    let (length, _) = shares.first()?;
    if let Some(rank) = shares.iter().position(|(other, _)| other != length) {
        return Some(format!("rank {rank} says {} bytes", shares[rank].0));
    }
    let outside = |(_, own): &(usize, Range<usize>)| own.start > own.end || own.end > *length;
    if let Some(rank) = shares.iter().position(outside) {
        return Some(format!("rank {rank} would write bytes {:?}", shares[rank].1));
    }
    let mut order: Vec<_> = (0..shares.len()).filter(|&rank| !shares[rank].1.is_empty()).collect();
    order.sort_by_key(|&rank| shares[rank].1.start);
    let clash = order.windows(2).find(|pair| shares[pair[1]].1.start < shares[pair[0]].1.end)?;
    Some(format!(
        "ranks {} and {} would both write byte {}",
        clash[0], clash[1], shares[clash[1]].1.start
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_ranks_must_not_overlap() {
        assert_eq!(contradiction(&[(10, 5..10), (10, 0..0), (10, 0..5), (10, 7..7)]), None);
        let text = |shares: &[_]| contradiction(shares).unwrap();
        assert_eq!(text(&[(10, 5..10), (10, 0..6)]), "ranks 1 and 0 would both write byte 5");
        assert_eq!(text(&[(10, 5..10), (11, 0..5)]), "rank 1 says 11 bytes");
        assert_eq!(text(&[(10, 0..5), (10, 5..11)]), "rank 1 would write bytes 5..11");
    }
}
