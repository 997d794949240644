//! Cuts long batches into overlapping chunks that are searched separately (rules 2.3, 8.3; facts
//! from `split_query_aux_priv.cpp`, `split_query_cxx.cpp` and `Blast_HSPListsMerge`).

use std::ops::Range;

use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::translation::FRAMES;
use serde::{Deserialize, Serialize};

use crate::hits::{PrelimHit, PrelimHsp};
use crate::lists::linking::EvenGapStatistics;
use crate::order;
use crate::params::{ChunkRule, Strands};
use crate::query::Query;

/// Number of letters that neighbouring chunks of queries and segments of subjects share.
const OVERLAP: u32 = 100;
/// Number of bases that neighbouring chunks of a translated query share
/// (`SplitQuery_GetOverlapChunkSize`).
const TRANSLATED_OVERLAP: u32 = 297;
/// Number of letters in a codon; also the number of frames of a strand.
const CODON: u32 = 3;
/// Distance of diagonals below which HSPs may be joined.
const CLOSE_DIAGONALS: i64 = 10;

/// Returns the number of letters that neighbouring chunks of queries share.
fn overlap(rule: ChunkRule) -> u64 {
    u64::from(if rule.is_translated { TRANSLATED_OVERLAP } else { OVERLAP })
}

/// The part of a query's frame that lies in a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FramePart {
    /// Number of the frame of the whole query.
    pub context: u8,
    /// Start in the frame of the whole query, in residues.
    pub start: u32,
    /// Length in residues.
    pub length: u32,
}

impl FramePart {
    /// Finds the part of a query of `length` bases that is frame number `number` of a chunk. Frames
    /// of the minus strand begin at the end of the chunk (`x_ComputeQueryContextsForChunks`,
    /// split_query_cxx.cpp).
    pub fn new(length: u32, chunk: &Range<u32>, number: u8) -> FramePart {
        let (strand, offset) = (number / CODON as u8, u32::from(number) % CODON);
        let first = if strand == 0 { chunk.start } else { length - chunk.end } + offset;
        FramePart {
            context: strand * CODON as u8 + (first % CODON) as u8,
            start: first / CODON,
            length: (chunk.len() as u32).saturating_sub(offset) / CODON,
        }
    }
}

/// The part of a query in one chunk of its batch. A query that is not cut is a single part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct QueryChunk {
    /// Index of the query among the queries of its block.
    pub query: usize,
    /// Range of letters in the query.
    pub range: Range<u32>,
    /// Whether the batch is searched in chunks, even if this query is not cut.
    pub chunked: bool,
    /// Index of the chunk among the chunks of the block; if the batch is not cut, index of the
    /// batch. BLAST+ searches the parts with the same index together.
    pub batch_or_chunk: usize,
    /// The effective search space of each context. BLAST+ numbers the queries of a chunk anew, but
    /// not the spaces: they are those of the first queries of the batch
    /// (`SplitQuery_SetEffectiveSearchSpace`, split_query_aux_priv.cpp).
    pub spaces: Vec<i64>,
    /// Masks of the part on the plus strand, counted from the start of the part; `None` unless it
    /// is a part of a nucleotide query that is searched in chunks.
    pub masks: Option<Vec<Range<u32>>>,
    /// Average length, in residues, of the contexts that are searched together, if HSPs of proteins
    /// are linked; otherwise 0.
    pub average_length: i32,
    /// Properties of the batch for linking ungapped HSPs, if they are linked with even gaps.
    pub even_linking: Option<EvenGapStatistics>,
}

impl QueryChunk {
    /// Iterates over the lengths of the frames of the part, in residues; 0 for frames that are not
    /// searched.
    pub fn frame_lengths(&self, queries: &[&Query]) -> impl Iterator<Item = usize> {
        let query = queries[self.query];
        (0..).zip(&query.contexts).map(move |(number, context)| match context.frame {
            _ if !self.chunked || context.letters.is_empty() => context.letters.len(),
            Frame::Codons(..) => FramePart::new(query.length, &self.range, number).length as usize,
            Frame::Protein | Frame::Strand(_) => self.range.len(),
        })
    }

    /// Returns the range of the part in a strand of a query of `length` letters. Positions on the
    /// minus strand count from the other end.
    pub fn range_in_strand(&self, length: u32, strand: u8) -> Range<u32> {
        match strand {
            0 => self.range.clone(),
            _ => length - self.range.end..length - self.range.start,
        }
    }
}

