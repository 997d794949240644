use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use fleetblast_metadata::records::{RecordChain, RecordKind};
use fleetblast_metadata::{BatchState, Block, BlockResults, Encoding, End};

use super::*;

/// Time in which a forked process has surely started its program.
const PATIENCE: Duration = Duration::from_secs(20);

fn metadata() -> Vec<u8> {
    let (mut chain, mut bytes) = (RecordChain::default(), RecordChain::start());
    bytes.extend(chain.record(RecordKind::Header, b"header").unwrap());
    for _ in 0..2 {
        let results = BlockResults { encoding: Encoding::Oids, bytes: vec![7; 100], digest: 0 };
        let batch_state = Some(BatchState { letters: 0, ratio: None });
        let (queries, batches, searched) = (Vec::new(), Vec::new(), Vec::new());
        let block = Block { queries, batches, batch_state, searched, results };
        bytes.extend(chain.record(RecordKind::Block, &block.encode().unwrap()).unwrap());
    }
    let end = End { blocks: 2, has_report: true, ..End::default() };
    bytes.extend(chain.record(RecordKind::End, &end.encode().unwrap()).unwrap());
    bytes
}

/// Opens a spool that this test closed just before. Another test of this program may have forked a
/// process meanwhile. That process holds the lock of the file until it starts its program.
fn open(path: &Path) -> (Spool, Option<String>) {
    let start = Instant::now();
    loop {
        match Spool::open(path, u64::MAX) {
            Err(error) if start.elapsed() < PATIENCE => {
                assert!(error.message.contains("another 'fleetblast receive'"), "{error:?}");
                sleep(Duration::from_millis(5));
            }
            opened => return opened.unwrap(),
        }
    }
}

#[test]
fn the_next_run_holds_the_metadata_and_resumes_them_from_either_offset() {
    let bytes = metadata();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m");
    for cut in (0..=bytes.len()).step_by(29) {
        for whole in [false, true] {
            let _ = fs::remove_file(&path);
            let (mut spool, _) = open(&path);
            spool.append(&bytes[..cut]).unwrap();
            drop(spool);
            let (mut spool, message) = open(&path);
            assert_eq!(message, None);
            let held = spool.sync_held().unwrap();
            assert_eq!(held.bytes, cut as u64);
            let from = if whole { held.whole_bytes } else { held.bytes };
            spool.start(from).unwrap();
            spool.append(&bytes[from as usize..]).unwrap();
            assert_eq!(spool.sync().unwrap(), bytes.len() as u64);
            spool.finish(bytes.len() as u64).unwrap();
            assert!(fs::read(&path).unwrap() == bytes);
        }
    }
}

#[test]
fn damage_since_then_is_asked_for_again() {
    let bytes = metadata();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m");
    for at in [40, 100, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let (mut spool, message) = open(&path);
        assert!(message.unwrap().contains("is damaged at offset"));
        let held = spool.sync_held().unwrap();
        assert!(held.bytes == held.whole_bytes && held.whole_bytes <= at as u64);
        assert!(spool.finish(held.whole_bytes).is_err());
        spool.start(held.whole_bytes).unwrap();
        spool.append(&bytes[held.whole_bytes as usize..]).unwrap();
        assert!(fs::read(&path).unwrap() == bytes);
    }
}

#[test]
fn other_files_and_files_in_use_stay_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m");
    for text in ["my only copy of something", "42"] {
        fs::write(&path, text).unwrap();
        assert!(
            Spool::open(&path, u64::MAX)
                .unwrap_err()
                .message
                .contains("is no metadata of a search")
        );
        assert_eq!(fs::read(&path).unwrap(), text.as_bytes());
    }
    fs::remove_file(&path).unwrap();
    let (_spool, _) = open(&path);
    assert!(
        Spool::open(&path, u64::MAX).unwrap_err().message.contains("another 'fleetblast receive'")
    );
}

/// All checksums are right, so only the numbers of blocks and queries show the fault.
#[test]
fn missing_and_duplicated_blocks_are_refused() {
    let query = |number| fleetblast_metadata::Query {
        title: Vec::new(),
        ids: Vec::new(),
        letters: vec![1; 9],
        lower_case: Vec::new(),
        number,
        unnamed: number,
        range: None,
        messages: Vec::new(),
    };
    let block = |number| {
        let results = BlockResults { encoding: Encoding::Oids, bytes: vec![7; 100], digest: 0 };
        let (queries, batches, searched) = (vec![query(number)], vec![1], Vec::new());
        Block { queries, batches, batch_state: None, searched, results }.encode().unwrap()
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m");
    for (numbers, is_sound) in
        [(&[1, 2, 3][..], true), (&[1, 3], false), (&[1, 2, 2, 3], false), (&[1, 2], false)]
    {
        let (mut chain, mut bytes) = (RecordChain::default(), RecordChain::start());
        bytes.extend(chain.record(RecordKind::Header, b"header").unwrap());
        for &number in numbers {
            bytes.extend(chain.record(RecordKind::Block, &block(number)).unwrap());
        }
        let end = End { queries: 3, blocks: 3, has_report: true, ..End::default() };
        bytes.extend(chain.record(RecordKind::End, &end.encode().unwrap()).unwrap());
        let _ = fs::remove_file(&path);
        let (mut spool, _) = open(&path);
        assert_eq!(spool.append(&bytes).is_ok(), is_sound, "{numbers:?}");
        drop(spool);
        fs::write(&path, &bytes).unwrap();
        let (mut spool, message) = open(&path);
        assert_eq!(
            (message.is_none(), spool.finish(bytes.len() as u64).is_ok()),
            (is_sound, is_sound)
        );
        drop(spool);
        fs::remove_file(&path).unwrap();
        let (mut spool, _) = Spool::open(&path, 10).unwrap();
        assert!(spool.append(&bytes).unwrap_err().contains("(-memory)"));
    }
}
