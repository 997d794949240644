//! What a worker does beside the search: writing, and sending to who writes.

use crate::ids::{Address, Ticket, Time};
use crate::message::{Outgoing, ToMaster, ToSupermaster, ToWorker};
use crate::payload::Payload;
use crate::role::Action;
use crate::work::{Run, WorkerOutcome, WorkerWork};

use super::output::{PortionKey, Purpose};
use super::{Actions, Worker, name};

/// A collective write in which the worker takes part: its runs, and the master's bytes in them.
#[derive(Debug)]
pub struct JointWrite<P> {
    /// Offsets count from the start of the file.
    pub runs: Vec<Run>,
    /// In the order of the slices.
    pub master: Option<P>,
}

/// What the io lane does.
#[derive(Debug)]
pub enum Moving {
    Gather { to: Address, window: u64, length: u64 },
    Write { portion: PortionKey, length: u64 },
    HandOver { portion: PortionKey, length: u64, offset: u64 },
    Collective,
}

/// What is being sent: memory that is free when it has left.
#[derive(Debug)]
pub enum Sending {
    Part(u64),
    Window(u64),
}

impl<P: Payload> Worker<P> {
    /// Opens windows and gives the io lane its next work. All others of the group wait for a collective write, others'
    /// memory for what they asked for: first these.
    pub(super) fn move_output(&mut self, now: Time, actions: &mut Actions<P>) {
        for (holder, fetch) in self.output.open(&mut self.memory) {
            match holder {
                Address::Worker(worker) => {
                    let message = Outgoing::Worker(worker, ToWorker::Fetch(fetch));
                    actions.push(Action::Send { message, receipt: None });
                }
                _ => self.tell_master(now, ToMaster::Fetch(fetch), actions),
            }
        }
        if self.moving.is_some() {
            return;
        }
        let Some((moving, work)) = self.next_move() else { return };
        let ticket = self.ticket();
        self.moving = Some((ticket, moving));
        actions.push(Action::Run { ticket, work });
    }

    fn next_move(&mut self) -> Option<(Moving, WorkerWork<P>)> {
        if let Some(JointWrite { runs, master }) = self.collectives.pop_front() {
            self.memory.collective(runs.iter().map(Run::length).sum());
            return Some((Moving::Collective, WorkerWork::Collective { runs, master }));
        }
        if let Some((to, fetch, length)) = self.output.next_request(&mut self.memory) {
            let moving = Moving::Gather { to, window: fetch.window, length };
            let work = WorkerWork::Gather { block: fetch.block, slices: fetch.slices };
            return Some((moving, work));
        }
        let (open, last) = self.output.next_window()?;
        let (portion, length) = (open.key(), open.length);
        if let (true, Some(run)) = (open.end, open.window.runs.first()) {
            let offset = run.offset;
            return Some((
                Moving::HandOver { portion, length, offset },
                WorkerWork::HandOver(open.window),
            ));
        }
        let work = match open.purpose {
            Purpose::Store(size) => WorkerWork::Persist { window: open.window, size, last },
            Purpose::Place => WorkerWork::Write(open.window),
        };
        Some((Moving::Write { portion, length }, work))
    }

    pub(super) fn moved(
        &mut self,
        now: Time,
        moving: Moving,
        outcome: WorkerOutcome<P>,
        actions: &mut Actions<P>,
    ) {
        match (moving, outcome) {
            (Moving::Gather { to, window, length }, WorkerOutcome::Gathered { bytes, freed }) => {
                self.memory.free(freed);
                let Address::Worker(to) = to else {
                    unreachable!("only workers fetch from workers")
                };
                let message = Outgoing::Worker(to, ToWorker::Part { window, bytes });
                let ticket = self.ticket();
                self.sending.push((ticket, Sending::Part(length)));
                actions.push(Action::Send { message, receipt: Some(ticket) });
            }
            (Moving::Write { portion, length }, WorkerOutcome::Written { freed }) => {
                self.memory.free(freed);
                self.memory.close_window(length);
                self.written(now, portion, actions);
            }
            (
                Moving::HandOver { portion, length, offset },
                WorkerOutcome::Gathered { bytes, freed },
            ) => {
                self.memory.free(freed);
                let message = Outgoing::Supermaster(ToSupermaster::End { offset, bytes });
                let ticket = self.ticket();
                self.sending.push((ticket, Sending::Window(length)));
                actions.push(Action::Send { message, receipt: Some(ticket) });
                self.written(now, portion, actions);
            }
            (Moving::Collective, WorkerOutcome::Written { freed }) => {
                self.memory.collective(0);
                self.memory.free(freed);
                self.tell_master(now, ToMaster::CollectiveWritten, actions);
            }
            (moving, outcome) => {
                unreachable!(
                    "the driver ended {moving:?} with another work's outcome: {}",
                    name(&outcome)
                )
            }
        }
    }

    /// Another window of a portion is through.
    fn written(&mut self, now: Time, portion: PortionKey, actions: &mut Actions<P>) {
        if self.output.written(portion) {
            let message = match portion {
                (block, Purpose::Store(_)) => ToMaster::Stored { block },
                (block, Purpose::Place) => ToMaster::Written { block },
            };
            self.tell_master(now, message, actions);
        }
    }

    pub(super) fn sent(&mut self, ticket: Ticket) {
        if let Some(place) = self.sending.iter().position(|(sending, _)| *sending == ticket) {
            match self.sending.swap_remove(place) {
                (_, Sending::Part(length)) => self.memory.close_part(length),
                (_, Sending::Window(length)) => self.memory.close_window(length),
            }
        }
    }
}
