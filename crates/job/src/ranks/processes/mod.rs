//! Ranks as processes: what they compare and agree on before the search, and how their job begins
//! and ends.

mod agree;
mod broadcast;

use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use fleetblast_db::load::{Held, Method};
use fleetblast_db::{OddHeader, check_mapped_files};
use fleetblast_fleet::ids::{PartitionId, Rank};
use fleetblast_fleet::plan::Layout;
use fleetblast_mpi::{Comm, Launch, Mailbox, World};
use fleetblast_spool::{Checkpoint, Run, Scan};

use self::agree::Comparison;
use self::broadcast::Setting;
use super::account::{self, Figures};
use super::checkpoint::{self, Keeping, Kept};
use super::ending::remove;
use super::job::Job;
use super::layout::{self, Ranks};
use super::sending::Sending;
use super::transport::group_file::GroupFile;
use super::transport::mpi::Mpi;
use super::vigil::Vigil;
use super::{Common, Cut, Ends, counted, refused};
use crate::allowed_cpus;
use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::interrupt::DrainSignals;
use crate::io_channel::{IoChannel, SiteConnection};
use crate::plan::Plan;
use crate::processes::{Processes, Role, agree, gather_hosts, mpi_failure, require_broadcast};
use crate::subjects::SubjectDatabase;
use crate::trace::{Kind, Lane, Recorder};

/// Runs a search on the ranks that were started together.
///
/// # Errors
/// Whatever ends the job before it has begun. Afterwards a failure ends all processes.
pub fn on_processes(
    plan: Plan,
    _: Launch,
    drain: Option<DrainSignals>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let start = Instant::now();
    let world = World::init().map_err(mpi_failure)?;
    let role = Role::Search(plan.io_ranks());
    agree(&world, &role, "", &|text| audience.print_message(text))?;
    let io_channel = (plan.io_ranks() > 0).then(IoChannel::new);
    let (world, site_connection) = match &io_channel {
        Some(io_channel) => {
            let (world, site_connection) =
                SiteConnection::for_search(world, plan.io_ranks(), io_channel, audience)?;
            (world, Some(site_connection))
        }
        None => (world, None),
    };
    let processes = &Processes { world, audience: Arc::clone(audience) };
    let has_other_site = site_connection.is_some();
    let ended = search(plan, processes, drain, (io_channel, site_connection), start);
    match ended {
        // The other site would wait for ever.
        Err(error) if has_other_site => processes.abort(&error),
        ended => ended,
    }
}

