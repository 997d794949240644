//! Encodes final alignments. From them the I/O site makes the report; it only looks up the
//! sequences.
//!
//! Scores, ranges and runs of alignment columns are encoded. Bit scores and e-values can be
//! computed from scores. They are stored only if the encoder finds that the computed value differs
//! in any bit. [`digest`] verifies that the decoded hits equal the encoded ones, also on a machine
//! with another arithmetic.

use std::ops::Range;

use fleetblast_engine::hits::{Adjustment, Alignment, Edit, EditOp, SubjectHit};
use fleetblast_seq::frame::{Frame, Strand};
use xxhash_rust::xxh3::Xxh3;

use crate::bits::{BitReader, BitWriter};
use crate::columns::{Column, ColumnReader, MOST_COLUMNS, join, split};
use crate::error::OutOfMemory;

/// Computes bit scores and e-values from scores, with the statistics of the search.
pub trait ScoreStatistics {
    /// Returns the factor by which reported scores are multiplied before e-values of a query are
    /// computed.
    fn scale(&self, query: usize) -> i32;

    /// Returns the bit score of a score, for a context of a query. `query` is its index in the
    /// block.
    fn bit_score(&self, query: usize, context: u8, score: i32) -> f64;

    /// Returns the e-value of a [scaled](Self::scale) score, for a context of a query against a
    /// subject.
    fn evalue(&self, query: usize, context: u8, oid: u32, score: i32) -> f64;
}

/// Number of joined columns.
pub(crate) const COLUMNS: usize = 16;
const _: () = assert!(COLUMNS <= MOST_COLUMNS);
/// Index of the column with the number of subjects of each query.
pub(crate) const HITS: usize = 1;
/// Index of the column with the number of alignments of each subject.
pub(crate) const ALIGNMENTS: usize = 3;
/// Index of the column with the number of runs of each alignment.
pub(crate) const RUNS: usize = 11;

/// The columns of encoded alignments, without the columns for OIDs and the number of bits of an
/// OID.
#[derive(Debug, Default)]
struct Columns<T> {
    /// Number of subjects of each query.
    hits: T,
    /// Number of alignments of each subject.
    alignments: T,
    /// Difference between the score of an alignment and that of the alignment before it.
    scores: T,
    /// Encoding of the e-value and the bit score, see [`ValueCode::to_number`].
    codes: T,
    /// E-values and bit scores that are stored, because they cannot be computed.
    reals: T,
    query_starts: T,
    subject_starts: T,
    /// Context, frame and adjustment of an alignment in one number.
    contexts: T,
    numbers: T,
    /// Number of other alignments with which an alignment shares its e-value, as a linked set.
    linked: T,
    /// Number of runs of each alignment. A run is a number of equal columns, such as gaps.
    runs: T,
    ops: T,
    /// Lengths of the runs of letter pairs.
    pairs: T,
    /// Lengths of the runs of gaps.
    gaps: T,
}

/// Encodes the hits of each query.
///
/// # Errors
/// There is not enough memory to compress the hits.
pub fn encode(
    queries: &[Vec<SubjectHit>],
    statistics: &impl ScoreStatistics,
) -> Result<Vec<u8>, OutOfMemory> {
    let mut columns: Columns<Column> = Columns::default();
    let most = queries.iter().flatten().map(|hit| hit.oid).max().unwrap_or(0);
    let width = 32 - most.leading_zeros();
    let mut oids = BitWriter::default();
    for (query, hits) in queries.iter().enumerate() {
        columns.hits.add(hits.len() as u64);
        let mut before = 0;
        for hit in hits {
            oids.add(hit.oid, width);
            columns.alignments.add(hit.alignments.len() as u64);
            for alignment in &hit.alignments {
                columns.scores.add_signed(i64::from(alignment.score) - before);
                before = i64::from(alignment.score);
                let code = ValueCode::new(query, hit.oid, alignment, statistics);
                columns.add_values(code, alignment);
                columns.add_place(alignment);
            }
        }
    }
    let mut widths = Column::default();
    widths.add(u64::from(width));
    let Columns { hits, alignments, scores, codes, reals, .. } = columns;
    let Columns { query_starts, subject_starts, contexts, numbers, linked, .. } = columns;
    let Columns { runs, ops, pairs, gaps, .. } = columns;
    let oids = Column(oids.finish());
    join::<COLUMNS>([
        widths,
        hits,
        oids,
        alignments,
        scores,
        codes,
        reals,
        query_starts,
        subject_starts,
        contexts,
        numbers,
        linked,
        runs,
        ops,
        pairs,
        gaps,
    ])
}

