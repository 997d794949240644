//! A worker: searches tasks, answers rounds, and writes.

mod memory;
mod output;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::config::Config;
use crate::end::Failure;
use crate::health::Peers;
use crate::ids::{Address, BlockId, GroupId, PartitionId, Rank, Ticket, Time, WorkerId};
use crate::message::{Outgoing, ToMaster, ToSupermaster, ToWorker};
use crate::payload::Payload;
use crate::role::{Action, Event, Role};
use crate::topology::Topology;
use crate::work::{Run, WorkerOutcome, WorkerWork};

use self::memory::Memory;
use self::output::{JobKey, Output, Purpose};

pub(crate) use self::output::windows;

type Actions<P> = Vec<Action<P, WorkerWork<P>>>;

/// A task that waits.
#[derive(Debug)]
struct Task<P> {
    block: BlockId,
    partition: PartitionId,
    queries: Option<P>,
    cut: Option<P>,
}

/// A share in a collective write.
#[derive(Debug)]
struct Share<P> {
    runs: Vec<Run>,
    master: Option<P>,
}

/// What the compute lane does.
#[derive(Debug)]
enum Computing {
    Search(BlockId, PartitionId),
    Answer(BlockId),
}

/// What the io lane does.
#[derive(Debug)]
enum Moving {
    Gather { to: Address, window: u64, length: u64 },
    Write { job: JobKey, length: u64 },
    HandOver { job: JobKey, length: u64, offset: u64 },
    Collective,
}

/// What is being sent: memory that is free when it has left.
#[derive(Debug)]
enum Sending {
    Part(u64),
    Window(u64),
}

/// The state of a worker.
#[derive(Debug)]
pub struct Worker<P> {
    group: GroupId,
    rank: Rank,
    master_rank: Rank,
    buffer: u64,
    tickets: u64,
    tasks: VecDeque<Task<P>>,
    questions: VecDeque<(BlockId, Vec<(PartitionId, P)>)>,
    collectives: VecDeque<Share<P>>,
    computing: Option<(Ticket, Computing)>,
    moving: Option<(Ticket, Moving)>,
    sending: Vec<(Ticket, Sending)>,
    output: Output<P>,
    memory: Memory,
    master: Peers,
    draining: bool,
}

