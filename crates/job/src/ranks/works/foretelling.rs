//! Batches of queries that depend on what was found: blocks are searched as is foretold, and judged
//! one after the other by what they found.
//!
//! What a query's result depends on of its batch is a value, [`Together`]. A forecast is right if
//! that is what it is in truth, wherever the batches were believed to end.

use std::collections::BTreeMap;
use std::ops::Range;

use fleetblast_engine::grouping::{Batch, Grouping};
use fleetblast_engine::query::{Findings, Query};
use fleetblast_engine::search::Search;
use fleetblast_fleet::ids::BlockId;

use super::stream::{Stop, Stream};
use crate::batching::progress::{BatchBoundaries, BatchProgress, BatchRun};
use crate::error::Error;
use crate::queries::RawBlock;
use crate::ranks::wire::{Found, Together, Verdict};

/// Letters that are told of what lies beside queries: more than most extensions see of it.
const REACH: usize = 512;
/// Batches that are kept at most: some blocks lie in each.
const MOST_BATCHES: usize = 16;

/// Foretells and judges.
pub struct Foretelling<'a> {
    engine: &'a Search,
    stream: Stream<'a>,
    /// As far as blocks are judged.
    course: BatchProgress,
    /// Those that are not.
    blocks: BTreeMap<BlockId, Foretold>,
    /// Extensions of queries of these, if they were searched, if perhaps not in the right way.
    seen: BTreeMap<usize, u64>,
    /// Extensions of all that is judged, and its letters.
    rate: (u64, u64),
    /// Where the report ends before all queries are searched, and why, once that is known.
    stop: Option<Stop>,
    batches: BTreeMap<(usize, usize), Batch>,
}

/// A block that is not judged.
struct Foretold {
    queries: Range<usize>,
    how: How,
}

enum How {
    /// An earlier run found it right, with so many extensions of each query.
    Known(Vec<u64>),
    /// In these parts.
    Parts { parts: Vec<Part>, reach: usize },
}

/// How queries of a block are searched that lie in one batch.
#[derive(Clone, PartialEq)]
struct Part {
    queries: Range<usize>,
    grouping: Grouping,
    /// Some query of the batch can be searched.
    searched: bool,
}

/// What comes of a block that is read.
pub struct Read {
    /// The queries as read.
    pub records: RawBlock,
    /// What was found of each when it was made ready.
    pub findings: Vec<Findings>,
    /// How they are believed to be searched.
    pub together: Together,
}

impl<'a> Foretelling<'a> {
    /// Nothing is read.
    pub fn new(engine: &'a Search, stream: Stream<'a>, course: BatchProgress) -> Self {
        Foretelling {
            engine,
            stream,
            course,
            blocks: BTreeMap::new(),
            seen: BTreeMap::new(),
            rate: (0, 0),
            stop: None,
            batches: BTreeMap::new(),
        }
    }

    /// Reads the next block, of which an earlier run may have counted the extensions; `None` at the
    /// end.
    ///
    /// # Errors
    /// Blocks of an earlier run that are others.
    pub fn read(&mut self, block: BlockId, known: Option<Vec<u64>>) -> Result<Option<Read>, Error> {
        // The first batch is certain: all others are foretold by what it finds.
        let end = match block {
            BlockId(0) => self.stream.end_of_batch(0, self.course.letters()),
            _ => usize::MAX,
        };
        let (queries, mut records) = self.stream.take(end);
        if queries.start == 0 && !queries.is_empty() {
            let run = self.course.next_run(queries.end, &mut self.stream);
            self.stop = self.stops_before(&run);
        }
        if queries.is_empty() || self.stop.is_some() {
            return Ok(None);
        }
        let parts = self.foretell(&queries, REACH);
        let together = together(&parts);
        records.batches = parts.iter().map(|part| part.queries.len()).collect();
        self.stream.add_messages_of_search(&mut records, &together.searched);
        let findings = self.stream.get(queries.clone()).into_iter().map(Query::findings).collect();
        let how = match known {
            Some(extensions) if extensions.len() == queries.len() => How::Known(extensions),
            Some(_) => return Err(Error::engine(OTHER_QUERIES)),
            None => How::Parts { parts, reach: REACH },
        };
        self.blocks.insert(block, Foretold { queries, how });
        self.pass_known();
        Ok(Some(Read { records, findings, together }))
    }

    /// What ended the queries before all of them were searched, as far as that is known.
    pub fn failure(&self) -> Option<&Error> {
        self.stop.as_ref().map(|stop| &stop.error).or(self.stream.failure())
    }

