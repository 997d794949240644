//! What is reported of a search of a query.

use std::sync::Arc;

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::pssm::Pssm;
use fleetblast_report::model::{Occurrence, QueryResult, RepeatedSearch};

use super::{Begun, Rules};
use crate::queries::QueryRecord;
use crate::reports;

/// The searches of a query, as they are reported.
pub struct InRounds {
    /// One after the other.
    pub searches: Vec<Searched>,
    /// The last found nothing new.
    pub converged: bool,
}

/// A search of a query, as it is reported.
pub struct Searched {
    /// What it is reported with.
    pub begun: Begun,
    /// What is reported apart: all that was found, or of a pattern what was found through each occurrence in the query.
    pub parts: Vec<Part>,
    /// What BLAST+ warns of.
    pub warning: Option<Vec<u8>>,
    /// The same in XML.
    messages: Vec<u8>,
}

/// What is reported apart of a search.
pub struct Part {
    /// The subjects that are shown.
    pub shown: Vec<SubjectHit>,
    /// How many these are, wherever they are at the moment.
    pub count: usize,
    /// Alignments in all, also of subjects that are not shown.
    pub alignments: usize,
}

impl Searched {
    /// A search that found this, [parted](Rules::parts).
    pub fn new(
        rules: &Rules,
        record: &QueryRecord,
        mut begun: Begun,
        parts: Vec<Vec<SubjectHit>>,
    ) -> Searched {
        if begun.places.is_empty() {
            begun.hide_masks();
        }
        // Nothing else is reported of a matrix, which takes room.
        let statistics =
            |pssm: Arc<Pssm>| Arc::new(Pssm::of_statistics(pssm.ungapped, pssm.gapped));
        begun.query.pssm = begun.query.pssm.map(statistics);
        let warning = record.warning_of(&begun.messages);
        let messages = reports::xml_message(record, warning.clone());
        let part = |mut shown: Vec<SubjectHit>| {
            let alignments = shown.iter().map(|hit| hit.alignments.len()).sum();
            shown.truncate(rules.shown());
            Part { count: shown.len(), shown, alignments }
        };
        Searched { begun, parts: parts.into_iter().map(part).collect(), warning, messages }
    }

    /// Whether a pattern was searched for.
    pub fn has_pattern(&self) -> bool {
        !self.begun.places.is_empty()
    }

    /// What is warned of with each of its parts: that of a pattern tells itself in the report what BLAST+ warns of.
    pub fn warnings(&self) -> Vec<Option<Vec<u8>>> {
        match self.has_pattern() {
            true => vec![None; self.parts.len()],
            false => vec![self.warning.clone()],
        }
    }

    /// Its parts for the report, as the search of the query with this number; `before` are reported of the searches of all queries.
    pub fn results<'s>(
        &'s self,
        rules: &Rules<'s>,
        record: &'s QueryRecord,
        number: usize,
        before: usize,
    ) -> Vec<QueryResult<'s>> {
        let Searched { begun, parts, messages, .. } = self;
        let pattern = rules.pattern().filter(|_| self.has_pattern());
        let result = |(part, Part { shown, count, alignments }): (usize, &'s Part)| {
            let through = |pattern| Occurrence { pattern, places: &begun.places, number: part };
            let round = RepeatedSearch {
                number,
                serial: before + part + 1,
                known: &begun.known,
                alignments: *alignments,
                occurrence: pattern.map(through),
            };
            QueryResult {
                batch_searched: begun.query.is_searchable(),
                // They are told once.
                messages: if part == 0 { messages } else { &[] },
                hits: shown,
                hit_count: *count,
                round: Some(round),
                ..reports::result(record, &begun.query)
            }
        };
        parts.iter().enumerate().map(result).collect()
    }
}
