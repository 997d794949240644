//! The state of a block while its group searches it.

use std::collections::BTreeMap;

use crate::ids::{PartitionId, PassId};
use crate::payload::Payload;

/// State of the task of one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    Unassigned,
    /// Assigned to the worker with this number in the group.
    AssignedTo(u32),
    /// Searched. The worker with this number in the group answers questions about the partition. It
    /// is the worker that searched the task, unless the master chose another.
    Searched(u32),
}

/// The current pass of a block. It lasts from the preparation of its queries until the next pass
/// begins or the block's output is laid out.
#[derive(Debug)]
pub struct BlockSearch<P> {
    number: u64,
    pass: PassId,
    /// Tasks of earlier passes that this group searched.
    earlier: BTreeMap<PassId, Vec<Task>>,
    queries: P,
    /// State of the task of each partition.
    tasks: Vec<Task>,
    /// One bit for each worker of the group: whether it has the queries.
    with_queries: Vec<u64>,
    absorbed: u32,
    /// Number of absorbed results at which the cut is next sent to the workers that still search.
    next_raise: u32,
    cut: Option<P>,
    /// Whether the pass waits until the supermaster has verified it.
    awaits_verification: bool,
    round: u32,
    awaited: u32,
    replies: Vec<P>,
}

impl<P: Payload> BlockSearch<P> {
    /// Starts the first pass of a block, with no task assigned. `number` is the number of blocks
    /// that the group received before this one.
    pub fn new(
        number: u64,
        pass: PassId,
        queries: P,
        partitions: usize,
        workers: usize,
    ) -> BlockSearch<P> {
        BlockSearch {
            number,
            pass,
            earlier: BTreeMap::new(),
            queries,
            tasks: vec![Task::Unassigned; partitions],
            with_queries: vec![0; workers.div_ceil(64)],
            absorbed: 0,
            next_raise: 1,
            cut: None,
            awaits_verification: false,
            round: 0,
            awaited: 0,
            replies: Vec::new(),
        }
    }

    /// Starts the next pass of the block. Keeps the answerers of the ended pass, and nothing else
    /// of it.
    #[must_use]
    pub fn begin_next_pass(self, queries: P) -> BlockSearch<P> {
        let BlockSearch { number, pass, mut earlier, tasks, with_queries, .. } = self;
        let (partitions, workers) = (tasks.len(), 64 * with_queries.len());
        earlier.insert(pass, tasks);
        BlockSearch {
            earlier,
            ..BlockSearch::new(number, pass.next(), queries, partitions, workers)
        }
    }

    /// Returns the number of blocks that the group received before this one.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the current pass.
    pub fn pass(&self) -> PassId {
        self.pass
    }

    /// Notes that a task is assigned to a worker. Returns the queries if the worker does not have
    /// them yet, and the current cut.
    pub fn assign(&mut self, partition: PartitionId, worker: u32) -> (Option<P>, Option<P>) {
        self.tasks[partition.index()] = Task::AssignedTo(worker);
        let (word, bit) = (worker as usize / 64, 1 << (worker % 64));
        let new = self.with_queries[word] & bit == 0;
        self.with_queries[word] |= bit;
        (new.then(|| self.queries.clone()), self.cut.clone())
    }

    /// Notes that a worker has searched a task. Returns false if the task was not assigned.
    pub fn record_searched_task(&mut self, partition: PartitionId) -> bool {
        let Some(task) = self.tasks.get_mut(partition.index()) else { return false };
        let Task::AssignedTo(worker) = *task else { return false };
        *task = Task::Searched(worker);
        true
    }

    /// Notes that a result is absorbed, and the new cut if it rose. Each time the number of
    /// absorbed results has doubled, returns the cut and the workers to send it to. So a block
    /// costs a group few messages, whatever the number of partitions.
    pub fn absorb(&mut self, cut: Option<P>) -> Option<(P, Vec<u32>)> {
        self.absorbed += 1;
        if cut.is_some() {
            self.cut = cut;
        }
        if self.absorbed < self.next_raise {
            return None;
        }
        self.next_raise = 2 * self.absorbed;
        let cut = self.cut.clone()?;
        let mut searching: Vec<u32> = self
            .tasks
            .iter()
            .filter_map(|task| match task {
                Task::AssignedTo(worker) => Some(*worker),
                _ => None,
            })
            .collect();
        searching.sort_unstable();
        searching.dedup();
        Some((cut, searching))
    }

    /// Whether the results of all partitions are absorbed.
    pub fn is_searched(&self) -> bool {
        self.absorbed as usize == self.tasks.len()
    }

    /// Returns the worker that answers questions about a searched partition, in this pass or an
    /// earlier one.
    pub fn answerer(&self, pass: PassId, partition: PartitionId) -> Option<u32> {
        let tasks = if pass == self.pass { &self.tasks } else { self.earlier.get(&pass)? };
        match tasks.get(partition.index()) {
            Some(Task::Searched(worker)) => Some(*worker),
            _ => None,
        }
    }

    /// Makes another worker, which has the queries, the answerer of a searched partition. This is
    /// possible only before the first round, because a worker keeps data for later rounds.
    pub fn hand_over(&mut self, partition: PartitionId, worker: u32) {
        debug_assert!(self.round == 0 && self.answerer(self.pass, partition).is_some());
        self.tasks[partition.index()] = Task::Searched(worker);
    }

    /// Sets whether the pass waits for verification.
    pub fn set_awaits_verification(&mut self, awaits_verification: bool) {
        self.awaits_verification = awaits_verification;
    }

    /// Whether the pass waits for verification.
    pub fn awaits_verification(&self) -> bool {
        self.awaits_verification
    }

    /// Returns the number of rounds that have begun in this pass.
    pub fn rounds(&self) -> u32 {
        self.round
    }

    /// Begins a round in which this number of workers gets questions.
    pub fn ask(&mut self, workers: u32) {
        self.round += 1;
        self.awaited = workers;
    }

    /// Adds a reply of the current round. After its last reply, returns the number of rounds that
    /// have begun, and all replies of this round.
    pub fn reply(&mut self, reply: P) -> Option<(u32, Vec<P>)> {
        self.replies.push(reply);
        self.awaited = self.awaited.saturating_sub(1);
        (self.awaited == 0).then(|| (self.round, std::mem::take(&mut self.replies)))
    }

    /// Returns the workers of the group that have the queries of the pass.
    pub fn with_queries(&self) -> impl Iterator<Item = u32> + '_ {
        self.with_queries.iter().enumerate().flat_map(|(word, &bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word as u32 * 64 + bit)
        })
    }
}
