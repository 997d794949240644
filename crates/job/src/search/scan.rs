//! The scan of the part of a database that a process searches: the preliminary search of all its
//! subjects, and the alignment of chosen hits.

use std::borrow::{Borrow, Cow};
use std::ops::Range;
use std::sync::Mutex;
use std::time::Duration;

use fleetblast_db::load::{LoadUnit, LoadedRange, Loader, PartitionSupply, RangeQueue};
use fleetblast_db::partition::VolumeFile;
use fleetblast_db::restrict::HitVisibility;
use fleetblast_db::{DbError, LoadedPartition, SequenceKind, has_no_lost_page};
use fleetblast_engine::grouping::GroupDivision;
use fleetblast_engine::hits::{CandidateHit, PrelimHit};
use fleetblast_engine::lists::{HitLists, Merger};
use fleetblast_engine::scratch_pool::ScratchPool;
use fleetblast_engine::search::{AlignScratch, Aligner, SearchScratch, Searcher, Searchers};
use fleetblast_engine::subjects::{Masks, Subjects};
use fleetblast_seq::nucleotide::Packed;
use rayon::prelude::*;

use crate::audience::Audience;
use crate::error::Error;
use crate::halt::Halt;
use crate::subjects::{MaskedLetters, StoredSequence, SubjectDatabase};

/// Least number of ranges of OIDs for each thread, so that no thread is idle for long at the end.
pub const RANGES_PER_THREAD: usize = 16;
/// Number of subjects that a thread searches between two steps of progress.
const SUBJECTS_PER_STEP: u64 = 128;

/// Searches a part of the database. `supply` brings that part into memory.
pub struct DatabaseScan<'a> {
    subjects: &'a SubjectDatabase,
    supply: PartitionSupply,
    /// Whether the supply keeps the loaded bytes, so that every search gets the same bytes.
    is_stable: bool,
    halt: Halt,
    /// Whether the loaded bytes were validated and stay the same, so that later searches need not
    /// validate them.
    is_validated: bool,
    /// Receiver of the progress, if there is one.
    audience: Option<&'a dyn Audience>,
    /// Scratch spaces for alignments that no thread uses at present.
    scratches: ScratchPool<AlignScratch>,
    /// Total time that the searching threads have waited for the supply.
    pub waiting: Duration,
}

/// Subjects in a range of the database that was loaded into memory.
struct LoadedSubjects<'a> {
    subjects: &'a SubjectDatabase,
    partition: &'a LoadedPartition,
}

impl Subjects for LoadedSubjects<'_> {
    fn residues(&self, oid: u32) -> &[u8] {
        self.partition.residues_of(oid)
    }

    fn bases(&self, oid: u32) -> Packed<'_> {
        // The validation of the range has reported damage, so damaged bases are not reported here.
        let bases = self.partition.bases_of(oid);
        bases.map_or(Packed::default(), |bases| Packed::stored(bases.packed()))
    }

    fn true_letters(&self, oid: u32, parts: &[Range<u32>]) -> Cow<'_, [u8]> {
        let bases = self.partition.bases_of(oid).unwrap_or_default();
        MaskedLetters { stored: StoredSequence::Bases(bases), masks: self.masks(oid) }
            .aligned_parts(parts)
    }

    fn drops_ungapped_hsps(&self, oid: u32) -> bool {
        self.subjects.has_visibility(oid, HitVisibility::Excluded)
    }

    fn masks(&self, oid: u32) -> Masks<'_> {
        self.subjects.masks_of(oid)
    }
}

/// Subjects in the files of the opened database, for searches in a few subjects.
struct OpenedSubjects<'a>(&'a SubjectDatabase);

