//! Formats SAM (format 17; sam_formatter.cpp). Either queries are the references, to which subjects
//! are aligned, or the other way round.

use std::collections::HashSet;
use std::ops::Range;

use fleetblast_engine::hits::{Alignment, Edit, EditOp, SubjectHit};
use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::nucleotide::blastna;
use serde::{Deserialize, Serialize};

use crate::alignment_positions::AlignmentPositions;
use crate::error::ReportError;
use crate::model::{QueryResult, ReportSetup, SamOptions, SubjectSource};
use crate::names::{self, SubjectNames};
use crate::number;
use crate::order;
use crate::pair::AlignmentRows;
use crate::row_position::RowPosition;

/// A reference sequence of the SAM header, identified by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamReference {
    name: Vec<u8>,
    length: u32,
}

impl SamReference {
    /// Appends the header line of the reference.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(REFERENCE);
        out.extend_from_slice(&self.name);
        out.extend_from_slice(format!("\tLN:{}\n", self.length).as_bytes());
    }
}

/// Start of the header line of a reference. The line of an alignment cannot start with it: its
/// second field is a number, the flags.
const REFERENCE: &[u8] = b"@SQ\tSN:";

/// The sort key and the reference of an alignment's line. The rank that writes the report needs
/// them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamSortKey {
    /// The reference, which the header must name.
    pub reference: SamReference,
    /// The base of the query by which BLAST+ sorts the line, 0-based.
    start: u32,
    evalue: f64,
}

/// The line of one or more alignments of a subject, with its sort key.
#[derive(Clone, Debug, PartialEq)]
pub struct SamRecord {
    /// The sort key and the reference.
    pub key: SamSortKey,
    /// The text of the line with its line end.
    pub line: Vec<u8>,
}

impl SamRecord {
    /// Appends the line.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.line);
    }
}

/// The header of the SAM report: a first line, lines of references, and a last line. It is empty if
/// no query has alignments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamHeader {
    first: Vec<u8>,
    last: Vec<u8>,
    /// The lines of all references, without duplicates.
    references: Vec<u8>,
    named: HashSet<Vec<u8>>,
}

impl SamHeader {
    /// Creates a header without references.
    pub fn new(setup: &ReportSetup, options: &SamOptions) -> SamHeader {
        let first: &[u8] = match options.subjects_are_references {
            true => b"@HD\tVN:1.2\tGO:query\n",
            false => b"@HD\tVN:1.2\tSO:coordinate\tGO:reference\n",
        };
        let version = setup.params.common().release.version;
        let mut last = format!("@PG\tID:0\tVN:{version}+\tCL:").into_bytes();
        last.extend_from_slice(&options.command);
        last.extend_from_slice(format!("\tPN:{}\n", setup.program.name()).as_bytes());
        SamHeader::from_first_and_last(first, &last)
    }

    /// Makes a header without references from its first and last lines.
    pub fn from_first_and_last(first: &[u8], last: &[u8]) -> SamHeader {
        let (first, last) = (first.to_vec(), last.to_vec());
        SamHeader { first, last, references: Vec::new(), named: HashSet::new() }
    }

    /// Adds a reference, unless the header has one of the same name.
    pub fn add_reference(&mut self, reference: &SamReference) {
        if !self.named.contains(&reference.name) {
            self.named.insert(reference.name.clone());
            reference.write(&mut self.references);
        }
    }

    /// Adds `line` if it is the header line of a reference that the header lacks. Returns false if
    /// it is the line of an alignment.
    pub fn add_line(&mut self, line: &[u8]) -> bool {
        let Some(rest) = line.strip_prefix(REFERENCE) else { return false };
        let name = rest.split(|&byte| byte == b'\t').next().unwrap_or_default();
        if !self.named.contains(name) {
            self.named.insert(name.to_vec());
            self.references.extend_from_slice(line);
        }
        true
    }

    /// Returns the lines of the references.
    pub fn reference_lines(&self) -> &[u8] {
        &self.references
    }

    /// Returns all lines of the header; nothing without references.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self.named.is_empty() {
            true => Vec::new(),
            false => [&self.first[..], &self.references, &self.last].concat(),
        }
    }
}

/// Sorts the records of all subjects of a query from the order of the hit list into the order of
/// printing. `key` returns the sort key of a record.
pub fn sort_records<T>(options: &SamOptions, records: &mut [T], key: impl Fn(&T) -> &SamSortKey) {
    if !options.subjects_are_references {
        records.sort_by(|a, b| {
            let (a, b) = (key(a), key(b));
            a.start.cmp(&b.start).then(a.evalue.total_cmp(&b.evalue))
        });
    }
}

