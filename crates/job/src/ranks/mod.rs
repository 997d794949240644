//! Runs one job on many ranks: the roles of `fleetblast-fleet`, with the engine and the report.

mod account;
mod checkpoint;
mod database_fingerprint;
mod driver;
mod ending;
mod execution;
mod job;
mod job_io;
mod job_properties;
mod layout;
mod limits;
mod metadata_stream;
mod output;
#[cfg(feature = "mpi")]
mod processes;
mod progress;
mod rank_threads;
mod record_chain;
mod sam_header;
mod supervisor;
mod transport;
mod wire;
#[cfg(not(feature = "mpi"))]
mod without_mpi;
mod wrapped;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use fleetblast_db::check_mapped_files;
use fleetblast_db::load::{self, LoadMethod, LoadPurpose, LoaderChoice, MemoryLoader};
use fleetblast_fleet::config::Config;
use fleetblast_fleet::end::JobEnd;
use fleetblast_fleet::ids::{GroupId, PartitionId, Rank, WorkerId};
use fleetblast_fleet::plan::Layout;
use fleetblast_fleet::topology::Topology;
use fleetblast_mpi::name_rank;

use self::account::RankStatistics;
use self::checkpoint::CheckpointState;
use self::driver::{HostedRoles, HostedWorker, RankEnd};
use self::ending::{finish_checkpoint, rank_result};
use self::execution::iterated::IteratedMaster;
use self::execution::master::SearchMaster;
use self::execution::piece_store::PieceStore;
use self::execution::rank_records::RankRecords;
use self::execution::report_register::{self, SharedRegister};
use self::execution::shared::{WorkerShared, lock};
use self::execution::supermaster::SearchSupermaster;
use self::execution::verification_records::VerificationRecords;
use self::execution::worker::SearchWorker;
use self::execution::{MasterExecutor, SupermasterExecutor};
use self::job::RankJob;
use self::job_io::JobIo;
pub use self::job_properties::regular_file;
use self::layout::{DatabaseCut, RankResources};
pub use self::limits::check_rank_count;
use self::metadata_stream::MetadataStream;
use self::output::{SharedOutput, publish};
#[cfg(feature = "mpi")]
pub use self::processes::on_processes;
use self::rank_threads::{combine_results, run_ranks};
use self::supervisor::Supervisor;
use self::transport::Transport;
#[cfg(not(feature = "mpi"))]
pub use self::without_mpi::on_processes;
pub use self::wrapped::run as wrap;
use crate::audience::Audience;
use crate::error::Error;
use crate::interrupt::DrainSignals;
use crate::io_channel::IoChannel;
use crate::metadata::SearchCapacity;
use crate::output::UnfinishedReport;
use crate::plan::Plan;
use crate::search::{DatabaseScan, RANGES_PER_THREAD, patterns};
use crate::subjects::SubjectDatabase;
use crate::threads::pool;
use crate::trace::{Kind, Lane, Recorder};

/// Runs a job on `ranks` ranks, all of them threads of this process.
///
/// # Errors
/// Returns the first error that ends the job early.
pub fn on_threads(
    plan: Plan,
    ranks: u32,
    io_channel: Option<&IoChannel>,
    drain: Option<DrainSignals>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let start = Instant::now();
    check_rank_count(ranks, plan.fleet.dry_run)?;
    let all = RankResources::in_one_process(&plan, ranks);
    let threads = plan.threads.for_ranks_inside((all.rank_count / all.hosts) as usize);
    let plan = &plan.with_threads(threads);
    limits::check_supported(plan)?;
    let subjects = SubjectDatabase::open(plan, &**audience)?;
    let layout = layout::plan_layout(plan, &subjects, all)?;
    if plan.fleet.dry_run {
        return layout::print_layout(&layout, plan, &subjects);
    }
    let choice = load::choose_loader(&subjects.searched, LoadPurpose::Search, plan.load)?;
    let cut = DatabaseCut::new(&subjects, &layout);
    let fingerprint = database_fingerprint::read_fingerprint(plan, &subjects, &cut)?;
    let early_end = drain.as_ref().map(DrainSignals::early_end);
    let environment = (early_end.as_deref(), audience);
    let job_io = JobIo::open(plan, &subjects, &fingerprint, &layout, io_channel, environment)?;
    let Some((job_io, checkpoint)) = job_io else { return Ok(()) };
    let stream = job_io.output.stream.as_ref().map(MetadataStream::observer);
    let observer = stream.clone();
    let supervisor = Supervisor { checkpoint: checkpoint.as_ref(), signals: drain, stream };
    let checkpoint_state = match &checkpoint {
        Some(checkpoint) => {
            let run = checkpoint.run();
            let scans = checkpoint::scan_files(run, checkpoint::list_files(run)?, 0, 1)?;
            Some(CheckpointState::with_report(
                checkpoint.run().clone(),
                &plan.into(),
                &scans,
                &**audience,
            )?)
        }
        None => None,
    };
    let path = job_io.output.path().to_owned();
    let DatabaseCut { partitions, topology } = cut;
    let occurrences = count_occurrences(plan, &subjects, 0..subjects.searched.oid_count())?;
    let mut job = RankJob::new(plan, &subjects, audience, partitions, occurrences);
    job.stream = observer;
    let job_context = JobContext::new(job, topology, &layout, choice, path, checkpoint_state);
    let (executor, outputs) = job_io.into_executor(&job_context.job)?;
    let results = run_ranks(
        ranks,
        job_context.topology.supermaster,
        (executor, supervisor),
        |rank, executor, supervisor, transport| {
            let recorder = account::recorder(plan, rank.0)?;
            job_context.run(rank, executor, supervisor, &recorder, transport)
        },
    );
    let mut statistics = Vec::with_capacity(results.len());
    let ended = combine_results(results.into_iter().map(|result| {
        let (end, rank_statistics) = result?;
        statistics.push(rank_statistics);
        job_context.rank_result(Ok(end))
    }));
    let ended = ended.and_then(|()| publish(outputs.try_iter(), checkpoint.as_ref()));
    if ended.is_ok() {
        subjects.odd_headers().iter().for_each(|odd| audience.warn(&odd.to_string()));
        finish_checkpoint(checkpoint, plan.records_directory().is_some(), &**audience);
    }
    // A drained job has an account, too.
    let account = match statistics.len() == ranks as usize {
        true => account::render(&job_context, &statistics, start, true),
        false => Ok(()),
    };
    ended.and(account)
}