/// Describes how the e-value and the bit score of an alignment are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ValueCode {
    /// Number to add to the score times the scale, to get the scaled score that gives the e-value;
    /// `None` if the e-value is stored.
    offset: Option<i32>,
    /// Whether the bit score is computed. Otherwise it is stored.
    computed_bits: bool,
}

impl ValueCode {
    fn new(
        query: usize,
        oid: u32,
        alignment: &Alignment,
        statistics: &impl ScoreStatistics,
    ) -> ValueCode {
        let &Alignment { score, context, evalue, bit_score, .. } = alignment;
        let bits = statistics.bit_score(query, context, score);
        let evalue_of = |scaled| statistics.evalue(query, context, oid, scaled);
        ValueCode {
            offset: offset(score, statistics.scale(query), evalue, evalue_of),
            computed_bits: bits.to_bits() == bit_score.to_bits(),
        }
    }

    /// Returns the code as a number. Its lowest bit is set if the bit score is stored. The other
    /// bits are 0 if the e-value is stored. Otherwise they are one more than the offset, whose sign
    /// is encoded as in [`Column::add_signed`].
    fn to_number(self) -> u64 {
        let evalue = self.offset.map_or(0, |offset| (offset << 1 ^ offset >> 31) as u32 as u64 + 1);
        evalue << 1 | u64::from(!self.computed_bits)
    }

    fn from_number(number: u64) -> Option<ValueCode> {
        let offset = match number >> 1 {
            0 => None,
            encoded => {
                let encoded = u32::try_from(encoded - 1).ok()?;
                Some((encoded >> 1) as i32 ^ -((encoded & 1) as i32))
            }
        };
        Some(ValueCode { offset, computed_bits: number & 1 == 0 })
    }
}

/// Returns the number to add to the scaled score so that `evalue_of` gives exactly this e-value, or
/// `None` if there is none. It is found by bisection, since e-values fall as scores grow.
fn offset(score: i32, scale: i32, evalue: f64, evalue_of: impl Fn(i32) -> f64) -> Option<i32> {
    let middle = score.checked_mul(scale)?;
    let (mut from, mut to) = (-(scale / 2), scale / 2);
    while from < to {
        let mid = from + (to - from) / 2;
        if evalue_of(middle.checked_add(mid)?) > evalue { from = mid + 1 } else { to = mid }
    }
    (evalue_of(middle.checked_add(from)?).to_bits() == evalue.to_bits()).then_some(from)
}

impl Columns<Column> {
    fn add_values(&mut self, code: ValueCode, alignment: &Alignment) {
        self.codes.add(code.to_number());
        if code.offset.is_none() {
            self.reals.add_real(alignment.evalue);
        }
        if !code.computed_bits {
            self.reals.add_real(alignment.bit_score);
        }
    }

    fn add_place(&mut self, alignment: &Alignment) {
        self.query_starts.add(u64::from(alignment.query.start));
        self.subject_starts.add(u64::from(alignment.subject.start));
        self.contexts.add(encode_context(alignment));
        self.numbers.add(u64::from(alignment.computation_index));
        self.linked.add(u64::from(alignment.linked.saturating_sub(1)));
        self.runs.add(alignment.edits.len() as u64);
        for edit in &alignment.edits {
            self.ops.add(op_number(edit.op));
            let lengths =
                if edit.op == EditOp::Substitution { &mut self.pairs } else { &mut self.gaps };
            lengths.add(u64::from(edit.len));
        }
    }
}

fn op_number(op: EditOp) -> u64 {
    match op {
        EditOp::Substitution => 0,
        EditOp::GapInSubject => 1,
        EditOp::GapInQuery => 2,
    }
}