/// Returns the masks of a query that apply to a part of it, counted from the start of the part.
/// `from` is the start of the query in its record (`-query_loc`).
///
/// BLAST+ makes each mask one letter longer, except those that end with the part. It drops a mask
/// that starts with the last letter of the part. (`TMaskedQueryRegions::RestrictToSeqInt` confuses
/// the last letter of a range with the letter after it.) Positions of masks count in the record,
/// but BLAST+ compares them with positions of the part in the query
/// (`x_ComputeQueryIndicesForChunks`, split_query_cxx.cpp).
pub(crate) fn masks_of_chunk(
    masks: &[Range<u32>],
    from: u32,
    chunk: &Range<u32>,
) -> Vec<Range<u32>> {
    let start = from + chunk.start;
    masks
        .iter()
        .map(|mask| (mask.start + from).max(chunk.start)..(mask.end + from).min(chunk.end - 1))
        .filter(|mask| mask.start < mask.end)
        .map(|mask| mask.start.saturating_sub(start)..(mask.end + 1).saturating_sub(start))
        .filter(|mask| mask.start < mask.end)
        .collect()
}

/// Cuts a batch of queries of the given lengths into chunks. Without a rule, or if the batch is
/// short, each query is one part. `spaces` returns the search spaces of a query.
pub(crate) fn split(
    lengths: &[u32],
    rule: Option<ChunkRule>,
    spaces: impl Fn(usize) -> Vec<i64>,
) -> Vec<QueryChunk> {
    let total: u64 = lengths.iter().map(|&len| u64::from(len)).sum();
    let rule = rule.filter(|rule| lengths.len() == 1 || !rule.is_translated);
    let chunk_count = rule.map_or(1, |rule| total / (rule.size - overlap(rule)));
    let Some(rule) = rule.filter(|_| chunk_count > 1) else {
        return lengths
            .iter()
            .enumerate()
            .map(|(i, &len)| QueryChunk {
                query: i,
                range: 0..len,
                chunked: false,
                batch_or_chunk: 0,
                spaces: spaces(i),
                masks: None,
                average_length: 0,
                even_linking: None,
            })
            .collect();
    };
    let mut chunks = Vec::new();
    for (range, batch_or_chunk) in chunk_ranges(total, chunk_count, rule).into_iter().zip(0..) {
        let mut start = 0u64;
        let mut count = 0;
        for (i, &len) in lengths.iter().enumerate() {
            let end = start + u64::from(len);
            let (from, to) = (range.start.max(start), range.end.min(end));
            if from < to {
                chunks.push(QueryChunk {
                    query: i,
                    range: (from - start) as u32..(to - start) as u32,
                    chunked: true,
                    batch_or_chunk,
                    spaces: spaces(count),
                    masks: None,
                    average_length: 0,
                    even_linking: None,
                });
                count += 1;
            }
            start = end;
        }
    }
    chunks
}

/// Computes the chunks of the concatenated letters of a batch.
fn chunk_ranges(total: u64, chunk_count: u64, rule: ChunkRule) -> Vec<Range<u64>> {
    let overlap = overlap(rule);
    let mut size = rule.size;
    if !rule.is_translated {
        size = (total + (chunk_count - 1) * overlap) / chunk_count;
        if chunk_count < size - overlap {
            size += 1;
        }
    }
    let mut ranges = Vec::new();
    let mut start = 0;
    for i in 0..chunk_count {
        let end = if i + 1 == chunk_count { total } else { (start + size).min(total) };
        ranges.push(start..end);
        if end == total {
            break;
        }
        start = end - overlap;
    }
    ranges
}

/// Starts of a query's next part, one for each context that is searched. Starts on the minus strand
/// count from the other end of the query.
#[derive(Clone, Debug)]
pub(super) struct Starts {
    by_context: Vec<Option<Start>>,
    /// Number of letters of a context that neighbouring parts share.
    overlap: u32,
}

impl Starts {
    /// Creates the start of a part of a protein, which counts as the plus strand.
    pub fn of_protein(chunk: &QueryChunk) -> Starts {
        Starts { by_context: vec![Some(Start::Plus(chunk.range.start))], overlap: OVERLAP }
    }