/// Counts the occurrences of the plan's pattern in these subjects, in a thread pool of its own.
/// Returns 0 without a pattern.
fn count_occurrences(
    plan: &Plan,
    subjects: &SubjectDatabase,
    oids: Range<u32>,
) -> Result<u64, Error> {
    match plan.params.pattern() {
        Some(_) => {
            pool(plan.threads.count)?.install(|| patterns::count_occurrences(plan, subjects, oids))
        }
        None => Ok(0),
    }
}

/// Everything that all ranks of this process share.
struct JobContext<'a> {
    job: RankJob<'a>,
    choice: LoaderChoice,
    /// Partitions that all processes loaded together before the search (`-loader broadcast`).
    loaded_partitions: HashMap<PartitionId, MemoryLoader>,
    topology: Arc<Topology>,
    config: Arc<Config>,
    /// Temporary path of the output.
    path: PathBuf,
    checkpoint_state: Option<CheckpointState>,
    /// Host name of each rank; empty for ranks of one process.
    hosts: Vec<String>,
}

impl<'a> JobContext<'a> {
    fn new(
        job: RankJob<'a>,
        topology: Arc<Topology>,
        layout: &Layout,
        choice: LoaderChoice,
        path: PathBuf,
        checkpoint_state: Option<CheckpointState>,
    ) -> Self {
        let verifies_blocks = job.verifies_blocks();
        let config = layout.config.clone();
        // Late predictions are more accurate, so blocks are not read ahead.
        let read_ahead = if verifies_blocks { 0 } else { config.read_ahead };
        JobContext {
            job,
            choice: LoaderChoice { streaming_bytes: layout.streamed, ..choice },
            loaded_partitions: HashMap::new(),
            topology,
            config: Arc::new(Config {
                verifies_blocks,
                checkpoint: checkpoint_state
                    .as_ref()
                    .is_some_and(|checkpoint_state| checkpoint_state.durable),
                read_ahead,
                ..config
            }),
            path,
            checkpoint_state,
            hosts: Vec::new(),
        }
    }

    /// Converts the end of a rank into the result of its process.
    fn rank_result(&self, end: Result<RankEnd, Error>) -> Result<(), Error> {
        let place = |rank| (self.topology.ranks > 1).then(|| self.rank_place(rank));
        rank_result(end, self.checkpoint_state.as_ref(), &place)
    }

