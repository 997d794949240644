//! Formats BLAST XML (format 5; blastxml_format.cpp).

use std::ops::Range;

use fleetblast_engine::hits::{Alignment, SubjectHit};

use crate::error::ReportError;
use crate::letters::{self, PositivePairs};
use crate::model::{QueryResult, ReportSetup, SubjectSource};
use crate::names::{self, SubjectNames};
use crate::number;
use crate::pair::AlignmentRows;
use crate::program;
use crate::text;

/// Appends the text before the first query: program, databases, parameters, and the names of the
/// first query.
pub fn prologue(
    setup: &ReportSetup,
    first: &QueryResult,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    let parameters = program::xml_parameters(setup)?;
    out.extend_from_slice(setup.xml_encoding().declaration().as_bytes());
    out.extend_from_slice(
        b"\n<!DOCTYPE BlastOutput PUBLIC \"-//NCBI//NCBI BlastOutput/EN\" \
          \"http://www.ncbi.nlm.nih.gov/dtd/NCBI_BlastOutput.dtd\">\n<BlastOutput>\n",
    );
    element(setup, 2, "BlastOutput_program", setup.program.name().as_bytes(), out)?;
    element(setup, 2, "BlastOutput_version", setup.banner().as_bytes(), out)?;
    element(
        setup,
        2,
        "BlastOutput_reference",
        setup.citations.of_xml().citation().as_bytes(),
        out,
    )?;
    let database = if setup.database.is_subject { &[][..] } else { &setup.database.label };
    element(setup, 2, "BlastOutput_db", database, out)?;
    query_elements(setup, "BlastOutput_query", first, out)?;
    out.extend_from_slice(b"  <BlastOutput_param>\n    <Parameters>\n");
    for (name, text) in parameters {
        element(setup, 6, &format!("Parameters_{name}"), text.as_bytes(), out)?;
    }
    out.extend_from_slice(b"    </Parameters>\n  </BlastOutput_param>\n<BlastOutput_iterations>\n");
    Ok(())
}

fn query_elements(
    setup: &ReportSetup,
    prefix: &str,
    query: &QueryResult,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    element(setup, 2, &format!("{prefix}-ID"), &names::xml_query_id(setup, query), out)?;
    element(setup, 2, &format!("{prefix}-def"), &names::xml_query_definition(setup, query), out)?;
    value(2, &format!("{prefix}-len"), query.searched_length(), out);
    Ok(())
}

/// Appends the elements before a query's subjects.
pub fn query_header(
    setup: &ReportSetup,
    query: &QueryResult,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    out.extend_from_slice(b"<Iteration>\n");
    let number = query.repeated_search.map_or(query.number, |round| round.serial);
    value(2, "Iteration_iter-num", number, out);
    query_elements(setup, "Iteration_query", query, out)?;
    out.extend_from_slice(b"<Iteration_hits>\n");
    Ok(())
}

/// Appends a subject and its alignments. `rank` is the subject's place in the list, from 1.
pub fn subject_block(
    setup: &ReportSetup,
    query: &QueryResult,
    source: &dyn SubjectSource,
    hit: &SubjectHit,
    rank: usize,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    let subject = SubjectNames::read(setup, source, hit.oid)?;
    let (id, definition) = subject.hit_id_and_definition();
    out.extend_from_slice(b"<Hit>\n");
    value(2, "Hit_num", rank, out);
    element(setup, 2, "Hit_id", &id, out)?;
    element(setup, 2, "Hit_def", &definition, out)?;
    element(setup, 2, "Hit_accession", &subject.hit_accession(), out)?;
    value(2, "Hit_len", source.shown_length(hit.oid), out);
    out.extend_from_slice(b"  <Hit_hsps>\n");
    let positives = PositivePairs::for_xml(setup.params);
    for (i, (oid, alignment)) in hit.all_alignments().enumerate() {
        let pair = AlignmentRows::new(query, source, oid, alignment)?;
        hsp(setup, query, i + 1, (alignment, &pair), &positives, out)?;
    }
    out.extend_from_slice(b"  </Hit_hsps>\n</Hit>\n");
    Ok(())
}

fn hsp(
    setup: &ReportSetup,
    query: &QueryResult,
    rank: usize,
    (alignment, pair): (&Alignment, &AlignmentRows),
    positives: &PositivePairs,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    out.extend_from_slice(b"    <Hsp>\n");
    value(6, "Hsp_num", rank, out);
    value(6, "Hsp_bit-score", six_digits(alignment.bit_score), out);
    value(6, "Hsp_score", alignment.score, out);
    value(6, "Hsp_evalue", six_digits(number::stored_evalue(alignment.evalue)), out);
    let (query_position, subject_position) = (&pair.positions.query, &pair.positions.subject);
    let ([q_from, q_to], [s_from, s_to]) = (query_position.xml_ends(), subject_position.xml_ends());
    value(6, "Hsp_query-from", q_from, out);
    value(6, "Hsp_query-to", q_to, out);
    value(6, "Hsp_hit-from", s_from, out);
    value(6, "Hsp_hit-to", s_to, out);
    value(6, "Hsp_query-frame", query_position.frame.number(), out);
    value(6, "Hsp_hit-frame", subject_position.frame.number(), out);
    value(6, "Hsp_identity", pair.identities, out);
    let midline = pair.midline(positives);
    value(6, "Hsp_positive", letters::count_positives(&midline), out);
    value(6, "Hsp_gaps", pair.gap_columns, out);
    value(6, "Hsp_align-len", pair.column_count(), out);
    match program::shows_masks_in_xml(setup.params) {
        true => element(
            setup,
            6,
            "Hsp_qseq",
            &masked_query(
                &query.masks_within(alignment.context, &pair.positions.query),
                pair,
                |_| b'X',
            ),
            out,
        )?,
        false => element(setup, 6, "Hsp_qseq", &pair.query_row, out)?,
    }
    element(setup, 6, "Hsp_hseq", &pair.subject_row, out)?;
    element(setup, 6, "Hsp_midline", &midline, out)?;
    out.extend_from_slice(b"    </Hsp>\n");
    Ok(())
}