impl<P: Payload> Worker<P> {
    /// The worker `id` of the job.
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
            computing: None,
            moving: None,
            sending: Vec::new(),
            output: Output::new(id, place.group, config.seams()),
            memory: Memory::new(config),
            master: Peers::new(1, config.heartbeat),
            draining: false,
        }
    }

    /// Bytes of output held at most so far.
    pub fn peak_memory(&self) -> u64 {
        self.memory.peak()
    }

    /// Bytes of output held now.
    pub fn memory_used(&self) -> u64 {
        self.memory.held()
    }

    fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    fn tell_master(&mut self, now: Time, message: ToMaster<P>, actions: &mut Actions<P>) {
        self.master.tell(0, now);
        let message = Outgoing::Master(self.group, message);
        actions.push(Action::Send { message, receipt: None });
    }

    fn take(&mut self, now: Time, from: Address, message: ToWorker<P>, actions: &mut Actions<P>) {
        if from == Address::Master(self.group) {
            self.master.hear(0, now);
        }
        match message {
            ToWorker::Assign { block, partition, queries, cut, forget } => {
                actions.extend(forget.into_iter().map(|block| Action::Forget { block }));
                if self.draining {
                    return self.tell_master(now, ToMaster::Dropped { block }, actions);
                }
                self.tasks.push_back(Task { block, partition, queries, cut });
            }
            ToWorker::RaiseCut { block, cut } => self.raise_cut(block, cut, actions),
            ToWorker::Ask { block, parts } => self.questions.push_back((block, parts)),
            ToWorker::Store { block, runs, size } => {
                self.output.add((block, Purpose::Store(size)), runs, self.buffer);
            }
            ToWorker::Place { block, runs } => {
                self.output.add((block, Purpose::Place), runs, self.buffer);
            }
            ToWorker::Fetch(fetch) => self.output.request(from, fetch),
            ToWorker::Part { window, bytes } => self.output.receive(from, window, bytes),
            ToWorker::Collective { runs, master } => {
                self.collectives.push_back(Share { runs, master });
            }
            ToWorker::Drain => self.drain(now, actions),
            ToWorker::Stop(exit) => actions.push(Action::Exit(exit)),
            ToWorker::Ping => {}
        }
    }

    fn raise_cut(&mut self, block: BlockId, cut: P, actions: &mut Actions<P>) {
        for task in self.tasks.iter_mut().filter(|task| task.block == block) {
            task.cut = Some(cut.clone());
        }
        if matches!(self.computing, Some((_, Computing::Search(searched, _))) if searched == block)
        {
            actions.push(Action::RaiseCut { block, cut });
        }
    }

    fn drain(&mut self, now: Time, actions: &mut Actions<P>) {
        self.draining = true;
        for task in std::mem::take(&mut self.tasks) {
            self.tell_master(now, ToMaster::Dropped { block: task.block }, actions);
        }
    }

    /// Gives the compute lane its next work. Blocks end with answers: first these.
    fn compute(&mut self, actions: &mut Actions<P>) {
        if self.computing.is_some() {
            return;
        }
        let (computing, work) = if let Some((block, parts)) = self.questions.pop_front() {
            let budget = self.memory.grant();
            (Computing::Answer(block), WorkerWork::Answer { block, parts, budget })
        } else if let Some(Task { block, partition, queries, cut }) = self.tasks.pop_front() {
            let work = WorkerWork::Search { block, partition, queries, cut };
            (Computing::Search(block, partition), work)
        } else {
            return;
        };
        let ticket = self.ticket();
        self.computing = Some((ticket, computing));
        actions.push(Action::Run { ticket, work });
    }

    /// Opens windows and gives the io lane its next work. All others of the group wait for a collective write, others'
    /// memory for what they asked for: first these.
    fn move_output(&mut self, now: Time, actions: &mut Actions<P>) {
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
        if let Some(Share { runs, master }) = self.collectives.pop_front() {
            self.memory.collective(runs.iter().map(Run::length).sum());
            return Some((Moving::Collective, WorkerWork::Collective { runs, master }));
        }
        if let Some((to, fetch, length)) = self.output.next_request(&mut self.memory) {
            let moving = Moving::Gather { to, window: fetch.window, length };
            let work = WorkerWork::Gather { block: fetch.block, slices: fetch.slices };
            return Some((moving, work));
        }
        let (open, last) = self.output.next_window()?;
        let (job, length) = (open.key(), open.length);
        if let (true, Some(run)) = (open.end, open.window.runs.first()) {
            let offset = run.offset;
            return Some((
                Moving::HandOver { job, length, offset },
                WorkerWork::HandOver(open.window),
            ));
        }
        let work = match open.purpose {
            Purpose::Store(size) => WorkerWork::Persist { window: open.window, size, last },
            Purpose::Place => WorkerWork::Write(open.window),
        };
        Some((Moving::Write { job, length }, work))
    }

    fn done(
        &mut self,
        now: Time,
        ticket: Ticket,
        outcome: WorkerOutcome<P>,
        actions: &mut Actions<P>,
    ) {
        if let Some((_, computing)) = self.computing.take_if(|(running, _)| *running == ticket) {
            self.computed(now, computing, outcome, actions);
        } else if let Some((_, moving)) = self.moving.take_if(|(running, _)| *running == ticket) {
            self.moved(now, moving, outcome, actions);
        }
    }

    fn computed(
        &mut self,
        now: Time,
        computing: Computing,
        outcome: WorkerOutcome<P>,
        actions: &mut Actions<P>,
    ) {
        let message = match (computing, outcome) {
            (Computing::Search(block, partition), WorkerOutcome::Found(hits)) => {
                ToMaster::Result { block, partition, hits }
            }
            (Computing::Answer(block), WorkerOutcome::Answered { reply, kept }) => {
                self.memory.settle(kept);
                ToMaster::Reply { block, reply }
            }
            (computing, outcome) => {
                unreachable!(
                    "the driver ended {computing:?} with another work's outcome: {}",
                    name(&outcome)
                )
            }
        };
        self.tell_master(now, message, actions);
    }

    fn moved(
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
            (Moving::Write { job, length }, WorkerOutcome::Written { freed }) => {
                self.memory.free(freed);
                self.memory.close_window(length);
                self.written(now, job, actions);
            }
            (
                Moving::HandOver { job, length, offset },
                WorkerOutcome::Gathered { bytes, freed },
            ) => {
                self.memory.free(freed);
                let message = Outgoing::Supermaster(ToSupermaster::End { offset, bytes });
                let ticket = self.ticket();
                self.sending.push((ticket, Sending::Window(length)));
                actions.push(Action::Send { message, receipt: Some(ticket) });
                self.written(now, job, actions);
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

    /// Another window of a job is through.
    fn written(&mut self, now: Time, job: JobKey, actions: &mut Actions<P>) {
        if self.output.written(job) {
            let message = match job {
                (block, Purpose::Store(_)) => ToMaster::Stored { block },
                (block, Purpose::Place) => ToMaster::Written { block },
            };
            self.tell_master(now, message, actions);
        }
    }

    fn sent(&mut self, ticket: Ticket) {
        if let Some(place) = self.sending.iter().position(|(sending, _)| *sending == ticket) {
            match self.sending.swap_remove(place) {
                (_, Sending::Part(length)) => self.memory.close_part(length),
                (_, Sending::Window(length)) => self.memory.close_window(length),
            }
        }
    }

    fn tick(&mut self, now: Time, actions: &mut Actions<P>) {
        if let Some((_, silence)) = self.master.silent(now) {
            let cause = format!("the group's master was silent for {:.1} s", silence.seconds());
            actions.push(Action::Fail(Failure {
                rank: self.master_rank,
                code: Failure::SILENCE,
                cause,
            }));
        } else if !self.master.quiet(now).is_empty() {
            self.tell_master(now, ToMaster::Ping, actions);
        }
    }
}

/// Names an outcome in a message about a driver's mistake.
fn name<P>(outcome: &WorkerOutcome<P>) -> &'static str {
    match outcome {
        WorkerOutcome::Found(_) => "Found",
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
            Event::Start => self.tell_master(now, ToMaster::Ready, actions),
            Event::Message { from, message } => self.take(now, from, message, actions),
            Event::Done { ticket, outcome } => self.done(now, ticket, outcome, actions),
            Event::Failed { code, cause, .. } => {
                let failure = Failure { rank: self.rank, code, cause };
                self.tell_master(now, ToMaster::Failed(failure), actions);
            }
            Event::Sent { ticket } => self.sent(ticket),
            Event::Tick => self.tick(now, actions),
            // Only the supermaster is told by the driver.
            Event::Drain => {}
        }
        self.compute(actions);
        self.move_output(now, actions);
    }
}