    /// Creates the starts of a part of a nucleotide query of `length` bases.
    pub fn of_strands(chunk: &QueryChunk, length: u32, strands: Strands) -> Starts {
        let plus = Start::Plus(chunk.range_in_strand(length, 0).start);
        let minus = Start::Minus(chunk.range_in_strand(length, 1).start);
        let by_context = vec![
            (strands != Strands::Minus).then_some(plus),
            (strands != Strands::Plus).then_some(minus),
        ];
        Starts { by_context, overlap: OVERLAP }
    }

    /// Creates the starts of a part of a translated query of `length` bases.
    pub fn of_frames(chunk: &QueryChunk, length: u32, strands: Strands) -> Starts {
        let mut by_context = vec![None; FRAMES.len()];
        for (number, frame) in (0..).zip(FRAMES) {
            let part = FramePart::new(length, &chunk.range, number);
            by_context[usize::from(part.context)] = match frame.strand() {
                Some(Strand::Minus) if strands != Strands::Plus => Some(Start::Minus(part.start)),
                Some(Strand::Plus) if strands != Strands::Minus => Some(Start::Plus(part.start)),
                _ => None,
            };
        }
        Starts { by_context, overlap: TRANSLATED_OVERLAP / CODON }
    }

    fn start_for(&self, hsp: &PrelimHsp) -> Start {
        let start = self.by_context.get(usize::from(hsp.context)).copied().flatten();
        start.unwrap_or(Start::Plus(0))
    }

    /// Returns whether the part starts after the first letter of some context. Only then BLAST+
    /// treats the query as cut.
    fn is_cut(&self) -> bool {
        let is_later = |start: &Start| match start {
            Start::Plus(start) | Start::Minus(start) => *start > 0,
        };
        self.by_context.iter().flatten().any(is_later)
    }
}

/// Start of a part in the context of an HSP.
#[derive(Clone, Copy, Debug)]
enum Start {
    Plus(u32),
    Minus(u32),
}

/// Adds the hits of a query's next part to those of its earlier parts. Both are in ascending OID
/// order, with coordinates of the whole query.
pub(super) fn merge(old: Vec<PrelimHit>, new: Vec<PrelimHit>, starts: &Starts) -> Vec<PrelimHit> {
    let mut merged = Vec::with_capacity(old.len() + new.len());
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    while let (Some(a), Some(b)) = (old.peek(), new.peek()) {
        match a.oid.cmp(&b.oid) {
            std::cmp::Ordering::Less => merged.extend(old.next()),
            std::cmp::Ordering::Greater => merged.extend(new.next()),
            std::cmp::Ordering::Equal => {
                let (a, b) = (old.next().expect("peeked"), new.next().expect("peeked"));
                merged.push(join(a, b, starts));
            }
        }
    }
    merged.extend(old);
    merged.extend(new);
    merged
}

/// Joins the HSPs of one subject. HSPs that meet in the overlap become one. On the minus strand the
/// next part lies before the earlier ones. But BLAST+ looks for HSPs of the earlier parts near the
/// start of the next part, not near its end. So HSPs hardly ever meet.
fn join(mut old: PrelimHit, new: PrelimHit, starts: &Starts) -> PrelimHit {
    let meet = MeetingHsps {
        reaches: |hsp: &PrelimHsp| match starts.start_for(hsp) {
            Start::Plus(start) => hsp.q_end > start,
            Start::Minus(start) => hsp.q_start < start + starts.overlap,
        },
        begins: |hsp: &PrelimHsp| match starts.start_for(hsp) {
            Start::Plus(start) => hsp.q_start < start + starts.overlap,
            Start::Minus(start) => hsp.q_end > start,
        },
    };
    let together = |left: &mut PrelimHsp, right: &PrelimHsp| {
        let is_near = match starts.start_for(left) {
            Start::Plus(_) => are_near(left, right),
            Start::Minus(_) => are_near(right, left),
        };
        is_near && unite(left, right)
    };
    old.hsps = join_lists(old.hsps, new.hsps, starts.is_cut().then_some(meet), together);
    old.evalue = order::best_evalue(old.hsps.iter().map(|hsp| hsp.evalue));
    old
}

