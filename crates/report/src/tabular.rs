//! Formats the tabular formats: 6, 7 and 10 (tabular.cpp).

use fleetblast_engine::hits::{Alignment, SubjectHit};
use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::id::{self, SeqId, TextRanking};

use crate::columns::{Column, Columns};
use crate::error::ReportError;
use crate::letters::PositivePairs;
use crate::model::{QueryResult, ReportSetup, SubjectSource};
use crate::names::{self, SubjectNames};
use crate::number;
use crate::order;
use crate::pair::AlignmentRows;
use crate::program::{self, HspCoverage};
use crate::taxonomy::Taxonomy;
use crate::unique_coverage;

const NOT_AVAILABLE: &[u8] = b"N/A";

/// Appends the comment lines before a query's rows in format 7. `rows` is the number of rows.
pub fn query_comments(
    setup: &ReportSetup,
    query: &QueryResult,
    columns: &Columns,
    rows: usize,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(format!("# {}\n", setup.banner()).as_bytes());
    if let Some(round) = query.repeated_search {
        out.extend_from_slice(format!("# Iteration: {}\n", round.number).as_bytes());
    }
    out.extend_from_slice(b"# Query: ");
    out.extend(names::query_display_name(setup, query));
    out.extend_from_slice(b"\n# Database: ");
    out.extend_from_slice(&setup.database.label);
    out.push(b'\n');
    if rows > 0 {
        let headings: Vec<_> = columns.list.iter().map(|column| column.heading()).collect();
        out.extend_from_slice(format!("# Fields: {}\n", headings.join(", ")).as_bytes());
    }
    if query.batch_searched {
        let rows = query.repeated_search.map_or(rows, |round| round.alignments);
        out.extend_from_slice(format!("# {rows} hits found\n").as_bytes());
    }
}

/// Appends the line before the first query of format 20: the keywords of the columns.
pub fn headings(columns: &Columns, out: &mut Vec<u8>) {
    if columns.has_headings {
        out.extend(columns.headings());
        out.push(b'\n');
    }
}

/// Appends the last line of format 7, which states the number of queries.
pub fn final_comment(queries: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("# BLAST processed {queries} queries\n").as_bytes());
}

/// Appends one row for each alignment of a subject.
pub fn subject_rows(
    setup: &ReportSetup,
    query: &QueryResult,
    source: &dyn SubjectSource,
    hit: &SubjectHit,
    columns: &Columns,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    let subject = SubjectNames::read(setup, source, hit.oid)?;
    let release = setup.params.common().release;
    let shows = |column: Column| columns.list.contains(&column);
    let mut row = Row {
        query,
        query_ids: names::tabular_query_ids(query, setup.output.parse_deflines),
        taxonomy: Taxonomy::read(&subject, source, columns)?,
        quotes_taxa: columns.quotes_taxa,
        subject_ids: subject.tabular_ids(),
        subject,
        positive_pairs: PositivePairs::for_text(setup.params),
        subject_length: source.shown_length(hit.oid),
        query_length: setup.query_range_length.unwrap_or_else(|| query.searched_length()),
        covered: match shows(Column::CoveragePerSubject) {
            true => order::covered_residues(query, source, hit)?,
            false => 0,
        },
        hsp_coverage: program::hsp_coverage(setup.params, hit.alignments.len()),
        shows_translated_strands: release.shows_translated_strands,
        leaves_frames_unset: release.leaves_frames_unset && !columns.need_alignment(),
        uniquely_covered: (shows(Column::CoveragePerUniqueSubject)
            && program::has_unique_coverage(setup.params))
        .then(|| unique_coverage::count_uniquely_covered(query, hit)),
    };
    let shows_search_counts = program::rows_show_search_counts(setup.params, columns);
    // Without masks the count of the search equals that of the report.
    let is_shown_as_searched = |oid| source.masks(oid).is_empty() && !source.shares_identifiers();
    for hit in std::iter::once(hit).chain(&hit.joined) {
        row.hsp_coverage = program::hsp_coverage(setup.params, hit.alignments.len());
        let oid = hit.oid;
        for alignment in &hit.alignments {
            let mut pair = AlignmentRows::new(query, source, oid, alignment)?;
            let may_differ = alignment.stored.is_some() || !is_shown_as_searched(oid);
            if shows_search_counts && may_differ {
                let matches = order::stated_matches(setup, query, source, oid, alignment)?;
                pair.identities = matches.identities;
            }
            for (i, &column) in columns.list.iter().enumerate() {
                if i > 0 {
                    out.extend_from_slice(&columns.delimiter);
                }
                row.field(column, alignment, &pair, out);
            }
            out.push(b'\n');
        }
    }
    Ok(())
}

/// Returns the query's identifier as the column `qseqid` shows it.
pub fn query_id(setup: &ReportSetup, query: &QueryResult) -> Vec<u8> {
    let ids = names::tabular_query_ids(query, setup.output.parse_deflines);
    id::format_id_list(&ids, setup.params.common().release.text_ranking)
}

