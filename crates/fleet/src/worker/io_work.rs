//! Works of a worker of class `Io`: writing, and sending bytes to the workers that write. They run
//! while the search goes on.

use crate::ids::{Address, Ticket, Time};
use crate::message::{Outgoing, ToMaster, ToSupermaster, ToWorker};
use crate::payload::Payload;
use crate::role::Action;
use crate::work::{OutputRun, WorkerOutcome, WorkerWork};

use super::output::{PortionDestination, PortionKey};
use super::{Actions, Worker, name};

/// The worker's portion of a collective write.
#[derive(Debug)]
pub struct JointWrite<P> {
    /// Bytes of the portion; offsets count from the start of the file.
    pub runs: Vec<OutputRun>,
    /// The bytes of the portion's slices that the master holds, in their order; `None` if it holds
    /// none.
    pub master: Option<P>,
}

/// The running work of class `Io`, with the data that its end needs.
#[derive(Debug)]
pub enum IoWork {
    Gather { to: Address, window: u64, length: u64 },
    Write { portion: PortionKey, length: u64 },
    HandOver { portion: PortionKey, length: u64, offset: u64 },
    Collective,
}

/// A message with bytes that has not left, and so takes memory. The number is its length in bytes.
#[derive(Debug)]
pub enum OutgoingBytes {
    Part(u64),
    Window(u64),
}

impl<P: Payload> Worker<P> {
    /// Opens windows as far as memory allows, and starts the next work of class `Io`. Collective
    /// writes come first, because all other workers of the group wait for them. Requests of other
    /// workers come next, because they occupy memory of those workers.
    pub(super) fn start_io(&mut self, now: Time, actions: &mut Actions<P>) {
        for (holder, fetch) in self.output.open(&mut self.memory) {
            match holder {
                Address::Worker(worker) => {
                    let message = Outgoing::Worker(worker, ToWorker::OutputRequest(fetch));
                    actions.push(Action::Send { message, receipt: None });
                }
                _ => self.send_to_master(now, ToMaster::OutputRequest(fetch), actions),
            }
        }
        if self.io_work.is_some() {
            return;
        }
        let Some((io_work, work)) = self.next_move() else { return };
        let ticket = self.ticket();
        self.io_work = Some((ticket, io_work));
        actions.push(Action::Run { ticket, work });
    }

    fn next_move(&mut self) -> Option<(IoWork, WorkerWork<P>)> {
        if let Some(JointWrite { runs, master }) = self.collectives.pop_front() {
            self.memory.set_collective(runs.iter().map(OutputRun::length).sum());
            return Some((IoWork::Collective, WorkerWork::Collective { runs, master }));
        }
        if let Some((to, fetch, length)) = self.output.next_request(&mut self.memory) {
            let io_work = IoWork::Gather { to, window: fetch.window, length };
            let work = WorkerWork::Gather { block: fetch.block, slices: fetch.slices };
            return Some((io_work, work));
        }
        let (open, last) = self.output.next_window()?;
        let (portion, length) = (open.key(), open.length);
        if let (true, Some(run)) = (open.is_partial_grain, open.window.runs.first()) {
            let offset = run.offset;
            return Some((
                IoWork::HandOver { portion, length, offset },
                WorkerWork::HandOver(open.window),
            ));
        }
        let work = match open.destination {
            PortionDestination::Checkpoint(size) => {
                WorkerWork::Persist { window: open.window, size, last }
            }
            PortionDestination::OutputFile => WorkerWork::Write(open.window),
        };
        Some((IoWork::Write { portion, length }, work))
    }

    pub(super) fn io_done(
        &mut self,
        now: Time,
        io_work: IoWork,
        outcome: WorkerOutcome<P>,
        actions: &mut Actions<P>,
    ) {
        match (io_work, outcome) {
            (IoWork::Gather { to, window, length }, WorkerOutcome::Gathered { bytes, freed }) => {
                self.memory.free(freed);
                let Address::Worker(to) = to else {
                    unreachable!("only workers fetch from workers")
                };
                let message = Outgoing::Worker(to, ToWorker::OutputBytes { window, bytes });
                let ticket = self.ticket();
                self.sending.push((ticket, OutgoingBytes::Part(length)));
                actions.push(Action::Send { message, receipt: Some(ticket) });
            }
            (IoWork::Write { portion, length }, WorkerOutcome::Written { freed }) => {
                self.memory.free(freed);
                self.memory.close_window(length);
                self.record_written_window(now, portion, actions);
            }
            (
                IoWork::HandOver { portion, length, offset },
                WorkerOutcome::Gathered { bytes, freed },
            ) => {
                self.memory.free(freed);
                let message = Outgoing::Supermaster(ToSupermaster::PartialGrain { offset, bytes });
                let ticket = self.ticket();
                self.sending.push((ticket, OutgoingBytes::Window(length)));
                actions.push(Action::Send { message, receipt: Some(ticket) });
                self.record_written_window(now, portion, actions);
            }
            (IoWork::Collective, WorkerOutcome::Written { freed }) => {
                self.memory.set_collective(0);
                self.memory.free(freed);
                self.send_to_master(now, ToMaster::CollectiveWritten, actions);
            }
            (io_work, outcome) => {
                unreachable!(
                    "the driver ended {io_work:?} with another work's outcome: {}",
                    name(&outcome)
                )
            }
        }
    }

    /// Notes that a window of a portion is written. After the last window, reports the portion to
    /// the master.
    fn record_written_window(&mut self, now: Time, portion: PortionKey, actions: &mut Actions<P>) {
        if self.output.record_written_window(portion) {
            let message = match portion {
                (block, PortionDestination::Checkpoint(_)) => ToMaster::Stored { block },
                (block, PortionDestination::OutputFile) => ToMaster::Written { block },
            };
            self.send_to_master(now, message, actions);
        }
    }

    pub(super) fn record_sent(&mut self, ticket: Ticket) {
        if let Some(place) = self.sending.iter().position(|(sending, _)| *sending == ticket) {
            match self.sending.swap_remove(place) {
                (_, OutgoingBytes::Part(length)) => self.memory.close_part(length),
                (_, OutgoingBytes::Window(length)) => self.memory.close_window(length),
            }
        }
    }
}
