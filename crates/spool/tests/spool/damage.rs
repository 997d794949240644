//! Damaged files: all data that can be read is correct, and lost data is reported.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use fleetblast_spool::{
    Error, FileId, InvalidBytes, Reader, Run, Scan, ShareRange, StoredShare, Writer,
};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::common::{append, contents, key};
use crate::{bare_run, config};

const FILE: FileId = FileId { run: 1, writer: 2 };

/// A spool file whose bytes can be changed.
struct Specimen {
    _root: TempDir,
    run: Run,
    path: PathBuf,
    records: Vec<(StoredShare, Vec<u8>)>,
    /// End offsets of the records in the file.
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl Specimen {
    /// Writes each element of `contents` as a record.
    fn new(contents: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let root = tempfile::tempdir().expect("a directory");
        let run = bare_run(root.path());
        let mut writer = Writer::new(&run, FILE.writer, 1 << 20).expect("a writer");
        let (mut records, mut ends) = (Vec::new(), Vec::new());
        for (block, whole) in contents.into_iter().enumerate() {
            let places = append(&mut writer, block as u64, &whole).expect("room");
            let [place] = places[..] else { panic!("several records") };
            writer.flush().expect("room");
            records.push((place, whole));
            ends.push(writer.written() as usize);
        }
        writer.sync().expect("room");
        let path = run.path(FILE);
        let bytes = fs::read(&path).expect("readable");
        Self { _root: root, run, path, records, ends, bytes }
    }

    /// Scans the file as if it had these bytes. Checks that all records found can be read and are
    /// correct, and that the reader refuses the others.
    fn check(&self, bytes: &[u8]) -> Scan {
        // This does not use `fs::write`: ext4 synchronises a file that was truncated and written
        // again, which is slow.
        let file = File::options().write(true).open(&self.path).expect("there");
        file.write_all_at(bytes, 0).and_then(|()| file.set_len(bytes.len() as u64)).expect("room");
        let scan = self.run.scan(FILE).expect("readable");
        let mut reader = Reader::new(&self.run);
        for place in &scan.places {
            let known = self.records.iter().find(|(known, _)| known == place);
            let (_, expected) = known.expect("a record that was written");
            assert_eq!(&reader.read(place).expect("readable"), expected);
        }
        for (place, _) in self.records.iter().filter(|(place, _)| !scan.places.contains(place)) {
            assert!(matches!(reader.read(place), Err(Error::Damaged { .. })), "{place:?}");
        }
        scan
    }

    /// Returns the records that have no byte in `damaged`.
    fn records_outside(&self, damaged: std::ops::Range<usize>) -> Vec<StoredShare> {
        let places = self.records.iter().map(|(place, _)| *place);
        let outside =
            |place: &StoredShare| self.end(place) <= damaged.start || start(place) >= damaged.end;
        places.filter(outside).collect()
    }

    fn end(&self, place: &StoredShare) -> usize {
        let known = self.records.iter().position(|(known, _)| known.offset == place.offset);
        self.ends[known.expect("a record that was written")]
    }
}

fn start(place: &StoredShare) -> usize {
    place.offset as usize
}

/// Returns a file of five short records, the third of them empty.
fn small() -> Specimen {
    Specimen::new([&b"one"[..], &[b'A'; 200], b"", &contents(1, 60), b"five"].map(<[u8]>::to_vec))
}

#[test]
fn a_file_cut_at_any_byte_keeps_the_records_before() {
    let specimen = small();
    for length in 0..specimen.bytes.len() {
        let scan = specimen.check(&specimen.bytes[..length]);
        assert_eq!(scan.places, specimen.records_outside(length..usize::MAX));
        let whole = scan.places.last().map_or(0, |place| specimen.end(place));
        let tail = InvalidBytes::Tail { offset: whole as u64, bytes: (length - whole) as u64 };
        let expected = if whole == length { vec![] } else { vec![tail] };
        assert_eq!(scan.invalid_bytes, expected, "cut at {length}");
    }
}

#[test]
fn a_flipped_bit_costs_one_record() {
    let specimen = small();
    let mut bytes = specimen.bytes.clone();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            let scan = specimen.check(&bytes);
            assert_eq!(scan.places, specimen.records_outside(at..at + 1), "bit {bit} of {at}");
            assert_eq!(scan.invalid_bytes.len(), 1);
            bytes[at] ^= 1 << bit;
        }
    }
}

