//! The master of a group: gives tasks out, merges what comes back, and lays the output of blocks out.

mod output;
mod placing;
mod queue;
mod searching;
mod tasks;
#[cfg(test)]
mod tests;
mod unfinished;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::config::Config;
use crate::end::{Exit, Failure};
use crate::health::Peers;
use crate::ids::{Address, BlockId, GroupId, PassId, Rank, Ticket, Time, WorkerId};
use crate::message::{Outgoing, ToMaster, ToSupermaster, ToWorker};
use crate::payload::Payload;
use crate::role::{Action, Event, Role};
use crate::topology::Topology;
use crate::work::{MasterOutcome, MasterWork, Run};

use self::output::{Collective, Outputs};
use self::queue::TaskQueue;
use self::searching::Searching;
use self::unfinished::Unfinished;

type Actions<P> = Vec<Action<P, MasterWork<P>>>;

/// What is known of a worker.
#[derive(Clone, Debug, Default)]
struct Member {
    ready: bool,
    /// Tasks that it has.
    tasks: u32,
    /// The bytes of the questions that it has not answered; it answers them in this order.
    asked: VecDeque<u64>,
    /// When it began the task that it searches.
    since: Time,
    /// Passes that it may drop; it hears of them with its next task.
    forget: Vec<(BlockId, PassId)>,
}

/// Whom a gathered part goes to.
#[derive(Debug)]
enum Gathering {
    /// The worker that collects this window.
    Window(WorkerId, u64),
    /// A worker's share in the collective write that begins.
    Collective(WorkerId, Vec<Run>),
}

/// A work, under way or waiting.
#[derive(Debug)]
enum Pending {
    Prepare(BlockId),
    Absorb(BlockId, PassId),
    Round(BlockId, PassId),
    Gather(Gathering),
}

/// Whether more blocks can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Supply {
    Open,
    Asked,
    Ended,
}

/// The state of a master.
#[derive(Debug)]
pub struct Master<P> {
    id: GroupId,
    config: Arc<Config>,
    topology: Arc<Topology>,
    /// Number of the group's first worker.
    first: u32,
    tickets: u64,
    running: Option<(Ticket, Pending)>,
    works: VecDeque<(Pending, MasterWork<P>)>,
    supply: Supply,
    queue: TaskQueue,
    /// How many blocks came to be searched.
    came: u64,
    /// Blocks whose queries are not prepared yet.
    preparing: u32,
    /// Blocks that came and are not finished.
    unfinished: Unfinished,
    /// Blocks that are prepared and not laid out.
    searches: BTreeMap<BlockId, Searching<P>>,
    members: Vec<Member>,
    /// What tasks take, in seconds, the last ones most.
    task_seconds: f64,
    /// Workers that have room for a task, those with fewest tasks first.
    hungry: BTreeSet<(u32, u32)>,
    outputs: Outputs,
    collective: Collective,
    /// Deals out what any worker can do.
    turn: u32,
    /// The supermaster, then the workers.
    peers: Peers,
    draining: bool,
    drained: bool,
}

impl<P: Payload> Master<P> {
    /// The master of group `id` of the job.
    pub fn new(id: GroupId, config: &Arc<Config>, topology: &Arc<Topology>) -> Master<P> {
        let workers = topology.group(id).workers.clone();
        Master {
            id,
            config: Arc::clone(config),
            topology: Arc::clone(topology),
            first: workers.start,
            tickets: 0,
            running: None,
            works: VecDeque::new(),
            supply: Supply::Open,
            queue: TaskQueue::new(topology.partitions),
            came: 0,
            preparing: 0,
            unfinished: Unfinished::default(),
            searches: BTreeMap::new(),
            members: vec![Member::default(); workers.len()],
            task_seconds: 0.0,
            hungry: BTreeSet::new(),
            outputs: Outputs::new(config),
            collective: Collective::new(config.write_buffer),
            turn: 0,
            peers: Peers::new(workers.len() + 1, config.heartbeat),
            draining: false,
            drained: false,
        }
    }

    /// Tasks that no worker has yet.
    pub fn waiting_tasks(&self) -> u64 {
        self.queue.unassigned()
    }

    fn rank(&self) -> Rank {
        self.topology.group(self.id).master
    }

