//! Runs a job whose ranks are processes. The processes are compared, plan the job together, run it,
//! and end it together.

mod broadcast;
mod comparison;

use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use fleetblast_db::load::{LoadMethod, MemoryLoader};
use fleetblast_db::{UnprintableHeader, check_mapped_files};
use fleetblast_fleet::ids::{PartitionId, Rank};
use fleetblast_fleet::plan::Layout;
use fleetblast_mpi::{Comm, Launch, Messenger, World};
use fleetblast_spool::{Checkpoint, Run, Scan};

use self::broadcast::BroadcastContext;
use self::comparison::RankComparison;
use super::account::{self, RankStatistics};
use super::checkpoint::{self, CheckpointOptions, CheckpointState};
use super::ending::finish_checkpoint;
use super::job::RankJob;
use super::layout::{self, RankResources};
use super::metadata_stream::MetadataStream;
use super::supervisor::Supervisor;
use super::transport::group_file::GroupFile;
use super::transport::mpi::MpiTransport;
use super::{DatabaseCut, JobContext, JobIo, count_occurrences, limits};
use crate::allowed_cpus;
use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::interrupt::DrainSignals;
use crate::io_channel::{IoChannel, SiteConnection};
use crate::plan::Plan;
use crate::processes::{
    JobProcesses, Role, exchange_roles, gather_hosts, mpi_failure, require_broadcast,
};
use crate::subjects::SubjectDatabase;
use crate::trace::{Kind, Lane, Recorder};

/// Runs a job on the processes that were started together.
///
/// # Errors
/// An error that ends the job before it begins. A later error ends all processes.
pub fn on_processes(
    plan: Plan,
    _: Launch,
    drain: Option<DrainSignals>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let start = Instant::now();
    let world = World::init().map_err(mpi_failure)?;
    let role = Role::Search(plan.io_ranks());
    exchange_roles(&world, &role, "", &|text| audience.print_message(text))?;
    let io_channel = (plan.io_ranks() > 0).then(IoChannel::new);
    let (world, site_connection) = match &io_channel {
        Some(io_channel) => {
            let (world, site_connection) =
                SiteConnection::for_search(world, plan.io_ranks(), io_channel, audience)?;
            (world, Some(site_connection))
        }
        None => (world, None),
    };
    let processes = &JobProcesses { world, audience: Arc::clone(audience) };
    let has_other_site = site_connection.is_some();
    let ended = search(plan, processes, drain, (io_channel, site_connection), start);
    match ended {
        // Otherwise the I/O site would wait for ever.
        Err(error) if has_other_site => processes.abort(&error),
        ended => ended,
    }
}

