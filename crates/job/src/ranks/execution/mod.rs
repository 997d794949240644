//! Executes the work of a rank's roles, on threads of the rank. The work is either a search by the
//! engine or a run of another program.

use fleetblast_fleet::ids::BlockId;
use fleetblast_fleet::work::{
    MasterOutcome, MasterWork, SupermasterOutcome, SupermasterWork, WorkerOutcome, WorkerWork,
};

use self::report_register::SharedRegister;
use self::shared::PassKey;
use self::verification_records::VerificationRecords;
use super::wire::Bytes;
use crate::error::Error;
use crate::trace::{LoadingCosts, Span};

mod block_encoder;
mod block_layout;
mod hit_stages;
pub mod iterated;
mod iteration_log;
mod joined_hits;
pub mod lanes;
pub mod master;
mod master_pieces;
mod merging;
pub mod piece_store;
mod prediction;
mod query_stream;
mod questions;
pub mod rank_records;
pub mod report_register;
pub mod shared;
pub mod supermaster;
pub mod verification_records;
pub mod worker;

/// Executes the work of a supermaster.
pub trait SupermasterExecutor: Send {
    /// Sets the register for the bytes before the first block and after the last one, and the
    /// records that keep the results of verified blocks.
    fn set_records(
        &mut self,
        register: Option<SharedRegister>,
        verification_records: Option<VerificationRecords>,
    );

    /// Executes one piece of work.
    ///
    /// # Errors
    /// Returns the error that ends the job.
    fn run(&mut self, work: SupermasterWork<Bytes>) -> Result<SupermasterOutcome<Bytes>, Error>;
}

/// Executes the work of a master.
pub trait MasterExecutor: Send {
    /// Executes one piece of work.
    ///
    /// # Errors
    /// Returns the error that ends the job.
    fn run(&mut self, work: MasterWork<Bytes>) -> Result<MasterOutcome<Bytes>, Error>;

    /// Drops the data of a block whose output is in the output file.
    fn forget(&mut self, block: BlockId);
}

/// Executes the work of a worker on its compute thread.
pub trait WorkerExecutor: Send {
    /// Executes one piece of work, and describes it in `span`.
    ///
    /// # Errors
    /// Returns the error that ends the job.
    fn run(
        &mut self,
        work: WorkerWork<Bytes>,
        span: &mut Span,
    ) -> Result<WorkerOutcome<Bytes>, Error>;

    /// Drops the data of a pass, except its formatted pieces.
    fn forget(&mut self, pass: PassKey);

    /// Returns the bytes read of the database, and the time that searching threads waited for them.
    fn loading_costs(&self) -> LoadingCosts;
}