    fn worker(&self, member: u32) -> WorkerId {
        WorkerId(self.first + member)
    }

    fn tell_supermaster(&mut self, now: Time, message: ToSupermaster<P>, actions: &mut Actions<P>) {
        self.peers.note_sent(0, now);
        let message = Outgoing::Supermaster(message);
        actions.push(Action::Send { message, receipt: None });
    }

    fn tell(&mut self, now: Time, to: WorkerId, message: ToWorker<P>, actions: &mut Actions<P>) {
        self.peers.note_sent((to.0 - self.first) as usize + 1, now);
        let message = Outgoing::Worker(to, message);
        actions.push(Action::Send { message, receipt: None });
    }

    /// Something was asked of this master that cannot be: ends the job.
    fn fault(&mut self, now: Time, cause: String, actions: &mut Actions<P>) {
        let failure = Failure { rank: self.rank(), code: Failure::FAULT, cause };
        self.tell_supermaster(now, ToSupermaster::Failed(failure), actions);
    }

    fn tell_all(&mut self, now: Time, message: &ToWorker<P>, actions: &mut Actions<P>) {
        for member in 0..self.members.len() as u32 {
            self.tell(now, self.worker(member), message.clone(), actions);
        }
    }

    fn take(&mut self, now: Time, from: Address, message: ToMaster<P>, actions: &mut Actions<P>) {
        let member = match from {
            Address::Supermaster => 0,
            Address::Worker(worker) => worker.0 - self.first,
            Address::Master(_) => return,
        };
        let peer = if from == Address::Supermaster { 0 } else { member as usize + 1 };
        self.peers.note_received(peer, now);
        match message {
            ToMaster::Segment { blocks } => self.segment(blocks),
            ToMaster::NoMore => self.supply = Supply::Ended,
            ToMaster::Judged { block, pass, verdict } => self.judged(block, pass, verdict),
            ToMaster::Bases { bases } => {
                for (block, base) in bases {
                    let next = self.outputs.base(block, base);
                    self.go_on(now, block, next, actions);
                }
            }
            ToMaster::Restore { block, base, size } => {
                let worker = self.anyone();
                let next = self.outputs.restore(block, base, size, worker);
                self.go_on(now, block, next, actions);
            }
            ToMaster::Drain => self.drain(now, actions),
            ToMaster::Stop(exit) => self.stop(now, exit, actions),
            ToMaster::Ready => {
                self.members[member as usize].ready = true;
                self.feed(now, member, actions);
            }
            ToMaster::Result { block, pass, partition, hits } => {
                self.relieve(member);
                self.time(now, member);
                self.result(block, pass, partition, hits);
                self.feed(now, member, actions);
            }
            ToMaster::Dropped { block, pass } => {
                self.relieve(member);
                self.dropped(block, pass);
            }
            ToMaster::Reply { block, pass, reply } => {
                self.members[member as usize].asked.pop_front();
                self.reply(block, pass, reply);
                self.feed(now, member, actions);
            }
            ToMaster::Fetch(fetch) => self.fetch(self.worker(member), fetch),
            ToMaster::Stored { block } => {
                let next = self.outputs.stored(block);
                self.go_on(now, block, next, actions);
            }
            ToMaster::Written { block } => {
                let next = self.outputs.written(block);
                self.go_on(now, block, next, actions);
            }
            ToMaster::CollectiveWritten => self.collective_written(now, actions),
            ToMaster::Failed(failure) => {
                self.tell_supermaster(now, ToSupermaster::Failed(failure), actions);
            }
            ToMaster::Ping => {}
        }
    }

    /// Any worker, each in its turn.
    fn anyone(&mut self) -> WorkerId {
        self.turn = (self.turn + 1) % self.members.len() as u32;
        self.worker(self.turn)
    }

