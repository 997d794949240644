//! Formats the description table of the pairwise and query-anchored reports: one line for each
//! subject.
//!
//! A row's fields depend on its subject only. The widths of the columns depend on all rows
//! (`CShowBlastDefline`, showdefline.cpp).

use fleetblast_engine::hits::SubjectHit;
use fleetblast_seq::id::{self, SeqId};
use serde::{Deserialize, Serialize};

use crate::anchored::AnchoredSubject;
use crate::error::ReportError;
use crate::links::LinkPlace;
use crate::model::{Format, QueryResult, RepeatedSearch, ReportSetup, SubjectSource};
use crate::names::{SubjectNames, is_bare_number};
use crate::number;
use crate::order::SubjectScores;
use crate::organism::OrganismRow;
use crate::program;
use crate::text::{self, TEXT_WIDTH};

/// The description of a subject in the text before the subjects of a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DescriptionRow {
    /// A row of the description table.
    Table(TableRow),
    /// The lines of the organism report.
    Organisms(OrganismRow),
}

impl DescriptionRow {
    pub(crate) fn as_table_row(&self) -> Option<&TableRow> {
        match self {
            DescriptionRow::Table(row) => Some(row),
            DescriptionRow::Organisms(_) => None,
        }
    }

    pub(crate) fn as_organism_row(&self) -> Option<&OrganismRow> {
        match self {
            DescriptionRow::Table(_) => None,
            DescriptionRow::Organisms(row) => Some(row),
        }
    }
}

/// The fields of a row of the description table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    /// The scores of the subject.
    pub scores: SubjectScores,
    /// OID of the subject.
    oid: u32,
    /// Number of alignments of the subject.
    alignments: usize,
    /// The identifiers that the row shows before the title, with the separators after them.
    name: Vec<u8>,
    /// The tidied title, with any blanks that precede it.
    title: Vec<u8>,
    /// HTML anchor of the subject's alignments.
    anchor: Vec<u8>,
    /// The identifiers and the accession of the subject, from which its link to NCBI's pages is
    /// made.
    linked: (Vec<SeqId>, Vec<u8>),
    /// The subject's alignments in a query-anchored report; empty in other formats.
    pub(crate) anchored: AnchoredSubject,
}

impl TableRow {
    /// Creates the row of a subject.
    ///
    /// # Errors
    /// If the subject's definition lines cannot be read, or an alignment does not fit it.
    pub fn new(
        setup: &ReportSetup,
        query: &QueryResult,
        source: &dyn SubjectSource,
        hit: &SubjectHit,
    ) -> Result<Self, ReportError> {
        let subject = SubjectNames::read(setup, source, hit.oid)?;
        let ids = &subject.chosen_defline().ids;
        let gi = id::first_gi(ids);
        let shown = id::choose_report_id(ids);
        let accession = shown.map_or_else(Vec::new, SeqId::accession_version);
        let mut name = Vec::new();
        let show_gis = setup.output.show_gis;
        if show_gis && gi > 0 {
            name.extend_from_slice(format!("gi|{gi}|").as_bytes());
        }
        // If the row shows a gi, two blanks precede the title. Otherwise `identifier` appends any
        // blank.
        let mut title = if name.is_empty() { Vec::new() } else { b"  ".to_vec() };
        if let Some(id) = shown.filter(|id| !is_bare_number(id)) {
            name.extend(identifier(id, show_gis));
        }
        title.extend(subject.table_title());
        Ok(Self {
            scores: SubjectScores::new(setup, query, source, hit)?,
            oid: hit.oid,
            alignments: hit.alignment_count(),
            name,
            title,
            anchor: if gi > 0 { gi.to_string().into_bytes() } else { accession.clone() },
            linked: (ids.clone(), accession),
            anchored: match setup.output.format {
                Format::Anchored(_) => AnchoredSubject::new(setup, query, source, hit, &subject)?,
                _ => AnchoredSubject::default(),
            },
        })
    }

