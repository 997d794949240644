//! One query, as read.

use std::ops::Range;

use fleetblast_engine::query::{Findings, Query, QueryInput};
use fleetblast_engine::search::Search;
use fleetblast_seq::fasta::Record;

use crate::audience::Audience;
use crate::fasta::{message_name, titled};
use crate::plan::Start;

/// A query as read.
#[derive(Clone)]
pub struct QueryRecord {
    /// The record, residues and all.
    pub record: Record,
    /// Number in the report, from 1.
    pub number: usize,
    /// Number among those without parsed identifiers, from 1: what `Query_N` counts.
    pub unnamed: usize,
    /// What it is called in place of `Query_N`, if a file with its matrix names it.
    pub called: Option<Vec<u8>>,
    /// The searched part (`-query_loc`).
    pub range: Option<Range<u32>>,
    /// What of the searched part is like repeats, to be masked.
    pub repeats: Vec<Range<u32>>,
    /// What BLAST+ warns of, without the query's name.
    pub messages: Vec<String>,
}

impl QueryRecord {
    /// A whole query with these numbers, of which nothing else is known.
    pub fn new(record: Record, number: usize, unnamed: usize) -> Self {
        let (repeats, messages) = (Vec::new(), Vec::new());
        QueryRecord { record, number, unnamed, called: None, range: None, repeats, messages }
    }

    /// The query that a matrix brings along.
    pub fn of_matrix(start: &Start) -> Self {
        let title = start.title.clone().unwrap_or_default();
        let record = Record { title, residues: start.pssm.query.clone(), ..Record::default() };
        QueryRecord { called: Some(start.id.text()), ..QueryRecord::new(record, 1, 1) }
    }

    /// What BLAST+ calls the query in messages.
    pub fn name(&self) -> Vec<u8> {
        match &self.called {
            Some(name) => titled(name.clone(), &self.record.title),
            None => message_name(&self.record, "Query", self.unnamed),
        }
    }

    /// What it may be asked for by: its first word, or its identifiers, in whole and by accession; else what reports make up.
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

    /// The query as it is searched.
    pub fn prepare(&self, engine: &Search) -> Query {
        engine.query(&self.input())
    }

    /// The same, from what was found when it was prepared before.
    pub fn prepare_again(&self, engine: &Search, findings: Findings) -> Query {
        engine.query_from_findings(&self.input(), findings)
    }

    /// What the engine searches.
    pub fn input(&self) -> QueryInput {
        QueryInput { repeats: self.repeats.clone(), ..input(&self.record, self.range.as_ref()) }
    }

    /// Letters that were read, by which batches are made.
    pub fn letters(&self) -> u64 {
        self.record.residues.len() as u64
    }

    /// Tells what was odd about it when it was read.
    pub fn tell_warnings(&self, audience: &dyn Audience) {
        tell_warnings(&self.record, audience);
    }

    /// What was odd about it when it was read, in the words of a program.
    pub fn warnings_told_by(&self, program: &str) -> Vec<String> {
        self.record.warnings.iter().map(|warning| warning.message_for(program)).collect()
    }

    /// Residues that are searched.
    pub(super) fn length(&self) -> usize {
        range_of(&self.record, self.range.as_ref()).len()
    }

    /// The query's warnings in one text, if it has any.
    pub fn warning(&self) -> Option<Vec<u8>> {
        self.warning_of(&self.messages)
    }

    /// These warnings of the query in one text, if there are any.
    pub fn warning_of(&self, messages: &[String]) -> Option<Vec<u8>> {
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

/// Tells what was odd about a record when it was read.
pub(super) fn tell_warnings(record: &Record, audience: &dyn Audience) {
    for warning in &record.warnings {
        audience.complain(&warning.message_for(audience.program()));
    }
}

/// What the engine searches of a record.
fn input(record: &Record, range: Option<&Range<u32>>) -> QueryInput {
    let range = range_of(record, range);
    let (from, to) = (range.start as u32, range.end as u32);
    let lower_case = record.lower_case.iter().filter_map(|run| {
        let (start, end) = (run.start.max(from), run.end.min(to));
        (start < end).then(|| start - from..end - from)
    });
    let (letters, lower_case) = (record.residues[range].to_vec(), lower_case.collect());
    QueryInput { letters, lower_case, ..QueryInput::default() }
}

/// The part of a record that is searched.
pub(super) fn range_of(record: &Record, range: Option<&Range<u32>>) -> Range<usize> {
    range.map_or(0..record.residues.len(), |range| range.start as usize..range.end as usize)
}
