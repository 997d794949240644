//! The progress of a query through its iterations.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use fleetblast_engine::pssm::Pssm;
use fleetblast_engine::query::Query;
use fleetblast_report::scoremat::PssmStatistics;

use crate::error::Error;
use crate::queries::NO_STATISTICS;

/// The progress of a query through its iterations.
pub struct QueryProgress {
    /// The query, with the PSSM of the next iteration.
    pub query: Query,
    /// Whether the last iteration found no new subject.
    converged: bool,
    /// Whether there is no further iteration.
    pub ended: bool,
    /// PSSMs to be written after the last iteration.
    pub last: Vec<KeptPssm>,
    /// The error that ended the iterations, and with them the whole search.
    pub failure: Option<Error>,
    /// Number of finished iterations that had hits.
    pub(super) done: usize,
    /// OIDs of the subjects below the inclusion threshold in the last iteration.
    pub(super) found: BTreeSet<u32>,
    /// Whether another iteration is due.
    pub(super) has_next: bool,
    /// Whether the warning about composition-based statistics was issued.
    pub(super) has_warned_of_reset: bool,
    /// Statistics with which the last iteration searched.
    pub(super) statistics: Option<PssmStatistics>,
}

/// Data of an iteration, besides its hits, that its report needs.
pub struct IterationStart {
    /// The PSSM to be written to files before the iteration is reported.
    pub kept: Option<KeptPssm>,
    /// The query in the form in which the engine searches it.
    pub query: Query,
    /// OIDs of the subjects below the inclusion threshold in the previous iteration.
    pub known: BTreeSet<u32>,
    /// Whether the iteration found more subjects than its report shows.
    pub exceeds: bool,
    /// Ranges of the query in which the pattern occurs; empty without a pattern.
    pub places: Vec<Range<u32>>,
    /// BLAST+'s warnings about the iteration.
    pub messages: Vec<String>,
}

impl IterationStart {
    /// Removes the masks of the query: psiblast's results have none (`CBlastTracebackSearch::Run`).
    pub fn hide_masks(&mut self) {
        hide_masks(&mut self.query);
    }
}

/// Removes the masks of a query, which its reports do not show.
pub fn hide_masks(query: &mut Query) {
    query.contexts.iter_mut().for_each(|context| context.masks.clear());
}

/// A PSSM to be written to files, and the statistics that its table shows.
pub struct KeptPssm {
    /// The PSSM.
    pub pssm: Arc<Pssm>,
    /// The statistics that the PSSM's table shows.
    pub statistics: PssmStatistics,
}

impl QueryProgress {
    /// Creates the progress of a query before its first iteration.
    pub(super) fn new(query: Query) -> Self {
        QueryProgress {
            query,
            converged: false,
            ended: false,
            last: Vec::new(),
            failure: None,
            done: 0,
            found: BTreeSet::new(),
            has_next: false,
            has_warned_of_reset: false,
            statistics: None,
        }
    }

    /// Returns whether the report states that the query converged: the last iteration found no new
    /// subject, and nothing failed.
    pub fn has_converged(&self) -> bool {
        self.converged && self.failure.is_none()
    }

    /// Returns the current PSSM and its statistics, to be saved.
    pub(super) fn current_pssm(&self) -> Option<KeptPssm> {
        let (pssm, statistics) = (self.query.pssm.clone()?, self.statistics?);
        Some(KeptPssm { pssm, statistics })
    }

    /// Counts an iteration whose subjects below the inclusion threshold are `found` (OIDs).
    /// `has_more` states whether the maximum number of iterations allows another one.
    pub(super) fn count(&mut self, found: BTreeSet<u32>, has_more: bool) {
        self.done += 1;
        self.converged = self.done > 1 && found.is_subset(&self.found);
        self.has_next = !self.converged && has_more;
        self.found = found;
    }

    /// Ends the iterations with an error if the query cannot be searched with its next PSSM. The
    /// PSSM is still saved, as for other queries.
    pub fn fail_if_unsearchable(&mut self) {
        if !self.ended && !self.query.is_searchable() {
            self.last.extend(self.current_pssm());
            self.fail(Error::engine(NO_STATISTICS));
        }
    }

    /// Ends the iterations with an error.
    pub fn fail(&mut self, error: Error) {
        self.failure = Some(error);
        self.ended = true;
    }

    pub(super) fn end(&mut self, save_last: bool) {
        self.ended = true;
        if save_last {
            self.last.extend(self.current_pssm());
        }
    }
}
