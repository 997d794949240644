//! A query as read from the input.

use std::ops::Range;

use fleetblast_engine::query::{Query, QueryInput, QueryPreparation};
use fleetblast_engine::search::Search;
use fleetblast_report::model::ArchivedQuery;
use fleetblast_seq::fasta::Record;

use crate::audience::Audience;
use crate::fasta::{append_title, query_message_name};
use crate::plan::InitialPssm;

/// A query as read from the input, with its numbers and messages.
#[derive(Clone)]
pub struct QueryRecord {
    /// The FASTA record with all residues.
    pub record: Record,
    /// Number of the query in the report, from 1.
    pub number: usize,
    /// Number of the query among the queries without parsed identifiers, from 1. The name `Query_N`
    /// has this number.
    pub unnamed: usize,
    /// The name that replaces `Query_N`, if a PSSM file names the query.
    pub pssm_name: Option<Vec<u8>>,
    /// The searched range (`-query_loc`); `None` for the whole query.
    pub range: Option<Range<u32>>,
    /// Ranges of the searched part that match repeats and are masked.
    pub repeats: Vec<Range<u32>>,
    /// BLAST+'s warnings, without the query's name.
    pub messages: Vec<String>,
    /// Whether an earlier batch has a query with statistics.
    pub follows_searchable: bool,
    /// Data about the query's search, if the query comes from an archive.
    pub archived: Option<Box<ArchivedQuery>>,
    /// The warnings of the FASTA reader as printed. Archives repeat them.
    pub reading_warnings: Vec<String>,
}

impl QueryRecord {
    /// Creates a query that is searched whole and has no messages.
    pub fn new(record: Record, number: usize, unnamed: usize) -> Self {
        QueryRecord {
            record,
            number,
            unnamed,
            pssm_name: None,
            range: None,
            repeats: Vec::new(),
            messages: Vec::new(),
            follows_searchable: false,
            archived: None,
            reading_warnings: Vec::new(),
        }
    }

    /// Creates the query of a PSSM file.
    pub fn from_pssm(start: &InitialPssm) -> Self {
        let title = start.description.title.clone().unwrap_or_default();
        let record = Record { title, residues: start.pssm.query.clone(), ..Record::default() };
        QueryRecord {
            pssm_name: Some(start.description.id.text()),
            ..QueryRecord::new(record, 1, 1)
        }
    }

    /// Returns the name that BLAST+ gives the query in messages.
    pub fn name(&self) -> Vec<u8> {
        match &self.pssm_name {
            Some(name) => append_title(name.clone(), &self.record.title),
            None => query_message_name(&self.record, self.unnamed),
        }
    }

    /// Returns the names by which a user can select the query. These are its identifiers, in full
    /// and as accession, else the first word of the title, else `Query_N`.
    pub fn names(&self) -> Vec<Vec<u8>> {
        let ids = self.record.ids.iter();
        let mut names: Vec<Vec<u8>> =
            ids.flat_map(|id| [id.fasta(), id.accession_version()]).collect();
        if names.is_empty() {
            names.push(self.record.first_word().to_vec());
        }
        names.sort_unstable();
        names.dedup();
        names.retain(|name| !name.is_empty() && !name.contains(&b'\n'));
        if names.is_empty() {
            names.push(format!("Query_{}", self.unnamed).into_bytes());
        }
        names
    }

    /// Prepares the query for the engine.
    pub fn prepare(&self, engine: &Search) -> Query {
        engine.query(&self.input())
    }

    /// Prepares the query from cached masks and statistics, so that the engine skips masking.
    pub fn restore_query(&self, engine: &Search, preparation: QueryPreparation) -> Query {
        engine.query_from_preparation(&self.input(), preparation)
    }

    /// Returns the letters and masks that the engine searches.
    pub fn input(&self) -> QueryInput {
        QueryInput { repeats: self.repeats.clone(), ..input(&self.record, self.range.as_ref()) }
    }

    /// Returns the number of all letters of the query, by which BLAST+ fills batches.
    pub fn letters(&self) -> u64 {
        self.record.residues.len() as u64
    }

    /// Prints the FASTA reader's warnings about this query as messages of the job.
    pub fn report_warnings(&self, audience: &dyn Audience) {
        report_warnings(&self.record, audience);
    }

    /// Returns the warnings of the FASTA reader, with the name of the program in each.
    pub fn warnings_for(&self, program: &str) -> Vec<String> {
        self.record.warnings.iter().map(|warning| warning.message_for(program)).collect()
    }

    /// Returns the number of residues that are searched.
    pub(super) fn length(&self) -> usize {
        searched_range_of(&self.record, self.range.as_ref()).len()
    }

    /// Returns the query's warnings as one text, if there are any.
    pub fn warning(&self) -> Option<Vec<u8>> {
        self.joined_warnings(&self.messages)
    }

    /// Returns `messages` as one text after the name of the query; `None` if there are none.
    pub fn joined_warnings(&self, messages: &[String]) -> Option<Vec<u8>> {
        if messages.is_empty() {
            return None;
        }
        let mut text = self.name();
        text.extend_from_slice(b": ");
        for message in messages {
            text.extend_from_slice(message.as_bytes());
            text.push(b' ');
        }
        Some(text)
    }
}

/// Prints the FASTA reader's warnings about `record` as messages of the job.
pub(super) fn report_warnings(record: &Record, audience: &dyn Audience) {
    for warning in &record.warnings {
        audience.print_message(&warning.message_for(audience.program()));
    }
}

/// Returns the letters and masks of a record that the engine searches.
fn input(record: &Record, range: Option<&Range<u32>>) -> QueryInput {
    let range = searched_range_of(record, range);
    let (from, to) = (range.start as u32, range.end as u32);
    let lower_case = record.lower_case.iter().filter_map(|run| {
        let (start, end) = (run.start.max(from), run.end.min(to));
        (start < end).then(|| start - from..end - from)
    });
    let (letters, lower_case) = (record.residues[range].to_vec(), lower_case.collect());
    QueryInput { letters, lower_case, ..QueryInput::default() }
}

/// Returns the searched range of a record: `range`, or the whole record if it is `None`.
pub(super) fn searched_range_of(record: &Record, range: Option<&Range<u32>>) -> Range<usize> {
    range.map_or(0..record.residues.len(), |range| range.start as usize..range.end as usize)
}
