//! Scans a spool file. The first byte of the input selects one of three kinds of files. They are
//! the rest of the input; a valid file, edited by the rest; or a record with right checksums and
//! arbitrary lengths and body. The byte can also select the test of indexes.
#![no_main]

#[path = "common/edits.rs"]
mod edits;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use fleetblast_spool::{
    Catalog, Checkpoint, Codec, ENTRY_BYTES, Error, FileId, HEADER_BYTES, InvalidBytes, Name,
    Reader, ResultIndex, ResultKey, ResultKind, Run, ShareRange, SpooledReport, StartMode,
    StoredShare, Writer,
};
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::xxh3_64;

use self::edits::edited;

const FILE: FileId = FileId { run: 1, writer: 0 };

/// A valid spool file with records, made once in each process.
struct Specimen {
    _root: tempfile::TempDir,
    run: Run,
    file: File,
    records: Vec<StoredShare>,
    bytes: Vec<u8>,
}

fn specimen() -> &'static Specimen {
    static SPECIMEN: OnceLock<Specimen> = OnceLock::new();
    SPECIMEN.get_or_init(|| {
        let root = tempfile::tempdir().expect("a directory");
        let job = Checkpoint::open_with_codec(root.path(), None, StartMode::New, Codec::Zstd)
            .expect("a job");
        let run = job.run().clone();
        let mut writer = Writer::new(&run, FILE.writer, 0).expect("a writer");
        let append = |block: u64| {
            let whole = b"query\tsubject\n".repeat(block as usize * 3);
            let key = ResultKey { block, kind: ResultKind::RESULT };
            let share = ShareRange::whole(whole.len() as u64);
            let places = writer.append(key, share, &whole).expect("room");
            // Each record has the results of two blocks.
            if block % 2 == 1 {
                writer.flush().expect("room");
            }
            places
        };
        let records = (0..6).flat_map(append).collect();
        writer.sync().expect("room");
        let path = run.path(FILE);
        let bytes = fs::read(&path).expect("readable");
        let file = File::options().write(true).open(&path).expect("there");
        Specimen { _root: root, run, file, records, bytes }
    })
}

/// Returns a file with one record, whose fields and body come from the input, with right checksums.
fn forged(input: &[u8]) -> Vec<u8> {
    let Some((fields, body)) = input.split_first_chunk::<{ 24 + ENTRY_BYTES }>() else {
        return Vec::new();
    };
    let mut bytes = specimen().bytes[..HEADER_BYTES].to_vec();
    let (header, table) = fields.split_at(24);
    // The codec is mostly a known one, and there is mostly one share.
    bytes[48] = header[0] % 3;
    bytes[52] = 1 + header[1] / 128;
    bytes[56..72].copy_from_slice(&header[8..]);
    // The lengths are often right, so that the scan reaches the body.
    if header[2] & 1 == 0 {
        bytes[56..64].copy_from_slice(&(body.len() as u64).to_le_bytes());
    }
    if header[3] & 1 == 0 {
        bytes[64..72].copy_from_slice(&table[28..36]);
    }
    bytes[72..80].copy_from_slice(&xxh3_64(table).to_le_bytes());
    bytes[80..88].copy_from_slice(&xxh3_64(body).to_le_bytes());
    let sum = xxh3_64(&bytes[..88]);
    bytes[88..].copy_from_slice(&sum.to_le_bytes());
    bytes.extend_from_slice(table);
    bytes.extend_from_slice(body);
    bytes
}

/// Decodes an index of arbitrary bytes with a right checksum, and opens a valid one with arbitrary
/// places.
fn look_at_index(specimen: &Specimen, input: &[u8]) {
    let packed = zstd::encode_all(input, 1).expect("memory");
    let head = [&b"\xf5FBind1\n"[..], &xxh3_64(&packed).to_le_bytes()].concat();
    let _ = Catalog::decode(&[&head[..], &packed].concat());
    let _ = Catalog::decode(input);
    let mut places = specimen.records.clone();
    for (place, byte) in places.iter_mut().zip(input) {
        place.offset = place.offset.wrapping_add(u64::from(*byte));
        place.share.start = u64::from(*byte).rotate_left(u32::from(*byte));
    }
    let names = input.iter().map(|&byte| Name::new(&[byte], u64::from(byte))).collect();
    let written = specimen.bytes.len() as u64;
    let catalog = Catalog::new(&specimen.run, FILE, written, places, names);
    catalog.write(&specimen.run).expect("room");
    // The report must not show bytes that were not written, whatever the index says.
    if let Ok(mut report) = SpooledReport::open(&specimen.run.root) {
        for block in report.blocks() {
            let key = ResultKey { block, kind: ResultKind::RESULT };
            let _ = report.result::<Error>(key, |_| Ok(()));
            let _ = report.read_range::<Error>(key, 3..5, |_| Ok(()));
        }
        let _ = report.find(&input[..input.len().min(1)]);
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&form, rest)) = input.split_first() else { return };
    let specimen = specimen();
    let bytes = match form % 4 {
        0 => rest.to_vec(),
        1 => edited(specimen.bytes.clone(), rest),
        2 => forged(rest),
        _ => return look_at_index(specimen, rest),
    };
    specimen.file.write_all_at(&bytes, 0).expect("room");
    specimen.file.set_len(bytes.len() as u64).expect("room");
    let scan = specimen.run.scan(FILE).expect("any bytes can be scanned");

    // Records and faults together make up the whole file.
    let of_faults = scan.invalid_bytes.iter().map(|fault| match fault {
        InvalidBytes::Tail { bytes, .. }
        | InvalidBytes::Gap { bytes, .. }
        | InvalidBytes::Body { bytes, .. } => *bytes,
    });
    assert_eq!(scan.bytes + of_faults.sum::<u64>(), bytes.len() as u64);

    let mut index = ResultIndex::default();
    let mut reader = Reader::new(&specimen.run);
    for place in &scan.places {
        let _ = index.add(&specimen.run, *place);
        match reader.read(place) {
            Ok(contents) => assert_eq!(xxh3_64(&contents), place.content),
            Err(Error::Damaged { .. }) => assert_eq!(form % 4, 2, "the scan found it whole"),
            Err(error) => panic!("{error}"),
        }
        if form % 4 == 1 {
            assert!(specimen.records.contains(place));
        }
    }
    for (key, total) in index.complete() {
        let places = index.shares_of_result(key).expect("it is complete");
        assert_eq!(places.last().map_or(0, StoredShare::end), total);
    }
});
