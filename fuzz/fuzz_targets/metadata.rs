//! Metadata of any bytes. The first byte says which: the rest as it is; sound metadata with parts of them overwritten, put in,
//! taken out; or records with right checksums whose bodies are any.
#![no_main]

#[path = "common/edits.rs"]
mod edits;

use std::sync::OnceLock;

use fleetblast_metadata::follow::Follower;
use fleetblast_metadata::records::{Chain, HEAD_BYTES, RecordKind, Records, START_BYTES};
use fleetblast_metadata::subjects::{self, Shown};
use fleetblast_metadata::{Block, Course, End, Found, Header, Kind, Query};
use libfuzzer_sys::fuzz_target;

use self::edits::edited;

/// Sequences of the database.
const SEQUENCES: u32 = 10_000;

fn specimen() -> &'static [u8] {
    static SPECIMEN: OnceLock<Vec<u8>> = OnceLock::new();
    SPECIMEN.get_or_init(|| {
        let mut chain = Chain::default();
        let mut bytes = Chain::start();
        bytes.extend(chain.record(RecordKind::Header, b"no header").expect("small"));
        for number in 0..3u32 {
            let shown = [Shown { oids: vec![number, 70, 9000], overflowed: number == 1 }];
            let oids = subjects::encode(&shown).expect("memory");
            let found = match number {
                0 => Found::report(&[b"start".to_vec(), b"of a query".to_vec()]).expect("memory"),
                _ => Found { kind: Kind::Oids, bytes: oids, digest: 7 },
            };
            let query = Query {
                title: b"title".to_vec(),
                ids: Vec::new(),
                letters: vec![3; 40],
                lower_case: vec![2..9, 12..14],
                number: 1 + u64::from(number),
                unnamed: 1,
                range: Some(1..30),
                messages: vec!["of it".to_owned()],
            };
            let course = (number > 0).then_some(Course { letters: 9, ratio: None });
            let searched = vec![true; usize::from(number == 0)];
            let block = Block { queries: vec![query], batches: vec![1], course, searched, found };
            let body = block.encode().expect("memory");
            bytes.extend(chain.record(RecordKind::Block, &body).expect("small"));
        }
        let end = End { queries: 3, blocks: 3, has_report: true, ..End::default() }
            .encode()
            .expect("memory");
        bytes.extend(chain.record(RecordKind::End, &end).expect("small"));
        bytes
    })
}

/// Records with right checksums; the first byte of each body says of what kind, and whether it is compressed here.
fn forged(input: &[u8]) -> Vec<u8> {
    let mut chain = Chain::default();
    let mut bytes = Chain::start();
    for body in input.split(|&byte| byte == 0xfe) {
        let Some((&how, body)) = body.split_first() else { continue };
        let kind = match how % 4 {
            0 => RecordKind::Header,
            3 => RecordKind::End,
            _ => RecordKind::Block,
        };
        let packed = zstd::bulk::compress(body, 1).expect("memory");
        let body = if how & 4 == 0 { body } else { &packed };
        bytes.extend(chain.record(kind, body).expect("small"));
    }
    bytes
}

fuzz_target!(|input: &[u8]| {
    let Some((&form, rest)) = input.split_first() else { return };
    let bytes = match form % 3 {
        0 => rest.to_vec(),
        1 => edited(specimen().to_vec(), rest),
        _ => forged(rest),
    };
    follow(&bytes);
    let Ok(mut records) = Records::open(bytes.as_slice()) else { return };
    let mut whole = START_BYTES;
    while let Ok(Some(record)) = records.next_record() {
        whole += HEAD_BYTES + record.body.len();
        assert_eq!(records.offset(), whole as u64);
        assert!(whole <= bytes.len());
        // With edits only what is left as it was has the right checksums.
        assert!(form % 3 != 1 || specimen()[..whole] == bytes[..whole]);
        match record.kind {
            RecordKind::Header => drop(Header::decode(&record)),
            RecordKind::End => drop(End::decode(&record)),
            RecordKind::Block => look_at_block(Block::decode(&record).ok()),
        }
    }
});

fn look_at_block(block: Option<Block>) {
    let Some(block) = block else { return };
    assert_eq!(block.batches.iter().sum::<u32>() as usize, block.queries.len());
    for query in &block.queries {
        assert!(query.range.as_ref().is_none_or(|range| range.end as usize <= query.letters.len()));
    }
    let _ = block.found.parts(1 + block.queries.len());
    let shown = subjects::decode(&block.found.bytes, block.queries.len(), SEQUENCES);
    for shown in shown.iter().flatten() {
        assert!(shown.oids.is_sorted() && shown.oids.last().is_none_or(|&oid| oid < SEQUENCES));
    }
}

/// Metadata that come in two pieces: the same is reached of them as in one.
fn follow(bytes: &[u8]) {
    let (mut one, mut two) = (Follower::default(), Follower::default());
    let came = one.take(bytes).is_ok();
    let (first, second) = bytes.split_at(bytes.len() / 2);
    assert_eq!(two.take(first).and_then(|()| two.take(second)).is_ok(), came);
    assert_eq!(one.reached(), two.reached());
    assert!(!came || one.bytes() == bytes.len() as u64);
    one.back();
    assert_eq!(one.bytes(), one.reached().whole);
}
