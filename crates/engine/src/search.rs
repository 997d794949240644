//! The one face of the engine: what threads, ranks, tests and benches use of it.
//!
//! A [`Search`] is fixed for a job. A block of queries is made ready ([`Search::query`], [`Search::prepare`]), searched range by range
//! ([`Searcher::search`]), the lists of all ranges are put together ([`Search::merger`]), the chosen hits are aligned
//! ([`Search::aligner`]), and some of the alignments selected ([`Search::selector`]). Which program it is, is asked here and nowhere
//! else: its own parts live in rooms (`protein`), what they share beside them.

use crate::hits::{Candidate, PrelimHit};
use crate::kernel::Kernel;
use crate::lists::{HitLists, Merger, Selector};
use crate::params::{DatabaseTotals, Params};
use crate::protein::{prelim, traceback};
use crate::query::{Findings, Query, QueryInput};
use crate::subjects::Subjects;

/// A search of a database, whatever part of it is at hand.
#[derive(Debug)]
pub struct Search {
    params: Params,
    totals: DatabaseTotals,
    kernel: Kernel,
    traceback: traceback::Traceback,
}

/// A block of queries ready to be searched, shared by all threads.
#[derive(Debug)]
pub struct Searcher(prelim::Searcher);

/// The work space of a searching thread.
#[derive(Debug, Default)]
pub struct SearchScratch(prelim::Scratch);

/// A query ready to be aligned, shared by all threads.
#[derive(Debug)]
pub struct Aligner<'a> {
    search: &'a Search,
    query: traceback::TracebackQuery,
}

/// The work space of an aligning thread.
#[derive(Debug)]
pub struct AlignScratch(traceback::Scratch);

impl Search {
    /// A search of a database with the given totals, with these vector instructions.
    pub fn new(params: Params, totals: DatabaseTotals, kernel: Kernel) -> Search {
        let traceback = traceback::Traceback::new(&params, &totals);
        Search { params, totals, kernel, traceback }
    }

    /// Masks a query and computes its statistics.
    pub fn query(&self, input: &QueryInput) -> Query {
        Query::new(input, &self.params, &self.totals)
    }

    /// Whether a query [can be searched](Query::is_searchable), told in a small part of the time.
    pub fn has_statistics(&self, input: &QueryInput) -> bool {
        Query::has_statistics(input, &self.params)
    }

    /// The same query from what was found of it then.
    pub fn query_again(&self, input: &QueryInput, findings: Findings) -> Query {
        Query::again(input, &self.params, findings)
    }

    /// Makes a block of queries ready. `batches` are the lengths, in queries, of the batches that BLAST+ would read; long batches are
    /// searched in pieces as BLAST+ does (rules 2.3).
    pub fn prepare(&self, queries: &[Query], batches: &[usize]) -> Searcher {
        let kernel = Some(self.kernel);
        Searcher(prelim::Searcher::new(queries, batches, &self.params, &self.totals, kernel))
    }

    /// What puts the lists of a block of queries together, which [`Search::prepare`] would get with the same arguments.
    pub fn merger(&self, queries: &[Query], batches: &[usize]) -> Merger {
        Merger::new(queries, batches, &self.params)
    }

    /// Makes a query ready to be aligned.
    pub fn aligner(&self, query: &Query) -> Aligner<'_> {
        Aligner { search: self, query: self.traceback.query(query) }
    }

    /// What selects among the alignments of a batch of queries.
    pub fn selector(&self, queries: &[Query]) -> Selector {
        let lengths: Vec<u32> = queries.iter().map(|query| query.length).collect();
        Selector::new(&self.params, &lengths)
    }
}

impl Searcher {
    /// Searches the subjects with these OIDs, which ascend; a range of them, or a choice.
    pub fn search(
        &self,
        subjects: &impl Subjects,
        oids: impl IntoIterator<Item = u32>,
        scratch: &mut SearchScratch,
    ) -> HitLists {
        self.0.search(subjects, oids, &mut scratch.0)
    }

    /// What puts lists of several ranges together.
    pub fn merger(&self) -> &Merger {
        self.0.merger()
    }
}

impl Aligner<'_> {
    /// A work space for a thread.
    pub fn scratch(&self) -> AlignScratch {
        AlignScratch(traceback::Scratch::new(self.search.kernel))
    }

    /// Aligns the query and one subject. `subject` are the residues of the whole subject, masked as
    /// [`Masks::aligned`](crate::subjects::Masks::aligned) tells, `hit` a preliminary hit of this query in it, its HSPs in ORDER-S.
    pub fn align(&self, subject: &[u8], hit: &PrelimHit, scratch: &mut AlignScratch) -> Candidate {
        self.search.traceback.align(&self.query, subject, hit, &mut scratch.0)
    }
}

#[cfg(test)]
mod tests;
