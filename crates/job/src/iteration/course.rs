//! How far a query is.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use fleetblast_engine::pssm::Pssm;
use fleetblast_engine::query::Query;
use fleetblast_report::scoremat::Statistics;

use crate::error::Error;
use crate::queries::INVALID;

/// How far a query is.
pub struct Course {
    /// With the matrix of the next search.
    pub query: Query,
    /// Nothing new was found.
    converged: bool,
    /// It is not searched again.
    pub ended: bool,
    /// Matrices to be kept behind the last search.
    pub last: Vec<Kept>,
    /// Why it ended before its time, which ends all.
    pub failure: Option<Error>,
    /// Searches that found something.
    pub(super) done: usize,
    /// Subjects below the threshold in the last search.
    pub(super) found: BTreeSet<u32>,
    /// Another search is due.
    pub(super) goes_on: bool,
    /// A search with a matrix was told that its composition-based statistics are not those asked for.
    pub(super) reset: bool,
    /// The statistics of the last search.
    pub(super) statistics: Option<Statistics>,
}

/// What a search is reported with.
pub struct Begun {
    /// The matrix to be kept before it.
    pub kept: Option<Kept>,
    /// As searched.
    pub query: Query,
    /// Subjects below the threshold in the search before.
    pub known: BTreeSet<u32>,
    /// It found more subjects than are shown.
    pub exceeds: bool,
    /// Where a pattern that is searched for occurs in the query.
    pub places: Vec<Range<u32>>,
    /// What BLAST+ warns of.
    pub messages: Vec<String>,
}

impl Begun {
    /// Hides what is masked: the results of psiblast know no masks (`CBlastTracebackSearch::Run`).
    pub fn hide_masks(&mut self) {
        hide_masks(&mut self.query);
    }
}

/// Hides what is masked of a query in reports.
pub fn hide_masks(query: &mut Query) {
    query.contexts.iter_mut().for_each(|context| context.masks.clear());
}

/// A matrix to be kept, and the statistics that its table shows.
pub struct Kept {
    /// The matrix.
    pub pssm: Arc<Pssm>,
    /// The statistics.
    pub statistics: Statistics,
}

impl Course {
    /// Of a query that was not searched.
    pub(super) fn new(query: Query) -> Self {
        Course {
            query,
            converged: false,
            ended: false,
            last: Vec::new(),
            failure: None,
            done: 0,
            found: BTreeSet::new(),
            goes_on: false,
            reset: false,
            statistics: None,
        }
    }

    /// Whether nothing new was found at last, and that is told: nothing failed.
    pub fn has_converged(&self) -> bool {
        self.converged && self.failure.is_none()
    }

    /// The matrix at hand, to be kept.
    pub(super) fn kept(&self) -> Option<Kept> {
        let (pssm, statistics) = (self.query.pssm.clone()?, self.statistics?);
        Some(Kept { pssm, statistics })
    }

    /// Counts a search that found these below the threshold; it may be searched again if it `has_more`.
    pub(super) fn count(&mut self, found: BTreeSet<u32>, has_more: bool) {
        self.done += 1;
        self.converged = self.done > 1 && found.is_subset(&self.found);
        self.goes_on = !self.converged && has_more;
        self.found = found;
    }

    /// Ends if the next search cannot be made, for which its matrix is kept as for others.
    pub fn end_if_lost(&mut self) {
        if !self.ended && !self.query.is_searchable() {
            self.last.extend(self.kept());
            self.fail(Error::engine(INVALID));
        }
    }

    /// Ends before its time.
    pub fn fail(&mut self, error: Error) {
        self.failure = Some(error);
        self.ended = true;
    }

    pub(super) fn end(&mut self, save_last: bool) {
        self.ended = true;
        if save_last {
            self.last.extend(self.kept());
        }
    }
}
