//! What the roles of a rank have done for them, and the threads that do it. Who does it is a search, or another program.

use fleetblast_fleet::ids::BlockId;
use fleetblast_fleet::work::{
    MasterOutcome, MasterWork, SupermasterOutcome, SupermasterWork, WorkerOutcome, WorkerWork,
};

use self::shared::Pass;
use super::wire::Bytes;
use crate::error::Error;
use crate::trace::{Loaded, Span};

pub mod counts;
mod foretelling;
pub mod iterated;
mod iterations;
mod laid;
pub mod lanes;
pub mod master;
mod pieces;
pub mod records;
pub mod register;
mod rounds;
pub mod shared;
pub mod store;
mod stream;
pub mod supermaster;
mod telling;
pub mod worker;

/// Carries out a supermaster's works.
pub trait OfSupermaster: Send {
    /// Carries out a work.
    ///
    /// # Errors
    /// What ends the job.
    fn run(&mut self, work: SupermasterWork<Bytes>) -> Result<SupermasterOutcome<Bytes>, Error>;
}

/// Carries out a master's works.
pub trait OfMaster: Send {
    /// Carries out a work.
    ///
    /// # Errors
    /// What ends the job.
    fn run(&mut self, work: MasterWork<Bytes>) -> Result<MasterOutcome<Bytes>, Error>;

    /// Drops what is kept of a block whose output stands in the file.
    fn forget(&mut self, block: BlockId);
}

/// Carries out a worker's works on the compute lane.
pub trait OfWorker: Send {
    /// Carries out a work; `span` gets to know what it is about.
    ///
    /// # Errors
    /// What ends the job.
    fn run(
        &mut self,
        work: WorkerWork<Bytes>,
        span: &mut Span,
    ) -> Result<WorkerOutcome<Bytes>, Error>;

    /// Drops what is kept of a pass, but for its pieces.
    fn forget(&mut self, pass: Pass);

    /// What was read of the database, and how long searching threads waited for it.
    fn loaded(&self) -> Loaded;
}
