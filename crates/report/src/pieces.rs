//! Formats the pieces of a report in any format, and combines them for a whole query.

use fleetblast_engine::hits::SubjectHit;

use crate::error::ReportError;
use crate::joined::shown_hits;
use crate::model::{Format, QueryResult, ReportSetup, SubjectSource};
use crate::order::{SubjectScores, sort_subjects};
use crate::organism::OrganismRow;
use crate::table::{DescriptionRow, TableRow, description_table};
use crate::{anchored, annotation, archive, organism, output2, pairwise, sam, tabular, xml};

/// Appends the text before the first query that does not depend on any query.
pub fn prologue(setup: &ReportSetup, out: &mut Vec<u8>) {
    match &setup.output.format {
        Format::Pairwise | Format::Anchored(_) => pairwise::prologue(setup, out),
        Format::Tabular(columns) => tabular::headings(columns, out),
        Format::Output2(format) => output2::prologue(setup, format, out),
        _ => {}
    }
}

/// Appends the text before the first query that depends on this query. Only XML has such text: its
/// start names the first query.
///
/// # Errors
/// [`ReportError::XmlText`] if the query's title cannot be written to XML,
/// [`ReportError::MatrixName`] if the matrix is not spelled as XML requires.
pub fn first_query_prologue(
    setup: &ReportSetup,
    first: &QueryResult,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    match setup.output.format {
        Format::Xml => xml::prologue(setup, first, out),
        _ => Ok(()),
    }
}

/// Whether the format has a table of all subjects: the description table, or the organism report.
/// If so, [`query_header`] needs the rows of all subjects.
pub fn has_description_table(setup: &ReportSetup) -> bool {
    matches!(setup.output.format, Format::Pairwise | Format::Anchored(_) | Format::Organisms)
}

/// Makes the row of a subject in the description table or in the organism report.
///
/// # Errors
/// If the subject's definition lines cannot be read, or an alignment does not fit it.
pub fn description_row(
    setup: &ReportSetup,
    query: &QueryResult,
    source: &dyn SubjectSource,
    hit: &SubjectHit,
) -> Result<DescriptionRow, ReportError> {
    match setup.output.format {
        Format::Organisms => OrganismRow::new(setup, source, hit).map(DescriptionRow::Organisms),
        _ => TableRow::new(setup, query, source, hit).map(DescriptionRow::Table),
    }
}

/// Returns the order in which the report prints subjects, as indexes into `rows`, which are in the
/// order of the hit list. Only reports with a description table change that order.
pub fn subject_print_order(setup: &ReportSetup, rows: &[DescriptionRow]) -> Vec<usize> {
    if setup.output.hit_order.is_none() {
        return (0..rows.len()).collect();
    }
    let rows = rows.iter().filter_map(DescriptionRow::as_table_row);
    let scores: Vec<SubjectScores> = rows.map(|row| row.scores).collect();
    sort_subjects(setup.output.hit_order, &scores)
}

/// Whether the format has text before and after each batch of queries.
pub fn has_batch_text(setup: &ReportSetup) -> bool {
    matches!(setup.output.format, Format::Archive(_))
}

/// Appends the text before a batch of queries, which is not empty. Only archives have such text.
///
/// # Errors
/// FASTA subjects that cannot be read.
pub fn batch_header(
    setup: &ReportSetup,
    source: &dyn SubjectSource,
    batch: &[QueryResult],
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    match &setup.output.format {
        Format::Archive(request) => archive::batch_header(setup, request, source, batch, out),
        _ => Ok(()),
    }
}

/// Appends the text after a batch of queries, which is not empty. Only archives have such text.
pub fn batch_footer(setup: &ReportSetup, batch: &[QueryResult], out: &mut Vec<u8>) {
    if let Format::Archive(request) = &setup.output.format {
        archive::batch_footer(setup, request, batch, out);
    }
}

