//! A job that ranks run, and what all ranks of this process share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fleetblast_db::check_mapped_files;
use fleetblast_fleet::config::Config;
use fleetblast_fleet::end::JobEnd;
use fleetblast_fleet::ids::{GroupId, PartitionId, Rank};
use fleetblast_fleet::topology::Topology;
use fleetblast_mpi::name_rank;
#[cfg(feature = "mpi")]
use fleetblast_spool::Checkpoint;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::checkpoint::{CheckpointOptions, CheckpointState};
use super::driver::{self, HostedRoles, HostedWorker, RankEnd};
use super::ending::rank_result;
use super::execution::piece_store::PieceStore;
use super::execution::rank_records::RankRecords;
use super::execution::report_register::{self, SharedRegister};
use super::execution::shared::{WorkerShared, lock};
use super::execution::verification_records::VerificationRecords;
use super::execution::{MasterExecutor, SupermasterExecutor, WorkerExecutor};
use super::output::SharedOutput;
use super::supervisor::{self, Supervisor};
use super::transport::Transport;
use crate::audience::Audience;
use crate::error::Error;
use crate::halt::Halt;
use crate::output::UnfinishedReport;
use crate::plan::Destination;
#[cfg(feature = "mpi")]
use crate::processes::JobProcesses;
use crate::trace::{Kind, Lane, Recorder};

/// A job that ranks run: a search, or the blocks of another program. Each process has a copy.
pub trait HostedJob: Sync {
    /// Facts about a rank that has ended.
    type RankStatistics: Serialize + DeserializeOwned + Send;

    /// Returns the receiver of warnings and progress.
    fn audience(&self) -> &Arc<dyn Audience>;

    /// Returns the flag that stops work in progress.
    fn halt(&self) -> &Halt;

    /// Returns the destination of the report.
    fn destination(&self) -> &Destination;

    /// Returns the options of the checkpoint.
    fn checkpoint_options(&self) -> CheckpointOptions<'_>;

    /// Creates the recorder of a rank. By default, the recorder is off.
    ///
    /// # Errors
    /// The rank's part of a trace cannot be created.
    fn create_recorder(&self, _rank: Rank) -> Result<Recorder, Error> {
        Ok(Recorder::default())
    }

    /// Loads the data that all processes load together before the ranks begin. By default, there
    /// are none. Collective.
    ///
    /// # Errors
    /// A silent error: all ranks have it, and the first rank has reported it. Any other error is
    /// known only to this rank, and was not reported.
    #[cfg(feature = "mpi")]
    fn load_together(
        _context: &RankContext<Self>,
        _processes: &JobProcesses,
        _checkpoint: Option<&Checkpoint>,
        _recorder: &Recorder,
    ) -> Result<(), Error>
    where
        Self: Sized,
    {
        Ok(())
    }

    /// Creates the executor of a master.
    ///
    /// # Errors
    /// Threads cannot be started.
    fn create_master<'a>(
        &'a self,
        id: GroupId,
        topology: &Topology,
        register: Option<SharedRegister>,
        recorder: &Recorder,
    ) -> Result<Box<dyn MasterExecutor + 'a>, Error>;

    /// Creates the executor of a worker that holds these partitions, and its thread pool.
    ///
    /// # Errors
    /// A partition cannot be read, or threads cannot be started.
    fn create_worker<'a>(
        &'a self,
        partitions: &[PartitionId],
        shared: &Arc<WorkerShared>,
    ) -> Result<(Box<dyn WorkerExecutor + 'a>, rayon::ThreadPool), Error>;

    /// Checks that the files that this process maps have not changed. The report becomes visible
    /// only after all ranks have done this.
    ///
    /// # Errors
    /// A file has changed.
    fn check_input(&self) -> Result<(), Error> {
        check_mapped_files().map_err(Error::from)
    }

    /// Returns the facts about a rank that has ended.
    ///
    /// # Errors
    /// The rank's part of a trace cannot be written.
    fn rank_statistics(&self, recorder: &Recorder) -> Result<Self::RankStatistics, Error>;
}

/// Data that all ranks of this process share.
pub struct RankContext<J> {
    /// The job.
    pub job: J,
    /// The roles of all ranks.
    pub topology: Arc<Topology>,
    /// Settings of the roles.
    pub config: Arc<Config>,
    /// Temporary path of the output.
    pub path: PathBuf,
    /// State of the checkpoint, if the job has one.
    pub checkpoint_state: Option<CheckpointState>,
    /// Host name of each rank; empty for ranks of one process.
    pub hosts: Vec<String>,
}

impl<J: HostedJob> RankContext<J> {
    /// Converts the end of a rank into the result of its process.
    ///
    /// # Errors
    /// The error of the rank, or the failure or drain of the job.
    pub fn rank_result(&self, end: Result<RankEnd, Error>) -> Result<(), Error> {
        let place = |rank| (self.topology.ranks > 1).then(|| self.rank_place(rank));
        rank_result(end, self.checkpoint_state.as_ref(), &place)
    }

