//! The alignments of an archive (`Seq-align`, seqalign.asn).

use std::ops::Range;

use fleetblast_seq::asn::{Elements, Malformed, Node, read_location, read_seq_id};
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
/// Words for strands (`Na-strand`, seqloc.asn), in the order of their numbers. BLAST+ takes `both`
/// for plus.
const STRANDS: [(&str, Strand); 4] = [
    ("unknown", Strand::Plus),
    ("plus", Strand::Plus),
    ("minus", Strand::Minus),
    ("both", Strand::Plus),
];
/// Start of a gap in `Dense-seg`.
const GAP: i64 = -1;
/// Score of an alignment without one: BLAST+ leaves out a score of 0, and shows -1 then
/// (`GetAlnScores`, align_format_util.cpp).
const NO_SCORE: i32 = -1;

type Result<T> = std::result::Result<T, Malformed>;

const USER_OBJECT: &[&str; 3] = &["class", "type", "data"];
const USER_FIELD: &[&str; 3] = &["label", "num", "data"];
const FIELD_DATA: &[&str; 12] = &[
    "str", "int", "real", "bool", "os", "object", "strs", "ints", "reals", "oss", "fields",
    "objects",
];

/// An alignment of a query and a subject.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredAlignment {
    /// The query.
    pub query: SeqId,
    /// The subject.
    pub subject: SeqId,
    /// Raw score; -1 if none is stored.
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
    /// Coverage of the query in per cent, if it is stored.
    pub coverage: Option<f64>,
    /// Runs of columns, in the direction of the alignment.
    pub segments: Vec<Segment>,
    /// The identifiers of the subject, such as `gi:5`, that the search showed; empty if it showed
    /// all.
    pub listed_ids: Vec<Vec<u8>>,
    /// Whether this alignment is the first one of its subject in an ungapped search. Always false
    /// in gapped searches, whose archives do not store where the alignments of a subject begin.
    pub begins_subject: bool,
}

/// A run of columns: the part that it covers in each of the two sequences, `None` for a gap.
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

/// Reads an alignment, and appends it to `alignments`. If the search was ungapped, it consists of
/// several.
pub(super) fn read(node: Node<'_>, alignments: &mut Vec<StoredAlignment>) -> Result<()> {
    let [_, _, scores, Some(segments), _, _, extension] = node.fields(ALIGNMENT)? else {
        return node.fail("an alignment without 'segs'");
    };
    let first = alignments.len();
    read_segments(segments, scores, alignments)?;
    let listed_ids = listed_ids(extension)?;
    alignments[first..].iter_mut().for_each(|it| it.listed_ids.clone_from(&listed_ids));
    if is_ungapped(segments, scores)?
        && let Some(alignment) = alignments.get_mut(first)
    {
        alignment.begins_subject = true;
    }
    Ok(())
}

/// Reads the identifiers of the subject that the search showed.
fn listed_ids(extension: Option<Node<'_>>) -> Result<Vec<Vec<u8>>> {
    let mut ids = Vec::new();
    for object in super::list(extension)? {
        let [_, Some(kind), Some(data)] = object.fields(USER_OBJECT)? else {
            return object.fail("an object without 'type' or 'data'");
        };
        let (1, kind) = kind.choice(SCORE_ID)? else { continue };
        if *kind.text()? != *b"use_this_seqid" {
            continue;
        }
        for field in data.list()? {
            let [_, _, Some(value)] = field.fields(USER_FIELD)? else {
                return field.fail("a field without 'data'");
            };
            let (kind, texts) = value.choice(FIELD_DATA)?;
            if FIELD_DATA[kind] == "strs" {
                for text in texts.list()? {
                    ids.push(text.text()?.into_owned());
                }
            }
        }
    }
    Ok(ids)
}

/// Returns whether these are the segments of an ungapped search, which have scores of their own.
fn is_ungapped(segments: Node<'_>, scores: Option<Node<'_>>) -> Result<bool> {
    let (kind, _) = segments.choice(SEGMENTS)?;
    Ok(match SEGMENTS[kind] {
        "dendiag" => true,
        "std" => scores.is_none(),
        _ => false,
    })
}