/// Returns the texts before and after the subjects of a query.
///
/// `hits` are all subjects of the report. `order` and `rows` are those of [`arrange_subjects`].
///
/// # Errors
/// As of [`query_header`] and [`query_footer`].
pub fn query_frame(
    setup: &ReportSetup,
    query: &QueryResult,
    hits: &[SubjectHit],
    (order, rows): (&[usize], &[DescriptionRow]),
) -> Result<[Vec<u8>; 2], ReportError> {
    let [mut head, mut tail] = [Vec::new(), Vec::new()];
    let printed: Vec<&DescriptionRow> = order.iter().filter_map(|&place| rows.get(place)).collect();
    let alignments = hits.iter().map(SubjectHit::alignment_count).sum();
    query_header(setup, query, &printed, alignments, &mut head)?;
    query_footer(setup, query, &mut tail)?;
    Ok([head, tail])
}

/// Appends the text before the subjects of a query.
///
/// The text is the query's name and its description table, the whole organism report, or the
/// comments of format 7. In query-anchored reports it has all alignments, too. `rows` are the rows
/// of the table in the order of printing; empty unless [`has_description_table`].
/// `alignments` is the number of alignments of all subjects, which the comments print.
///
/// # Errors
/// [`ReportError::XmlText`] if the query's title cannot be written to XML;
/// [`ReportError::Alignment`] if an alignment of a query-anchored report does not fit the query.
pub fn query_header(
    setup: &ReportSetup,
    query: &QueryResult,
    rows: &[&DescriptionRow],
    alignments: usize,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    match &setup.output.format {
        Format::Pairwise => text_header(setup, query, rows, out),
        Format::Anchored(format) => {
            text_header(setup, query, rows, out);
            let rows = rows.iter().filter_map(|row| row.as_table_row());
            let subjects = rows.map(|row| &row.anchored);
            anchored::alignments(setup, *format, query, subjects, out)?;
        }
        Format::Organisms => {
            let rows = rows.iter().filter_map(|row| row.as_organism_row());
            organism::query_report(setup, query, rows, out);
        }
        Format::Xml => xml::query_header(setup, query, out)?,
        Format::Output2(format) => output2::query_header(setup, format, query, out)?,
        Format::Annotation(encoding) => annotation::query_header(setup, *encoding, query, out)?,
        Format::Archive(_) => archive::query_header(query, out),
        Format::Tabular(_) | Format::Sam(_) => {}
        Format::Commented(columns) => {
            tabular::query_comments(setup, query, columns, alignments, out)
        }
    }
    Ok(())
}

/// Appends the query's name and its description table.
fn text_header(
    setup: &ReportSetup,
    query: &QueryResult,
    rows: &[&DescriptionRow],
    out: &mut Vec<u8>,
) {
    pairwise::query_header(setup, query, out);
    if query.hit_count == 0 {
        out.extend_from_slice(b"\n\n***** No hits found *****\n\n\n");
    } else {
        description_table(setup, query, rows, out);
        out.extend_from_slice(b"\n\n");
    }
}

/// Appends a subject and its alignments.
///
/// The text depends on the arguments only. `rank` is the place of the subject in the printed list,
/// from 1. The pairwise report and the tabular formats print only the first `-num_alignments`
/// subjects, so this function appends nothing for later ones. If queries are the references of SAM,
/// the caller sorts the records of all subjects: see [`sam::sort_records`].
///
/// # Errors
/// If the subject cannot be read or does not fit its alignments.
pub fn subject_block(
    setup: &ReportSetup,
    query: &QueryResult,
    source: &dyn SubjectSource,
    hit: &SubjectHit,
    rank: usize,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    match &setup.output.format {
        Format::Pairwise if rank > setup.output.num_alignments => Ok(()),
        // The text before the subjects has all alignments.
        Format::Anchored(_) => Ok(()),
        Format::Pairwise => pairwise::subject_block(setup, query, source, hit, rank, out),
        Format::Organisms => Ok(()),
        Format::Xml => xml::subject_block(setup, query, source, hit, rank, out),
        Format::Annotation(encoding) => {
            annotation::subject_block((setup, *encoding), query, source, hit, rank, out)
        }
        Format::Archive(_) => archive::subject_block(setup, query, source, hit, rank, out),
        Format::Output2(format) => {
            output2::subject_block((setup, format), query, source, hit, rank, out)
        }
        // The comments of format 7 count also the subjects that are left out.
        Format::Tabular(_) | Format::Commented(_) if rank > setup.output.num_alignments => Ok(()),
        Format::Tabular(columns) | Format::Commented(columns) => {
            tabular::subject_rows(setup, query, source, hit, columns, out)
        }
        Format::Sam(options) => {
            let records = sam::subject_records(setup, options, query, source, hit)?;
            records.iter().for_each(|record| record.write(out));
            Ok(())
        }
    }
}

