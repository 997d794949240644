use std::ops::Range;

use fleetblast_engine::hits::{Adjustment, EditOp};

use super::*;

const PLUS: Frame = Frame::Strand(Strand::Plus);
const MINUS: Frame = Frame::Strand(Strand::Minus);

/// Converts BLAST+'s number of a codon frame, 1 to 3 or -1 to -3.
fn codons(number: i8) -> Frame {
    let strand = if number < 0 { Strand::Minus } else { Strand::Plus };
    Frame::Codons(strand, number.unsigned_abs() - 1)
}

fn alignment(query: Range<u32>, subject: Range<u32>, frame: Frame) -> Alignment {
    Alignment {
        score: 1,
        bit_score: 1.0,
        evalue: 1.0,
        linked: 1,
        query,
        subject,
        context: 0,
        frame,
        edits: vec![
            Edit { op: EditOp::Substitution, len: 5 },
            Edit { op: EditOp::GapInQuery, len: 1 },
            Edit { op: EditOp::Substitution, len: 2 },
        ],
        computation_index: 0,
        pattern_occurrence: 0,
        adjustment: Adjustment::None,
        positives: None,
        stored: None,
    }
}

/// The values that BLAST+ prints for an alignment: positions, and frames as in the columns `frames`
/// and in XML.
#[derive(Debug, PartialEq, Eq)]
struct PrintedValues {
    query: [u32; 2],
    subject: [u32; 2],
    frames: [i8; 2],
    xml_query: [u32; 2],
    xml_subject: [u32; 2],
    xml_frames: [i8; 2],
    strand: Option<Strand>,
}

fn printed(
    (context, query, query_extent): (Frame, Range<u32>, SearchedExtent),
    (frame, subject, subject_extent): (Frame, Range<u32>, SearchedExtent),
) -> PrintedValues {
    let alignment = alignment(query, subject, frame);
    let positions =
        AlignmentPositions::new(&alignment, context, &query_extent, &subject_extent).unwrap();
    PrintedValues {
        query: positions.query.printed_ends(),
        subject: positions.subject.printed_ends(),
        frames: positions.tabular_frames(),
        xml_query: positions.query.xml_ends(),
        xml_subject: positions.subject.xml_ends(),
        xml_frames: [positions.query.frame.number(), positions.subject.frame.number()],
        strand: positions.subject_strand(),
    }
}

/// Returns the extent of a sequence of `length` letters that is searched from `from` to `to`, as
/// the user types them: from 1, inclusive.
fn part(from: u32, to: u32, length: u32) -> SearchedExtent {
    SearchedExtent { length, searched_range: from - 1..to }
}

/// Returns the extent of a protein that is searched as a whole.
fn protein(residues: u32) -> SearchedExtent {
    SearchedExtent::fully_searched(residues)
}

#[test]
fn a_single_base_is_on_the_plus_strand_in_tables() {
    let strand = |strand| Frame::Strand(strand);
    let query = (strand(Strand::Minus), 3..4, part(1, 9, 9));
    let found = printed(query, (strand(Strand::Plus), 4..5, part(1, 20, 20)));
    assert_eq!((found.subject, found.frames), ([5, 5], [1, 1]));
    assert_eq!(found.strand, Some(Strand::Minus));
}

#[test]
fn proteins_are_counted_as_they_are_and_have_frames_by_the_format() {
    let query = (Frame::Protein, 0..9, part(21, 150, 200));
    let found = printed(query, (Frame::Protein, 4..13, protein(40)));
    let expected = PrintedValues {
        query: [21, 29],
        subject: [5, 13],
        frames: [1, 1],
        xml_query: [21, 29],
        xml_subject: [5, 13],
        xml_frames: [0, 0],
        strand: None,
    };
    assert_eq!(found, expected);
}

