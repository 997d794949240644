//! Appended results can be found and read.

use fleetblast_spool::{
    Codec, FileId, Reader, ResultIndex, Run, Scan, ShareRange, StoredShare, Writer,
};
use proptest::prelude::*;

use crate::common::{append, contents, key, start};
use crate::{bare_run, config};

#[derive(Clone, Debug)]
enum Step {
    Append { block: u64, most: usize },
    Flush,
    Sync,
}

fn step() -> impl Strategy<Value = Step> {
    let append = |most: usize| {
        (any::<u16>(), 0..=most)
            .prop_map(|(block, most)| Step::Append { block: block.into(), most })
    };
    prop_oneof![
        6 => append(300),
        3 => append(6000),
        1 => append(100_000),
        1 => Just(Step::Flush),
        1 => Just(Step::Sync),
    ]
}

/// Returns the places of all records that a scan of all files finds. Fails if any is damaged.
fn found(run: &Run) -> Vec<StoredShare> {
    let files = run.files().expect("readable");
    let scans = files.into_iter().map(|file| run.scan(file).expect("readable"));
    scans.inspect(|scan| assert_eq!(scan.invalid_bytes, [])).flat_map(|scan| scan.places).collect()
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn records_come_back(
        steps in prop::collection::vec(step(), 1..60),
        buffer in prop_oneof![Just(0usize), 4096..40_000usize],
        writer in prop_oneof![0..100u32, 0..1_048_576u32],
        codec in prop_oneof![Just(Codec::Zstd), Just(Codec::Gzip)],
    ) {
        let root = tempfile::tempdir().expect("a directory");
        let run = Run { codec, ..bare_run(root.path()) };
        let mut writer = Writer::new(&run, writer, buffer).expect("a writer");
        let mut reader = Reader::new(&run);
        let mut expected = Vec::new();
        for step in steps {
            match step {
                Step::Append { block, most } => {
                    let whole = contents(block, most);
                    let share = ShareRange { start: 5, total: whole.len() as u64 + 6 };
                    let mut done = 0;
                    for place in writer.append(key(block), share, &whole).expect("room") {
                        prop_assert_eq!((place.key, place.share.total), (key(block), share.total));
                        prop_assert_eq!(place.share.start, 5 + done as u64);
                        let end = done + place.length as usize;
                        expected.push((place, whole[done..end].to_vec()));
                        done = end;
                    }
                    prop_assert_eq!(done, whole.len());
                }
                Step::Flush => writer.flush().expect("room"),
                Step::Sync => {
                    writer.sync().expect("room");
                    prop_assert_eq!(writer.unsynced(), 0);
                    let places: Vec<StoredShare> = expected.iter().map(|(place, _)| *place).collect();
                    prop_assert_eq!(found(&run), places);
                }
            }
        }
        writer.flush().expect("room");
        let places: Vec<StoredShare> = expected.iter().map(|(place, _)| *place).collect();
        prop_assert_eq!(found(&run), places);
        for (place, whole) in expected.iter().rev() {
            prop_assert_eq!(&reader.read(place).expect("a record"), whole);
        }
    }
}

/// Returns the shares of a result that a run stores, with their offsets. They are two of three
/// windows.
fn windows(block: u64, whole: &[u8], run: u32) -> Vec<(usize, &[u8])> {
    let size = [4000, 3000, 900][run as usize - 1];
    let pieces = whole.chunks(size).enumerate().map(|(number, piece)| (number * size, piece));
    pieces.filter(|(start, _)| !(start / size + block as usize).is_multiple_of(3)).collect()
}

#[test]
fn results_are_put_together_from_shares_of_all_runs_and_writers() {
    let root = tempfile::tempdir().expect("a directory");
    let mut kept = Vec::new();
    for (run, writers) in [(1, 3), (2, 1), (3, 5)] {
        let job = start(root.path());
        assert_eq!(job.run().number, run);
        let writer = |number: u32| Writer::new(job.run(), number * 17, 0).expect("a writer");
        let mut writers: Vec<Writer> = (0..writers).map(writer).collect();
        for block in 0..40 {
            let whole = contents(block, 20_000);
            kept.resize(kept.len().max(block as usize + 1), vec![]);
            kept[block as usize].resize(whole.len(), false);
            for (at, piece) in windows(block, &whole, run) {
                let share = ShareRange { start: at as u64, total: whole.len() as u64 };
                let turn = (at + block as usize) % writers.len();
                writers[turn].append(key(block), share, piece).expect("room");
                kept[block as usize][at..at + piece.len()].fill(true);
            }
        }
        writers.iter_mut().for_each(|writer| writer.sync().expect("room"));
    }

    let job = start(root.path());
    let mut index = ResultIndex::default();
    found(job.run()).into_iter().for_each(|place| index.add(job.run(), place).expect("equal"));
    let mut reader = Reader::new(job.run());
    let mut complete = 0;
    for (block, kept) in kept.iter().enumerate() {
        let cover = index.shares_of_result(key(block as u64));
        assert_eq!(cover.is_some(), kept.iter().all(|&kept| kept), "block {block}");
        let Some(places) = cover else { continue };
        complete += 1;
        let mut whole = Vec::new();
        for place in places {
            let known = whole.len() - place.share.start as usize;
            whole.extend_from_slice(&reader.read(&place).expect("readable")[known..]);
        }
        assert_eq!(whole, contents(block as u64, 20_000));
    }
    assert_eq!(index.complete().count(), complete);
    assert!((5..35).contains(&complete), "{complete}");
}

#[test]
fn conflicting_results_are_reported_with_their_files() {
    let root = tempfile::tempdir().expect("a directory");
    let run = bare_run(root.path());
    let mut index = ResultIndex::default();
    let mut added = Vec::new();
    for (number, whole) in ["ACGT", "ACGT", "ACGA"].iter().enumerate() {
        let mut writer = Writer::new(&run, number as u32, 0).expect("a writer");
        let place = append(&mut writer, 7, whole.as_bytes()).expect("room")[0];
        writer.sync().expect("room");
        added.push(index.add(&run, place));
    }
    assert!(added[0].is_ok() && added[1].is_ok());
    let text = added[2].as_ref().expect_err("another").to_string();
    assert!(text.starts_with("two results of block 7 (kind 0) differ: of 4 bytes in "), "{text}");
    assert!(text.contains("writer-0-1.zst") && text.contains("writer-2-1.zst"), "{text}");
}

#[test]
fn places_and_scans_can_be_sent() {
    let root = tempfile::tempdir().expect("a directory");
    let run = bare_run(root.path());
    let mut writer = Writer::new(&run, 0, 0).expect("a writer");
    append(&mut writer, u64::MAX, b"x").expect("room");
    writer.sync().expect("room");
    let scan = run.scan(FileId { run: 1, writer: 0 }).expect("readable");
    let sent = serde_json::to_string(&scan).expect("text");
    assert_eq!(serde_json::from_str::<Scan>(&sent).expect("a scan"), scan);
}