/// Returns a subject's identifier as the column `sseqid` shows it.
///
/// # Errors
/// If the subject's definition lines cannot be read or there is none.
pub fn subject_id(
    setup: &ReportSetup,
    source: &dyn SubjectSource,
    oid: u32,
) -> Result<Vec<u8>, ReportError> {
    let subject = SubjectNames::read(setup, source, oid)?;
    Ok(id::format_id_list(&subject.tabular_ids(), subject.text_ranking()))
}

/// The values that are the same in all rows of a subject.
struct Row<'a> {
    query: &'a QueryResult<'a>,
    query_ids: Vec<SeqId>,
    subject: SubjectNames,
    /// The identifiers of the chosen definition line.
    subject_ids: Vec<SeqId>,
    taxonomy: Taxonomy,
    quotes_taxa: bool,
    positive_pairs: PositivePairs,
    subject_length: u32,
    /// Number of letters of the query that the subject's alignments cover; 0 if no column shows the
    /// coverage.
    covered: usize,
    /// The quotient that the column `qcovhsp` shows for a translated query.
    hsp_coverage: HspCoverage,
    /// Whether `sstrand` shows strands of translated subjects.
    shows_translated_strands: bool,
    /// Whether the columns of frames show 0. Some releases of BLAST+ do not set frames if no column
    /// needs the alignment.
    leaves_frames_unset: bool,
    /// Number of bases of the query covered if each base of the subject counts once; `None` for
    /// proteins, or if no column shows this coverage.
    uniquely_covered: Option<usize>,
    /// The length of the query for `qlen`, `qcovs`, and `qcovhsp` if that counts bases. With
    /// `-query_loc` it is the length of the range as typed, even beyond the query's end.
    query_length: usize,
}

impl Row<'_> {
    fn field(
        &self,
        column: Column,
        alignment: &Alignment,
        pair: &AlignmentRows,
        out: &mut Vec<u8>,
    ) {
        use Column as C;
        let ranking = self.subject.text_ranking();
        match column {
            C::QuerySeqId | C::QueryGi | C::QueryAccession | C::QueryAccessionVersion => {
                identifier(column, &self.query_ids, ranking, out);
            }
            C::SubjectSeqId | C::SubjectGi | C::SubjectAccession | C::SubjectAccessionVersion => {
                identifier(column, &self.subject_ids, ranking, out);
            }
            C::SubjectAllSeqIds | C::SubjectAllGis | C::SubjectAllAccessions => {
                for (i, ids) in self.subject.all_tabular_ids().iter().enumerate() {
                    if i > 0 {
                        out.push(b';');
                    }
                    identifier(column, ids, ranking, out);
                }
            }
            C::Title => {
                out.extend_from_slice(self.titles().first().copied().unwrap_or(NOT_AVAILABLE))
            }
            C::AllTitles => out.extend(self.titles().join(&b"<>"[..])),
            C::QuerySeq => out.extend_from_slice(&pair.query_row),
            C::SubjectSeq => out.extend_from_slice(&pair.subject_row),
            C::Btop => btop(pair, out),
            C::TaxId
            | C::ScientificName
            | C::CommonName
            | C::BlastName
            | C::SuperKingdom
            | C::TaxIds
            | C::ScientificNames
            | C::CommonNames
            | C::BlastNames
            | C::SuperKingdoms => self.taxonomy.field(column, self.quotes_taxa, out),
            C::Strand => out.extend_from_slice(strand(pair, self.shows_translated_strands)),
            C::CoveragePerUniqueSubject => match self.uniquely_covered {
                Some(bases) => {
                    let share = number::coverage(bases, self.query_length);
                    out.extend_from_slice(share.to_string().as_bytes());
                }
                None => out.extend_from_slice(NOT_AVAILABLE),
            },
            _ => out.extend_from_slice(self.value(column, alignment, pair).as_bytes()),
        }
    }

    /// Formats a column that shows a number.
    fn value(&self, column: Column, alignment: &Alignment, pair: &AlignmentRows) -> String {
        use Column as C;
        let columns = pair.column_count() - pair.overhang_columns;
        let gaps = pair.gap_columns - pair.overhang_columns;
        // An alignment without columns has 0 % of anything.
        let share = |part: usize| part as f64 / columns.max(1) as f64 * 100.0;
        let (query, subject) = (&pair.positions.query, &pair.positions.subject);
        let ([q_start, q_end], [s_start, s_end]) = (query.printed_ends(), subject.printed_ends());
        let [q_frame, s_frame] = match self.leaves_frames_unset {
            true => [0, 0],
            false => pair.positions.tabular_frames(),
        };
        let whole = self.query.covered_length();
        match column {
            C::QueryLength => self.query_length.to_string(),
            C::SubjectLength => self.subject_length.to_string(),
            C::QueryStart => q_start.to_string(),
            C::QueryEnd => q_end.to_string(),
            C::SubjectStart => s_start.to_string(),
            C::SubjectEnd => s_end.to_string(),
            C::Evalue => number::tabular_evalue(alignment.evalue),
            C::BitScore => number::bits(alignment.bit_score),
            C::Score => alignment.score.to_string(),
            C::Length => columns.to_string(),
            C::PercentIdentity => format!("{:.3}", share(pair.identities)),
            C::Identities => pair.identities.to_string(),
            // A database can store a gap character as a residue. Opposite a gap it counts as
            // identical and as a gap, so BLAST+ prints a negative number.
            C::Mismatches => (columns as i64 - pair.identities as i64 - gaps as i64).to_string(),
            C::Positives => pair.count_positives(&self.positive_pairs).to_string(),
            C::PercentPositives => {
                format!("{:.2}", share(pair.count_positives(&self.positive_pairs)))
            }
            C::GapOpens => pair.gap_opens.to_string(),
            C::Gaps => gaps.to_string(),
            C::Frames => format!("{q_frame}/{s_frame}"),
            C::QueryFrame => q_frame.to_string(),
            C::CoveragePerSubject => number::coverage(self.covered, self.query_length).to_string(),
            C::CoveragePerHsp => {
                let letters = query.frame_range.len();
                let bases = query.sequence_range.len();
                let stored = alignment.stored.and_then(|stored| stored.coverage);
                match (self.hsp_coverage, stored) {
                    (HspCoverage::Whole, _) => {
                        number::coverage(bases, self.query_length).to_string()
                    }
                    // BLAST+ takes a negative number, or one beyond its range, for none.
                    (_, Some(share)) if !(0.0..=f64::from(i32::MAX)).contains(&share) => {
                        "N/A".to_owned()
                    }
                    (_, Some(share)) => (share as u32).to_string(),
                    (HspCoverage::LettersOfBases, None) => {
                        number::coverage(letters, whole).to_string()
                    }
                    (HspCoverage::Codons, None) => number::coverage(letters, whole / 3).to_string(),
                }
            }
            C::SubjectFrame => s_frame.to_string(),
            // `field` formats texts.
            C::QuerySeqId
            | C::QueryGi
            | C::QueryAccession
            | C::QueryAccessionVersion
            | C::SubjectSeqId
            | C::SubjectGi
            | C::SubjectAccession
            | C::SubjectAccessionVersion
            | C::SubjectAllSeqIds
            | C::SubjectAllGis
            | C::SubjectAllAccessions
            | C::Title
            | C::AllTitles
            | C::QuerySeq
            | C::SubjectSeq
            | C::Btop
            | C::TaxId
            | C::ScientificName
            | C::CommonName
            | C::BlastName
            | C::SuperKingdom
            | C::TaxIds
            | C::ScientificNames
            | C::CommonNames
            | C::BlastNames
            | C::SuperKingdoms
            | C::Strand
            | C::CoveragePerUniqueSubject => String::new(),
        }
    }

    /// Returns the titles of all definition lines, `N/A` for a missing one. FASTA subjects have a
    /// single `N/A`.
    fn titles(&self) -> Vec<&[u8]> {
        if self.subject.is_from_fasta {
            return vec![NOT_AVAILABLE];
        }
        let titles = self.subject.deflines.iter().map(|line| &line.title[..]);
        titles.map(|title| if title.is_empty() { NOT_AVAILABLE } else { title }).collect()
    }
}

