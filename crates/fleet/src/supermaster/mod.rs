//! The supermaster: hands blocks to groups and computes the offsets of their output.

mod offsets;
mod partial_grains;
mod queue;
#[cfg(test)]
mod tests;
mod verification;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::config::{Config, Schedule, Strategy};
use crate::end::{Failure, JobEnd};
use crate::health::PeerMonitor;
use crate::ids::{Address, BlockId, GroupId, Ticket, Time};
use crate::message::{Outgoing, ToMaster, ToSupermaster};
use crate::payload::{Payload, Queries};
use crate::role::{Action, Event, Role};
use crate::topology::Topology;
use crate::work::{SupermasterOutcome, SupermasterWork};

use self::offsets::{BlockOffsets, FinishedBlock};
use self::partial_grains::PartialGrains;
use self::queue::{BlockQueue, QuerySegment};
use self::verification::VerificationQueue;

type Actions<P> = Vec<Action<P, SupermasterWork<P>>>;

/// Most residues of the first block for which all groups may wait before further blocks are read.
const SHORT_FIRST: u64 = 20_000;

/// State of a drain: the job is ending early.
#[derive(Clone, Copy, Debug)]
struct Drain {
    /// Time at which the drain ends at the latest.
    deadline: Time,
    /// Number of groups that have not reported the end of their drain.
    groups: usize,
}

/// The supermaster of a job, as a state machine.
#[derive(Debug)]
pub struct Supermaster<P> {
    config: Arc<Config>,
    topology: Arc<Topology>,
    /// Blocks that an earlier run finished, with the bytes of their output.
    earlier: BTreeMap<BlockId, u64>,
    tickets: u64,
    running: Option<Ticket>,
    queue: BlockQueue<P>,
    /// The next block to read.
    next: BlockId,
    input_ended: bool,
    dealt: bool,
    /// Groups that have asked for blocks, in the order of asking.
    wanting: VecDeque<GroupId>,
    /// Offsets of blocks in the output; `None` until the output is open.
    offsets: Option<BlockOffsets>,
    placed: u32,
    partial_grains: PartialGrains<P>,
    verification: VerificationQueue<P>,
    first_is_short: bool,
    /// Whether the work that began last writes partial grains to the output.
    wrote: bool,
    closing: bool,
    drain: Option<Drain>,
    /// Times of messages; peer `n` is the master of group `n`.
    peers: PeerMonitor,
}

impl<P: Payload> Supermaster<P> {
    /// Creates the supermaster of a job. `earlier` has the blocks that the checkpoint holds, with
    /// the bytes of their output.
    pub fn new(
        config: &Arc<Config>,
        topology: &Arc<Topology>,
        earlier: BTreeMap<BlockId, u64>,
    ) -> Supermaster<P> {
        Supermaster {
            config: Arc::clone(config),
            topology: Arc::clone(topology),
            earlier,
            tickets: 0,
            running: None,
            queue: BlockQueue::new(config, topology.workers.len(), topology.partitions),
            next: BlockId(0),
            input_ended: false,
            dealt: false,
            wanting: VecDeque::new(),
            offsets: None,
            placed: 0,
            partial_grains: PartialGrains::new(config.exclusive_grain()),
            verification: VerificationQueue::new(),
            first_is_short: false,
            wrote: false,
            closing: false,
            drain: None,
            peers: PeerMonitor::new(topology.groups.len(), config.heartbeat),
        }
    }

    /// Returns the bytes of finished output that wait because an earlier block is not finished.
    pub fn waiting_bytes(&self) -> u64 {
        self.offsets.as_ref().map_or(0, BlockOffsets::waiting_bytes)
    }

    fn groups(&self) -> u32 {
        self.topology.groups.len() as u32
    }

    fn send_to_master(
        &mut self,
        now: Time,
        to: GroupId,
        message: ToMaster<P>,
        actions: &mut Actions<P>,
    ) {
        self.peers.note_sent(to.index(), now);
        actions.push(Action::Send { message: Outgoing::Master(to, message), receipt: None });
    }

