//! The two phases of a search on the threads of this process: preliminary search of ranges of OIDs, then traceback of
//! the chosen hits (design: the preliminary list is global).

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::{Duration, Instant};

use fleetblast_db::DbError;
use fleetblast_db::load::{self, Choice, Loader, Purpose};
use fleetblast_engine::batches;
use fleetblast_engine::grouping::Grouping;
use fleetblast_engine::hits::{PrelimHit, SubjectHit};
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use rayon::prelude::*;

use crate::audience::{Audience, Stage};
use crate::plan::Plan;
use crate::scan::{RANGES_PER_THREAD, Scan};
use crate::subjects::Target;
use crate::trace::{Kind, Lane, Recorder};

/// Residues in a range of OIDs that a thread takes at a time, at least.
const RANGE_RESIDUES: u64 = 256 * 1024;
/// Ranges at most: each costs a little for every query.
const MAX_RANGES: usize = 4096;
/// Matches per thread that are aligned before the early stop is looked at again (rules 6.1).
const MATCHES_PER_THREAD: usize = 32;

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
        let least = plan.threads * RANGES_PER_THREAD;
        let default = by_size.clamp(least, MAX_RANGES.max(least));
        let ranges = plan.partitions.unwrap_or(default);
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
            recorder,
            blocks: 0,
        })
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
        let hits = self.trace_block((queries, &grouping), batches, &chosen);
        span.arg("block", self.blocks);
        span.arg("partitions", 1);
        span.arg("hits", hits.iter().map(|hits| hits.len() as u64).sum());
        drop(span);
        self.phases.traceback += start.elapsed();
        self.blocks += 1;
        Ok(hits)
    }

    /// The chosen preliminary hits of each query, in the order of the traceback.
    fn preliminary(
        &mut self,
        queries: &[Query],
        grouping: &Grouping,
    ) -> Result<Vec<Vec<PrelimHit>>, DbError> {
        let searcher = self.engine.prepare(queries, grouping);
        let before = self.loader().statistics().bytes;
        self.audience.stage(Stage::Search, self.scan.subjects());
        let lists = self.scan.search(&searcher)?;
        self.extensions = searcher.merger().extensions(&lists).iter().sum();
        let mut chosen = searcher.merger().choose(lists);
        self.drop_hidden(&mut chosen)?;
        if self.loader().statistics().bytes > before {
            // The database was not in memory, or does not stay there: what comes next may not be either.
            let hits = chosen.iter().flatten().map(|hit| hit.oid);
            self.target.searched.will_need(hits.collect::<BTreeSet<_>>());
        }
        Ok(chosen)
    }

    /// Leaves out the hits to sequences none of whose definition lines a restriction shows: BLAST+ drops them when it is
    /// about to align them.
    fn drop_hidden(&self, chosen: &mut [Vec<PrelimHit>]) -> Result<(), DbError> {
        let mut shown: BTreeMap<u32, bool> = BTreeMap::new();
        for hit in chosen.iter().flatten() {
            if let Entry::Vacant(unknown) = shown.entry(hit.oid) {
                unknown.insert(self.target.searched.is_shown(hit.oid)?);
            }
        }
        for hits in chosen {
            hits.retain(|hit| shown.get(&hit.oid).is_none_or(|&shown| shown));
        }
        Ok(())
    }

    /// Traceback of all batches of a block.
    fn trace_block(
        &self,
        all: (&[Query], &Grouping),
        batches: &[usize],
        chosen: &[Vec<PrelimHit>],
    ) -> Vec<Vec<SubjectHit>> {
        let ranges: Vec<_> = batches::ranges(batches).collect();
        ranges
            .into_par_iter()
            .map(|range| self.trace_batch(all, range.clone(), &chosen[range]))
            .collect::<Vec<_>>()
            .into_iter()
            .flatten()
            .collect()
    }

    /// Traceback of one batch of queries.
    fn trace_batch(
        &self,
        (all, grouping): (&[Query], &Grouping),
        batch: Range<usize>,
        chosen: &[Vec<PrelimHit>],
    ) -> Vec<Vec<SubjectHit>> {
        let aligner = |number: usize| self.engine.aligner(all, grouping, batch.start + number);
        let mut selector = self.engine.selector(&all[batch.clone()]);
        if selector.by_subject() {
            let aligned = |(number, hits): (usize, &Vec<PrelimHit>)| {
                let candidates = self.scan.align(&aligner(number), hits);
                candidates.into_iter().map(Some).collect()
            };
            selector.replay(chosen, chosen.iter().enumerate().map(aligned).collect());
            return selector.finish();
        }
        for (number, hits) in chosen.iter().enumerate() {
            let aligner = aligner(number);
            for wave in hits.chunks(self.wave(number, chosen.len())) {
                if !wave.iter().any(|hit| selector.wants(hit.evalue)) {
                    continue;
                }
                let candidates = self.scan.align(&aligner, wave);
                for (hit, candidate) in wave.iter().zip(candidates) {
                    if selector.wants(hit.evalue) {
                        selector.offer(number, candidate);
                    }
                }
            }
        }
        selector.finish()
    }

    /// How many matches to align before asking whether more are wanted. Only the last query of a batch can be stopped early.
    fn wave(&self, number: usize, queries: usize) -> usize {
        if number + 1 == queries {
            MATCHES_PER_THREAD * rayon::current_num_threads()
        } else {
            usize::MAX
        }
    }
}
