//! The output file of a group, written by MPI-IO (`-output individual` and `collective`).
//!
//! Only the thread that initialized MPI may call it: the driver's thread. So the output thread
//! assembles bytes and sends them to the driver's thread, which writes them between messages. An
//! individual write waits for the file system only. A collective write would wait for the slowest
//! rank of the group. So ranks first announce their arrival and handle messages until all have
//! arrived. Then they begin the write within a moment.
//!
//! Nothing comes between arrival and write, for three reasons. A group has one write in progress at
//! a time, in which every worker takes part. A rank without its bytes does not arrive but fails,
//! which ends the job. A job ends in order only when no write is in progress.

use std::process;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use fleetblast_fleet::config::{Config, Strategy};
use fleetblast_fleet::end::Failure;
use fleetblast_fleet::ids::Rank;
use fleetblast_fleet::topology::Topology;
use fleetblast_fleet::work::WorkerOutcome;
use fleetblast_mpi::{Access, BarrierEntry, Comm, MpiError, ParallelFile, World};

use super::{AssembledBytes, RankEvent};
use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::output::UnfinishedReport;

/// The output file, which the group of this rank has opened.
pub struct GroupFile {
    comm: Comm,
    file: ParallelFile,
    report: UnfinishedReport,
    audience: Arc<dyn Audience>,
    is_collective: bool,
    /// Longest time of a collective write; `None` on ranks without the supermaster, or without
    /// heartbeats.
    limit: Option<Duration>,
    /// Channel of the bytes to write.
    sender: Sender<AssembledBytes>,
    receiver: Receiver<AssembledBytes>,
    /// A collective write for which not all ranks have arrived.
    waiting: Option<(BarrierEntry, AssembledBytes)>,
}

impl GroupFile {
    /// Opens the output in each group. Collective over all ranks. Returns `None` if the output
    /// strategy does not use MPI-IO, and on ranks without a worker.
    ///
    /// # Errors
    /// The file cannot be opened, or not by the MPI-IO layer that the user chose.
    pub fn open(
        world: &World,
        topology: &Topology,
        config: &Config,
        report: UnfinishedReport,
        audience: Arc<dyn Audience>,
    ) -> Result<Option<Self>, MpiError> {
        if matches!(config.strategy, Strategy::Merge | Strategy::Records) {
            return Ok(None);
        }
        let rank = Rank(world.rank() as u32);
        let group = topology.worker_on(rank).map(|worker| topology.worker(worker).group.0);
        let Some(comm) = world.comm().split(group, rank.0)? else { return Ok(None) };
        let file = ParallelFile::open(&comm, &report.part, Access::Write)?;
        let beat = config.heartbeat.filter(|_| rank == topology.supermaster);
        let (sender, receiver) = channel();
        Ok(Some(GroupFile {
            comm,
            file,
            report,
            audience,
            is_collective: config.strategy == Strategy::Collective,
            limit: beat.map(|beat| Duration::from_nanos(beat.limit.0)),
            sender,
            receiver,
            waiting: None,
        }))
    }

    /// Returns a sender for bytes to write.
    pub fn bytes_sender(&self) -> Sender<AssembledBytes> {
        self.sender.clone()
    }

    /// Writes bytes that can be written now. If this completes work of the worker, returns the
    /// event of its completion.
    ///
    /// # Errors
    /// The arrival of this rank cannot be announced.
    pub fn poll(&mut self) -> Result<Option<RankEvent>, MpiError> {
        if self.waiting.is_none() {
            let Ok(assembled) = self.receiver.try_recv() else { return Ok(None) };
            if !self.is_collective {
                let written = self.file.write_scattered(&offset_slices(&assembled));
                return Ok(finished_event(assembled, written));
            }
            self.waiting = Some((self.comm.arrive()?, assembled));
        }
        let Some((arrival, _)) = &mut self.waiting else { return Ok(None) };
        if !arrival.is_complete()? {
            return Ok(None);
        }
        let Some((_, assembled)) = self.waiting.take() else { return Ok(None) };
        let guard = |limit| start_guard(limit, self.report.clone(), Arc::clone(&self.audience));
        let _guard = self.limit.map(guard);
        let written = self.file.write_scattered_all(&offset_slices(&assembled));
        Ok(finished_event(assembled, written))
    }

    /// Closes the file after all writes. Collective over the group. If `durable`, brings the file
    /// to disk first.
    ///
    /// # Errors
    /// Bytes that were written may be lost.
    pub fn close(self, durable: bool) -> Result<(), Error> {
        if durable {
            self.file.sync().map_err(failure)?;
        }
        self.file.close().map_err(failure)
    }
}

fn offset_slices(assembled: &AssembledBytes) -> Vec<(u64, &[u8])> {
    let output_slices = assembled.output_slices.iter();
    output_slices.map(|output_slice| (output_slice.offset, output_slice.bytes.as_slice())).collect()
}

/// Returns the event of a finished write; `None` if another rank failed in it.
fn finished_event(assembled: AssembledBytes, written: Result<(), MpiError>) -> Option<RankEvent> {
    let AssembledBytes { ticket, freed, span, .. } = assembled;
    drop(span);
    match written {
        // The rank whose write failed reports the error, and ends the job.
        Err(MpiError::OtherRank { .. }) => None,
        Err(error) => Some(RankEvent::Worker(ticket, Err(failure(error)))),
        Ok(()) => Some(RankEvent::Worker(ticket, Ok(WorkerOutcome::Written { freed }))),
    }
}

/// Converts an error of the file to the message that other output strategies give. The caller adds
/// the rank's name. Errors of other ranks are silent.
fn failure(error: MpiError) -> Error {
    match error {
        MpiError::File { path, call, offset, text, .. } => {
            Error::output(format_args!("{} at byte {offset}: {call}: {text}", path.display()))
        }
        MpiError::NoSpace { path, wanted, free, .. } => Error::output(format_args!(
            "{}: no room for {wanted} bytes, its file system has {free} left",
            path.display()
        )),
        MpiError::OtherRank { .. } => Error::silent(exit::OUTPUT),
        error => Error::output(error),
    }
}

/// Ends the process, and so the job, unless the returned sender is dropped within `limit`. If a
/// rank dies during a collective write, the other ranks wait in it for ever. The supermaster finds
/// dead ranks. But if its own rank waits in the write, its driver cannot check.
fn start_guard(
    limit: Duration,
    report: UnfinishedReport,
    audience: Arc<dyn Audience>,
) -> Sender<()> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        if receiver.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            exit_overdue(limit, &report, &*audience);
        }
    });
    sender
}

fn exit_overdue(limit: Duration, report: &UnfinishedReport, audience: &dyn Audience) -> ! {
    audience.print_message(&format!(
        "{}: a collective write has lasted longer than {} s: a rank of the group of rank 0 does not come, or the file \
         system stands still",
        report.part.display(),
        limit.as_secs()
    ));
    report.discard();
    process::exit(i32::from(Failure::SILENT_RANK_CODE))
}
