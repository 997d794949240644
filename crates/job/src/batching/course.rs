//! The course of batches whose sizes depend on what the batches before found: followed as far as that is known, and foretold from
//! there on.

use std::ops::Range;

use super::Batching;

/// Who knows how long the queries are.
pub trait Lengths {
    /// Where a batch ends that begins with a query: before the first query without which it has so many letters, or where all
    /// queries end.
    fn end_of_batch(&mut self, start: usize, letters: usize) -> usize;
}

/// Queries one after another that lie in one batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Their numbers.
    pub queries: Range<usize>,
    /// Those of all the queries of the batch.
    pub batch: Range<usize>,
}

/// How far the batches are known.
#[derive(Clone, Debug)]
pub struct Course {
    batching: Batching,
    /// First query of the batch.
    start: usize,
    /// Extensions that its queries before `next` brought about.
    extensions: u64,
    /// The next query.
    next: usize,
}

impl Course {
    /// From the first query on.
    pub fn new(batching: Batching) -> Course {
        Course { batching, start: 0, extensions: 0, next: 0 }
    }

    /// First query of the batch that the next one lies in.
    pub fn start(&self) -> usize {
        self.start
    }

    /// The next query.
    pub fn next(&self) -> usize {
        self.next
    }

    /// Letters of that batch, at least, unless it is the last.
    pub fn letters(&self) -> usize {
        self.batching.letters()
    }

    /// The next queries that lie in one batch, up to `end` at most.
    pub fn run(&self, end: usize, lengths: &mut impl Lengths) -> Run {
        let batch = self.start..lengths.end_of_batch(self.start, self.batching.letters());
        Run { queries: self.next..end.min(batch.end), batch }
    }

    /// Goes on past a run, which brought about so many extensions.
    pub fn pass(&mut self, run: &Run, extensions: u64) {
        self.extensions += extensions;
        self.next = run.queries.end;
        if self.next == run.batch.end {
            self.batching.found(self.extensions);
            (self.start, self.extensions) = (self.next, 0);
        }
    }

    /// The runs of some queries, if queries bring about as many extensions as is believed of them.
    pub fn foretell(
        &self,
        queries: Range<usize>,
        believed: impl Fn(Range<usize>) -> u64,
        lengths: &mut impl Lengths,
    ) -> Vec<Run> {
        let (mut course, mut runs) = (self.clone(), Vec::new());
        while course.next < queries.end {
            let is_before = course.next < queries.start;
            let run = course.run(if is_before { queries.start } else { queries.end }, lengths);
            course.pass(&run, believed(run.queries.clone()));
            if !is_before {
                runs.push(run);
            }
        }
        runs
    }
}
