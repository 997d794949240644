//! Tests of full disks. They mount a small file system, so they have to run as root.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::Command;

use fleetblast_spool::{Checkpoint, Error, Reader, StartMode, StoredShare, Writer};
use tempfile::TempDir;

use crate::common::{append, contents, properties, start};

const BYTES: usize = 1 << 20;

/// A file system in memory, which is unmounted when dropped.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let root = tempfile::tempdir().expect("a directory");
        let size = format!("size={BYTES}");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "none"])
            .arg(root.path())
            .output();
        let refusal = match mount {
            Ok(output) if output.status.success() => return Some(Self(root)),
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
        // A macro is not used, because the test harness would capture its output.
        let note = format!("NOT TESTED: full disks, which need root: {}\n", refusal.trim());
        std::io::stderr().write_all(note.as_bytes()).expect("standard error");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "{}", self.path().display());
    }
}

/// Appends until the disk is full. Returns the synchronised records, and the error.
fn fill(writer: &mut Writer, most: usize) -> (Vec<StoredShare>, Error) {
    let mut synced = Vec::new();
    for block in (1..).step_by(2) {
        let whole = contents(block, most);
        let appended = append(writer, block, &whole);
        match appended.and_then(|places| writer.sync().map(|()| places)) {
            Ok(places) => synced.extend(places),
            Err(error) => return (synced, error),
        }
    }
    unreachable!("the disk has no end");
}

fn check_full(most: usize, buffer: usize) {
    let Some(disk) = SmallDisk::mount() else { return };
    let job = start(&disk.path().join("job"));
    let ballast = disk.path().join("ballast");
    std::fs::write(&ballast, vec![0; BYTES / 4]).expect("room");
    let mut writer = Writer::new(job.run(), 0, buffer).expect("a writer");
    let (places, error) = fill(&mut writer, most);
    assert!(places.len() > 2, "{error}");
    let Error::Io { action: "write", offset: Some(offset), source, path } = &error else {
        panic!("{error}");
    };
    assert_eq!(source.kind(), ErrorKind::StorageFull);
    assert!(error.to_string().ends_with("make room and resume the job: what was finished is kept"));
    // The writer cut off the incomplete write.
    let end = std::fs::metadata(path).expect("there").len();
    assert_eq!((end, end), (writer.written(), *offset));
    let scan = job.run().scan(places[0].file).expect("readable");
    assert!(scan.places.starts_with(&places) && scan.invalid_bytes.is_empty());

    // After space is free again, the same writer continues.
    std::fs::remove_file(&ballast).expect("there");
    let whole = contents(1_000_001, 1000);
    let last = append(&mut writer, 1_000_001, &whole).expect("room");
    writer.sync().expect("room");
    let scan = job.run().scan(places[0].file).expect("readable");
    assert!(scan.places.starts_with(&places) && scan.places.ends_with(&last));
    assert!(scan.invalid_bytes.is_empty());
    let mut reader = Reader::new(job.run());
    for place in &scan.places {
        let most = if place.key.block == 1_000_001 { 1000 } else { most };
        let (start, end) = (place.share.start as usize, place.end() as usize);
        let whole = contents(place.key.block, most);
        assert_eq!(reader.read(place).expect("readable"), whole[start..end]);
    }
    job.remove().expect("removable");
}

#[test]
fn the_disk_fills_between_records_of_a_buffer() {
    check_full(3000, 64 * 1024);
}

#[test]
fn the_disk_fills_within_a_record() {
    check_full(200_000, 4096);
}

#[test]
fn no_room_for_a_directory() {
    let Some(disk) = SmallDisk::mount() else { return };
    let job = start(&disk.path().join("job"));
    let mut file = std::fs::File::create(disk.path().join("ballast")).expect("room");
    while file.write(&[0; 4096]).is_ok() {}
    let mut writer = Writer::new(job.run(), 0, 0).expect("a writer");
    append(&mut writer, 1, b"small").expect("in the buffer");
    let error = writer.sync().expect_err("no room");
    assert!(matches!(&error, Error::Io { source, .. } if source.kind() == ErrorKind::StorageFull));
    drop(writer);
    drop(job);
    let error = Checkpoint::open(&disk.path().join("other"), &properties(), StartMode::New);
    assert!(matches!(error, Err(Error::Io { .. })));
}
