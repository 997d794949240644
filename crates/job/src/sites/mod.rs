//! Two sites in one job. Some ranks search, while the I/O ranks make and write the report.
//!
//! * All ranks except the last ones search. The first of them sends the records in the order of the
//!   queries.
//! * The manager, on the first I/O rank, distributes blocks to idle makers and writes their reports
//!   in order.
//! * Each I/O rank has a maker. It opens the database, verifies that it equals the searched
//!   database, and makes the reports of blocks.
//!
//! Each role has an address and a mailbox. Messages go through channels between threads, or through
//! MPI. The sites exchange nothing else.

mod maker;
mod manager;
#[cfg(feature = "mpi")]
mod processes;
#[cfg(feature = "mpi")]
mod reader;
mod threads;

#[cfg(not(feature = "mpi"))]
mod without_mpi;

use fleetblast_metadata::Header;

#[cfg(feature = "mpi")]
pub use self::processes::{expand, run_io_ranks};
pub use self::threads::run;
#[cfg(not(feature = "mpi"))]
pub use self::without_mpi::{expand, run_io_ranks};
use crate::error::Error;
use crate::plan::{Destination, Plan};

/// Function that makes the plan of a report from the header of the metadata. Returns `None` if the
/// metadata contain the report itself.
pub type ReportPlanner = dyn Fn(&Header) -> Result<Option<Plan>, Error> + Send + Sync;

/// The plan of the I/O site, which makes the report.
pub struct IoSitePlan {
    /// Number of I/O ranks.
    pub ranks: u32,
    /// Number of threads of each I/O rank.
    pub threads: usize,
    /// Destination of the report.
    pub out: Destination,
    /// Function that makes the plan of the report from the header of the metadata.
    pub plan: Box<ReportPlanner>,
}

impl IoSitePlan {
    /// Returns the number of I/O ranks, and the number of threads of each.
    fn size(&self) -> (u32, u32) {
        (self.ranks, u32::try_from(self.threads).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests;
