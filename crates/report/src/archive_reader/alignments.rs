//! The alignments of an archive (`Seq-align`, seqalign.asn).

use std::ops::Range;

use fleetblast_seq::asn::{Malformed, Node, read_location, read_seq_id};
use fleetblast_seq::frame::Strand;
use fleetblast_seq::id::SeqId;

const ALIGNMENT: &[&str; 7] = &["type", "dim", "score", "segs", "bounds", "id", "ext"];
const SEGMENTS: &[&str; 3] = &["dendiag", "denseg", "std"];
const DIAGONAL: &[&str; 6] = &["dim", "ids", "starts", "len", "strands", "scores"];
const DENSE: &[&str; 7] = &["dim", "numseg", "ids", "starts", "lens", "strands", "scores"];
const STANDARD: &[&str; 4] = &["dim", "ids", "loc", "scores"];
const SCORE: &[&str; 2] = &["id", "value"];
const SCORE_ID: &[&str; 2] = &["id", "str"];
const SCORE_VALUE: &[&str; 2] = &["real", "int"];
const LOCATION: &[&str; 4] = &["null", "empty", "whole", "int"];
const INTERVAL: &[&str; 6] = &["from", "to", "strand", "id", "fuzz-from", "fuzz-to"];
const STRANDS: &[&str; 3] = &["unknown", "plus", "minus"];

type Result<T> = std::result::Result<T, Malformed>;

/// An alignment of a query and a subject.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredAlignment {
    /// The query.
    pub query: SeqId,
    /// The subject.
    pub subject: SeqId,
    /// Raw score.
    pub score: i32,
    /// Bit score.
    pub bit_score: f64,
    /// E-value.
    pub evalue: f64,
    /// Number of alignments that share the e-value.
    pub linked: u32,
    /// Method of the composition adjustment, 0 for none.
    pub adjustment: i64,
    /// Number of columns with identical letters.
    pub identities: Option<u32>,
    /// Number of positive columns, if it is stored.
    pub positives: Option<u32>,
    /// Runs of columns, in the direction of the alignment.
    pub segments: Vec<Segment>,
}

/// A run of columns: what it covers of both sequences, `None` for a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The part of the query.
    pub query: Option<SegmentPart>,
    /// The part of the subject.
    pub subject: Option<SegmentPart>,
}

/// A part of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentPart {
    /// Bases or residues of the whole sequence, 0-based and half-open.
    pub range: Range<u32>,
    /// The strand of bases. For residues it means nothing.
    pub strand: Strand,
}

/// Reads an alignment. If the search was ungapped, it consists of several.
pub(super) fn read(node: &Node) -> Result<Vec<StoredAlignment>> {
    let [_, _, scores, Some(segments), ..] = node.fields(ALIGNMENT)? else {
        return node.fail("an alignment without 'segs'");
    };
    let (kind, list) = segments.choice(SEGMENTS)?;
    match SEGMENTS[kind] {
        "dendiag" => list.list()?.iter().map(diagonal).collect(),
        "denseg" => Ok(vec![dense(list, scores)?]),
        // Ungapped alignments have their scores within each segment.
        _ if scores.is_none() => list.list()?.iter().map(standard_alone).collect(),
        _ => Ok(vec![standard(list, scores)?]),
    }
}

fn ids(node: &Node) -> Result<[SeqId; 2]> {
    match node.list()? {
        [query, subject] => Ok([read_seq_id(query)?, read_seq_id(subject)?]),
        _ => node.fail("two identifiers belong here"),
    }
}

fn unsigned(node: &Node) -> Result<u32> {
    match u32::try_from(node.integer()?) {
        Ok(number) => Ok(number),
        Err(_) => node.fail("a number of letters belongs here"),
    }
}

fn strand(node: &Node) -> Strand {
    if node.is_word(STRANDS[2], 2) { Strand::Minus } else { Strand::Plus }
}

/// Returns a part of a sequence from its start, which is negative for a gap.
fn part(start: &Node, length: u32, strand: Strand) -> Result<Option<SegmentPart>> {
    let Ok(first) = u32::try_from(start.integer()?) else { return Ok(None) };
    match first.checked_add(length) {
        Some(end) => Ok(Some(SegmentPart { range: first..end, strand })),
        None => start.fail("the position is too large"),
    }
}

