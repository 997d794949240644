//! The two phases of a search on the threads of this process: preliminary search of ranges of OIDs, then traceback of
//! the chosen hits (design: the preliminary list is global).

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use fleetblast_db::load::{self, Choice, Loader, Purpose, Supply, Work};
use fleetblast_db::{DbError, LoadedPartition};
use fleetblast_engine::hits::{PrelimHit, SubjectHit};
use fleetblast_engine::params::Params;
use fleetblast_engine::prelim::{self, HitLists, Kernel, Searcher};
use fleetblast_engine::query::Query;
use fleetblast_engine::subjects::{Masks, Subjects};
use fleetblast_engine::traceback::{self, Selector, Traceback};
use rayon::prelude::*;

use super::subjects::Target;
use crate::plan::Plan;

/// Residues in a range of OIDs that a thread takes at a time, at least.
const RANGE_RESIDUES: u64 = 256 * 1024;
/// Ranges per thread, at least, so that the last ones leave no thread idle for long.
const RANGES_PER_THREAD: usize = 16;
/// Ranges at most: each costs a little for every query.
const MAX_RANGES: usize = 4096;
/// Matches per thread that are aligned before the early stop is looked at again (spec 6.1).
const MATCHES_PER_THREAD: usize = 32;

/// A range of the target, in memory.
struct Searched<'a> {
    target: &'a Target,
    partition: &'a LoadedPartition,
}

impl Subjects for Searched<'_> {
    fn residues(&self, oid: u32) -> &[u8] {
        self.partition.residues_of(oid)
    }

    fn masks(&self, oid: u32) -> Masks<'_> {
        Subjects::masks(self.target, oid)
    }
}

impl Subjects for Target {
    fn residues(&self, oid: u32) -> &[u8] {
        self.searched.residues_of(oid)
    }

    fn masks(&self, oid: u32) -> Masks<'_> {
        let stretches = self.masks.of(oid);
        if self.has_hard_masks { Masks::Hard(stretches) } else { Masks::Soft(stretches) }
    }
}

/// How long the phases took, wall time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phases {
    /// Preliminary search.
    pub search: Duration,
    /// Traceback.
    pub traceback: Duration,
    /// Waiting of the searching threads for what was not loaded yet, in sum.
    pub waiting: Duration,
}

/// A database and all that stays the same from block to block of queries.
pub struct Search<'a> {
    target: &'a Target,
    params: &'a Params,
    traceback: Traceback,
    kernel: Kernel,
    /// How the database comes into memory.
    pub choice: Choice,
    supply: Supply,
    /// The bytes of the database were checked, and will be the same when they are searched again.
    validated: bool,
    /// Time spent so far.
    pub phases: Phases,
}

impl<'a> Search<'a> {
    /// Prepares searches of `target`.
    ///
    /// # Errors
    /// A database whose index is out of order, or that cannot be loaded as wished.
    pub fn new(target: &'a Target, plan: &'a Plan) -> Result<Self, DbError> {
        let (database, params) = (&target.searched, &plan.params);
        let by_size = (database.residues() / RANGE_RESIDUES) as usize;
        let least = plan.threads * RANGES_PER_THREAD;
        let default = by_size.clamp(least, MAX_RANGES.max(least));
        let ranges = plan.partitions.unwrap_or(default);
        let choice = load::choose(database, Purpose::Search, plan.load)?;
        Ok(Search {
            target,
            params,
            traceback: Traceback::new(params, &target.totals),
            kernel: Kernel::detect(),
            supply: choice.supply(database, ranges)?,
            choice,
            validated: false,
            phases: Phases::default(),
        })
    }

    /// What loads the database.
    pub fn loader(&self) -> &dyn Loader {
        self.supply.loader()
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
        let chosen = self.preliminary(queries, batches)?;
        self.phases.search += start.elapsed();
        let start = Instant::now();
        let hits = self.trace_block(queries, batches, &chosen);
        self.phases.traceback += start.elapsed();
        Ok(hits)
    }

