//! Reads BLAST archives (format 11), as text or binary ASN.1 (`Blast4-archive`, blast.asn).

mod alignments;
mod results;
mod sequences;
#[cfg(test)]
mod tests;
mod values;

use std::ops::Range;

use fleetblast_seq::asn::{AsnError, AsnReader, Malformed, Node};
use fleetblast_seq::id::{Molecule, SeqId};
use fleetblast_stats::karlin::KarlinParameters;
use fleetblast_stats::program::{BlastProgram, UnknownStoredSearch};
use thiserror::Error;

pub use self::alignments::{Segment, SegmentPart, StoredAlignment};
use self::results::SearchResults;
pub use self::sequences::ArchivedSequence;
pub use self::values::ArchiveValues;
use crate::archive_options::{ArchiveOption, ITERATION, OptionValue};

/// ASN.1 type of an archive.
pub const ARCHIVE_TYPE: &str = "Blast4-archive";
/// ASN.1 type of a search strategy.
pub const STRATEGY_TYPE: &str = "Blast4-request";

const ARCHIVE: &[&str; 3] = &["request", "results", "messages"];
const MESSAGE: &[&str; 2] = &["code", "message"];
const REQUEST: &[&str; 2] = &["ident", "body"];
const BODY: &[&str; 10] = &[
    "finish-params",
    "get-databases",
    "get-matrices",
    "get-parameters",
    "get-paramsets",
    "get-programs",
    "get-search-results",
    "get-sequences",
    "queue-search",
    "get-request-info",
];
const SEARCH: &[&str; 8] = &[
    "program",
    "service",
    "queries",
    "subject",
    "paramset",
    "algorithm-options",
    "program-options",
    "format-options",
];
const QUERIES: &[&str; 3] = &["pssm", "seq-loc-list", "bioseq-set"];
const SUBJECT: &[&str; 3] = &["database", "sequences", "seq-loc-list"];
const PARAMETER: &[&str; 2] = &["name", "value"];
const VALUE: &[&str; 17] = &[
    "big-integer",
    "bioseq",
    "boolean",
    "cutoff",
    "integer",
    "matrix",
    "real",
    "seq-align",
    "seq-id",
    "seq-loc",
    "strand-type",
    "string",
    "big-integer-list",
    "bioseq-list",
    "boolean-list",
    "cutoff-list",
    "integer-list",
];
const CUTOFF: &[&str; 2] = &["e-value", "raw-score"];
/// Names of the options that store the first and the last position of the searched range of the
/// queries.
const RANGE: [&str; 2] = ["RequiredStart", "RequiredEnd"];

type Result<T> = std::result::Result<T, Malformed>;

/// A search strategy, or the request of an archive: a batch of queries and its search.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRequest {
    /// The program.
    pub program: BlastProgram,
    /// The kind of search, such as `megablast`.
    pub service: String,
    /// The queries: sequences, locations, or the query of a PSSM.
    pub queries: StoredQueries,
    /// The subjects.
    pub subjects: StoredSubjects,
    /// The options of the search.
    pub options: Vec<ArchiveOption>,
    /// The first and the last position of the searched range of the queries, 0-based; `None` for
    /// whole queries.
    pub searched_range: Option<(u32, u32)>,
}

impl StoredRequest {
    /// Whether a list restricted the subjects.
    pub fn is_restricted(&self) -> bool {
        let mut names = self.options.iter().map(|option| option.name.as_str());
        names.any(|name| matches!(name, "TaxidList" | "NegativeTaxidList"))
    }

    /// Returns the number of the iteration of psiblast, from 1; `None` for other searches.
    pub fn iteration(&self) -> Option<usize> {
        if !self.program.properties().iterates {
            return None;
        }
        // BLAST+ takes the first one.
        let found = self.options.iter().find(|option| option.name == ITERATION);
        match found.map(|option| &option.value) {
            Some(OptionValue::Integer(number)) => usize::try_from(*number).ok(),
            _ => Some(1),
        }
    }
}

