//! The two phases of a search on the threads of this process: preliminary search of ranges of OIDs, then traceback of
//! the chosen hits (design: the preliminary list is global).

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::{Duration, Instant};

use fleetblast_db::DbError;
use fleetblast_db::load::{self, Choice, Loader, Purpose};
use fleetblast_db::restrict::Visibility;
use fleetblast_engine::batches;
use fleetblast_engine::grouping::Grouping;
use fleetblast_engine::hits::{Candidate, PrelimHit, SubjectHit};
use fleetblast_engine::lists::Selector;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use fleetblast_metadata::subjects::ShownSubjects;
use rayon::prelude::*;

use super::{RANGES_PER_THREAD, Scan};
use crate::audience::{Audience, Stage};
use crate::halt::Halt;
use crate::plan::Plan;
use crate::subjects::Target;
use crate::trace::{Kind, Lane, Recorder};

/// Residues in a range of OIDs that a thread takes at a time, at least.
const RANGE_RESIDUES: u64 = 256 * 1024;
/// Ranges at most: each costs a little for every query.
const MAX_RANGES: usize = 4096;
/// Matches per thread that are aligned before the early stop is looked at again (rules 6.1).
const MATCHES_PER_THREAD: usize = 32;
/// Matches per thread, of one query after another, that are aligned together where all are wanted.
const MATCHES_TOGETHER_PER_THREAD: usize = 512;

/// How long the phases took, wall time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phases {
    /// Preliminary search.
    pub search: Duration,
    /// Traceback.
    pub traceback: Duration,
}

/// A database and all that stays the same from block to block of queries.
pub struct TwoPhases<'a> {
    target: &'a Target,
    engine: &'a Search,
    /// How the database comes into memory.
    pub choice: Choice,
    scan: Scan<'a>,
    /// Who is told how far it is.
    audience: &'a dyn Audience,
    /// Time spent so far.
    pub phases: Phases,
    /// Extensions that the last block brought about.
    pub extensions: u64,
    /// For each query of the last block whether more of its subjects were aligned than stay.
    pub overflowed: Vec<bool>,
    /// Whether the last block has a query that is searched in pieces.
    pub has_pieces: bool,
    recorder: Recorder,
    /// Blocks searched so far.
    blocks: u64,
}

impl<'a> TwoPhases<'a> {
    /// Prepares searches of `target`, which are recorded.
    ///
    /// # Errors
    /// A database whose index is out of order, or that cannot be loaded as wished.
    pub fn new(
        target: &'a Target,
        engine: &'a Search,
        plan: &Plan,
        audience: &'a dyn Audience,
        recorder: Recorder,
    ) -> Result<Self, DbError> {
        let database = &target.searched;
        let by_size = (database.residues() / RANGE_RESIDUES) as usize;
        let least = plan.threads.count * RANGES_PER_THREAD;
        let default = by_size.clamp(least, MAX_RANGES.max(least));
        // More ranges than sequences would only take time to look for.
        let most = (database.oid_count() as usize).max(1);
        let ranges = plan.partitions.map_or(default, |wished| wished.min(most));
        let choice = load::choose(database, Purpose::Search, plan.load)?;
        Ok(TwoPhases {
            target,
            engine,
            scan: Scan::new(target, choice.supply(database, ranges)?, choice.streamed.is_none())
                .watched(audience),
            audience,
            choice,
            phases: Phases::default(),
            extensions: 0,
            overflowed: Vec::new(),
            has_pieces: false,
            recorder,
            blocks: 0,
        })
    }

    /// The same, which ends early, with some of the hits only, when `halt` tells it to.
    pub fn until(self, halt: Halt) -> Self {
        TwoPhases { scan: self.scan.until(halt), ..self }
    }

    /// Whether it was told to.
    pub fn is_halted(&self) -> bool {
        self.scan.is_halted()
    }

    /// Goes on with another search of the same database.
    pub fn search_by(&mut self, engine: &'a Search) {
        self.engine = engine;
    }

    /// What loads the database.
    pub fn loader(&self) -> &dyn Loader {
        self.scan.loader()
    }

    /// Waiting of the searching threads for what was not loaded yet, in sum.
    pub fn waiting(&self) -> Duration {
        self.scan.waiting
    }

