//! The public interface of the engine, for threads, ranks, tests and benchmarks.
//!
//! A [`Search`] is the same for a whole job. The caller prepares a block of queries
//! ([`Search::query`], [`Search::grouping`], [`Search::searchers`]) and searches it partition by
//! partition ([`Searcher::search`]). It merges the lists of all partitions ([`Search::merger`]),
//! aligns the selected hits ([`Search::aligner`]), and selects among the alignments
//! ([`Search::selector`]).
//!
//! Only this module distinguishes programs. Code of one kind of search is in a module of its own
//! (such as `protein`). Other modules contain the shared code.

use std::ops::Range;
use std::sync::Arc;

use crate::grouping::{Batch, GroupDivision, Grouping};
use crate::hits::{CandidateHit, PrelimHit};
use crate::kernel::Kernel;
use crate::lists::{HitLists, Merger, Selector};
use crate::nucleotide;
use crate::params::{DatabaseTotals, Params};
use crate::phi;
use crate::protein::{prelim, traceback};
use crate::pssm::Pssm;
use crate::query::{Query, QueryInput, QueryPreparation};
use crate::subjects::{SubjectLetters, Subjects};

/// Parameters and statistics of a search of a database. They do not depend on the partitions that
/// are in memory.
#[derive(Debug)]
pub struct Search {
    params: Params,
    totals: DatabaseTotals,
    kernel: Kernel,
    traceback: Traceback,
    pssm: Option<InitialPssm>,
}

/// A PSSM that replaces the matrix from the start of the search.
#[derive(Debug)]
struct InitialPssm {
    pssm: Arc<Pssm>,
    /// Whether the PSSM lacks statistics of ungapped alignments.
    lacks_ungapped: bool,
}

/// Parameters of the traceback, by kind of search.
#[expect(clippy::large_enum_variant, reason = "a job has one")]
#[derive(Debug)]
enum Traceback {
    Protein(traceback::Traceback),
    Pattern(phi::Traceback),
    Nucleotide(nucleotide::Traceback),
}

/// A block of queries, or a group of its chunks, prepared for the search and shared by all threads.
#[derive(Debug)]
pub struct Searcher(PrelimSearcher);

/// Groups of the chunks of a block, each to be prepared and searched on its own.
#[derive(Debug)]
pub struct Searchers<I> {
    /// Functions that prepare the groups.
    pub groups: I,
    /// Whether each group is best searched by one thread.
    pub one_thread_per_group: bool,
}

#[derive(Debug)]
enum PrelimSearcher {
    Protein(prelim::ProteinSearcher),
    Pattern(phi::PatternSearcher),
    Nucleotide(nucleotide::NucleotideSearcher),
}

/// Work space of a search thread.
#[derive(Debug, Default)]
pub struct SearchScratch {
    protein: prelim::ProteinScratch,
    pattern: phi::SearchScratch,
    nucleotide: nucleotide::SearchScratch,
}

/// A query prepared for alignment, shared by all threads.
#[derive(Debug)]
pub struct Aligner<'a>(QueryAligner<'a>);

