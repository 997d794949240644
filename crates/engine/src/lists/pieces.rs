//! Cuts long batches into overlapping chunks that are searched separately (rules 2.3, 8.3; facts
//! from `split_query_aux_priv.cpp`, `split_query_cxx.cpp` and `Blast_HSPListsMerge`).

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::hits::{PrelimHit, PrelimHsp};
use crate::order;

/// Number of letters that neighbouring chunks share.
const OVERLAP: u32 = 100;
/// HSPs may be joined if their diagonals differ by less than this.
const CLOSE_DIAGONALS: i64 = 10;

/// The part of a query in one chunk of its batch. A query that is not cut is a single part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Piece {
    /// Number of the query.
    pub query: usize,
    /// Range in the query.
    pub range: Range<u32>,
    /// Whether the batch is searched in chunks, even if this query is not cut.
    pub chunked: bool,
    /// Number of the chunk in the block, or of the batch if that is not cut: BLAST+ searches these
    /// parts together.
    pub search: usize,
    /// The effective search space of each context. BLAST+ numbers the queries of a chunk anew, but
    /// not the spaces: they are those of the first queries of the batch
    /// (`SplitQuery_SetEffectiveSearchSpace`, split_query_aux_priv.cpp).
    pub spaces: Vec<i64>,
    /// Its masks on the plus strand, relative to its start, for nucleotides that are searched in
    /// chunks.
    pub masks: Option<Vec<Range<u32>>>,
    /// Average length of the contexts that are searched together, in residues, if HSPs of proteins
    /// are linked; otherwise 0.
    pub average_length: i32,
}

impl Piece {
    /// The range in a strand of a query of `length` letters; positions on the minus strand count
    /// from the other end.
    pub fn part_of(&self, length: u32, strand: u8) -> Range<u32> {
        match strand {
            0 => self.range.clone(),
            _ => length - self.range.end..length - self.range.start,
        }
    }
}

/// The masks of a query that apply to a part of it, relative to its start. `from` is the start of
/// the query in its record (`-query_loc`).
///
/// BLAST+ makes each mask one letter longer, except those that end with the part, and drops one
/// that starts with its last letter. (`TMaskedQueryRegions::RestrictToSeqInt` takes ends after the
/// last letter for last letters, and the other way round.) Positions of masks count in the record,
/// but BLAST+ compares them with positions of the part in the query
/// (`x_ComputeQueryIndicesForChunks`, split_query_cxx.cpp).
pub(crate) fn masks_of_piece(
    masks: &[Range<u32>],
    from: u32,
    piece: &Range<u32>,
) -> Vec<Range<u32>> {
    let start = from + piece.start;
    masks
        .iter()
        .map(|mask| (mask.start + from).max(piece.start)..(mask.end + from).min(piece.end - 1))
        .filter(|mask| mask.start < mask.end)
        .map(|mask| mask.start.saturating_sub(start)..(mask.end + 1).saturating_sub(start))
        .filter(|mask| mask.start < mask.end)
        .collect()
}

/// Cuts one batch of queries of the given lengths, chunk by chunk. Chunks have `chunk` letters if
/// the batch is cut at all. `spaces` returns the search spaces of a query.
pub(crate) fn split(
    lengths: &[u32],
    chunk: Option<u64>,
    spaces: impl Fn(usize) -> Vec<i64>,
) -> Vec<Piece> {
    let total: u64 = lengths.iter().map(|&len| u64::from(len)).sum();
    let chunks = chunk.map_or(1, |chunk| total / (chunk - u64::from(OVERLAP)));
    if chunks <= 1 {
        return lengths
            .iter()
            .enumerate()
            .map(|(i, &len)| Piece {
                query: i,
                range: 0..len,
                chunked: false,
                search: 0,
                spaces: spaces(i),
                masks: None,
                average_length: 0,
            })
            .collect();
    }
    let mut pieces = Vec::new();
    for (chunk, search) in chunk_ranges(total, chunks).into_iter().zip(0..) {
        let mut start = 0u64;
        let mut count = 0;
        for (i, &len) in lengths.iter().enumerate() {
            let end = start + u64::from(len);
            let (from, to) = (chunk.start.max(start), chunk.end.min(end));
            if from < to {
                pieces.push(Piece {
                    query: i,
                    range: (from - start) as u32..(to - start) as u32,
                    chunked: true,
                    search,
                    spaces: spaces(count),
                    masks: None,
                    average_length: 0,
                });
                count += 1;
            }
            start = end;
        }
    }
    pieces
}

