//! Giving tasks out, and rounds with those who answer for them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::ids::{BlockId, PartitionId, PassId, Time, WorkerId};
use crate::message::{ToSupermaster, ToWorker};
use crate::payload::{Payload, Queries};
use crate::work::MasterWork;

use super::searching::Searching;
use super::{Actions, Master, Pending, Supply};

/// The part of the newest task in the mean of what tasks take.
const NEWEST: f64 = 1.0 / 16.0;
/// Passes that a worker may keep though they are over.
const MOST_KEPT: usize = 4;

impl<P: Payload> Master<P> {
    /// Has new blocks prepared, before what else is to be done: workers may wait for their tasks.
    pub(super) fn segment(&mut self, blocks: Vec<(BlockId, Queries<P>)>) {
        if self.draining {
            return;
        }
        self.supply = Supply::Open;
        self.preparing += blocks.len() as u32;
        let first =
            self.works.partition_point(|(pending, _)| matches!(pending, Pending::Prepare(_)));
        for (place, (block, Queries { payload: queries, weight })) in (first..).zip(blocks) {
            self.unfinished.insert(block, weight.sequences);
            self.works
                .insert(place, (Pending::Prepare(block), MasterWork::Prepare { block, queries }));
        }
    }

    /// Gives out the tasks of a block that can be searched.
    pub(super) fn prepared(
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
        let search = Searching::new(self.came, pass, queries, partitions, workers);
        self.came += 1;
        self.begin(now, block, search, actions);
    }

    /// Has a block searched once more: its tasks come before those of blocks that have not begun. In a drain it would not
    /// be finished: workers take no more tasks.
    pub(super) fn again(
        &mut self,
        now: Time,
        block: BlockId,
        queries: P,
        actions: &mut Actions<P>,
    ) {
        let Some(search) = self.searches.remove(&block) else { return };
        self.end_pass(now, block, &search, actions);
        if !self.draining {
            self.begin(now, block, search.again(queries), actions);
        }
    }

    /// Gives out the tasks of a pass.
    fn begin(&mut self, now: Time, block: BlockId, search: Searching<P>, actions: &mut Actions<P>) {
        self.queue.push(search.number(), block, search.pass());
        self.searches.insert(block, search);
        // Everybody gets one before anybody gets another, until nobody gets one.
        let mut before = u64::MAX;
        while self.queue.unassigned() < before && self.queue.unassigned() > 0 {
            before = self.queue.unassigned();
            let hungry: Vec<u32> = self.hungry.iter().map(|&(_, member)| member).collect();
            for member in hungry {
                self.feed(now, member, actions);
            }
        }
    }

    /// Notes that no further round of a pass comes: workers with its queries may drop what they keep for it.
    /// Usually their next task carries the notice; a worker that only answers rounds gets a message.
    pub(super) fn end_pass(
        &mut self,
        now: Time,
        block: BlockId,
        search: &Searching<P>,
        actions: &mut Actions<P>,
    ) {
        for member in search.informed() {
            let forget = &mut self.members[member as usize].forget;
            forget.push((block, search.pass()));
            if forget.len() >= MOST_KEPT {
                let passes = std::mem::take(forget);
                self.tell(now, self.worker(member), ToWorker::Forget { passes }, actions);
            }
        }
    }

    /// The pass of a block, if that is searched now. Blocks that a drain dropped are not known any more; and what was said
    /// of an earlier pass must not be taken for the one under way.
    fn searching(&mut self, block: BlockId, pass: PassId) -> Option<&mut Searching<P>> {
        self.searches.get_mut(&block).filter(|search| search.pass() == pass)
    }

