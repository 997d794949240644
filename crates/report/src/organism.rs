//! Formats the organism report (format 18): the subjects of a query, grouped by their organisms
//! (`CTaxFormat`, taxFormat.cpp).
//!
//! The lines of a subject depend on this subject only. Their order and the widths of the columns
//! depend on all subjects of the query.

use std::collections::HashMap;

use fleetblast_engine::hits::{Alignment, SubjectHit};
use fleetblast_seq::id::{self, SeqId};
use serde::{Deserialize, Serialize};

use crate::error::ReportError;
use crate::model::{QueryResult, ReportSetup, SubjectSource};
use crate::names::{SubjectNames, id_label};
use crate::number;
use crate::pairwise;

/// Width of the report.
const WIDTH: usize = 100;
/// Total number of blanks that separate the columns of the table.
const GAPS: usize = 4;
/// Maximal number of bytes of a title in HTML.
const HTML_TITLE: usize = 60;

/// The lines of a subject in the organism report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrganismRow {
    /// The identifier by which BLAST+ names the subject in alignments.
    id: Option<SeqId>,
    /// Whether the taxonomy database has the taxa of all definition lines of the subject.
    is_complete: bool,
    lines: Vec<Line>,
    /// The taxa of `lines`, without duplicates.
    taxa: Vec<Taxon>,
    /// The minimal widths that `lines` and the headings require of the columns.
    widths: Widths,
}

/// A line of the report, about one definition line of a subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    taxid: i64,
    accession: Vec<u8>,
    title: Vec<u8>,
    bits: String,
    evalue: String,
}

/// A taxon with the names that the report shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Taxon {
    taxid: i64,
    scientific_name: Vec<u8>,
    common_name: Vec<u8>,
    blast_name: Vec<u8>,
}

/// Widths of the columns of accessions, scores and e-values. They are 0 without any subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Widths {
    accession: usize,
    bits: usize,
    evalue: usize,
}

impl OrganismRow {
    /// Creates the lines of a subject: one for each definition line, with the scores of the first
    /// alignment.
    ///
    /// At a definition line whose taxon has no names, BLAST+ gives up the subject and tries again
    /// with its next alignment, but keeps the lines made before (`x_InitTaxInfoMap`). So the lines
    /// before that definition line appear once for each alignment.
    ///
    /// # Errors
    /// If the subject's definition lines cannot be read, or the taxonomy database is damaged.
    pub fn new(
        setup: &ReportSetup,
        source: &dyn SubjectSource,
        hit: &SubjectHit,
    ) -> Result<Self, ReportError> {
        let subject = SubjectNames::read(setup, source, hit.oid)?;
        let mut row = Self {
            id: subject.alignment_id().cloned(),
            is_complete: false,
            lines: Vec::new(),
            taxa: Vec::new(),
            widths: Widths::default(),
        };
        let mut alignments = hit.alignments.iter();
        while !row.is_complete
            && let Some(alignment) = alignments.next()
        {
            row.is_complete = true;
            for defline in subject.shown_deflines(setup, hit.alignments.len()) {
                let shown = id::choose_report_id(&defline.ids);
                let accession = shown.map_or_else(Vec::new, |id| id_label(id, false));
                let title = match subject.is_from_fasta || defline.title.is_empty() {
                    true => subject.title(),
                    false => defline.title.clone(),
                };
                let line = Line::new(defline.taxid, accession, title, alignment);
                row.widths.include(Widths::of_line(&line));
                if !row.add_taxon(line.taxid, source)? {
                    row.is_complete = false;
                    break;
                }
                row.lines.push(line);
            }
        }
        Ok(row)
    }

    /// Adds a taxon. Returns whether it has names.
    fn add_taxon(&mut self, taxid: i64, source: &dyn SubjectSource) -> Result<bool, ReportError> {
        if self.taxa.iter().any(|taxon| taxon.taxid == taxid) {
            return Ok(true);
        }
        let names = source.taxon(taxid).map_err(|cause| ReportError::Taxonomy { taxid, cause })?;
        let Some(names) = names else { return Ok(false) };
        self.taxa.push(Taxon {
            taxid,
            scientific_name: names.scientific_name,
            common_name: names.common_name,
            blast_name: names.blast_name,
        });
        Ok(true)
    }
}

impl Line {
    fn new(taxid: i64, accession: Vec<u8>, title: Vec<u8>, alignment: &Alignment) -> Self {
        let (bits, evalue) = (number::bits(alignment.bit_score), number::evalue(alignment.evalue));
        Self { taxid, accession, title, bits, evalue }
    }

