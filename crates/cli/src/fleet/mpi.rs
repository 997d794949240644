//! Ranks as processes, connected by MPI.

use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use fleetblast_db::load::{Held, Method};
use fleetblast_fleet::ids::{PartitionId, Rank};
use fleetblast_fleet::plan::Layout;
use fleetblast_mpi::{Comm, Launch, Mailbox, World};
use fleetblast_spool::{Checkpoint, Run, Scan};

use super::account::{self, Figures};
use super::checkpoint::{self, Kept};
use super::layout::{self, Ranks};
use super::output::Whole;
use super::parallel::GroupFile;
use super::share::{self, Setting};
use super::together::{failure, tell_all, together, told};
use super::transport::{Assembled, Envelope, Happening, Receipt, Transport};
use super::vigil::{self, Vigil};
use super::{Common, Cut, Ends, agree, publish, remove};
use crate::error::{CliError, exit};
use crate::messages::complain;
use crate::plan::Plan;
use crate::run::output::leave_empty;
use crate::run::subjects::Target;
use crate::trace::{Kind, Lane, Recorder};

/// Longest nap between two looks at messages. On hosts with more ranks than cores looking takes time from those that search.
const NAP: Duration = Duration::from_millis(5);
/// Longest while messages are on their way.
const MOVING_NAP: Duration = Duration::from_micros(500);
/// Shortest.
const SHORTEST_NAP: Duration = Duration::from_micros(20);
/// How long to wait at the end for messages to leave.
const FAREWELL: Duration = Duration::from_secs(10);

/// Runs a search on the ranks that were started together.
///
/// # Errors
/// Whatever ends the job before it has begun. Afterwards a failure ends all processes.
pub fn on_processes(plan: Plan, _: Launch) -> Result<(), CliError> {
    let start = Instant::now();
    let world = World::init().map_err(failure)?;
    let hosts = hosts(&world)?;
    let ranks = agree::Ranks { world: &world, hosts: &hosts };
    ranks.agree_on_plan(&plan)?;
    let host = world.comm().split_by_host().map_err(failure)?;
    let plan = &plan.sharing_cores(sharing_cores(&host)?);
    let target = together(&world, Target::open(plan))?;
    ranks.agree_on_database(plan, &target)?;
    let layout = laid_out(&world, &host, plan, &target)?;
    if plan.fleet.dry_run {
        let printed = if world.rank() == 0 { layout::print(&layout) } else { Ok(()) };
        return together(&world, printed);
    }
    let choice = together(&world, layout::loading(plan, &target, &layout))?;
    let cut = Cut::new(&target, &layout);
    let contents = ranks.agree_on_contents(plan, &target, &cut)?;
    let is_first = world.rank() == 0;
    let ends = if is_first { Ends::open(plan, &target, &contents, &layout) } else { Ok(None) };
    let (ends, checkpoint) = together(&world, ends)?.unzip();
    let checkpoint = checkpoint.flatten();
    let path = ends.as_ref().map(|ends| path_bytes(ends.output.path()));
    // Nothing to do.
    let Some(path) = tell_all(&world, path)?.map(path_of) else { return Ok(()) };
    let kept = kept(&world, plan, checkpoint.as_ref())?;
    let signals = kept.as_ref().map(|_| vigil::signals()).transpose();
    let vigil = Vigil { checkpoint: checkpoint.as_ref(), signals: together(&world, signals)? };
    let mut common = Common::new(plan, &target, cut, &layout, choice, path, kept);
    common.hosts = hosts.clone();
    let recorder = together(&world, account::recorder(plan, world.rank() as u32))?;
    let setting = Setting { world: &world, hosts: &common.hosts, checkpoint: checkpoint.as_ref() };
    match load_together(setting, &common, &recorder) {
        Ok(held) => common.held = held,
        // All ranks have this, and one has told it.
        Err(error) if error.message.is_empty() => return Err(error),
        Err(error) => {
            drop(ends);
            give_up(&world, plan, None, &error)
        }
    }
    let output = together(&world, GroupFile::open(&world, &common).map_err(failure))?;
    let mailbox = Mailbox::new(world.comm()).map_err(failure)?;
    let mut mpi = Mpi::new(mailbox, output);
    let (works, whole) = ends.map(|ends| ends.works(&common.job)).unzip();
    let end = common.run(Rank(world.rank() as u32), works, vigil, &recorder, &mut mpi);
    let mut own = None;
    let ended = end.and_then(|(end, figures)| {
        own = Some(figures);
        common.verdict(Ok(end))
    });
    let drained = matches!(&ended, Err(error) if error.exit_code == exit::DRAINED);
    let closed = match &ended {
        Ok(()) => mpi.complete(&world, whole.as_ref(), common.kept.is_some(), checkpoint.as_ref()),
        Err(_) if drained => mpi.flush(),
        Err(error) => Err(error.clone()),
    };
    // Launchers end the other ranks when one ends with an error: none does before all have come so far.
    let all_closed = closed.and_then(|()| {
        write_account(&world, &common, own, start)?;
        mpi.mailbox.close().map_err(failure)
    });
    if let Err(error) = all_closed {
        give_up(&world, plan, whole, &error)
    }
    if !drained {
        remove(checkpoint);
    }
    ended
}

