//! How far the groups of ranks are, for who watches the terminal.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use fleetblast_fleet::ids::{BlockId, GroupId};
use fleetblast_fleet::payload::Queries;

use super::wire::Bytes;
use crate::terminal::Progress;

/// A group that has been at a block for less is not told of.
const LONG: Duration = Duration::from_secs(2);

/// What the groups have.
pub struct Watch {
    progress: Progress,
    several: bool,
    /// Blocks under way: their group, their queries.
    open: BTreeMap<BlockId, (GroupId, u64)>,
    /// The same in the order in which they were handed out, with those that were finished since.
    order: VecDeque<(BlockId, Instant)>,
}

impl Watch {
    /// Tells `progress` of so many groups.
    pub fn new(progress: Progress, groups: usize) -> Self {
        Watch { progress, several: groups > 1, open: BTreeMap::new(), order: VecDeque::new() }
    }

    /// A group gets blocks.
    pub fn given(&mut self, group: GroupId, blocks: &[(BlockId, Queries<Bytes>)]) {
        let now = Instant::now();
        for (block, queries) in blocks {
            self.open.insert(*block, (group, queries.weight.sequences));
            self.order.push_back((*block, now));
        }
    }

    /// A block's output is laid out.
    pub fn finished(&mut self, block: BlockId) {
        let Some((_, queries)) = self.open.remove(&block) else { return };
        self.progress.advance(queries);
        while self.order.front().is_some_and(|(block, _)| !self.open.contains_key(block)) {
            self.order.pop_front();
        }
    }

    /// Says which group has been at a block for longest.
    pub fn show(&self) {
        if !self.progress.is_drawn() {
            return;
        }
        let oldest = self.order.front().filter(|(_, since)| self.several && since.elapsed() > LONG);
        let text = oldest.and_then(|(block, since)| {
            let (group, _) = self.open.get(block)?;
            let seconds = since.elapsed().as_secs();
            Some(format!(", slowest: group {group}, {seconds} s at block {block}"))
        });
        self.progress.note(text.unwrap_or_default());
    }

    /// The job is complete.
    pub fn finish(self) {
        self.progress.finish();
    }
}
