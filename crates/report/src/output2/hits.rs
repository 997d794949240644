//! Formats the hits of a search in BLAST JSON and BLAST XML2.

use fleetblast_engine::hits::{Alignment, SubjectHit};
use fleetblast_seq::frame::{Frame, Strand};

use super::writer::Writer;
use super::writer_within;
use crate::error::ReportError;
use crate::letters::{self, PositivePairs};
use crate::model::{Output2, QueryResult, ReportSetup, SubjectSource};
use crate::names::SubjectNames;
use crate::number;
use crate::order;
use crate::pair::AlignmentRows;
use crate::xml::{masked_query, six_digits};

/// Appends a subject and its alignments. `rank` is the subject's place in the list, from 1.
///
/// # Errors
/// If the subject cannot be read or does not fit its alignments, or a text cannot be written.
pub fn subject_block(
    (setup, format): (&ReportSetup, &Output2),
    query: &QueryResult,
    source: &dyn SubjectSource,
    hit: &SubjectHit,
    rank: usize,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    let subject = SubjectNames::read(setup, source, hit.oid)?;
    let mut writer = writer_within((setup, format), format.depth_of_hits(), rank > 1, out);
    writer.open_item("Hit");
    writer.value("num", rank);
    writer.open_list("description");
    for description in subject.descriptions(source)? {
        writer.open_item("HitDescr");
        writer.text("id", &description.id)?;
        if !description.accession.is_empty() {
            writer.text("accession", &description.accession)?;
        }
        if let Some(title) = description.title {
            writer.text("title", &title)?;
        }
        if let Some(taxid) = description.taxid {
            writer.value("taxid", taxid);
        }
        if let Some(name) = description.scientific_name {
            writer.text("sciname", &name)?;
        }
        writer.close_item("HitDescr");
    }
    writer.close_list("description");
    writer.value("len", source.shown_length(hit.oid));
    writer.open_list("hsps");
    let positives = PositivePairs::for_xml(setup.params);
    for (i, (oid, alignment)) in hit.all_alignments().enumerate() {
        writer.open_item("Hsp");
        if format.lacks_sequences {
            let matches = order::stated_matches(setup, query, source, oid, alignment)?;
            write_scores(i + 1, alignment, matches.identities, &mut writer);
            write_lost_rows(&mut writer)?;
        } else {
            let pair = AlignmentRows::new(query, source, oid, alignment)?;
            write_scores(i + 1, alignment, pair.identities, &mut writer);
            write_rows(query, (alignment, &pair), &positives, &mut writer)?;
        }
        writer.close_item("Hsp");
    }
    writer.close_list("hsps");
    writer.close_item("Hit");
    Ok(())
}

fn write_scores(rank: usize, alignment: &Alignment, identities: usize, writer: &mut Writer) {
    writer.value("num", rank);
    writer.value("bit-score", six_digits(alignment.bit_score));
    writer.value("score", alignment.score);
    writer.value("evalue", six_digits(number::stored_evalue(alignment.evalue)));
    writer.value("identity", identities);
}

/// Writes the values that BLAST+ shows for an alignment if it has lost the sequences.
fn write_lost_rows(writer: &mut Writer) -> Result<(), ReportError> {
    for name in ["query-from", "query-to", "hit-from", "hit-to"] {
        writer.value(name, 0);
    }
    writer.text("qseq", b"")?;
    writer.text("hseq", b"")
}

fn write_rows(
    query: &QueryResult,
    (alignment, pair): (&Alignment, &AlignmentRows),
    positives: &PositivePairs,
    writer: &mut Writer,
) -> Result<(), ReportError> {
    let midline = pair.midline(positives);
    if positives.are_reported() {
        writer.value("positive", letters::count_positives(&midline));
    }
    let names = [
        ["query-from", "query-to", "query-strand", "query-frame"],
        ["hit-from", "hit-to", "hit-strand", "hit-frame"],
    ];
    for (position, [start, end, strand, frame]) in
        [&pair.positions.query, &pair.positions.subject].into_iter().zip(names)
    {
        let [from, to] = position.xml_ends();
        writer.value(start, from);
        writer.value(end, to);
        match position.frame {
            Frame::Protein => {}
            Frame::Strand(Strand::Plus) => writer.text(strand, b"Plus")?,
            Frame::Strand(Strand::Minus) => writer.text(strand, b"Minus")?,
            Frame::Codons(..) => writer.value(frame, position.frame.number()),
        }
    }
    writer.value("align-len", pair.column_count());
    writer.value("gaps", pair.gap_columns);
    let masks = query.masks_within(alignment.context, &pair.positions.query);
    writer.text("qseq", &masked_query(&masks, pair, |letter| letter.to_ascii_lowercase()))?;
    writer.text("hseq", &pair.subject_row)?;
    writer.text("midline", &midline)
}