#[expect(clippy::large_enum_variant, reason = "a query has one")]
#[derive(Debug)]
enum QueryAligner<'a> {
    Protein(&'a traceback::Traceback, traceback::TracebackQuery, Kernel),
    Pattern(phi::Aligner<'a>, Kernel),
    Nucleotide(nucleotide::Aligner<'a>, Kernel),
}

/// Statistics that convert scores of a query to bit scores and e-values, without aligning it.
#[derive(Debug)]
pub struct ScoreStatistics<'a>(StatisticsKind<'a>);

#[derive(Debug)]
enum StatisticsKind<'a> {
    Protein(traceback::QueryStatistics<'a>),
    Pattern(phi::QueryStatistics<'a>),
    Nucleotide(nucleotide::QueryStatistics),
}

/// Work space of an aligning thread; cheap to move.
#[derive(Debug)]
pub struct AlignScratch(Box<ScratchKind>);

#[expect(clippy::large_enum_variant, reason = "a thread has one")]
#[derive(Debug)]
enum ScratchKind {
    Protein(traceback::TracebackScratch),
    Pattern(phi::AlignScratch),
    Nucleotide(nucleotide::AlignScratch),
}

impl Search {
    /// Creates a search of a database with the given totals, with these vector instructions.
    pub fn new(params: Params, totals: DatabaseTotals, kernel: Kernel) -> Search {
        let totals = params.compared_totals(totals);
        let traceback = match &params {
            Params::Protein(params) => match &params.pattern {
                Some(search) => Traceback::Pattern(phi::Traceback::new(search, params)),
                None => Traceback::Protein(traceback::Traceback::new(params, &totals)),
            },
            Params::Nucleotide(params) => {
                Traceback::Nucleotide(nucleotide::Traceback::new(params, &totals))
            }
        };
        Search { params, totals, kernel, traceback, pssm: None }
    }

    /// Sets the PSSM with which each query is searched. If it lacks statistics of ungapped
    /// alignments, those of the query's letters are used.
    #[must_use]
    pub fn with_pssm(self, pssm: Arc<Pssm>, lacks_ungapped: bool) -> Search {
        Search { pssm: Some(InitialPssm { pssm, lacks_ungapped }), ..self }
    }

    /// Sets the number of occurrences of the pattern in the whole database.
    #[must_use]
    pub fn with_occurrences(mut self, occurrences: u64) -> Search {
        if let Traceback::Pattern(traceback) = &mut self.traceback {
            traceback.occurrences = occurrences;
        }
        self
    }

    /// Masks a query and computes its statistics.
    pub fn query(&self, input: &QueryInput) -> Query {
        self.with_initial_pssm(match &self.params {
            Params::Protein(params) => {
                let query = Query::new(input, params, &self.totals);
                match &params.pattern {
                    Some(search) => search.with_statistics(query, &self.totals),
                    None => query,
                }
            }
            Params::Nucleotide(params) => Query::new(input, params, &self.totals),
        })
    }

    /// Returns the query with the PSSM of the search, if the search has one.
    fn with_initial_pssm(&self, query: Query) -> Query {
        let Some(InitialPssm { pssm, lacks_ungapped }) = &self.pssm else { return query };
        let pssm = match query.first().karlin {
            Some(ungapped) if *lacks_ungapped => Arc::new(Pssm { ungapped, ..Pssm::clone(pssm) }),
            _ => pssm.clone(),
        };
        query.with_pssm(pssm)
    }

    /// Returns whether the query of this input [can be searched](Query::is_searchable). This takes
    /// a fraction of the time of [`Search::query`].
    pub fn has_statistics(&self, input: &QueryInput) -> bool {
        match &self.params {
            Params::Protein(params) => Query::has_statistics(input, params),
            Params::Nucleotide(params) => Query::has_statistics(input, params),
        }
    }

    /// Creates the query that [`Search::query`] creates from this input. Takes its masks and
    /// statistics from `preparation`.
    pub fn query_from_preparation(
        &self,
        input: &QueryInput,
        preparation: QueryPreparation,
    ) -> Query {
        self.with_initial_pssm(match &self.params {
            Params::Protein(params) => Query::from_preparation(input, params, preparation),
            Params::Nucleotide(params) => Query::from_preparation(input, params, preparation),
        })
    }

    /// Determines which queries, or chunks of queries, are searched together. `batches` holds the
    /// number of queries of each batch that BLAST+ would read. Long batches are searched in chunks
    /// as in BLAST+ (rules 2.3).
    pub fn grouping(&self, queries: &[Query], batches: &[usize]) -> Grouping {
        Grouping::of_batches(queries, batches, (&self.params, &self.totals))
    }

    /// Describes how BLAST+ searches one batch of queries.
    pub fn describe_batch(&self, queries: &[&Query]) -> Batch {
        Batch::new(queries, (&self.params, &self.totals))
    }

    /// Returns the grouping of the queries `range` of a batch. `queries` holds all queries of the
    /// batch. The grouping includes at most `reach` neighbouring letters on each side.
    ///
    /// # Panics
    /// If there are fewer queries than in the batch.
    pub fn grouping_of_range(
        &self,
        batch: &Batch,
        queries: &[&Query],
        range: Range<usize>,
        reach: usize,
    ) -> Grouping {
        batch.part(queries, range, reach, (&self.params, &self.totals))
    }

    /// Divides a block of queries into groups of chunks. Returns a function for each group that
    /// prepares the group, with hit lists of its own. Most blocks are a single group. Long queries
    /// are divided, because their lookup tables would take too much memory at once.
    pub fn searchers<'a>(
        &'a self,
        queries: &'a [Query],
        grouping: &'a Grouping,
        division: GroupDivision,
    ) -> Searchers<impl ExactSizeIterator<Item = impl FnOnce() -> Searcher + Send + 'a> + Send + 'a>
    {
        let (ranges, one_thread_per_group) = grouping.searcher_ranges(&self.params, division);
        let prepare = move |range| move || self.prepare(queries, (grouping, range));
        Searchers { groups: ranges.into_iter().map(prepare), one_thread_per_group }
    }

    /// Prepares a range of the chunks of a block.
    pub(crate) fn prepare(
        &self,
        queries: &[Query],
        (grouping, range): (&Grouping, Range<usize>),
    ) -> Searcher {
        let merger = self.merger(grouping);
        Searcher(match &self.params {
            Params::Protein(params) if let Some(search) = &params.pattern => {
                let kernel = self.kernel;
                PrelimSearcher::Pattern(phi::PatternSearcher::new(
                    search, queries, merger, params, kernel,
                ))
            }
            Params::Protein(params) => {
                let kernel = Some(self.kernel);
                PrelimSearcher::Protein(prelim::ProteinSearcher::new(
                    queries,
                    (merger, range),
                    params,
                    &self.totals,
                    kernel,
                ))
            }
            Params::Nucleotide(params) => {
                let (totals, kernel) = (&self.totals, self.kernel);
                let chunks = (grouping.chunks(), range);
                let batch_contexts = grouping.batch_contexts();
                let searcher = nucleotide::NucleotideSearcher::new(
                    queries,
                    chunks,
                    batch_contexts,
                    merger,
                    params,
                    totals,
                    kernel,
                );
                PrelimSearcher::Nucleotide(searcher)
            }
        })
    }

    /// Creates the merger of the hit lists of a block of queries with this grouping.
    pub fn merger(&self, grouping: &Grouping) -> Merger {
        Merger::new(grouping.chunks(), grouping.queries(), &self.params)
    }

    /// Prepares query `number` of a block for alignment.
    pub fn aligner(&self, queries: &[Query], grouping: &Grouping, number: usize) -> Aligner<'_> {
        let query = &queries[number];
        Aligner(match &self.traceback {
            Traceback::Protein(traceback) => {
                let prepared = traceback.query(query, grouping.least_cutoff(number));
                QueryAligner::Protein(traceback, prepared, self.kernel)
            }
            Traceback::Pattern(traceback) => {
                QueryAligner::Pattern(traceback.aligner(query), self.kernel)
            }
            Traceback::Nucleotide(traceback) => {
                let traceback_params = grouping.traceback_params(number);
                QueryAligner::Nucleotide(traceback.aligner(query, traceback_params), self.kernel)
            }
        })
    }

    /// Returns the statistics that convert the scores of a query.
    pub fn score_statistics(&self, query: &Query) -> ScoreStatistics<'_> {
        ScoreStatistics(match &self.traceback {
            Traceback::Protein(traceback) => StatisticsKind::Protein(traceback.statistics(query)),
            Traceback::Pattern(traceback) => StatisticsKind::Pattern(traceback.statistics(query)),
            Traceback::Nucleotide(traceback) => {
                StatisticsKind::Nucleotide(traceback.statistics(query))
            }
        })
    }

    /// Creates a selector of the alignments of a batch of queries.
    pub fn selector(&self, queries: &[Query]) -> Selector {
        let lengths: Vec<u32> = queries.iter().map(|query| query.length).collect();
        Selector::new(&self.params, &lengths)
    }
}

