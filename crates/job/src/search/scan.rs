//! The part of a database that a process searches, and what it does with it: the preliminary search of all of it, and
//! alignments of chosen hits.

use std::borrow::{Borrow, Cow};
use std::ops::Range;
use std::sync::Mutex;
use std::time::Duration;

use fleetblast_db::load::{Loader, Supply, Unit, Work};
use fleetblast_db::partition::VolumeFile;
use fleetblast_db::restrict::Visibility;
use fleetblast_db::{DbError, LoadedPartition, SequenceKind, has_all_pages};
use fleetblast_engine::hits::{Candidate, PrelimHit};
use fleetblast_engine::lists::{HitLists, Merger};
use fleetblast_engine::search::{AlignScratch, Aligner, SearchScratch, Searcher};
use fleetblast_engine::subjects::{Masks, Subjects};
use fleetblast_seq::nucleotide::Packed;
use rayon::prelude::*;

use crate::audience::Audience;
use crate::error::Error;
use crate::halt::Halt;
use crate::subjects::{Letters, Stored, Target};

/// Ranges per thread, at least, so that the last ones leave no thread idle for long.
pub const RANGES_PER_THREAD: usize = 16;
/// Subjects that a thread searches before it tells so.
const TOLD_SUBJECTS: u64 = 128;

/// A part of the target, and how it comes into memory.
pub struct Scan<'a> {
    target: &'a Target,
    supply: Supply,
    /// What was loaded stays the same from search to search.
    stays: bool,
    halt: Halt,
    /// The bytes were checked, and will be the same when they are searched again.
    validated: bool,
    /// Who is told what is done, if somebody wants to know.
    audience: Option<&'a dyn Audience>,
    /// Work spaces that nobody uses at the moment.
    scratches: Mutex<Vec<AlignScratch>>,
    /// Waiting of the searching threads for what was not loaded yet, in sum.
    pub waiting: Duration,
}

/// A range of the target, in memory.
struct Searched<'a> {
    target: &'a Target,
    partition: &'a LoadedPartition,
}

impl Subjects for Searched<'_> {
    fn residues(&self, oid: u32) -> &[u8] {
        self.partition.residues_of(oid)
    }

    fn bases(&self, oid: u32) -> Packed<'_> {
        // What is out of order was told when the range was checked.
        let bases = self.partition.bases_of(oid);
        bases.map_or(Packed::default(), |bases| Packed::stored(bases.packed()))
    }

    fn true_letters(&self, oid: u32, parts: &[Range<u32>]) -> Cow<'_, [u8]> {
        let bases = self.partition.bases_of(oid).unwrap_or_default();
        Letters { stored: Stored::Bases(bases), masks: self.masks(oid) }.aligned_parts(parts)
    }

    fn is_excluded(&self, oid: u32) -> bool {
        self.target.is(oid, Visibility::Excluded)
    }

    fn masks(&self, oid: u32) -> Masks<'_> {
        self.target.masked(oid)
    }
}

/// The target where it is, for searches of a few subjects.
struct Chosen<'a>(&'a Target);

impl Subjects for Chosen<'_> {
    fn residues(&self, oid: u32) -> &[u8] {
        self.0.searched.residues_of(oid)
    }

    fn bases(&self, oid: u32) -> Packed<'_> {
        let bases = self.0.searched.bases_of(oid);
        bases.map_or(Packed::default(), |bases| Packed::stored(bases.packed()))
    }

    fn true_letters(&self, oid: u32, parts: &[Range<u32>]) -> Cow<'_, [u8]> {
        let bases = self.0.searched.bases_of(oid).unwrap_or_default();
        Letters { stored: Stored::Bases(bases), masks: self.masks(oid) }.aligned_parts(parts)
    }

    fn is_excluded(&self, oid: u32) -> bool {
        self.0.is(oid, Visibility::Excluded)
    }

    fn masks(&self, oid: u32) -> Masks<'_> {
        self.0.masked(oid)
    }
}

impl<'a> Scan<'a> {
    /// Searches of what `supply` brings of `target`; `stays` says that it is the same bytes each time.
    pub fn new(target: &'a Target, supply: Supply, stays: bool) -> Self {
        let (audience, halt, waiting) = (None, Halt::default(), Duration::ZERO);
        let scratches = Mutex::default();
        Scan { target, supply, stays, halt, validated: false, audience, scratches, waiting }
    }

