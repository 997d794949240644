//! Follows adaptive batches as far as the extensions of their queries are known, and predicts the
//! batches after that.

use std::ops::Range;

use super::BatchSizer;

/// Access to the ends of batches, which follow from the lengths of queries.
pub trait BatchBoundaries {
    /// Returns the end of the batch that starts with query `batch_start`. The batch ends after the
    /// query that completes its `letters`, or after the last query.
    fn end_of_batch(&mut self, batch_start: usize, letters: usize) -> usize;
}

/// A run of consecutive queries that belong to one batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchRun {
    /// Numbers of the queries of the run.
    pub queries: Range<usize>,
    /// Numbers of all queries of the batch.
    pub batch: Range<usize>,
}

/// The position up to which the batches and the extensions of their queries are known.
#[derive(Clone, Debug)]
pub struct BatchProgress {
    sizer: BatchSizer,
    /// Number of the first query of the current batch.
    batch_start: usize,
    /// Number of extensions that the batch's queries before `next_query` caused.
    extensions: u64,
    /// Number of the first query whose extensions are unknown.
    next_query: usize,
}

impl BatchProgress {
    /// Creates the progress at the first query. `sizer` determines the size of the first batch.
    pub fn new(sizer: BatchSizer) -> BatchProgress {
        BatchProgress { sizer, batch_start: 0, extensions: 0, next_query: 0 }
    }

    /// Returns the number of the first query of the current batch.
    pub fn batch_start(&self) -> usize {
        self.batch_start
    }

    /// Returns the number of the first query whose extensions are unknown.
    pub fn next_query(&self) -> usize {
        self.next_query
    }

    /// Returns the minimum number of letters of the current batch. The last batch may have fewer.
    pub fn letters(&self) -> usize {
        self.sizer.letters()
    }

    /// Returns the next run: the queries from the first one with unknown extensions to query `end`,
    /// or to the end of its batch if the batch ends first.
    pub fn next_run(&self, end: usize, boundaries: &mut impl BatchBoundaries) -> BatchRun {
        let batch =
            self.batch_start..boundaries.end_of_batch(self.batch_start, self.sizer.letters());
        BatchRun { queries: self.next_query..end.min(batch.end), batch }
    }

    /// Advances past a run whose queries caused this number of extensions.
    pub fn advance(&mut self, run: &BatchRun, extensions: u64) {
        self.extensions += extensions;
        self.next_query = run.queries.end;
        if self.next_query == run.batch.end {
            self.sizer.record_extensions(self.extensions);
            (self.batch_start, self.extensions) = (self.next_query, 0);
        }
    }

    /// Predicts how the range `queries` divides into runs. `predict_extensions` estimates the
    /// number of extensions that a range of queries causes.
    pub fn predict(
        &self,
        queries: Range<usize>,
        predict_extensions: impl Fn(Range<usize>) -> u64,
        boundaries: &mut impl BatchBoundaries,
    ) -> Vec<BatchRun> {
        let (mut progress, mut runs) = (self.clone(), Vec::new());
        while progress.next_query < queries.end {
            let is_before = progress.next_query < queries.start;
            let run =
                progress.next_run(if is_before { queries.start } else { queries.end }, boundaries);
            progress.advance(&run, predict_extensions(run.queries.clone()));
            if !is_before {
                runs.push(run);
            }
        }
        runs
    }
}