    fn send_to_all(&mut self, now: Time, message: &ToMaster<P>, actions: &mut Actions<P>) {
        for group in 0..self.groups() {
            self.send_to_master(now, GroupId(group), message.clone(), actions);
        }
    }

    fn run(&mut self, work: SupermasterWork<P>, actions: &mut Actions<P>) {
        self.wrote = matches!(work, SupermasterWork::Write(_));
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.running = Some(ticket);
        actions.push(Action::Run { ticket, work });
    }

    fn receive(
        &mut self,
        now: Time,
        group: GroupId,
        message: ToSupermaster<P>,
        actions: &mut Actions<P>,
    ) {
        self.peers.note_received(group.index(), now);
        match message {
            ToSupermaster::RequestBlocks => self.wanting.push_back(group),
            ToSupermaster::Finished { block, size, held } => {
                self.record_finished_block(
                    now,
                    block,
                    FinishedBlock { size, held, group: Some(group) },
                    actions,
                );
            }
            ToSupermaster::Verify { block, pass, found } => {
                self.verification.add(block, (group, pass, found));
            }
            ToSupermaster::Placed { .. } => self.placed += 1,
            ToSupermaster::Drained => {
                if let Some(drain) = &mut self.drain {
                    drain.groups -= 1;
                }
            }
            ToSupermaster::Failed(failure) => actions.push(Action::Fail(failure)),
            ToSupermaster::Drain => self.drain(now, actions),
            ToSupermaster::PartialGrain { offset, bytes } => self.end(offset, bytes, actions),
            ToSupermaster::Advanced { .. } | ToSupermaster::Ping => {}
        }
    }

    fn done(&mut self, now: Time, outcome: SupermasterOutcome<P>, actions: &mut Actions<P>) {
        match outcome {
            SupermasterOutcome::Opened { base } => self.offsets = Some(BlockOffsets::new(base)),
            SupermasterOutcome::Read(queries) => self.read(now, queries, actions),
            SupermasterOutcome::Verified { is_confirmed, verdict } => {
                if let Some((block, group, pass)) = self.verification.end(is_confirmed) {
                    self.send_to_master(
                        now,
                        group,
                        ToMaster::Verified { block, pass, verdict },
                        actions,
                    );
                }
            }
            SupermasterOutcome::Written => self.partial_grains.record_written_grains(),
            SupermasterOutcome::Closed => {
                self.send_to_all(now, &ToMaster::Stop(JobEnd::Completed), actions);
                actions.push(Action::Exit(JobEnd::Completed));
            }
        }
    }

    fn read(&mut self, now: Time, queries: Option<Queries<P>>, actions: &mut Actions<P>) {
        let Some(queries) = queries else {
            self.input_ended = true;
            return self.queue.end();
        };
        let block = self.next;
        self.next = block.next();
        if block == BlockId(0) {
            self.first_is_short = queries.weight.residues <= SHORT_FIRST;
        }
        match self.earlier.remove(&block) {
            Some(size) => {
                self.queue.skip(queries.weight);
                self.verification.skip(block);
                self.record_finished_block(
                    now,
                    block,
                    FinishedBlock { size, held: 0, group: None },
                    actions,
                );
            }
            None => self.queue.push(block, queries),
        }
    }

    fn record_finished_block(
        &mut self,
        now: Time,
        block: BlockId,
        finished: FinishedBlock,
        actions: &mut Actions<P>,
    ) {
        let Some(offsets) = &mut self.offsets else { return };
        let known = offsets.finish_block(block, finished);
        if self.drain.is_some() {
            return;
        }
        let mut bases: BTreeMap<GroupId, Vec<(BlockId, u64)>> = BTreeMap::new();
        for (block, base, FinishedBlock { size, group, .. }) in known {
            self.partial_grains.expect_block(base, size);
            if let Some(group) = group {
                bases.entry(group).or_default().push((block, base));
            } else {
                let any_group = GroupId(block.0 % self.groups());
                self.send_to_master(
                    now,
                    any_group,
                    ToMaster::Restore { block, base, size },
                    actions,
                );
            }
        }
        for (group, bases) in bases {
            self.send_to_master(now, group, ToMaster::BlockOffsets { offsets: bases }, actions);
        }
    }

