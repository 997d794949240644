//! Reads metadata. The first byte of the input selects one of three kinds of metadata. They are the
//! rest of the input; valid metadata, edited by the rest; or records with right checksums and
//! arbitrary bodies.
#![no_main]

#[path = "common/edits.rs"]
mod edits;

use std::sync::OnceLock;

use fleetblast_metadata::follow::MetadataVerifier;
use fleetblast_metadata::records::{HEAD_BYTES, RecordChain, RecordKind, Records, START_BYTES};
use fleetblast_metadata::subjects::{self, ShownSubjects};
use fleetblast_metadata::{BatchState, Block, BlockResults, Encoding, End, Header, Query};
use libfuzzer_sys::fuzz_target;

use self::edits::edited;

/// Number of sequences of the database.
const SEQUENCES: u32 = 10_000;

fn specimen() -> &'static [u8] {
    static SPECIMEN: OnceLock<Vec<u8>> = OnceLock::new();
    SPECIMEN.get_or_init(|| {
        let mut chain = RecordChain::default();
        let mut bytes = RecordChain::start();
        bytes.extend(chain.record(RecordKind::Header, b"no header").expect("small"));
        for number in 0..3u32 {
            let shown = [ShownSubjects { oids: vec![number, 70, 9000], overflowed: number == 1 }];
            let oids = subjects::encode(&shown).expect("memory");
            let results = match number {
                0 => BlockResults::report(&[b"start".to_vec(), b"of a query".to_vec()])
                    .expect("memory"),
                _ => BlockResults { encoding: Encoding::Oids, bytes: oids, digest: 7 },
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
            let batch_state = (number > 0).then_some(BatchState { letters: 9, ratio: None });
            let searched = vec![true; usize::from(number == 0)];
            let (queries, batches) = (vec![query], vec![1]);
            let block = Block { queries, batches, batch_state, searched, results };
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

/// Makes records with right checksums from arbitrary bodies. The first byte of each body selects
/// the kind of its record, and whether this function compresses it.
fn forged(input: &[u8]) -> Vec<u8> {
    let mut chain = RecordChain::default();
    let mut bytes = RecordChain::start();
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
        // After edits, only unchanged records have right checksums.
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
    let _ = block.results.parts(1 + block.queries.len());
    let shown = subjects::decode(&block.results.bytes, block.queries.len(), SEQUENCES);
    for shown in shown.iter().flatten() {
        assert!(shown.oids.is_sorted() && shown.oids.last().is_none_or(|&oid| oid < SEQUENCES));
    }
}

/// Verifies that metadata received in two pieces lead to the same resume point as in one.
fn follow(bytes: &[u8]) {
    let (mut one, mut two) = (MetadataVerifier::default(), MetadataVerifier::default());
    let is_valid = one.append(bytes).is_ok();
    let (first, second) = bytes.split_at(bytes.len() / 2);
    assert_eq!(two.append(first).and_then(|()| two.append(second)).is_ok(), is_valid);
    assert_eq!(one.resume_point(), two.resume_point());
    assert!(!is_valid || one.bytes() == bytes.len() as u64);
    one.rewind();
    assert_eq!(one.bytes(), one.resume_point().whole_bytes);
}
