//! Memory of a host for partitions that its ranks load together.

use std::ops::Range;
use std::sync::Arc;

use fleetblast_db::SharedBytes;
use fleetblast_db::load::{PageBuffer, PageKind, machine};
use fleetblast_mpi::{Comm, MpiError, PageStatistics, SharedFill, name_rank};

use crate::error::Error;
use crate::processes::{Collective, JobProcesses, mpi_failure};

/// Memory that is being filled with partitions.
pub enum HostMemory {
    /// Memory of a rank that is alone on its host, and the range that it fills. The memory can be
    /// on huge pages even if the kernel uses none for shared memory, which is its default.
    Own(PageBuffer, Range<usize>),
    /// Memory that all ranks of a host share. Each rank fills its own range.
    Shared(SharedFill),
}

impl HostMemory {
    /// Allocates `length` bytes on this host. Collective over all ranks. `host` has the ranks of
    /// this host. This rank fills the range `own`.
    ///
    /// # Errors
    /// A host has too little memory. One rank has reported it, so the error is silent.
    pub fn new(
        processes: &JobProcesses,
        host: &Comm,
        length: usize,
        own: Range<usize>,
    ) -> Result<Self, Error> {
        // One rank of each host checks. Otherwise the kernel would kill a rank if there is too
        // little memory.
        let checked = match host.rank() {
            0 => check_memory(length as u64, machine::available_memory(), processes.world.host()),
            _ => Ok(()),
        };
        processes.require_all(checked)?;
        let room = match host.size() {
            1 => match PageBuffer::new(length) {
                Ok(pages) => Ok(HostMemory::Own(pages, own)),
                Err(error) => {
                    Err(allocation_failure(length as u64, processes.world.host(), &error))
                }
            },
            _ => SharedFill::new(host, length, own).map(HostMemory::Shared).map_err(memory_failure),
        };
        processes.require_all(room)
    }

    /// Returns the bytes that this rank fills.
    pub fn own_mut(&mut self) -> &mut [u8] {
        match self {
            HostMemory::Own(pages, own) => &mut pages.bytes_mut()[own.clone()],
            HostMemory::Shared(fill) => fill.own_mut(),
        }
    }

    /// Waits until all ranks have filled their ranges. Collective over all ranks. Then each rank
    /// can read all memory of its host. Returns the memory, and the kind of most of its pages.
    ///
    /// # Errors
    /// The error is silent, because one rank has reported it.
    pub fn finish(self, processes: &JobProcesses) -> Result<(SharedBytes, PageKind), Error> {
        let memory = match self {
            HostMemory::Own(pages, _) => Ok(Arc::new(pages) as SharedBytes),
            HostMemory::Shared(fill) => {
                fill.finish().map(|bytes| Arc::new(bytes) as SharedBytes).map_err(memory_failure)
            }
        };
        let memory = processes.require_all(memory)?;
        let pages = match PageStatistics::measure((*memory).as_ref()) {
            Some(found) if found.huge > found.resident / 2 => PageKind::Transparent,
            _ => PageKind::Small,
        };
        Ok((memory, pages))
    }
}

/// Checks that the host has `wanted` bytes of memory, if it reports how much is available.
fn check_memory(wanted: u64, available: Option<u64>, host: &str) -> Result<(), Error> {
    match available {
        Some(free) if free < wanted => Err(Error::memory(format_args!(
            "{}: {wanted} bytes of memory to be shared by the ranks of this host, but {free} are \
             available: use more hosts, or hold fewer partitions on each",
            name_rank(0, Some(host))
        ))),
        _ => Ok(()),
    }
}

/// Converts the allocation error of a rank that is alone on its host.
fn allocation_failure(wanted: u64, host: &str, error: &dyn std::error::Error) -> Error {
    Error::memory(MpiError::Memory {
        rank: 0,
        host: host.to_owned(),
        wanted,
        step: "allocating memory",
        text: error.to_string(),
    })
}

fn memory_failure(error: MpiError) -> Error {
    match error {
        error @ MpiError::Memory { .. } => Error::memory(error),
        error => mpi_failure(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::exit;

    #[test]
    fn a_host_without_the_memory_is_named() {
        assert_eq!(check_memory(100, None, "n1"), Ok(()));
        assert_eq!(check_memory(100, Some(100), "n1"), Ok(()));
        let error = check_memory(100, Some(99), "n1").unwrap_err();
        assert_eq!(error.exit_code, exit::MEMORY);
        assert_eq!(
            error.message,
            "BLAST ran out of memory: rank 0 on host n1: 100 bytes of memory to be shared by the ranks of this host, but 99 \
             are available: use more hosts, or hold fewer partitions on each"
        );
    }
}