/// Returns the query's row with `replacement` applied to masked letters, even if only the look-up
/// table is masked.
///
/// BLAST+ walks along the masks and the runs of columns that the edits describe (`s_MaskQuerySeq`,
/// blastfmtutil.cpp). It ignores a mask that begins before the alignment. If a mask ends at the end
/// of a run, the next mask counts only from the next run on.
pub(crate) fn masked_query(
    masks: &[Range<u32>],
    pair: &AlignmentRows,
    replacement: impl Fn(u8) -> u8,
) -> Vec<u8> {
    let mut row = pair.query_row.clone();
    let ignored =
        masks.iter().filter(|mask| pair.positions.query.is_overlapped_from_before(mask)).count();
    // A mask does not overlap an alignment without columns that it encloses.
    let masks = pair.masked_query_columns(masks).into_iter().skip(ignored);
    let mut masks = masks.peekable();
    let mut piece_start = 0;
    // An alignment without columns has an edit of length 0.
    for edit in pair.edits.iter().filter(|edit| edit.len > 0) {
        let last = piece_start + edit.len as usize - 1;
        while let Some(mask) = masks.peek().filter(|mask| mask.start.max(piece_start) <= last) {
            let masked = mask.start.max(piece_start)..mask.end.min(last + 1);
            let next = masked.start.max(masked.end);
            if masked.start < masked.end {
                row[masked].iter_mut().filter(|c| **c != b'-').for_each(|c| *c = replacement(*c));
            }
            if next >= last {
                break;
            }
            masks.next();
        }
        piece_start = last + 1;
    }
    row
}

/// Formats a double after rounding it to six digits.
pub(crate) fn six_digits(value: f64) -> String {
    let cut = number::general(value, 6, false);
    cut.parse().map_or(cut, number::posix)
}

/// Appends the elements after a query's subjects.
pub fn query_footer(
    setup: &ReportSetup,
    query: &QueryResult,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    out.extend_from_slice(b"</Iteration_hits>\n  <Iteration_stat>\n    <Statistics>\n");
    let database = &setup.database;
    // FASTA subjects count as 0 sequences.
    let counted = || database.paragraphs.iter().filter(|_| !database.is_subject);
    value(6, "Statistics_db-num", counted().map(|d| d.sequences).sum::<i64>(), out);
    value(6, "Statistics_db-len", counted().map(|d| d.residues).sum::<i64>(), out);
    let context = query.statistics();
    value(6, "Statistics_hsp-len", context.length_adjustment, out);
    value(6, "Statistics_eff-space", number::posix(context.search_space as f64), out);
    let [k, lambda, h] = program::xml_statistics(setup.params, query);
    value(6, "Statistics_kappa", number::posix(k), out);
    value(6, "Statistics_lambda", number::posix(lambda), out);
    value(6, "Statistics_entropy", number::posix(h), out);
    out.extend_from_slice(b"    </Statistics>\n  </Iteration_stat>\n");
    let message = query.xml_message();
    if !message.is_empty() {
        element(setup, 2, "Iteration_message", &message, out)?;
    }
    out.extend_from_slice(b"</Iteration>\n");
    Ok(())
}

/// Appends the text after the last query.
pub fn epilogue(out: &mut Vec<u8>) {
    out.extend_from_slice(b"</BlastOutput_iterations>\n</BlastOutput>\n\n");
}

/// Appends an element with text, on a line of its own.
fn element(
    setup: &ReportSetup,
    indent: usize,
    name: &str,
    content: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    start_tag(indent, name, out);
    text::append_escaped_xml(content, setup.xml_encoding(), out)?;
    end_tag(name, out);
    Ok(())
}

/// Appends an element with a number, or with a text that needs no escape.
fn value(indent: usize, name: &str, content: impl std::fmt::Display, out: &mut Vec<u8>) {
    start_tag(indent, name, out);
    out.extend_from_slice(content.to_string().as_bytes());
    end_tag(name, out);
}

fn start_tag(indent: usize, name: &str, out: &mut Vec<u8>) {
    out.resize(out.len() + indent, b' ');
    out.push(b'<');
    out.extend_from_slice(name.as_bytes());
    out.push(b'>');
}

fn end_tag(name: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"</");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b">\n");
}