impl Subjects for OpenedSubjects<'_> {
    fn residues(&self, oid: u32) -> &[u8] {
        self.0.searched.residues_of(oid)
    }

    fn bases(&self, oid: u32) -> Packed<'_> {
        let bases = self.0.searched.bases_of(oid);
        bases.map_or(Packed::default(), |bases| Packed::stored(bases.packed()))
    }

    fn true_letters(&self, oid: u32, parts: &[Range<u32>]) -> Cow<'_, [u8]> {
        let bases = self.0.searched.bases_of(oid).unwrap_or_default();
        MaskedLetters { stored: StoredSequence::Bases(bases), masks: self.masks(oid) }
            .aligned_parts(parts)
    }

    fn drops_ungapped_hsps(&self, oid: u32) -> bool {
        self.0.has_visibility(oid, HitVisibility::Excluded)
    }

    fn masks(&self, oid: u32) -> Masks<'_> {
        self.0.masks_of(oid)
    }
}

impl<'a> DatabaseScan<'a> {
    /// Creates a scan of the part of the database that `supply` loads. `is_stable` says that every
    /// search gets the same bytes.
    pub fn new(subjects: &'a SubjectDatabase, supply: PartitionSupply, is_stable: bool) -> Self {
        let (audience, halt, waiting) = (None, Halt::default(), Duration::ZERO);
        let scratches = ScratchPool::default();
        DatabaseScan {
            subjects,
            supply,
            is_stable,
            halt,
            is_validated: false,
            audience,
            scratches,
            waiting,
        }
    }

    /// Makes the scan stop early when `halt` is set; its hits are incomplete then.
    pub fn with_halt(self, halt: Halt) -> Self {
        DatabaseScan { halt, ..self }
    }

    /// Returns whether the scan was halted, so that its last hits are incomplete.
    pub fn is_halted(&self) -> bool {
        self.halt.is_set()
    }

    /// Reports each searched subject and each aligned hit to an audience, as a step.
    pub fn with_audience(self, audience: &'a dyn Audience) -> Self {
        DatabaseScan { audience: Some(audience), ..self }
    }

    /// Returns the number of subjects, including those that a restriction excludes.
    pub fn subject_count(&self) -> u64 {
        let oids = |unit: &LoadUnit| u64::from(unit.partition.oids.end - unit.partition.oids.start);
        self.supply.units().iter().map(oids).sum()
    }

    /// Checks that the files of the scanned part have not changed.
    ///
    /// # Errors
    /// A file that has changed since it was opened.
    pub fn check_unchanged(&self) -> Result<(), DbError> {
        let units = self.supply.units();
        let (Some(first), Some(last)) = (units.first(), units.last()) else { return Ok(()) };
        let oids = first.partition.oids.start..last.partition.oids.end;
        self.subjects.searched.check_unchanged(&oids)
    }

    /// Returns whether the search is still wanted and its data are valid.
    fn can_continue(&self) -> bool {
        !self.halt.is_set() && has_no_lost_page()
    }

    fn step(&self, more: u64) {
        self.audience.iter().for_each(|audience| audience.add_steps(more));
    }

    /// Returns the loader of the database.
    pub fn loader(&self) -> &dyn Loader {
        self.supply.loader()
    }

    /// Returns the best division of a block for this scan. If there are fewer subjects than
    /// threads, the threads divide the searchers among themselves. This requires that the block has
    /// more searchers than there are subjects, and that the supply keeps its bytes.
    pub fn division(&self) -> GroupDivision {
        let threads = rayon::current_num_threads();
        match usize::try_from(self.subject_count()) {
            Ok(count) if self.is_stable && count < threads => {
                GroupDivision::ForThreads { threads, groups_to_exceed: count }
            }
            _ => GroupDivision::Few,
        }
    }

    /// Searches a block on all threads of the current pool, which share the subjects for one
    /// searcher after another, or share the searchers. Returns the preliminary hits.
    ///
    /// # Errors
    /// A damaged database.
    pub fn search<S: Borrow<Searcher>>(
        &mut self,
        merger: &Merger,
        searchers: Searchers<impl Iterator<Item = impl FnOnce() -> S + Send> + Send>,
    ) -> Result<HitLists, DbError> {
        match searchers.one_thread_per_group {
            true => self.share_searchers(merger, searchers.groups),
            false => self.share_subjects(merger, searchers.groups),
        }
    }