/// Expected values are from `blastn`: a query of 309 bases with a hit on the minus strand of a
/// subject of 277. The hit is `[a, b)` of its context and `[a_s, b_s)` of the subject. Printed are
/// 309 − b + 1 to 309 − a in the query, and `b_s` to `a_s + 1` in the subject.
#[test]
fn the_minus_strand_is_the_subjects_in_blastn() {
    let (query, subject) = (59..289, 7..237);
    let expected = PrintedValues {
        query: [21, 250],
        subject: [237, 8],
        frames: [1, -1],
        xml_query: [21, 250],
        xml_subject: [237, 8],
        xml_frames: [1, -1],
        strand: Some(Strand::Minus),
    };
    let whole = printed(
        (MINUS, query, SearchedExtent::fully_searched(309)),
        (PLUS, subject, SearchedExtent::fully_searched(277)),
    );
    assert_eq!(whole, expected);
    // The same hit with `-query_loc 3-260 -subject_loc 4-240`.
    let parts = printed((MINUS, 10..240, part(3, 260, 309)), (PLUS, 4..234, part(4, 240, 277)));
    assert_eq!(parts, expected);
    let plus = printed(
        (PLUS, 5..309, SearchedExtent::fully_searched(309)),
        (PLUS, 11..312, SearchedExtent::fully_searched(317)),
    );
    assert_eq!((plus.query, plus.subject), ([6, 309], [12, 312]));
    assert_eq!((plus.frames, plus.strand), ([1, 1], Some(Strand::Plus)));
}

#[test]
fn columns_and_masks_turn_with_the_rows() {
    let alignment = alignment(59..289, 7..237, PLUS);
    let lengths = |context| {
        let columns = printed_edits(&alignment, context).into_iter();
        columns.map(|edit| edit.len).collect::<Vec<_>>()
    };
    assert_eq!(lengths(MINUS), [2, 1, 5]);
    assert_eq!(lengths(PLUS), [5, 1, 2]);
    assert_eq!(lengths(codons(-1)), [5, 1, 2]);
    // The report shows a mask of the context on the bases that it hides.
    let mask = RowPosition::new(MINUS, &(280..300), &SearchedExtent::fully_searched(309)).unwrap();
    assert_eq!(mask.sequence_range, 9..29);
    let positions = AlignmentPositions::new(
        &alignment,
        MINUS,
        &SearchedExtent::fully_searched(309),
        &SearchedExtent::fully_searched(277),
    )
    .unwrap();
    assert_eq!(positions.query.overlapped_letters(&mask.sequence_range), Some(0..9));
    assert!(positions.query.is_overlapped_from_before(&mask.sequence_range));
}

/// Expected values are from `blastx`: a query of 309 bases against a protein.
#[test]
fn positions_of_translated_queries_are_those_of_bases() {
    for (frame, query, ends) in
        [(2, 10..97, [32, 292]), (-3, 5..27, [292, 227]), (-2, 7..33, [287, 210])]
    {
        let subject = (Frame::Protein, 0..22, protein(90));
        let found = printed((codons(frame), query, SearchedExtent::fully_searched(309)), subject);
        assert_eq!((found.query, found.frames), (ends, [frame, 0]));
        assert_eq!((found.subject, found.strand), ([1, 22], None));
        assert_eq!(found.xml_query, [ends[0].min(ends[1]), ends[0].max(ends[1])]);
        assert_eq!(found.xml_frames, [frame, 0]);
    }
}

/// Expected values are from `blastx -query_loc 3-260` with the same query: the search counts frames
/// in the range, the report in the whole query.
#[test]
fn frames_of_a_part_are_printed_as_those_of_the_whole() {
    for (searched, query, ends, frame) in
        [(3, 9..85, [32, 259], 2), (-3, 62..65, [72, 64], -1), (-1, 5..17, [245, 210], -2)]
    {
        let subject = (Frame::Protein, 0..12, protein(90));
        let found = printed((codons(searched), query, part(3, 260, 309)), subject);
        assert_eq!((found.query, found.frames), (ends, [frame, 0]));
    }
}

/// Expected values are from `tblastn`, first for whole sequences and then with `-subject_loc
/// 5-290`.
#[test]
fn positions_of_translated_subjects_are_those_of_bases() {
    let query = || (Frame::Protein, 0..87, protein(90));
    let found = printed(query(), (codons(-1), 11..98, SearchedExtent::fully_searched(314)));
    assert_eq!((found.subject, found.frames, found.strand), ([281, 21], [0, -1], None));
    assert_eq!((found.query, found.xml_subject), ([1, 87], [21, 281]));
    let found = printed(query(), (codons(1), 9..95, part(5, 290, 309)));
    assert_eq!((found.subject, found.frames), ([32, 289], [0, 2]));
}