    fn to_text(&self, widths: &Widths) -> Vec<u8> {
        let cells = [
            ("acc", pad(&self.accession, widths.accession)),
            ("descr_text", pad(&self.title, widths.title())),
            ("score", pad(self.bits.as_bytes(), widths.bits)),
            ("evalue", pad(self.evalue.as_bytes(), widths.evalue)),
        ];
        fill(b" <@acc@><@descr_text@><@score@><@evalue@>\n", &cells)
    }

    fn to_html(&self) -> Vec<u8> {
        const TEMPLATE: &[u8] = b"<tr><td><a title=\"Show report for <@acc@>\" \
            target=\"lnktx<@rid@>\" href=\"<@protocol@>//www.ncbi.nlm.nih.gov/protein/<@acc@>\
            ?report=fwwwtax&amp;log$=taxrep&amp;RID=<@rid@>\"><@acc@></a></td>\
            <td><@descr_abbr@></td><td><@score@></td><td><@evalue@></td></tr>";
        let title = &self.title[..self.title.len().min(HTML_TITLE)];
        let cells = [
            ("descr_abbr", title.to_vec()),
            ("rid", b"0".to_vec()),
            ("acc", self.accession.clone()),
            ("descr", self.title.clone()),
            ("score", self.bits.clone().into_bytes()),
            ("evalue", self.evalue.clone().into_bytes()),
            ("protocol", b"https:".to_vec()),
        ];
        fill(TEMPLATE, &cells)
    }
}

impl Taxon {
    /// Formats the heading above the lines of the taxon.
    fn heading(&self, html: bool) -> Vec<u8> {
        const HTML: &[u8] = b"<tr><th colspan=\"4\"><a href=\"<@taxBrowserURL@>?id=<@taxid@>\" \
            name=\"<@taxid@>\" title=\"Show taxonomy info for <@scientific_name@> (taxid \
            <@taxid@>)\" target=\"lnktx<@rid@>\"><@scientific_name@> <@common_name@> \
            [<@blast_name@>]</th></tr>";
        const TEXT: &[u8] = b"<@scientific_name@> <@common_name@> [<@blast_name@>]";
        const BROWSER: &[u8] = b"https://www.ncbi.nlm.nih.gov/Taxonomy/Browser/wwwtax.cgi";
        let common_name = match self.common_name == self.scientific_name {
            true => Vec::new(),
            false => [b"(", &self.common_name[..], b")"].concat(),
        };
        let names = [
            ("scientific_name", self.scientific_name.clone()),
            ("common_name", common_name),
            ("blast_name", self.blast_name.clone()),
        ];
        let mut heading = fill(if html { HTML } else { TEXT }, &names);
        if !html {
            heading = [b"\n", &centre(&heading, WIDTH)[..], b"\n"].concat();
        }
        let values = [
            ("taxid", self.taxid.to_string().into_bytes()),
            ("taxBrowserURL", BROWSER.to_vec()),
            ("rid", b"0".to_vec()),
        ];
        fill(&heading, &values)
    }
}

impl Widths {
    /// Returns the widths of the columns that fit both a line and the headings.
    fn of_line(line: &Line) -> Self {
        Self {
            accession: line.accession.len().max("Accession".len()),
            bits: line.bits.len().max("Score".len()),
            evalue: line.evalue.len().max("E-value".len()),
        }
    }

    fn include(&mut self, other: Widths) {
        self.accession = self.accession.max(other.accession);
        self.bits = self.bits.max(other.bits);
        self.evalue = self.evalue.max(other.evalue);
    }

    /// Returns the width of the column of titles. It is 0 without any subject.
    fn title(&self) -> usize {
        match *self == Widths::default() {
            true => 0,
            // `makeblastdb` accepts identifiers of 50 letters.
            false => WIDTH.saturating_sub(self.accession + self.bits + self.evalue + GAPS),
        }
    }
}

/// The subjects of a query by organism.
#[derive(Default)]
struct Organisms<'a> {
    /// The taxa, each with its lines, in the order of the first line of each taxon.
    groups: Vec<(&'a Taxon, Vec<&'a Line>)>,
    widths: Widths,
}

