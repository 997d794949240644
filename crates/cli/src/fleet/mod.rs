//! One search by many ranks: the roles of `fleetblast-fleet`, with the engine and the report to do their works.

mod driver;
mod job;
mod master;
#[cfg(feature = "mpi")]
mod mpi;
mod output;
mod store;
mod supermaster;
mod threads;
mod wire;
mod worker;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use fleetblast_db::load::{self, Choice, Purpose};
use fleetblast_fleet::config::Config;
use fleetblast_fleet::ids::{GroupId, Rank, WorkerId};
use fleetblast_fleet::role::Exit;
use fleetblast_fleet::topology::{Shape, Topology};

use self::driver::{End, Hosted, Transport};
use self::job::Job;
use self::master::MasterWorks;
#[cfg(feature = "mpi")]
pub use self::mpi::on_processes;
use self::output::Whole;
use self::store::Store;
use self::supermaster::SupermasterWorks;
use self::threads::Threads;
use self::worker::{Shared, WorkerWorks};
use crate::error::{CliError, exit};
use crate::plan::{Plan, Target as Out};
use crate::run::output::Output;
use crate::run::queries::Queries;
use crate::run::scan::Scan;
use crate::run::subjects::{self, Target};
use crate::run::{RANGES_PER_THREAD, warn};
use crate::terminal::Progress;

/// Runs a search on so many ranks, all threads of this process.
///
/// # Errors
/// Whatever ends the job early.
pub fn on_threads(plan: &Plan, ranks: u32) -> Result<(), CliError> {
    let target = Target::open(plan)?;
    let Some(ends) = Ends::open(plan, &target)? else { return Ok(()) };
    let path = ends.output.path().to_owned();
    let common = Common::new(plan, &target, ranks, path)?;
    let mut first = Some(ends.works(&common.job));
    let code = Mutex::new(None);
    let results: Vec<Result<End, CliError>> = thread::scope(|scope| {
        let mut threads = Vec::with_capacity(ranks as usize);
        for (mut transport, rank) in Threads::connect(ranks as usize).into_iter().zip(0..) {
            let rank = Rank(rank);
            let works = if rank == common.topology.supermaster { first.take() } else { None };
            let (common, code) = (&common, &code);
            threads.push(scope.spawn(move || {
                let end = common.run(rank, works, &mut transport, code);
                if !matches!(end, Ok(End::Exited(_))) {
                    transport.end_all();
                }
                end
            }));
        }
        let join = |thread: thread::ScopedJoinHandle<_>| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().map(join).collect()
    });
    let mut ended = Ok(());
    for result in results {
        match result.and_then(verdict) {
            // Those that were told to end have nothing to say of their own.
            Err(error) if ended.is_ok() || !error.message.is_empty() => ended = Err(error),
            _ => {}
        }
    }
    ended
}

/// Refuses a search on processes that cannot talk to each other.
///
/// # Errors
/// Always.
#[cfg(not(feature = "mpi"))]
pub fn on_processes(_: &Plan, launch: fleetblast_mpi::Launch) -> Result<(), CliError> {
    launch.refuse_without_mpi().map_err(|error| CliError::new(exit::INPUT, error.to_string()))
}

/// What a rank's end means for the process.
fn verdict(end: End) -> Result<(), CliError> {
    match end {
        End::Exited(Exit::Completed) => Ok(()),
        End::Exited(Exit::Drained) => Err(CliError::new(exit::UNKNOWN, "ended early, as told")),
        End::Failed(failure, code) => Err(CliError::new(code, failure.cause)),
    }
}

/// Both ends of a job: the queries and the report.
struct Ends<'a> {
    queries: Queries<'a>,
    output: Whole,
    progress: Progress,
}