fn op(number: u64) -> Option<EditOp> {
    let ops = [EditOp::Substitution, EditOp::GapInSubject, EditOp::GapInQuery];
    ops.into_iter().find(|&op| op_number(op) == number)
}

/// The frames, by their numbers in the encoding.
const FRAMES: [Frame; 9] = [
    Frame::Protein,
    Frame::Strand(Strand::Plus),
    Frame::Strand(Strand::Minus),
    Frame::Codons(Strand::Plus, 0),
    Frame::Codons(Strand::Plus, 1),
    Frame::Codons(Strand::Plus, 2),
    Frame::Codons(Strand::Minus, 0),
    Frame::Codons(Strand::Minus, 1),
    Frame::Codons(Strand::Minus, 2),
];
const ADJUSTMENTS: [Adjustment; 3] = [Adjustment::None, Adjustment::Scaled, Adjustment::Matrix];

/// Encodes context, frame and adjustment of an alignment as one number.
fn encode_context(alignment: &Alignment) -> u64 {
    let frame = FRAMES.iter().position(|&frame| frame == alignment.frame).unwrap_or_default();
    let adjustment = ADJUSTMENTS.iter().position(|&kind| kind == alignment.adjustment);
    let adjustment = adjustment.unwrap_or_default();
    ((usize::from(alignment.context) * FRAMES.len() + frame) * ADJUSTMENTS.len() + adjustment)
        as u64
}

fn decode_context(number: u64) -> Option<(u8, Frame, Adjustment)> {
    let number = usize::try_from(number).ok()?;
    let (rest, adjustment) = (number / ADJUSTMENTS.len(), number % ADJUSTMENTS.len());
    let context = u8::try_from(rest / FRAMES.len()).ok()?;
    Some((context, FRAMES[rest % FRAMES.len()], ADJUSTMENTS[adjustment]))
}

/// The bounds of valid hits of a block. [`ScoreStatistics`] are computed only within them.
pub trait HitBounds {
    /// Returns the number of sequences of the database.
    fn sequences(&self) -> u32;

    /// Returns the number of contexts of a query. `query` is its index in the block.
    fn contexts(&self, query: usize) -> usize;

    /// Whether an alignment lies within its query and its subject, and has a frame that the program
    /// uses. The context of the alignment must be valid.
    fn fits(&self, query: usize, oid: u32, alignment: &Alignment) -> bool;
}

/// Decodes the hits of `queries` queries. Returns `None` for invalid bytes.
pub fn decode(
    bytes: &[u8],
    queries: usize,
    statistics: &(impl ScoreStatistics + HitBounds),
) -> Option<Vec<Vec<SubjectHit>>> {
    let [
        mut widths,
        hits,
        oids,
        alignments,
        scores,
        codes,
        reals,
        query_starts,
        subject_starts,
        contexts,
        numbers,
        linked,
        runs,
        ops,
        pairs,
        gaps,
    ] = split(bytes)?;
    let mut columns = Columns {
        hits,
        alignments,
        scores,
        codes,
        reals,
        query_starts,
        subject_starts,
        contexts,
        numbers,
        linked,
        runs,
        ops,
        pairs,
        gaps,
    };
    let width = widths.read_u32().filter(|&width| width <= 32 && widths.is_done())?;
    let mut oids = BitReader::new(oids.bytes());
    let mut all = Vec::new();
    for query in 0..queries {
        let mut hits = Vec::new();
        let mut before = 0;
        for _ in 0..columns.hits.read()? {
            let oid = oids.read(width).filter(|&oid| oid < statistics.sequences())?;
            let mut alignments = Vec::new();
            for _ in 0..columns.alignments.read()? {
                let alignment = columns.alignment(query, oid, before, statistics)?;
                statistics.fits(query, oid, &alignment).then_some(())?;
                before = i64::from(alignment.score);
                alignments.push(alignment);
            }
            // A hit without alignments is never encoded, so it is refused. Otherwise a few bytes
            // could stand for very many hits.
            (!alignments.is_empty()).then(|| hits.push(SubjectHit::new(oid, alignments)))?;
        }
        all.push(hits);
    }
    (columns.are_done() && oids.has_only_padding()).then_some(all)
}