    /// Judges what was found of the first block that is not judged.
    ///
    /// # Errors
    /// Blocks that nobody was given.
    pub fn judge(&mut self, block: BlockId, found: &Found) -> Result<Verdict, Error> {
        let Foretold { queries, how } =
            self.blocks.remove(&block).ok_or_else(|| Error::engine(OTHER_QUERIES))?;
        if self.stop.as_ref().is_some_and(|stop| stop.query <= queries.start) {
            return Ok(Verdict::Until(0));
        }
        let How::Parts { parts, reach } = how else { return Err(Error::engine(OTHER_QUERIES)) };
        if queries.start != self.course.next_query() || found.extensions.len() != queries.len() {
            return Err(Error::engine(OTHER_QUERIES));
        }
        let known = self.course.clone();
        let is_right = self.follow(&queries, &found.extensions, Some((&parts, reach)));
        if is_right && !found.strayed {
            self.settle(&queries, &found.extensions);
            self.pass_known();
            let until = self.stop.as_ref().filter(|stop| stop.query < queries.end);
            return Ok(match until {
                Some(stop) => Verdict::Until((stop.query - queries.start) as u32),
                None => Verdict::Right,
            });
        }
        (self.course, self.stop) = (known, None);
        self.seen.extend(queries.clone().zip(found.extensions.iter().copied()));
        let reach = if found.strayed { usize::MAX } else { reach };
        let parts = self.foretell(&queries, reach);
        let together = together(&parts);
        self.blocks.insert(block, Foretold { queries, how: How::Parts { parts, reach } });
        Ok(Verdict::Again(together))
    }

    /// Follows the course of the batches through the next queries, as far as BLAST+ searches. False
    /// where they lie in other company than in these parts.
    fn follow(
        &mut self,
        queries: &Range<usize>,
        extensions: &[u64],
        foretold: Option<(&[Part], usize)>,
    ) -> bool {
        let mut parts = foretold.map(|(parts, reach)| (parts.iter(), reach));
        while self.course.next_query() < queries.end {
            let run = self.course.next_run(queries.end, &mut self.stream);
            self.stop = self.stops_before(&run);
            if self.stop.is_some() {
                return true;
            }
            if let Some((parts, reach)) = &mut parts
                && parts.next() != Some(&self.part(&run, *reach))
            {
                return false;
            }
            if run.queries.end == run.batch.end {
                // Behind it, if at all.
                self.stop = self.stream.stop(run.batch.clone(), self.course.letters());
            }
            let own = run.queries.start - queries.start..run.queries.end - queries.start;
            self.course.advance(&run, extensions[own].iter().sum());
        }
        true
    }

    /// What BLAST+ finds wrong with a batch that begins with this run, instead of searching it.
    fn stops_before(&mut self, BatchRun { queries, batch }: &BatchRun) -> Option<Stop> {
        if queries.start != batch.start {
            return None;
        }
        let stop = self.stream.stop(batch.clone(), self.course.letters());
        stop.filter(|stop| stop.query == batch.start)
    }

    /// Queries are judged: they brought about so many extensions.
    fn settle(&mut self, queries: &Range<usize>, extensions: &[u64]) {
        self.rate.0 += extensions.iter().sum::<u64>();
        self.rate.1 += self.stream.letters(queries.clone());
        self.seen = self.seen.split_off(&queries.end);
        let start = self.course.batch_start();
        self.batches.retain(|&(_, end), _| end > start);
        self.stream.forget(start);
    }

    /// Goes past blocks that an earlier run found right.
    fn pass_known(&mut self) {
        while let Some(first) = self.blocks.first_entry()
            && matches!(first.get().how, How::Known(_))
        {
            let Foretold { queries, how } = first.remove();
            if let How::Known(extensions) = how {
                self.follow(&queries, &extensions, None);
                self.settle(&queries, &extensions);
            }
        }
    }

    /// In which company queries are believed to be searched.
    fn foretell(&mut self, queries: &Range<usize>, reach: usize) -> Vec<Part> {
        let (extensions, letters) = self.rate;
        let rate = extensions as f64 / letters.max(1) as f64;
        let first = self.course.next_query();
        let of = |query: usize| match self.seen.get(&query) {
            Some(&extensions) => extensions as f64,
            None => rate * self.stream.letters(query..query + 1) as f64,
        };
        let each: Vec<f64> = (first..queries.end).map(of).collect();
        let believed =
            |run: Range<usize>| each[run.start - first..run.end - first].iter().sum::<f64>() as u64;
        let runs = self.course.predict(queries.clone(), believed, &mut self.stream);
        runs.iter().map(|run| self.part(run, reach)).collect()
    }

    /// How the queries of a run are searched.
    fn part(&mut self, run: &BatchRun, reach: usize) -> Part {
        let BatchRun { queries, batch } = run;
        let all = self.stream.get(batch.clone());
        if self.batches.len() >= MOST_BATCHES {
            self.batches.clear();
        }
        let known = self.batches.entry((batch.start, batch.end));
        let known = known.or_insert_with(|| self.engine.batch(&all));
        let own = queries.start - batch.start..queries.end - batch.start;
        Part {
            queries: queries.clone(),
            grouping: self.engine.part(known, &all, own, reach),
            searched: all.iter().any(|query| query.is_searchable()),
        }
    }
}

fn together(parts: &[Part]) -> Together {
    let (mut grouping, mut searched) = (Grouping::default(), Vec::new());
    for part in parts {
        grouping.append(part.grouping.clone());
        searched.extend(std::iter::repeat_n(part.searched, part.queries.len()));
    }
    Together { grouping, searched }
}

/// A fault of the program.
const OTHER_QUERIES: &str = "the ranks do not agree about what the queries of a block are";

#[cfg(test)]
mod tests;
