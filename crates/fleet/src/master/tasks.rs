//! Assigns tasks to workers, and runs the rounds of questions and replies.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::ids::{BlockId, PartitionId, PassId, Time, WorkerId};
use crate::message::{ToSupermaster, ToWorker};
use crate::payload::{Payload, Queries};
use crate::work::MasterWork;

use super::searching::BlockSearch;
use super::{Actions, BlockSupply, Master, Pending};

/// Weight of the newest task in the moving average of task times.
const NEWEST: f64 = 1.0 / 16.0;
/// Number of ended passes from which on a worker gets a message to drop their data.
const MOST_KEPT: usize = 4;

impl<P: Payload> Master<P> {
    /// Queues new blocks for preparation before all other works, because workers may be waiting for
    /// their tasks.
    pub(super) fn queue_blocks(&mut self, blocks: Vec<(BlockId, Queries<P>)>) {
        if self.draining {
            return;
        }
        self.supply = BlockSupply::Open;
        self.preparing += blocks.len() as u32;
        let first =
            self.works.partition_point(|(pending, _)| matches!(pending, Pending::Prepare(_)));
        for (place, (block, Queries { payload: queries, weight })) in (first..).zip(blocks) {
            self.unfinished.insert(block, weight.sequences);
            self.works
                .insert(place, (Pending::Prepare(block), MasterWork::Prepare { block, queries }));
        }
    }

    /// Begins the search of a block whose queries are prepared.
    pub(super) fn begin_search(
        &mut self,
        now: Time,
        block: BlockId,
        (pass, queries): (PassId, P),
        actions: &mut Actions<P>,
    ) {
        if self.draining {
            return;
        }
        self.preparing -= 1;
        let (partitions, workers) = (self.topology.partitions as usize, self.members.len());
        let search = BlockSearch::new(self.blocks_received, pass, queries, partitions, workers);
        self.blocks_received += 1;
        self.begin(now, block, search, actions);
    }

    /// Begins the next pass of a block. Its tasks come before those of blocks that have not begun.
    /// During a drain the block is dropped instead, because workers take no more tasks.
    pub(super) fn begin_next_pass(
        &mut self,
        now: Time,
        block: BlockId,
        queries: P,
        actions: &mut Actions<P>,
    ) {
        let Some(search) = self.searches.remove(&block) else { return };
        self.end_pass(now, block, &search, actions);
        if !self.draining {
            self.begin(now, block, search.begin_next_pass(queries), actions);
        }
    }

    /// Queues the tasks of a pass, and assigns as many of them as the workers can take.
    fn begin(
        &mut self,
        now: Time,
        block: BlockId,
        search: BlockSearch<P>,
        actions: &mut Actions<P>,
    ) {
        self.queue.push(search.number(), block, search.pass());
        self.searches.insert(block, search);
        // Each worker gets one task before any worker gets a second one, until no task can be
        // assigned.
        let mut before = u64::MAX;
        while self.queue.unassigned_tasks() < before && self.queue.unassigned_tasks() > 0 {
            before = self.queue.unassigned_tasks();
            let workers_with_room: Vec<u32> =
                self.workers_with_room.iter().map(|&(_, member)| member).collect();
            for member in workers_with_room {
                self.assign_task(now, member, actions);
            }
        }
    }

    /// Notes that a pass is finished, so that its workers may drop their data of the pass.
    /// Usually a worker's next task carries this notice. A worker that only answers questions gets
    /// a message.
    pub(super) fn end_pass(
        &mut self,
        now: Time,
        block: BlockId,
        search: &BlockSearch<P>,
        actions: &mut Actions<P>,
    ) {
        for member in search.with_queries() {
            let forget = &mut self.members[member as usize].forget;
            forget.push((block, search.pass()));
            if forget.len() >= MOST_KEPT {
                let passes = std::mem::take(forget);
                self.send_to_worker(now, self.worker(member), ToWorker::Forget { passes }, actions);
            }
        }
    }

    /// Returns the state of a block if `pass` is its current pass. Returns `None` for blocks that a
    /// drain dropped. Messages about an earlier pass must not count for the current one.
    fn searching(&mut self, block: BlockId, pass: PassId) -> Option<&mut BlockSearch<P>> {
        self.searches.get_mut(&block).filter(|search| search.pass() == pass)
    }

