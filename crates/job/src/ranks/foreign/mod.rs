//! Jobs of another program: the fleet distributes blocks of queries, and each task is a run of the
//! program.

mod blocks;
mod identity;
mod join;
mod preload;
mod process;
#[cfg(feature = "mpi")]
mod processes;
mod works;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};

use fleetblast_fleet::config::Config;
use fleetblast_fleet::end::Exit;
use fleetblast_fleet::ids::{GroupId, Rank};
use fleetblast_fleet::payload::Weight;
use fleetblast_fleet::topology::{Shape, Topology};
use fleetblast_mpi::name_rank;
use fleetblast_spool::Checkpoint;

use self::blocks::{Blocks, count};
use self::works::{Job, MasterWorks, SupermasterWorks, WorkerWorks};
use super::checkpoint::{self, Keeping, Kept, Opened};
use super::driver::{self, End, Hosted};
use super::ending::{remove, verdict};
use super::output::publish;
use super::output::{SharedOutput, Whole};
use super::together::{run_all, sum_up};
use super::transport::Transport;
use super::vigil::{self, Vigil};
use super::works::counts::Counts;
use super::works::records::Records;
use super::works::register::{self, SharedRegister};
use super::works::shared::{Shared, lock};
use super::works::store::Store;
use super::works::{OfMaster, OfSupermaster};

use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::halt::Halt;
use crate::interrupt::{DrainSignals, EarlyEnd};
use crate::last_works::before_the_end;
use crate::output::{Output, Unpublished, leave_empty};
use crate::plan::{Destination, Foreign};
use crate::threads::pool;
use crate::trace::Recorder;

/// Most letters of a block; also the size if the number of letters is unknown.
const MOST_RESIDUES: u64 = 50_000;
/// Blocks that each rank should have.
const BLOCKS_PER_RANK: u64 = 24;
/// Ranks of a group.
const GROUP: u32 = 128;
/// Unfinished blocks for each rank of a group: one in progress, one waiting, two being stored or
/// written.
const TASKS_PER_RANK: u32 = 4;

/// Runs the program on all queries, on ranks of this process or on processes that were started
/// together.
///
/// # Errors
/// Returns the error that ends the job early, or reports at the end that blocks are missing.
pub fn run(
    foreign: Foreign,
    drain: Option<DrainSignals>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let out = foreign.out.clone();
    let _last = before_the_end({
        let out = out.clone();
        move || leave_empty(&out)
    });
    let ended = match fleetblast_mpi::launched().filter(|launch| launch.ranks > 1) {
        #[cfg(feature = "mpi")]
        Some(_) => processes::run(foreign, drain, audience),
        #[cfg(not(feature = "mpi"))]
        Some(launch) => super::without_mpi::refuse(launch),
        None => on_threads(foreign, drain, audience),
    };
    ended.inspect_err(|error| {
        audience.leave();
        if ![exit::DRAINED, exit::ENGINE].contains(&error.exit_code) {
            leave_empty(&out);
        }
    })
}

fn on_threads(
    foreign: Foreign,
    drain: Option<DrainSignals>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let ranks = foreign.ranks;
    preload::preload(&foreign.files, &**audience)?;
    let job = Job::new(foreign, audience);
    let cut = Cut::new(&job.foreign, ranks)?;
    let early = drain.as_ref().map(DrainSignals::early_end);
    let ends = Ends::open(&job, &cut, early.as_deref())?;
    let Some((ends, checkpoint)) = ends else { return Ok(()) };
    let keeping = Keeping::from(&job.foreign);
    let vigil = Vigil { checkpoint: checkpoint.as_ref(), signals: drain, sending: None };
    let kept = match &checkpoint {
        Some(checkpoint) => {
            let run = checkpoint.run();
            let scans = checkpoint::scan(run, checkpoint::files(run)?, 0, 1)?;
            Some(Kept::told(run.clone(), &keeping, &scans, &**audience)?)
        }
        None => None,
    };
    let common = Common::new(&job, ranks, cut, ends.output.path().to_owned(), kept);
    let (works, whole) = ends.works(&job);
    let results = run_all(
        ranks,
        common.topology.supermaster,
        (works, vigil),
        |rank, works, vigil, transport| Ok((common.run(rank, works, vigil, transport)?, ())),
    );
    let ended = sum_up(results.into_iter().map(|end| common.verdict(end.map(|(end, ())| end))));
    ended.and_then(|()| publish(whole.try_iter(), checkpoint.as_ref()))?;
    remove(checkpoint, keeping.records.is_some(), &**audience);
    judge(job.failed.load(Ordering::Relaxed))
}

