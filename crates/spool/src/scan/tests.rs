use super::*;
use xxhash_rust::xxh3::xxh3_64;

use crate::codec::Codec;
use crate::key::{ResultKey, ResultKind, ShareRange};
use crate::record::{ENTRY_BYTES, table};

const FILE: FileId = FileId { run: 1, writer: 3 };
const JOB: u64 = 0x1234_5678_9abc_def0;

/// Appends a record with this body. A scan does not decompress it.
fn put(bytes: &mut Vec<u8>, block: u64, body: &[u8]) -> StoredShare {
    let key = ResultKey { block, kind: ResultKind::RESULT };
    let (offset, stored) = (bytes.len() as u64, body.len() as u64);
    let share = ShareRange::whole(0);
    let place =
        StoredShare { file: FILE, offset, contents_offset: 0, key, share, length: 0, content: 0 };
    bytes.extend(head(place, stored, xxh3_64(body)));
    bytes.extend_from_slice(body);
    place
}

/// Returns header and table of a record with this share.
fn head(place: StoredShare, stored: u64, body: u64) -> Vec<u8> {
    let table = table(&[place]);
    let header = Header {
        file: FILE,
        offset: place.offset,
        codec: Codec::Zstd,
        shares: 1,
        stored,
        length: 0,
        table: xxh3_64(&table),
        body,
    };
    [&header.encode(JOB)[..], &table].concat()
}

/// Number of bytes before the body of a record with one share.
const HEAD: usize = HEADER_BYTES + ENTRY_BYTES;

/// A reader that returns few bytes at a time, with interruptions.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        if self.1.is_multiple_of(3) {
            return Err(ErrorKind::Interrupted.into());
        }
        let count = buffer.len().min(1 + self.1 % 7);
        self.0.read(&mut buffer[..count])
    }
}

#[test]
fn records_are_found_however_the_bytes_come() {
    let mut bytes = Vec::new();
    let bodies = [0, 1, 100, 3 * WINDOW, 5].map(|length| vec![b'x'; length]);
    let mut records = Vec::new();
    for (block, body) in bodies.iter().enumerate() {
        records.push(put(&mut bytes, block as u64, body));
        if block == 2 {
            bytes.extend([0; 50]);
        }
    }
    bytes.extend([1; 20]);
    let gap = InvalidBytes::Gap { offset: records[2].offset + HEAD as u64 + 100, bytes: 50 };
    let tail = InvalidBytes::Tail { offset: bytes.len() as u64 - 20, bytes: 20 };
    let sound = bytes.len() as u64 - 70;
    let expected =
        Scan { file: FILE, places: records, bytes: sound, invalid_bytes: vec![gap, tail] };
    assert_eq!(scan(bytes.as_slice(), JOB, FILE).expect("readable"), expected);
    assert_eq!(scan(Slow(&bytes, 0), JOB, FILE).expect("readable"), expected);
}

#[test]
fn a_record_after_a_gap_of_any_length_is_found() {
    for length in (WINDOW - 100..WINDOW + 10).chain([1, 7, 8, 83, 84, 85]) {
        let mut bytes = vec![0xf5; length];
        let place = put(&mut bytes, 1, b"body");
        let found = scan(bytes.as_slice(), JOB, FILE).expect("readable");
        assert_eq!(found.places, [place]);
        assert_eq!(found.invalid_bytes, [InvalidBytes::Gap { offset: 0, bytes: length as u64 }]);
    }
}

#[test]
fn a_length_beyond_all_files_is_a_tail() {
    let mut bytes = Vec::new();
    let whole = put(&mut bytes, 1, b"body");
    let offset = bytes.len() as u64;
    bytes.extend(head(StoredShare { offset, ..whole }, u64::MAX, 0));
    let found = scan(bytes.as_slice(), JOB, FILE).expect("readable");
    assert_eq!(found.places, [whole]);
    assert_eq!(found.invalid_bytes, [InvalidBytes::Tail { offset, bytes: HEAD as u64 }]);
}

#[test]
fn records_of_other_jobs_and_files_are_none() {
    let mut bytes = Vec::new();
    let place = put(&mut bytes, 1, b"body");
    assert_eq!(scan(bytes.as_slice(), JOB, FILE).expect("readable").places, [place]);
    for (job, file) in
        [(JOB + 1, FILE), (JOB, FileId { run: 2, ..FILE }), (JOB, FileId { writer: 4, ..FILE })]
    {
        let found = scan(bytes.as_slice(), job, file).expect("readable");
        assert_eq!(found.places, []);
        assert_eq!(
            found.invalid_bytes,
            [InvalidBytes::Tail { offset: 0, bytes: bytes.len() as u64 }]
        );
    }
}

#[test]
fn errors_of_the_source_are_returned() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }
    let mut bytes = Vec::new();
    put(&mut bytes, 1, b"body");
    let error = scan(bytes.as_slice().chain(Broken), JOB, FILE).expect_err("broken");
    assert_eq!(error.to_string(), "broken");
}