impl Searcher {
    /// Searches the subjects with these OIDs, which must ascend: a range or a selection.
    pub fn search(
        &self,
        subjects: &dyn Subjects,
        oids: impl IntoIterator<Item = u32>,
        scratch: &mut SearchScratch,
    ) -> HitLists {
        let oids = &mut oids.into_iter();
        match &self.0 {
            PrelimSearcher::Protein(searcher) => {
                searcher.search(subjects, oids, &mut scratch.protein)
            }
            PrelimSearcher::Pattern(searcher) => {
                searcher.search(subjects, oids, &mut scratch.pattern)
            }
            PrelimSearcher::Nucleotide(searcher) => {
                searcher.search(subjects, oids, &mut scratch.nucleotide)
            }
        }
    }

    /// Returns the merger of the hit lists of several partitions.
    pub fn merger(&self) -> &Merger {
        match &self.0 {
            PrelimSearcher::Protein(searcher) => searcher.merger(),
            PrelimSearcher::Pattern(searcher) => searcher.merger(),
            PrelimSearcher::Nucleotide(searcher) => searcher.merger(),
        }
    }
}

impl ScoreStatistics<'_> {
    /// Returns the number of units of a scaled score in one unit of a reported score. E-values
    /// follow from scaled scores.
    pub fn scale(&self) -> i32 {
        match &self.0 {
            StatisticsKind::Protein(statistics) => statistics.scale(),
            StatisticsKind::Pattern(_) | StatisticsKind::Nucleotide(_) => 1,
        }
    }

    /// Returns the bit score of a reported score in a context.
    pub fn bit_score(&self, context: u8, score: i32) -> f64 {
        match &self.0 {
            StatisticsKind::Protein(statistics) => statistics.bits(score),
            StatisticsKind::Pattern(statistics) => statistics.bits(score),
            StatisticsKind::Nucleotide(statistics) => {
                statistics.evaluate(context, score).map_or(0.0, |(bits, _)| bits)
            }
        }
    }

    /// Returns the e-value of a scaled score in a context, against a subject of `subject_length`
    /// letters. An alignment with this score may have another e-value, if e-values do not follow
    /// from scores alone.
    pub fn evalue(&self, context: u8, score: i32, subject_length: u32) -> f64 {
        match &self.0 {
            StatisticsKind::Protein(statistics) => {
                statistics.evalue(context, score, subject_length as usize)
            }
            StatisticsKind::Pattern(statistics) => statistics.evalue(score),
            StatisticsKind::Nucleotide(statistics) => {
                statistics.evaluate(context, score).map_or(f64::INFINITY, |(_, evalue)| evalue)
            }
        }
    }
}

