//! The results of an iteration of a query, for its report.

use std::sync::Arc;

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::pssm::Pssm;
use fleetblast_report::model::{Occurrence, QueryResult, RepeatedSearch};

use super::{IterationRules, IterationStart};
use crate::queries::QueryRecord;
use crate::reports;

/// All iterations of a query, for their report.
pub struct IteratedQuery {
    /// The iterations in their order.
    pub iterations: Vec<ReportedIteration>,
    /// Whether the last iteration found no new subject.
    pub converged: bool,
}

/// An iteration of a query, for its report.
pub struct ReportedIteration {
    /// Data from the start of the iteration.
    pub start: IterationStart,
    /// The parts that are reported separately: all hits, or with a pattern the hits of each of its
    /// occurrences in the query.
    pub parts: Vec<ReportPart>,
    /// BLAST+'s warnings as one text for standard error; `None` without warnings.
    pub warning: Option<Vec<u8>>,
    /// The warnings in the form of XML reports.
    messages: Vec<u8>,
}

/// A part of an iteration that is reported separately.
pub struct ReportPart {
    /// Hits of the subjects that the report shows.
    pub shown: Vec<SubjectHit>,
    /// Number of subjects that the report shows, even if their hits are stored elsewhere and
    /// `shown` is empty.
    pub count: usize,
    /// Number of all alignments, including those of subjects that the report does not show.
    pub alignments: usize,
}

impl ReportedIteration {
    /// Creates the report data of an iteration from its hits, as
    /// [`split_parts`](IterationRules::split_parts) returns them.
    pub fn new(
        rules: &IterationRules,
        record: &QueryRecord,
        mut start: IterationStart,
        parts: Vec<Vec<SubjectHit>>,
    ) -> ReportedIteration {
        if start.places.is_empty() {
            start.hide_masks();
        }
        if !rules.reports_pssms() {
            // Other reports need only the statistics of a PSSM, which is large.
            let statistics =
                |pssm: Arc<Pssm>| Arc::new(Pssm::of_statistics(pssm.ungapped, pssm.gapped));
            start.query.pssm = start.query.pssm.map(statistics);
        }
        let warning = record.joined_warnings(&start.messages);
        let messages = reports::xml_message(record, warning.clone());
        let part = |mut shown: Vec<SubjectHit>| {
            let alignments = shown.iter().map(|hit| hit.alignments.len()).sum();
            if !rules.reports_all_subjects() {
                shown.truncate(rules.max_reported_subjects());
            }
            ReportPart { count: shown.len(), shown, alignments }
        };
        ReportedIteration { start, parts: parts.into_iter().map(part).collect(), warning, messages }
    }

    /// Returns whether the iteration searched for a pattern.
    pub fn has_pattern(&self) -> bool {
        !self.start.places.is_empty()
    }

    /// Returns the warning of each part, for standard error. With a pattern there are no warnings
    /// here, because the report itself contains them.
    pub fn warnings(&self) -> Vec<Option<Vec<u8>>> {
        match self.has_pattern() {
            true => vec![None; self.parts.len()],
            false => vec![self.warning.clone()],
        }
    }

    /// Returns the result of each part, for the report crate. `number` is the iteration's number
    /// within the query. `before` is the number of parts reported earlier, of all queries.
    pub fn results<'s>(
        &'s self,
        rules: &IterationRules<'s>,
        record: &'s QueryRecord,
        number: usize,
        before: usize,
    ) -> Vec<QueryResult<'s>> {
        let ReportedIteration { start, parts, messages, .. } = self;
        let pattern = rules.pattern().filter(|_| self.has_pattern());
        let result = |(part, ReportPart { shown, count, alignments }): (usize, &'s ReportPart)| {
            let through = |pattern| Occurrence { pattern, ranges: &start.places, number: part };
            let round = RepeatedSearch {
                number,
                serial: before + part + 1,
                previous_model_oids: &start.known,
                alignments: *alignments,
                occurrence: pattern.map(through),
            };
            QueryResult {
                batch_searched: start.query.is_searchable(),
                // Only the first part has the warnings, so that the report has them once.
                messages: if part == 0 { messages } else { &[] },
                hits: shown,
                hit_count: *count,
                repeated_search: Some(round),
                ..reports::empty_result(record, &start.query)
            }
        };
        parts.iter().enumerate().map(result).collect()
    }
}
