//! Formats the alignments of query-anchored reports (formats 1 to 4): all subjects of a query below
//! each other, as one multiple alignment (`CDisplaySeqalign::DisplaySeqalign` with `eMergeAlign`,
//! showalign.cpp).
//!
//! Each alignment of a subject has a row of its own. The query's row reaches from the first to the
//! last position that any alignment covers. A subject has an insertion where its row has residues
//! between two adjacent residues of the query. Flat reports (formats 3 and 4) open a gap in all
//! rows there. The others print the inserted residues below the row. If queries are translated,
//! there is one multiple alignment for each frame.
//!
//! The text needs all subjects of a query at once. So each subject contributes an
//! [`AnchoredSubject`] to its row of the description table, and the text is made together with the
//! table.

mod columns;
mod inserts;
mod row;

use std::collections::HashMap;
use std::ops::Range;

use fleetblast_engine::hits::{EditOp, SubjectHit};
use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::id::{self, SeqId};
use serde::{Deserialize, Serialize};

use self::columns::AlignmentColumns;
use self::row::{LineStyle, Row};
use crate::error::ReportError;
use crate::letters;
use crate::model::{AnchoredFormat, QueryResult, ReportSetup, SubjectSource};
use crate::names::{self, SubjectNames, id_label};
use crate::order::{SubjectAlignment, sort_alignments};
use crate::pair::{AlignmentRows, residues};
use crate::pairwise::subject_masks;
use crate::row_position::RowPosition;
use crate::rows::{PATTERN, pattern_line};

/// The part of a query-anchored report that depends on one subject only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnchoredSubject {
    oid: u32,
    /// The identifier by which BLAST+ names it in alignments.
    id: Option<SeqId>,
    /// The name of the subject that is printed before each of its rows.
    label: Vec<u8>,
    /// Masks that reports show, as ranges of the whole subject.
    masks: Vec<Range<u32>>,
    /// Alignments of the subject in the order of printing.
    alignments: Vec<AnchoredAlignment>,
}

/// An alignment in a query-anchored report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct AnchoredAlignment {
    pair: AlignmentRows,
    /// Number of the query's context.
    context: u8,
    /// First letter of the query's context in the alignment, 0-based.
    start: u32,
}

impl AnchoredSubject {
    /// Collects the alignments of a subject.
    ///
    /// # Errors
    /// If the subject cannot be read or does not fit its alignments.
    pub fn new(
        setup: &ReportSetup,
        query: &QueryResult,
        source: &dyn SubjectSource,
        hit: &SubjectHit,
        names: &SubjectNames,
    ) -> Result<Self, ReportError> {
        let alignment = |(oid, alignment): SubjectAlignment| {
            let pair = AlignmentRows::new(query, source, oid, alignment)?;
            let (context, start) = (alignment.context, alignment.query.start);
            Ok(AnchoredAlignment { pair, context, start })
        };
        let alignments = sort_alignments(setup, query, source, hit)?.into_iter().map(alignment);
        let alignments = alignments.collect::<Result<Vec<_>, ReportError>>()?;
        let pairs = alignments.iter().map(|it| &it.pair);
        Ok(Self {
            oid: hit.oid,
            id: names.alignment_id().cloned(),
            label: label(&names.chosen_defline().ids, setup.output.show_gis),
            masks: subject_masks(setup, source, hit.oid, names, pairs),
            alignments,
        })
    }
}

/// Returns the name that is printed before the rows of a sequence: the accession of the identifier
/// that the pairwise report shows, or the gi (`x_FillSeqid`, showalign.cpp).
fn label(ids: &[SeqId], show_gis: bool) -> Vec<u8> {
    match id::first_gi(ids) {
        gi @ 1.. if show_gis => gi.to_string().into_bytes(),
        _ => id::choose_report_id(ids).map_or_else(Vec::new, |id| id_label(id, true)),
    }
}

/// Returns the name that is printed before the query's row.
fn query_label(setup: &ReportSetup, query: &QueryResult) -> Vec<u8> {
    match query.ids {
        [] => id_label(&names::sequence_id(query), true),
        ids => label(ids, setup.output.show_gis),
    }
}

