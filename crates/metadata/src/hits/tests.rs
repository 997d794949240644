use proptest::prelude::*;

use super::*;

/// Statistics and bounds that do not belong to a real search.
struct FakeStatistics;

impl ScoreStatistics for FakeStatistics {
    fn scale(&self, _: usize) -> i32 {
        32
    }

    fn bit_score(&self, _: usize, _: u8, score: i32) -> f64 {
        f64::from(score) * 0.385 + 4.6
    }

    fn evalue(&self, query: usize, _: u8, oid: u32, score: i32) -> f64 {
        (f64::from(score) * -0.008).exp() * (query + 3) as f64 * f64::from(oid % 100 + 50)
    }
}

impl HitBounds for FakeStatistics {
    fn sequences(&self) -> u32 {
        1_000_000
    }

    fn contexts(&self, _: usize) -> usize {
        6
    }

    fn fits(&self, _: usize, _: u32, alignment: &Alignment) -> bool {
        alignment.query.end < 10_000
    }
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let op = (0..3u64).prop_map(|number| op(number).unwrap());
    let runs = prop::collection::vec((op, 1..200u32).prop_map(|(op, len)| Edit { op, len }), 0..6);
    // An alignment without letters is one run of length 0.
    let nothing = Just(vec![Edit { op: EditOp::Substitution, len: 0 }]);
    prop_oneof![9 => runs, 1 => nothing]
}

fn alignment() -> impl Strategy<Value = Alignment> {
    let scores = (1..3000i32, -16..16i32, any::<bool>(), any::<bool>());
    let place = (0..5000u32, 0..5000u32, 0..6u8, 0..FRAMES.len(), 0..3usize, 0..4u32);
    (scores, place, edits()).prop_map(|((score, offset, odd, odd_bits), place, edits)| {
        let (q, s, context, frame, adjustment, computation_index) = place;
        let letters =
            |gap| edits.iter().filter(|edit| edit.op != gap).map(|edit| edit.len).sum::<u32>();
        let bits = FakeStatistics.bit_score(0, context, score);
        let evalue = FakeStatistics.evalue(0, context, 7, score * 32 + offset);
        Alignment {
            score,
            bit_score: if odd_bits { bits + 1e-9 } else { bits },
            evalue: if odd { 1.7e-9 } else { evalue },
            linked: 1,
            query: q..q + letters(EditOp::GapInQuery),
            subject: s..s + letters(EditOp::GapInSubject),
            context,
            frame: FRAMES[frame],
            edits,
            computation_index,
            pattern_occurrence: 0,
            adjustment: ADJUSTMENTS[adjustment],
            positives: None,
            stored: None,
        }
    })
}

fn hits() -> impl Strategy<Value = Vec<SubjectHit>> {
    let hit = (0..1_000_000u32, prop::collection::vec(alignment(), 1..4));
    let hit = hit.prop_map(|(oid, alignments)| SubjectHit::new(oid, alignments));
    prop::collection::vec(hit, 0..5)
}

proptest! {
    #[test]
    fn hits_come_back(queries in prop::collection::vec(hits(), 0..4)) {
        let bytes = encode(&queries, &FakeStatistics).unwrap();
        let back = decode(&bytes, queries.len(), &FakeStatistics).unwrap();
        prop_assert_eq!(digest(&back), digest(&queries));
        prop_assert_eq!(&back, &queries);
        prop_assert!(decode(&bytes, queries.len() + 1, &FakeStatistics).is_none());
    }

    #[test]
    fn any_bytes_are_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = decode(&bytes, 2, &FakeStatistics);
    }

    #[test]
    fn changed_bytes_are_an_answer(
        queries in prop::collection::vec(hits(), 1..3), at in any::<prop::sample::Index>(), byte: u8
    ) {
        let mut bytes = encode(&queries, &FakeStatistics).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = decode(&bytes, queries.len(), &FakeStatistics);
    }
}

#[test]
fn e_values_that_follow_from_scores_take_no_room() {
    for wanted in -16..16 {
        let evalue = FakeStatistics.evalue(1, 0, 7, 100 * 32 + wanted);
        assert_eq!(
            offset(100, 32, evalue, |score| FakeStatistics.evalue(1, 0, 7, score)),
            Some(wanted)
        );
    }
    assert_eq!(offset(100, 32, 0.5, |score| FakeStatistics.evalue(1, 0, 7, score)), None);
    assert_eq!(offset(100, 1, 0.5, |score| if score == 100 { 0.5 } else { 0.0 }), Some(0));
}

#[test]
fn a_digest_sees_every_bit() {
    let alignment = Alignment {
        score: 5,
        bit_score: 6.5,
        evalue: 0.1,
        linked: 1,
        query: 1..4,
        subject: 2..5,
        context: 0,
        frame: Frame::Protein,
        edits: vec![Edit { op: EditOp::Substitution, len: 3 }],
        computation_index: 0,
        pattern_occurrence: 0,
        adjustment: Adjustment::None,
        positives: None,
        stored: None,
    };
    let digest_of =
        |alignment: &Alignment| digest(&[vec![SubjectHit::new(1, vec![alignment.clone()])]]);
    let whole = digest_of(&alignment);
    let next = f64::from_bits(alignment.evalue.to_bits() + 1);
    let others = [
        Alignment { score: 4, ..alignment.clone() },
        Alignment { evalue: next, ..alignment.clone() },
        Alignment { bit_score: 6.25, ..alignment.clone() },
        Alignment { subject: 2..6, ..alignment.clone() },
        Alignment { adjustment: Adjustment::Matrix, ..alignment.clone() },
        Alignment { edits: vec![Edit { op: EditOp::GapInQuery, len: 3 }], ..alignment.clone() },
    ];
    others.iter().for_each(|other| assert_ne!(digest_of(other), whole));
    assert_ne!(digest(&[vec![], vec![]]), digest(&[vec![]]));
}