fn read_segments(
    segments: Node<'_>,
    scores: Option<Node<'_>>,
    alignments: &mut Vec<StoredAlignment>,
) -> Result<()> {
    let (kind, list) = segments.choice(SEGMENTS)?;
    match SEGMENTS[kind] {
        "dendiag" => list.list()?.try_for_each(|node| {
            alignments.push(diagonal(node)?);
            Ok(())
        }),
        "std" if scores.is_none() => list.list()?.try_for_each(|node| {
            let (both, segment, scores) = standard_segment(node)?;
            alignments.push(with_scores(node, both, vec![segment], scores)?);
            Ok(())
        }),
        "denseg" => {
            alignments.push(dense(list, scores)?);
            Ok(())
        }
        _ => {
            alignments.push(standard(list, scores)?);
            Ok(())
        }
    }
}

fn ids(node: Node<'_>) -> Result<[SeqId; 2]> {
    match node.list()?.array() {
        Some([query, subject]) => Ok([read_seq_id(query)?, read_seq_id(subject)?]),
        None => node.fail("two identifiers belong here"),
    }
}

fn unsigned(node: Node<'_>) -> Result<u32> {
    match u32::try_from(node.integer()?) {
        Ok(number) => Ok(number),
        Err(_) => node.fail("a number of letters belongs here"),
    }
}

fn strand(node: Node<'_>) -> Result<Strand> {
    let is_word = |(number, (word, _)): &(i64, (&str, Strand))| node.is_word(word, *number);
    match (0..).zip(STRANDS).find(is_word) {
        Some((_, (_, strand))) => Ok(strand),
        None => node.fail("a strand belongs here"),
    }
}

/// Returns the part of a sequence with this start and length; `None` if the start is -1, which
/// stands for a gap.
fn part(start: Node<'_>, length: u32, strand: Strand) -> Result<Option<SegmentPart>> {
    let first = match start.integer()? {
        GAP => return Ok(None),
        first => u32::try_from(first).ok(),
    };
    let range = first.and_then(|first| Some(first..first.checked_add(length)?));
    match range {
        Some(range) => Ok(Some(SegmentPart { range, strand })),
        None => start.fail("a position, or -1 for a gap, belongs here"),
    }
}

fn diagonal(node: Node<'_>) -> Result<StoredAlignment> {
    let [_, Some(both), Some(starts), Some(length), strands, scores] = node.fields(DIAGONAL)?
    else {
        return node.fail("a diagonal without 'ids', 'starts' or 'len'");
    };
    let length = unsigned(length)?;
    let Some(starts) = starts.list()?.array() else {
        return starts.fail("two positions belong here");
    };
    let mut strands = Strands::new(strands)?;
    let segment = segment(starts, length, &mut strands)?;
    strands.finish(node)?;
    with_scores(node, ids(both)?, vec![segment], scores)
}

fn dense(node: Node<'_>, scores: Option<Node<'_>>) -> Result<StoredAlignment> {
    let [_, _, Some(both), Some(starts), Some(lengths), strands, _] = node.fields(DENSE)? else {
        return node.fail("segments without 'ids', 'starts' or 'lens'");
    };
    let (mut starts, lengths) = (starts.list()?, lengths.list()?);
    let mut strands = Strands::new(strands)?;
    let mut segments = Vec::with_capacity(lengths.count());
    for length in lengths {
        let (Some(query), Some(subject)) = (starts.next(), starts.next()) else {
            return node.fail("each segment needs two starts");
        };
        segments.push(segment([query, subject], unsigned(length)?, &mut strands)?);
    }
    strands.finish(node)?;
    match starts.next() {
        None => with_scores(node, ids(both)?, segments, scores),
        Some(_) => node.fail("each segment needs two starts"),
    }
}

/// The stored strands of all parts, segment after segment. An alignment may have no such list.
struct Strands<'a> {
    list: Option<Elements<'a>>,
    /// Whether the list of strands ended before the last segment.
    is_short: bool,
}

impl<'a> Strands<'a> {
    fn new(node: Option<Node<'a>>) -> Result<Self> {
        let list = node.map(|node| node.list()).transpose()?;
        Ok(Strands { list, is_short: false })
    }

    fn next(&mut self) -> Result<Strand> {
        let Some(list) = &mut self.list else { return Ok(Strand::Plus) };
        let next = list.next();
        self.is_short |= next.is_none();
        next.map_or(Ok(Strand::Plus), strand)
    }

    /// Checks that the segments of `node` have used all strands, if there are any.
    fn finish(mut self, node: Node<'_>) -> Result<()> {
        let is_long = self.list.as_mut().is_some_and(|list| list.next().is_some());
        match self.is_short || is_long {
            true => node.fail("each segment needs two strands"),
            false => Ok(()),
        }
    }
}

