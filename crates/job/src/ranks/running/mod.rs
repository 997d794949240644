//! Runs the ranks of a job: all of them as threads of this process, or each as a process.

#[cfg(feature = "mpi")]
mod processes;
mod threads;

use std::sync::mpsc::Receiver;

#[cfg(feature = "mpi")]
pub use self::processes::RankProcesses;
pub use self::threads::RankThreads;
use super::context::{HostedJob, RankContext};
use super::execution::SupermasterExecutor;
use super::output::JobOutput;
use super::supervisor::Supervisor;
use crate::error::Error;
use crate::processes::Collective;

/// The ranks of a job.
pub trait Ranks {
    /// The processes that the ranks run in.
    type Processes: Collective;

    /// Returns the processes that the ranks run in.
    fn processes(&self) -> &Self::Processes;

    /// Returns the host name of each rank; empty for ranks of one process.
    fn hosts(&self) -> Vec<String>;

    /// Opens input and output on the first process. Collective: returns `None` on other processes.
    ///
    /// # Errors
    /// The error of `open`, silent on other processes.
    fn open_on_first<T: Send>(
        &mut self,
        open: impl FnOnce() -> Result<Option<T>, Error> + Send,
    ) -> Result<Option<T>, Error>;

    /// Runs all ranks of this process to their ends, and publishes the output. Then passes the
    /// statistics of all ranks to `conclude`, on each process. Collective.
    ///
    /// # Errors
    /// The error that ends the job early, or that of `conclude`.
    fn run<'a, J: HostedJob>(
        self,
        context: &'a RankContext<J>,
        first: FirstRank<'a>,
        conclude: impl FnOnce(Vec<J::RankStatistics>) -> Result<(), Error>,
    ) -> Result<(), Error>;

    /// Ends a job that has no work for the ranks. Collective.
    ///
    /// # Errors
    /// The connection to the other site is lost.
    fn leave(self) -> Result<(), Error>;
}

/// The duties that the first rank has besides its own work.
pub struct FirstRank<'a> {
    /// The executor of the supermaster, and the receiver of the complete output. `None` on other
    /// processes.
    pub executor: Option<(Box<dyn SupermasterExecutor + 'a>, Receiver<JobOutput>)>,
    /// The checkpoint and the signals that it supervises.
    pub supervisor: Supervisor<'a>,
}