/// Searches on all of the processes.
fn search(
    plan: Plan,
    processes: &Processes,
    drain: Option<DrainSignals>,
    (io_channel, mut site_connection): (Option<IoChannel>, Option<SiteConnection>),
    start: Instant,
) -> Result<(), Error> {
    let audience = &processes.audience;
    let world = &processes.world;
    let hosts = gather_hosts(world)?;
    let ranks = Comparison { processes, hosts: &hosts };
    ranks.agree_on_plan(&plan)?;
    processes.require_all(refused::refuse(&plan))?;
    let host = world.comm().split_by_host().map_err(mpi_failure)?;
    let threads = plan.threads.beside_processes(sharing_cpus(&host)?);
    let plan = &plan.with_threads(threads);
    let target = processes.require_all(SubjectDatabase::open(plan, &**audience))?;
    ranks.agree_on_database(plan, &target)?;
    let layout = laid_out(processes, &host, plan, &target)?;
    if plan.fleet.dry_run {
        let is_first = world.rank() == 0;
        if let (true, Some(io_channel)) = (is_first, &io_channel) {
            io_channel.search_endpoint()?.send_nothing()?;
        }
        let printed = if is_first { layout::print(&layout, plan, &target) } else { Ok(()) };
        processes.require_all(printed)?;
        return site_connection.map_or(Ok(()), SiteConnection::close);
    }
    let choice = processes.require_all(layout::loading(plan, &target, &layout))?;
    let cut = Cut::new(&target, &layout);
    let contents = ranks.agree_on_contents(plan, &target, &cut)?;
    processes.require_all(check_mapped_files().map_err(Error::from))?;
    let is_first = world.rank() == 0;
    let early = drain.as_ref().map(DrainSignals::early_end);
    let early = early.as_deref();
    let open =
        || Ends::open(plan, &target, &contents, &layout, io_channel.as_ref(), (early, audience));
    let ends = match &mut site_connection {
        _ if !is_first => Ok(None),
        // What has no queries is through then.
        Some(site_connection) => site_connection.poll_during(open),
        None => open(),
    };
    let (ends, checkpoint) = processes.require_all(ends)?.unzip();
    let checkpoint = checkpoint.flatten();
    let path = ends.as_ref().map(|ends| path_bytes(ends.output.path()));
    // Nothing to do.
    let Some(path) = processes.broadcast_from_first(path)?.map(path_of) else {
        return site_connection.map_or(Ok(()), SiteConnection::close);
    };
    let kept = kept(processes, &plan.into(), checkpoint.as_ref())?;
    let sending = ends.as_ref().and_then(|ends| ends.output.sending.as_ref());
    let sending = sending.map(Sending::watcher);
    let watched = sending.clone();
    let vigil = Vigil { checkpoint: checkpoint.as_ref(), signals: drain, sending };
    let Cut { partitions, topology } = cut;
    let occurrences = occurrences(processes, plan, &target)?;
    let mut job = Job::new(plan, &target, audience, partitions, occurrences);
    job.sending = watched;
    let mut common = Common::new(job, topology, &layout, choice, path, kept);
    common.hosts = hosts.clone();
    let recorder = processes.require_all(account::recorder(plan, world.rank() as u32))?;
    let setting = Setting { processes, hosts: &common.hosts, checkpoint: checkpoint.as_ref() };
    match load_together(setting, &common, &recorder) {
        Ok(held) => {
            common.held = held;
            // What one rank read for all may have changed meanwhile.
            processes.require_all(check_mapped_files().map_err(Error::from))?;
        }
        // All ranks have this, and one has told it.
        Err(error) if error.is_silent() => return Err(error),
        Err(error) => {
            drop(ends);
            processes.abort(&error)
        }
    }
    let output = processes.require_all(GroupFile::open(world, &common).map_err(mpi_failure))?;
    let mailbox = Mailbox::new(world.comm()).map_err(mpi_failure)?;
    let mut mpi = Mpi::new(mailbox, output, site_connection);
    let works = ends.map(|ends| ends.works(&common.job)).transpose();
    let (works, whole) = processes.require_all(works)?.unzip();
    let end = common.run(Rank(world.rank() as u32), works, vigil, &recorder, &mut mpi);
    let mut own = None;
    let ended = end.and_then(|(end, figures)| {
        own = Some(figures);
        common.verdict(Ok(end))
    });
    let drained = matches!(&ended, Err(error) if error.exit_code == exit::DRAINED);
    let closed = match &ended {
        Ok(()) => mpi.complete(world, whole.as_ref(), common.kept.is_some(), checkpoint.as_ref()),
        Err(_) if drained => mpi.flush(),
        Err(error) => Err(error.clone()),
    };
    // Launchers end the other ranks when one ends with an error: none does before all have come so
    // far.
    let all_closed = closed.and_then(|()| {
        tell_of_odd_headers(processes, &target)?;
        write_account(world, &common, own, start)?;
        mpi.close()
    });
    if let Err(error) = all_closed {
        drop(whole);
        processes.abort(&error)
    }
    if !drained {
        remove(checkpoint, plan.records_directory().is_some(), &**audience);
    }
    ended
}

/// Loads the partitions that this rank holds together with all others, if the database is loaded
/// so.
///
/// # Errors
/// As [`broadcast::load`].
fn load_together(
    setting: Setting,
    common: &Common,
    recorder: &Recorder,
) -> Result<HashMap<PartitionId, Held>, Error> {
    if common.choice.method != Method::Broadcast {
        return Ok(HashMap::new());
    }
    let _span = recorder.begin(Lane::Search, Kind::Load);
    broadcast::load(setting, common)
}

/// Has the first rank write what was asked for of the figures of all; these have finished their
/// parts of the trace.
fn write_account(
    world: &World,
    common: &Common,
    own: Option<Figures>,
    start: Instant,
) -> Result<(), Error> {
    let plan = common.job.plan;
    if plan.timing.is_none() && plan.fleet.trace.is_none() {
        return Ok(());
    }
    let own =
        own.ok_or_else(|| Error::engine("a rank that is through has no account of itself"))?;
    let own = postcard::to_allocvec(&own).map_err(Error::engine)?;
    let all = world.comm().gather_all(&own).map_err(mpi_failure)?;
    if world.rank() > 0 {
        return Ok(());
    }
    let figures: Result<Vec<Figures>, _> =
        all.iter().map(|bytes| postcard::from_bytes(bytes)).collect();
    account::render(common, &figures.map_err(Error::engine)?, start, false)
}

/// Has the first rank tell of the odd headers that any has read, of each volume once.
fn tell_of_odd_headers(processes: &Processes, target: &SubjectDatabase) -> Result<(), Error> {
    let own = postcard::to_allocvec(&target.odd_headers()).map_err(Error::engine)?;
    let all = processes.world.comm().gather_all(&own).map_err(mpi_failure)?;
    let all: Result<Vec<Vec<OddHeader>>, _> =
        all.iter().map(|bytes| postcard::from_bytes(bytes)).collect();
    let mut odd = all.map_err(Error::engine)?.concat();
    odd.sort();
    odd.dedup_by(|later, first| later.file == first.file);
    odd.iter().for_each(|odd| processes.audience.warn(&odd.to_string()));
    Ok(())
}