/// Runs the job on all processes of the search site.
fn search(
    plan: Plan,
    processes: &JobProcesses,
    drain: Option<DrainSignals>,
    (io_channel, mut site_connection): (Option<IoChannel>, Option<SiteConnection>),
    start: Instant,
) -> Result<(), Error> {
    let audience = &processes.audience;
    let world = &processes.world;
    let hosts = gather_hosts(world)?;
    let ranks = RankComparison { processes, hosts: &hosts };
    ranks.agree_on_plan(&plan)?;
    processes.require_all(limits::check_supported(&plan))?;
    let host = world.comm().split_by_host().map_err(mpi_failure)?;
    let threads = plan.threads.beside_processes(count_ranks_sharing_cpus(&host)?);
    let plan = &plan.with_threads(threads);
    let subjects = processes.require_all(SubjectDatabase::open(plan, &**audience))?;
    ranks.agree_on_database(plan, &subjects)?;
    let layout = agree_on_layout(processes, &host, plan, &subjects)?;
    if plan.fleet.dry_run {
        let is_first = world.rank() == 0;
        if let (true, Some(io_channel)) = (is_first, &io_channel) {
            io_channel.search_endpoint()?.send_nothing()?;
        }
        let printed =
            if is_first { layout::print_layout(&layout, plan, &subjects) } else { Ok(()) };
        processes.require_all(printed)?;
        return site_connection.map_or(Ok(()), SiteConnection::close);
    }
    let choice = processes.require_all(layout::choose_loader(plan, &subjects, &layout))?;
    let cut = DatabaseCut::new(&subjects, &layout);
    let fingerprint = ranks.agree_on_fingerprint(plan, &subjects, &cut)?;
    processes.require_all(check_mapped_files().map_err(Error::from))?;
    let is_first = world.rank() == 0;
    let early_end = drain.as_ref().map(DrainSignals::early_end);
    let early_end = early_end.as_deref();
    let open = || {
        JobIo::open(
            plan,
            &subjects,
            &fingerprint,
            &layout,
            io_channel.as_ref(),
            (early_end, audience),
        )
    };
    let job_io = match &mut site_connection {
        _ if !is_first => Ok(None),
        // If there are no queries, the I/O ranks also finish during this call.
        Some(site_connection) => site_connection.poll_during(open),
        None => open(),
    };
    let (job_io, checkpoint) = processes.require_all(job_io)?.unzip();
    let checkpoint = checkpoint.flatten();
    let path = job_io.as_ref().map(|job_io| path_to_bytes(job_io.output.path()));
    // There are no queries, or an earlier run has completed the job.
    let Some(path) = processes.broadcast_from_first(path)?.map(path_from_bytes) else {
        return site_connection.map_or(Ok(()), SiteConnection::close);
    };
    let checkpoint_state = share_checkpoint(processes, &plan.into(), checkpoint.as_ref())?;
    let stream = job_io.as_ref().and_then(|job_io| job_io.output.stream.as_ref());
    let stream = stream.map(MetadataStream::observer);
    let observer = stream.clone();
    let supervisor = Supervisor { checkpoint: checkpoint.as_ref(), signals: drain, stream };
    let DatabaseCut { partitions, topology } = cut;
    let occurrences = count_all_occurrences(processes, plan, &subjects)?;
    let mut job = RankJob::new(plan, &subjects, audience, partitions, occurrences);
    job.stream = observer;
    let mut job_context = JobContext::new(job, topology, &layout, choice, path, checkpoint_state);
    job_context.hosts = hosts.clone();
    let recorder = processes.require_all(account::recorder(plan, world.rank() as u32))?;
    let broadcast_context =
        BroadcastContext { processes, hosts: &job_context.hosts, checkpoint: checkpoint.as_ref() };
    match load_by_broadcast(broadcast_context, &job_context, &recorder) {
        Ok(held) => {
            job_context.loaded_partitions = held;
            // Files that one rank read for all may have changed meanwhile.
            processes.require_all(check_mapped_files().map_err(Error::from))?;
        }
        // All ranks have this error, and one has reported it.
        Err(error) if error.is_silent() => return Err(error),
        Err(error) => {
            drop(job_io);
            processes.abort(&error)
        }
    }
    let output =
        processes.require_all(GroupFile::open(world, &job_context).map_err(mpi_failure))?;
    let messenger = Messenger::new(world.comm()).map_err(mpi_failure)?;
    let mut mpi = MpiTransport::new(messenger, output, site_connection);
    let executor = job_io.map(|job_io| job_io.into_executor(&job_context.job)).transpose();
    let (executor, outputs) = processes.require_all(executor)?.unzip();
    let end = job_context.run(Rank(world.rank() as u32), executor, supervisor, &recorder, &mut mpi);
    let mut own = None;
    let ended = end.and_then(|(end, statistics)| {
        own = Some(statistics);
        job_context.rank_result(Ok(end))
    });
    let drained = matches!(&ended, Err(error) if error.exit_code == exit::DRAINED);
    let closed = match &ended {
        Ok(()) => mpi.close_and_publish_output(
            world,
            outputs.as_ref(),
            job_context.checkpoint_state.is_some(),
            checkpoint.as_ref(),
        ),
        Err(_) if drained => mpi.flush(),
        Err(error) => Err(error.clone()),
    };
    // Launchers end all ranks if one rank ends with an error. So no rank ends before all ranks have
    // come to this point.
    let all_closed = closed.and_then(|()| {
        warn_of_odd_headers(processes, &subjects)?;
        write_account(world, &job_context, own, start)?;
        mpi.close()
    });
    if let Err(error) = all_closed {
        drop(outputs);
        processes.abort(&error)
    }
    if !drained {
        finish_checkpoint(checkpoint, plan.records_directory().is_some(), &**audience);
    }
    ended
}

