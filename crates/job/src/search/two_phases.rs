//! The two phases of a search on the threads of this process: preliminary search of ranges of OIDs,
//! then traceback of chosen hits. The preliminary hit list covers the whole database.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::{Duration, Instant};

use fleetblast_db::DbError;
use fleetblast_db::load::{self, LoadPurpose, Loader, LoaderChoice};
use fleetblast_engine::batches;
use fleetblast_engine::grouping::{GroupDivision, Grouping};
use fleetblast_engine::hits::{CandidateHit, PrelimHit, SubjectHit};
use fleetblast_engine::lists::Selector;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use fleetblast_metadata::subjects::ShownSubjects;
use rayon::prelude::*;

use super::{DatabaseScan, RANGES_PER_THREAD};
use crate::audience::{Audience, Stage};
use crate::halt::Halt;
use crate::plan::Plan;
use crate::subjects::SubjectDatabase;
use crate::trace::{Kind, Lane, Recorder};

/// Least number of residues in a range of OIDs, which a thread searches at a time.
const RANGE_RESIDUES: u64 = 256 * 1024;
/// Maximum number of ranges of OIDs. Each range takes a little time for every query.
const MAX_RANGES: usize = 4096;
/// Number of hits per thread that are aligned before the early stop is checked again (rules 6.1).
const HITS_PER_THREAD: usize = 32;
/// Number of hits per thread that are aligned together, over several queries, if all hits of these
/// queries must be aligned.
const HITS_TOGETHER_PER_THREAD: usize = 512;

/// Wall time of the phases.
#[derive(Clone, Copy, Debug, Default)]
pub struct PhaseTimes {
    /// Preliminary search.
    pub search: Duration,
    /// Traceback.
    pub traceback: Duration,
}

/// A search in a database, with all data that are the same for all blocks of queries.
pub struct TwoPhaseSearch<'a> {
    subjects: &'a SubjectDatabase,
    engine: &'a Search,
    /// How the database comes into memory.
    pub choice: LoaderChoice,
    scan: DatabaseScan<'a>,
    /// Receiver of the progress.
    audience: &'a dyn Audience,
    /// Time that the phases have taken so far.
    pub phase_times: PhaseTimes,
    /// Number of extensions in the last block. BLAST+ derives the sizes of batches from it.
    pub extensions: u64,
    /// For each query of the last block, whether more of its subjects were aligned than its hit
    /// list holds.
    pub overflowed: Vec<bool>,
    /// Whether a query of the last block is searched in chunks.
    pub has_chunks: bool,
    recorder: Recorder,
    /// Number of blocks searched so far.
    blocks: u64,
}

impl<'a> TwoPhaseSearch<'a> {
    /// Prepares the search of a database. `recorder` records the phases as spans.
    ///
    /// # Errors
    /// A database with a damaged index, or one that cannot be loaded as the plan says.
    pub fn new(
        subjects: &'a SubjectDatabase,
        engine: &'a Search,
        plan: &Plan,
        audience: &'a dyn Audience,
        recorder: Recorder,
    ) -> Result<Self, DbError> {
        let database = &subjects.searched;
        let by_size = (database.residue_count() / RANGE_RESIDUES) as usize;
        let least = plan.threads.count * RANGES_PER_THREAD;
        let default = by_size.clamp(least, MAX_RANGES.max(least));
        // Empty ranges would only take time.
        let most = (database.oid_count() as usize).max(1);
        let ranges = plan.partitions.map_or(default, |wished| wished.min(most));
        let choice = load::choose_loader(database, LoadPurpose::Search, plan.load)?;
        Ok(TwoPhaseSearch {
            subjects,
            engine,
            scan: DatabaseScan::new(
                subjects,
                choice.supply(database, ranges)?,
                choice.streaming_bytes.is_none(),
            )
            .with_audience(audience),
            audience,
            choice,
            phase_times: PhaseTimes::default(),
            extensions: 0,
            overflowed: Vec::new(),
            has_chunks: false,
            recorder,
            blocks: 0,
        })
    }

    /// Makes the search stop early when `halt` is set; its hits are incomplete then.
    pub fn with_halt(self, halt: Halt) -> Self {
        TwoPhaseSearch { scan: self.scan.with_halt(halt), ..self }
    }

    /// Returns whether the search was halted, so that its last hits are incomplete.
    pub fn is_halted(&self) -> bool {
        self.scan.is_halted()
    }

    /// Continues with another engine on the same database.
    pub fn set_engine(&mut self, engine: &'a Search) {
        self.engine = engine;
    }

    /// Returns the loader of the database.
    pub fn loader(&self) -> &dyn Loader {
        self.scan.loader()
    }

    /// Returns the total time that the searching threads have waited for the database.
    pub fn waiting(&self) -> Duration {
        self.scan.waiting
    }