/// Converts the number of failed blocks into the result of the job.
fn judge(failed: u64) -> Result<(), Error> {
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

impl Job {
    fn new(foreign: Foreign, audience: &Arc<dyn Audience>) -> Self {
        let (halt, failed) = (Halt::default(), AtomicU64::new(0));
        Job { foreign, audience: Arc::clone(audience), halt, failed }
    }
}

impl<'a> From<&'a Foreign> for Keeping<'a> {
    fn from(foreign: &'a Foreign) -> Self {
        let records = match &foreign.out {
            Destination::Records(path) => Some(path.as_path()),
            Destination::Stdout | Destination::File(_) => None,
        };
        Keeping {
            checkpoint: foreign.checkpoint.as_ref(),
            records,
            codec: foreign.codec,
            judged: foreign.join.counts(),
        }
    }
}

/// How the queries are cut into blocks.
#[derive(Clone, Copy)]
struct Cut {
    /// Least letters of a block.
    residues: u64,
    /// The weight of all queries, if it is known.
    total: Option<Weight>,
}

impl Cut {
    fn new(foreign: &Foreign, ranks: u32) -> Result<Self, Error> {
        let total = count(&foreign.query)?;
        // A resumed job keeps its blocks.
        let kept = foreign.checkpoint.as_ref().and_then(checkpoint::kept_block_residues);
        let share = |total: Weight| total.residues / (BLOCKS_PER_RANK * u64::from(ranks));
        let usual = total.map_or(MOST_RESIDUES, share).clamp(1, MOST_RESIDUES);
        Ok(Cut { residues: foreign.block_residues.or(kept).unwrap_or(usual), total })
    }
}

/// The queries and the output of a job.
struct Ends {
    blocks: Blocks,
    output: Whole,
}

impl Ends {
    /// Opens the queries, the output and the checkpoint. Returns `None` if there is nothing to do.
    /// `early` ends the job on a signal.
    fn open(
        job: &Job,
        cut: &Cut,
        early: Option<&EarlyEnd>,
    ) -> Result<Option<(Self, Option<Checkpoint>)>, Error> {
        let Job { foreign, audience, .. } = job;
        audience.begin();
        let blocks = Blocks::open(&foreign.query, cut.residues, foreign.block_queries)?;
        if audience.is_watching() {
            audience.expect(cut.total.map(|all| all.sequences));
        }
        let identity = || identity::of_job(foreign, cut.residues, blocks.version());
        let checkpoint = match checkpoint::open(&foreign.into(), identity, &**audience)? {
            Opened::Nothing => None,
            Opened::Checkpoint(checkpoint) => Some(checkpoint),
            Opened::Complete => return Ok(None),
        };
        let output = match checkpoint.as_ref().map(Checkpoint::run) {
            Some(run) => Whole::kept(&foreign.out, run, early)?,
            None => Whole::new(Output::open(&foreign.out)?)?,
        };
        Ok(Some((Ends { blocks, output }, checkpoint)))
    }

    /// Returns the supermaster's executor, and a receiver of the complete output.
    fn works(self, job: &Job) -> (SupermasterWorks<'_>, Receiver<Whole>) {
        let (publisher, whole) = channel();
        (SupermasterWorks::new(job, self.blocks, self.output, publisher), whole)
    }
}

/// Everything that all ranks of this process share.
struct Common<'a> {
    job: &'a Job,
    topology: Arc<Topology>,
    config: Arc<Config>,
    /// Path of the unfinished output.
    path: PathBuf,
    kept: Option<Kept>,
    /// Host name of each rank; empty for ranks of one process.
    hosts: Vec<String>,
}