/// Ends the job on all ranks. A report that was not published is removed.
fn give_up(world: &World, plan: &Plan, whole: Option<Receiver<Whole>>, error: &CliError) -> ! {
    drop(whole);
    leave_empty(&plan.out);
    // Empty where something went wrong elsewhere, which is told there.
    if !error.message.is_empty() {
        complain(&error.message);
    }
    world.abort(i32::from(error.exit_code))
}

/// Loads the partitions that this rank holds together with all others, if the database is loaded so.
///
/// # Errors
/// As [`share::load`].
fn load_together(
    setting: Setting,
    common: &Common,
    recorder: &Recorder,
) -> Result<HashMap<PartitionId, Held>, CliError> {
    if common.choice.method != Method::Broadcast {
        return Ok(HashMap::new());
    }
    let _span = recorder.begin(Lane::Search, Kind::Load);
    share::load(setting, common)
}

/// Has the first rank write what was asked for of the figures of all; these have finished their parts of the trace.
fn write_account(
    world: &World,
    common: &Common,
    own: Option<Figures>,
    start: Instant,
) -> Result<(), CliError> {
    let plan = common.job.plan;
    if plan.timing.is_none() && plan.fleet.trace.is_none() {
        return Ok(());
    }
    let own =
        own.ok_or_else(|| CliError::engine("a rank that is through has no account of itself"))?;
    let own = postcard::to_allocvec(&own).map_err(CliError::engine)?;
    let all = world.comm().gather_all(&own).map_err(failure)?;
    if world.rank() > 0 {
        return Ok(());
    }
    let figures: Result<Vec<Figures>, _> =
        all.iter().map(|bytes| postcard::from_bytes(bytes)).collect();
    account::render(common, &figures.map_err(CliError::engine)?, start, false)
}