    /// Assigns a task to a worker that can take one. A worker gets a second task only while there
    /// are enough for all workers and tasks are short. A second task saves only the time of a
    /// message. Behind a long task it would wait and delay the end of the job, while other workers
    /// are idle. So a worker with unanswered questions gets no task while tasks are long and other
    /// workers hold the same partitions.
    pub(super) fn assign_task(&mut self, now: Time, member: u32, actions: &mut Actions<P>) {
        let state = &self.members[member as usize];
        let plenty = self.queue.unassigned_tasks() >= self.members.len() as u64;
        let short = self.task_seconds < self.config.prefetch_below.seconds();
        let room = if plenty && short { 1 + self.config.prefetch } else { 1 };
        if !state.ready || (!state.asked.is_empty() && !short && self.has_replicas()) {
            return;
        }
        self.workers_with_room.remove(&(state.tasks, member));
        if state.tasks < room
            && let Some((block, pass, partition)) =
                self.queue.assign_next(self.topology.partitions_of(self.worker(member)))
            && let Some(search) = self.searches.get_mut(&block)
        {
            let (queries, cut) = search.assign(partition, member);
            let state = &mut self.members[member as usize];
            if state.tasks == 0 {
                state.since = now;
            }
            state.tasks += 1;
            let forget = std::mem::take(&mut state.forget);
            let message = ToWorker::Assign { block, pass, partition, queries, cut, forget };
            self.send_to_worker(now, self.worker(member), message, actions);
        }
        let tasks = self.members[member as usize].tasks;
        if tasks <= self.config.prefetch {
            self.workers_with_room.insert((tasks, member));
        }
    }

    /// Whether several workers of the group hold the same partition.
    fn has_replicas(&self) -> bool {
        let last = self.first + self.members.len() as u32 - 1;
        self.topology.worker(WorkerId(last)).replica > 0
    }

    /// Notes that a worker has one assigned task fewer.
    pub(super) fn task_ended(&mut self, member: u32) {
        let state = &mut self.members[member as usize];
        self.workers_with_room.remove(&(state.tasks, member));
        state.tasks = state.tasks.saturating_sub(1);
        if state.ready {
            self.workers_with_room.insert((state.tasks, member));
        }
    }

    /// Adds the time of the task that a worker has just searched to the mean time of a task.
    pub(super) fn measure_task(&mut self, now: Time, member: u32) {
        let state = &mut self.members[member as usize];
        let took = now.since(state.since).seconds();
        state.since = now;
        self.task_seconds += (took - self.task_seconds) * NEWEST;
    }

    /// Asks the supermaster for blocks when the workers have few tasks left.
    pub(super) fn request_blocks(&mut self, now: Time, actions: &mut Actions<P>) {
        let wanted = self.members.len() as f64 * self.config.look_ahead;
        let coming = u64::from(self.preparing) * u64::from(self.topology.partitions);
        let short = ((self.queue.unassigned_tasks() + coming) as f64) < wanted;
        // Blocks that are being written must not pile up either, so they count.
        let open = self.unfinished.blocks() + self.outputs.placing();
        let window = open < self.config.most_unfinished_blocks as usize
            && self.unfinished.queries() < self.config.most_unfinished_queries;
        if self.supply == BlockSupply::Open && !self.draining && short && window {
            self.supply = BlockSupply::Asked;
            self.send_to_supermaster(now, ToSupermaster::RequestBlocks, actions);
        }
    }

    pub(super) fn absorb_result(
        &mut self,
        block: BlockId,
        pass: PassId,
        partition: PartitionId,
        hits: P,
    ) {
        let Some(search) = self.searching(block, pass) else { return };
        if search.record_searched_task(partition) {
            let work = MasterWork::MergeHits { block, pass, partition, hits };
            self.works.push_back((Pending::Absorb(block, pass), work));
        }
    }

    /// Notes that a worker dropped an assigned task. Drops its block.
    pub(super) fn record_dropped_task(&mut self, block: BlockId, pass: PassId) {
        if self.searching(block, pass).is_some() {
            self.searches.remove(&block);
        }
    }

    pub(super) fn record_absorbed_result(
        &mut self,
        now: Time,
        (block, pass): (BlockId, PassId),
        cut: Option<P>,
        actions: &mut Actions<P>,
    ) {
        let Some(search) = self.searching(block, pass) else { return };
        let raise = search.absorb(cut);
        if search.is_searched() {
            let work = MasterWork::DecideNextStep { block, pass, round: 0, replies: Vec::new() };
            self.works.push_back((Pending::Round(block, pass), work));
        }
        let Some((cut, searching)) = raise else { return };
        for member in searching {
            let message = ToWorker::RaiseCut { block, pass, cut: cut.clone() };
            self.send_to_worker(now, self.worker(member), message, actions);
        }
    }

