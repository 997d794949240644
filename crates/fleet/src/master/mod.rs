//! The master of a group: assigns tasks, merges results, and lays out the output of blocks.

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
use crate::end::{Failure, JobEnd};
use crate::health::PeerMonitor;
use crate::ids::{Address, BlockId, GroupId, PassId, Rank, Ticket, Time, WorkerId};
use crate::message::{Outgoing, ToMaster, ToSupermaster, ToWorker};
use crate::payload::Payload;
use crate::role::{Action, Event, Role};
use crate::topology::Topology;
use crate::work::{MasterOutcome, MasterWork, OutputRun};

use self::output::{BlockOutputs, Collective};
use self::queue::TaskQueue;
use self::searching::BlockSearch;
use self::unfinished::UnfinishedBlocks;

type Actions<P> = Vec<Action<P, MasterWork<P>>>;

/// State of a worker of the group, as its master knows it.
#[derive(Clone, Debug, Default)]
struct Member {
    ready: bool,
    /// Number of tasks assigned to the worker and not ended.
    tasks: u32,
    /// Size in bytes of each question that the worker has not answered, in the order of the
    /// answers.
    asked: VecDeque<u64>,
    /// Time when the worker began its current task.
    since: Time,
    /// Passes whose data the worker may drop. Its next task carries this list.
    forget: Vec<(BlockId, PassId)>,
}

/// The receiver of bytes of the master's own pieces, which the master collects.
#[derive(Debug)]
enum Gathering {
    /// The worker that collects the window with this number.
    Window(WorkerId, u64),
    /// A worker and its portion of the collective write that begins.
    Collective(WorkerId, Vec<OutputRun>),
}

/// The purpose of a running or waiting work.
#[derive(Debug)]
enum Pending {
    Prepare(BlockId),
    Absorb(BlockId, PassId),
    Round(BlockId, PassId),
    Gather(Gathering),
}

/// Whether the supermaster has more blocks, and whether the master has asked for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockSupply {
    Open,
    Asked,
    Ended,
}

/// The master of a group, as a state machine.
#[derive(Debug)]
pub struct Master<P> {
    id: GroupId,
    config: Arc<Config>,
    topology: Arc<Topology>,
    /// Number of the group's first worker in the whole job.
    first: u32,
    tickets: u64,
    running: Option<(Ticket, Pending)>,
    works: VecDeque<(Pending, MasterWork<P>)>,
    supply: BlockSupply,
    queue: TaskQueue,
    /// Number of blocks that the master received for searching.
    blocks_received: u64,
    /// Number of blocks whose queries are not prepared yet.
    preparing: u32,
    /// Blocks that the master received and has not finished.
    unfinished: UnfinishedBlocks,
    /// Blocks whose queries are prepared and whose output is not laid out.
    searches: BTreeMap<BlockId, BlockSearch<P>>,
    members: Vec<Member>,
    /// Mean time of a task in seconds. The latest tasks have the most weight.
    task_seconds: f64,
    /// The workers that can take a task, fewest tasks first: each worker's number of tasks, and its
    /// number in the group.
    workers_with_room: BTreeSet<(u32, u32)>,
    outputs: BlockOutputs,
    collective: Collective,
    /// Number in the group of the worker that got the last piece of output that any worker could
    /// write. The next such output goes to the worker after it.
    next_turn: u32,
    /// Times of messages: peer 0 is the supermaster, peer `n + 1` is worker `n` of the group.
    peers: PeerMonitor,
    draining: bool,
    drained: bool,
}