/// The host of each rank.
fn hosts(world: &World) -> Result<Vec<String>, CliError> {
    let names = world.comm().gather_all(world.host().as_bytes()).map_err(failure)?;
    Ok(names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

/// How many ranks of a host run on the same cores as this one.
fn sharing_cores(host: &Comm) -> Result<usize, CliError> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let own = status.lines().find(|line| line.starts_with("Cpus_allowed:")).unwrap_or_default();
    let all = host.gather_all(own.as_bytes()).map_err(failure)?;
    Ok(all.iter().filter(|other| *other == own.as_bytes()).count())
}

/// The layout of the job, by the host that has least memory, the same for all.
fn laid_out(world: &World, host: &Comm, plan: &Plan, target: &Target) -> Result<Layout, CliError> {
    let in_front = host.rank() == 0;
    let remote = layout::is_remote(&target.searched);
    let own = (host.size() as u32, in_front, layout::memory_per_rank(host.size() as u32), remote);
    let own = postcard::to_allocvec(&own).map_err(CliError::engine)?;
    let all = world.size() as u32;
    let mut ranks = Ranks { all, per_host: 1, hosts: 0, memory: None, remote: false };
    for bytes in world.comm().gather_all(&own).map_err(failure)? {
        let (per_host, in_front, memory, remote): (u32, bool, Option<u64>, bool) =
            postcard::from_bytes(&bytes).map_err(CliError::engine)?;
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
    let layout = together(world, layout)?.map(|layout| postcard::to_allocvec(&layout));
    let layout = layout.transpose().map_err(CliError::engine)?;
    let layout = told(tell_all(world, layout)?)?;
    postcard::from_bytes(&layout).map_err(CliError::engine)
}

/// The checkpoint, if there is one, for all ranks; each of them scans some of its files.
fn kept(
    world: &World,
    plan: &Plan,
    checkpoint: Option<&Checkpoint>,
) -> Result<Option<Kept>, CliError> {
    let run = checkpoint.map(|checkpoint| {
        let files = checkpoint::files(checkpoint.run())?;
        let Run { root, number, job } = checkpoint.run();
        postcard::to_allocvec(&(path_bytes(root), number, job, files)).map_err(CliError::engine)
    });
    let Some(run) = tell_all(world, together(world, run.transpose())?)? else { return Ok(None) };
    let (root, number, job, files) = postcard::from_bytes(&run).map_err(CliError::engine)?;
    let run = Run { root: path_of(root), number, job };
    let scans = checkpoint::scan(&run, files, world.rank(), world.size());
    let scans = postcard::to_allocvec(&together(world, scans)?).map_err(CliError::engine)?;
    let mut all: Vec<Scan> = Vec::new();
    for scans in world.comm().gather_all(&scans).map_err(failure)? {
        all.extend(postcard::from_bytes::<Vec<Scan>>(&scans).map_err(CliError::engine)?);
    }
    let kept = match checkpoint {
        Some(_) => Kept::told(run, plan, &all),
        None => Kept::new(run, &all),
    };
    together(world, kept).map(Some)
}

fn path_bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

fn path_of(bytes: Vec<u8>) -> PathBuf {
    std::ffi::OsString::from_vec(bytes).into()
}

/// The messages of this process, and the output where ranks write that by MPI.
struct Mpi {
    mailbox: Mailbox,
    /// Receipts of messages that have not left, by their numbers, which count up.
    receipts: HashMap<u64, Receipt>,
    next_receipt: u64,
    output: Option<GroupFile>,
    /// Where works tell that they have ended.
    works: (Sender<Happening>, Receiver<Happening>),
}

impl Mpi {
    fn new(mailbox: Mailbox, output: Option<GroupFile>) -> Self {
        Mpi { mailbox, receipts: HashMap::new(), next_receipt: 0, output, works: channel() }
    }

    /// Waits for messages to leave.
    fn flush(&mut self) -> Result<(), CliError> {
        self.mailbox.flush(FAREWELL).map(drop).map_err(failure)
    }

    /// Ends a job whose output is written: has it published, on the rank that has it whole, when all ranks have closed it.
    /// `durable`: it is to be on disk then.
    fn complete(
        &mut self,
        world: &World,
        whole: Option<&Receiver<Whole>>,
        durable: bool,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<(), CliError> {
        self.flush()?;
        let closed = self.output.take().map_or(Ok(()), |output| output.close(durable));
        closed.map_err(|mut error| {
            if !error.message.is_empty() {
                error.message += &format!(" (rank {} on host {})", world.rank(), world.host());
            }
            error
        })?;
        world.comm().barrier().map_err(failure)?;
        whole.map_or(Ok(()), |whole| publish(whole, checkpoint))
    }
}

impl Transport for Mpi {
    fn works(&self) -> Sender<Happening> {
        self.works.0.clone()
    }

    fn writer(&self) -> Option<Sender<Assembled>> {
        self.output.as_ref().map(GroupFile::writer)
    }

    fn send(
        &mut self,
        to: Rank,
        envelope: Envelope,
        receipt: Option<Receipt>,
    ) -> Result<(), CliError> {
        let (to, bytes) = (to.index(), postcard::to_allocvec(&envelope).map_err(CliError::engine)?);
        let Some(receipt) = receipt else {
            return self.mailbox.send(to, 0, bytes).map_err(failure);
        };
        self.next_receipt += 1;
        self.receipts.insert(self.next_receipt, receipt);
        self.mailbox.send_with_receipt(to, 0, bytes, self.next_receipt).map_err(failure)
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<Happening>, CliError> {
        let start = Instant::now();
        let mut nap = SHORTEST_NAP;
        loop {
            if let Ok(happening) = self.works.1.try_recv() {
                return Ok(Some(happening));
            }
            let left = self.mailbox.left().and_then(|number| self.receipts.remove(&number));
            if let Some(receipt) = left {
                return Ok(Some(Happening::Sent(receipt)));
            }
            let written = self.output.as_mut().map_or(Ok(None), GroupFile::poll);
            if let Some(happening) = written.map_err(failure)? {
                return Ok(Some(happening));
            }
            if let Some(message) = self.mailbox.poll().map_err(failure)? {
                let envelope = postcard::from_bytes(&message.bytes).map_err(CliError::engine)?;
                return Ok(Some(Happening::Message(envelope, None)));
            }
            let rest = timeout.saturating_sub(start.elapsed());
            if rest.is_zero() {
                return Ok(None);
            }
            // The end of a work wakes this thread; for a message it has to look.
            if let Ok(happening) = self.works.1.recv_timeout(nap.min(rest)) {
                return Ok(Some(happening));
            }
            nap = (2 * nap).min(if self.mailbox.is_moving() { MOVING_NAP } else { NAP });
        }
    }
}
