//! One search by many ranks: the roles of `fleetblast-fleet`, with the engine and the report to do their works.

mod driver;
mod job;
mod master;
mod store;
mod supermaster;
mod threads;
mod wire;
mod worker;

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use fleetblast_db::load::{self, Choice, Purpose};
use fleetblast_fleet::config::Config;
use fleetblast_fleet::ids::{GroupId, Rank, WorkerId};
use fleetblast_fleet::role::Exit;
use fleetblast_fleet::topology::{Shape, Topology};

use self::driver::{End, Hosted};
use self::job::Job;
use self::master::MasterWorks;
use self::store::{Store, Unfinished};
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
    let mut progress = Progress::new(plan.progress, plan.out == Out::Stdout);
    let Some(queries) = Queries::open(plan, target.nothing_included)? else {
        warn("Query is Empty!");
        return Output::open(&plan.out)?.commit();
    };
    if progress.is_drawn() {
        progress.start(queries.count());
    }
    let output = Output::open(&plan.out)?;
    let path = supermaster::unfinished(&output)?;
    let (topology, partitions) = topology(plan, &target, ranks);
    let job = Job::new(plan, &target, partitions);
    let mut ends: Vec<Starting> = Threads::connect(ranks as usize)
        .into_iter()
        .zip(0..)
        .map(|(transport, rank)| Starting { rank: Rank(rank), transport, supermaster: None })
        .collect();
    if let Some(first) = ends.get_mut(topology.supermaster.index()) {
        first.supermaster = Some(SupermasterWorks::new(&job, queries, output, progress));
    }
    let choice = load::choose(&target.searched, Purpose::Search, plan.load)
        .map_err(|error| subjects::failure(&error))?;
    let (config, code) = (Arc::new(plan.fleet.config.clone()), Mutex::new(None));
    let common = Common { job: &job, choice: &choice, topology: &topology, path: &path };
    let results: Vec<_> = thread::scope(|scope| {
        let (common, config, code) = (&common, &config, &code);
        let mut threads = Vec::with_capacity(ends.len());
        for start in ends {
            threads.push(scope.spawn(move || common.run(start, config, code)));
        }
        threads.into_iter().map(|thread| thread.join()).collect()
    });
    for result in results {
        match result {
            Ok(Ok(End::Exited(Exit::Completed))) => {}
            Ok(Ok(End::Exited(Exit::Drained))) => {
                return Err(CliError::new(exit::UNKNOWN, "ended early, as told"));
            }
            Ok(Ok(End::Failed(failure, code))) => return Err(CliError::new(code, failure.cause)),
            Ok(Err(error)) => return Err(error),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    Ok(())
}

/// A rank about to start.
struct Starting<'a> {
    rank: Rank,
    transport: Threads,
    supermaster: Option<SupermasterWorks<'a>>,
}

/// What all ranks of this process share.
struct Common<'a> {
    job: &'a Job<'a>,
    choice: &'a Choice,
    topology: &'a Arc<Topology>,
    /// The output while it is written.
    path: &'a Path,
}

impl<'a> Common<'a> {
    /// Runs a rank to its end.
    fn run(
        &self,
        start: Starting<'a>,
        config: &Arc<Config>,
        code: &Mutex<Option<u8>>,
    ) -> Result<End, CliError> {
        let Starting { rank, mut transport, supermaster } = start;
        let hosted = self.hosted(rank, supermaster)?;
        driver::run(rank, self.topology, config, hosted, &mut transport, code)
    }

    /// What a rank hosts.
    fn hosted(
        &self,
        rank: Rank,
        supermaster: Option<SupermasterWorks<'a>>,
    ) -> Result<Hosted<'a>, CliError> {
        let master = self.topology.groups.iter().position(|group| group.master == rank);
        let worker = self.topology.workers.iter().position(|place| place.rank == rank);
        Ok(Hosted {
            supermaster,
            master: master.map(|id| (GroupId(id as u32), MasterWorks::new(self.job))),
            worker: match worker {
                Some(id) => Some(self.worker(WorkerId(id as u32))?),
                None => None,
            },
        })
    }

    fn worker(
        &self,
        id: WorkerId,
    ) -> Result<(WorkerId, WorkerWorks<'a>, Arc<Shared>, rayon::ThreadPool), CliError> {
        let Job { plan, target, .. } = *self.job;
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
        let shared = Arc::new(Shared::new(Store::new(directory), Unfinished::new(self.path)));
        let works = WorkerWorks::new(self.job, scans, Arc::clone(&shared));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(plan.threads).build();
        let pool = pool.map_err(|error| {
            CliError::new(exit::UNKNOWN, format!("Cannot start {} threads: {error}", plan.threads))
        })?;
        Ok((id, works, shared, pool))
    }
}

/// Who does what, and the OIDs of each partition.
fn topology(plan: &Plan, target: &Target, ranks: u32) -> (Arc<Topology>, Vec<Range<u32>>) {
    let wanted = plan.partitions.unwrap_or(ranks as usize);
    let partitions = target.searched.partitions(wanted);
    let shape = Shape {
        ranks,
        groups: plan.fleet.groups.unwrap_or(1),
        replicas: plan.fleet.replicas.unwrap_or(1),
        partitions: partitions.len() as u32,
        dedicated: false,
    };
    (Arc::new(Topology::new(shape)), partitions)
}