    /// Handles bytes of a partial grain that a worker handed over.
    fn end(&mut self, offset: u64, bytes: P, actions: &mut Actions<P>) {
        if !self.partial_grains.receive(offset, bytes) {
            let cause =
                format!("more bytes of the report were handed over than there are, at {offset}");
            let (rank, code) = (self.topology.supermaster, Failure::FAULT_CODE);
            actions.push(Action::Fail(Failure { rank, code, cause }));
        }
    }

    /// Hands blocks to the groups that asked for them, unless too much output waits for an earlier
    /// block.
    fn hand_out(&mut self, now: Time, actions: &mut Actions<P>) {
        if self.config.schedule != Schedule::Dynamic {
            return self.assign_all(now, actions);
        }
        let Some(offsets) = &self.offsets else { return };
        // The oldest unfinished block is always handed out, because all later blocks wait for it.
        let held = self.config.strategy != Strategy::Records;
        let waiting = if held { offsets.waiting_bytes() + self.partial_grains.bytes() } else { 0 };
        let (oldest, full) = (offsets.next(), waiting > self.config.waiting_limit);
        while !self.wanting.is_empty() && !self.queue.is_empty() {
            // Blocks that wait for verification take room at their masters. No master may run out
            // of room before some group searches the block that must be verified first.
            let awaited =
                self.verification.awaited_block().and_then(|block| self.queue.take_block(block));
            let blocks = match awaited {
                Some(blocks) => blocks,
                None if full => {
                    let Some(blocks) = self.queue.take_block(oldest) else { return };
                    blocks
                }
                None => self.queue.take_query_segment(self.groups()),
            };
            let Some(group) = self.wanting.pop_front() else { return };
            self.send_to_master(now, group, ToMaster::AssignBlocks { blocks }, actions);
        }
        if self.input_ended && self.queue.is_empty() {
            while let Some(group) = self.wanting.pop_front() {
                self.send_to_master(now, group, ToMaster::NoMore, actions);
            }
        }
    }

    /// Hands out all blocks at once, by a static schedule.
    fn assign_all(&mut self, now: Time, actions: &mut Actions<P>) {
        if !self.input_ended || self.dealt {
            return;
        }
        self.dealt = true;
        let shares: Vec<QuerySegment<P>> = self.queue.split(self.config.schedule, self.groups());
        for (group, blocks) in shares.into_iter().enumerate() {
            let group = GroupId(group as u32);
            self.send_to_master(now, group, ToMaster::AssignBlocks { blocks }, actions);
            self.send_to_master(now, group, ToMaster::NoMore, actions);
        }
    }

    /// Starts the next work, if no work is running and there is one to do.
    fn work(&mut self, actions: &mut Actions<P>) {
        if self.running.is_some() {
            return;
        }
        let Some(offsets) = &self.offsets else {
            return self.run(SupermasterWork::Open, actions);
        };
        // Verification comes first, because whole groups may be waiting for it.
        if let Some((block, pass, results)) = self.verification.begin() {
            return self.run(SupermasterWork::Verify { block, pass, results }, actions);
        }
        let wanted = self.config.schedule != Schedule::Dynamic
            || self.queue.is_empty()
            || self.queue.bytes() < self.config.read_ahead;
        let reads = !self.input_ended && wanted && !self.awaits_first_block();
        // Reading and writing take turns, so that neither waits long for the other.
        if !(reads && self.wrote)
            && let Some(partial_grains) = self.partial_grains.next()
        {
            return self.run(SupermasterWork::Write(partial_grains), actions);
        }
        if reads {
            let block = self.next;
            let skip = self.earlier.contains_key(&block);
            return self.run(SupermasterWork::Read { block, skip }, actions);
        }
        let all_placed = self.input_ended
            && offsets.next() == self.next
            && self.placed == self.next.0
            && self.partial_grains.is_complete();
        if all_placed && !self.closing {
            self.closing = true;
            let offset = offsets.offset();
            self.run(SupermasterWork::Close { offset }, actions);
        }
    }