/// Returns the text of the column `sstrand`. Of translated subjects it is the strand of the frame,
/// if the release shows it.
fn strand(pair: &AlignmentRows, shows_translated: bool) -> &'static [u8] {
    let strand = match pair.positions.subject.frame {
        frame @ Frame::Codons(..) if shows_translated => frame.strand(),
        _ => pair.positions.tabular_strand(),
    };
    match strand {
        Some(Strand::Plus) => b"plus",
        Some(Strand::Minus) => b"minus",
        None => NOT_AVAILABLE,
    }
}

/// Appends a sequence's identifiers in the form that the column shows.
fn identifier(column: Column, ids: &[SeqId], ranking: TextRanking, out: &mut Vec<u8>) {
    use Column as C;
    let chosen = id::choose_text_id(ids, ranking);
    let text = match column {
        C::QueryGi | C::SubjectGi | C::SubjectAllGis => id::first_gi(ids).to_string().into_bytes(),
        C::QueryAccession | C::SubjectAccession | C::SubjectAllAccessions => {
            chosen.map_or_else(Vec::new, SeqId::accession)
        }
        C::QueryAccessionVersion | C::SubjectAccessionVersion => {
            chosen.map_or_else(Vec::new, SeqId::accession_version)
        }
        _ => id::format_id_list(ids, ranking),
    };
    out.extend(text);
}

/// Appends the BTOP string: numbers of equal columns, and pairs of different letters, such as
/// `65A-67ST3`.
fn btop(pair: &AlignmentRows, out: &mut Vec<u8>) {
    let mut equal = 0;
    let flush = |equal: &mut usize, out: &mut Vec<u8>| {
        if *equal > 0 {
            out.extend_from_slice(equal.to_string().as_bytes());
            *equal = 0;
        }
    };
    for (&q, &s) in pair.query_row.iter().zip(&pair.subject_row) {
        if q == s {
            equal += 1;
        } else {
            flush(&mut equal, out);
            out.extend_from_slice(&[q, s]);
        }
    }
    flush(&mut equal, out);
}