    /// Searches a block of queries; `batches` says how many of them, one after the other, BLAST+ would search together. Returns the
    /// hits of each query.
    ///
    /// # Errors
    /// A damaged database.
    pub fn run(
        &mut self,
        queries: &[Query],
        batches: &[usize],
    ) -> Result<Vec<Vec<SubjectHit>>, DbError> {
        let start = Instant::now();
        let mut span = self.recorder.begin(Lane::Search, Kind::Search);
        let loaded = self.loader().statistics().bytes;
        let grouping = self.engine.grouping(queries, batches);
        self.has_pieces = grouping.has_pieces();
        let chosen = self.preliminary(queries, &grouping)?;
        let found: usize = chosen.iter().map(Vec::len).sum();
        span.arg("block", self.blocks);
        span.arg("partition", 0);
        span.arg("queries", queries.len() as u64);
        span.arg("residues", queries.iter().map(|query| u64::from(query.length)).sum());
        span.arg("hits", found as u64);
        // About what they would be as a message.
        span.arg("bytes", (found * size_of::<PrelimHit>()) as u64);
        span.arg("loaded_bytes", self.loader().statistics().bytes - loaded);
        drop(span);
        self.phases.search += start.elapsed();
        let start = Instant::now();
        self.audience.stage(Stage::Align, chosen.iter().map(|hits| hits.len() as u64).sum());
        let mut span = self.recorder.begin(Lane::Search, Kind::Align);
        let (hits, overflowed) = self.trace_block((queries, &grouping), batches, &chosen, &[]);
        self.overflowed = overflowed;
        span.arg("block", self.blocks);
        span.arg("partitions", 1);
        span.arg("hits", hits.iter().map(|hits| hits.len() as u64).sum());
        drop(span);
        self.phases.traceback += start.elapsed();
        self.blocks += 1;
        Ok(hits)
    }

    /// Searches the same queries in those subjects only that were found, and finds the same: the statistics are those of the whole
    /// database, and of each query no other subjects are looked at than its own.
    ///
    /// # Errors
    /// A damaged database.
    pub fn run_again(
        &mut self,
        queries: &[Query],
        batches: &[usize],
        shown: &[ShownSubjects],
    ) -> Result<Vec<Vec<SubjectHit>>, DbError> {
        let grouping = self.engine.grouping(queries, batches);
        let (merger, waves) =
            (self.engine.merger(&grouping), self.engine.searchers(queries, &grouping));
        let oids: BTreeSet<u32> = shown.iter().flat_map(|shown| &shown.oids).copied().collect();
        self.audience.stage(Stage::Search, (oids.len() * waves.len()) as u64);
        self.target.searched.will_need(oids.iter().copied().collect::<BTreeSet<_>>());
        let oids: Vec<u32> = oids.into_iter().collect();
        let mut chosen = merger.choose(self.scan.search_some(&merger, waves, &oids));
        for (hits, shown) in chosen.iter_mut().zip(shown) {
            hits.retain(|hit| shown.oids.binary_search(&hit.oid).is_ok());
        }
        self.audience.stage(Stage::Align, chosen.iter().map(|hits| hits.len() as u64).sum());
        Ok(self.trace_block((queries, &grouping), batches, &chosen, shown).0)
    }

    /// The chosen preliminary hits of each query, in the order of the traceback.
    fn preliminary(
        &mut self,
        queries: &[Query],
        grouping: &Grouping,
    ) -> Result<Vec<Vec<PrelimHit>>, DbError> {
        let (merger, waves) =
            (self.engine.merger(grouping), self.engine.searchers(queries, grouping));
        let before = self.loader().statistics().bytes;
        self.audience.stage(Stage::Search, self.scan.subjects() * waves.len() as u64);
        let lists = self.scan.search(&merger, waves)?;
        self.extensions = merger.extensions(&lists).iter().sum();
        let mut chosen = merger.choose(lists);
        self.drop_excluded(&mut chosen)?;
        if self.loader().statistics().bytes > before {
            // The database was not in memory, or does not stay there: what comes next may not be either.
            let hits = chosen.iter().flatten().map(|hit| hit.oid);
            self.target.searched.will_need(hits.collect::<BTreeSet<_>>());
        }
        Ok(chosen)
    }

    /// Drops the hits that BLAST+ drops when it is about to align them.
    fn drop_excluded(&self, chosen: &mut [Vec<PrelimHit>]) -> Result<(), DbError> {
        let mut known: BTreeMap<u32, Visibility> = BTreeMap::new();
        for hit in chosen.iter().flatten() {
            if let Entry::Vacant(unknown) = known.entry(hit.oid) {
                unknown.insert(self.target.visibility(hit.oid)?);
            }
        }
        for hits in chosen {
            hits.retain(|hit| known.get(&hit.oid) != Some(&Visibility::Excluded));
        }
        Ok(())
    }

