//! Runs one job on many ranks: the roles of `fleetblast-fleet`, with the engine and the report.

mod account;
mod chain;
mod checkpoint;
mod contents;
mod driver;
mod ending;
mod ends;
mod foreign;
mod header;
mod identity;
mod job;
mod layout;
mod output;
#[cfg(feature = "mpi")]
mod processes;
mod refused;
mod sending;
mod together;
mod transport;
mod vigil;
mod watch;
mod wire;
#[cfg(not(feature = "mpi"))]
mod without_mpi;
mod works;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use fleetblast_db::check_mapped_files;
use fleetblast_db::load::{self, Choice, Held, Method, Purpose};
use fleetblast_fleet::config::Config;
use fleetblast_fleet::end::Exit;
use fleetblast_fleet::ids::{GroupId, PartitionId, Rank, WorkerId};
use fleetblast_fleet::plan::Layout;
use fleetblast_fleet::topology::Topology;
use fleetblast_mpi::name_rank;

use self::account::Figures;
use self::checkpoint::Kept;
use self::driver::{End, Hosted, HostedWorker};
use self::ending::{remove, verdict};
use self::ends::Ends;
pub use self::foreign::run as wrap;
pub use self::identity::regular_file;
use self::job::Job;
use self::layout::{Cut, Ranks};
use self::output::{SharedOutput, publish};
#[cfg(feature = "mpi")]
pub use self::processes::on_processes;
pub use self::refused::check_rank_count;
use self::sending::Sending;
use self::together::{run_all, sum_up};
use self::transport::Transport;
use self::vigil::Vigil;
#[cfg(not(feature = "mpi"))]
pub use self::without_mpi::on_processes;
use self::works::counts::Counts;
use self::works::iterated::IteratedMaster;
use self::works::master::MasterWorks;
use self::works::records::Records;
use self::works::register::{self, SharedRegister};
use self::works::shared::{Shared, lock};
use self::works::store::Store;
use self::works::supermaster::SupermasterWorks;
use self::works::worker::WorkerWorks;
use self::works::{OfMaster, OfSupermaster};
use crate::audience::Audience;
use crate::crossing::IoChannel;
use crate::error::Error;
use crate::interrupt::DrainSignals;
use crate::metadata::{SearchCapacity, header};
use crate::output::Unpublished;
use crate::plan::Plan;
use crate::search::{RANGES_PER_THREAD, Scan, patterns};
use crate::subjects::Target;
use crate::threads::pool;
use crate::trace::{Kind, Lane, Recorder};

/// Runs a job on `ranks` ranks, all of them threads of this process.
///
/// # Errors
/// Returns the first error that ends the job early.
pub fn on_threads(
    plan: Plan,
    ranks: u32,
    crossing: Option<&IoChannel>,
    drain: Option<DrainSignals>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let start = Instant::now();
    check_rank_count(ranks, plan.fleet.dry_run)?;
    let all = Ranks::of_one_process(&plan, ranks);
    let threads = plan.threads.for_ranks_inside((all.all / all.hosts) as usize);
    let plan = &plan.with_threads(threads);
    refused::refuse(plan)?;
    let target = Target::open(plan, &**audience)?;
    let layout = layout::lay_out(plan, &target, all)?;
    if plan.fleet.dry_run {
        return layout::print(&layout, plan, &target);
    }
    let choice = load::choose(&target.searched, Purpose::Search, plan.load)?;
    let cut = Cut::new(&target, &layout);
    let contents = contents::of_plan(plan, &target, &cut)?;
    let early = drain.as_ref().map(DrainSignals::early_end);
    let outside = (early.as_deref(), audience);
    let ends = Ends::open(plan, &target, &contents, &layout, crossing, outside)?;
    let Some((ends, checkpoint)) = ends else { return Ok(()) };
    let sending = ends.output.sending.as_ref().map(Sending::watcher);
    let watched = sending.clone();
    let vigil = Vigil { checkpoint: checkpoint.as_ref(), signals: drain, sending };
    let kept = match &checkpoint {
        Some(checkpoint) => {
            let run = checkpoint.run();
            let scans = checkpoint::scan(run, checkpoint::files(run)?, 0, 1)?;
            Some(Kept::told(checkpoint.run().clone(), &plan.into(), &scans, &**audience)?)
        }
        None => None,
    };
    let path = ends.output.path().to_owned();
    let Cut { partitions, topology } = cut;
    let occurrences = counted(plan, &target, 0..target.searched.oid_count())?;
    let mut job = Job::new(plan, &target, audience, partitions, occurrences);
    job.sending = watched;
    let common = Common::new(job, topology, &layout, choice, path, kept);
    let (works, whole) = ends.works(&common.job)?;
    let results = run_all(
        ranks,
        common.topology.supermaster,
        (works, vigil),
        |rank, works, vigil, transport| {
            let recorder = account::recorder(plan, rank.0)?;
            common.run(rank, works, vigil, &recorder, transport)
        },
    );
    let mut figures = Vec::with_capacity(results.len());
    let ended = sum_up(results.into_iter().map(|result| {
        let (end, of_rank) = result?;
        figures.push(of_rank);
        common.verdict(Ok(end))
    }));
    let ended = ended.and_then(|()| publish(whole.try_iter(), checkpoint.as_ref()));
    if ended.is_ok() {
        target.odd_headers().iter().for_each(|odd| audience.warn(&odd.to_string()));
        remove(checkpoint, plan.records().is_some(), &**audience);
    }
    // A job that was drained has its account too.
    let account = match figures.len() == ranks as usize {
        true => account::render(&common, &figures, start, true),
        false => Ok(()),
    };
    ended.and(account)
}