/// Joins the HSPs of a segment of a subject that starts at `start` to those of the earlier
/// segments. HSPs that meet in the overlap become one; ungapped HSPs only if they are on the same
/// diagonal.
pub(crate) fn join_subject_chunks(
    old: Vec<PrelimHsp>,
    new: Vec<PrelimHsp>,
    start: u32,
    gapped: bool,
) -> Vec<PrelimHsp> {
    let meet = MeetingHsps {
        reaches: |hsp: &PrelimHsp| hsp.s_end > start,
        begins: |hsp: &PrelimHsp| hsp.s_start < start + OVERLAP,
    };
    let together = |left: &mut PrelimHsp, right: &PrelimHsp| {
        let diagonal = |hsp: &PrelimHsp| i64::from(hsp.q_start) - i64::from(hsp.s_start);
        are_near(left, right) && (gapped || diagonal(left) == diagonal(right)) && unite(left, right)
    };
    join_lists(old, new, Some(meet), together)
}

/// Conditions for HSPs that may meet HSPs of another chunk. `reaches` accepts HSPs of earlier
/// chunks that reach the next chunk. `begins` accepts HSPs of the next chunk that begin in the
/// overlap.
struct MeetingHsps<A, B> {
    reaches: A,
    begins: B,
}

/// Joins the HSPs of earlier chunks and of the next chunk. HSPs that meet become one. The result is
/// in ORDER-S.
fn join_lists(
    mut old: Vec<PrelimHsp>,
    mut new: Vec<PrelimHsp>,
    meet: Option<MeetingHsps<impl Fn(&PrelimHsp) -> bool, impl Fn(&PrelimHsp) -> bool>>,
    unite: impl Fn(&mut PrelimHsp, &PrelimHsp) -> bool,
) -> Vec<PrelimHsp> {
    if let Some(MeetingHsps { reaches, begins }) = meet {
        let in_old = to_front(&mut old, reaches);
        let in_new = to_front(&mut new, begins);
        let rest = new.split_off(in_new);
        let mut candidates: Vec<Option<PrelimHsp>> = new.drain(..).map(Some).collect();
        for left in &mut old[..in_old] {
            for slot in &mut candidates {
                if slot.is_some_and(|right| unite(left, &right)) {
                    *slot = None;
                }
            }
        }
        new.extend(candidates.into_iter().flatten());
        new.extend(rest);
    }
    old.append(&mut new);
    old.sort_by(order::compare_hsps);
    old
}

/// Moves the HSPs that `wanted` accepts to the front by swapping each with the first rejected HSP.
/// Returns the number of accepted HSPs.
fn to_front(hsps: &mut [PrelimHsp], wanted: impl Fn(&PrelimHsp) -> bool) -> usize {
    let mut count = 0;
    for i in 0..hsps.len() {
        if wanted(&hsps[i]) {
            hsps.swap(count, i);
            count += 1;
        }
    }
    count
}

/// Returns whether the diagonal on which one HSP ends is near the diagonal on which another begins.
fn are_near(first: &PrelimHsp, second: &PrelimHsp) -> bool {
    let end_diagonal = i64::from(first.q_end) - i64::from(first.s_end);
    let start_diagonal = i64::from(second.q_start) - i64::from(second.s_start);
    (end_diagonal - start_diagonal).abs() < CLOSE_DIAGONALS
}

/// Makes `left` the union of both HSPs if they have the same context and frame, and touch. Returns
/// whether it did so.
fn unite(left: &mut PrelimHsp, right: &PrelimHsp) -> bool {
    if (left.context, left.frame) != (right.context, right.frame) {
        return false;
    }
    let inside = |q: u32, s: u32| {
        (left.q_start..=left.q_end).contains(&q) && (left.s_start..=left.s_end).contains(&s)
    };
    if !inside(right.q_start, right.s_start) && !inside(right.q_end, right.s_end) {
        return false;
    }
    let spans = (left.q_end - left.q_start) + (right.q_end - right.q_start);
    let density = f64::from(left.score + right.score) / f64::from(spans);
    left.q_start = left.q_start.min(right.q_start);
    left.s_start = left.s_start.min(right.s_start);
    left.q_end = left.q_end.max(right.q_end);
    left.s_end = left.s_end.max(right.s_end);
    if right.score > left.score {
        left.q_seed = right.q_seed;
        left.s_seed = right.s_seed;
        left.score = right.score;
    }
    left.score = left.score.max((density * f64::from(left.q_end - left.q_start)) as i32);
    true
}

#[cfg(test)]
mod tests;