/// Appends the text after the subjects of a query.
///
/// # Errors
/// [`ReportError::XmlText`] if the messages cannot be written to XML.
pub fn query_footer(
    setup: &ReportSetup,
    query: &QueryResult,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    match &setup.output.format {
        Format::Pairwise | Format::Anchored(_) => pairwise::query_footer(setup, query, out),
        Format::Xml => xml::query_footer(setup, query, out)?,
        Format::Annotation(encoding) => annotation::query_footer(*encoding, query, out),
        Format::Output2(format) => output2::query_footer(setup, format, query, out)?,
        Format::Archive(_) | Format::Tabular(_) | Format::Commented(_) | Format::Sam(_) => {}
        Format::Organisms => {}
    }
    Ok(())
}

/// Appends the text after the last of `queries` queries.
pub fn epilogue(setup: &ReportSetup, queries: usize, out: &mut Vec<u8>) {
    match &setup.output.format {
        Format::Pairwise | Format::Anchored(_) => pairwise::epilogue(setup, out),
        // Without a query there is no XML prologue, so that XML consists of an empty line.
        Format::Xml if queries == 0 => out.push(b'\n'),
        Format::Xml => xml::epilogue(out),
        Format::Output2(format) => output2::epilogue(format, queries, out),
        Format::Annotation(_) | Format::Archive(_) | Format::Tabular(_) | Format::Sam(_) => {}
        Format::Organisms => {}
        Format::Commented(_) => tabular::final_comment(queries, out),
    }
}

/// Appends the whole text of a query: header, subjects, footer.
///
/// The header of a SAM report comes before all queries and names those with alignments: see
/// [`sam::SamHeader`].
///
/// # Errors
/// If a subject cannot be read or does not fit its alignments, or a text cannot be written
/// to XML.
pub fn format_query(
    setup: &ReportSetup,
    query: &QueryResult,
    source: &dyn SubjectSource,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    if let Format::Sam(options) = &setup.output.format {
        let records =
            query.hits.iter().map(|hit| sam::subject_records(setup, options, query, source, hit));
        let mut records = records.collect::<Result<Vec<_>, _>>()?.concat();
        sam::sort_records(options, &mut records, |record| &record.key);
        records.iter().for_each(|record| record.write(out));
        return Ok(());
    }
    let hits = shown_hits(setup, query, source)?;
    let query = &QueryResult { hits: &hits, hit_count: hits.len(), ..query.clone() };
    let (order, rows) = arrange_subjects(setup, query, source)?;
    let [head, tail] = query_frame(setup, query, query.hits, (&order, &rows))?;
    out.extend(head);
    subject_blocks(setup, query, source, &order, out)?;
    out.extend(tail);
    Ok(())
}

/// Returns the order in which the report prints the subjects of a query, as indexes into its hits.
/// Also returns their rows of the description table, in the order of the hits; empty if the format
/// has no table.
///
/// # Errors
/// If a subject cannot be read or does not fit its alignments.
pub fn arrange_subjects(
    setup: &ReportSetup,
    query: &QueryResult,
    source: &dyn SubjectSource,
) -> Result<(Vec<usize>, Vec<DescriptionRow>), ReportError> {
    if !has_description_table(setup) {
        return Ok(((0..query.hits.len()).collect(), Vec::new()));
    }
    let row = |hit| description_row(setup, query, source, hit);
    let rows = query.hits.iter().map(row).collect::<Result<Vec<_>, _>>()?;
    Ok((subject_print_order(setup, &rows), rows))
}

/// Appends all subjects of a query with their alignments. `order` has indexes into the query's
/// hits.
///
/// # Errors
/// If a subject cannot be read or does not fit its alignments.
pub fn subject_blocks(
    setup: &ReportSetup,
    query: &QueryResult,
    source: &dyn SubjectSource,
    order: &[usize],
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    let mut printed = order.iter().map(|&place| &query.hits[place]).zip(1..);
    printed.try_for_each(|(hit, rank)| subject_block(setup, query, source, hit, rank, out))
}