/// Counts the occurrences of the plan's pattern in these subjects, on threads of its own.
fn counted(plan: &Plan, target: &Target, oids: Range<u32>) -> Result<u64, Error> {
    match plan.params.pattern() {
        Some(_) => pool(plan.threads.count)?.install(|| patterns::occurrences(plan, target, oids)),
        None => Ok(0),
    }
}

/// Everything that all ranks of this process share.
struct Common<'a> {
    job: Job<'a>,
    choice: Choice,
    /// Partitions that were loaded together with other processes before the search.
    held: HashMap<PartitionId, Held>,
    topology: Arc<Topology>,
    config: Arc<Config>,
    /// Path of the unfinished output.
    path: PathBuf,
    kept: Option<Kept>,
    /// Host name of each rank; empty for ranks of one process.
    hosts: Vec<String>,
}

impl<'a> Common<'a> {
    fn new(
        job: Job<'a>,
        topology: Arc<Topology>,
        layout: &Layout,
        choice: Choice,
        path: PathBuf,
        kept: Option<Kept>,
    ) -> Self {
        let consults = job.consults();
        let config = layout.config.clone();
        // Late predictions are more accurate, so blocks are not read ahead.
        let read_ahead = if consults { 0 } else { config.read_ahead };
        Common {
            job,
            choice: Choice { streamed: layout.streamed, ..choice },
            held: HashMap::new(),
            topology,
            config: Arc::new(Config {
                verifies_blocks: consults,
                checkpoint: kept.as_ref().is_some_and(|kept| kept.durable),
                read_ahead,
                ..config
            }),
            path,
            kept,
            hosts: Vec::new(),
        }
    }

    /// Converts the end of a rank into the result of its process.
    fn verdict(&self, end: Result<End, Error>) -> Result<(), Error> {
        let place = |rank| (self.topology.ranks > 1).then(|| self.place(rank));
        verdict(end, self.kept.as_ref(), &place)
    }

    /// Returns the files to be removed when the job ends early.
    fn unpublished(&self) -> Unpublished {
        Unpublished { part: self.path.clone(), out: self.job.plan.out.clone() }
    }

    /// Names a rank for messages.
    fn place(&self, rank: Rank) -> String {
        name_rank(rank, self.hosts.get(rank.index()).map(String::as_str))
    }

    /// Adds the place of a rank that has ended to its error, if there are several ranks.
    fn at(&self, rank: Rank, mut error: Error) -> Error {
        if self.topology.ranks > 1 {
            error.message += &format!(" ({})", self.place(rank));
        }
        error
    }

    /// Runs a rank to its end. Returns how it ended and what it measured.
    fn run(
        &'a self,
        rank: Rank,
        supermaster: Option<SupermasterWorks<'a>>,
        vigil: Vigil<'a>,
        recorder: &Recorder,
        transport: &mut impl Transport,
    ) -> Result<(End, Figures), Error> {
        let register = register::of_rank(self.kept.as_ref(), self.topology.ranks, rank)?;
        let hosted = self.hosted(rank, supermaster, register.as_ref(), recorder)?;
        let shared = hosted.worker.as_ref().map(|(_, _, shared, _)| Arc::clone(shared));
        let (topology, config) = (&self.topology, &self.config);
        let failed = |end| {
            self.job.halt.set();
            if let Err(error) = self.verdict(end) {
                vigil::end_late(error, self.unpublished(), Arc::clone(&self.job.audience));
            }
        };
        let end = driver::run(rank, topology, config, hosted, vigil, transport, failed)?;
        if matches!(end, End::Exited(Exit::Completed)) {
            // Nobody publishes before all ranks have come to this point.
            check_mapped_files().map_err(|error| self.at(rank, error.into()))?;
        }
        if let (Some(_), End::Exited(Exit::Completed)) = (&self.kept, &end) {
            // This happens before the report gets its name and the checkpoint is removed. Bytes
            // that this rank wrote may be known to its host only.
            shared.map_or(Ok(()), |shared| shared.finish())?;
            register.map_or(Ok(()), |register| lock(&register).finish())?;
        }
        Ok((end, Figures::close(self.job.plan, recorder)?))
    }