/// An archive: a batch of queries, its search and the results.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredArchive {
    /// The queries and their search.
    pub request: StoredRequest,
    /// The alignments of all queries, in the order of the archive.
    pub alignments: Vec<StoredAlignment>,
    /// Masks of queries.
    pub masks: Vec<StoredMask>,
    /// λ, K and H of ungapped, then of gapped alignments. BLAST+ stores -1 if they are unknown;
    /// they are 0 if the archive lacks them.
    pub parameters: [[f64; 3]; 2],
    /// The effective search space.
    pub search_space: i64,
    /// The length adjustment.
    pub length_adjustment: i64,
    /// The ASN.1 values that another archive repeats; empty if the caller did not ask for them.
    pub values: ArchiveValues,
}

impl StoredArchive {
    /// Returns the Karlin-Altschul parameters of ungapped alignments; `None` if they are unknown.
    pub fn ungapped(&self) -> Option<KarlinParameters> {
        known_parameters(self.parameters[0])
    }

    /// Returns the Karlin-Altschul parameters of gapped alignments; `None` if they are unknown.
    pub fn gapped(&self) -> Option<KarlinParameters> {
        known_parameters(self.parameters[1])
    }

    /// Returns the searched range of the queries, 0-based and half-open; `None` for whole queries.
    pub fn searched_range(&self) -> Option<Range<u32>> {
        self.request.searched_range.map(|(start, last)| start..last.saturating_add(1))
    }
}

fn known_parameters([lambda, k, h]: [f64; 3]) -> Option<KarlinParameters> {
    (lambda > 0.0).then(|| KarlinParameters { lambda, k, log_k: k.ln(), h })
}

/// The queries of an archive.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredQueries {
    /// The sequences.
    Sequences(Vec<ArchivedSequence>),
    /// Only locations in sequences of public databases.
    Locations,
    /// The query of a PSSM. The PSSM itself is not read.
    Pssm(ArchivedSequence),
}

/// The subjects of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredSubjects {
    /// The names of databases, as typed.
    Database(Vec<u8>),
    /// Sequences from FASTA.
    Sequences(Vec<ArchivedSequence>),
    /// Locations of sequences, which are not read.
    Locations,
}

/// Masks of a query in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMask {
    /// The query.
    pub query: SeqId,
    /// The frame: 1 to 3, -1 to -3, or 0 for a protein.
    pub frame: i8,
    /// Ranges of the whole query, 0-based and half-open.
    pub ranges: Vec<Range<u32>>,
}

/// An object of a file of archives.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredObject {
    /// The messages of the search that BLAST+ prints when it reads the archive.
    pub messages: Vec<Vec<u8>>,
    /// The search and its results.
    pub content: StoredContent,
}

/// The content of an object in a file of archives: a search, with or without its results.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredContent {
    /// The search and its results.
    Archive(Box<StoredArchive>),
    /// A search that failed, and left only messages.
    FailedSearch,
    /// A search of a program that FleetBLAST does not have.
    UnknownSearch(UnknownStoredSearch),
}

