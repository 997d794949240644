//! The worker: searches tasks, answers questions about them, and writes output.

mod io_work;
mod memory;
mod output;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::config::Config;
use crate::end::Failure;
use crate::health::PeerMonitor;
use crate::ids::{Address, BlockId, GroupId, PartitionId, PassId, Rank, Ticket, Time, WorkerId};
use crate::message::{Outgoing, ToMaster, ToWorker};
use crate::payload::Payload;
use crate::role::{Action, Event, Role};
use crate::topology::Topology;
use crate::work::{WorkerOutcome, WorkerWork};

use self::io_work::{IoWork, JointWrite, OutgoingBytes};
use self::memory::Memory;
use self::output::{PortionDestination, WorkerOutput};

pub(crate) use self::output::cut_into_windows;

type Actions<P> = Vec<Action<P, WorkerWork<P>>>;

/// A task that waits to be searched.
#[derive(Debug)]
struct Task<P> {
    block: BlockId,
    pass: PassId,
    partition: PartitionId,
    queries: Option<P>,
    cut: Option<P>,
}

/// Questions of a round that wait to be answered.
#[derive(Debug)]
struct Question<P> {
    block: BlockId,
    pass: PassId,
    parts: Vec<(PartitionId, P)>,
}

/// The running work of class `Compute`.
#[derive(Debug)]
enum ComputeWork {
    Search(BlockId, PassId, PartitionId),
    Answer(BlockId, PassId),
}

/// A worker, as a state machine.
#[derive(Debug)]
pub struct Worker<P> {
    group: GroupId,
    rank: Rank,
    master_rank: Rank,
    buffer: u64,
    tickets: u64,
    tasks: VecDeque<Task<P>>,
    questions: VecDeque<Question<P>>,
    collectives: VecDeque<JointWrite<P>>,
    compute_work: Option<(Ticket, ComputeWork)>,
    io_work: Option<(Ticket, IoWork)>,
    sending: Vec<(Ticket, OutgoingBytes)>,
    output: WorkerOutput<P>,
    memory: Memory,
    master: PeerMonitor,
    draining: bool,
}

impl<P: Payload> Worker<P> {
    /// Creates worker `id` of the job.
    pub fn new(id: WorkerId, config: &Arc<Config>, topology: &Arc<Topology>) -> Worker<P> {
        let place = topology.worker(id);
        Worker {
            group: place.group,
            rank: place.rank,
            master_rank: topology.group(place.group).master,
            buffer: config.write_buffer,
            tickets: 0,
            tasks: VecDeque::new(),
            questions: VecDeque::new(),
            collectives: VecDeque::new(),
            compute_work: None,
            io_work: None,
            sending: Vec::new(),
            output: WorkerOutput::new(id, place.group, config.exclusive_grain()),
            memory: Memory::new(config),
            master: PeerMonitor::new(1, config.heartbeat),
            draining: false,
        }
    }

    /// Returns the largest number of bytes of output that the worker has held at any time.
    pub fn peak_memory(&self) -> u64 {
        self.memory.peak()
    }

    /// Returns the number of bytes of output that the worker holds now.
    pub fn memory_used(&self) -> u64 {
        self.memory.held_bytes()
    }

    fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    fn send_to_master(&mut self, now: Time, message: ToMaster<P>, actions: &mut Actions<P>) {
        self.master.note_sent(0, now);
        let message = Outgoing::Master(self.group, message);
        actions.push(Action::Send { message, receipt: None });
    }

    fn receive(
        &mut self,
        now: Time,
        from: Address,
        message: ToWorker<P>,
        actions: &mut Actions<P>,
    ) {
        if from == Address::Master(self.group) {
            self.master.note_received(0, now);
        }
        match message {
            ToWorker::Assign { block, pass, partition, queries, cut, forget } => {
                drop_passes(forget, actions);
                if self.draining {
                    return self.send_to_master(now, ToMaster::Dropped { block, pass }, actions);
                }
                self.tasks.push_back(Task { block, pass, partition, queries, cut });
            }
            ToWorker::Forget { passes } => drop_passes(passes, actions),
            ToWorker::RaiseCut { block, pass, cut } => self.raise_cut(block, pass, cut, actions),
            ToWorker::AnswerRound { block, pass, questions } => {
                self.questions.push_back(Question { block, pass, parts: questions });
            }
            ToWorker::Store { block, runs, size } => {
                self.output.add((block, PortionDestination::Checkpoint(size)), runs, self.buffer);
            }
            ToWorker::WriteOutput { block, runs } => {
                self.output.add((block, PortionDestination::OutputFile), runs, self.buffer);
            }
            ToWorker::OutputRequest(fetch) => self.output.request(from, fetch),
            ToWorker::OutputBytes { window, bytes } => self.output.receive(from, window, bytes),
            ToWorker::Collective { runs, master } => {
                self.collectives.push_back(JointWrite { runs, master });
            }
            ToWorker::Drain => self.drain(now, actions),
            ToWorker::Stop(exit) => actions.push(Action::Exit(exit)),
            ToWorker::Ping => {}
        }
    }