    /// Creates the roles of a rank and their executors.
    fn hosted(
        &'a self,
        rank: Rank,
        supermaster: Option<SupermasterWorks<'a>>,
        register: Option<&SharedRegister>,
        recorder: &Recorder,
    ) -> Result<Hosted<'a>, Error> {
        let _span = recorder.begin(Lane::Search, Kind::Load);
        let master = self.topology.groups.iter().position(|group| group.master == rank);
        let worker = self.topology.worker_on(rank).map(|worker| self.worker(rank, worker));
        let mut supermaster = supermaster;
        let earlier = match (&mut supermaster, &self.kept) {
            (Some(works), Some(kept)) => {
                let judged = self.job.plan.judges_blocks();
                if judged && kept.durable {
                    works.keep(Counts::new(kept, self.topology.ranks)?);
                }
                if let Some(register) = register {
                    works.register(register);
                }
                kept.finished(judged)
            }
            _ => BTreeMap::new(),
        };
        Ok(Hosted {
            supermaster: supermaster.map(|works| Box::new(works) as Box<dyn OfSupermaster>),
            earlier,
            master: master
                .map(|id| {
                    let id = GroupId(id as u32);
                    Ok::<_, Error>((id, self.master(id, register.cloned(), recorder.clone())?))
                })
                .transpose()?,
            worker: worker.transpose()?,
            recorder: recorder.clone(),
            audience: Arc::clone(&self.job.audience),
        })
    }

    fn master(
        &'a self,
        id: GroupId,
        register: Option<SharedRegister>,
        recorder: Recorder,
    ) -> Result<Box<dyn OfMaster + 'a>, Error> {
        Ok(match self.job.rules() {
            Some(rules) => Box::new(IteratedMaster::new(&self.job, rules, register, recorder)?),
            None => {
                let groups = &self.topology.groups;
                let threads = groups[id.index()].workers.len() * self.job.plan.threads.count;
                let seekers = SearchCapacity { threads, groups: groups.len() };
                Box::new(MasterWorks::new(&self.job, register, seekers, recorder)?)
            }
        })
    }

    fn worker(&'a self, rank: Rank, id: WorkerId) -> Result<HostedWorker<'a>, Error> {
        let (plan, target) = (self.job.plan, self.job.target);
        let partitions = self.topology.held(id);
        // The worker searches one partition at a time, but each has buffers of its own.
        let streamed = self.choice.streamed.filter(|_| self.choice.method != Method::Map);
        let streamed = streamed.map(|memory| memory / partitions.len() as u64);
        let mut scans = HashMap::new();
        for &partition in partitions {
            let (oids, n) = (self.job.oids(partition), plan.threads.count * RANGES_PER_THREAD);
            let ranges = || target.searched.partitions_within(oids.clone(), n);
            let supply = match (self.held.get(&partition), streamed) {
                (Some(held), _) => held.clone().supply(ranges())?,
                (None, None) => self.choice.supply_of(&target.searched, ranges())?,
                (None, Some(memory)) => {
                    self.choice.supply_streamed(&target.searched, oids, n, memory)?
                }
            };
            let scan = Scan::new(target, supply, streamed.is_none());
            scans.insert(partition, scan.until(self.job.halt.clone()));
        }
        let directory = self.path.parent().unwrap_or(Path::new("."));
        let records = match &self.kept {
            Some(kept) => Some(Records::new(kept, rank, self.config.write_buffer)?),
            None => None,
        };
        let output = SharedOutput::new(&self.path);
        let shared = Arc::new(Shared::new(Store::new(directory), records, output));
        let works = WorkerWorks::new(&self.job, scans, Arc::clone(&shared));
        Ok((id, Box::new(works), shared, pool(plan.threads.count)?))
    }
}
