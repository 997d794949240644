//! Fingerprints change with every byte that a search may read, and with nothing else.

use crate::common::{FOUR, entries, volume, write};
use fleetblast_db::fingerprint::Fingerprinter;
use fleetblast_db::memory::SubjectRecord;
use fleetblast_db::partition::VolumeFile;
use fleetblast_db::{Database, SearchPath, SequenceKind, VolumeBytes};

const FILES: [VolumeFile; 2] = [VolumeFile::Sequences, VolumeFile::Headers];

/// Adds up the fingerprints of a database that is read in `parts` partitions. Returns for each
/// volume the sums for residues and headers.
fn sums(database: &Database, parts: usize) -> Vec<[u128; 2]> {
    let fingerprinter = Fingerprinter::new(database);
    let mut sums = vec![[0u128; 2]; database.volume_count()];
    for oids in database.partitions(parts) {
        for (at, file) in FILES.into_iter().enumerate() {
            for (volume, sum) in
                fingerprinter.compute_fingerprints(oids.clone(), file).expect("readable files")
            {
                sums[volume][at] = sums[volume][at].wrapping_add(sum);
            }
        }
    }
    sums
}

fn of_bytes(bytes: VolumeBytes) -> [u128; 2] {
    sums(&Database::from_volume_bytes(vec![bytes]).expect("a database"), 1)[0]
}

#[test]
fn parts_add_up_to_the_whole_however_it_is_cut() {
    let dir = tempfile::tempdir().expect("a directory");
    let entries = entries(3, 90);
    write(dir.path(), "one", &FOUR, &entries[..31]);
    write(dir.path(), "two", &FOUR, &entries[31..]);
    let search = SearchPath::new(dir.path(), "".as_ref(), None);
    let database = Database::open("one two", SequenceKind::Protein, &search).expect("a database");
    let whole = sums(&database, 1);
    assert_eq!(whole.len(), 2);
    assert_ne!(whole[0], whole[1]);
    for parts in [2, 7, 90] {
        assert_eq!(sums(&database, parts), whole, "{parts} parts");
    }
}

#[test]
fn every_byte_counts() {
    let sound = volume(&FOUR, &entries(5, 12));
    let whole = of_bytes(sound.clone());
    // The first byte is the sentinel before all sequences.
    for at in 1..sound.residues.len() {
        let mut changed = sound.clone();
        changed.residues[at] ^= 1;
        let [residues, headers] = of_bytes(changed);
        assert!(residues != whole[0] && headers == whole[1], "residue byte {at}");
    }
    for at in 0..sound.headers.len() {
        let mut changed = sound.clone();
        changed.headers[at] ^= 1;
        let [residues, headers] = of_bytes(changed);
        assert!(residues == whole[0] && headers != whole[1], "header byte {at}");
    }
}

#[test]
fn the_order_of_sequences_counts() {
    let mut entries = entries(5, 12);
    let whole = of_bytes(volume(&FOUR, &entries));
    entries.swap(3, 8);
    let swapped = of_bytes(volume(&FOUR, &entries));
    assert!(whole[0] != swapped[0] && whole[1] != swapped[1]);
}

#[test]
fn different_descriptions_have_different_fingerprints() {
    let of = |title: &'static str, date: &'static str| {
        let label = crate::common::Label { title, date, ..FOUR };
        let bytes = vec![volume(&label, &entries(5, 3))];
        let database = Database::from_volume_bytes(bytes).expect("a database");
        let index = database.volume_summaries().next().expect("a volume").index_fingerprint;
        (index, database.selection_fingerprint())
    };
    let known = of("a title", "Nov 20, 2026  11:10 PM");
    assert_eq!(known, of("a title", "Nov 20, 2026  11:10 PM"));
    for other in [of("another", "Nov 20, 2026  11:10 PM"), of("a title", "Nov 20, 2026  11:11 PM")]
    {
        assert!(known.0 != other.0 && known.1 != other.1);
    }
}

/// Returns the fingerprints of residues and headers of one sequence in memory.
fn of_record(kind: SequenceKind, title: &[u8], residues: &[u8]) -> [u128; 2] {
    let record = SubjectRecord::unparsed(1, title, residues.to_vec());
    sums(&Database::from_records(b"", kind, [record]).expect("a database"), 1)[0]
}

#[test]
fn every_letter_in_memory_counts() {
    for (kind, codes) in [(SequenceKind::Protein, 28), (SequenceKind::Nucleotide, 15)] {
        for length in 1..10 {
            let letters: Vec<u8> = (0..length).map(|at| at * 3 % 4).collect();
            let whole = of_record(kind, b"title", &letters);
            for at in 0..letters.len() {
                for code in (0..codes).filter(|code| *code != letters[at]) {
                    let mut changed = letters.clone();
                    changed[at] = code;
                    let [residues, headers] = of_record(kind, b"title", &changed);
                    let what = format!("{kind:?}: {code} at {at} of {length}");
                    assert!(residues != whole[0] && headers == whole[1], "{what}");
                }
            }
            let [residues, headers] = of_record(kind, b"titles", &letters);
            assert!(residues == whole[0] && headers != whole[1]);
        }
    }
}

/// The fingerprint must depend on where ambiguities begin: the eight bytes of an ambiguity could
/// also be 31 further bases.
#[test]
fn where_ambiguities_begin_counts() {
    // ACG, then a run of one N at the second base.
    let stored = [0b0001_1011, 0, 0, 0, 1, 0xf0, 0, 0, 1];
    let of = |middle: u32, bases: u64| {
        let mut index = Vec::new();
        for word in [4, 0, 0, 0, 1] {
            index.extend(u32::to_be_bytes(word));
        }
        index.extend(bases.to_le_bytes());
        index.extend((bases as u32).to_be_bytes());
        let end = 1 + stored.len() as u32;
        index.extend([0, 0, 1, end, middle, end].map(u32::to_be_bytes).concat());
        let residues = [&[0], &stored[..]].concat();
        let bytes = VolumeBytes { index, residues, headers: Vec::new() };
        let database = Database::from_volume_bytes(vec![bytes]).expect("a database");
        database.validate(0..1).expect("a sound database");
        assert_eq!(u64::from(database.length_of(0)), bases);
        sums(&database, 1)[0][0]
    };
    assert_ne!(of(2, 3), of(10, 33));
}