    /// Appends the text column, which is 68 columns wide. Longer text is cut.
    fn text(&self, setup: &ReportSetup, rank: usize, out: &mut Vec<u8>) {
        let html = setup.output.html;
        let link = if html {
            program::links(setup).start_tag(&self.linked.0, &self.linked.1, LinkPlace::Table, rank)
        } else {
            Vec::new()
        };
        out.extend_from_slice(&link);
        out.extend_from_slice(&self.name);
        if !link.is_empty() {
            out.extend_from_slice(b"</a>");
        }
        let room = TEXT_WIDTH.saturating_sub(self.name.len());
        let mut title = self.title.clone();
        if title.len() > room {
            // BLAST+ does not cut after a very long identifier.
            if room >= 3 {
                title.truncate(room - 3);
            }
            title.extend_from_slice(b"...");
        }
        let padding = room.saturating_sub(title.len());
        out.extend(if html { text::escape_html(&title) } else { title });
        blanks(padding, out);
    }
}

/// Formats an identifier for the table, with the blank after it if there is one.
fn identifier(id: &SeqId, show_gis: bool) -> Vec<u8> {
    if let SeqId::Local(local) = id {
        let mut text = local.text();
        if !show_gis {
            text.push(b' ');
        }
        return text;
    }
    if show_gis && !matches!(id, SeqId::Gi(_)) {
        return id.fasta();
    }
    let mut text = id.format_for_report();
    text.push(b' ');
    text
}

/// Widths of the columns of numbers.
struct Widths {
    bits: usize,
    total: usize,
    evalue: usize,
    linked: usize,
}

/// Selects the optional columns, besides score and e-value.
#[derive(Clone, Copy)]
struct OptionalColumns {
    /// Whether the table shows total score, coverage and identity.
    totals: bool,
    /// Whether the table shows the number of alignments in the linked set.
    sets: bool,
}

impl OptionalColumns {
    fn new(setup: &ReportSetup) -> Self {
        let totals = setup.output.hit_order.is_some();
        OptionalColumns { totals, sets: program::shows_linked_set_sizes(setup.params) }
    }
}

impl Widths {
    /// Computes the widths of the columns of numbers. If `all` is true, `rows` are all subjects of
    /// the query; then, if the last row has the widest total score, BLAST+ gives that width to the
    /// column of bit scores.
    fn measure(rows: &[&TableRow], all: bool) -> Self {
        let (bits, total, evalue) = ("(Bits)".len(), "Total".len(), "Value".len());
        let mut widths = Self { bits, total, evalue, linked: "N".len() };
        for (i, row) in rows.iter().enumerate() {
            let total = number::total_bits(row.scores.total_bit_score).len();
            widths.bits = widths.bits.max(number::bits(row.scores.bit_score).len());
            widths.evalue = widths.evalue.max(number::evalue(row.scores.evalue).len());
            widths.linked = widths.linked.max(row.scores.linked_set_size.to_string().len());
            if !(all && i + 1 == rows.len()) {
                widths.total = widths.total.max(total);
            } else if total > widths.total {
                widths.bits = total;
            }
        }
        widths
    }
}

/// Appends the table of the best `-num_descriptions` subjects. `rows` has all subjects in the order
/// of printing. If the number is 0, nothing is appended, not even the heading.
pub fn description_table(
    setup: &ReportSetup,
    query: &QueryResult,
    rows: &[&DescriptionRow],
    out: &mut Vec<u8>,
) {
    let rows: Vec<&TableRow> = rows.iter().filter_map(|row| row.as_table_row()).collect();
    if let Some(round) = query.repeated_search.filter(|round| !round.previous_model_oids.is_empty())
    {
        return two_tables(setup, query, round, &rows, out);
    }
    let shown = &rows[..rows.len().min(setup.output.num_descriptions)];
    if setup.output.num_descriptions == 0 {
        return;
    }
    let widths = Widths::measure(shown, rows.len() <= setup.output.num_descriptions);
    heading(&widths, OptionalColumns::new(setup), out);
    out.push(b'\n');
    lines(setup, query, shown, &widths, out);
}

/// Appends the table in two parts: subjects from which the model was made, and others. Shows the
/// best subjects until they have `-num_descriptions` alignments in total, but at least one subject.
fn two_tables(
    setup: &ReportSetup,
    query: &QueryResult,
    round: RepeatedSearch,
    rows: &[&TableRow],
    out: &mut Vec<u8>,
) {
    let mut alignments = 0;
    let shown = rows.iter().take_while(|row| {
        let room = alignments == 0 || alignments < setup.output.num_descriptions;
        alignments += row.alignments;
        room
    });
    let (again, new): (Vec<&TableRow>, Vec<&TableRow>) =
        shown.copied().partition(|row| round.previous_model_oids.contains(&row.oid));
    let widths = Widths::measure(&again, true);
    heading(&widths, OptionalColumns::new(setup), out);
    out.extend_from_slice(b"Sequences used in model and found again:\n\n");
    lines(setup, query, &again, &widths, out);
    out.extend_from_slice(
        b"\nSequences not found previously or not previously below threshold:\n\n",
    );
    lines(setup, query, &new, &Widths::measure(&new, true), out);
}