    /// Divides the searchers among the threads. Each searcher searches all subjects.
    fn share_searchers<S: Borrow<Searcher>>(
        &mut self,
        merger: &Merger,
        searchers: impl Iterator<Item = impl FnOnce() -> S + Send> + Send,
    ) -> Result<HitLists, DbError> {
        let search = |searcher: &Searcher| -> Result<_, DbError> {
            let mut lists = merger.empty_lists();
            let ((), waiting) = self.supply.run_pass(|queue| {
                self.search_queue(searcher, queue, |part| merger.absorb(&mut lists, part));
            })?;
            Ok((lists, waiting))
        };
        let nothing = || (merger.empty_lists(), Duration::ZERO);
        let searched = searchers.par_bridge().map(|prepare| match self.can_continue() {
            true => search(prepare().borrow()),
            false => Ok(nothing()),
        });
        let (lists, waiting) =
            searched.try_reduce(nothing, |(mut lists, waiting), (more, longer)| {
                merger.absorb(&mut lists, more);
                Ok((lists, waiting + longer))
            })?;
        self.end_pass(waiting)?;
        Ok(lists)
    }

    /// Searches with one searcher after another. All threads share the subjects.
    fn share_subjects<S: Borrow<Searcher>>(
        &mut self,
        merger: &Merger,
        searchers: impl Iterator<Item = impl FnOnce() -> S + Send>,
    ) -> Result<HitLists, DbError> {
        let mut lists = merger.empty_lists();
        for prepare in searchers {
            merger.absorb(&mut lists, self.search_with(prepare().borrow())?);
            if self.halt.is_set() {
                break;
            }
        }
        Ok(lists)
    }

    fn search_with(&mut self, searcher: &Searcher) -> Result<HitLists, DbError> {
        let merger = searcher.merger();
        let lists = Mutex::new(merger.empty_lists());
        let ((), waiting) = self.supply.run_pass(|queue| {
            rayon::broadcast(|_| {
                self.search_queue(searcher, queue, |part| {
                    // A poisoned lock means that another thread panicked, which ends the run
                    // anyway.
                    let mut lists = lists.lock().expect("no thread panicked");
                    merger.absorb(&mut lists, part);
                });
            });
        })?;
        self.end_pass(waiting)?;
        Ok(lists.into_inner().expect("no thread panicked"))
    }

    /// Ends a pass through all subjects, in which threads waited for the time `waiting`.
    fn end_pass(&mut self, waiting: Duration) -> Result<(), DbError> {
        self.waiting += waiting;
        self.check_unchanged()?;
        self.is_validated = self.is_stable && !self.halt.is_set();
        Ok(())
    }

    /// Searches ranges from a queue until it is empty. Passes the hits of each range to `found`.
    fn search_queue(
        &self,
        searcher: &Searcher,
        queue: &RangeQueue,
        mut found: impl FnMut(HitLists),
    ) {
        let mut scratch = SearchScratch::default();
        while self.can_continue()
            && let Some(work) = queue.next()
        {
            match self.search_range(searcher, &work, &mut scratch) {
                Ok(part) => found(part),
                Err(error) => queue.fail(work.range.start, error),
            }
        }
    }

    /// Searches a block in the subjects `oids`, on all threads of the current pool. `oids` must
    /// ascend, and the subjects must be validated. Returns the preliminary hits.
    pub fn search_subjects(
        &self,
        merger: &Merger,
        searchers: impl Iterator<Item = impl FnOnce() -> Searcher>,
        oids: &[u32],
    ) -> HitLists {
        let mut lists = merger.empty_lists();
        for prepare in searchers {
            self.search_subjects_with(&prepare(), oids)
                .into_iter()
                .for_each(|part| merger.absorb(&mut lists, part));
        }
        lists
    }

