//! Jobs of another program (`wrap`). The ranks distribute blocks of queries, and each task is one
//! run of the program.

mod blocks;
mod execution;
mod join;
mod preload;
mod process;
#[cfg(feature = "mpi")]
mod processes;
mod properties;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};

use fleetblast_fleet::config::Config;
use fleetblast_fleet::end::JobEnd;
use fleetblast_fleet::ids::{GroupId, Rank};
use fleetblast_fleet::payload::Weight;
use fleetblast_fleet::topology::{Topology, TopologyShape};
use fleetblast_mpi::name_rank;
use fleetblast_spool::Checkpoint;

use self::blocks::{FastaBlocks, count_queries};
use self::execution::{WrappedJob, WrappedMaster, WrappedSupermaster, WrappedWorker};
use super::checkpoint::{self, CheckpointOptions, CheckpointState, OpenedCheckpoint};
use super::driver::{self, HostedRoles, RankEnd};
use super::ending::{finish_checkpoint, rank_result};
use super::execution::piece_store::PieceStore;
use super::execution::rank_records::RankRecords;
use super::execution::report_register::{self, SharedRegister};
use super::execution::shared::{WorkerShared, lock};
use super::execution::verification_records::VerificationRecords;
use super::execution::{MasterExecutor, SupermasterExecutor};
use super::output::publish;
use super::output::{JobOutput, SharedOutput};
use super::rank_threads::{combine_results, run_ranks};
use super::supervisor::{self, Supervisor};
use super::transport::Transport;

use crate::audience::Audience;
use crate::cleanup::register_cleanup;
use crate::error::{Error, exit};
use crate::halt::Halt;
use crate::interrupt::{DrainSignals, EarlySignalHandler};
use crate::output::{Output, UnfinishedReport, leave_empty};
use crate::plan::{Destination, WrappedJobPlan};
use crate::threads::pool;
use crate::trace::Recorder;

/// Largest size of blocks in letters, unless the user sets a size. Used if the number of all
/// letters is unknown.
const MOST_RESIDUES: u64 = 50_000;
/// Number of blocks for each rank, if the queries suffice.
const BLOCKS_PER_RANK: u64 = 24;
/// Most ranks of a group.
const GROUP: u32 = 128;
/// Unfinished blocks for each rank of a group: one in progress, one waiting, two being stored or
/// written.
const TASKS_PER_RANK: u32 = 4;

/// Runs the program on all queries. The ranks are threads of this process, or processes that were
/// started together.
///
/// # Errors
/// The error that ends the job early, or at the end an error if blocks are missing in the output.
pub fn run(
    plan: WrappedJobPlan,
    drain: Option<DrainSignals>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let out = plan.out.clone();
    let _last = register_cleanup({
        let out = out.clone();
        move || leave_empty(&out)
    });
    let ended = match fleetblast_mpi::launched().filter(|launch| launch.ranks > 1) {
        #[cfg(feature = "mpi")]
        Some(_) => processes::run(plan, drain, audience),
        #[cfg(not(feature = "mpi"))]
        Some(launch) => super::without_mpi::refuse(launch),
        None => on_threads(plan, drain, audience),
    };
    ended.inspect_err(|error| {
        audience.abort();
        if ![exit::DRAINED, exit::ENGINE].contains(&error.exit_code) {
            leave_empty(&out);
        }
    })
}

fn on_threads(
    plan: WrappedJobPlan,
    drain: Option<DrainSignals>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let ranks = plan.ranks;
    preload::preload(&plan.files, &**audience)?;
    let job = WrappedJob::new(plan, audience);
    let cut = BlockCut::new(&job.plan, ranks)?;
    let early_end = drain.as_ref().map(DrainSignals::early_end);
    let job_io = WrappedIo::open(&job, &cut, early_end.as_deref())?;
    let Some((job_io, checkpoint)) = job_io else { return Ok(()) };
    let checkpoint_options = CheckpointOptions::from(&job.plan);
    let supervisor = Supervisor { checkpoint: checkpoint.as_ref(), signals: drain, stream: None };
    let checkpoint_state = match &checkpoint {
        Some(checkpoint) => {
            let run = checkpoint.run();
            let scans = checkpoint::scan_files(run, checkpoint::list_files(run)?, 0, 1)?;
            Some(CheckpointState::with_report(
                run.clone(),
                &checkpoint_options,
                &scans,
                &**audience,
            )?)
        }
        None => None,
    };
    let job_context =
        WrappedContext::new(&job, ranks, cut, job_io.output.path().to_owned(), checkpoint_state);
    let (executor, outputs) = job_io.into_executor(&job);
    let results = run_ranks(
        ranks,
        job_context.topology.supermaster,
        (executor, supervisor),
        |rank, executor, supervisor, transport| {
            Ok((job_context.run(rank, executor, supervisor, transport)?, ()))
        },
    );
    let ended = combine_results(
        results.into_iter().map(|end| job_context.rank_result(end.map(|(end, ())| end))),
    );
    ended.and_then(|()| publish(outputs.try_iter(), checkpoint.as_ref()))?;
    finish_checkpoint(checkpoint, checkpoint_options.records.is_some(), &**audience);
    check_failed_blocks(job.failed_blocks.load(Ordering::Relaxed))
}

