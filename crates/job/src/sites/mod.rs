//! Two sites in one job: ranks of one search, those of the other make and write the report of the metadata, while the search goes on.
//!
//! | who | where | does |
//! | --- | --- | --- |
//! | the search | all ranks but the last | what it does for any metadata; its first rank sends the records in the order of the queries |
//! | the manager | the first I/O rank | shares blocks out to whoever is free, writes what is made of them in their order |
//! | makers | each I/O rank | open the database, hold that it is the one that was searched, make the reports of blocks |
//!
//! They know each other by addresses, and speak through a post each: channels among threads, or MPI. Nothing else
//! crosses between the sites.

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
pub use self::processes::{expand, report};
pub use self::threads::run;
#[cfg(not(feature = "mpi"))]
pub use self::without_mpi::{expand, report};
use crate::error::Error;
use crate::plan::{Destination, Plan};

/// How a report is made of metadata that begin so; `None` for one that is told as it is.
pub type PlanOf = dyn Fn(&Header) -> Result<Option<Plan>, Error> + Send + Sync;

/// The site at which the report is made.
pub struct Storage {
    /// Ranks there.
    pub ranks: u32,
    /// Threads of each.
    pub threads: usize,
    /// Where the report goes.
    pub out: Destination,
    /// How it is made.
    pub plan: Box<PlanOf>,
}

impl Storage {
    /// Its ranks, and the threads of each.
    fn size(&self) -> (u32, u32) {
        (self.ranks, u32::try_from(self.threads).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests;