fn diagonal(node: &Node) -> Result<StoredAlignment> {
    let [_, Some(both), Some(starts), Some(length), strands, scores] = node.fields(DIAGONAL)?
    else {
        return node.fail("a diagonal without 'ids', 'starts' or 'len'");
    };
    let (length, strands) = (unsigned(length)?, strands.map_or(Ok(&[][..]), Node::list)?);
    let [query, subject] = starts.list()? else {
        return starts.fail("two positions belong here");
    };
    let strand_of = |row: usize| strands.get(row).map_or(Strand::Plus, strand);
    let segment = Segment {
        query: part(query, length, strand_of(0))?,
        subject: part(subject, length, strand_of(1))?,
    };
    with_scores(ids(both)?, vec![segment], scores)
}

fn dense(node: &Node, scores: Option<&Node>) -> Result<StoredAlignment> {
    let [_, _, Some(both), Some(starts), Some(lengths), strands, _] = node.fields(DENSE)? else {
        return node.fail("segments without 'ids', 'starts' or 'lens'");
    };
    let (starts, lengths) = (starts.list()?, lengths.list()?);
    let strands = strands.map_or(Ok(&[][..]), Node::list)?;
    if starts.len() != 2 * lengths.len() {
        return node.fail("each segment needs two starts");
    }
    let strand_of = |at: usize| strands.get(at).map_or(Strand::Plus, strand);
    let segment = |(number, length): (usize, &Node)| {
        let length = unsigned(length)?;
        let [query, subject] = [2 * number, 2 * number + 1];
        Ok(Segment {
            query: part(&starts[query], length, strand_of(query))?,
            subject: part(&starts[subject], length, strand_of(subject))?,
        })
    };
    let segments = lengths.iter().enumerate().map(segment).collect::<Result<_>>()?;
    with_scores(ids(both)?, segments, scores)
}

fn standard(node: &Node, scores: Option<&Node>) -> Result<StoredAlignment> {
    let (mut both, mut segments) = (None, Vec::new());
    for node in node.list()? {
        let (names, segment, _) = standard_segment(node)?;
        both = both.or(Some(names));
        segments.push(segment);
    }
    match both {
        Some(both) => with_scores(both, segments, scores),
        None => node.fail("an alignment without segments"),
    }
}

fn standard_alone(node: &Node) -> Result<StoredAlignment> {
    let (both, segment, scores) = standard_segment(node)?;
    with_scores(both, vec![segment], scores)
}

fn standard_segment(node: &Node) -> Result<([SeqId; 2], Segment, Option<&Node>)> {
    let [_, Some(both), Some(locations), scores] = node.fields(STANDARD)? else {
        return node.fail("a segment without 'ids' or 'loc'");
    };
    let [query, subject] = locations.list()? else {
        return locations.fail("two locations belong here");
    };
    let segment = Segment { query: location(query)?, subject: location(subject)? };
    Ok((ids(both)?, segment, scores))
}

fn location(node: &Node) -> Result<Option<SegmentPart>> {
    let Some((_, ranges)) = read_location(node)? else { return Ok(None) };
    let [range] = ranges.as_slice() else { return node.fail("one interval belongs here") };
    let strand = match node.choice(LOCATION)? {
        (3, interval) => interval.fields(INTERVAL)?[2].map_or(Strand::Plus, strand),
        _ => Strand::Plus,
    };
    Ok(Some(SegmentPart { range: range.clone(), strand }))
}

fn with_scores(
    [query, subject]: [SeqId; 2],
    segments: Vec<Segment>,
    scores: Option<&Node>,
) -> Result<StoredAlignment> {
    let mut alignment = StoredAlignment {
        query,
        subject,
        score: 0,
        bit_score: 0.0,
        evalue: 0.0,
        linked: 1,
        adjustment: 0,
        identities: None,
        positives: None,
        segments,
    };
    for node in scores.map_or(Ok(&[][..]), Node::list)? {
        let [Some(id), Some(value)] = node.fields(SCORE)? else {
            return node.fail("a score without 'id' or 'value'");
        };
        let (kind, value) = value.choice(SCORE_VALUE)?;
        let (1, name) = id.choice(SCORE_ID)? else { continue };
        match (name.text()?, kind) {
            (b"score", 1) => alignment.score = unsigned(value)? as i32,
            (b"bit_score", 0) => alignment.bit_score = value.real()?,
            (b"e_value" | b"sum_e", 0) => alignment.evalue = value.real()?,
            (b"sum_n", 1) => alignment.linked = unsigned(value)?,
            (b"comp_adjustment_method", 1) => alignment.adjustment = value.integer()?,
            (b"num_ident", 1) => alignment.identities = Some(unsigned(value)?),
            (b"num_positives", 1) => alignment.positives = Some(unsigned(value)?),
            _ => {}
        }
    }
    Ok(alignment)
}