/// Appends one line for each subject of `rows`.
fn lines(
    setup: &ReportSetup,
    query: &QueryResult,
    rows: &[&TableRow],
    widths: &Widths,
    out: &mut Vec<u8>,
) {
    let more = OptionalColumns::new(setup);
    for (i, row) in rows.iter().enumerate() {
        row.text(setup, i + 1, out);
        values(setup, query, row, widths, more, out);
    }
}

fn heading(widths: &Widths, more: OptionalColumns, out: &mut Vec<u8>) {
    blanks(TEXT_WIDTH + 2, out);
    cell("Score", widths.bits, out);
    blanks(2, out);
    if more.totals {
        cell("Total", widths.total, out);
        out.extend_from_slice(b"  Query  ");
    }
    out.extend_from_slice(b"  E");
    if more.totals {
        blanks(widths.evalue - "Value".len() + 5, out);
        out.extend_from_slice(b"Max");
    }
    out.push(b'\n');
    cell("Sequences producing significant alignments:", TEXT_WIDTH + 1, out);
    cell("(Bits)", widths.bits, out);
    blanks(2, out);
    if more.totals {
        out.push(b' ');
        cell("Score", widths.total, out);
        out.extend_from_slice(b"  cover   ");
    }
    out.extend_from_slice(b"Value");
    if more.totals || more.sets {
        blanks(widths.evalue - "Value".len() + 2, out);
    }
    if more.sets {
        out.push(b'N');
    }
    if more.totals {
        out.extend_from_slice(b"Ident");
    }
    out.push(b'\n');
}

/// Appends the columns of numbers of a row, and the line end.
fn values(
    setup: &ReportSetup,
    query: &QueryResult,
    row: &TableRow,
    widths: &Widths,
    more: OptionalColumns,
    out: &mut Vec<u8>,
) {
    blanks(2, out);
    let bits = number::bits(row.scores.bit_score);
    if setup.output.html {
        out.extend_from_slice(b"<a href=#");
        out.extend_from_slice(&row.anchor);
        out.push(b'>');
        out.extend_from_slice(bits.as_bytes());
        out.extend_from_slice(b"</a>");
    } else {
        out.extend_from_slice(bits.as_bytes());
    }
    blanks(widths.bits.saturating_sub(bits.len()), out);
    if more.totals {
        blanks(3, out);
        cell(&number::total_bits(row.scores.total_bit_score), widths.total, out);
        let release = setup.params.common().release;
        let coverage =
            coverage(row.scores.covered_residues, query.residues.len(), release.rounds_coverage);
        blanks(2, out);
        cell(&format!("{coverage}%"), "Query".len(), out);
    }
    blanks(2, out);
    cell(&number::evalue(row.scores.evalue), widths.evalue, out);
    if more.sets {
        blanks(2, out);
        cell(&row.scores.linked_set_size.to_string(), widths.linked, out);
    }
    if more.totals {
        let identity = (0.5 + row.scores.percent_identity) as u32;
        blanks(2, out);
        // BLAST+ does not count the per cent sign as part of the width.
        cell(&format!("{identity}%"), "Max ident".len() + 1, out);
    }
    out.push(b'\n');
}

/// Returns a coverage in per cent (`GetSeqAlignSetCalcParams`, align_format_util.cpp).
fn coverage(covered: usize, whole: usize, is_rounded: bool) -> usize {
    let whole = whole.max(1);
    match is_rounded {
        false => 100 * covered / whole,
        // BLAST+ takes 99 for more than the whole.
        true => match (0.5 + 100.0 * covered as f64 / whole as f64) as usize {
            101.. => 99,
            share => share,
        },
    }
}

/// Appends a text and blanks up to a width.
fn cell(text: &str, width: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_bytes());
    blanks(width.saturating_sub(text.len()), out);
}

fn blanks(count: usize, out: &mut Vec<u8>) {
    out.resize(out.len() + count, b' ');
}