impl<P: Payload> Master<P> {
    /// Creates the master of group `id`.
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
            supply: BlockSupply::Open,
            queue: TaskQueue::new(topology.partitions),
            blocks_received: 0,
            preparing: 0,
            unfinished: UnfinishedBlocks::default(),
            searches: BTreeMap::new(),
            members: vec![Member::default(); workers.len()],
            task_seconds: 0.0,
            workers_with_room: BTreeSet::new(),
            outputs: BlockOutputs::new(config),
            collective: Collective::new(config.write_buffer),
            next_turn: 0,
            peers: PeerMonitor::new(workers.len() + 1, config.heartbeat),
            draining: false,
            drained: false,
        }
    }

    /// Returns the number of tasks that are not assigned to a worker.
    pub fn waiting_tasks(&self) -> u64 {
        self.queue.unassigned_tasks()
    }

    fn rank(&self) -> Rank {
        self.topology.group(self.id).master
    }

    fn worker(&self, member: u32) -> WorkerId {
        WorkerId(self.first + member)
    }

    fn send_to_supermaster(
        &mut self,
        now: Time,
        message: ToSupermaster<P>,
        actions: &mut Actions<P>,
    ) {
        self.peers.note_sent(0, now);
        let message = Outgoing::Supermaster(message);
        actions.push(Action::Send { message, receipt: None });
    }

    fn send_to_worker(
        &mut self,
        now: Time,
        to: WorkerId,
        message: ToWorker<P>,
        actions: &mut Actions<P>,
    ) {
        self.peers.note_sent((to.0 - self.first) as usize + 1, now);
        let message = Outgoing::Worker(to, message);
        actions.push(Action::Send { message, receipt: None });
    }

    /// Ends the job because a request or a layout contradicts the protocol.
    fn fault(&mut self, now: Time, cause: String, actions: &mut Actions<P>) {
        let failure = Failure { rank: self.rank(), code: Failure::FAULT_CODE, cause };
        self.send_to_supermaster(now, ToSupermaster::Failed(failure), actions);
    }

    fn send_to_all(&mut self, now: Time, message: &ToWorker<P>, actions: &mut Actions<P>) {
        for member in 0..self.members.len() as u32 {
            self.send_to_worker(now, self.worker(member), message.clone(), actions);
        }
    }

    fn receive(
        &mut self,
        now: Time,
        from: Address,
        message: ToMaster<P>,
        actions: &mut Actions<P>,
    ) {
        let member = match from {
            Address::Supermaster => 0,
            Address::Worker(worker) => worker.0 - self.first,
            Address::Master(_) => return,
        };
        let peer = if from == Address::Supermaster { 0 } else { member as usize + 1 };
        self.peers.note_received(peer, now);
        match message {
            ToMaster::AssignBlocks { blocks } => self.queue_blocks(blocks),
            ToMaster::NoMore => self.supply = BlockSupply::Ended,
            ToMaster::Verified { block, pass, verdict } => {
                self.receive_verdict(block, pass, verdict)
            }
            ToMaster::BlockOffsets { offsets } => {
                for (block, base) in offsets {
                    let next = self.outputs.set_offset(block, base);
                    self.continue_output(now, block, next, actions);
                }
            }
            ToMaster::Restore { block, base, size } => {
                let worker = self.next_worker();
                let next = self.outputs.restore(block, base, size, worker);
                self.continue_output(now, block, next, actions);
            }
            ToMaster::Drain => self.drain(now, actions),
            ToMaster::Stop(exit) => self.stop(now, exit, actions),
            ToMaster::Ready => {
                self.members[member as usize].ready = true;
                self.assign_task(now, member, actions);
            }
            ToMaster::Result { block, pass, partition, hits } => {
                self.task_ended(member);
                self.measure_task(now, member);
                self.absorb_result(block, pass, partition, hits);
                self.assign_task(now, member, actions);
            }
            ToMaster::Dropped { block, pass } => {
                self.task_ended(member);
                self.record_dropped_task(block, pass);
            }
            ToMaster::Reply { block, pass, reply } => {
                self.members[member as usize].asked.pop_front();
                self.reply(block, pass, reply);
                self.assign_task(now, member, actions);
            }
            ToMaster::OutputRequest(fetch) => self.fetch(self.worker(member), fetch),
            ToMaster::Stored { block } => {
                let next = self.outputs.portion_stored(block);
                self.continue_output(now, block, next, actions);
            }
            ToMaster::Written { block } => {
                let next = self.outputs.portion_written(block);
                self.continue_output(now, block, next, actions);
            }
            ToMaster::CollectiveWritten => self.collective_written(now, actions),
            ToMaster::Failed(failure) => {
                self.send_to_supermaster(now, ToSupermaster::Failed(failure), actions);
            }
            ToMaster::Ping => {}
        }
    }

    /// Returns the workers of the group in turn, for output that any worker can write.
    fn next_worker(&mut self) -> WorkerId {
        self.next_turn = (self.next_turn + 1) % self.members.len() as u32;
        self.worker(self.next_turn)
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
                self.begin_search(now, block, (pass, queries), actions);
            }
            (Pending::Absorb(block, pass), MasterOutcome::Absorbed { cut }) => {
                self.record_absorbed_result(now, (block, pass), cut, actions);
            }
            (Pending::Round(block, pass), MasterOutcome::Ask(parts)) => {
                self.ask(now, (block, pass), parts, actions);
            }
            (Pending::Round(block, pass), MasterOutcome::Verify { found }) => {
                self.send_for_verification(now, (block, pass), found, actions);
            }
            (Pending::Round(block, _), MasterOutcome::NextPass { queries }) => {
                self.begin_next_pass(now, block, queries, actions);
            }
            (Pending::Round(block, _), MasterOutcome::Layout(layout)) => {
                self.lay_out(now, block, layout, actions);
            }
            (Pending::Gather(gathering), MasterOutcome::Gathered(bytes)) => {
                self.receive_gathered(now, gathering, bytes, actions);
            }
            (pending, _) => {
                unreachable!("the driver ended {pending:?} with another work's outcome")
            }
        }
    }

    /// Starts the next waiting work if no work is running.
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
        self.supply = BlockSupply::Ended;
        self.preparing = 0;
        self.works.retain(|(pending, _)| !matches!(pending, Pending::Prepare(_)));
        for block in self.queue.clear() {
            self.searches.remove(&block);
        }
        // The blocks before them, for which they wait, may have been dropped.
        self.searches.retain(|_, search| !search.awaits_verification());
        self.send_to_all(now, &ToWorker::Drain, actions);
    }

    /// Reports the end of the drain to the supermaster. It has ended when every block that can be
    /// finished is durable and no collective write is under way.
    fn report_drained(&mut self, now: Time, actions: &mut Actions<P>) {
        let writing = self.outputs.is_storing() || self.collective.is_writing();
        let ended = self.searches.is_empty() && !writing;
        if self.draining && ended && !self.drained {
            self.drained = true;
            self.send_to_supermaster(now, ToSupermaster::Drained, actions);
        }
    }

    fn stop(&mut self, now: Time, exit: JobEnd, actions: &mut Actions<P>) {
        self.send_to_all(now, &ToWorker::Stop(exit), actions);
        actions.push(Action::Exit(exit));
    }

    fn tick(&mut self, now: Time, actions: &mut Actions<P>) {
        if let Some((peer, silence)) = self.peers.longest_silent(now) {
            let (who, rank) = match peer {
                0 => ("the supermaster", self.topology.supermaster),
                peer => ("the worker", self.topology.worker(self.worker(peer as u32 - 1)).rank),
            };
            let cause = format!("{who} was silent for {:.1} s", silence.seconds());
            actions.push(Action::Fail(Failure { rank, code: Failure::SILENT_RANK_CODE, cause }));
        }
        for peer in self.peers.peers_to_ping(now) {
            match peer {
                0 => self.send_to_supermaster(now, ToSupermaster::Ping, actions),
                peer => {
                    self.send_to_worker(now, self.worker(peer as u32 - 1), ToWorker::Ping, actions);
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
            Event::Message { from, message } => self.receive(now, from, message, actions),
            Event::Done { ticket, outcome } => self.done(now, ticket, outcome, actions),
            Event::Failed { code, cause, .. } => {
                let failure = Failure { rank: self.rank(), code, cause };
                self.send_to_supermaster(now, ToSupermaster::Failed(failure), actions);
            }
            Event::Tick => self.tick(now, actions),
            // The master sends nothing with a receipt, and the driver sends `Drain` only to the
            // supermaster.
            Event::Sent { .. } | Event::Drain => {}
        }
        self.request_blocks(now, actions);
        self.begin_collective(now, actions);
        self.compute(actions);
        self.report_drained(now, actions);
    }
}
