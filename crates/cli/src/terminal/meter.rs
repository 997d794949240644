//! How much of a search is done.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fleetblast_job::audience::Stage;

/// Counts what is done, in queries. Shared by threads.
#[derive(Default)]
pub struct Meter {
    state: Mutex<State>,
    /// Steps done of the stage at hand.
    steps: AtomicU64,
}

#[derive(Default)]
struct State {
    total: Option<u64>,
    /// Queries whose report is made.
    finished: u64,
    /// Of these, in an earlier run.
    earlier: u64,
    /// Blocks under way, by number.
    open: BTreeMap<u32, Open>,
    /// The most that was told: what is done stays done.
    most: f64,
}

struct Open {
    queries: u64,
    share: f64,
    /// The stage that the block is in, and its steps, where these are counted.
    stage: Option<(Stage, u64)>,
}

/// What is done at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Queries in all, if known.
    pub total: Option<u64>,
    /// Queries whose report is made.
    pub finished: u64,
    /// Queries of blocks under way.
    pub under_way: u64,
    /// Queries done, with the shares of those under way.
    pub done: f64,
    /// The same without what an earlier run did.
    pub done_here: f64,
}

impl Seen {
    /// The share of the whole that is done, if the whole is known. All is done only when the search has ended.
    pub fn share(&self) -> Option<f64> {
        self.total.map(|total| (self.done / total.max(1) as f64).min(0.999))
    }
}

impl Meter {
    /// So many queries are to come in all.
    pub fn expect(&self, total: Option<u64>) {
        self.lock().total = total;
    }

    /// A block of so many queries begins.
    pub fn open(&self, block: u32, queries: u64) {
        self.lock().open.insert(block, Open { queries, share: 0.0, stage: None });
    }

    /// So much of a block is done at least.
    pub fn reach(&self, block: u32, share: f64) {
        if let Some(open) = self.lock().open.get_mut(&block) {
            open.share = open.share.max(share);
        }
    }

    /// The only block under way begins a stage of so many steps.
    pub fn stage(&self, stage: Stage, steps: u64) {
        let mut state = self.lock();
        self.steps.store(0, Ordering::Relaxed);
        if let Some(open) = state.open.values_mut().next() {
            open.stage = Some((stage, steps));
        }
    }

    /// So many more steps of the stage are done.
    pub fn step(&self, more: u64) {
        self.steps.fetch_add(more, Ordering::Relaxed);
    }

    /// The report of a block is made.
    pub fn close(&self, block: u32) {
        let mut state = self.lock();
        state.finished += state.open.remove(&block).map_or(0, |open| open.queries);
    }

    /// So many queries were finished by an earlier run.
    pub fn skip(&self, queries: u64) {
        let mut state = self.lock();
        state.finished += queries;
        state.earlier += queries;
    }

    /// What is done now.
    pub fn look(&self) -> Seen {
        let steps = self.steps.load(Ordering::Relaxed);
        let mut state = self.lock();
        let part = |open: &Open| {
            let counted = open.stage.map_or(0.0, |(stage, all)| stage.share(steps, all));
            open.queries as f64 * open.share.max(counted)
        };
        let done = state.finished as f64 + state.open.values().map(part).sum::<f64>();
        state.most = state.most.max(done);
        Seen {
            total: state.total,
            finished: state.finished,
            under_way: state.open.values().map(|open| open.queries).sum(),
            done: state.most,
            done_here: state.most - state.earlier as f64,
        }
    }

    /// Nothing panics while it holds the lock, and counts are valid in any case.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_goes_from_stage_to_stage_without_a_step_back() {
        let meter = Meter::default();
        meter.expect(Some(20));
        meter.open(0, 10);
        let mut shares = Vec::new();
        for (stage, all) in [(Stage::Search, 4), (Stage::Align, 0), (Stage::Report, 10)] {
            meter.stage(stage, all);
            for _ in 0..all {
                meter.step(1);
                shares.push(meter.look().done);
            }
        }
        assert_eq!(shares.len(), 14);
        assert!(shares.is_sorted(), "{shares:?}");
        assert!((shares[1] - 3.75).abs() < 1e-9 && (shares[13] - 10.0).abs() < 1e-9, "{shares:?}");
        meter.close(0);
        let seen = meter.look();
        assert_eq!((seen.finished, seen.under_way, seen.done), (10, 0, 10.0));
        assert_eq!(seen.share(), Some(0.5));
    }

    #[test]
    fn all_is_done_at_the_end_only() {
        let meter = Meter::default();
        meter.expect(Some(3));
        // More than were counted, as in a file without definition lines.
        meter.open(0, 5);
        meter.close(0);
        assert_eq!(meter.look().share(), Some(0.999));
        meter.expect(None);
        assert_eq!(meter.look().share(), None);
    }

    #[test]
    fn blocks_of_ranks_are_under_way_at_once() {
        let meter = Meter::default();
        meter.skip(30);
        meter.open(7, 10);
        meter.open(8, 20);
        meter.reach(8, 0.5);
        meter.reach(8, 0.25);
        meter.reach(9, 1.0);
        let seen = meter.look();
        assert_eq!((seen.finished, seen.under_way), (30, 30));
        assert_eq!((seen.done, seen.done_here), (40.0, 10.0));
        meter.close(7);
        assert_eq!(meter.look().done_here, 20.0);
    }
}
