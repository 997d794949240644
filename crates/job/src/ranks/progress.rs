//! The progress of the groups, for users who watch the terminal.

use std::collections::{BTreeMap, VecDeque};
use std::mem::take;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fleetblast_fleet::ids::{BlockId, GroupId};
use fleetblast_fleet::message::ToSupermaster;
use fleetblast_fleet::payload::Queries;
use fleetblast_fleet::topology::Topology;

use super::wire::Bytes;
use crate::audience::{Audience, Stage};

/// Time that a group must have worked on a block before the group is shown.
const SHOWN_AFTER: Duration = Duration::from_secs(2);
/// Shortest time between two progress messages of a master whose rank has no supermaster.
const SEND_INTERVAL: Duration = Duration::from_secs(1);
/// Largest number of progress messages per second, of all masters together.
const MESSAGES_PER_SECOND: f64 = 1000.0;

/// The progress of all groups.
pub struct GroupProgress {
    audience: Arc<dyn Audience>,
    has_several_groups: bool,
    /// Number of tasks of a block.
    tasks: u64,
    /// Number of answers about a block, if all workers of the group have hits: one with alignments
    /// and one with pieces of the report from each worker.
    answers: u64,
    /// Blocks that are not finished.
    open: BTreeMap<BlockId, OpenBlock>,
    /// The blocks of `open` in the order of assignment, each with the time of its assignment. Some
    /// may have been finished since.
    order: VecDeque<(BlockId, Instant)>,
}

struct OpenBlock {
    group: GroupId,
    /// Number of tasks that were searched. After all tasks, answers count, too.
    done: u64,
}

impl GroupProgress {
    /// Creates the progress of all groups, to be shown to the audience.
    pub fn new(audience: Arc<dyn Audience>, topology: &Topology) -> Self {
        GroupProgress {
            audience,
            has_several_groups: topology.groups.len() > 1,
            tasks: u64::from(topology.partitions),
            answers: 2 * topology
                .groups
                .iter()
                .map(|group| group.workers.len() as u64)
                .max()
                .unwrap_or(1),
            open: BTreeMap::new(),
            order: VecDeque::new(),
        }
    }

    /// Adds blocks that a group receives.
    pub fn add_blocks(&mut self, group: GroupId, blocks: &[(BlockId, Queries<Bytes>)]) {
        let now = Instant::now();
        for (block, queries) in blocks {
            self.audience.open_block(block.0, queries.weight.sequences);
            self.open.insert(*block, OpenBlock { group, done: 0 });
            self.order.push_back((*block, now));
        }
    }

    /// Adds progress of blocks: numbers of searched tasks or, after all tasks, of answers.
    pub fn add_progress(&mut self, blocks: &[(BlockId, u32)]) {
        for &(block, more) in blocks {
            if let Some(open) = self.open.get_mut(&block) {
                open.done += u64::from(more);
                let share = match open.done.checked_sub(self.tasks) {
                    Some(answered) => Stage::Align.share(answered, self.answers),
                    None => Stage::Search.share(open.done, self.tasks),
                };
                self.audience.set_block_share(block.0, share);
            }
        }
    }

    /// Removes a block whose output is laid out.
    pub fn close_block(&mut self, block: BlockId) {
        if self.open.remove(&block).is_none() {
            return;
        }
        self.audience.close_block(block.0);
        while self.order.front().is_some_and(|(block, _)| !self.open.contains_key(block)) {
            self.order.pop_front();
        }
    }

    /// Shows the group that has worked on its block for longest, if the job has several groups.
    pub fn show_slowest(&self) {
        if !self.audience.is_watching() {
            return;
        }
        let oldest = self
            .order
            .front()
            .filter(|(_, since)| self.has_several_groups && since.elapsed() > SHOWN_AFTER);
        let text = oldest.and_then(|(block, since)| {
            let OpenBlock { group, .. } = self.open.get(block)?;
            let seconds = since.elapsed().as_secs();
            Some(format!(", slowest: group {group}, {seconds} s at block {block}"))
        });
        self.audience.show_note(text.unwrap_or_default());
    }

    /// Shows that the job is complete.
    pub fn finish(self) {
        self.audience.finish();
    }
}

/// The progress of one group since its master last sent progress to the supermaster.
pub struct ProgressTally {
    blocks: BTreeMap<BlockId, u32>,
    sent: Instant,
    interval: Duration,
}

impl ProgressTally {
    /// Creates the tally of a group, in a job with `groups` groups.
    pub fn new(groups: usize) -> Self {
        let interval =
            SEND_INTERVAL.max(Duration::from_secs_f64(groups as f64 / MESSAGES_PER_SECOND));
        ProgressTally { blocks: BTreeMap::new(), sent: Instant::now(), interval }
    }

    /// Adds a searched task of a block, or an answer.
    pub fn add_progress(&mut self, block: BlockId) {
        *self.blocks.entry(block).or_default() += 1;
    }

    /// Drops progress that this message of the master to the supermaster makes obsolete. After the
    /// master's last message, no progress may be sent, because the supermaster's rank may have
    /// ended.
    pub fn note_message(&mut self, message: &ToSupermaster<Bytes>) {
        match message {
            ToSupermaster::Finished { block, .. } => {
                self.blocks.remove(block);
            }
            ToSupermaster::Drained | ToSupermaster::Failed(_) => self.blocks.clear(),
            _ => {}
        }
    }

    /// Takes the progress to send. Returns `None` if there is none, or if it is too early for a
    /// message.
    pub fn take_due(&mut self) -> Option<Vec<(BlockId, u32)>> {
        if self.blocks.is_empty() || self.sent.elapsed() < self.interval {
            return None;
        }
        self.sent = Instant::now();
        Some(take(&mut self.blocks).into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_progress_is_sent_after_the_end_of_a_block() {
        let mut tally = ProgressTally::new(1);
        tally.interval = Duration::ZERO;
        for block in [3, 4, 3] {
            tally.add_progress(BlockId(block));
        }
        assert_eq!(tally.take_due(), Some(vec![(BlockId(3), 2), (BlockId(4), 1)]));
        assert_eq!(tally.take_due(), None);
        tally.add_progress(BlockId(3));
        tally.note_message(&ToSupermaster::Finished { block: BlockId(3), size: 1, held: 1 });
        assert_eq!(tally.take_due(), None);
        tally.add_progress(BlockId(4));
        tally.note_message(&ToSupermaster::Drained);
        assert_eq!(tally.take_due(), None);
    }

    #[test]
    fn many_masters_send_less_often() {
        assert_eq!(ProgressTally::new(8).interval, SEND_INTERVAL);
        assert_eq!(ProgressTally::new(10_000).interval, Duration::from_secs(10));
    }
}
