// Lists of ranges with one element are intended.
#![allow(clippy::single_range_in_vec_init)]

use fleetblast_seq::frame::{Frame, Strand};

use super::*;

const RULE: ChunkRule = ChunkRule { size: 10_000, is_translated: false };

#[test]
fn masks_grow_by_a_letter_in_pieces() {
    let cut =
        |start: u32, end: u32| masks_of_chunk(&[Range { start, end }, 300..310], 0, &(100..200));
    let is = |start: u32, end: u32| vec![Range { start, end }];
    assert_eq!(cut(110, 120), is(10, 21));
    assert_eq!(cut(90, 101), is(0, 2));
    assert_eq!(cut(190, 199), is(90, 100));
    assert_eq!(cut(190, 250), is(90, 100));
    assert_eq!(cut(199, 210), [], "starts with the last letter");
    assert_eq!((cut(50, 100), cut(200, 220)), (vec![], vec![]));
}

#[test]
fn masks_of_a_part_of_a_record_are_looked_for_elsewhere() {
    let cut = |start: u32, end: u32| masks_of_chunk(&[Range { start, end }], 40, &(100..200));
    assert_eq!(
        cut(90, 110),
        [Range { start: 0, end: 11 }],
        "130 to 151 of the record, from 140 on"
    );
    assert_eq!(cut(120, 180), [Range { start: 20, end: 60 }], "up to 200 of the record");
    assert_eq!(cut(165, 180), []);
}

#[test]
fn short_batches_are_not_split() {
    let none = |_| Vec::new();
    assert_eq!(split(&[9_000, 10_799], Some(RULE), none).len(), 2);
    assert_eq!(split(&[30_000], None, none).len(), 1);
}

#[test]
fn chunks_overlap_and_cover_everything() {
    for total in [19_800u64, 25_000, 31_000, 100_001] {
        let ranges = chunk_ranges(total, total / 9_900, RULE);
        assert_eq!(ranges[0].start, 0);
        assert_eq!(ranges.last().unwrap().end, total);
        for pair in ranges.windows(2) {
            assert_eq!(pair[1].start, pair[0].end - 100);
        }
    }
}

#[test]
fn boundaries_fall_on_the_concatenation() {
    let chunks = split(&[5_000, 15_000], Some(RULE), |query| vec![query as i64]);
    let chunk = |query, range, space_of, batch_or_chunk| QueryChunk {
        query,
        range,
        chunked: true,
        batch_or_chunk,
        spaces: vec![space_of],
        masks: None,
        average_length: 0,
        even_linking: None,
    };
    assert_eq!(chunks[0], chunk(0, 0..5_000, 0, 0));
    assert_eq!(chunks[1], chunk(1, 0..5_051, 1, 0));
    assert_eq!(chunks[2], chunk(1, 4_951..15_000, 0, 1));
}

/// Creates an ungapped HSP.
fn hsp(context: u8, score: i32, q: Range<u32>, s_start: u32) -> PrelimHsp {
    PrelimHsp {
        score,
        q_start: q.start,
        q_end: q.end,
        s_start,
        s_end: s_start + (q.end - q.start),
        q_seed: q.start,
        s_seed: s_start,
        evalue: 0.1,
        linked: 1,
        context,
        frame: Frame::Strand(Strand::Plus),
    }
}

fn hit(hsp: PrelimHsp) -> Vec<PrelimHit> {
    vec![PrelimHit { oid: 0, evalue: hsp.evalue, hsps: vec![hsp] }]
}

fn merge_hsps(old: PrelimHsp, new: PrelimHsp, starts: [Option<Start>; 2]) -> Vec<Range<u32>> {
    let starts = Starts { by_context: starts.to_vec(), overlap: OVERLAP };
    let merged = merge(hit(old), hit(new), &starts).remove(0).hsps;
    merged.iter().map(|hsp| hsp.q_start..hsp.q_end).collect()
}

#[test]
fn pieces_of_the_plus_strand_meet() {
    let starts = [Some(Start::Plus(900)), Some(Start::Minus(0))];
    let (old, new) = (hsp(0, 300, 700..1000, 0), hsp(0, 400, 900..1300, 200));
    assert_eq!(merge_hsps(old, new, starts), [700..1300]);
    // BLAST+ does not notice the cut if only the minus strand is searched and the next part ends
    // with the query.
    let starts = [None, Some(Start::Minus(0))];
    assert_eq!(merge_hsps(old, new, starts), [900..1300, 700..1000]);
}

#[test]
fn pieces_of_the_minus_strand_meet_only_if_the_next_is_short() {
    let long = [Some(Start::Plus(900)), Some(Start::Minus(0))];
    let (old, new) = (hsp(1, 300, 1000..1300, 800), hsp(1, 400, 700..1100, 500));
    assert_eq!(merge_hsps(old, new, long), [700..1100, 1000..1300]);
    let short = [Some(Start::Plus(1_900)), Some(Start::Minus(950))];
    assert_eq!(merge_hsps(old, new, short), [700..1300]);
}

#[test]
fn frames_of_chunks_are_parts_of_frames_of_the_query() {
    for length in 30_000..30_003u32 {
        let bases: Vec<u32> = (0..length).collect();
        let chunks =
            split(&[length], Some(ChunkRule { size: 10_002, is_translated: true }), |_| vec![]);
        assert_eq!(chunks.len(), 3);
        assert_eq!(chunks[1].range, 9_705..19_707);
        for (number, frame) in (0..).zip(FRAMES) {
            for chunk in &chunks {
                let letters = &bases[chunk.range.start as usize..chunk.range.end as usize];
                let part = FramePart::new(length, &chunk.range, number);
                let place = |start| frame.to_sequence_range(start..start + 1, letters.len() as u32);
                let whole = FRAMES[usize::from(part.context)];
                for residue in [0, part.length - 1] {
                    let local = letters[place(residue).start as usize];
                    let at = part.start + residue;
                    assert_eq!(
                        whole.to_sequence_range(at..at + 1, length).start,
                        local,
                        "{frame:?}"
                    );
                }
            }
        }
    }
}
