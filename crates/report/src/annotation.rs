//! Alignments without sequences (formats 8, 9 and 12): for each query with hits a `Seq-annot` of
//! ASN.1 (seq.asn), as text, in BER or as JSON (`CreateSeqAnnotFromSeqAlignSet`,
//! blastfmtutil.cpp).

use fleetblast_db::SequenceKind;
use fleetblast_engine::hits::SubjectHit;

use crate::asn::{ALIGNMENT, ANNOTATION_DESCRIPTION, AsnType, AsnValue};
use crate::asn::{print_item, print_json_item, write_ber};
use crate::error::ReportError;
use crate::model::{AsnEncoding, QueryResult, ReportSetup, SubjectSource};
use crate::seq_align::subject_alignments;

/// The constant text that an encoding writes around the variable values of a `Seq-annot`.
struct Frame {
    /// Bytes before the first item of the description.
    start: &'static [u8],
    /// Bytes between the description and the first alignment.
    middle: &'static [u8],
    end: &'static [u8],
    /// Bytes between two items of a list.
    separator: &'static [u8],
    /// Nesting depths: of the items of the description, and of the alignments.
    depths: [usize; 2],
}

const TEXT: Frame = Frame {
    start: b"Seq-annot ::= {\n  desc {",
    middle: b"\n  },\n  data align {",
    end: b"\n  }\n}\n",
    separator: b",",
    depths: [2, 2],
};

const JSON: Frame = Frame {
    start: b"{\n  \"Seq_annot\": {\n    \"desc\": [",
    middle: b"\n    ],\n    \"data\": {\n      \"align\": [",
    end: b"\n      ]\n    }\n  }\n}\n",
    separator: b",",
    depths: [3, 4],
};

/// The annotation is a `SEQUENCE` (30). Its field 3 is a `SET` (31) of descriptions. Its field 4 is
/// the alternative 1, a `SET` of alignments. All have indefinite lengths (80) and end with zeros.
const BER: Frame = Frame {
    start: b"\x30\x80\xa3\x80\x31\x80",
    middle: b"\0\0\0\0\xa4\x80\xa1\x80\x31\x80",
    end: &[0; 8],
    separator: b"",
    depths: [0, 0],
};

impl AsnEncoding {
    fn frame(self) -> &'static Frame {
        match self {
            AsnEncoding::Text => &TEXT,
            AsnEncoding::Ber => &BER,
            AsnEncoding::Json => &JSON,
        }
    }

    /// Appends an item of a list.
    fn item(self, value: &AsnValue, kind: &AsnType, depth: usize, out: &mut Vec<u8>) {
        match self {
            AsnEncoding::Text => print_item(None, value, depth, out),
            AsnEncoding::Ber => write_ber(value, kind, out),
            AsnEncoding::Json => print_json_item(None, value, depth, out),
        }
    }
}

/// Appends the start of a query's annotation, up to the alignments.
///
/// # Errors
/// [`ReportError::PatternSearch`] for hits of a search with a pattern.
pub fn query_header(
    setup: &ReportSetup,
    encoding: AsnEncoding,
    query: &QueryResult,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    if query.hit_count == 0 {
        return Ok(());
    }
    if setup.params.pattern().is_some() {
        return Err(ReportError::PatternSearch);
    }
    let frame = encoding.frame();
    out.extend_from_slice(frame.start);
    for (number, item) in descriptions(setup).iter().enumerate() {
        if number > 0 {
            out.extend_from_slice(frame.separator);
        }
        encoding.item(item, &ANNOTATION_DESCRIPTION, frame.depths[0], out);
    }
    out.extend_from_slice(frame.middle);
    Ok(())
}

/// Makes the objects that describe the search.
fn descriptions(setup: &ReportSetup) -> [AsnValue; 3] {
    let object = |kind: &str, label: &[u8], value: AsnValue| {
        let field = AsnValue::Fields(vec![
            ("label", AsnValue::choice("str", AsnValue::text(label))),
            ("data", value),
        ]);
        let kind = AsnValue::choice("str", AsnValue::text(kind));
        let fields = vec![("type", kind), ("data", AsnValue::List(vec![field]))];
        AsnValue::choice("user", AsnValue::Fields(fields))
    };
    let boolean = |value| AsnValue::choice("bool", AsnValue::Boolean(value));
    let number = AsnValue::integer(setup.program.number());
    let (database, flag) = database(setup);
    [
        object("Hist Seqalign", b"Hist Seqalign", boolean(true)),
        object("Blast Type", setup.program.name().as_bytes(), AsnValue::choice("int", number)),
        object("Blast Database Title", &database, boolean(flag)),
    ]
}

/// Returns the titles of the databases, and whether they have nucleotides. BLAST+ shows neither for
/// FASTA subjects, and the name instead of the title for a database that is called SRA.
fn database(setup: &ReportSetup) -> (Vec<u8>, bool) {
    let database = &setup.database;
    let is_named = |name: &[u8]| database.label.eq_ignore_ascii_case(name);
    if database.is_subject || database.label.is_empty() || is_named(b"n/a") {
        return (b"n/a".to_vec(), false);
    }
    if is_named(b"SRA") {
        return (database.label.clone(), true);
    }
    let titles: Vec<_> = database.paragraphs.iter().map(|database| &database.title[..]).collect();
    (titles.join(&b"; "[..]), database.kind == SequenceKind::Nucleotide)
}

/// Appends the alignments of a subject. `rank` is its place among the subjects of the query, from
/// 1.
///
/// # Errors
/// If the subject cannot be read or does not fit its alignments.
pub fn subject_block(
    (setup, encoding): (&ReportSetup, AsnEncoding),
    query: &QueryResult,
    source: &dyn SubjectSource,
    hit: &SubjectHit,
    rank: usize,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    let frame = encoding.frame();
    for (number, alignment) in subject_alignments(setup, query, source, hit)?.iter().enumerate() {
        if rank > 1 || number > 0 {
            out.extend_from_slice(frame.separator);
        }
        encoding.item(alignment, &ALIGNMENT, frame.depths[1], out);
    }
    Ok(())
}

/// Appends the end of a query's annotation.
pub fn query_footer(encoding: AsnEncoding, query: &QueryResult, out: &mut Vec<u8>) {
    if query.hit_count > 0 {
        out.extend_from_slice(encoding.frame().end);
    }
}