/// Appends the multiple alignments of a query. `subjects` has all subjects in the order of
/// printing; those after the first `-num_alignments` are left out.
///
/// # Errors
/// If an alignment does not fit the query.
pub fn alignments<'a>(
    setup: &ReportSetup,
    format: AnchoredFormat,
    query: &QueryResult,
    subjects: impl Iterator<Item = &'a AnchoredSubject>,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    let subjects: Vec<_> = subjects.take(setup.output.num_alignments).collect();
    if subjects.is_empty() {
        return Ok(());
    }
    out.push(b'\n');
    let frames = [1, 2, 3, -1, -2, -3].map(|number| (number, aligned_rows(&subjects, number)));
    let several = frames.iter().filter(|(_, rows)| !rows.is_empty()).count() > 1;
    for (number, rows) in &frames {
        if rows.is_empty() {
            continue;
        }
        if several {
            let line = format!("For reading frame {number:+} of query sequence:\n\n");
            out.extend_from_slice(line.as_bytes());
        }
        multiple_alignment(setup, format, query, rows, out)?;
    }
    Ok(())
}

/// An alignment with its subject.
type AlignedRow<'a> = (&'a AnchoredSubject, &'a AnchoredAlignment);

/// Returns the alignments whose query is in the frame `number`, in the order of their rows. Queries
/// that are not translated count as frame 1.
///
/// The alignments of a subject are sorted by their longest run of columns without a gap, which
/// BLAST+ merges first (`CAlnMixMatches::SortByScore`, alnmatch.cpp). Subjects of the same
/// identifier are one sequence to BLAST+.
fn aligned_rows<'a>(subjects: &[&'a AnchoredSubject], number: i8) -> Vec<AlignedRow<'a>> {
    let mut sequences: Vec<(&AnchoredSubject, Vec<&AnchoredAlignment>)> = Vec::new();
    let mut places = HashMap::new();
    for &subject in subjects {
        let aligned = subject.alignments.iter().filter(|it| it.frame_number() == number);
        let known = subject.id.as_ref().and_then(|id| places.get(id));
        match known.and_then(|&place: &usize| sequences.get_mut(place)) {
            Some((_, earlier)) => earlier.extend(aligned),
            None => {
                places.extend(subject.id.as_ref().map(|id| (id, sequences.len())));
                sequences.push((subject, aligned.collect()));
            }
        }
    }
    let mut rows = Vec::new();
    for (subject, mut aligned) in sequences {
        // BLAST+ cannot merge translations of both strands of a subject with a translated query,
        // and leaves out those of the other strand (`CAlnMixMatches::Add`, alnmatch.cpp).
        if let Some(strand) = aligned.first().and_then(|first| first.codon_strand()) {
            aligned.retain(|it| it.codon_strand() == Some(strand));
        }
        aligned.sort_by_key(|it| std::cmp::Reverse(it.longest_run()));
        rows.extend(aligned.into_iter().map(|it| (subject, it)));
    }
    rows
}

impl AnchoredAlignment {
    /// Returns the number of the query's frame, 1 if it is not translated.
    fn frame_number(&self) -> i8 {
        match self.pair.positions.query.frame {
            frame @ Frame::Codons(..) => frame.number(),
            Frame::Protein | Frame::Strand(_) => 1,
        }
    }

    /// Whether the edits have as many letters of the query as the range of the query's row. An
    /// alignment from another rank could contradict itself.
    fn fits_query(&self) -> bool {
        let letters = self.pair.edits.iter().map(|edit| residues(edit).0);
        letters.sum::<usize>() == self.pair.positions.query.frame_range.len()
    }

    /// Returns the strand of the subject if both sequences are translated.
    fn codon_strand(&self) -> Option<Strand> {
        match (self.pair.positions.query.frame, self.pair.positions.subject.frame) {
            (Frame::Codons(..), Frame::Codons(strand, _)) => Some(strand),
            _ => None,
        }
    }

    fn longest_run(&self) -> u32 {
        let runs = self.pair.edits.iter().filter(|edit| edit.op == EditOp::Substitution);
        runs.map(|edit| edit.len).max().unwrap_or(0)
    }
}

