//! A block while it is searched.

use std::collections::BTreeMap;

use crate::ids::{PartitionId, PassId};
use crate::payload::Payload;

/// What is known of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    Unassigned,
    /// Assigned to the worker with this number in the group.
    With(u32),
    /// Searched, and this worker answers for it: the one that searched it, unless another took that over.
    Searched(u32),
}

/// A pass of a block, from when its queries are there until the next one begins or the block's output is laid out.
#[derive(Debug)]
pub struct Searching<P> {
    number: u64,
    pass: PassId,
    /// The tasks of the passes before this one that were searched here.
    earlier: BTreeMap<PassId, Vec<Task>>,
    queries: P,
    /// Per partition.
    tasks: Vec<Task>,
    /// Which workers of the group have the queries, a bit each.
    informed: Vec<u64>,
    absorbed: u32,
    /// Tells the searching workers of the cut when so many results are absorbed.
    next_raise: u32,
    cut: Option<P>,
    /// The supermaster judges the pass.
    consults: bool,
    round: u32,
    awaited: u32,
    replies: Vec<P>,
}

impl<P: Payload> Searching<P> {
    /// The pass with which a block begins, none of its tasks assigned; `number` blocks came to the group before.
    pub fn new(
        number: u64,
        pass: PassId,
        queries: P,
        partitions: usize,
        workers: usize,
    ) -> Searching<P> {
        Searching {
            number,
            pass,
            earlier: BTreeMap::new(),
            queries,
            tasks: vec![Task::Unassigned; partitions],
            informed: vec![0; workers.div_ceil(64)],
            absorbed: 0,
            next_raise: 1,
            cut: None,
            consults: false,
            round: 0,
            awaited: 0,
            replies: Vec::new(),
        }
    }

    /// The pass after this one, which is over. But for who answered for what, nothing of this one is left.
    #[must_use]
    pub fn again(self, queries: P) -> Searching<P> {
        let Searching { number, pass, mut earlier, tasks, informed, .. } = self;
        let (partitions, workers) = (tasks.len(), 64 * informed.len());
        earlier.insert(pass, tasks);
        Searching { earlier, ..Searching::new(number, pass.next(), queries, partitions, workers) }
    }

    /// How many blocks came to the group before this one.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The pass that is searched.
    pub fn pass(&self) -> PassId {
        self.pass
    }

    /// Notes an assignment; returns the queries if the worker needs them, and the cut.
    pub fn assign(&mut self, partition: PartitionId, worker: u32) -> (Option<P>, Option<P>) {
        self.tasks[partition.index()] = Task::With(worker);
        let (word, bit) = (worker as usize / 64, 1 << (worker % 64));
        let new = self.informed[word] & bit == 0;
        self.informed[word] |= bit;
        (new.then(|| self.queries.clone()), self.cut.clone())
    }

    /// Notes that a task is searched. False if it was not assigned.
    pub fn searched(&mut self, partition: PartitionId) -> bool {
        let Some(task) = self.tasks.get_mut(partition.index()) else { return false };
        let Task::With(worker) = *task else { return false };
        *task = Task::Searched(worker);
        true
    }

    /// Notes that a result is absorbed. Returns the cut and the workers to be told of it, now and then: when the results
    /// absorbed have doubled, so that a block costs a group few messages whatever the number of partitions.
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
                Task::With(worker) => Some(*worker),
                _ => None,
            })
            .collect();
        searching.sort_unstable();
        searching.dedup();
        Some((cut, searching))
    }

    /// True if every partition's result is absorbed.
    pub fn is_searched(&self) -> bool {
        self.absorbed as usize == self.tasks.len()
    }

    /// The worker that answers for a partition that is searched, or did so in an earlier pass.
    pub fn answerer(&self, pass: PassId, partition: PartitionId) -> Option<u32> {
        let tasks = if pass == self.pass { &self.tasks } else { self.earlier.get(&pass)? };
        match tasks.get(partition.index()) {
            Some(Task::Searched(worker)) => Some(*worker),
            _ => None,
        }
    }

    /// From now on this worker, which has the queries, answers for a searched partition. Only before the first round: what
    /// comes of that one is kept where it was made.
    pub fn hand_over(&mut self, partition: PartitionId, worker: u32) {
        debug_assert!(self.round == 0 && self.answerer(self.pass, partition).is_some());
        self.tasks[partition.index()] = Task::Searched(worker);
    }

    /// Notes whether the supermaster judges the pass.
    pub fn consult(&mut self, consults: bool) {
        self.consults = consults;
    }

    /// Whether it does.
    pub fn consults(&self) -> bool {
        self.consults
    }

    /// Rounds of the pass that have begun.
    pub fn rounds(&self) -> u32 {
        self.round
    }

    /// Begins a round with this many workers.
    pub fn ask(&mut self, workers: u32) {
        self.round += 1;
        self.awaited = workers;
    }

    /// Takes a reply; when it is the last of its round, returns the number of rounds there were and all its replies.
    pub fn reply(&mut self, reply: P) -> Option<(u32, Vec<P>)> {
        self.replies.push(reply);
        self.awaited = self.awaited.saturating_sub(1);
        (self.awaited == 0).then(|| (self.round, std::mem::take(&mut self.replies)))
    }

    /// The workers that have the pass's queries.
    pub fn informed(&self) -> impl Iterator<Item = u32> + '_ {
        self.informed.iter().enumerate().flat_map(|(word, &bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word as u32 * 64 + bit)
        })
    }
}
