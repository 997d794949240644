//! Memory of a host for what its ranks load together.

use std::ops::Range;
use std::sync::Arc;

use fleetblast_db::Memory;
use fleetblast_db::load::{HugePages, Pages, machine};
use fleetblast_mpi::{Comm, MpiError, Residence, SharedFill, name_rank};

use crate::error::Error;
use crate::processes::{Processes, mpi_failure};

/// Memory that is being filled.
pub enum Room {
    /// By a rank that is alone on its host: it need share nothing, and its memory can be on huge
    /// pages where those for files are switched off, which is the kernel's default.
    Own(Pages, Range<usize>),
    /// By all ranks of the host, each its own range.
    Shared(SharedFill),
}

impl Room {
    /// Room for `length` bytes on each host, of which this rank, one of those in `host`, fills
    /// `own` (collective among all ranks).
    ///
    /// # Errors
    /// Silent: that a host has too little memory has been told.
    pub fn new(
        processes: &Processes,
        host: &Comm,
        length: usize,
        own: Range<usize>,
    ) -> Result<Self, Error> {
        // Asked once per host; taking it without asking ends in the kernel killing a rank.
        let checked = match host.rank() {
            0 => check(length as u64, machine::available_memory(), processes.world.host()),
            _ => Ok(()),
        };
        processes.require_all(checked)?;
        let room = match host.size() {
            1 => match Pages::new(length) {
                Ok(pages) => Ok(Room::Own(pages, own)),
                Err(error) => Err(refused(length as u64, processes.world.host(), &error)),
            },
            _ => SharedFill::new(host, length, own).map(Room::Shared).map_err(memory_failure),
        };
        processes.require_all(room)
    }

    /// The bytes that this rank fills.
    pub fn own_mut(&mut self) -> &mut [u8] {
        match self {
            Room::Own(pages, own) => &mut pages.bytes_mut()[own.clone()],
            Room::Shared(fill) => fill.own_mut(),
        }
    }

    /// Waits until all ranks have filled their parts; from then on all ranks of a host can read all
    /// of it (collective among all ranks). Tells also on what pages most of it is.
    ///
    /// # Errors
    /// Silent: why has been told.
    pub fn finish(self, processes: &Processes) -> Result<(Memory, HugePages), Error> {
        let memory = match self {
            Room::Own(pages, _) => Ok(Arc::new(pages) as Memory),
            Room::Shared(fill) => {
                fill.finish().map(|bytes| Arc::new(bytes) as Memory).map_err(memory_failure)
            }
        };
        let memory = processes.require_all(memory)?;
        let pages = match Residence::measure((*memory).as_ref()) {
            Some(found) if found.huge > found.resident / 2 => HugePages::Transparent,
            _ => HugePages::None,
        };
        Ok((memory, pages))
    }
}

/// Whether the host has the memory, as far as it tells.
fn check(wanted: u64, available: Option<u64>, host: &str) -> Result<(), Error> {
    match available {
        Some(free) if free < wanted => Err(Error::memory(format_args!(
            "{}: {wanted} bytes of memory to be shared by the ranks of this host, but {free} are \
             available: use more hosts, or hold fewer partitions on each",
            name_rank(0, Some(host))
        ))),
        _ => Ok(()),
    }
}

/// A rank that is alone on its host did not get the memory.
fn refused(wanted: u64, host: &str, error: &dyn std::error::Error) -> Error {
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
        assert_eq!(check(100, None, "n1"), Ok(()));
        assert_eq!(check(100, Some(100), "n1"), Ok(()));
        let error = check(100, Some(99), "n1").unwrap_err();
        assert_eq!(error.exit_code, exit::MEMORY);
        assert_eq!(
            error.message,
            "BLAST ran out of memory: rank 0 on host n1: 100 bytes of memory to be shared by the ranks of this host, but 99 \
             are available: use more hosts, or hold fewer partitions on each"
        );
    }
}