    /// Traceback of all batches of a block; for each query also whether more of its subjects were aligned than stay. `shown` are those
    /// that stayed, if they were found before.
    fn trace_block(
        &self,
        all: (&[Query], &Grouping),
        batches: &[usize],
        chosen: &[Vec<PrelimHit>],
        shown: &[ShownSubjects],
    ) -> (Vec<Vec<SubjectHit>>, Vec<bool>) {
        let ranges: Vec<_> = batches::ranges(batches).collect();
        let traced: Vec<_> = ranges
            .into_par_iter()
            .map(|range| {
                let shown = shown.get(range.clone()).unwrap_or_default();
                self.trace_batch(all, range.clone(), &chosen[range], shown)
            })
            .collect();
        let (hits, overflowed): (Vec<_>, Vec<_>) = traced.into_iter().unzip();
        (hits.concat(), overflowed.concat())
    }

    /// Traceback of one batch of queries.
    fn trace_batch(
        &self,
        (all, grouping): (&[Query], &Grouping),
        batch: Range<usize>,
        chosen: &[Vec<PrelimHit>],
        shown: &[ShownSubjects],
    ) -> (Vec<Vec<SubjectHit>>, Vec<bool>) {
        let mut selector = self.engine.selector(&all[batch.clone()]);
        for (query, _) in shown.iter().enumerate().filter(|(_, shown)| shown.overflowed) {
            selector.overflow(query);
        }
        if selector.by_subject() {
            let aligned = self.align((all, grouping), batch.start, chosen).into_iter();
            let aligned = aligned.map(|candidates| candidates.into_iter().map(Some).collect());
            selector.replay(chosen, aligned.collect());
        } else {
            self.trace_queries((all, grouping), batch.start, &mut selector, chosen);
        }
        let overflowed = selector.overflowing();
        (selector.finish(), overflowed)
    }

    /// Aligns query by query, from the `first` on, what is wanted.
    fn trace_queries(
        &self,
        (all, grouping): (&[Query], &Grouping),
        first: usize,
        selector: &mut Selector,
        chosen: &[Vec<PrelimHit>],
    ) {
        let align = |queries: Range<usize>| {
            self.align((all, grouping), first + queries.start, &chosen[queries])
        };
        let unconditional = selector.unconditional();
        let mut next = 0;
        while next < unconditional {
            let end = next + together(&chosen[next..unconditional]);
            for (number, candidates) in (next..end).zip(align(next..end)) {
                candidates.into_iter().for_each(|candidate| selector.offer(number, candidate));
            }
            next = end;
        }
        for (number, hits) in chosen.iter().enumerate().skip(unconditional) {
            let aligner = self.engine.aligner(all, grouping, first + number);
            for wave in hits.chunks(MATCHES_PER_THREAD * rayon::current_num_threads()) {
                if !wave.iter().any(|hit| selector.wants(hit.evalue)) {
                    continue;
                }
                let wave: Vec<_> = wave.iter().map(|hit| (&aligner, hit)).collect();
                for ((_, hit), candidate) in wave.iter().zip(self.scan.align(&wave)) {
                    if selector.wants(hit.evalue) {
                        selector.offer(number, candidate);
                    }
                }
            }
        }
    }

    /// Aligns all hits of queries from the `first` on.
    fn align(
        &self,
        (queries, grouping): (&[Query], &Grouping),
        first: usize,
        hits: &[Vec<PrelimHit>],
    ) -> Vec<Vec<Candidate>> {
        let aligner = |(number, hits): (usize, &Vec<PrelimHit>)| {
            (!hits.is_empty()).then(|| self.engine.aligner(queries, grouping, first + number))
        };
        let aligners: Vec<_> = hits.par_iter().enumerate().map(aligner).collect();
        let with_hits =
            aligners.iter().zip(hits).filter_map(|(aligner, hits)| Some((aligner.as_ref()?, hits)));
        let pairs =
            with_hits.flat_map(|(aligner, hits)| hits.iter().map(move |hit| (aligner, hit)));
        let mut candidates = self.scan.align(&pairs.collect::<Vec<_>>()).into_iter();
        hits.iter().map(|hits| candidates.by_ref().take(hits.len()).collect()).collect()
    }
}

/// How many of these queries, at least one, are aligned together.
fn together(hits: &[Vec<PrelimHit>]) -> usize {
    let most = MATCHES_TOGETHER_PER_THREAD * rayon::current_num_threads();
    let mut matches = 0;
    let fits = |hits: &&Vec<PrelimHit>| {
        matches += hits.len();
        matches <= most
    };
    hits.iter().take_while(fits).count().max(1)
}
