//! The two phases of a search on the threads of this process: preliminary search of ranges of OIDs, then traceback of
//! the chosen hits (design: the preliminary list is global).

use std::ops::Range;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use fleetblast_db::DbError;
use fleetblast_engine::hits::{PrelimHit, SubjectHit};
use fleetblast_engine::params::Params;
use fleetblast_engine::prelim::{self, Kernel, Searcher};
use fleetblast_engine::query::Query;
use fleetblast_engine::subjects::Subjects;
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

impl Subjects for Target {
    fn residues(&self, oid: u32) -> &[u8] {
        self.searched.residues_of(oid)
    }

    fn masks(&self, oid: u32) -> &[Range<u32>] {
        self.masks.get(oid as usize).map_or(&[], Vec::as_slice)
    }
}

/// How long the phases took, wall time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phases {
    /// Preliminary search.
    pub search: Duration,
    /// Traceback.
    pub traceback: Duration,
}

/// A database and all that stays the same from block to block of queries.
pub struct Search<'a> {
    target: &'a Target,
    params: &'a Params,
    traceback: Traceback,
    kernel: Kernel,
    ranges: Vec<Range<u32>>,
    /// The bytes of the database were checked.
    validated: bool,
    /// Time spent so far.
    pub phases: Phases,
}

impl<'a> Search<'a> {
    /// Prepares searches of `target`.
    pub fn new(target: &'a Target, plan: &'a Plan) -> Self {
        let (database, params) = (&target.searched, &plan.params);
        let by_size = (database.residues() / RANGE_RESIDUES) as usize;
        let least = plan.threads * RANGES_PER_THREAD;
        let default = by_size.clamp(least, MAX_RANGES.max(least));
        let ranges = plan.partitions.unwrap_or(default);
        Search {
            target,
            params,
            traceback: Traceback::new(params, &target.totals),
            kernel: Kernel::detect(),
            ranges: database.partitions(ranges),
            validated: false,
            phases: Phases::default(),
        }
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

    /// The chosen preliminary hits of each query, best first.
    fn preliminary(
        &mut self,
        queries: &[Query],
        batches: &[usize],
    ) -> Result<Vec<Vec<PrelimHit>>, DbError> {
        let searcher =
            Searcher::new(queries, batches, self.params, &self.target.totals, Some(self.kernel));
        let database = &self.target.searched;
        let lists = Mutex::new(searcher.empty_lists());
        self.ranges.par_iter().try_for_each_init(prelim::Scratch::default, |scratch, range| {
            if !self.validated {
                database.validate(range.clone())?;
            }
            for oids in database.oids_in(range.clone()) {
                let part = searcher.search(self.target, oids, scratch);
                // A poisoned lock means that another thread panicked, which ends the run anyway.
                searcher.absorb(&mut lists.lock().expect("no thread panicked"), part);
            }
            Ok::<(), DbError>(())
        })?;
        self.validated = true;
        Ok(searcher.choose(lists.into_inner().expect("no thread panicked")))
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
                if !selector.wants(wave[0].evalue) {
                    break;
                }
                let candidates: Vec<_> = wave
                    .par_iter()
                    .map_init(traceback::Scratch::new, |scratch, hit| {
                        let subject = Subjects::residues(self.target, hit.oid);
                        self.traceback.align(&query, subject, hit, scratch)
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

    /// How many matches to align before asking whether more are wanted. Only the last query of a batch can be stopped early.
    fn wave(&self, number: usize, queries: usize) -> usize {
        if number + 1 == queries {
            MATCHES_PER_THREAD * rayon::current_num_threads()
        } else {
            usize::MAX
        }
    }
}
