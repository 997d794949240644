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

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};

use fleetblast_fleet::config::Config;
use fleetblast_fleet::ids::{GroupId, PartitionId};
use fleetblast_fleet::payload::Weight;
use fleetblast_fleet::topology::{Topology, TopologyShape};
use fleetblast_spool::Checkpoint;

use self::blocks::{FastaBlocks, count_queries};
use self::execution::{WrappedJob, WrappedMaster, WrappedSupermaster, WrappedWorker};
use super::checkpoint::{self, CheckpointOptions, CheckpointState, OpenedCheckpoint};
use super::context::{HostedJob, RankContext};
use super::ending::finish_checkpoint;
use super::execution::report_register::SharedRegister;
use super::execution::shared::WorkerShared;
use super::execution::{MasterExecutor, SupermasterExecutor, WorkerExecutor};
use super::output::JobOutput;
use super::running::{FirstRank, RankThreads, Ranks};
use super::supervisor::Supervisor;
use crate::audience::Audience;
use crate::cleanup::register_cleanup;
use crate::error::{Error, exit};
use crate::halt::Halt;
use crate::interrupt::{DrainSignals, EarlySignalHandler};
use crate::output::{Output, leave_empty};
use crate::plan::{Destination, WrappedJobPlan};
use crate::processes::Collective;
use crate::threads::pool;
use crate::trace::Recorder;

/// Largest default size of blocks, in letters. It is the default if the number of all letters is
/// unknown.
const MOST_RESIDUES: u64 = 50_000;
/// Number of blocks for each rank, if the queries suffice.
const BLOCKS_PER_RANK: u64 = 24;
/// Largest number of ranks in a group.
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
    preload::preload(&plan.files, &**audience)?;
    let cut = BlockCut::new(&plan, plan.ranks)?;
    let rank_count = plan.ranks;
    run_on_ranks(WrappedJob::new(plan, audience), cut, rank_count, RankThreads, drain)
}

/// Runs the job on these ranks, which have read the database.
fn run_on_ranks(
    job: WrappedJob,
    cut: BlockCut,
    rank_count: u32,
    mut ranks: impl Ranks,
    drain: Option<DrainSignals>,
) -> Result<(), Error> {
    let audience = Arc::clone(&job.audience);
    let early_end = drain.as_ref().map(DrainSignals::early_end);
    let opened = ranks.open_on_first(|| WrappedIo::open(&job, &cut, early_end.as_deref()))?;
    let (job_io, checkpoint) = opened.unzip();
    let checkpoint = checkpoint.flatten();
    let path = job_io.as_ref().map(|job_io| job_io.output.path().as_os_str().to_owned());
    // An earlier run has completed the job.
    let Some(path) = ranks.processes().broadcast(path)? else { return ranks.leave() };
    let options = job.checkpoint_options();
    let checkpoint_state =
        CheckpointState::share(ranks.processes(), &options, checkpoint.as_ref(), &*audience)?;
    let (topology, config) = plan_ranks(&job.plan, &cut, rank_count, checkpoint_state.as_ref());
    let (path, hosts) = (path.into(), ranks.hosts());
    let context = RankContext { job, topology, config, path, checkpoint_state, hosts };
    let first = FirstRank {
        executor: job_io.map(|job_io| job_io.into_executor(&context.job)),
        supervisor: Supervisor { checkpoint: checkpoint.as_ref(), signals: drain, stream: None },
    };
    let (is_first, mut failed) = (ranks.processes().is_first(), 0);
    ranks.run(&context, first, |failed_blocks| {
        failed = failed_blocks.iter().sum();
        Ok(())
    })?;
    let keep = context.job.checkpoint_options().records.is_some();
    finish_checkpoint(checkpoint, keep, &*audience);
    check_failed_blocks(failed).map_err(|error| match is_first {
        true => error,
        false => Error::silent(error.exit_code),
    })
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
    fn into_executor(
        self,
        job: &WrappedJob,
    ) -> (Box<dyn SupermasterExecutor + '_>, Receiver<JobOutput>) {
        let (publisher, outputs) = channel();
        let executor = WrappedSupermaster::new(job, self.blocks, self.output, publisher);
        (Box::new(executor), outputs)
    }
}

/// Plans the groups of ranks, and the settings of their roles.
fn plan_ranks(
    plan: &WrappedJobPlan,
    cut: &BlockCut,
    ranks: u32,
    checkpoint_state: Option<&CheckpointState>,
) -> (Arc<Topology>, Arc<Config>) {
    // There is one partition, which every rank holds.
    let groups = ranks.div_ceil(GROUP);
    let shape = TopologyShape { ranks, groups, replicas: ranks, partitions: 1, dedicated: false };
    let config = Config {
        verifies_blocks: plan.join.depends_on_earlier_counts(),
        checkpoint: checkpoint_state.is_some_and(|checkpoint_state| checkpoint_state.durable),
        total: cut.total,
        // A group receives one block at a time. So a block that takes long can be handed out
        // before its turn.
        segment_residues: 1,
        // Each block is one task, and takes only the memory of its text.
        most_unfinished_blocks: plan
            .config
            .most_unfinished_blocks
            .max(TASKS_PER_RANK * ranks.div_ceil(groups)),
        most_unfinished_queries: u64::MAX,
        ..plan.config.clone()
    };
    (Arc::new(Topology::new(shape)), Arc::new(config))
}

impl HostedJob for WrappedJob {
    /// Number of blocks that failed in the process of the rank, and that no other rank has counted.
    type RankStatistics = u64;

    fn audience(&self) -> &Arc<dyn Audience> {
        &self.audience
    }

    fn halt(&self) -> &Halt {
        &self.halt
    }

    fn destination(&self) -> &Destination {
        &self.plan.out
    }

    fn checkpoint_options(&self) -> CheckpointOptions<'_> {
        (&self.plan).into()
    }

    fn create_master<'a>(
        &'a self,
        _: GroupId,
        _: &Topology,
        register: Option<SharedRegister>,
        _: &Recorder,
    ) -> Result<Box<dyn MasterExecutor + 'a>, Error> {
        Ok(Box::new(WrappedMaster::new(self, register)))
    }

    fn create_worker<'a>(
        &'a self,
        _: &[PartitionId],
        shared: &Arc<WorkerShared>,
    ) -> Result<(Box<dyn WorkerExecutor + 'a>, rayon::ThreadPool), Error> {
        Ok((Box::new(WrappedWorker::new(self, Arc::clone(shared))), pool(1)?))
    }

    fn rank_statistics(&self, _: &Recorder) -> Result<u64, Error> {
        Ok(self.failed_blocks.swap(0, Ordering::Relaxed))
    }
}