impl<'a> Common<'a> {
    fn new(job: &'a Job, ranks: u32, cut: Cut, path: PathBuf, kept: Option<Kept>) -> Self {
        // There is one partition, which every rank holds.
        let groups = ranks.div_ceil(GROUP);
        let shape = Shape { ranks, groups, replicas: ranks, partitions: 1, dedicated: false };
        let config = Config {
            verifies_blocks: job.foreign.join.counts(),
            checkpoint: kept.as_ref().is_some_and(|kept| kept.durable),
            total: cut.total,
            // Groups receive one block at a time, so that a long block can be moved before its
            // turn.
            segment_residues: 1,
            // Each block is one task, and takes only the memory of its text.
            window: job.foreign.config.window.max(TASKS_PER_RANK * ranks.div_ceil(groups)),
            window_queries: u64::MAX,
            ..job.foreign.config.clone()
        };
        Common {
            job,
            topology: Arc::new(Topology::new(shape)),
            config: Arc::new(config),
            path,
            kept,
            hosts: Vec::new(),
        }
    }

    fn verdict(&self, end: Result<End, Error>) -> Result<(), Error> {
        verdict(end, self.kept.as_ref(), &|rank| {
            let host = self.hosts.get(rank.index()).map(String::as_str);
            (host.is_some() || self.topology.ranks > 1).then(|| name_rank(rank, host))
        })
    }

    /// Runs a rank to its end.
    fn run(
        &'a self,
        rank: Rank,
        supermaster: Option<SupermasterWorks<'a>>,
        vigil: Vigil<'a>,
        transport: &mut impl Transport,
    ) -> Result<End, Error> {
        let register = register::of_rank(self.kept.as_ref(), self.topology.ranks, rank)?;
        let hosted = self.hosted(rank, supermaster, register.as_ref())?;
        let shared = hosted.worker.as_ref().map(|(_, _, shared, _)| Arc::clone(shared));
        let failed = |end| {
            self.job.halt.set();
            if let Err(error) = self.verdict(end) {
                let report =
                    Unpublished { part: self.path.clone(), out: self.job.foreign.out.clone() };
                vigil::end_late(error, report, Arc::clone(&self.job.audience));
            }
        };
        let end =
            driver::run(rank, &self.topology, &self.config, hosted, vigil, transport, failed)?;
        if let (Some(_), End::Exited(Exit::Completed)) = (&self.kept, &end) {
            shared.map_or(Ok(()), |shared| shared.finish())?;
            register.map_or(Ok(()), |register| lock(&register).finish())?;
        }
        Ok(end)
    }

    /// Creates the roles of a rank and their executors.
    fn hosted(
        &'a self,
        rank: Rank,
        supermaster: Option<SupermasterWorks<'a>>,
        register: Option<&SharedRegister>,
    ) -> Result<Hosted<'a>, Error> {
        let job = self.job;
        let (mut supermaster, mut earlier) = (supermaster, BTreeMap::new());
        if let (Some(works), Some(kept)) = (&mut supermaster, &self.kept) {
            let judged = job.foreign.join.counts();
            let counts = (judged && kept.durable).then(|| Counts::new(kept, self.topology.ranks));
            works.keep(register, counts.transpose()?);
            earlier = kept.finished(judged);
        }
        let master = self.topology.groups.iter().position(|group| group.master == rank);
        let worker = self.topology.worker_on(rank).map(|worker| {
            let records = self.kept.as_ref();
            let records = records
                .map(|kept| Records::new(kept, rank, self.config.write_buffer))
                .transpose()?;
            let store = Store::new(self.path.parent().unwrap_or(Path::new(".")));
            let shared = Arc::new(Shared::new(store, records, SharedOutput::new(&self.path)));
            let works = Box::new(WorkerWorks::new(job, Arc::clone(&shared))) as Box<_>;
            Ok::<_, Error>((worker, works, shared, pool(1)?))
        });
        Ok(Hosted {
            supermaster: supermaster.map(|works| Box::new(works) as Box<dyn OfSupermaster>),
            earlier,
            master: master.map(|id| {
                let works = MasterWorks::new(job, register.cloned());
                (GroupId(id as u32), Box::new(works) as Box<dyn OfMaster>)
            }),
            worker: worker.transpose()?,
            recorder: Recorder::default(),
            audience: Arc::clone(&job.audience),
        })
    }
}