impl Aligner<'_> {
    /// Creates a work space for a thread.
    pub fn scratch(&self) -> AlignScratch {
        AlignScratch(Box::new(match &self.0 {
            QueryAligner::Protein(_, _, kernel) => {
                ScratchKind::Protein(traceback::TracebackScratch::new(*kernel))
            }
            QueryAligner::Pattern(_, kernel) => {
                ScratchKind::Pattern(phi::AlignScratch::new(*kernel))
            }
            QueryAligner::Nucleotide(_, kernel) => {
                ScratchKind::Nucleotide(nucleotide::AlignScratch::new(*kernel))
            }
        }))
    }

    /// Returns whether a work space belongs to this kind of search.
    pub fn accepts_scratch(&self, scratch: &AlignScratch) -> bool {
        matches!(
            (&self.0, &*scratch.0),
            (QueryAligner::Protein(..), ScratchKind::Protein(_))
                | (QueryAligner::Pattern(..), ScratchKind::Pattern(_))
                | (QueryAligner::Nucleotide(..), ScratchKind::Nucleotide(_))
        )
    }

    /// Aligns the query with a subject. `hit` is the preliminary hit of the query in this subject,
    /// with HSPs in ORDER-S.
    ///
    /// # Panics
    /// If the work space belongs to another kind of search.
    pub fn align(
        &self,
        subject: &dyn SubjectLetters,
        hit: &PrelimHit,
        scratch: &mut AlignScratch,
    ) -> CandidateHit {
        match (&self.0, &mut *scratch.0) {
            (QueryAligner::Protein(traceback, query, _), ScratchKind::Protein(scratch)) => {
                traceback.align(query, subject, hit, scratch)
            }
            (QueryAligner::Pattern(aligner, _), ScratchKind::Pattern(scratch)) => {
                aligner.align(&subject.all_letters(), hit, scratch)
            }
            (QueryAligner::Nucleotide(aligner, _), ScratchKind::Nucleotide(scratch)) => {
                aligner.align(subject, hit, scratch)
            }
            _ => panic!("a work space of a search of another kind"),
        }
    }
}

#[cfg(test)]
mod tests;