/// Returns a segment, given the stored starts of its parts in the query and in the subject.
fn segment(
    [query, subject]: [Node<'_>; 2],
    length: u32,
    strands: &mut Strands<'_>,
) -> Result<Segment> {
    Ok(Segment {
        query: part(query, length, strands.next()?)?,
        subject: part(subject, length, strands.next()?)?,
    })
}

fn standard(node: Node<'_>, scores: Option<Node<'_>>) -> Result<StoredAlignment> {
    let (mut both, mut segments) = (None, Vec::new());
    for node in node.list()? {
        let (names, segment, _) = standard_segment(node)?;
        both = both.or(Some(names));
        segments.push(segment);
    }
    match both {
        Some(both) => with_scores(node, both, segments, scores),
        None => node.fail("an alignment without segments"),
    }
}

fn standard_segment(node: Node<'_>) -> Result<([SeqId; 2], Segment, Option<Node<'_>>)> {
    let [_, Some(both), Some(locations), scores] = node.fields(STANDARD)? else {
        return node.fail("a segment without 'ids' or 'loc'");
    };
    let Some([query, subject]) = locations.list()?.array() else {
        return locations.fail("two locations belong here");
    };
    let segment = Segment { query: location(query)?, subject: location(subject)? };
    Ok((ids(both)?, segment, scores))
}

fn location(node: Node<'_>) -> Result<Option<SegmentPart>> {
    let Some((_, ranges)) = read_location(node)? else { return Ok(None) };
    let [range] = ranges.as_slice() else { return node.fail("one interval belongs here") };
    if range.start > range.end {
        return node.fail("an interval that ends before it begins");
    }
    let strand = match node.choice(LOCATION)? {
        (3, interval) => interval.fields(INTERVAL)?[2].map_or(Ok(Strand::Plus), strand)?,
        _ => Strand::Plus,
    };
    Ok(Some(SegmentPart { range: range.clone(), strand }))
}

/// Returns the alignment of these sequences and segments, with the scores that `scores` stores.
fn with_scores(
    node: Node<'_>,
    [query, subject]: [SeqId; 2],
    segments: Vec<Segment>,
    scores: Option<Node<'_>>,
) -> Result<StoredAlignment> {
    let mut alignment = StoredAlignment {
        query,
        subject,
        score: NO_SCORE,
        bit_score: 0.0,
        evalue: 0.0,
        linked: 1,
        adjustment: 0,
        identities: None,
        positives: None,
        coverage: None,
        segments,
        listed_ids: Vec::new(),
        begins_subject: false,
    };
    let (mut has_bit_score, mut has_evalue) = (false, false);
    for score in super::list(scores)? {
        let [Some(id), Some(value)] = score.fields(SCORE)? else {
            return score.fail("a score without 'id' or 'value'");
        };
        let (1, name) = id.choice(SCORE_ID)? else { continue };
        match &*name.text()? {
            b"score" => match i32::try_from(integer(value)?.integer()?) {
                Ok(score) => alignment.score = score,
                Err(_) => return value.fail("a score of 32 bits belongs here"),
            },
            b"bit_score" => {
                alignment.bit_score = real(value)?;
                has_bit_score = true;
            }
            b"e_value" | b"sum_e" => {
                alignment.evalue = real(value)?;
                has_evalue = true;
            }
            b"sum_n" => alignment.linked = unsigned(integer(value)?)?,
            b"comp_adjustment_method" => alignment.adjustment = integer(value)?.integer()?,
            b"num_ident" => alignment.identities = Some(unsigned(integer(value)?)?),
            b"num_positives" => alignment.positives = Some(unsigned(integer(value)?)?),
            b"hsp_percent_coverage" => alignment.coverage = Some(real(value)?),
            // No report needs the others.
            _ => {}
        }
    }
    match has_bit_score && has_evalue {
        true => Ok(alignment),
        false => node.fail("an alignment without bit score or e-value"),
    }
}

/// Returns the value of a score, which must be an integer.
fn integer(value: Node<'_>) -> Result<Node<'_>> {
    match value.choice(SCORE_VALUE)? {
        (1, number) => Ok(number),
        _ => value.fail("an integer belongs here"),
    }
}

/// Returns the value of a score, which must be a real number.
fn real(value: Node<'_>) -> Result<f64> {
    match value.choice(SCORE_VALUE)? {
        (0, number) => number.real(),
        _ => value.fail("a real number belongs here"),
    }
}