/// How often the pattern of the plan occurs in the whole database, of which each rank looks at an
/// equal part.
fn occurrences(processes: &Processes, plan: &Plan, target: &SubjectDatabase) -> Result<u64, Error> {
    if plan.params.pattern().is_none() {
        return Ok(0);
    }
    let Processes { world, .. } = processes;
    let own = target.searched.partitions(world.size()).into_iter().nth(world.rank());
    let own = own.map_or(Ok(0), |oids| counted(plan, target, oids));
    let own = processes.require_all(own)?.to_ne_bytes();
    let all = world.comm().gather_all(&own).map_err(mpi_failure)?;
    let count = |bytes: &Vec<u8>| bytes.as_slice().try_into().map(u64::from_ne_bytes);
    let counts: Result<Vec<u64>, _> = all.iter().map(count).collect();
    counts.map(|counts| counts.into_iter().sum()).map_err(Error::engine)
}

/// How many ranks of a host may run on the same CPUs as this one, itself included.
fn sharing_cpus(host: &Comm) -> Result<usize, Error> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let own = allowed_cpus(&status).unwrap_or_default();
    let all = host.gather_all(own.as_bytes()).map_err(mpi_failure)?;
    Ok(all.iter().filter(|other| *other == own.as_bytes()).count())
}

/// The layout of the job, by the host that has least memory, the same for all.
fn laid_out(
    processes: &Processes,
    host: &Comm,
    plan: &Plan,
    target: &SubjectDatabase,
) -> Result<Layout, Error> {
    let world = &processes.world;
    let in_front = host.rank() == 0;
    let remote = layout::is_remote(&target.searched);
    let own = (host.size() as u32, in_front, layout::memory_per_rank(host.size() as u32), remote);
    let own = postcard::to_allocvec(&own).map_err(Error::engine)?;
    let all = world.size() as u32;
    let mut ranks = Ranks { all, per_host: 1, hosts: 0, memory: None, remote: false };
    for bytes in world.comm().gather_all(&own).map_err(mpi_failure)? {
        let (per_host, in_front, memory, remote): (u32, bool, Option<u64>, bool) =
            postcard::from_bytes(&bytes).map_err(Error::engine)?;
        ranks.per_host = ranks.per_host.max(per_host);
        ranks.hosts += u32::from(in_front);
        ranks.memory = ranks.memory.into_iter().chain(memory).min();
        ranks.remote |= remote;
    }
    // All have the same figures; but whether the query file can be looked at may differ.
    let layout = match world.rank() {
        0 => layout::lay_out(plan, target, ranks).map(Some),
        _ => Ok(None),
    };
    let layout = processes.require_all(layout)?.map(|layout| postcard::to_allocvec(&layout));
    let layout = layout.transpose().map_err(Error::engine)?;
    let layout = require_broadcast(processes.broadcast_from_first(layout)?)?;
    postcard::from_bytes(&layout).map_err(Error::engine)
}

/// The checkpoint, if there is one, for all ranks; each of them scans some of its files.
pub fn kept(
    processes: &Processes,
    keeping: &Keeping,
    checkpoint: Option<&Checkpoint>,
) -> Result<Option<Kept>, Error> {
    let world = &processes.world;
    let run = checkpoint.map(|checkpoint| {
        let files = checkpoint::files(checkpoint.run())?;
        let Run { root, number, job, codec } = checkpoint.run();
        postcard::to_allocvec(&(path_bytes(root), number, job, codec, files)).map_err(Error::engine)
    });
    let Some(run) = processes.broadcast_from_first(processes.require_all(run.transpose())?)? else {
        return Ok(None);
    };
    let (root, number, job, codec, files) = postcard::from_bytes(&run).map_err(Error::engine)?;
    let run = Run { root: path_of(root), number, job, codec };
    let scans = checkpoint::scan(&run, files, world.rank(), world.size());
    let scans = postcard::to_allocvec(&processes.require_all(scans)?).map_err(Error::engine)?;
    let mut all: Vec<Scan> = Vec::new();
    for scans in world.comm().gather_all(&scans).map_err(mpi_failure)? {
        all.extend(postcard::from_bytes::<Vec<Scan>>(&scans).map_err(Error::engine)?);
    }
    let kept = match checkpoint {
        Some(_) => Kept::told(run, keeping, &all, &*processes.audience),
        None => Kept::new(run, keeping, &all),
    };
    processes.require_all(kept).map(Some)
}

pub fn path_bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

pub fn path_of(bytes: Vec<u8>) -> PathBuf {
    std::ffi::OsString::from_vec(bytes).into()
}