    /// The same, which ends early, with some of the hits only, when `halt` tells it to.
    pub fn until(self, halt: Halt) -> Self {
        Scan { halt, ..self }
    }

    /// Whether it was told to, so that what it found last are not all of the hits.
    pub fn is_halted(&self) -> bool {
        self.halt.is_set()
    }

    /// The same, with each subject searched and each hit aligned a step that the audience hears of.
    pub fn watched(self, audience: &'a dyn Audience) -> Self {
        Scan { audience: Some(audience), ..self }
    }

    /// Subjects that a search looks at, with those that a restriction leaves out.
    pub fn subjects(&self) -> u64 {
        let oids = |unit: &Unit| u64::from(unit.partition.oids.end - unit.partition.oids.start);
        self.supply.units().iter().map(oids).sum()
    }

    /// Looks whether the files are still what was searched.
    ///
    /// # Errors
    /// A file that was written to.
    pub fn check_unchanged(&self) -> Result<(), DbError> {
        let units = self.supply.units();
        let (Some(first), Some(last)) = (units.first(), units.last()) else { return Ok(()) };
        let oids = first.partition.oids.start..last.partition.oids.end;
        self.target.searched.check_unchanged(&oids)
    }

    /// Whether what is searched now is still wanted, and right.
    fn goes_on(&self) -> bool {
        !self.halt.is_set() && has_all_pages()
    }

    fn step(&self, more: u64) {
        self.audience.iter().for_each(|audience| audience.step(more));
    }

    /// What loads the database.
    pub fn loader(&self) -> &dyn Loader {
        self.supply.loader()
    }

    /// The preliminary hits of a block, wave after wave, searched on all threads of the current pool.
    ///
    /// # Errors
    /// A damaged database.
    pub fn search(
        &mut self,
        merger: &Merger,
        waves: impl Iterator<Item = impl Borrow<Searcher>>,
    ) -> Result<HitLists, DbError> {
        let mut lists = merger.empty_lists();
        for wave in waves {
            merger.absorb(&mut lists, self.search_wave(wave.borrow())?);
            if self.halt.is_set() {
                break;
            }
        }
        Ok(lists)
    }

    fn search_wave(&mut self, searcher: &Searcher) -> Result<HitLists, DbError> {
        let merger = searcher.merger();
        let lists = Mutex::new(merger.empty_lists());
        let ((), waiting) = self.supply.pass(|queue| {
            rayon::broadcast(|_| {
                let mut scratch = SearchScratch::default();
                while self.goes_on()
                    && let Some(work) = queue.next()
                {
                    match self.search_range(searcher, &work, &mut scratch) {
                        // A poisoned lock means that another thread panicked, which ends the run anyway.
                        Ok(part) => {
                            let mut lists = lists.lock().expect("no thread panicked");
                            merger.absorb(&mut lists, part);
                        }
                        Err(error) => queue.fail(work.range.start, error),
                    }
                }
            });
        })?;
        self.waiting += waiting;
        self.check_unchanged()?;
        self.validated = self.stays && !self.halt.is_set();
        Ok(lists.into_inner().expect("no thread panicked"))
    }

    /// The preliminary hits of a block in these subjects, which ascend and are known to be sound, wave after wave, on all threads of the current
    /// pool.
    pub fn search_some(
        &self,
        merger: &Merger,
        waves: impl Iterator<Item = Searcher>,
        oids: &[u32],
    ) -> HitLists {
        let mut lists = merger.empty_lists();
        for wave in waves {
            self.search_wave_in(&wave, oids)
                .into_iter()
                .for_each(|part| merger.absorb(&mut lists, part));
        }
        lists
    }

    fn search_wave_in(&self, searcher: &Searcher, oids: &[u32]) -> Vec<HitLists> {
        let ranges = RANGES_PER_THREAD * rayon::current_num_threads();
        let search = |scratch: &mut SearchScratch, part: &[u32]| {
            let lists = searcher.search(&Chosen(self.target), part.iter().copied(), scratch);
            self.step(part.len() as u64);
            lists
        };
        let parts = oids.par_chunks(oids.len().div_ceil(ranges).max(1));
        parts.map_init(SearchScratch::default, search).collect()
    }