impl<'a> Ends<'a> {
    /// Opens them; `None` if there is nothing to do.
    fn open(plan: &'a Plan, target: &Target) -> Result<Option<Self>, CliError> {
        let mut progress = Progress::new(plan.progress, plan.out == Out::Stdout);
        let Some(queries) = Queries::open(plan, target.nothing_included)? else {
            warn("Query is Empty!");
            Output::open(&plan.out)?.commit()?;
            return Ok(None);
        };
        if progress.is_drawn() {
            progress.start(queries.count());
        }
        let output = Whole::new(Output::open(&plan.out)?)?;
        Ok(Some(Ends { queries, output, progress }))
    }

    /// The supermaster's works with them.
    fn works(self, job: &'a Job<'a>) -> SupermasterWorks<'a> {
        SupermasterWorks::new(job, self.queries, self.output, self.progress)
    }
}

/// What all ranks of this process share.
struct Common<'a> {
    job: Job<'a>,
    choice: Choice,
    topology: Arc<Topology>,
    config: Arc<Config>,
    /// The output while it is written.
    path: PathBuf,
}

impl<'a> Common<'a> {
    fn new(
        plan: &'a Plan,
        target: &'a Target,
        ranks: u32,
        path: PathBuf,
    ) -> Result<Self, CliError> {
        let wanted = plan.partitions.unwrap_or(ranks as usize);
        let partitions = target.searched.partitions(wanted);
        let shape = Shape {
            ranks,
            groups: plan.fleet.groups.unwrap_or(1),
            replicas: plan.fleet.replicas.unwrap_or(1),
            partitions: partitions.len() as u32,
            dedicated: false,
        };
        Ok(Common {
            job: Job::new(plan, target, partitions),
            choice: load::choose(&target.searched, Purpose::Search, plan.load)
                .map_err(|error| subjects::failure(&error))?,
            topology: Arc::new(Topology::new(shape)),
            config: Arc::new(plan.fleet.config.clone()),
            path,
        })
    }

    /// Runs a rank to its end.
    fn run(
        &'a self,
        rank: Rank,
        supermaster: Option<SupermasterWorks<'a>>,
        transport: &mut impl Transport,
        code: &Mutex<Option<u8>>,
    ) -> Result<End, CliError> {
        let hosted = self.hosted(rank, supermaster)?;
        driver::run(rank, &self.topology, &self.config, hosted, transport, code)
    }

    /// What a rank hosts.
    fn hosted(
        &'a self,
        rank: Rank,
        supermaster: Option<SupermasterWorks<'a>>,
    ) -> Result<Hosted<'a>, CliError> {
        let master = self.topology.groups.iter().position(|group| group.master == rank);
        let worker = self.topology.workers.iter().position(|place| place.rank == rank);
        Ok(Hosted {
            supermaster,
            master: master.map(|id| (GroupId(id as u32), MasterWorks::new(&self.job))),
            worker: match worker {
                Some(id) => Some(self.worker(WorkerId(id as u32))?),
                None => None,
            },
        })
    }

    fn worker(
        &'a self,
        id: WorkerId,
    ) -> Result<(WorkerId, WorkerWorks<'a>, Arc<Shared>, rayon::ThreadPool), CliError> {
        let Job { plan, target, .. } = self.job;
        let mut scans = HashMap::new();
        for &partition in self.topology.held(id) {
            let ranges = target
                .searched
                .partitions_within(self.job.oids(partition), plan.threads * RANGES_PER_THREAD);
            let supply = self.choice.supply_of(&target.searched, ranges);
            let supply = supply.map_err(|error| subjects::failure(&error))?;
            scans.insert(partition, Scan::new(target, supply, true));
        }
        let directory = self.path.parent().unwrap_or(Path::new("."));
        let shared = Arc::new(Shared::new(Store::new(directory), output::Shared::new(&self.path)));
        let works = WorkerWorks::new(&self.job, scans, Arc::clone(&shared));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(plan.threads).build();
        let pool = pool.map_err(|error| {
            CliError::new(exit::UNKNOWN, format!("Cannot start {} threads: {error}", plan.threads))
        })?;
        Ok((id, works, shared, pool))
    }
}
