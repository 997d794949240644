//! Formats the pairwise and query-anchored reports of a search with a pattern (`psiblast
//! -phi_pattern`). They show the alignments of one occurrence after the other
//! (`CBlastFormat::PrintPhiResult`, blast_format.cpp). The other formats have a separate report for
//! each occurrence.

use crate::anchored;
use crate::error::ReportError;
use crate::model::{Format, Occurrence, QueryResult, ReportSetup, SubjectSource};
use crate::number;
use crate::pairwise;
use crate::pieces;
use crate::table::{DescriptionRow, description_table};

/// Appends the report of a query. `results` has one entry for each occurrence of the pattern, and
/// is not empty.
///
/// # Errors
/// If a subject cannot be read or does not fit its alignments.
pub fn format_query(
    setup: &ReportSetup,
    results: &[QueryResult],
    source: &dyn SubjectSource,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    let Some(first) = results.first() else { return Ok(()) };
    pairwise::query_header(setup, first, out);
    if let Some(occurrence) = first.occurrence() {
        occurrences(occurrence, out);
    }
    // BLAST+ prints this if the first occurrence has no hits, even if others have some.
    if first.hits.is_empty() {
        out.extend_from_slice(b"\n\n***** No hits found *****\n\n\n");
        pairwise::query_footer(setup, first, out);
        return Ok(());
    }
    let described = |result: &QueryResult| {
        let row = |hit| pieces::description_row(setup, result, source, hit);
        result.hits.iter().map(row).collect::<Result<Vec<_>, _>>()
    };
    let described = results.iter().map(described).collect::<Result<Vec<_>, _>>()?;
    for (result, rows) in results.iter().zip(&described) {
        description_table(setup, result, &rows.iter().collect::<Vec<_>>(), out);
        out.push(b'\n');
    }
    out.push(b'\n');
    for (result, rows) in results.iter().zip(&described) {
        let Some(occurrence) = result.occurrence() else { continue };
        let line = format!(
            "\nSignificant alignments for pattern occurrence {} at position {}\n\n",
            occurrence.number + 1,
            occurrence.place().start + 1
        );
        out.extend_from_slice(line.as_bytes());
        if let Format::Anchored(format) = setup.output.format {
            let rows = rows.iter().filter_map(DescriptionRow::as_table_row);
            anchored::alignments(setup, format, result, rows.map(|row| &row.anchored), out)?;
        }
        for (rank, hit) in (1..).zip(result.hits) {
            pieces::subject_block(setup, result, source, hit, rank, out)?;
        }
        out.push(b'\n');
    }
    pairwise::query_footer(setup, first, out);
    Ok(())
}

/// Appends the positions of the pattern in the query.
fn occurrences(Occurrence { pattern, ranges, .. }: Occurrence, out: &mut Vec<u8>) {
    let starts: Vec<String> = ranges.iter().map(|place| (place.start + 1).to_string()).collect();
    let text = format!(
        "{} occurrence(s) of pattern: \n{} at position(s) {} of query sequence\npattern probability={}\n",
        ranges.len(),
        pattern.report_text(),
        starts.join(", "),
        number::general(pattern.probability(), 6, false)
    );
    out.extend_from_slice(text.as_bytes());
}
