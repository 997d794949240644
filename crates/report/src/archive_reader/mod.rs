//! Reads BLAST archives (format 11), as text or binary ASN.1 (`Blast4-archive`, blast.asn).

mod alignments;
mod sequences;
#[cfg(test)]
mod tests;

use std::ops::Range;

use fleetblast_seq::asn::{AsnReader, Malformed, Node, read_location};
use fleetblast_seq::id::SeqId;
use fleetblast_stats::karlin::KarlinParameters;

pub use self::alignments::{Segment, SegmentPart, StoredAlignment};
pub use self::sequences::StoredQuery;
use crate::archive_options::{ArchiveOption, OptionValue};

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
const RESULTS: &[&str; 7] = &[
    "alignments",
    "phi-alignments",
    "masks",
    "ka-blocks",
    "search-stats",
    "pssm",
    "simple-results",
];
const MASK: &[&str; 2] = &["locations", "frame"];
const KARLIN: &[&str; 4] = &["lambda", "k", "h", "gapped"];
const FRAMES: &[&str; 7] = &["notset", "plus1", "plus2", "plus3", "minus1", "minus2", "minus3"];

type Result<T> = std::result::Result<T, Malformed>;

/// A search strategy, or the request of an archive: a batch of queries and its search.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRequest {
    /// The program, such as `blastp`.
    pub program: String,
    /// The kind of search, such as `megablast`.
    pub service: String,
    /// The queries, or what the archive has instead of them.
    pub queries: StoredQueries,
    /// The subjects.
    pub subjects: StoredSubjects,
    /// The options of the search.
    pub options: Vec<ArchiveOption>,
    /// The first position and the last of the searched range of the queries; `None` for whole
    /// queries.
    pub searched_range: Option<(u32, u32)>,
}

impl StoredRequest {
    /// Returns the number of the iteration of psiblast, from 1; `None` for other searches.
    pub fn iteration(&self) -> Option<usize> {
        if self.service != "psi" {
            return None;
        }
        let found = self.options.iter().find(|option| option.name == "Web_StepNumber");
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
    /// All alignments, in their order.
    pub alignments: Vec<StoredAlignment>,
    /// Masks of queries.
    pub masks: Vec<StoredMask>,
    /// λ, K and H of ungapped and of gapped alignments; -1 for unknown ones.
    pub parameters: [[f64; 3]; 2],
    /// The effective search space.
    pub search_space: i64,
    /// The length adjustment.
    pub length_adjustment: i64,
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
    Sequences(Vec<StoredQuery>),
    /// Only locations in sequences of public databases.
    Locations,
    /// The query of a position-specific matrix. The matrix itself is not read.
    Pssm(StoredQuery),
}

/// The subjects of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredSubjects {
    /// The names of databases, as typed.
    Database(Vec<u8>),
    /// Sequences from FASTA, which are not read.
    Fasta,
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
    /// The search and its results; `None` if the search failed.
    pub archive: Option<Box<StoredArchive>>,
}

/// Reads the next archive; `None` at the end of the file.
///
/// # Errors
/// The file cannot be read, or is no archive.
pub fn read_next(
    reader: &mut dyn AsnReader,
) -> std::result::Result<Option<StoredObject>, fleetblast_seq::asn::AsnError> {
    if !reader.more()? {
        return Ok(None);
    }
    reader.header(ARCHIVE_TYPE)?;
    let node = reader.value()?;
    let [Some(request), Some(results), messages] = node.fields(ARCHIVE)? else {
        return Ok(node.fail("an archive without 'request' or 'results'")?);
    };
    let messages = list(messages)?.iter().map(message).collect::<Result<Vec<_>>>()?;
    let messages = messages.into_iter().flatten().collect();
    Ok(Some(StoredObject { messages, archive: archive(request, results)? }))
}

/// Reads a search strategy, the first one of the file.
///
/// # Errors
/// The file cannot be read, or is no search strategy.
pub fn read_strategy(
    reader: &mut dyn AsnReader,
) -> std::result::Result<StoredRequest, fleetblast_seq::asn::AsnError> {
    reader.header(STRATEGY_TYPE)?;
    let node = reader.value()?;
    match request(&node)? {
        Some(request) => Ok(request),
        None => Ok(node.fail("a request that is no search")?),
    }
}

/// Reads a message; `None` if BLAST+ does not print it (`CRemoteBlast::LoadFromArchive`).
fn message(node: &Node) -> Result<Option<Vec<u8>>> {
    let [Some(code), Some(text)] = node.fields(MESSAGE)? else { return Ok(None) };
    let text = text.text()?.to_vec();
    Ok(match code.integer()? {
        // Information, and traces.
        0 | 5 => None,
        1..=4 => Some(text),
        _ => Some([b"Unknown Error Code: ", &text[..]].concat()),
    })
}

/// Reads a request; `None` if it is that of a failed search.
fn request(request: &Node) -> Result<Option<StoredRequest>> {
    let [_, Some(body)] = request.fields(REQUEST)? else {
        return request.fail("a request without 'body'");
    };
    let (kind, search) = body.choice(BODY)?;
    match BODY[kind] {
        "queue-search" => {}
        "get-request-info" => return Ok(None),
        _ => return body.fail("'queue-search' belongs here"),
    }
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
    let end = |name: &str| {
        let found = options.iter().find(|option| option.name == name)?;
        let OptionValue::Integer(number) = found.value else { return None };
        u32::try_from(number).ok()
    };
    Ok(Some(StoredRequest {
        program: String::from_utf8_lossy(program.text()?).into_owned(),
        service: String::from_utf8_lossy(service.text()?).into_owned(),
        queries: read_queries(queries)?,
        subjects: read_subjects(subject)?,
        searched_range: end("RequiredStart").zip(end("RequiredEnd")),
        options,
    }))
}