    fn search_subjects_with(&self, searcher: &Searcher, oids: &[u32]) -> Vec<HitLists> {
        let ranges = RANGES_PER_THREAD * rayon::current_num_threads();
        let search = |scratch: &mut SearchScratch, part: &[u32]| {
            let lists =
                searcher.search(&OpenedSubjects(self.subjects), part.iter().copied(), scratch);
            self.step(part.len() as u64);
            lists
        };
        let parts = oids.par_chunks(oids.len().div_ceil(ranges).max(1));
        parts.map_init(SearchScratch::default, search).collect()
    }

    /// Searches a range of OIDs, except for excluded subjects.
    fn search_range(
        &self,
        searcher: &Searcher,
        work: &LoadedRange,
        scratch: &mut SearchScratch,
    ) -> Result<HitLists, DbError> {
        if !self.is_validated {
            work.partition.validate_range(&work.range)?;
        }
        let loaded = LoadedSubjects { subjects: self.subjects, partition: &work.partition };
        let included = self.subjects.searched.included_oids_in(work.range.clone());
        let (mut reported, mut seen) = (0, 0);
        let can_continue = |_: &u32| self.can_continue();
        let wanted = included.into_iter().flatten().take_while(can_continue).inspect(|_| {
            seen += 1;
            if seen - reported == SUBJECTS_PER_STEP {
                self.step(SUBJECTS_PER_STEP);
                reported = seen;
            }
        });
        let lists = searcher.search(&loaded, wanted, scratch);
        self.step(work.range.len() as u64 - reported);
        Ok(lists)
    }

    /// Checks that the files, from which subjects are reported, contain the same residues as
    /// memory. Another process may have loaded other files of the same name into memory.
    ///
    /// # Errors
    /// A file with other residues than those in memory.
    pub fn check_files(&self, oids: impl Iterator<Item = u32>) -> Result<(), Error> {
        let database = &self.subjects.searched;
        for oid in oids {
            let (loaded, held) =
                (self.supply.kept_stored_bytes_of(oid), database.stored_bytes_of(oid));
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

    /// Aligns hits on all threads of the current pool. Each hit comes with the aligner of its
    /// query. Returns `None` for a hit that BLAST+ drops just before it aligns it: its subject has
    /// no visible definition line.
    ///
    /// # Errors
    /// A damaged database.
    pub fn align(
        &self,
        hits: &[(&Aligner, &PrelimHit)],
    ) -> Result<Vec<Option<CandidateHit>>, DbError> {
        // One hit at a time: the best hits come first and take longest.
        let aligned = hits.par_iter().with_max_len(1).map_init(
            || self.scratches.acquire(),
            |pooled, &(aligner, hit)| {
                let visibility = self.subjects.visibility(hit.oid)?;
                let candidate = (visibility != HitVisibility::Excluded).then(|| {
                    // The previous search may have used another kind of scratch space.
                    let suitable = |scratch: &AlignScratch| aligner.accepts_scratch(scratch);
                    pooled.scratch = pooled.scratch.take().filter(suitable);
                    let scratch = pooled.scratch.get_or_insert_with(|| aligner.scratch());
                    let mut candidate = aligner.align(&self.letters(hit.oid), hit, scratch);
                    candidate.is_reported = visibility != HitVisibility::Unreported;
                    candidate
                });
                self.step(1);
                Ok(candidate)
            },
        );
        // The error is always that of the first damaged subject.
        aligned.collect::<Vec<_>>().into_iter().collect()
    }

    /// Returns the letters of a chosen subject: from memory if the supply has kept them, otherwise
    /// from the files.
    fn letters(&self, oid: u32) -> MaskedLetters<'_> {
        let searched = &self.subjects.searched;
        let stored = if searched.kind() == SequenceKind::Nucleotide {
            let kept = self.supply.kept_bases_of(oid);
            StoredSequence::Bases(kept.or_else(|| searched.bases_of(oid).ok()).unwrap_or_default())
        } else {
            let kept = self.supply.kept_residues_of(oid);
            StoredSequence::Residues(kept.unwrap_or_else(|| searched.residues_of(oid)))
        };
        MaskedLetters { stored, masks: self.subjects.masks_of(oid) }
    }
}