impl<'a> Organisms<'a> {
    fn new(rows: impl Iterator<Item = &'a OrganismRow>) -> Self {
        let mut organisms = Self::default();
        let mut places = HashMap::new();
        let mut previous = None;
        for row in rows {
            // Sequences of several databases can have the same identifier. BLAST+ takes them for
            // one subject if they follow each other.
            if row.id.is_some() && row.id.as_ref() == previous {
                continue;
            }
            organisms.widths.include(row.widths);
            for taxon in &row.taxa {
                places.entry(taxon.taxid).or_insert_with(|| {
                    organisms.groups.push((taxon, Vec::new()));
                    organisms.groups.len() - 1
                });
            }
            for line in &row.lines {
                organisms.groups[places[&line.taxid]].1.push(line);
            }
            if row.is_complete {
                previous = row.id.as_ref();
            }
        }
        organisms
    }

    fn to_text(&self) -> Vec<u8> {
        let mut rows = Vec::new();
        for (taxon, lines) in &self.groups {
            rows.extend(taxon.heading(false));
            rows.extend(lines.iter().flat_map(|line| line.to_text(&self.widths)));
        }
        let caption = [b"\n", &centre(b"Organism Report", WIDTH)[..]].concat();
        let cells = [
            ("table_rows", rows),
            ("org_report_caption", caption),
            ("acc_hd", pad(b"Accession", self.widths.accession)),
            ("descr_hd", centre(b"Description", self.widths.title())),
            ("score_hd", pad(b"Score", self.widths.bits)),
            ("evalue_hd", pad(b"E-value", self.widths.evalue)),
        ];
        const TEMPLATE: &[u8] = b"<@org_report_caption@>\n\
            <@acc_hd@><@descr_hd@><@score_hd@><@evalue_hd@>\n<@table_rows@>";
        fill(TEMPLATE, &cells)
    }

    fn to_html(&self) -> Vec<u8> {
        const TEMPLATE: &[u8] = b"<table><caption><h2>Organism Report</h2></caption>\
            <tr><th>Accession</th><th>Descr</th><th>Score</th><th>E-value</th></tr>\
            <@table_rows@></table><@taxidToSeqsMap@>";
        const ACCESSIONS: &[u8] =
            b"<input type=\"hidden\" id=\"txForSeq_<@taxid@>\" value=\"<@giList@>\" />";
        let (mut rows, mut accessions) = (Vec::new(), Vec::new());
        for (taxon, lines) in &self.groups {
            rows.extend(taxon.heading(true));
            rows.extend(lines.iter().flat_map(|line| line.to_html()));
            let names: Vec<_> = lines.iter().map(|line| &line.accession[..]).collect();
            let taxid = taxon.taxid.to_string().into_bytes();
            let cells = [("giList", names.join(&b", "[..])), ("taxid", taxid)];
            accessions.extend(fill(ACCESSIONS, &cells));
        }
        fill(TEMPLATE, &[("table_rows", rows), ("taxidToSeqsMap", accessions)])
    }
}

/// Appends the report of a query. `rows` has the lines of all subjects in the order of the hit
/// list.
pub fn query_report<'a>(
    setup: &ReportSetup,
    query: &QueryResult,
    rows: impl Iterator<Item = &'a OrganismRow>,
    out: &mut Vec<u8>,
) {
    const CAPTION: &[u8] = b"Tax BLAST report";
    let html = setup.output.html;
    // A search with a pattern has one caption for all occurrences.
    if query.occurrence().is_none_or(|occurrence| occurrence.number == 0) {
        out.extend(match html {
            true => [b"<h1>", CAPTION, b"</h1>"].concat(),
            false => [b"\n", &centre(CAPTION, WIDTH)[..], b"\n"].concat(),
        });
    }
    out.extend_from_slice(if html { b"<pre>" } else { b"\n" });
    pairwise::query_name(setup, query, out);
    if html {
        out.extend_from_slice(b"</pre>");
    }
    let organisms = Organisms::new(rows);
    out.extend(if html { organisms.to_html() } else { organisms.to_text() });
}

/// Fills fields such as `<@acc@>` of a template, one after the other. Later fields are also filled
/// in earlier values, such as titles, as in BLAST+ (`CAlignFormatUtil::MapTemplate`).
fn fill(template: &[u8], values: &[(&str, Vec<u8>)]) -> Vec<u8> {
    values.iter().fold(template.to_vec(), |text, (name, value)| {
        let field = format!("<@{name}@>").into_bytes();
        let mut filled = Vec::with_capacity(text.len() + value.len());
        let mut rest = &text[..];
        while let Some(at) = rest.windows(field.len()).position(|part| part == field) {
            filled.extend_from_slice(&rest[..at]);
            filled.extend_from_slice(value);
            rest = &rest[at + field.len()..];
        }
        filled.extend_from_slice(rest);
        filled
    })
}

