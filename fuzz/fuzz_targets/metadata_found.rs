//! Decodes arbitrary bytes as subjects, iterations and alignments of metadata. The first byte is
//! the number of queries. The second selects how the rest becomes columns: unchanged, or cut at a
//! mark. In the latter case each column gets its right length and may be compressed.
#![no_main]

use fleetblast_engine::hits::Alignment;
use fleetblast_metadata::hits::{self, HitBounds, ScoreStatistics};
use fleetblast_metadata::iterations::BlockIterations;
use fleetblast_metadata::subjects;
use libfuzzer_sys::fuzz_target;

const SEQUENCES: u32 = 5_000;
const LENGTH: u32 = 40_000;

/// Artificial statistics and bounds of hits.
struct FakeStatistics;

impl ScoreStatistics for FakeStatistics {
    fn scale(&self, _: usize) -> i32 {
        32
    }

    fn bit_score(&self, _: usize, _: u8, score: i32) -> f64 {
        f64::from(score) * 0.385 + 4.6
    }

    fn evalue(&self, query: usize, _: u8, oid: u32, score: i32) -> f64 {
        assert!(query < 256 && oid < SEQUENCES);
        (f64::from(score) * -0.008).exp() * (query + 3) as f64 * f64::from(oid % 100 + 50)
    }
}

impl HitBounds for FakeStatistics {
    fn sequences(&self) -> u32 {
        SEQUENCES
    }

    fn contexts(&self, _: usize) -> usize {
        6
    }

    fn fits(&self, _: usize, _: u32, alignment: &Alignment) -> bool {
        assert!(alignment.context < 6);
        alignment.query.end <= LENGTH && alignment.subject.end <= LENGTH
    }
}

fn columns(mut how: u8, input: &[u8]) -> Vec<u8> {
    if how & 1 == 0 {
        return input.to_vec();
    }
    let mut bytes = Vec::new();
    for column in input.split(|&byte| byte == 0xfe) {
        how = how.rotate_right(1);
        let packed = zstd::bulk::compress(column, 1).expect("memory");
        let column = if how & 1 == 1 { &packed } else { column };
        let mut stated = column.len() << 1 | usize::from(how & 1);
        while stated >= 0x80 {
            bytes.push(stated as u8 | 0x80);
            stated >>= 7;
        }
        bytes.push(stated as u8);
        bytes.extend_from_slice(column);
    }
    bytes
}

fuzz_target!(|input: &[u8]| {
    let Some((&[queries, how], rest)) = input.split_first_chunk() else { return };
    let bytes = columns(how, rest);
    let queries = usize::from(queries);
    if let Some(shown) = subjects::decode(&bytes, queries, SEQUENCES) {
        let again = subjects::encode(&shown).expect("memory");
        assert_eq!(subjects::decode(&again, queries, SEQUENCES), Some(shown));
    }
    if let Some((iterations, found)) = BlockIterations::decode(&bytes, queries) {
        let again = iterations.encode(found).expect("memory");
        let (back, rest) = BlockIterations::decode(&again, queries).expect("it was encoded here");
        // This compares bytes, because NaN is not equal to itself.
        assert!(rest == found && back.encode(rest).expect("memory") == again);
    }
    if let Some(found) = hits::decode(&bytes, queries, &FakeStatistics) {
        assert_eq!(found.len(), queries);
        let again = hits::encode(&found, &FakeStatistics).expect("memory");
        let back = hits::decode(&again, queries, &FakeStatistics).expect("it was encoded here");
        assert_eq!(hits::digest(&back), hits::digest(&found));
    }
});