#[test]
fn lost_blocks_are_reported() {
    let specimen = small();
    let (second, fourth) = (specimen.records[1].0, specimen.records[3].0);
    let mut bytes = specimen.bytes.clone();
    bytes[start(&second)] = 0;
    bytes[specimen.end(&fourth) - 1] ^= 1;
    bytes.truncate(bytes.len() - 1);
    let scan = specimen.check(&bytes);
    let expected = [
        InvalidBytes::Gap {
            offset: second.offset,
            bytes: (specimen.end(&second) - start(&second)) as u64,
        },
        InvalidBytes::Body {
            offset: fourth.offset,
            bytes: (specimen.end(&fourth) - start(&fourth)) as u64,
            blocks: (3, 3),
        },
        InvalidBytes::Tail {
            offset: specimen.end(&fourth) as u64,
            bytes: (bytes.len() - specimen.end(&fourth)) as u64,
        },
    ];
    assert_eq!(scan.invalid_bytes, expected);
    let damage: Vec<String> = scan.invalid_bytes.iter().map(InvalidBytes::to_string).collect();
    assert!(
        damage[0].ends_with(&format!(" bytes at offset {} are damaged; skipped", second.offset))
    );
    assert!(damage[1].starts_with("the result of block 3 at offset "), "{damage:?}");
    assert!(damage[2].ends_with(", were not written to the end; ignored"), "{damage:?}");
}

#[test]
fn a_record_within_a_result_is_never_taken_for_one() {
    // The contents are incompressible, so that the bytes of the inner file appear unchanged in the
    // outer one.
    let inner = Specimen::new((0..20).map(|number| contents(2 * number + 1, 400)));
    let outer = Specimen::new([b"before".to_vec(), inner.bytes.clone(), b"after".to_vec()]);
    let magic = &outer.bytes[16..24];
    let copies = outer.bytes.windows(8).filter(|window| *window == magic).count();
    assert!(copies > outer.records.len(), "{copies}");
    let place = outer.records[1].0;
    for at in start(&place)..outer.end(&place) {
        let mut bytes = outer.bytes.clone();
        bytes[at] ^= 1;
        assert_eq!(outer.check(&bytes).places, outer.records_outside(at..at + 1));
    }
}

#[test]
fn a_file_under_another_name_has_no_records() {
    let specimen = small();
    for file in [FileId { run: 2, ..FILE }, FileId { writer: 3, ..FILE }] {
        fs::copy(&specimen.path, specimen.run.path(file)).expect("a copy");
        assert_eq!(specimen.run.scan(file).expect("readable").places, []);
        let place = StoredShare { file, ..specimen.records[0].0 };
        let read = Reader::new(&specimen.run).read(&place);
        assert!(matches!(read, Err(Error::Damaged { offset: 0, .. })));
    }
}

#[test]
fn a_place_that_was_made_up_is_refused() {
    let specimen = small();
    let real = specimen.records[1].0;
    let mut reader = Reader::new(&specimen.run);
    for place in [
        StoredShare { offset: 1, ..real },
        StoredShare { offset: u64::MAX, ..real },
        StoredShare { contents_offset: 1, ..real },
        StoredShare { contents_offset: u64::MAX, ..real },
        StoredShare { length: real.length + 1, ..real },
        StoredShare { content: real.content + 1, ..real },
        StoredShare { share: ShareRange { start: 1, ..real.share }, ..real },
        StoredShare { share: ShareRange { total: 201, ..real.share }, ..real },
        StoredShare { key: key(99), ..real },
    ] {
        let error = reader.read(&place).expect_err("no such record");
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
    }
    assert_eq!(reader.read(&real).expect("a record"), specimen.records[1].1);
}

proptest! {
    #![proptest_config(config(200))]

    /// This simulates a power failure: the bytes after the last `sync` can have any values and
    /// length.
    #[test]
    fn synced_records_survive_whatever_follows(
        synced in 1..20u64,
        after in 0..20u64,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<Vec<u8>>()), 0..10),
        cut in any::<prop::sample::Index>(),
    ) {
        let all = Specimen::new((0..synced + after).map(|block| contents(block, 500)));
        let firm = all.records.get(synced as usize).map_or(all.bytes.len(), |(place, _)| start(place));
        let mut bytes = all.bytes.clone();
        for (at, new) in edits.iter().filter(|_| firm < all.bytes.len()) {
            let at = firm + at.index(all.bytes.len() - firm);
            let end = bytes.len().min(at + new.len());
            bytes[at..end].copy_from_slice(&new[..end - at]);
        }
        bytes.truncate(firm + cut.index(bytes.len() - firm + 1));
        let scan = all.check(&bytes);
        let places = all.records.iter().map(|(place, _)| *place);
        prop_assert!(places.take(synced as usize).eq(scan.places.iter().take(synced as usize).copied()));
    }

    /// Bytes are overwritten, inserted or removed anywhere.
    #[test]
    fn damage_costs_no_record_before_it(
        at in any::<prop::sample::Index>(),
        removed in 0..300usize,
        put in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let specimen = Specimen::new((0..12).map(|block| contents(block, 500)));
        let at = at.index(specimen.bytes.len());
        let end = specimen.bytes.len().min(at + removed);
        let mut bytes = specimen.bytes.clone();
        bytes.splice(at..end, put.iter().copied());
        let scan = specimen.check(&bytes);
        let same_length = put.len() == end - at;
        let damaged = if same_length { at..end } else { at..usize::MAX };
        for place in specimen.records_outside(damaged) {
            prop_assert!(scan.places.contains(&place));
        }
    }
}
