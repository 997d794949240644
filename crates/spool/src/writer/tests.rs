use std::io::ErrorKind;
use std::path::Path;

use super::*;
use crate::codec::Codec;
use crate::key::ResultKind;
use crate::reader::Reader;

fn append(writer: &mut Writer, block: u64, contents: &[u8]) -> Result<Vec<StoredShare>, Error> {
    let key = ResultKey { block, kind: ResultKind::RESULT };
    writer.append(key, ShareRange::whole(contents.len() as u64), contents)
}

/// Returns bytes that zstd cannot compress.
fn noise(length: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(1);
    (0..length).map(|_| random.u8(..)).collect()
}

fn run(root: &Path) -> Run {
    Run { root: root.to_path_buf(), number: 1, job: 7, codec: Codec::Zstd }
}

/// Makes a writer that writes to a device.
fn on_device(root: &Path, device: &str) -> Writer {
    let mut writer = Writer::new(&run(root), 0, 0).expect("a writer");
    writer.file = Some(OpenOptions::new().write(true).open(device).expect("a device"));
    writer
}

#[test]
fn records_that_fit_the_buffer_are_written_whole() {
    let root = tempfile::tempdir().expect("a directory");
    let run = run(root.path());
    let mut writer = Writer::new(&run, 0, MIN_BUFFER).expect("a writer");
    let mut begins = Vec::new();
    let mut lengths = std::collections::BTreeSet::new();
    for block in 0..100 {
        let contents = noise(500 + 30 * block as usize);
        begins.push(append(&mut writer, block, &contents).expect("room")[0].offset);
        let length = std::fs::metadata(run.path(writer.id)).map_or(0, |data| data.len());
        assert!(begins.contains(&length), "{length} is within a record");
        lengths.insert(length);
    }
    assert!(lengths.len() > 10);
}

#[test]
fn a_writer_without_records_has_no_file() {
    let root = tempfile::tempdir().expect("a directory");
    let mut writer = Writer::new(&run(root.path()), 0, 0).expect("a writer");
    writer.sync().expect("nothing to do");
    assert_eq!(std::fs::read_dir(root.path()).expect("readable").count(), 0);
}

#[test]
fn a_full_disk_takes_only_the_record_that_does_not_fit() {
    let root = tempfile::tempdir().expect("a directory");
    let mut writer = on_device(root.path(), "/dev/full");
    let small = append(&mut writer, 1, b"small").expect("in the buffer");
    let error = append(&mut writer, 2, &noise(10_000)).expect_err("no room");
    let Error::Io { action: "write", path, offset: Some(0), source } = &error else {
        panic!("{error}");
    };
    assert_eq!((path, source.kind()), (&writer.path, ErrorKind::StorageFull));
    assert_eq!(writer.unsynced(), 1);
    assert!(matches!(writer.sync(), Err(Error::Io { .. })));
    // After space is available again, the appended results can still be written.
    writer.file = None;
    writer.sync().expect("room");
    assert_eq!(writer.unsynced(), 0);
    let contents = Reader::new(&run(root.path())).read(&small[0]).expect("a record");
    assert_eq!(contents, b"small");
}

#[test]
fn after_a_failed_sync_nothing_is_appended() {
    let root = tempfile::tempdir().expect("a directory");
    // This device accepts all bytes, but cannot be synchronised.
    let mut writer = on_device(root.path(), "/dev/null");
    append(&mut writer, 1, b"lost").expect("in the buffer");
    assert!(matches!(writer.sync(), Err(Error::Io { action: "bring to disk", .. })));
    assert!(matches!(writer.sync(), Err(Error::Unreliable { .. })));
    assert!(matches!(append(&mut writer, 2, b""), Err(Error::Unreliable { .. })));
    assert_eq!(writer.unsynced(), 1);
}

#[test]
fn a_file_of_another_process_is_not_touched() {
    let root = tempfile::tempdir().expect("a directory");
    let run = run(root.path());
    let mut first = Writer::new(&run, 5, 0).expect("a writer");
    let mut second = Writer::new(&run, 5, 0).expect("a writer");
    let place = append(&mut first, 1, b"first").expect("room");
    first.sync().expect("on disk");
    append(&mut second, 1, b"second").expect("in the buffer");
    let error = second.sync().expect_err("not its file");
    assert!(matches!(&error, Error::Io { action: "make", .. }), "{error}");
    assert_eq!(Reader::new(&run).read(&place[0]).expect("a record"), b"first");
}

#[test]
fn too_many_writers_are_refused() {
    let run = run(Path::new("nowhere"));
    assert!(matches!(Writer::new(&run, MAX_WRITERS, 0), Err(Error::TooManyWriters(MAX_WRITERS))));
}

#[test]
fn a_share_longer_than_its_result_is_not_kept() {
    let root = tempfile::tempdir().expect("a directory");
    let run = run(root.path());
    let mut writer = Writer::new(&run, 0, 0).expect("a writer");
    let key = ResultKey { block: 1, kind: ResultKind::RESULT };
    for (start, bytes) in [(8, "abc"), (11, ""), (u64::MAX, "a")] {
        let share = ShareRange { start, total: 10 };
        let error = writer.append(key, share, bytes.as_bytes()).expect_err("too long");
        assert!(matches!(error, Error::ShareTooLong { .. }), "{error}");
    }
    let share = ShareRange { start: 8, total: 10 };
    let place = writer.append(key, share, b"ab").expect("it fits")[0];
    writer.sync().expect("on disk");
    assert_eq!(run.scan(writer.id).expect("readable").places, [place]);
    assert_eq!((place.offset, place.share, place.end()), (0, share, 10));
}