/// Expected values are from `tblastx`, first for whole sequences and then with `-query_loc 3-260
/// -subject_loc 4-240`.
#[test]
fn both_may_be_translated() {
    let query = (codons(-3), 19..96, SearchedExtent::fully_searched(309));
    let found = printed(query, (codons(2), 2..79, SearchedExtent::fully_searched(277)));
    assert_eq!((found.query, found.subject, found.frames), ([250, 20], [8, 238], [-3, 2]));
    assert_eq!((found.xml_query, found.xml_subject), ([20, 250], [8, 238]));
    let query = (codons(3), 5..82, part(3, 260, 309));
    let found = printed(query, (codons(-3), 0..77, part(4, 240, 277)));
    assert_eq!((found.query, found.subject, found.frames), ([20, 250], [238, 8], [2, -1]));
}

/// Positions by the formulas for whole sequences. Codons a to b of frame f are printed from 3a + f
/// to 3b + f − 1. On the minus strand they are printed from L − 3a + f + 1 to L − 3b + f + 2.
#[test]
fn every_frame_and_codon_lies_where_the_formulas_say() {
    for length in 60..63 {
        for f in [1, 2, 3, -1, -2, -3] {
            for (a, b) in [(0, 1), (0, 19), (7, 12), (18, 19)] {
                let position =
                    RowPosition::new(codons(f), &(a..b), &SearchedExtent::fully_searched(length));
                let (a, b, l, number) = (a as i32, b as i32, length as i32, i32::from(f));
                let Some(position) = position else {
                    assert!(3 * b + number.abs() - 1 > l);
                    continue;
                };
                let expected = match f > 0 {
                    true => [3 * a + number, 3 * b + number - 1],
                    false => [l - 3 * a + number + 1, l - 3 * b + number + 2],
                };
                assert_eq!(position.printed_ends().map(|end| end as i32), expected);
                assert_eq!(
                    (position.frame, position.frame_range.clone()),
                    (codons(f), a as u32..b as u32)
                );
                let codon = position.printed_ends_of(0..1).map(|end| end as i32);
                assert_eq!(codon, [expected[0], expected[0] + 2 * number.signum()]);
            }
        }
    }
}

#[test]
fn stretches_touch_codons_from_either_side() {
    let plus = RowPosition { frame: codons(1), frame_range: 3..7, sequence_range: 9..21 };
    let minus = RowPosition { frame: codons(-1), frame_range: 3..7, sequence_range: 9..21 };
    for (stretch, in_plus, in_minus) in [
        (0..9, None, None),
        (0..10, Some(0..1), Some(3..4)),
        (11..13, Some(0..2), Some(2..4)),
        (20..40, Some(3..4), Some(0..1)),
        (21..40, None, None),
    ] {
        assert_eq!(
            (plus.overlapped_letters(&stretch), minus.overlapped_letters(&stretch)),
            (in_plus, in_minus)
        );
    }
    assert!(plus.is_overlapped_from_before(&(8..10)) && !minus.is_overlapped_from_before(&(8..10)));
    assert!(
        minus.is_overlapped_from_before(&(20..22)) && !plus.is_overlapped_from_before(&(20..22))
    );
    assert!(
        !plus.is_overlapped_from_before(&(9..10)) && !minus.is_overlapped_from_before(&(20..21))
    );
    assert!(
        !plus.is_overlapped_from_before(&(0..9)) && !minus.is_overlapped_from_before(&(21..30))
    );
}

#[test]
fn what_does_not_fit_has_no_place() {
    let fits = |frame, read: Range<u32>, extent: SearchedExtent| {
        RowPosition::new(frame, &read, &extent).is_some()
    };
    assert!(fits(Frame::Protein, 0..10, protein(10)));
    assert!(!fits(Frame::Protein, 0..11, protein(10)));
    // An alignment without columns fits, too.
    assert!(fits(Frame::Protein, 4..4, protein(10)));
    assert!(fits(codons(2), 0..3, SearchedExtent::fully_searched(10)));
    assert!(!fits(codons(3), 0..3, SearchedExtent::fully_searched(10)));
    assert!(!fits(codons(-3), 0..1, SearchedExtent::fully_searched(1)));
    assert!(!fits(codons(1), 0..u32::MAX / 2, SearchedExtent::fully_searched(10)));
    // The searched range is longer than the sequence.
    assert!(!fits(Frame::Protein, 0..3, part(5, 11, 10)));
    assert!(fits(Frame::Protein, 0..6, part(5, 10, 10)));
    // Reverse rows need bases in both sequences.
    let beside_protein = alignment(0..3, 0..3, Frame::Protein);
    assert!(
        AlignmentPositions::new(
            &beside_protein,
            MINUS,
            &SearchedExtent::fully_searched(9),
            &protein(9)
        )
        .is_none()
    );
}
