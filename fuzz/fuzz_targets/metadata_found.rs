//! Subjects, rounds and alignments of any bytes, for so many queries as the first byte says. The second says how the rest becomes columns: as
//! it is, or cut at a mark, each column with its right length and compressed or not.
#![no_main]

use fleetblast_engine::hits::Alignment;
use fleetblast_metadata::hits::{self, Bounds, Worth};
use fleetblast_metadata::rounds::Rounds;
use fleetblast_metadata::subjects;
use libfuzzer_sys::fuzz_target;

const SEQUENCES: u32 = 5_000;
const LENGTH: u32 = 40_000;

/// Statistics of no search.
struct Made;

impl Worth for Made {
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

impl Bounds for Made {
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
        let mut told = column.len() << 1 | usize::from(how & 1);
        while told >= 0x80 {
            bytes.push(told as u8 | 0x80);
            told >>= 7;
        }
        bytes.push(told as u8);
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
    if let Some((rounds, found)) = Rounds::decode(&bytes, queries) {
        let again = rounds.encode(found).expect("memory");
        let (back, rest) = Rounds::decode(&again, queries).expect("what was written is read");
        // Numbers that are none are not equal to themselves.
        assert!(rest == found && back.encode(rest).expect("memory") == again);
    }
    if let Some(found) = hits::decode(&bytes, queries, &Made) {
        assert_eq!(found.len(), queries);
        let again = hits::encode(&found, &Made).expect("memory");
        let back = hits::decode(&again, queries, &Made).expect("what was written is read");
        assert_eq!(hits::digest(&back), hits::digest(&found));
    }
});