/// The chunks of the concatenated letters of a batch.
fn chunk_ranges(total: u64, chunks: u64) -> Vec<Range<u64>> {
    let overlap = u64::from(OVERLAP);
    let mut size = (total + (chunks - 1) * overlap) / chunks;
    if chunks < size - overlap {
        size += 1;
    }
    let mut ranges = Vec::new();
    let mut start = 0;
    for i in 0..chunks {
        let end = if i + 1 == chunks { total } else { (start + size).min(total) };
        ranges.push(start..end);
        if end == total {
            break;
        }
        start = end - overlap;
    }
    ranges
}

/// Start of a query's next part in each strand that is searched, on the minus strand counted from
/// the other end. A protein has one, which counts as plus.
#[derive(Clone, Copy, Debug)]
pub(super) struct Starts {
    pub plus: Option<u32>,
    pub minus: Option<u32>,
}

impl Starts {
    fn start_for(self, hsp: &PrelimHsp) -> Start {
        match (hsp.context, self.minus) {
            (1, Some(start)) => Start::Minus(start),
            _ => Start::Plus(self.plus.unwrap_or(0)),
        }
    }

    /// Whether BLAST+ notices that the query is cut.
    fn is_cut(self) -> bool {
        [self.plus, self.minus].iter().flatten().any(|&start| start > 0)
    }
}

/// Start of a part in the strand of an HSP.
enum Start {
    Plus(u32),
    Minus(u32),
}

/// Adds the hits of a query's next part to those of its earlier parts. Both are in ascending OID
/// order, with coordinates of the whole query.
pub(super) fn merge(old: Vec<PrelimHit>, new: Vec<PrelimHit>, starts: Starts) -> Vec<PrelimHit> {
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

/// Joins the HSPs of one subject: those that meet in the overlap become one. On the minus strand
/// the next part is before the others. But BLAST+ looks for HSPs of these near its start, not near
/// its end, so that they hardly ever meet.
fn join(mut old: PrelimHit, new: PrelimHit, starts: Starts) -> PrelimHit {
    let meet = MeetingHsps {
        reaches: |hsp: &PrelimHsp| match starts.start_for(hsp) {
            Start::Plus(start) => hsp.q_end > start,
            Start::Minus(start) => hsp.q_start < start + OVERLAP,
        },
        begins: |hsp: &PrelimHsp| match starts.start_for(hsp) {
            Start::Plus(start) => hsp.q_start < start + OVERLAP,
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
    old.hsps = joined(old.hsps, new.hsps, starts.is_cut().then_some(meet), together);
    old.evalue = order::best_evalue(old.hsps.iter().map(|hsp| hsp.evalue));
    old
}

/// Joins the HSPs of a segment of a subject that starts at `start` to those of the segments before.
/// Those that meet in the overlap become one; ungapped ones only if they are on the same diagonal.
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
    joined(old, new, Some(meet), together)
}

/// Selects the HSPs that may meet those of another chunk: of earlier chunks those that reach the
/// next one, of that those that begin in the overlap.
struct MeetingHsps<A, B> {
    reaches: A,
    begins: B,
}

/// Joins both lists. The result is in ORDER-S, with HSPs that meet as one.
fn joined(
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
    old.sort_by(order::order_s);
    old
}

/// Moves the HSPs that `wanted` accepts to the front by swapping each with the first that it
/// rejected. Returns the number of accepted HSPs.
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

/// Whether one HSP ends near the diagonal on which another begins.
fn are_near(first: &PrelimHsp, second: &PrelimHsp) -> bool {
    let end_diagonal = i64::from(first.q_end) - i64::from(first.s_end);
    let start_diagonal = i64::from(second.q_start) - i64::from(second.s_start);
    (end_diagonal - start_diagonal).abs() < CLOSE_DIAGONALS
}

/// Makes `left` the union of both if they have the same context and frame, and touch.
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