    /// Searches a block of queries and returns the hits of each. `batches` has the number of
    /// consecutive queries in each batch of BLAST+.
    ///
    /// # Errors
    /// A damaged database.
    pub fn search_block(
        &mut self,
        queries: &[Query],
        batches: &[usize],
    ) -> Result<Vec<Vec<SubjectHit>>, DbError> {
        let start = Instant::now();
        let mut span = self.recorder.begin(Lane::Search, Kind::Search);
        let loaded = self.loader().statistics().read_bytes;
        let grouping = self.engine.grouping(queries, batches);
        self.has_chunks = grouping.has_chunked_queries();
        let chosen = self.search_preliminary(queries, &grouping)?;
        let found: usize = chosen.iter().map(Vec::len).sum();
        span.arg("block", self.blocks);
        span.arg("partition", 0);
        span.arg("queries", queries.len() as u64);
        span.arg("residues", queries.iter().map(|query| u64::from(query.length)).sum());
        span.arg("hits", found as u64);
        // About the bytes that these hits would have in a message between ranks.
        span.arg("bytes", (found * size_of::<PrelimHit>()) as u64);
        span.arg("loaded_bytes", self.loader().statistics().read_bytes - loaded);
        drop(span);
        self.phase_times.search += start.elapsed();
        let start = Instant::now();
        self.audience.begin_stage(Stage::Align, chosen.iter().map(|hits| hits.len() as u64).sum());
        let mut span = self.recorder.begin(Lane::Search, Kind::Align);
        let (hits, overflowed) = self.trace_block((queries, &grouping), batches, &chosen, &[])?;
        self.overflowed = overflowed;
        span.arg("block", self.blocks);
        span.arg("partitions", 1);
        span.arg("hits", hits.iter().map(|hits| hits.len() as u64).sum());
        drop(span);
        self.phase_times.traceback += start.elapsed();
        self.blocks += 1;
        Ok(hits)
    }

    /// Searches queries only in their shown subjects, with the same results as in the whole
    /// database. Statistics are those of the whole database. Each query keeps only the hits in its
    /// own shown subjects.
    ///
    /// # Errors
    /// A damaged database.
    pub fn search_known_subjects(
        &mut self,
        queries: &[Query],
        batches: &[usize],
        shown: &[ShownSubjects],
    ) -> Result<Vec<Vec<SubjectHit>>, DbError> {
        let grouping = self.engine.grouping(queries, batches);
        let (merger, searchers) = (
            self.engine.merger(&grouping),
            self.engine.searchers(queries, &grouping, GroupDivision::Few),
        );
        let oids: BTreeSet<u32> = shown.iter().flat_map(|shown| &shown.oids).copied().collect();
        self.audience.begin_stage(Stage::Search, (oids.len() * searchers.groups.len()) as u64);
        self.subjects.searched.announce_sequences(oids.iter().copied().collect::<BTreeSet<_>>());
        let oids: Vec<u32> = oids.into_iter().collect();
        let mut chosen = merger.select_for_traceback(self.scan.search_subjects(
            &merger,
            searchers.groups,
            &oids,
        ));
        for (hits, shown) in chosen.iter_mut().zip(shown) {
            hits.retain(|hit| shown.oids.binary_search(&hit.oid).is_ok());
        }
        self.audience.begin_stage(Stage::Align, chosen.iter().map(|hits| hits.len() as u64).sum());
        Ok(self.trace_block((queries, &grouping), batches, &chosen, shown)?.0)
    }

    /// Searches the queries, and returns the preliminary hits of each that are chosen for the
    /// traceback. The hits are in the order of the traceback.
    fn search_preliminary(
        &mut self,
        queries: &[Query],
        grouping: &Grouping,
    ) -> Result<Vec<Vec<PrelimHit>>, DbError> {
        let merger = self.engine.merger(grouping);
        let searchers = self.engine.searchers(queries, grouping, self.scan.division());
        let before = self.loader().statistics().read_bytes;
        self.audience
            .begin_stage(Stage::Search, self.scan.subject_count() * searchers.groups.len() as u64);
        let lists = self.scan.search(&merger, searchers)?;
        self.extensions = merger.extensions(&lists).iter().sum();
        let chosen = merger.select_for_traceback(lists);
        if self.loader().statistics().read_bytes > before {
            // The database was not in memory, or does not stay there. So its pages may be missing
            // for the traceback, too.
            let hits = chosen.iter().flatten().map(|hit| hit.oid);
            self.subjects.searched.announce_sequences(hits.collect::<BTreeSet<_>>());
        }
        Ok(chosen)
    }