impl Columns<ColumnReader> {
    fn alignment(
        &mut self,
        query: usize,
        oid: u32,
        before: i64,
        statistics: &(impl ScoreStatistics + HitBounds),
    ) -> Option<Alignment> {
        let score = i32::try_from(before.checked_add(self.scores.read_signed()?)?).ok()?;
        let (context, frame, adjustment) = decode_context(self.contexts.read()?)?;
        if usize::from(context) >= statistics.contexts(query) {
            return None;
        }
        let code = ValueCode::from_number(self.codes.read()?)?;
        let evalue = match code.offset {
            None => self.reals.read_real()?,
            Some(offset) => {
                let scaled = score.checked_mul(statistics.scale(query))?.checked_add(offset)?;
                statistics.evalue(query, context, oid, scaled)
            }
        };
        let bit_score = match code.computed_bits {
            false => self.reals.read_real()?,
            true => statistics.bit_score(query, context, score),
        };
        let (edits, lengths) = self.edits()?;
        let range = |start: u32, length| Some(start..start.checked_add(length)?);
        let query: Range<u32> = range(self.query_starts.read_u32()?, lengths[0])?;
        let subject: Range<u32> = range(self.subject_starts.read_u32()?, lengths[1])?;
        let computation_index = self.numbers.read_u32()?;
        let linked = self.linked.read_u32()?.checked_add(1)?;
        Some(Alignment {
            score,
            bit_score,
            evalue,
            linked,
            query,
            subject,
            context,
            frame,
            edits,
            computation_index,
            pattern_occurrence: 0,
            adjustment,
            positives: None,
            stored: None,
        })
    }

    /// Decodes the runs of an alignment. Returns them, and the numbers of letters of query and
    /// subject that they cover.
    fn edits(&mut self) -> Option<(Vec<Edit>, [u32; 2])> {
        let (mut edits, mut lengths) = (Vec::new(), [0u32; 2]);
        let runs = self.runs.read()?;
        for _ in 0..runs {
            let op = op(self.ops.read()?)?;
            let column = if op == EditOp::Substitution { &mut self.pairs } else { &mut self.gaps };
            // Ungapped searches of BLAST+ also report alignments without letters: one run of length
            // 0.
            let len = column.read_u32().filter(|&len| len > 0 || runs == 1)?;
            for (length, gap) in lengths.iter_mut().zip([EditOp::GapInQuery, EditOp::GapInSubject])
            {
                *length = length.checked_add(if op == gap { 0 } else { len })?;
            }
            edits.push(Edit { op, len });
        }
        Some((edits, lengths))
    }

    fn are_done(&self) -> bool {
        let Columns {
            hits, alignments, scores, codes, reals, query_starts, subject_starts, ..
        } = self;
        let Columns { contexts, numbers, linked, runs, ops, pairs, gaps, .. } = self;
        [
            hits,
            alignments,
            scores,
            codes,
            reals,
            query_starts,
            subject_starts,
            contexts,
            numbers,
            linked,
            runs,
            ops,
            pairs,
            gaps,
        ]
        .iter()
        .all(|column| column.is_done())
    }
}

/// Returns the fingerprint of the hits of all queries of a block. It covers every bit on which
/// reports depend.
pub fn digest(queries: &[Vec<SubjectHit>]) -> u64 {
    let mut state = Xxh3::new();
    let mut add = |value: u64| state.update(&value.to_le_bytes());
    for hits in queries {
        add(hits.len() as u64);
        for hit in hits {
            add(u64::from(hit.oid));
            add(hit.alignments.len() as u64);
            for alignment in &hit.alignments {
                add(alignment.score as u64);
                add(alignment.bit_score.to_bits());
                add(alignment.evalue.to_bits());
                for range in [&alignment.query, &alignment.subject] {
                    add(u64::from(range.start) << 32 | u64::from(range.end));
                }
                add(encode_context(alignment));
                add(u64::from(alignment.linked));
                add(alignment.edits.len() as u64);
                for edit in &alignment.edits {
                    add(u64::from(edit.len) << 2 | op_number(edit.op));
                }
            }
        }
    }
    state.digest()
}

#[cfg(test)]
mod tests;