/// Appends one multiple alignment.
fn multiple_alignment(
    setup: &ReportSetup,
    format: AnchoredFormat,
    query: &QueryResult,
    aligned: &[AlignedRow],
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    let (position, letters) = query_position(query, aligned)?;
    let columns =
        AlignmentColumns::new(format.flat, &position, aligned.iter().map(|(_, it)| &it.pair));
    let mut query_row = Row::of_query(&columns, query_label(setup, query), position, letters);
    let masks = query.own_masks(aligned[0].1.context, query_row.position.frame);
    query_row.masks =
        masks.iter().filter_map(|mask| query_row.columns_of(mask, &columns)).collect();
    let mut rows = vec![query_row];
    rows.extend(subject_rows(aligned, &columns));
    let pattern = query.occurrence().and_then(|it| rows[0].columns_of(it.place(), &columns));
    let mut name = rows.iter().map(|row| row.label.len()).max().unwrap_or(0);
    if pattern.is_some() {
        name = name.max(PATTERN.len());
    }
    let digits = rows.iter().map(Row::position_width).max().unwrap_or(0);
    let style = LineStyle { name, digits, html: setup.output.html, dots: format.dots };
    let length = setup.output.line_length.max(1);
    for start in (0..columns.count()).step_by(length) {
        let line = start..(start + length).min(columns.count());
        if let Some(pattern) = &pattern {
            pattern_line(pattern, &line, (name, digits), out);
        }
        for (number, row) in rows.iter().enumerate().filter(|(_, row)| row.reaches(&line)) {
            row.line(&line, &style, (number > 0).then_some(&rows[0]), out);
            if !format.flat {
                inserts::lines(row, (&line, length), style.margin(), out);
            }
        }
        out.push(b'\n');
    }
    Ok(())
}

/// Makes the rows of all subjects, with their masks. BLAST+ locates a mask in the first row that it
/// overlaps, and marks the same columns in the subject's other rows (`x_FillLocList`,
/// showalign.cpp).
fn subject_rows(aligned: &[AlignedRow], columns: &AlignmentColumns) -> Vec<Row> {
    let mut all = Vec::with_capacity(aligned.len());
    for same_subject in aligned.chunk_by(|a, b| std::ptr::eq(a.0, b.0)) {
        let AnchoredSubject { label, masks, .. } = same_subject[0].0;
        let rows = same_subject.iter().map(|(_, it)| Row::of_subject(columns, label, &it.pair));
        let mut rows: Vec<Row> = rows.collect();
        let first = |mask| rows.iter().find_map(|row| row.columns_of(mask, columns));
        let masked: Vec<_> = masks.iter().filter_map(first).collect();
        rows.iter_mut().for_each(|row| row.masks.clone_from(&masked));
        all.append(&mut rows);
    }
    all
}

/// Returns the position of the query's row, and the letters of this row.
fn query_position(
    query: &QueryResult,
    aligned: &[AlignedRow],
) -> Result<(RowPosition, Vec<u8>), ReportError> {
    if let Some((subject, it)) = aligned.iter().find(|(_, it)| !it.fits_query()) {
        let position = &it.pair.positions;
        let (query, first) = (it.start, position.subject.frame_range.start);
        return Err(ReportError::Alignment { oid: subject.oid, query, subject: first });
    }
    let (subject, first) = aligned[0];
    let mut position = first.pair.positions.query.clone();
    let start = position.frame_range.start;
    for (_, it) in aligned {
        let RowPosition { frame_range, sequence_range, .. } = &it.pair.positions.query;
        position.frame_range = union(&position.frame_range, frame_range);
        position.sequence_range = union(&position.sequence_range, sequence_range);
    }
    let in_context = |letter: u32| first.start.wrapping_add(letter).wrapping_sub(start);
    let codes = query.letters(first.context, &position, in_context);
    let codes = codes.ok_or(ReportError::Alignment {
        oid: subject.oid,
        query: first.start,
        subject: first.pair.positions.subject.frame_range.start,
    })?;
    let alphabet = letters::frame_letters(position.frame);
    let letters = codes.iter().map(|&code| alphabet[usize::from(code)]).collect();
    Ok((position, letters))
}

/// Returns the range from the first to the last element of both ranges.
fn union(a: &Range<u32>, b: &Range<u32>) -> Range<u32> {
    a.start.min(b.start)..a.end.max(b.end)
}
