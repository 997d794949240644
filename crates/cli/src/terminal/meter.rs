//! Measures how much of a search is done.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fleetblast_job::audience::Stage;

/// A counter of finished work, in queries, which threads share.
#[derive(Default)]
pub struct Meter {
    state: Mutex<State>,
    /// Finished steps of the current stage.
    steps: AtomicU64,
}

#[derive(Default)]
struct State {
    total: Option<u64>,
    /// Queries whose report is finished.
    finished: u64,
    /// The part of `finished` that an earlier run finished.
    earlier: u64,
    /// Unfinished blocks, by number.
    open: BTreeMap<u32, OpenBlock>,
    /// The largest finished amount so far, in queries, so that progress never goes back.
    most: f64,
}

struct OpenBlock {
    queries: u64,
    share: f64,
    /// The current stage of the block, and its number of steps, if the stage counts steps.
    stage: Option<(Stage, u64)>,
}

/// Progress at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// Number of queries, if known.
    pub total: Option<u64>,
    /// Queries whose report is finished.
    pub finished: u64,
    /// Queries of unfinished blocks.
    pub under_way: u64,
    /// Finished queries, plus the finished shares of the unfinished ones.
    pub done: f64,
    /// The amount `done`, without the queries that an earlier run finished.
    pub done_here: f64,
}

impl Snapshot {
    /// Returns the finished share, if the number of queries is known. It is at most 0.999, because
    /// only the end of the search is 1.
    pub fn share(&self) -> Option<f64> {
        self.total.map(|total| (self.done / total.max(1) as f64).min(0.999))
    }
}

impl Meter {
    /// Sets the number of queries of the whole search.
    pub fn set_query_count(&self, total: Option<u64>) {
        self.lock().total = total;
    }

    /// Begins a block with this number of queries.
    pub fn open(&self, block: u32, queries: u64) {
        self.lock().open.insert(block, OpenBlock { queries, share: 0.0, stage: None });
    }

    /// Raises the finished share of a block to at least `share`.
    pub fn set_block_share(&self, block: u32, share: f64) {
        if let Some(open) = self.lock().open.get_mut(&block) {
            open.share = open.share.max(share);
        }
    }

    /// Begins a stage of the only unfinished block, with this number of steps.
    pub fn begin_stage(&self, stage: Stage, steps: u64) {
        let mut state = self.lock();
        self.steps.store(0, Ordering::Relaxed);
        if let Some(open) = state.open.values_mut().next() {
            open.stage = Some((stage, steps));
        }
    }

    /// Adds finished steps of the current stage.
    pub fn add_steps(&self, more: u64) {
        self.steps.fetch_add(more, Ordering::Relaxed);
    }

    /// Ends a block, whose report is finished.
    pub fn close(&self, block: u32) {
        let mut state = self.lock();
        state.finished += state.open.remove(&block).map_or(0, |open| open.queries);
    }

    /// Adds queries that an earlier run finished.
    pub fn skip_queries(&self, queries: u64) {
        let mut state = self.lock();
        state.finished += queries;
        state.earlier += queries;
    }

    /// Returns the current progress.
    pub fn snapshot(&self) -> Snapshot {
        let steps = self.steps.load(Ordering::Relaxed);
        let mut state = self.lock();
        let part = |open: &OpenBlock| {
            let counted = open.stage.map_or(0.0, |(stage, all)| stage.share(steps, all));
            open.queries as f64 * open.share.max(counted)
        };
        let done = state.finished as f64 + state.open.values().map(part).sum::<f64>();
        state.most = state.most.max(done);
        Snapshot {
            total: state.total,
            finished: state.finished,
            under_way: state.open.values().map(|open| open.queries).sum(),
            done: state.most,
            done_here: state.most - state.earlier as f64,
        }
    }

    /// Locks the counts. Code that holds the lock does not panic, and counts are valid in any case,
    /// so poisoning is ignored.
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
        meter.set_query_count(Some(20));
        meter.open(0, 10);
        let mut shares = Vec::new();
        for (stage, all) in [(Stage::Search, 4), (Stage::Align, 0), (Stage::Report, 10)] {
            meter.begin_stage(stage, all);
            for _ in 0..all {
                meter.add_steps(1);
                shares.push(meter.snapshot().done);
            }
        }
        assert_eq!(shares.len(), 14);
        assert!(shares.is_sorted(), "{shares:?}");
        assert!((shares[1] - 3.75).abs() < 1e-9 && (shares[13] - 10.0).abs() < 1e-9, "{shares:?}");
        meter.close(0);
        let seen = meter.snapshot();
        assert_eq!((seen.finished, seen.under_way, seen.done), (10, 0, 10.0));
        assert_eq!(seen.share(), Some(0.5));
    }

    #[test]
    fn all_is_done_at_the_end_only() {
        let meter = Meter::default();
        meter.set_query_count(Some(3));
        // There are more queries than were counted, as in a file without definition lines.
        meter.open(0, 5);
        meter.close(0);
        assert_eq!(meter.snapshot().share(), Some(0.999));
        meter.set_query_count(None);
        assert_eq!(meter.snapshot().share(), None);
    }

    #[test]
    fn blocks_of_ranks_are_under_way_at_once() {
        let meter = Meter::default();
        meter.skip_queries(30);
        meter.open(7, 10);
        meter.open(8, 20);
        meter.set_block_share(8, 0.5);
        meter.set_block_share(8, 0.25);
        meter.set_block_share(9, 1.0);
        let seen = meter.snapshot();
        assert_eq!((seen.finished, seen.under_way), (30, 30));
        assert_eq!((seen.done, seen.done_here), (40.0, 10.0));
        meter.close(7);
        assert_eq!(meter.snapshot().done_here, 20.0);
    }
}