/// Converts the number of failed blocks into the result of the job.
fn check_failed_blocks(failed: u64) -> Result<(), Error> {
    match failed {
        0 => Ok(()),
        1 => Err(Error::new(
            exit::ENGINE,
            "one block of queries, named above, is missing in the output",
        )),
        failed => Err(Error::new(
            exit::ENGINE,
            format!("{failed} blocks of queries, named above, are missing in the output"),
        )),
    }
}

impl WrappedJob {
    fn new(plan: WrappedJobPlan, audience: &Arc<dyn Audience>) -> Self {
        let (halt, failed_blocks) = (Halt::default(), AtomicU64::new(0));
        WrappedJob { plan, audience: Arc::clone(audience), halt, failed_blocks }
    }
}

impl<'a> From<&'a WrappedJobPlan> for CheckpointOptions<'a> {
    fn from(plan: &'a WrappedJobPlan) -> Self {
        let records = match &plan.out {
            Destination::Records(path) => Some(path.as_path()),
            Destination::Stdout | Destination::File(_) | Destination::Files(_) => None,
        };
        CheckpointOptions {
            checkpoint: plan.checkpoint.as_ref(),
            records,
            codec: plan.codec,
            verified: plan.join.depends_on_earlier_counts(),
        }
    }
}

/// How the queries are cut into blocks.
#[derive(Clone, Copy)]
struct BlockCut {
    /// Number of letters that complete a block.
    residues: u64,
    /// Number of all queries and letters, if it is known.
    total: Option<Weight>,
}

impl BlockCut {
    fn new(plan: &WrappedJobPlan, ranks: u32) -> Result<Self, Error> {
        let total = count_queries(&plan.query)?;
        // A resumed job keeps the size of its blocks.
        let resumed = plan.checkpoint.as_ref().and_then(checkpoint::kept_block_residues);
        let share = |total: Weight| total.residues / (BLOCKS_PER_RANK * u64::from(ranks));
        let usual = total.map_or(MOST_RESIDUES, share).clamp(1, MOST_RESIDUES);
        Ok(BlockCut { residues: plan.block_residues.or(resumed).unwrap_or(usual), total })
    }
}

/// Input and output of a job: its queries and its report.
struct WrappedIo {
    blocks: FastaBlocks,
    output: JobOutput,
}

impl WrappedIo {
    /// Opens the queries, the output and the checkpoint. Returns `None` if an earlier run has
    /// completed the job. `early_end` removes the unfinished output if a signal arrives before the
    /// job starts.
    fn open(
        job: &WrappedJob,
        cut: &BlockCut,
        early_end: Option<&EarlySignalHandler>,
    ) -> Result<Option<(Self, Option<Checkpoint>)>, Error> {
        let WrappedJob { plan, audience, .. } = job;
        audience.begin_search();
        let blocks = FastaBlocks::open(&plan.query, cut.residues, plan.block_queries)?;
        if audience.is_watching() {
            audience.set_query_count(cut.total.map(|all| all.sequences));
        }
        let properties = || properties::job_properties(plan, cut.residues, blocks.version());
        let checkpoint = match checkpoint::open(&plan.into(), properties, &**audience)? {
            OpenedCheckpoint::Nothing => None,
            OpenedCheckpoint::Checkpoint(checkpoint) => Some(checkpoint),
            OpenedCheckpoint::Complete => return Ok(None),
        };
        let output = match checkpoint.as_ref().map(Checkpoint::run) {
            Some(run) => JobOutput::resumable(&plan.out, run, early_end)?,
            None => JobOutput::new(Output::open(&plan.out)?)?,
        };
        Ok(Some((WrappedIo { blocks, output }, checkpoint)))
    }

    /// Returns the executor of the supermaster, and the receiver of the complete output.
    fn into_executor(self, job: &WrappedJob) -> (WrappedSupermaster<'_>, Receiver<JobOutput>) {
        let (publisher, outputs) = channel();
        (WrappedSupermaster::new(job, self.blocks, self.output, publisher), outputs)
    }
}

/// Everything that all ranks of this process share.
struct WrappedContext<'a> {
    job: &'a WrappedJob,
    topology: Arc<Topology>,
    config: Arc<Config>,
    /// Temporary path of the output.
    path: PathBuf,
    checkpoint_state: Option<CheckpointState>,
    /// Host name of each rank; empty for ranks of one process.
    hosts: Vec<String>,
}