/// Loads the partitions of this rank together with all ranks, if the method is broadcast.
///
/// # Errors
/// See [`broadcast::load`].
fn load_by_broadcast(
    broadcast_context: BroadcastContext,
    job_context: &JobContext,
    recorder: &Recorder,
) -> Result<HashMap<PartitionId, MemoryLoader>, Error> {
    if job_context.choice.method != LoadMethod::Broadcast {
        return Ok(HashMap::new());
    }
    let _span = recorder.begin(Lane::Search, Kind::Load);
    broadcast::load(broadcast_context, job_context)
}

/// Sends the statistics of all ranks to the first rank, which writes the times and the trace. All
/// ranks must have finished their parts of the trace before. Collective over all ranks.
fn write_account(
    world: &World,
    job_context: &JobContext,
    own: Option<RankStatistics>,
    start: Instant,
) -> Result<(), Error> {
    let plan = job_context.job.plan;
    if plan.timing.is_none() && plan.fleet.trace.is_none() {
        return Ok(());
    }
    let own = own.ok_or_else(|| Error::engine("a rank that has ended has no statistics"))?;
    let own = postcard::to_allocvec(&own).map_err(Error::engine)?;
    let all = world.comm().gather_all(&own).map_err(mpi_failure)?;
    if world.rank() > 0 {
        return Ok(());
    }
    let statistics: Result<Vec<RankStatistics>, _> =
        all.iter().map(|bytes| postcard::from_bytes(bytes)).collect();
    account::render(job_context, &statistics.map_err(Error::engine)?, start, false)
}

/// Sends the unprintable definition lines that ranks found to the first rank, which warns of one
/// for each volume. Collective over all ranks.
fn warn_of_odd_headers(processes: &JobProcesses, subjects: &SubjectDatabase) -> Result<(), Error> {
    let own = postcard::to_allocvec(&subjects.odd_headers()).map_err(Error::engine)?;
    let all = processes.world.comm().gather_all(&own).map_err(mpi_failure)?;
    let all: Result<Vec<Vec<UnprintableHeader>>, _> =
        all.iter().map(|bytes| postcard::from_bytes(bytes)).collect();
    let mut odd = all.map_err(Error::engine)?.concat();
    odd.sort();
    odd.dedup_by(|later, first| later.file == first.file);
    odd.iter().for_each(|odd| processes.audience.warn(&odd.to_string()));
    Ok(())
}

/// Counts the occurrences of the plan's pattern in the whole database. Each rank counts in an equal
/// part of it. Collective over all ranks.
fn count_all_occurrences(
    processes: &JobProcesses,
    plan: &Plan,
    subjects: &SubjectDatabase,
) -> Result<u64, Error> {
    if plan.params.pattern().is_none() {
        return Ok(0);
    }
    let JobProcesses { world, .. } = processes;
    let own = subjects.searched.partitions(world.size()).into_iter().nth(world.rank());
    let own = own.map_or(Ok(0), |oids| count_occurrences(plan, subjects, oids));
    let own = processes.require_all(own)?.to_ne_bytes();
    let all = world.comm().gather_all(&own).map_err(mpi_failure)?;
    let count = |bytes: &Vec<u8>| bytes.as_slice().try_into().map(u64::from_ne_bytes);
    let counts: Result<Vec<u64>, _> = all.iter().map(count).collect();
    counts.map(|counts| counts.into_iter().sum()).map_err(Error::engine)
}