    /// Raises the cut of a pass in the waiting tasks and in the running search. Other passes of the
    /// block keep their cuts.
    fn raise_cut(&mut self, block: BlockId, pass: PassId, cut: P, actions: &mut Actions<P>) {
        for task in &mut self.tasks {
            if (task.block, task.pass) == (block, pass) {
                task.cut = Some(cut.clone());
            }
        }
        if let Some((_, ComputeWork::Search(searched, of, _))) = self.compute_work
            && (searched, of) == (block, pass)
        {
            actions.push(Action::RaiseCut { block, pass, cut });
        }
    }

    fn drain(&mut self, now: Time, actions: &mut Actions<P>) {
        self.draining = true;
        for task in std::mem::take(&mut self.tasks) {
            let Task { block, pass, .. } = task;
            self.send_to_master(now, ToMaster::Dropped { block, pass }, actions);
        }
    }

    /// Starts the next work of class `Compute`, if none is running. Answers come before searches,
    /// because they help to finish blocks.
    fn compute(&mut self, actions: &mut Actions<P>) {
        if self.compute_work.is_some() {
            return;
        }
        let (compute_work, work) = if let Some(question) = self.questions.pop_front() {
            let Question { block, pass, parts } = question;
            let budget = self.memory.grant();
            (ComputeWork::Answer(block, pass), WorkerWork::Answer { block, pass, parts, budget })
        } else if let Some(task) = self.tasks.pop_front() {
            let Task { block, pass, partition, queries, cut } = task;
            let work = WorkerWork::Search { block, pass, partition, queries, cut };
            (ComputeWork::Search(block, pass, partition), work)
        } else {
            return;
        };
        let ticket = self.ticket();
        self.compute_work = Some((ticket, compute_work));
        actions.push(Action::Run { ticket, work });
    }

    fn done(
        &mut self,
        now: Time,
        ticket: Ticket,
        outcome: WorkerOutcome<P>,
        actions: &mut Actions<P>,
    ) {
        if let Some((_, compute_work)) =
            self.compute_work.take_if(|(running, _)| *running == ticket)
        {
            self.end_computation(now, compute_work, outcome, actions);
        } else if let Some((_, io_work)) = self.io_work.take_if(|(running, _)| *running == ticket) {
            self.io_done(now, io_work, outcome, actions);
        }
    }

    fn end_computation(
        &mut self,
        now: Time,
        compute_work: ComputeWork,
        outcome: WorkerOutcome<P>,
        actions: &mut Actions<P>,
    ) {
        let message = match (compute_work, outcome) {
            (ComputeWork::Search(block, pass, partition), WorkerOutcome::Searched(hits)) => {
                ToMaster::Result { block, pass, partition, hits }
            }
            (ComputeWork::Answer(block, pass), WorkerOutcome::Answered { reply, kept }) => {
                self.memory.settle(kept);
                ToMaster::Reply { block, pass, reply }
            }
            (compute_work, outcome) => {
                unreachable!(
                    "the driver ended {compute_work:?} with another work's outcome: {}",
                    name(&outcome)
                )
            }
        };
        self.send_to_master(now, message, actions);
    }

    fn tick(&mut self, now: Time, actions: &mut Actions<P>) {
        if let Some((_, silence)) = self.master.longest_silent(now) {
            let cause = format!("the group's master was silent for {:.1} s", silence.seconds());
            actions.push(Action::Fail(Failure {
                rank: self.master_rank,
                code: Failure::SILENT_RANK_CODE,
                cause,
            }));
        } else if !self.master.peers_to_ping(now).is_empty() {
            self.send_to_master(now, ToMaster::Ping, actions);
        }
    }
}

/// Appends actions that make the driver drop its data of these passes.
fn drop_passes<P>(passes: Vec<(BlockId, PassId)>, actions: &mut Actions<P>) {
    actions.extend(passes.into_iter().map(|(block, pass)| Action::Forget { block, pass }));
}

/// Returns the name of an outcome, for the message of the panic about a driver's mistake.
fn name<P>(outcome: &WorkerOutcome<P>) -> &'static str {
    match outcome {
        WorkerOutcome::Searched(_) => "Found",
        WorkerOutcome::Answered { .. } => "Answered",
        WorkerOutcome::Gathered { .. } => "Gathered",
        WorkerOutcome::Written { .. } => "Written",
    }
}

impl<P: Payload> Role<P> for Worker<P> {
    type Message = ToWorker<P>;
    type Work = WorkerWork<P>;
    type Outcome = WorkerOutcome<P>;

    fn handle(
        &mut self,
        now: Time,
        event: Event<ToWorker<P>, WorkerOutcome<P>>,
        actions: &mut Actions<P>,
    ) {
        match event {
            Event::Start => self.send_to_master(now, ToMaster::Ready, actions),
            Event::Message { from, message } => self.receive(now, from, message, actions),
            Event::Done { ticket, outcome } => self.done(now, ticket, outcome, actions),
            Event::Failed { code, cause, .. } => {
                let failure = Failure { rank: self.rank, code, cause };
                self.send_to_master(now, ToMaster::Failed(failure), actions);
            }
            Event::Sent { ticket } => self.record_sent(ticket),
            Event::Tick => self.tick(now, actions),
            // The driver sends `Drain` only to the supermaster.
            Event::Drain => {}
        }
        self.compute(actions);
        self.start_io(now, actions);
    }
}