impl<'a> WrappedContext<'a> {
    fn new(
        job: &'a WrappedJob,
        ranks: u32,
        cut: BlockCut,
        path: PathBuf,
        checkpoint_state: Option<CheckpointState>,
    ) -> Self {
        // There is one partition, which every rank holds.
        let groups = ranks.div_ceil(GROUP);
        let shape =
            TopologyShape { ranks, groups, replicas: ranks, partitions: 1, dedicated: false };
        let config = Config {
            verifies_blocks: job.plan.join.depends_on_earlier_counts(),
            checkpoint: checkpoint_state
                .as_ref()
                .is_some_and(|checkpoint_state| checkpoint_state.durable),
            total: cut.total,
            // A group receives one block at a time. So a block that takes long can be handed out
            // before its turn.
            segment_residues: 1,
            // Each block is one task, and takes only the memory of its text.
            most_unfinished_blocks: job
                .plan
                .config
                .most_unfinished_blocks
                .max(TASKS_PER_RANK * ranks.div_ceil(groups)),
            most_unfinished_queries: u64::MAX,
            ..job.plan.config.clone()
        };
        WrappedContext {
            job,
            topology: Arc::new(Topology::new(shape)),
            config: Arc::new(config),
            path,
            checkpoint_state,
            hosts: Vec::new(),
        }
    }

    fn rank_result(&self, end: Result<RankEnd, Error>) -> Result<(), Error> {
        rank_result(end, self.checkpoint_state.as_ref(), &|rank| {
            let host = self.hosts.get(rank.index()).map(String::as_str);
            (host.is_some() || self.topology.ranks > 1).then(|| name_rank(rank, host))
        })
    }

    /// Runs a rank to its end, and completes its output.
    fn run(
        &'a self,
        rank: Rank,
        supermaster: Option<WrappedSupermaster<'a>>,
        supervisor: Supervisor<'a>,
        transport: &mut impl Transport,
    ) -> Result<RankEnd, Error> {
        let register = report_register::open_for_rank(
            self.checkpoint_state.as_ref(),
            self.topology.ranks,
            rank,
        )?;
        let roles = self.create_roles(rank, supermaster, register.as_ref())?;
        let shared = roles.worker.as_ref().map(|(_, _, shared, _)| Arc::clone(shared));
        let failed = |end| {
            self.job.halt.set();
            if let Err(error) = self.rank_result(end) {
                let report =
                    UnfinishedReport { part: self.path.clone(), out: self.job.plan.out.clone() };
                supervisor::exit_after_failure(error, report, Arc::clone(&self.job.audience));
            }
        };
        let end =
            driver::run(rank, &self.topology, &self.config, roles, supervisor, transport, failed)?;
        if matches!(end, RankEnd::Exited(JobEnd::Completed)) {
            let has_checkpoint = self.checkpoint_state.is_some();
            shared.map_or(Ok(()), |shared| shared.finish(has_checkpoint))?;
            if has_checkpoint {
                register.map_or(Ok(()), |register| lock(&register).finish())?;
            }
        }
        Ok(end)
    }

    /// Creates the roles of a rank and their executors.
    fn create_roles(
        &'a self,
        rank: Rank,
        supermaster: Option<WrappedSupermaster<'a>>,
        register: Option<&SharedRegister>,
    ) -> Result<HostedRoles<'a>, Error> {
        let job = self.job;
        let (mut supermaster, mut earlier) = (supermaster, BTreeMap::new());
        if let (Some(executor), Some(checkpoint_state)) = (&mut supermaster, &self.checkpoint_state)
        {
            let verified = job.plan.join.depends_on_earlier_counts();
            let verification_records = (verified && checkpoint_state.durable)
                .then(|| VerificationRecords::new(checkpoint_state, self.topology.ranks));
            executor.set_records(register, verification_records.transpose()?);
            earlier = checkpoint_state.finished_blocks(verified);
        }
        let master = self.topology.groups.iter().position(|group| group.master == rank);
        let worker = self.topology.worker_on(rank).map(|worker| {
            let records = self.checkpoint_state.as_ref();
            let records = records
                .map(|checkpoint_state| {
                    RankRecords::new(checkpoint_state, rank, self.config.write_buffer)
                })
                .transpose()?;
            let store = PieceStore::new(self.path.parent().unwrap_or(Path::new(".")));
            let shared = Arc::new(WorkerShared::new(store, records, SharedOutput::new(&self.path)));
            let executor = Box::new(WrappedWorker::new(job, Arc::clone(&shared))) as Box<_>;
            Ok::<_, Error>((worker, executor, shared, pool(1)?))
        });
        Ok(HostedRoles {
            supermaster: supermaster
                .map(|executor| Box::new(executor) as Box<dyn SupermasterExecutor>),
            earlier,
            master: master.map(|id| {
                let executor = WrappedMaster::new(job, register.cloned());
                (GroupId(id as u32), Box::new(executor) as Box<dyn MasterExecutor>)
            }),
            worker: worker.transpose()?,
            recorder: Recorder::default(),
            audience: Arc::clone(&job.audience),
        })
    }
}