    /// Sends the results of a pass to the supermaster for verification. During a drain the block is
    /// dropped, because the blocks before it may have been dropped.
    pub(super) fn send_for_verification(
        &mut self,
        now: Time,
        (block, pass): (BlockId, PassId),
        found: P,
        actions: &mut Actions<P>,
    ) {
        if self.draining {
            self.searches.remove(&block);
        } else if let Some(search) = self.searching(block, pass) {
            search.set_awaits_verification(true);
            self.send_to_supermaster(now, ToSupermaster::Verify { block, pass, found }, actions);
        }
    }

    /// Receives the supermaster's verdict on a pass, and starts the work that decides the next
    /// step.
    pub(super) fn receive_verdict(&mut self, block: BlockId, pass: PassId, verdict: P) {
        let Some(search) = self.searching(block, pass) else { return };
        search.set_awaits_verification(false);
        let work = MasterWork::Verified { block, pass, verdict };
        self.works.push_back((Pending::Round(block, pass), work));
    }

    pub(super) fn ask(
        &mut self,
        now: Time,
        (block, pass): (BlockId, PassId),
        parts: Vec<(PartitionId, P)>,
        actions: &mut Actions<P>,
    ) {
        self.balance_answers(block, pass, &parts);
        let Some(search) = self.searching(block, pass) else { return };
        let mut questions: BTreeMap<u32, Vec<(PartitionId, P)>> = BTreeMap::new();
        for (partition, part) in parts {
            let Some(answerer) = search.answerer(pass, partition) else {
                let cause = format!(
                    "query block {block}: partition {partition} was asked for before it was searched"
                );
                return self.fault(now, cause, actions);
            };
            questions.entry(answerer).or_default().push((partition, part));
        }
        search.ask(questions.len() as u32);
        for (member, parts) in questions {
            let bytes = parts.iter().map(|(_, part)| part.bytes()).sum();
            self.members[member as usize].asked.push_back(bytes);
            self.send_to_worker(
                now,
                self.worker(member),
                ToWorker::AnswerRound { block, pass, questions: parts },
                actions,
            );
        }
    }

    /// Chooses the worker that answers for each partition, before the first round, where several
    /// workers hold a partition. Alignment may take much longer than the search, and the search was
    /// distributed by chance. Partitions are assigned by the size of their question, the largest
    /// first. Each goes to the worker with the fewest bytes to answer, among those that hold it and
    /// have the queries.
    fn balance_answers(&mut self, block: BlockId, pass: PassId, parts: &[(PartitionId, P)]) {
        let replicated = self.has_replicas();
        let known = self.searches.get_mut(&block).filter(|search| search.pass() == pass);
        let Some(search) = known else { return };
        if search.rounds() > 0 || !replicated {
            return;
        }
        let mut loads: BTreeMap<u32, u64> = search
            .with_queries()
            .map(|member| (member, self.members[member as usize].asked.iter().sum()))
            .collect();
        let mut parts: Vec<_> =
            parts.iter().map(|(partition, part)| (part.bytes(), *partition)).collect();
        parts.sort_unstable_by_key(|&(bytes, partition)| (Reverse(bytes), partition));
        for (bytes, partition) in parts {
            let searcher = search.answerer(pass, partition);
            let holds = |member: u32| {
                let held = self.topology.partitions_of(WorkerId(self.first + member));
                held.binary_search(&partition).is_ok()
            };
            let least = loads
                .iter_mut()
                .filter(|(member, _)| holds(**member))
                .min_by_key(|(member, load)| (**load, Some(**member) != searcher));
            if let Some((&member, load)) = least {
                *load += bytes;
                search.hand_over(partition, member);
            }
        }
    }

    pub(super) fn reply(&mut self, block: BlockId, pass: PassId, reply: P) {
        let Some(search) = self.searching(block, pass) else { return };
        if let Some((round, replies)) = search.reply(reply) {
            let work = MasterWork::DecideNextStep { block, pass, round, replies };
            self.works.push_back((Pending::Round(block, pass), work));
        }
    }
}