    /// Whether reading must wait until the first block is verified, because the predictions for the
    /// other blocks depend on it. It waits only for a short first block.
    fn awaits_first_block(&self) -> bool {
        let is_predicted = self.config.verifies_blocks && self.config.schedule == Schedule::Dynamic;
        is_predicted
            && self.next == BlockId(1)
            && self.first_is_short
            && !self.verification.has_begun()
    }

    fn drain(&mut self, now: Time, actions: &mut Actions<P>) {
        if self.drain.is_some() || self.closing {
            return;
        }
        // Without a checkpoint, blocks that could still be finished would not be kept.
        let groups = if self.config.checkpoint { self.topology.groups.len() } else { 0 };
        self.drain = Some(Drain { deadline: now + self.config.drain_limit, groups });
        if groups > 0 {
            self.send_to_all(now, &ToMaster::Drain, actions);
        }
    }

    /// Ends a drain when all groups have reported its end, or when its time is up.
    fn end_drain(&mut self, now: Time, actions: &mut Actions<P>) {
        let Some(drain) = self.drain else { return };
        if drain.groups == 0 || now >= drain.deadline {
            self.send_to_all(now, &ToMaster::Stop(JobEnd::Drained), actions);
            actions.push(Action::Exit(JobEnd::Drained));
        }
    }

    fn tick(&mut self, now: Time, actions: &mut Actions<P>) {
        if let Some((group, silence)) = self.peers.longest_silent(now) {
            let cause =
                format!("the master of group {group} was silent for {:.1} s", silence.seconds());
            let rank = self.topology.groups[group].master;
            actions.push(Action::Fail(Failure { rank, code: Failure::SILENT_RANK_CODE, cause }));
        }
        for group in self.peers.peers_to_ping(now) {
            self.send_to_master(now, GroupId(group as u32), ToMaster::Ping, actions);
        }
    }
}

impl<P: Payload> Role<P> for Supermaster<P> {
    type Message = ToSupermaster<P>;
    type Work = SupermasterWork<P>;
    type Outcome = SupermasterOutcome<P>;

    fn handle(
        &mut self,
        now: Time,
        event: Event<ToSupermaster<P>, SupermasterOutcome<P>>,
        actions: &mut Actions<P>,
    ) {
        match event {
            Event::Start | Event::Sent { .. } => {}
            Event::Message { from: Address::Master(group), message } => {
                self.receive(now, group, message, actions);
            }
            Event::Message { message: ToSupermaster::Drain, .. } => self.drain(now, actions),
            Event::Message { message: ToSupermaster::PartialGrain { offset, bytes }, .. } => {
                self.end(offset, bytes, actions);
            }
            Event::Message { .. } => {}
            Event::Done { ticket, outcome } => {
                if self.running.take_if(|running| *running == ticket).is_some() {
                    self.done(now, outcome, actions);
                }
            }
            Event::Failed { code, cause, .. } => {
                let rank = self.topology.supermaster;
                actions.push(Action::Fail(Failure { rank, code, cause }));
            }
            Event::Tick => self.tick(now, actions),
            Event::Drain => self.drain(now, actions),
        }
        if self.drain.is_some() {
            return self.end_drain(now, actions);
        }
        self.hand_out(now, actions);
        self.work(actions);
    }
}