    /// Gives a worker a task if it has room. It may have more than one only while there are enough for all, and while tasks
    /// are short: a task waits behind another for as long as that takes, which may be long, while others are idle in the
    /// end; what it gains is the way of a message. For the same reason it gets none while it has a round to answer, which it
    /// does first, if others hold the same partitions.
    pub(super) fn feed(&mut self, now: Time, member: u32, actions: &mut Actions<P>) {
        let state = &self.members[member as usize];
        let plenty = self.queue.unassigned() >= self.members.len() as u64;
        let short = self.task_seconds < self.config.prefetch_below.seconds();
        let room = if plenty && short { 1 + self.config.prefetch } else { 1 };
        if !state.ready || (!state.asked.is_empty() && !short && self.has_replicas()) {
            return;
        }
        self.hungry.remove(&(state.tasks, member));
        if state.tasks < room
            && let Some((block, pass, partition)) =
                self.queue.take(self.topology.held(self.worker(member)))
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
            self.tell(now, self.worker(member), message, actions);
        }
        let tasks = self.members[member as usize].tasks;
        if tasks <= self.config.prefetch {
            self.hungry.insert((tasks, member));
        }
    }

    /// Whether partitions are held by several workers of the group.
    fn has_replicas(&self) -> bool {
        let last = self.first + self.members.len() as u32 - 1;
        self.topology.worker(WorkerId(last)).replica > 0
    }

    /// Notes that a worker has a task less.
    pub(super) fn relieve(&mut self, member: u32) {
        let state = &mut self.members[member as usize];
        self.hungry.remove(&(state.tasks, member));
        state.tasks = state.tasks.saturating_sub(1);
        if state.ready {
            self.hungry.insert((state.tasks, member));
        }
    }

    /// Notes what a task took that a worker has just searched.
    pub(super) fn time(&mut self, now: Time, member: u32) {
        let state = &mut self.members[member as usize];
        let took = now.since(state.since).seconds();
        state.since = now;
        self.task_seconds += (took - self.task_seconds) * NEWEST;
    }

    /// Asks for blocks when tasks run short: few for the workers there are.
    pub(super) fn ask_for_more(&mut self, now: Time, actions: &mut Actions<P>) {
        let wanted = self.members.len() as f64 * self.config.look_ahead;
        let coming = u64::from(self.preparing) * u64::from(self.topology.partitions);
        let short = ((self.queue.unassigned() + coming) as f64) < wanted;
        // What is being written must not pile up either.
        let open = self.unfinished.blocks() + self.outputs.placing();
        let window = open < self.config.window as usize
            && self.unfinished.queries() < self.config.window_queries;
        if self.supply == Supply::Open && !self.draining && short && window {
            self.supply = Supply::Asked;
            self.tell_supermaster(now, ToSupermaster::WantSegment, actions);
        }
    }

    pub(super) fn result(&mut self, block: BlockId, pass: PassId, partition: PartitionId, hits: P) {
        let Some(search) = self.searching(block, pass) else { return };
        if search.searched(partition) {
            let work = MasterWork::Absorb { block, pass, partition, hits };
            self.works.push_back((Pending::Absorb(block, pass), work));
        }
    }

    /// A worker will not search a task that it had.
    pub(super) fn dropped(&mut self, block: BlockId, pass: PassId) {
        if self.searching(block, pass).is_some() {
            self.searches.remove(&block);
        }
    }

    pub(super) fn absorbed(
        &mut self,
        now: Time,
        (block, pass): (BlockId, PassId),
        cut: Option<P>,
        actions: &mut Actions<P>,
    ) {
        let Some(search) = self.searching(block, pass) else { return };
        let raise = search.absorb(cut);
        if search.is_searched() {
            let work = MasterWork::Round { block, pass, round: 0, replies: Vec::new() };
            self.works.push_back((Pending::Round(block, pass), work));
        }
        let Some((cut, searching)) = raise else { return };
        for member in searching {
            let message = ToWorker::RaiseCut { block, pass, cut: cut.clone() };
            self.tell(now, self.worker(member), message, actions);
        }
    }

    /// Has a pass judged. In a drain it is dropped: the blocks before it may have been.
    pub(super) fn consult(
        &mut self,
        now: Time,
        (block, pass): (BlockId, PassId),
        found: P,
        actions: &mut Actions<P>,
    ) {
        if self.draining {
            self.searches.remove(&block);
        } else if let Some(search) = self.searching(block, pass) {
            search.consult(true);
            self.tell_supermaster(now, ToSupermaster::Found { block, pass, found }, actions);
        }
    }

    /// Takes the verdict.
    pub(super) fn judged(&mut self, block: BlockId, pass: PassId, verdict: P) {
        let Some(search) = self.searching(block, pass) else { return };
        search.consult(false);
        let work = MasterWork::Judged { block, pass, verdict };
        self.works.push_back((Pending::Round(block, pass), work));
    }

    pub(super) fn ask(
        &mut self,
        now: Time,
        (block, pass): (BlockId, PassId),
        parts: Vec<(PartitionId, P)>,
        actions: &mut Actions<P>,
    ) {
        self.share_out(block, pass, &parts);
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
            self.tell(now, self.worker(member), ToWorker::Ask { block, pass, parts }, actions);
        }
    }

    /// Before the first round, where partitions are held several times: decides who answers for each. To align may take much
    /// longer than to search, and who searched most of a block is by chance. The largest part first, each goes to the
    /// worker that has least to answer, of those that hold the partition and have the queries.
    fn share_out(&mut self, block: BlockId, pass: PassId, parts: &[(PartitionId, P)]) {
        let replicated = self.has_replicas();
        let known = self.searches.get_mut(&block).filter(|search| search.pass() == pass);
        let Some(search) = known else { return };
        if search.rounds() > 0 || !replicated {
            return;
        }
        let mut loads: BTreeMap<u32, u64> = search
            .informed()
            .map(|member| (member, self.members[member as usize].asked.iter().sum()))
            .collect();
        let mut parts: Vec<_> =
            parts.iter().map(|(partition, part)| (part.bytes(), *partition)).collect();
        parts.sort_unstable_by_key(|&(bytes, partition)| (Reverse(bytes), partition));
        for (bytes, partition) in parts {
            let searcher = search.answerer(pass, partition);
            let holds = |member: u32| {
                let held = self.topology.held(WorkerId(self.first + member));
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
            let work = MasterWork::Round { block, pass, round, replies };
            self.works.push_back((Pending::Round(block, pass), work));
        }
    }
}