    /// Returns the paths of the report, which must be removed if the job ends early.
    pub fn unpublished_files(&self) -> UnfinishedReport {
        UnfinishedReport { part: self.path.clone(), out: self.job.destination().clone() }
    }

    /// Returns the name of a rank for messages, with its host if that is known.
    fn rank_place(&self, rank: Rank) -> String {
        name_rank(rank, self.hosts.get(rank.index()).map(String::as_str))
    }

    /// Adds the name of a rank to the error of this rank, if the job has several ranks.
    fn with_rank_place(&self, rank: Rank, error: Error) -> Error {
        if self.topology.ranks > 1 { error.with_place(&self.rank_place(rank)) } else { error }
    }

    /// Runs a rank to its end, and completes its output. Returns the end and the statistics of the
    /// rank. `supermaster` is the executor of the supermaster, on its rank.
    ///
    /// # Errors
    /// The roles cannot be created, the output cannot be completed, or the connection to other
    /// ranks is lost.
    pub fn run<'a>(
        &'a self,
        rank: Rank,
        supermaster: Option<Box<dyn SupermasterExecutor + 'a>>,
        supervisor: Supervisor<'a>,
        recorder: &Recorder,
        transport: &mut impl Transport,
    ) -> Result<(RankEnd, J::RankStatistics), Error> {
        let register = report_register::open_for_rank(
            self.checkpoint_state.as_ref(),
            self.topology.ranks,
            rank,
        )?;
        let roles = self.create_roles(rank, supermaster, register.as_ref(), recorder)?;
        let shared = roles.worker.as_ref().map(|(_, _, shared, _)| Arc::clone(shared));
        let (topology, config) = (&self.topology, &self.config);
        let failed = |end| {
            self.job.halt().set();
            if let Err(error) = self.rank_result(end) {
                let audience = Arc::clone(self.job.audience());
                supervisor::exit_after_failure(error, self.unpublished_files(), audience);
            }
        };
        let end = driver::run(rank, topology, config, roles, supervisor, transport, failed)?;
        if matches!(end, RankEnd::Exited(JobEnd::Completed)) {
            self.job.check_input().map_err(|error| self.with_rank_place(rank, error))?;
            // The report gets its name and the checkpoint is removed only after this. Until then,
            // other hosts may not see the bytes that this rank wrote.
            let has_checkpoint = self.checkpoint_state.is_some();
            shared.map_or(Ok(()), |shared| shared.finish(has_checkpoint))?;
            if has_checkpoint {
                register.map_or(Ok(()), |register| lock(&register).finish())?;
            }
        }
        Ok((end, self.job.rank_statistics(recorder)?))
    }

    /// Creates the roles of a rank and their executors.
    fn create_roles<'a>(
        &'a self,
        rank: Rank,
        mut supermaster: Option<Box<dyn SupermasterExecutor + 'a>>,
        register: Option<&SharedRegister>,
        recorder: &Recorder,
    ) -> Result<HostedRoles<'a>, Error> {
        let _span = recorder.begin(Lane::Search, Kind::Load);
        let topology = &self.topology;
        let worker = topology.worker_on(rank).map(|id| {
            let shared = self.create_shared(rank)?;
            let partitions = topology.partitions_of(id);
            let (executor, pool) = self.job.create_worker(partitions, &shared)?;
            Ok::<HostedWorker, Error>((id, executor, shared, pool))
        });
        let mut earlier = BTreeMap::new();
        if let (Some(executor), Some(checkpoint_state)) = (&mut supermaster, &self.checkpoint_state)
        {
            let verified = self.job.checkpoint_options().verified;
            let records = (verified && checkpoint_state.durable)
                .then(|| VerificationRecords::new(checkpoint_state, topology.ranks));
            executor.set_records(register.cloned(), records.transpose()?);
            earlier = checkpoint_state.finished_blocks(verified);
        }
        let master = topology.groups.iter().position(|group| group.master == rank).map(|id| {
            let id = GroupId(id as u32);
            let executor = self.job.create_master(id, topology, register.cloned(), recorder)?;
            Ok::<_, Error>((id, executor))
        });
        Ok(HostedRoles {
            supermaster,
            earlier,
            master: master.transpose()?,
            worker: worker.transpose()?,
            recorder: recorder.clone(),
            audience: Arc::clone(self.job.audience()),
        })
    }

    /// Creates the data that the threads of a worker share: its pieces, its records and the output.
    fn create_shared(&self, rank: Rank) -> Result<Arc<WorkerShared>, Error> {
        let records = self.checkpoint_state.as_ref().map(|checkpoint_state| {
            RankRecords::new(checkpoint_state, rank, self.config.write_buffer)
        });
        let pieces = PieceStore::new(self.path.parent().unwrap_or(Path::new(".")));
        let output = SharedOutput::new(&self.path);
        Ok(Arc::new(WorkerShared::new(pieces, records.transpose()?, output)))
    }
}
