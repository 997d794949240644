//! Final alignments, for another site that only looks the sequences up.
//!
//! Scores and ranges are told, columns as runs; bit scores and e-values are computed again where the two sites' arithmetic gives the
//! very same bits, which is known when they are written, and told as they are elsewhere. [`digest`] tells whether what comes out is
//! what went in, also where another machine computes otherwise.

use std::ops::Range;

use fleetblast_engine::hits::{Adjustment, Alignment, Edit, EditOp, SubjectHit};
use fleetblast_seq::frame::{Frame, Strand};
use xxhash_rust::xxh3::Xxh3;

use crate::bits::{BitReader, BitWriter};
use crate::columns::{Column, MOST_COLUMNS, Reading, join, part};
use crate::error::NoRoom;

/// What alignments are worth, by the statistics of the search.
pub trait Worth {
    /// How much finer the scores are from which e-values of a query's alignments are computed than those that are reported.
    fn scale(&self, query: usize) -> i32;

    /// The bit score of a score, in a context of a query of the block.
    fn bit_score(&self, query: usize, context: u8, score: i32) -> f64;

    /// The e-value of a [finer](Self::scale) score against a subject.
    fn evalue(&self, query: usize, context: u8, oid: u32, score: i32) -> f64;
}

/// How many columns there are.
pub(crate) const COLUMNS: usize = 15;
const _: () = assert!(COLUMNS <= MOST_COLUMNS);
/// The column with the number of each query's subjects.
pub(crate) const HITS: usize = 1;
/// The column with the number of each subject's alignments.
pub(crate) const ALIGNMENTS: usize = 3;
/// The column with the number of each alignment's runs.
pub(crate) const RUNS: usize = 11;

/// The columns of alignments.
#[derive(Debug, Default)]
struct Columns<T> {
    /// Subjects of each query.
    hits: T,
    /// Alignments of each subject.
    alignments: T,
    /// Score less that of the alignment before.
    scores: T,
    /// How the e-value is told, and whether the bit score is, see [`Values::code`].
    codes: T,
    /// E-values and bit scores that are told.
    reals: T,
    query_starts: T,
    subject_starts: T,
    /// Context, frame and adjustment.
    readings: T,
    numbers: T,
    /// Runs of columns of each alignment.
    runs: T,
    ops: T,
    /// Lengths of runs of pairs, and of gaps.
    pairs: T,
    gaps: T,
}

/// The hits of each query as bytes.
///
/// # Errors
/// No memory.
pub fn encode(queries: &[Vec<SubjectHit>], worth: &impl Worth) -> Result<Vec<u8>, NoRoom> {
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
                columns.add_values(Values::of(query, hit.oid, alignment, worth), alignment);
                columns.add_place(alignment);
            }
        }
    }
    let mut widths = Column::default();
    widths.add(u64::from(width));
    let Columns { hits, alignments, scores, codes, reals, .. } = columns;
    let Columns { query_starts, subject_starts, readings, numbers, .. } = columns;
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
        readings,
        numbers,
        runs,
        ops,
        pairs,
        gaps,
    ])
}

/// How the e-value and the bit score of an alignment are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Values {
    /// What to add to the finer score from which the e-value is computed; `None` where the e-value is told as it is.
    offset: Option<i32>,
    /// The bit score is computed.
    computed_bits: bool,
}

impl Values {
    fn of(query: usize, oid: u32, alignment: &Alignment, worth: &impl Worth) -> Values {
        let &Alignment { score, context, evalue, bit_score, .. } = alignment;
        let bits = worth.bit_score(query, context, score);
        let evalue_of = |finer| worth.evalue(query, context, oid, finer);
        Values {
            offset: offset(score, worth.scale(query), evalue, evalue_of),
            computed_bits: bits.to_bits() == bit_score.to_bits(),
        }
    }

    /// As a number: the lowest bit for the bit score, the rest 0 for a told e-value and else one more than the offset, signed as in
    /// columns.
    fn code(self) -> u64 {
        let evalue = self.offset.map_or(0, |offset| (offset << 1 ^ offset >> 31) as u32 as u64 + 1);
        evalue << 1 | u64::from(!self.computed_bits)
    }

    fn of_code(code: u64) -> Option<Values> {
        let offset = match code >> 1 {
            0 => None,
            told => {
                let told = u32::try_from(told - 1).ok()?;
                Some((told >> 1) as i32 ^ -((told & 1) as i32))
            }
        };
        Some(Values { offset, computed_bits: code & 1 == 0 })
    }
}

/// What to add to the score, made finer, to get an e-value: e-values fall with the score.
fn offset(score: i32, scale: i32, evalue: f64, evalue_of: impl Fn(i32) -> f64) -> Option<i32> {
    let middle = score.checked_mul(scale)?;
    let (mut from, mut to) = (-(scale / 2), scale / 2);
    while from < to {
        let at = from + (to - from) / 2;
        if evalue_of(middle.checked_add(at)?) > evalue { from = at + 1 } else { to = at }
    }
    (evalue_of(middle.checked_add(from)?).to_bits() == evalue.to_bits()).then_some(from)
}

impl Columns<Column> {
    fn add_values(&mut self, values: Values, alignment: &Alignment) {
        self.codes.add(values.code());
        if values.offset.is_none() {
            self.reals.add_real(alignment.evalue);
        }
        if !values.computed_bits {
            self.reals.add_real(alignment.bit_score);
        }
    }