    /// The preliminary hits in what is included of a range.
    fn search_range(
        &self,
        searcher: &Searcher,
        work: &Work,
        scratch: &mut SearchScratch,
    ) -> Result<HitLists, DbError> {
        if !self.validated {
            work.partition.validate_range(&work.range)?;
        }
        let subjects = Searched { target: self.target, partition: &work.partition };
        let included = self.target.searched.oids_in(work.range.clone());
        let (mut told, mut seen) = (0, 0);
        let going_on = |_: &u32| self.goes_on();
        let wanted = included.into_iter().flatten().take_while(going_on).inspect(|_| {
            seen += 1;
            if seen - told == TOLD_SUBJECTS {
                self.step(TOLD_SUBJECTS);
                told = seen;
            }
        });
        let lists = searcher.search(&subjects, wanted, scratch);
        self.step(work.range.len() as u64 - told);
        Ok(lists)
    }

    /// Makes sure that chosen subjects are in the files, from which they are reported, as they were loaded: another process
    /// may have loaded them, from files that it sees under the same name.
    ///
    /// # Errors
    /// Files that hold something else.
    pub fn check_files(&self, oids: impl Iterator<Item = u32>) -> Result<(), Error> {
        let database = &self.target.searched;
        for oid in oids {
            let (loaded, held) = (self.supply.kept_stored_of(oid), database.stored_of(oid));
            if loaded.is_some_and(|loaded| !std::ptr::eq(loaded, held) && loaded != held) {
                let file = database.file_of(oid, VolumeFile::Sequences).unwrap_or_default();
                return Err(Error::database(format_args!(
                    "{} does not hold the residues of sequence {} that were loaded; give all ranks the same database, \
                     and leave it as it is while it is searched",
                    file.display(),
                    oid + 1
                )));
            }
        }
        Ok(())
    }

    /// The alignments of hits, each with what aligns those of its query, on all threads of the current pool.
    pub fn align(&self, hits: &[(&Aligner, &PrelimHit)]) -> Vec<Candidate> {
        // One at a time: the best hits, which come first, are the longest.
        hits.par_iter()
            .with_max_len(1)
            .map_init(
                || Lent::take(&self.scratches),
                |scratch, &(aligner, hit)| {
                    // One search may follow another of other kind.
                    scratch.0 = scratch.0.take().filter(|scratch| aligner.accepts_scratch(scratch));
                    let scratch = scratch.0.get_or_insert_with(|| aligner.scratch());
                    let mut candidate = aligner.align(&self.letters(hit.oid), hit, scratch);
                    candidate.is_reported = !self.target.is(hit.oid, Visibility::Unreported);
                    self.step(1);
                    candidate
                },
            )
            .collect()
    }

    /// The letters of a chosen subject: from what was loaded if that was kept, else just these are fetched again.
    fn letters(&self, oid: u32) -> Letters<'_> {
        let searched = &self.target.searched;
        let stored = if searched.kind() == SequenceKind::Nucleotide {
            let kept = self.supply.kept_bases_of(oid);
            Stored::Bases(kept.or_else(|| searched.bases_of(oid).ok()).unwrap_or_default())
        } else {
            let kept = self.supply.kept_residues_of(oid);
            Stored::Residues(kept.unwrap_or_else(|| searched.residues_of(oid)))
        };
        Letters { stored, masks: self.target.masked(oid) }
    }
}

/// A work space that goes back to where it was taken from; none yet if all were in use.
struct Lent<'a>(Option<AlignScratch>, &'a Mutex<Vec<AlignScratch>>);

impl<'a> Lent<'a> {
    fn take(from: &'a Mutex<Vec<AlignScratch>>) -> Self {
        // A poisoned lock means that another thread panicked, which ends the run anyway.
        Lent(from.lock().expect("no thread panicked").pop(), from)
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let (Some(scratch), Ok(mut scratches)) = (self.0.take(), self.1.lock()) {
            scratches.push(scratch);
        }
    }
}