/// Counts the ranks of a host that may run on the same CPUs as this rank, including this rank.
fn count_ranks_sharing_cpus(host: &Comm) -> Result<usize, Error> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let own = allowed_cpus(&status).unwrap_or_default();
    let all = host.gather_all(own.as_bytes()).map_err(mpi_failure)?;
    Ok(all.iter().filter(|other| *other == own.as_bytes()).count())
}

/// Plans the layout on the first rank and sends it to all ranks. The plan fits the host with the
/// least memory. Collective over all ranks.
fn agree_on_layout(
    processes: &JobProcesses,
    host: &Comm,
    plan: &Plan,
    subjects: &SubjectDatabase,
) -> Result<Layout, Error> {
    let world = &processes.world;
    let is_first_on_host = host.rank() == 0;
    let remote = layout::is_remote(&subjects.searched);
    let own =
        (host.size() as u32, is_first_on_host, layout::memory_per_rank(host.size() as u32), remote);
    let own = postcard::to_allocvec(&own).map_err(Error::engine)?;
    let rank_count = world.size() as u32;
    let mut ranks = RankResources {
        rank_count,
        per_host: 1,
        hosts: 0,
        memory: None,
        reads_over_network: false,
    };
    for bytes in world.comm().gather_all(&own).map_err(mpi_failure)? {
        let (per_host, is_first_on_host, memory, remote): (u32, bool, Option<u64>, bool) =
            postcard::from_bytes(&bytes).map_err(Error::engine)?;
        ranks.per_host = ranks.per_host.max(per_host);
        ranks.hosts += u32::from(is_first_on_host);
        ranks.memory = ranks.memory.into_iter().chain(memory).min();
        ranks.reads_over_network |= remote;
    }
    // All ranks have the same figures, but perhaps not all can read the query file.
    let layout = match world.rank() {
        0 => layout::plan_layout(plan, subjects, ranks).map(Some),
        _ => Ok(None),
    };
    let layout = processes.require_all(layout)?.map(|layout| postcard::to_allocvec(&layout));
    let layout = layout.transpose().map_err(Error::engine)?;
    let layout = require_broadcast(processes.broadcast_from_first(layout)?)?;
    postcard::from_bytes(&layout).map_err(Error::engine)
}

/// Sends the state of the checkpoint to all ranks; `None` if the job has none. Each rank scans some
/// of the files. Collective over all ranks.
pub fn share_checkpoint(
    processes: &JobProcesses,
    checkpoint_options: &CheckpointOptions,
    checkpoint: Option<&Checkpoint>,
) -> Result<Option<CheckpointState>, Error> {
    let world = &processes.world;
    let run = checkpoint.map(|checkpoint| {
        let files = checkpoint::list_files(checkpoint.run())?;
        let Run { root, number, job, codec } = checkpoint.run();
        postcard::to_allocvec(&(path_to_bytes(root), number, job, codec, files))
            .map_err(Error::engine)
    });
    let Some(run) = processes.broadcast_from_first(processes.require_all(run.transpose())?)? else {
        return Ok(None);
    };
    let (root, number, job, codec, files) = postcard::from_bytes(&run).map_err(Error::engine)?;
    let run = Run { root: path_from_bytes(root), number, job, codec };
    let scans = checkpoint::scan_files(&run, files, world.rank(), world.size());
    let scans = postcard::to_allocvec(&processes.require_all(scans)?).map_err(Error::engine)?;
    let mut all: Vec<Scan> = Vec::new();
    for scans in world.comm().gather_all(&scans).map_err(mpi_failure)? {
        all.extend(postcard::from_bytes::<Vec<Scan>>(&scans).map_err(Error::engine)?);
    }
    let checkpoint_state = match checkpoint {
        Some(_) => {
            CheckpointState::with_report(run, checkpoint_options, &all, &*processes.audience)
        }
        None => CheckpointState::new(run, checkpoint_options, &all),
    };
    processes.require_all(checkpoint_state).map(Some)
}

pub fn path_to_bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

pub fn path_from_bytes(bytes: Vec<u8>) -> PathBuf {
    std::ffi::OsString::from_vec(bytes).into()
}