/// Returns a text filled with blanks to `width`, followed by one more blank. A longer text is cut.
fn pad(text: &[u8], width: usize) -> Vec<u8> {
    let (mut cell, blanks) = fit(text, width);
    cell.resize(cell.len() + blanks, b' ');
    cell
}

/// Returns a text with the same number of blanks on both sides. A longer text is cut.
fn centre(text: &[u8], width: usize) -> Vec<u8> {
    let (cell, blanks) = fit(text, width);
    let blanks = b" ".repeat(if text.len() <= width { blanks / 2 } else { blanks });
    [&blanks[..], &cell, &blanks].concat()
}

/// Cuts a text to `width` and returns it with the number of blanks to append. A text whose end is
/// cut ends with dots; if `width` has no room for the dots, the text stays whole
/// (`CAlignFormatUtil::AddSpaces`).
fn fit(text: &[u8], width: usize) -> (Vec<u8>, usize) {
    if text.len() <= width {
        return (text.to_vec(), width - text.len() + 1);
    }
    let kept = width.checked_sub(3).map_or(text, |kept| &text[..kept]);
    ([kept, b"..."].concat(), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(accession: &str, title: &str) -> Line {
        let [accession, title] = [accession, title].map(|text| text.as_bytes().to_vec());
        Line { taxid: 9606, accession, title, bits: "100".into(), evalue: "1e-20".into() }
    }

    fn row(id: &str, is_complete: bool, lines: Vec<Line>) -> OrganismRow {
        let [scientific_name, common_name] = [b"Homo sapiens", &b"human"[..]].map(<[u8]>::to_vec);
        let taxon =
            Taxon { taxid: 9606, scientific_name, common_name, blast_name: b"primates".to_vec() };
        let mut widths = Widths::default();
        lines.iter().for_each(|line| widths.include(Widths::of_line(line)));
        let id = Some(SeqId::Local(fleetblast_seq::id::ObjectId::Text(id.as_bytes().to_vec())));
        OrganismRow { id, is_complete, lines, taxa: vec![taxon], widths }
    }

    fn accessions(rows: &[OrganismRow]) -> Vec<&[u8]> {
        let organisms = Organisms::new(rows.iter());
        let lines = organisms.groups.into_iter().flat_map(|(_, lines)| lines);
        lines.map(|line| &line.accession[..]).collect()
    }

    #[test]
    fn subjects_of_the_same_identifier_that_follow_each_other_are_one() {
        let one = |id: &str, is_complete| row(id, is_complete, vec![line(id, "t")]);
        let rows = [one("a", true), one("a", true), one("b", true), one("a", true)];
        assert_eq!(accessions(&rows), [b"a", b"b", b"a"]);
        // BLAST+ only remembers subjects with complete lines.
        let rows = [one("a", false), one("a", true), one("b", false), one("a", true)];
        assert_eq!(accessions(&rows), [b"a", b"a", b"b"]);
    }

    #[test]
    fn the_last_column_of_titles_has_what_the_others_leave() {
        let long = "word ".repeat(30);
        let rows = [row("a", true, vec![line("accession_of_20", &long)])];
        let text = String::from_utf8(Organisms::new(rows.iter()).to_text()).unwrap();
        let lines: Vec<_> = text.lines().collect();
        let width = WIDTH - 15 - 5 - 7 - GAPS;
        assert_eq!(lines[4].trim(), "Homo sapiens (human) [primates]");
        assert_eq!(lines[5].len(), 1 + WIDTH);
        assert_eq!(lines[5], format!(" accession_of_20 {}... 100   1e-20   ", &long[..width - 3]));
    }

    #[test]
    fn texts_without_room_for_dots_are_not_cut() {
        for (width, cut) in [(8, "abcde... "), (3, "... "), (2, "abcdefghi... "), (9, "abcdefghi ")]
        {
            assert_eq!(pad(b"abcdefghi", width), cut.as_bytes(), "{width}");
        }
        assert_eq!(centre(b"ab", 5), b"  ab  ");
        assert_eq!(centre(b"ab", 4), b" ab ");
        assert_eq!(centre(b"abcd", 3), b" ... ");
    }

    #[test]
    fn fields_in_earlier_values_are_filled_too() {
        let values = [("a", b"<@b@>".to_vec()), ("b", b"<@a@>".to_vec())];
        assert_eq!(fill(b"<@a@> <@b@> <@c@>", &values), b"<@a@> <@a@> <@c@>");
    }
}