    /// Returns the paths of the report, which must be removed if the job ends early.
    fn unpublished_files(&self) -> UnfinishedReport {
        UnfinishedReport { part: self.path.clone(), out: self.job.plan.out.clone() }
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
    /// rank.
    fn run(
        &'a self,
        rank: Rank,
        supermaster: Option<SearchSupermaster<'a>>,
        supervisor: Supervisor<'a>,
        recorder: &Recorder,
        transport: &mut impl Transport,
    ) -> Result<(RankEnd, RankStatistics), Error> {
        let register = report_register::open_for_rank(
            self.checkpoint_state.as_ref(),
            self.topology.ranks,
            rank,
        )?;
        let roles = self.create_roles(rank, supermaster, register.as_ref(), recorder)?;
        let shared = roles.worker.as_ref().map(|(_, _, shared, _)| Arc::clone(shared));
        let (topology, config) = (&self.topology, &self.config);
        let failed = |end| {
            self.job.halt.set();
            if let Err(error) = self.rank_result(end) {
                supervisor::exit_after_failure(
                    error,
                    self.unpublished_files(),
                    Arc::clone(&self.job.audience),
                );
            }
        };
        let end = driver::run(rank, topology, config, roles, supervisor, transport, failed)?;
        if matches!(end, RankEnd::Exited(JobEnd::Completed)) {
            // The report is published only after all ranks have come to this point.
            check_mapped_files().map_err(|error| self.with_rank_place(rank, error.into()))?;
            // The report gets its name and the checkpoint is removed only after this. Until then,
            // other hosts may not see the bytes that this rank wrote.
            let has_checkpoint = self.checkpoint_state.is_some();
            shared.map_or(Ok(()), |shared| shared.finish(has_checkpoint))?;
            if has_checkpoint {
                register.map_or(Ok(()), |register| lock(&register).finish())?;
            }
        }
        Ok((end, RankStatistics::close(self.job.plan, recorder)?))
    }

    /// Creates the roles of a rank and their executors.
    fn create_roles(
        &'a self,
        rank: Rank,
        supermaster: Option<SearchSupermaster<'a>>,
        register: Option<&SharedRegister>,
        recorder: &Recorder,
    ) -> Result<HostedRoles<'a>, Error> {
        let _span = recorder.begin(Lane::Search, Kind::Load);
        let master = self.topology.groups.iter().position(|group| group.master == rank);
        let worker = self.topology.worker_on(rank).map(|worker| self.create_worker(rank, worker));
        let mut supermaster = supermaster;
        let earlier = match (&mut supermaster, &self.checkpoint_state) {
            (Some(executor), Some(checkpoint_state)) => {
                let verified = self.job.plan.has_dependent_blocks();
                if verified && checkpoint_state.durable {
                    executor.set_verification_records(VerificationRecords::new(
                        checkpoint_state,
                        self.topology.ranks,
                    )?);
                }
                if let Some(register) = register {
                    executor.set_register(register);
                }
                checkpoint_state.finished_blocks(verified)
            }
            _ => BTreeMap::new(),
        };
        Ok(HostedRoles {
            supermaster: supermaster
                .map(|executor| Box::new(executor) as Box<dyn SupermasterExecutor>),
            earlier,
            master: master
                .map(|id| {
                    let id = GroupId(id as u32);
                    Ok::<_, Error>((
                        id,
                        self.create_master(id, register.cloned(), recorder.clone())?,
                    ))
                })
                .transpose()?,
            worker: worker.transpose()?,
            recorder: recorder.clone(),
            audience: Arc::clone(&self.job.audience),
        })
    }

    fn create_master(
        &'a self,
        id: GroupId,
        register: Option<SharedRegister>,
        recorder: Recorder,
    ) -> Result<Box<dyn MasterExecutor + 'a>, Error> {
        Ok(match self.job.iteration_rules() {
            Some(rules) => Box::new(IteratedMaster::new(&self.job, rules, register, recorder)?),
            None => {
                let groups = &self.topology.groups;
                let threads = groups[id.index()].workers.len() * self.job.plan.threads.count;
                let capacity = SearchCapacity { threads, groups: groups.len() };
                Box::new(SearchMaster::new(&self.job, register, capacity, recorder)?)
            }
        })
    }

    fn create_worker(&'a self, rank: Rank, id: WorkerId) -> Result<HostedWorker<'a>, Error> {
        let (plan, subjects) = (self.job.plan, self.job.subjects);
        let partitions = self.topology.partitions_of(id);
        // The worker searches one partition at a time, but each partition has buffers of its own.
        let streamed =
            self.choice.streaming_bytes.filter(|_| self.choice.method != LoadMethod::Map);
        let streamed = streamed.map(|memory| memory / partitions.len() as u64);
        let mut scans = HashMap::new();
        for &partition in partitions {
            let (oids, n) = (self.job.oids(partition), plan.threads.count * RANGES_PER_THREAD);
            let ranges = || subjects.searched.partitions_within(oids.clone(), n);
            let supply = match (self.loaded_partitions.get(&partition), streamed) {
                (Some(held), _) => held.clone().supply(ranges())?,
                (None, None) => self.choice.supply_ranges(&subjects.searched, ranges())?,
                (None, Some(memory)) => {
                    self.choice.supply_streamed(&subjects.searched, oids, n, memory)?
                }
            };
            let scan = DatabaseScan::new(subjects, supply, streamed.is_none());
            scans.insert(partition, scan.with_halt(self.job.halt.clone()));
        }
        let directory = self.path.parent().unwrap_or(Path::new("."));
        let records = match &self.checkpoint_state {
            Some(checkpoint_state) => {
                Some(RankRecords::new(checkpoint_state, rank, self.config.write_buffer)?)
            }
            None => None,
        };
        let output = SharedOutput::new(&self.path);
        let shared = Arc::new(WorkerShared::new(PieceStore::new(directory), records, output));
        let executor = SearchWorker::new(&self.job, scans, Arc::clone(&shared));
        Ok((id, Box::new(executor), shared, pool(plan.threads.count)?))
    }
}