/// Reads the search of an archive and its results; `None` if the search failed.
fn archive(stored: &Node, results: &Node) -> Result<Option<Box<StoredArchive>>> {
    let Some(request) = request(stored)? else { return Ok(None) };
    let [aligned, _, masks, blocks, statistics, ..] = results.fields(RESULTS)?;
    let alignments = list(aligned)?.iter().map(alignments::read).collect::<Result<Vec<_>>>()?;
    let masks = list(masks)?.iter().map(mask).collect::<Result<Vec<_>>>()?;
    let blocks = list(blocks)?.iter().map(karlin).collect::<Result<Vec<_>>>()?;
    let statistics = list(statistics)?;
    let statistic = |name: &str| {
        let texts = statistics.iter().filter_map(|node| node.text().ok());
        let mut values = texts.filter_map(|text| text.strip_prefix(name.as_bytes()));
        values.find_map(|value| std::str::from_utf8(value).ok()?.trim().parse().ok())
    };
    let block = |of_gapped: bool| {
        let found = blocks.iter().find(|(_, gapped)| *gapped == of_gapped);
        found.map_or([-1.0; 3], |(parameters, _)| *parameters)
    };
    Ok(Some(Box::new(StoredArchive {
        request,
        alignments: alignments.concat(),
        masks: masks.concat(),
        parameters: [block(false), block(true)],
        search_space: statistic("Effective search space used:").unwrap_or(0),
        length_adjustment: statistic("Length adjustment:").unwrap_or(0),
    })))
}

/// Returns the elements of a list; none if it is absent.
fn list(node: Option<&Node>) -> Result<&[Node]> {
    node.map_or(Ok(&[]), Node::list)
}

fn read_queries(node: &Node) -> Result<StoredQueries> {
    let (kind, value) = node.choice(QUERIES)?;
    match QUERIES[kind] {
        "bioseq-set" => sequences::read_set(value).map(StoredQueries::Sequences),
        "seq-loc-list" => Ok(StoredQueries::Locations),
        _ => sequences::read_matrix(value).map(StoredQueries::Pssm),
    }
}

fn read_subjects(node: &Node) -> Result<StoredSubjects> {
    match node.choice(SUBJECT)? {
        (0, name) => Ok(StoredSubjects::Database(name.text()?.to_vec())),
        _ => Ok(StoredSubjects::Fasta),
    }
}

/// Reads an option; `None` if its value is of a kind that reports do not need, such as masks.
fn option(node: &Node) -> Result<Option<ArchiveOption>> {
    let [Some(name), Some(value)] = node.fields(PARAMETER)? else {
        return node.fail("an option without 'name' or 'value'");
    };
    let name = String::from_utf8_lossy(name.text()?).into_owned();
    if name == "LCaseMask" {
        return Ok(None);
    }
    let (kind, value) = value.choice(VALUE)?;
    let value = match VALUE[kind] {
        "big-integer" => OptionValue::BigInteger(value.integer()?),
        "integer" => OptionValue::Integer(value.integer()?),
        "boolean" => OptionValue::Boolean(value.boolean()?),
        "real" => OptionValue::Real(value.real()?),
        "string" => OptionValue::Text(String::from_utf8_lossy(value.text()?).into_owned()),
        "cutoff" => match value.choice(CUTOFF)? {
            (0, evalue) => OptionValue::Evalue(evalue.real()?),
            (_, score) => OptionValue::Integer(score.integer()?),
        },
        kind @ ("big-integer-list" | "integer-list") => {
            let numbers = value.list()?.iter().map(Node::integer);
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

fn mask(node: &Node) -> Result<Vec<StoredMask>> {
    let [Some(locations), frame] = node.fields(MASK)? else {
        return node.fail("a mask without 'locations'");
    };
    let number = |frame: &Node| {
        let is = |place: &usize| frame.is_word(FRAMES[*place], *place as i64);
        (0..FRAMES.len()).find(is).map_or_else(
            || frame.fail("no frame"),
            |place| Ok(if place > 3 { 3 - place as i8 } else { place as i8 }),
        )
    };
    let frame = frame.map_or(Ok(0), number)?;
    let mut masks = Vec::new();
    for location in locations.list()? {
        if let Some((query, ranges)) = read_location(location)? {
            masks.push(StoredMask { query, frame, ranges });
        }
    }
    Ok(masks)
}

/// Reads Karlin-Altschul parameters (λ, K and H), and whether they are those of gapped alignments.
fn karlin(node: &Node) -> Result<([f64; 3], bool)> {
    let [Some(lambda), Some(k), Some(h), Some(gapped)] = node.fields(KARLIN)? else {
        return node.fail("parameters without 'lambda', 'k', 'h' or 'gapped'");
    };
    Ok(([lambda.real()?, k.real()?, h.real()?], gapped.boolean()?))
}