/// Makes the records of a subject: one for each alignment, or a single one for all alignments of an
/// ungapped search.
///
/// # Errors
/// If the subject cannot be read or does not fit its alignments.
pub fn subject_records(
    setup: &ReportSetup,
    options: &SamOptions,
    query: &QueryResult,
    source: &dyn SubjectSource,
    hit: &SubjectHit,
) -> Result<Vec<SamRecord>, ReportError> {
    let subject = SubjectNames::read(setup, source, hit.oid)?;
    let names = [names::sam_query_name(setup, query), subject.sam_name()];
    let together = if setup.params.common().ungapped { hit.alignments.len().max(1) } else { 1 };
    let groups = hit.alignments.chunks(together);
    let record = |alignments| {
        let group = Group::new(query, source, hit.oid, alignments)?;
        group.record(setup, options, query, source, &names)
    };
    groups.map(record).collect()
}

/// The alignments of one record; several only after an ungapped search.
struct Group<'a> {
    oid: u32,
    first: &'a Alignment,
    last: &'a Alignment,
    /// The e-value of the first alignment that is not part of a linked set.
    own_evalue: Option<f64>,
    positions: Vec<AlignmentPositions>,
    /// The edits of all alignments, in the order of the query.
    edits: Vec<Edit>,
}

impl<'a> Group<'a> {
    fn new(
        query: &QueryResult,
        source: &dyn SubjectSource,
        oid: u32,
        alignments: &'a [Alignment],
    ) -> Result<Self, ReportError> {
        let pairs =
            alignments.iter().map(|alignment| AlignmentRows::new(query, source, oid, alignment));
        let (mut positions, mut edits) = (Vec::new(), Vec::new());
        for pair in pairs.collect::<Result<Vec<_>, _>>()? {
            positions.push(pair.positions);
            edits.extend(pair.edits);
        }
        let [first, last] = [&alignments[0], &alignments[alignments.len() - 1]];
        let own = alignments.iter().find(|alignment| alignment.linked <= 1);
        let own_evalue = own.map(|alignment| alignment.evalue);
        Ok(Self { oid, first, last, own_evalue, positions, edits })
    }

    fn record(
        &self,
        setup: &ReportSetup,
        options: &SamOptions,
        query: &QueryResult,
        source: &dyn SubjectSource,
        names: &[Vec<u8>; 2],
    ) -> Result<SamRecord, ReportError> {
        let lengths = [query.residues.len() as u32, source.shown_length(self.oid)];
        let spans =
            [self.span(|positions| &positions.query), self.span(|positions| &positions.subject)];
        let (reference, target) = if options.subjects_are_references { (1, 0) } else { (0, 1) };
        let clips = [spans[target].start, lengths[target].saturating_sub(spans[target].end)];
        let letters = match (options.letters, target) {
            (false, _) => b"*".to_vec(),
            (true, 0) => self.query_letters(query, &spans[0])?,
            (true, _) => self.subject_letters(source, &spans[1])?,
        };
        let flags = if self.is_reversed() { 16 } else { 0 };
        let position = spans[reference].start + 1;
        let mut line = names[target].clone();
        line.extend_from_slice(format!("\t{flags}\t").as_bytes());
        line.extend_from_slice(&names[reference]);
        let cigar = self.cigar(options, clips);
        line.extend_from_slice(format!("\t{position}\t255\t{cigar}\t*\t0\t0\t").as_bytes());
        line.extend(letters);
        let identities =
            order::stated_matches(setup, query, source, self.oid, self.first)?.identities;
        line.extend_from_slice(format!("\t*{}\n", self.tags(identities)).as_bytes());
        let reference = SamReference { name: names[reference].clone(), length: lengths[reference] };
        // BLAST+ sorts by the e-value of the last alignment.
        let evalue = number::stored_evalue(self.last.evalue);
        Ok(SamRecord { key: SamSortKey { reference, start: self.start(), evalue }, line })
    }

    /// Whether query and subject are aligned on different strands. If the alignments differ in
    /// this, the first one decides.
    fn is_reversed(&self) -> bool {
        self.positions[0].subject_strand() == Some(Strand::Minus)
    }

    /// Returns the range of a sequence from the first base of any alignment to the last. `position`
    /// selects the sequence.
    fn span(&self, position: fn(&AlignmentPositions) -> &RowPosition) -> Range<u32> {
        let covered = || self.positions.iter().map(|positions| &position(positions).sequence_range);
        let start = covered().map(|range| range.start).min().unwrap_or(0);
        start..covered().map(|range| range.end).max().unwrap_or(start)
    }