    /// Aligns the chosen hits of all batches of a block, and selects the final hits. Also returns
    /// for each query whether more of its subjects were aligned than its hit list holds. `shown`
    /// are the subjects that an earlier search kept; empty without one.
    fn trace_block(
        &self,
        all: (&[Query], &Grouping),
        batches: &[usize],
        chosen: &[Vec<PrelimHit>],
        shown: &[ShownSubjects],
    ) -> Result<(Vec<Vec<SubjectHit>>, Vec<bool>), DbError> {
        let ranges: Vec<_> = batches::batch_ranges(batches).collect();
        let traced: Vec<_> = ranges
            .into_par_iter()
            .map(|range| {
                let shown = shown.get(range.clone()).unwrap_or_default();
                self.trace_batch(all, range.clone(), &chosen[range], shown)
            })
            .collect();
        let traced: Vec<_> = traced.into_iter().collect::<Result<_, _>>()?;
        let (hits, overflowed): (Vec<_>, Vec<_>) = traced.into_iter().unzip();
        Ok((hits.concat(), overflowed.concat()))
    }

    /// Aligns the chosen hits of one batch, and selects the final hits.
    fn trace_batch(
        &self,
        (all, grouping): (&[Query], &Grouping),
        batch: Range<usize>,
        chosen: &[Vec<PrelimHit>],
        shown: &[ShownSubjects],
    ) -> Result<(Vec<Vec<SubjectHit>>, Vec<bool>), DbError> {
        let mut selector = self.engine.selector(&all[batch.clone()]);
        for (query, _) in shown.iter().enumerate().filter(|(_, shown)| shown.overflowed) {
            selector.mark_overflowed(query);
        }
        if selector.by_subject() {
            selector.replay(chosen, self.align((all, grouping), batch.start, chosen)?);
        } else {
            self.trace_queries((all, grouping), batch.start, &mut selector, chosen)?;
        }
        let overflowed = selector.overflowing();
        Ok((selector.finish(), overflowed))
    }

    /// Aligns the hits that the selector needs, query by query. `first` is the index of the first
    /// query of the batch.
    fn trace_queries(
        &self,
        (all, grouping): (&[Query], &Grouping),
        first: usize,
        selector: &mut Selector,
        chosen: &[Vec<PrelimHit>],
    ) -> Result<(), DbError> {
        let align = |queries: Range<usize>| {
            self.align((all, grouping), first + queries.start, &chosen[queries])
        };
        let unconditional = selector.unconditional_queries();
        let mut next = 0;
        while next < unconditional {
            let end = next + count_aligned_together(&chosen[next..unconditional]);
            for (number, candidates) in (next..end).zip(align(next..end)?) {
                let candidates = candidates.into_iter().flatten();
                candidates.for_each(|candidate| selector.offer(number, candidate));
            }
            next = end;
        }
        for (number, hits) in chosen.iter().enumerate().skip(unconditional) {
            let aligner = self.engine.aligner(all, grouping, first + number);
            for next_hits in hits.chunks(HITS_PER_THREAD * rayon::current_num_threads()) {
                if !next_hits.iter().any(|hit| selector.must_align(hit.evalue)) {
                    continue;
                }
                let pairs: Vec<_> = next_hits.iter().map(|hit| (&aligner, hit)).collect();
                for ((_, hit), candidate) in pairs.iter().zip(self.scan.align(&pairs)?) {
                    if let Some(candidate) = candidate
                        && selector.must_align(hit.evalue)
                    {
                        selector.offer(number, candidate);
                    }
                }
            }
        }
        Ok(())
    }

    /// Aligns all hits of consecutive queries. `first` is the index of the first of these queries.
    fn align(
        &self,
        (queries, grouping): (&[Query], &Grouping),
        first: usize,
        hits: &[Vec<PrelimHit>],
    ) -> Result<Vec<Vec<Option<CandidateHit>>>, DbError> {
        let aligner = |(number, hits): (usize, &Vec<PrelimHit>)| {
            (!hits.is_empty()).then(|| self.engine.aligner(queries, grouping, first + number))
        };
        let aligners: Vec<_> = hits.par_iter().enumerate().map(aligner).collect();
        let with_hits =
            aligners.iter().zip(hits).filter_map(|(aligner, hits)| Some((aligner.as_ref()?, hits)));
        let pairs =
            with_hits.flat_map(|(aligner, hits)| hits.iter().map(move |hit| (aligner, hit)));
        let mut candidates = self.scan.align(&pairs.collect::<Vec<_>>())?.into_iter();
        Ok(hits.iter().map(|hits| candidates.by_ref().take(hits.len()).collect()).collect())
    }
}

/// Returns the number of queries, from the first one, that are aligned together: at least one.
fn count_aligned_together(hits: &[Vec<PrelimHit>]) -> usize {
    let most = HITS_TOGETHER_PER_THREAD * rayon::current_num_threads();
    let mut matches = 0;
    let fits = |hits: &&Vec<PrelimHit>| {
        matches += hits.len();
        matches <= most
    };
    hits.iter().take_while(fits).count().max(1)
}