    /// The chosen preliminary hits of each query, in the order of the traceback.
    fn preliminary(
        &mut self,
        queries: &[Query],
        batches: &[usize],
    ) -> Result<Vec<Vec<PrelimHit>>, DbError> {
        let searcher =
            Searcher::new(queries, batches, self.params, &self.target.totals, Some(self.kernel));
        let lists = Mutex::new(searcher.empty_lists());
        let before = self.loader().statistics().bytes;
        let ((), waiting) = self.supply.pass(|queue| {
            rayon::broadcast(|_| {
                let mut scratch = prelim::Scratch::default();
                while let Some(work) = queue.next() {
                    match self.search_range(&searcher, &work, &mut scratch) {
                        // A poisoned lock means that another thread panicked, which ends the run anyway.
                        Ok(part) => {
                            let mut lists = lists.lock().expect("no thread panicked");
                            searcher.absorb(&mut lists, part);
                        }
                        Err(error) => queue.fail(work.range.start, error),
                    }
                }
            });
        })?;
        self.phases.waiting += waiting;
        self.validated = self.choice.streamed.is_none();
        let mut chosen = searcher.choose(lists.into_inner().expect("no thread panicked"));
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

    /// The preliminary hits in what is included of a range.
    fn search_range(
        &self,
        searcher: &Searcher,
        work: &Work,
        scratch: &mut prelim::Scratch,
    ) -> Result<HitLists, DbError> {
        if !self.validated {
            work.partition.validate_range(&work.range)?;
        }
        let subjects = Searched { target: self.target, partition: &work.partition };
        let included = self.target.searched.oids_in(work.range.clone());
        Ok(searcher.search(&subjects, included.into_iter().flatten(), scratch))
    }

    /// Traceback of all batches of a block.
    fn trace_block(
        &self,
        queries: &[Query],
        batches: &[usize],
        chosen: &[Vec<PrelimHit>],
    ) -> Vec<Vec<SubjectHit>> {
        let mut starts = Vec::with_capacity(batches.len());
        let mut start = 0;
        for &len in batches {
            starts.push(start..start + len);
            start += len;
        }
        starts
            .into_par_iter()
            .map(|range| self.trace_batch(&queries[range.clone()], &chosen[range]))
            .collect::<Vec<_>>()
            .into_iter()
            .flatten()
            .collect()
    }

    /// Traceback of one batch of queries.
    fn trace_batch(&self, queries: &[Query], chosen: &[Vec<PrelimHit>]) -> Vec<Vec<SubjectHit>> {
        let lengths: Vec<u32> = queries.iter().map(|q| q.residues.len() as u32).collect();
        let mut selector = Selector::new(self.params, &lengths);
        for (number, (query, hits)) in queries.iter().zip(chosen).enumerate() {
            let query = self.traceback.query(query);
            for wave in hits.chunks(self.wave(number, queries.len())) {
                if !wave.iter().any(|hit| selector.wants(hit.evalue)) {
                    continue;
                }
                let candidates: Vec<_> = wave
                    .par_iter()
                    .map_init(traceback::Scratch::new, |scratch, hit| {
                        let masks = Subjects::masks(self.target, hit.oid);
                        let subject = masks.aligned(self.residues(hit.oid));
                        self.traceback.align(&query, &subject, hit, scratch)
                    })
                    .collect();
                for (hit, candidate) in wave.iter().zip(candidates) {
                    if selector.wants(hit.evalue) {
                        selector.offer(number, candidate);
                    }
                }
            }
        }
        selector.finish()
    }

    /// Residues of a chosen subject: from what was loaded if that was kept, else just these are fetched again.
    fn residues(&self, oid: u32) -> &[u8] {
        let kept = self.supply.kept_residues_of(oid);
        kept.unwrap_or_else(|| Subjects::residues(self.target, oid))
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