    fn done(
        &mut self,
        now: Time,
        ticket: Ticket,
        outcome: MasterOutcome<P>,
        actions: &mut Actions<P>,
    ) {
        let Some((_, pending)) = self.running.take_if(|(running, _)| *running == ticket) else {
            return;
        };
        match (pending, outcome) {
            (Pending::Prepare(block), MasterOutcome::Prepared { queries, pass }) => {
                self.prepared(now, block, (pass, queries), actions);
            }
            (Pending::Absorb(block, pass), MasterOutcome::Absorbed { cut }) => {
                self.absorbed(now, (block, pass), cut, actions);
            }
            (Pending::Round(block, pass), MasterOutcome::Ask(parts)) => {
                self.ask(now, (block, pass), parts, actions);
            }
            (Pending::Round(block, pass), MasterOutcome::Consult { found }) => {
                self.consult(now, (block, pass), found, actions);
            }
            (Pending::Round(block, _), MasterOutcome::Again { queries }) => {
                self.again(now, block, queries, actions);
            }
            (Pending::Round(block, _), MasterOutcome::Layout(layout)) => {
                self.lay_out(now, block, layout, actions);
            }
            (Pending::Gather(gathering), MasterOutcome::Gathered(bytes)) => {
                self.gathered(now, gathering, bytes, actions);
            }
            (pending, _) => {
                unreachable!("the driver ended {pending:?} with another work's outcome")
            }
        }
    }

    /// Carries out the works that came up, one after the other.
    fn compute(&mut self, actions: &mut Actions<P>) {
        if self.running.is_none()
            && let Some((pending, work)) = self.works.pop_front()
        {
            self.tickets += 1;
            let ticket = Ticket(self.tickets);
            self.running = Some((ticket, pending));
            actions.push(Action::Run { ticket, work });
        }
    }

    fn drain(&mut self, now: Time, actions: &mut Actions<P>) {
        self.draining = true;
        self.supply = Supply::Ended;
        self.preparing = 0;
        self.works.retain(|(pending, _)| !matches!(pending, Pending::Prepare(_)));
        for block in self.queue.clear() {
            self.searches.remove(&block);
        }
        // What they wait for may have been dropped.
        self.searches.retain(|_, search| !search.consults());
        self.tell_all(now, &ToWorker::Drain, actions);
    }

    /// Tells the supermaster once all that could be finished is durable, and nobody is in a collective write.
    fn report_drained(&mut self, now: Time, actions: &mut Actions<P>) {
        let writing = self.outputs.is_storing() || self.collective.is_writing();
        let ended = self.searches.is_empty() && !writing;
        if self.draining && ended && !self.drained {
            self.drained = true;
            self.tell_supermaster(now, ToSupermaster::Drained, actions);
        }
    }

    fn stop(&mut self, now: Time, exit: Exit, actions: &mut Actions<P>) {
        self.tell_all(now, &ToWorker::Stop(exit), actions);
        actions.push(Action::Exit(exit));
    }

    fn tick(&mut self, now: Time, actions: &mut Actions<P>) {
        if let Some((peer, silence)) = self.peers.silent(now) {
            let (who, rank) = match peer {
                0 => ("the supermaster", self.topology.supermaster),
                peer => ("the worker", self.topology.worker(self.worker(peer as u32 - 1)).rank),
            };
            let cause = format!("{who} was silent for {:.1} s", silence.seconds());
            actions.push(Action::Fail(Failure { rank, code: Failure::SILENCE, cause }));
        }
        for peer in self.peers.quiet(now) {
            match peer {
                0 => self.tell_supermaster(now, ToSupermaster::Ping, actions),
                peer => {
                    self.tell(now, self.worker(peer as u32 - 1), ToWorker::Ping, actions);
                }
            }
        }
    }
}

impl<P: Payload> Role<P> for Master<P> {
    type Message = ToMaster<P>;
    type Work = MasterWork<P>;
    type Outcome = MasterOutcome<P>;

    fn handle(
        &mut self,
        now: Time,
        event: Event<ToMaster<P>, MasterOutcome<P>>,
        actions: &mut Actions<P>,
    ) {
        match event {
            Event::Start => {}
            Event::Message { from, message } => self.take(now, from, message, actions),
            Event::Done { ticket, outcome } => self.done(now, ticket, outcome, actions),
            Event::Failed { code, cause, .. } => {
                let failure = Failure { rank: self.rank(), code, cause };
                self.tell_supermaster(now, ToSupermaster::Failed(failure), actions);
            }
            Event::Tick => self.tick(now, actions),
            // Nothing is sent with a receipt, and only the supermaster is told by the driver.
            Event::Sent { .. } | Event::Drain => {}
        }
        self.ask_for_more(now, actions);
        self.write_together(now, actions);
        self.compute(actions);
        self.report_drained(now, actions);
    }
}
