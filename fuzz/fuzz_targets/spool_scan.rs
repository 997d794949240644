//! Spool files of any bytes. The first byte says which: the rest as it is; a sound file with parts of it overwritten,
//! put in, taken out; or a record with right checksums whose lengths and body are any.
#![no_main]

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use fleetblast_spool::{
    Error, Fault, FileId, HEADER_BYTES, Index, Key, Kind, Place, Reader, Run, Share, Writer,
};
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::xxh3_64;

const FILE: FileId = FileId { run: 1, writer: 0 };
const JOB: u64 = 0x0123_4567_89ab_cdef;

/// A file with records, made once in each process.
struct Specimen {
    _root: tempfile::TempDir,
    run: Run,
    file: File,
    records: Vec<Place>,
    bytes: Vec<u8>,
}

fn specimen() -> &'static Specimen {
    static SPECIMEN: OnceLock<Specimen> = OnceLock::new();
    SPECIMEN.get_or_init(|| {
        let root = tempfile::tempdir().expect("a directory");
        let run = Run { root: root.path().to_path_buf(), number: FILE.run, job: JOB };
        let mut writer = Writer::new(&run, FILE.writer, 0).expect("a writer");
        let append = |block: u64| {
            let whole = b"query\tsubject\n".repeat(block as usize * 3);
            let key = Key { block, kind: Kind::RESULT };
            let share = Share::whole(whole.len() as u64);
            writer.append(key, share, [whole.as_slice()]).expect("room")
        };
        let records = (0..6).map(append).collect();
        writer.sync().expect("room");
        let path = run.path(FILE);
        let bytes = fs::read(&path).expect("readable");
        let file = File::options().write(true).open(&path).expect("there");
        Specimen { _root: root, run, file, records, bytes }
    })
}

/// Changes the bytes as the input says: each edit is a place, how many bytes to take out, how many to put in, and these.
fn edited(mut bytes: Vec<u8>, mut edits: &[u8]) -> Vec<u8> {
    while let Some((&[high, low, out, into], rest)) = edits.split_first_chunk() {
        let (new, rest) = rest.split_at(rest.len().min(usize::from(into % 32)));
        let start = usize::from(u16::from_be_bytes([high, low])) % (bytes.len() + 1);
        let end = bytes.len().min(start + usize::from(out));
        bytes.splice(start..end, new.iter().copied());
        edits = rest;
    }
    bytes
}

/// A record that has what the input says, and right checksums.
fn forged(input: &[u8]) -> Vec<u8> {
    let Some((fields, body)) = input.split_first_chunk::<52>() else { return Vec::new() };
    let mut bytes = specimen().bytes[..HEADER_BYTES].to_vec();
    bytes[32..84].copy_from_slice(fields);
    // The length as stored is often right, so that the body is looked at.
    if fields[35] & 1 == 0 {
        bytes[60..68].copy_from_slice(&(body.len() as u64).to_le_bytes());
    }
    bytes[84..92].copy_from_slice(&xxh3_64(body).to_le_bytes());
    let sum = xxh3_64(&bytes[..92]);
    bytes[92..].copy_from_slice(&sum.to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}

fuzz_target!(|input: &[u8]| {
    let Some((&form, rest)) = input.split_first() else { return };
    let specimen = specimen();
    let bytes = match form % 3 {
        0 => rest.to_vec(),
        1 => edited(specimen.bytes.clone(), rest),
        _ => forged(rest),
    };
    specimen.file.write_all_at(&bytes, 0).expect("room");
    specimen.file.set_len(bytes.len() as u64).expect("room");
    let scan = specimen.run.scan(FILE).expect("any bytes can be scanned");

    // Records and faults part the file between them.
    let size = |place: &Place| HEADER_BYTES as u64 + place.stored;
    let mut covered: u64 = scan.records.iter().map(size).sum();
    covered += scan
        .faults
        .iter()
        .map(|fault| match fault {
            Fault::Tail { bytes, .. } | Fault::Gap { bytes, .. } => *bytes,
            Fault::Body(place) => size(place),
        })
        .sum::<u64>();
    assert_eq!(covered, bytes.len() as u64);

    let mut index = Index::default();
    let mut reader = Reader::new(&specimen.run);
    for place in &scan.records {
        let _ = index.add(&specimen.run, *place);
        match reader.read(place) {
            Ok(contents) => assert_eq!(xxh3_64(&contents), place.content),
            Err(Error::Damaged { .. }) => assert_eq!(form % 3, 2, "the scan found it whole"),
            Err(error) => panic!("{error}"),
        }
        if form % 3 == 1 {
            assert!(specimen.records.contains(place));
        }
    }
    for (key, total) in index.complete() {
        let places = index.cover(key).expect("it is complete");
        assert_eq!(places.last().map_or(0, Place::end), total);
    }
});