/// The reason why a search strategy cannot be read.
#[derive(Debug, Error)]
pub enum StrategyError {
    /// The file cannot be read, or is no search strategy.
    #[error(transparent)]
    Asn(#[from] AsnError),
    /// A search of a program that FleetBLAST does not have.
    #[error(transparent)]
    UnknownSearch(#[from] UnknownStoredSearch),
}

/// The content of a request.
enum ReadRequest {
    Search(Box<StoredRequest>),
    FailedSearch,
    UnknownSearch(UnknownStoredSearch),
}

/// Reads the next archive; `None` at the end of the file. Without `keeps_values`,
/// [`StoredArchive::values`] is empty.
///
/// # Errors
/// The file cannot be read, or is no archive.
pub fn read_next(
    reader: &mut AsnReader<'_>,
    keeps_values: bool,
) -> std::result::Result<Option<StoredObject>, AsnError> {
    if !reader.more()? {
        return Ok(None);
    }
    reader.header(ARCHIVE_TYPE)?;
    let (mut stored, mut results, mut messages) = (None, None, Vec::new());
    let mut values = ArchiveValues::default();
    for_each_field(reader, ARCHIVE, |reader, field| {
        match field {
            "request" => {
                let node = reader.value()?;
                stored = Some(request(node)?);
                if keeps_values {
                    values.read_request(node)?;
                }
            }
            "results" => {
                let alignments = keeps_values.then_some(&mut values.alignments);
                results = Some(SearchResults::read(reader, alignments)?);
            }
            _ => reader.for_each_element(|node| {
                messages.extend(message(node)?);
                Ok(())
            })?,
        }
        Ok(())
    })?;
    let (Some(request), Some(results)) = (stored, results) else {
        return reader.fail("an archive without 'request' or 'results'");
    };
    let content = match request {
        ReadRequest::Search(request) => {
            StoredContent::Archive(Box::new(results.into_archive(*request, values)))
        }
        ReadRequest::FailedSearch => StoredContent::FailedSearch,
        ReadRequest::UnknownSearch(unknown) => StoredContent::UnknownSearch(unknown),
    };
    Ok(Some(StoredObject { messages, content }))
}

/// Calls `read` with the name of each field of a value. `read` must read the field's value.
fn for_each_field<'a>(
    reader: &mut AsnReader<'a>,
    names: &[&'static str],
    mut read: impl FnMut(&mut AsnReader<'a>, &'static str) -> std::result::Result<(), AsnError>,
) -> std::result::Result<(), AsnError> {
    reader.open()?;
    let mut next = 0;
    while let Some(field) = reader.open_field(names, next)? {
        read(reader, names[field])?;
        reader.close_field()?;
        next = field + 1;
    }
    reader.close()
}

/// Reads a search strategy, the first one of the file.
///
/// # Errors
/// The file cannot be read, or is no search strategy; a search of an unknown program.
pub fn read_strategy(
    reader: &mut AsnReader<'_>,
) -> std::result::Result<StoredRequest, StrategyError> {
    reader.header(STRATEGY_TYPE)?;
    let node = reader.value()?;
    let request = match request(node).map_err(AsnError::from)? {
        ReadRequest::Search(request) => *request,
        ReadRequest::FailedSearch => {
            return Ok(node.fail("a request that is no search").map_err(AsnError::from)?);
        }
        ReadRequest::UnknownSearch(unknown) => return Err(unknown.into()),
    };
    let has = |name: &str| request.options.iter().any(|option| option.name == name);
    if has(RANGE[0]) != has(RANGE[1]) {
        let fault = node.fail("a range of the queries with one end only");
        return Ok(fault.map_err(AsnError::from)?);
    }
    Ok(request)
}

/// Reads a message; `None` if BLAST+ does not print it (`CRemoteBlast::LoadFromArchive`).
fn message(node: Node<'_>) -> Result<Option<Vec<u8>>> {
    let [Some(code), Some(text)] = node.fields(MESSAGE)? else { return Ok(None) };
    let text = text.text()?.into_owned();
    Ok(match code.integer()? {
        // Information, and traces.
        0 | 5 => None,
        1..=4 => Some(text),
        _ => Some([b"Unknown Error Code: ", &text[..]].concat()),
    })
}

/// Returns the description of the search in a request; `None` if the request is of a failed search.
fn search(request: Node<'_>) -> Result<Option<Node<'_>>> {
    let [_, Some(body)] = request.fields(REQUEST)? else {
        return request.fail("a request without 'body'");
    };
    let (kind, search) = body.choice(BODY)?;
    match BODY[kind] {
        "queue-search" => Ok(Some(search)),
        "get-request-info" => Ok(None),
        _ => body.fail("'queue-search' belongs here"),
    }
}

/// Reads a request. If the search is of an unknown program, does not read its queries and subjects.
fn request(request: Node<'_>) -> Result<ReadRequest> {
    let Some(search) = search(request)? else { return Ok(ReadRequest::FailedSearch) };
    let [Some(program), Some(service), Some(queries), Some(subject), _, algorithm, more, format] =
        search.fields(SEARCH)?
    else {
        return search.fail("a search without 'program', 'service', 'queries' or 'subject'");
    };
    let mut options = Vec::new();
    for list in [algorithm, more, format].into_iter().flatten() {
        for node in list.list()? {
            options.extend(option(node)?);
        }
    }
    let is_number = |option: &ArchiveOption| match option.value {
        OptionValue::Integer(number) => u32::try_from(number).is_ok(),
        _ => false,
    };
    let mut numbers = options.iter().filter(|option| {
        let name = option.name.as_str();
        name == ITERATION || RANGE.contains(&name)
    });
    if let Some(option) = numbers.find(|option| !is_number(option)) {
        return search.fail(format!("the option {} is no number from 0", option.name));
    }
    let end = |name: &str| {
        let found = options.iter().rfind(|option| option.name == name)?;
        let OptionValue::Integer(number) = found.value else { return None };
        u32::try_from(number).ok()
    };
    let (program, service) = (program.text()?, service.text()?);
    let service = String::from_utf8_lossy(&service).into_owned();
    let program = match BlastProgram::from_stored(&String::from_utf8_lossy(&program), &service) {
        Ok(program) => program,
        Err(unknown) => return Ok(ReadRequest::UnknownSearch(unknown)),
    };
    let properties = program.properties();
    Ok(ReadRequest::Search(Box::new(StoredRequest {
        program,
        service,
        queries: read_queries(queries, properties.queries.molecule())?,
        subjects: read_subjects(subject, properties.subjects.molecule())?,
        searched_range: end(RANGE[0]).zip(end(RANGE[1])),
        options,
    })))
}

/// Returns the elements of a list; none if it is absent.
fn list(node: Option<Node<'_>>) -> Result<impl Iterator<Item = Node<'_>>> {
    let elements = node.map(|node| node.list()).transpose()?;
    Ok(elements.into_iter().flatten())
}

fn read_queries(node: Node<'_>, molecule: Molecule) -> Result<StoredQueries> {
    let (kind, value) = node.choice(QUERIES)?;
    match QUERIES[kind] {
        "bioseq-set" => {
            let sequence = |node| sequences::sequence(node, molecule);
            let all = sequences::sequences_of_set(value)?.into_iter().map(sequence);
            all.collect::<Result<_>>().map(StoredQueries::Sequences)
        }
        "seq-loc-list" => Ok(StoredQueries::Locations),
        _ => {
            let query = sequences::sequence_of_pssm(value)?;
            sequences::sequence(query, Molecule::Protein).map(StoredQueries::Pssm)
        }
    }
}

fn read_subjects(node: Node<'_>, molecule: Molecule) -> Result<StoredSubjects> {
    match node.choice(SUBJECT)? {
        (0, name) => Ok(StoredSubjects::Database(name.text()?.into_owned())),
        (1, all) => {
            let subject = |node| sequences::sequence(node, molecule);
            Ok(StoredSubjects::Sequences(all.list()?.map(subject).collect::<Result<_>>()?))
        }
        _ => Ok(StoredSubjects::Locations),
    }
}

/// Reads an option; `None` if its value is of a kind that reports do not need, such as masks.
fn option(node: Node<'_>) -> Result<Option<ArchiveOption>> {
    let [Some(name), Some(value)] = node.fields(PARAMETER)? else {
        return node.fail("an option without 'name' or 'value'");
    };
    let name = String::from_utf8_lossy(&name.text()?).into_owned();
    if name == "LCaseMask" {
        return Ok(None);
    }
    let (kind, value) = value.choice(VALUE)?;
    let value = match VALUE[kind] {
        "big-integer" => OptionValue::BigInteger(value.integer()?),
        "integer" => OptionValue::Integer(value.integer()?),
        "boolean" => OptionValue::Boolean(value.boolean()?),
        "real" => OptionValue::Real(value.real()?),
        "string" => OptionValue::Text(String::from_utf8_lossy(&value.text()?).into_owned()),
        "cutoff" => match value.choice(CUTOFF)? {
            (0, evalue) => OptionValue::Evalue(evalue.real()?),
            (_, score) => OptionValue::Integer(score.integer()?),
        },
        kind @ ("big-integer-list" | "integer-list") => {
            let numbers = value.list()?.map(|number| number.integer());
            let numbers = numbers.collect::<Result<_>>()?;
            match kind {
                "integer-list" => OptionValue::Integers(numbers),
                _ => OptionValue::BigIntegers(numbers),
            }
        }
        // No report depends on it, and strategies with it are refused.
        "strand-type" => OptionValue::Text("strand".to_owned()),
        _ => return value.fail("an option of this kind is not supported"),
    };
    Ok(Some(ArchiveOption { name, value }))
}