    fn add_place(&mut self, alignment: &Alignment) {
        self.query_starts.add(u64::from(alignment.query.start));
        self.subject_starts.add(u64::from(alignment.subject.start));
        self.readings.add(reading(alignment));
        self.numbers.add(u64::from(alignment.number));
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

/// Frames by their numbers here.
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

/// Context, frame and adjustment in one number.
fn reading(alignment: &Alignment) -> u64 {
    let frame = FRAMES.iter().position(|&frame| frame == alignment.frame).unwrap_or_default();
    let adjustment = ADJUSTMENTS.iter().position(|&kind| kind == alignment.adjustment);
    let adjustment = adjustment.unwrap_or_default();
    ((usize::from(alignment.context) * FRAMES.len() + frame) * ADJUSTMENTS.len() + adjustment)
        as u64
}

fn reading_of(number: u64) -> Option<(u8, Frame, Adjustment)> {
    let number = usize::try_from(number).ok()?;
    let (rest, adjustment) = (number / ADJUSTMENTS.len(), number % ADJUSTMENTS.len());
    let context = u8::try_from(rest / FRAMES.len()).ok()?;
    Some((context, FRAMES[rest % FRAMES.len()], ADJUSTMENTS[adjustment]))
}

/// Whether a hit can be of this block: [`Worth`] is asked only then.
pub trait Bounds {
    /// Sequences of the database.
    fn sequences(&self) -> u32;

    /// Contexts of a query of the block.
    fn contexts(&self, query: usize) -> usize;

    /// Whether an alignment, in one of these contexts, lies within query and subject and is read as the program reads them.
    fn fits(&self, query: usize, oid: u32, alignment: &Alignment) -> bool;
}

/// The hits of so many queries; `None` for bytes that are not those of so many.
pub fn decode(
    bytes: &[u8],
    queries: usize,
    worth: &(impl Worth + Bounds),
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
        readings,
        numbers,
        runs,
        ops,
        pairs,
        gaps,
    ] = part(bytes)?;
    let mut columns = Columns {
        hits,
        alignments,
        scores,
        codes,
        reals,
        query_starts,
        subject_starts,
        readings,
        numbers,
        runs,
        ops,
        pairs,
        gaps,
    };
    let width = widths.take_u32().filter(|&width| width <= 32 && widths.is_done())?;
    let mut oids = BitReader::new(oids.bytes());
    let mut all = Vec::new();
    for query in 0..queries {
        let mut found = Vec::new();
        let mut before = 0;
        for _ in 0..columns.hits.take()? {
            let oid = oids.take(width).filter(|&oid| oid < worth.sequences())?;
            let mut alignments = Vec::new();
            for _ in 0..columns.alignments.take()? {
                let alignment = columns.alignment(query, oid, before, worth)?;
                worth.fits(query, oid, &alignment).then_some(())?;
                before = i64::from(alignment.score);
                alignments.push(alignment);
            }
            // A hit without alignments takes no bytes but its own: none is written.
            (!alignments.is_empty()).then(|| found.push(SubjectHit { oid, alignments }))?;
        }
        all.push(found);
    }
    (columns.are_done() && oids.ends()).then_some(all)
}

impl Columns<Reading> {
    fn alignment(
        &mut self,
        query: usize,
        oid: u32,
        before: i64,
        worth: &(impl Worth + Bounds),
    ) -> Option<Alignment> {
        let score = i32::try_from(before.checked_add(self.scores.take_signed()?)?).ok()?;
        let (context, frame, adjustment) = reading_of(self.readings.take()?)?;
        if usize::from(context) >= worth.contexts(query) {
            return None;
        }
        let values = Values::of_code(self.codes.take()?)?;
        let evalue = match values.offset {
            None => self.reals.take_real()?,
            Some(offset) => {
                let finer = score.checked_mul(worth.scale(query))?.checked_add(offset)?;
                worth.evalue(query, context, oid, finer)
            }
        };
        let bit_score = match values.computed_bits {
            false => self.reals.take_real()?,
            true => worth.bit_score(query, context, score),
        };
        let (edits, lengths) = self.edits()?;
        let range = |start: u32, length| Some(start..start.checked_add(length)?);
        let query: Range<u32> = range(self.query_starts.take_u32()?, lengths[0])?;
        let subject: Range<u32> = range(self.subject_starts.take_u32()?, lengths[1])?;
        let number = self.numbers.take_u32()?;
        Some(Alignment {
            score,
            bit_score,
            evalue,
            linked: 1,
            query,
            subject,
            context,
            frame,
            edits,
            number,
            occurrence: 0,
            adjustment,
        })
    }

    /// Runs of columns, and the letters of query and subject in them.
    fn edits(&mut self) -> Option<(Vec<Edit>, [u32; 2])> {
        let (mut edits, mut lengths) = (Vec::new(), [0u32; 2]);
        let runs = self.runs.take()?;
        for _ in 0..runs {
            let op = op(self.ops.take()?)?;
            let column = if op == EditOp::Substitution { &mut self.pairs } else { &mut self.gaps };
            // Without gaps BLAST+ has alignments of no letters at all, too: one run of nothing.
            let len = column.take_u32().filter(|&len| len > 0 || runs == 1)?;
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
        let Columns { readings, numbers, runs, ops, pairs, gaps, .. } = self;
        [
            hits,
            alignments,
            scores,
            codes,
            reals,
            query_starts,
            subject_starts,
            readings,
            numbers,
            runs,
            ops,
            pairs,
            gaps,
        ]
        .iter()
        .all(|column| column.is_done())
    }
}

/// A fingerprint of the hits of all queries of a block, with every bit of what is reported of them.
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
                add(reading(alignment));
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
