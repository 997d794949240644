//! The output as the ranks of a group write it by MPI-IO: `-output individual` and `collective`.
//!
//! MPI is initialized such that only the thread that did so may call it, which is the driver's. So
//! the thread beside the search puts the bytes together and hands them over; the driver's writes
//! them between messages. An individual write waits for the file system only. A collective one
//! would wait for the slowest rank of the group; so ranks first say that they have come, look after
//! their messages until all have, and only then begin, which they all do within a moment. Nothing
//! comes between the two: a group has one write under way at a time, in which every worker takes
//! part; a rank without its bytes does not come, but fails, which ends the job; and a job ends in
//! order only when no write is under way.

use std::process;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use fleetblast_fleet::config::Strategy;
use fleetblast_fleet::end::Failure;
use fleetblast_fleet::ids::Rank;
use fleetblast_fleet::work::WorkerOutcome;
use fleetblast_mpi::{Access, Arrival, Comm, MpiError, ParallelFile, World};

use super::{Assembled, Happening};
use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::output::Unpublished;
use crate::ranks::Common;

/// The output as this rank's group has it open.
pub struct GroupFile {
    comm: Comm,
    file: ParallelFile,
    report: Unpublished,
    audience: Arc<dyn Audience>,
    together: bool,
    /// With the supermaster, how long a collective write may last.
    limit: Option<Duration>,
    /// Where bytes come from.
    sender: Sender<Assembled>,
    receiver: Receiver<Assembled>,
    /// A collective write for which ranks are still missing.
    waiting: Option<(Arrival, Assembled)>,
}

impl GroupFile {
    /// Opens the output of a job whose strategy wants it so, for each group (collective among all
    /// ranks); `None` on ranks without a worker.
    ///
    /// # Errors
    /// A file that cannot be opened, or not by the layer of MPI-IO that the user chose.
    pub fn open(world: &World, common: &Common) -> Result<Option<Self>, MpiError> {
        let (topology, config) = (&common.topology, &common.config);
        if matches!(config.strategy, Strategy::Merge | Strategy::Records) {
            return Ok(None);
        }
        let rank = Rank(world.rank() as u32);
        let group = topology.worker_on(rank).map(|worker| topology.worker(worker).group.0);
        let Some(comm) = world.comm().split(group, rank.0)? else { return Ok(None) };
        let file = ParallelFile::open(&comm, &common.path, Access::Write)?;
        let beat = config.heartbeat.filter(|_| rank == topology.supermaster);
        let (sender, receiver) = channel();
        Ok(Some(GroupFile {
            comm,
            file,
            report: common.unpublished(),
            audience: Arc::clone(&common.job.audience),
            together: config.strategy == Strategy::Collective,
            limit: beat.map(|beat| Duration::from_nanos(beat.limit.0)),
            sender,
            receiver,
            waiting: None,
        }))
    }

    /// Takes bytes to write.
    pub fn writer(&self) -> Sender<Assembled> {
        self.sender.clone()
    }

    /// Writes what can be written now; tells which work ended with it.
    ///
    /// # Errors
    /// Ranks that cannot be told that this one has come.
    pub fn poll(&mut self) -> Result<Option<Happening>, MpiError> {
        if self.waiting.is_none() {
            let Ok(assembled) = self.receiver.try_recv() else { return Ok(None) };
            if !self.together {
                let written = self.file.write_scattered(&pieces(&assembled));
                return Ok(told(assembled, written));
            }
            self.waiting = Some((self.comm.arrive()?, assembled));
        }
        let Some((arrival, _)) = &mut self.waiting else { return Ok(None) };
        if !arrival.is_complete()? {
            return Ok(None);
        }
        let Some((_, assembled)) = self.waiting.take() else { return Ok(None) };
        let guard = |limit| guard(limit, self.report.clone(), Arc::clone(&self.audience));
        let _guard = self.limit.map(guard);
        let written = self.file.write_scattered_all(&pieces(&assembled));
        Ok(told(assembled, written))
    }

    /// Closes the file when all is written (collective in the group); `durable`: after it is on
    /// disk.
    ///
    /// # Errors
    /// What was written may be lost.
    pub fn close(self, durable: bool) -> Result<(), Error> {
        if durable {
            self.file.sync().map_err(failure)?;
        }
        self.file.close().map_err(failure)
    }
}

fn pieces(assembled: &Assembled) -> Vec<(u64, &[u8])> {
    let stretches = assembled.stretches.iter();
    stretches.map(|stretch| (stretch.offset, stretch.bytes.as_slice())).collect()
}

/// What a rank hears of a write that has ended.
fn told(assembled: Assembled, written: Result<(), MpiError>) -> Option<Happening> {
    let Assembled { ticket, freed, span, .. } = assembled;
    drop(span);
    match written {
        // The rank at which it went wrong says so, and ends the job.
        Err(MpiError::Elsewhere { .. }) => None,
        Err(error) => Some(Happening::Worker(ticket, Err(failure(error)))),
        Ok(()) => Some(Happening::Worker(ticket, Ok(WorkerOutcome::Written { freed }))),
    }
}

/// An error of the file, in the words for ranks that write on their own: the rank is told beside,
/// by its number among all. Silent where it happened elsewhere.
fn failure(error: MpiError) -> Error {
    match error {
        MpiError::File { path, call, offset, text, .. } => {
            Error::output(format_args!("{} at byte {offset}: {call}: {text}", path.display()))
        }
        MpiError::NoSpace { path, wanted, free, .. } => Error::output(format_args!(
            "{}: no room for {wanted} bytes, its file system has {free} left",
            path.display()
        )),
        MpiError::Elsewhere { .. } => Error::silent(exit::OUTPUT),
        error => Error::output(error),
    }
}

/// Ends the process, and so the job, unless the sender is dropped in time. A rank that dies amid a
/// collective write leaves the others in it. Elsewhere the supermaster misses them after a while;
/// but if it is one of them, its driver cannot look.
fn guard(limit: Duration, report: Unpublished, audience: Arc<dyn Audience>) -> Sender<()> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        if receiver.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            end_late(limit, &report, &*audience);
        }
    });
    sender
}

fn end_late(limit: Duration, report: &Unpublished, audience: &dyn Audience) -> ! {
    audience.print_message(&format!(
        "{}: a collective write has lasted longer than {} s: a rank of the group of rank 0 does not come, or the file \
         system stands still",
        report.part.display(),
        limit.as_secs()
    ));
    report.give_up();
    process::exit(i32::from(Failure::SILENT_RANK_CODE))
}