    /// Returns the position in the query by which BLAST+ sorts the record, 0-based. BLAST+ assumes
    /// that the first alignment has the lowest positions and the last one the highest, or the
    /// reverse if query and subject are on different strands.
    fn start(&self) -> u32 {
        let [first, last] = [&self.positions[0], &self.positions[self.positions.len() - 1]];
        let [begin, end] = if self.is_reversed() { [last, first] } else { [first, last] };
        // An alignment without columns can end where the query begins.
        begin.query.sequence_range.start.min(end.query.sequence_range.end.saturating_sub(1))
    }

    /// Returns the CIGAR string along the reference. `clips` are the numbers of letters of the
    /// aligned sequence before and after the alignments, which become hard clips.
    fn cigar(&self, options: &SamOptions, clips: [u32; 2]) -> String {
        let extra =
            if options.subjects_are_references { EditOp::GapInSubject } else { EditOp::GapInQuery };
        let kind = |op| match op {
            EditOp::Substitution => 'M',
            op if op == extra => 'I',
            _ => 'D',
        };
        let mut runs: Vec<(u32, char)> = Vec::new();
        for edit in &self.edits {
            match runs.last_mut() {
                Some((length, last)) if *last == kind(edit.op) => *length += edit.len,
                _ => runs.push((edit.len, kind(edit.op))),
            }
        }
        if options.subjects_are_references && self.is_reversed() {
            runs.reverse();
        }
        let [mut before, mut after] = clips;
        if self.is_reversed() {
            (before, after) = (after, before);
        }
        let all = [(before, 'H')].into_iter().chain(runs).chain([(after, 'H')]);
        all.filter(|(length, _)| *length > 0)
            .map(|(length, kind)| format!("{length}{kind}"))
            .collect()
    }

    /// Returns the query's letters in the range `span`, in the direction of the subject.
    fn query_letters(
        &self,
        query: &QueryResult,
        span: &Range<u32>,
    ) -> Result<Vec<u8>, ReportError> {
        let codes = query.residues.get(span.start as usize..span.end as usize);
        let codes = codes.ok_or_else(|| ReportError::misfit(self.oid, self.first))?;
        Ok(match self.is_reversed() {
            true => to_letters(&blastna::reverse_complement(codes)),
            false => to_letters(codes),
        })
    }

    /// Returns the subject's letters in the range `span`, in the direction of the query.
    fn subject_letters(
        &self,
        source: &dyn SubjectSource,
        span: &Range<u32>,
    ) -> Result<Vec<u8>, ReportError> {
        let length = source.extent(self.oid).length;
        let (strand, read) = match self.is_reversed() {
            true => (Strand::Minus, length - span.end..length - span.start),
            false => (Strand::Plus, span.clone()),
        };
        let codes = source.report_letters(self.oid, Frame::Strand(strand), read);
        let mut letters =
            to_letters(&codes.ok_or_else(|| ReportError::misfit(self.oid, self.first))?);
        if source.shares_identifiers() {
            // The shown sequence may end before the alignment.
            letters.truncate(
                letters.iter().rposition(|&letter| letter != b'-').map_or(0, |at| at + 1),
            );
        }
        Ok(letters)
    }

    /// Returns the optional fields of a line. They are the scores of the first alignment, the
    /// number of columns with a gap, and the percentage of identical letters in the other columns.
    fn tags(&self, identities: usize) -> String {
        let count = |is_gap: bool| {
            let edits = self.edits.iter();
            let edits = edits.filter(|edit| (edit.op != EditOp::Substitution) == is_gap);
            edits.map(|edit| edit.len as usize).sum::<usize>()
        };
        let (gaps, paired) = (count(true), count(false));
        let share = match identities == paired {
            true => 100.0,
            false => (100.0 * identities as f64 / paired as f64).min(99.99),
        };
        let six = |value| number::general(value, 6, false);
        // BLAST+ stores the e-value of a linked set under another name, so the line lacks it.
        let evalue = self.own_evalue.map(|value| six(number::stored_evalue(value)));
        let evalue = evalue.map_or_else(String::new, |value| format!("\tEV:f:{value}"));
        let bits = six(self.first.bit_score);
        let score = self.first.score;
        format!("\tAS:i:{score}{evalue}\tNM:i:{gaps}\tPI:f:{share:.2}\tBS:f:{bits}")
    }
}

/// Converts blastna codes to letters.
fn to_letters(codes: &[u8]) -> Vec<u8> {
    codes.iter().map(|&code| blastna::LETTERS[usize::from(code) % blastna::SIZE]).collect()
}
