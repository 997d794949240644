//! Volumes written byte by byte: their contents, and the effects of damage.

use crate::common::{FIVE, FOUR, Label, entries, volume};
use fleetblast_db::{Database, DbError, VolumeBytes};
use fleetblast_seq::id::{ObjectId, SeqId};

fn one(bytes: VolumeBytes) -> Result<Database, DbError> {
    Database::from_volume_bytes(vec![bytes])
}

#[test]
fn both_versions_give_back_what_was_written() {
    let entries = entries(1, 30);
    for label in [FOUR, FIVE] {
        let database = one(volume(&label, &entries)).unwrap();
        database.validate(0..30).unwrap();
        assert_eq!((database.oid_count(), database.version()), (30, label.version));
        assert_eq!((database.title(), database.date()), (label.title.as_bytes(), label.date));
        let total: usize = entries.iter().map(|(_, letters)| letters.len()).sum();
        assert_eq!((database.sequence_count(), database.residue_count()), (30, total as u64));
        for (oid, (line, letters)) in (0..).zip(&entries) {
            assert_eq!(database.residues_of(oid), crate::common::codes(letters));
            assert_eq!(database.length_of(oid) as usize, letters.len());
            let lines = database.deflines(oid).unwrap();
            assert_eq!((lines.len(), &lines[0].title[..]), (1, line.as_bytes()));
            let tag = ObjectId::Number(oid.into());
            assert_eq!(lines[0].ids, [SeqId::General { db: b"BL_ORD_ID".to_vec(), tag }]);
        }
    }
}

#[test]
fn stored_ordinals_become_oids_of_the_whole_database() {
    let bytes =
        vec![volume(&FOUR, &entries(1, 3)), volume(&FOUR, &[]), volume(&FOUR, &entries(2, 4))];
    let database = Database::from_volume_bytes(bytes).unwrap();
    assert_eq!(database.oid_count(), 7);
    database.validate(0..7).unwrap();
    for oid in 0..7 {
        let id = &database.deflines(oid).unwrap()[0].ids[0];
        let tag = ObjectId::Number(oid.into());
        assert_eq!(id, &SeqId::General { db: b"BL_ORD_ID".to_vec(), tag });
    }
    assert_eq!(database.residues_of(3), crate::common::codes(&entries(2, 4)[0].1));
    assert!(matches!(database.deflines(7), Err(DbError::NoSuchOid { oid: 7, count: 7 })));
    assert!(matches!(database.validate(0..8), Err(DbError::NoSuchOid { .. })));
    assert!(database.residues_of(7).is_empty() && database.residues_of(u32::MAX).is_empty());
    assert_eq!(database.title(), b"four; four; four");
}

#[test]
fn every_truncation_is_an_error() {
    for label in [FOUR, FIVE] {
        let whole = volume(&label, &entries(3, 5));
        for length in 0..whole.index.len() {
            let index = whole.index[..length].to_vec();
            let error = one(VolumeBytes { index, ..whole.clone() }).unwrap_err();
            assert!(matches!(error, DbError::FileTruncated { .. }), "{length}: {error}");
            assert!(error.to_string().contains("volume-0.pin"), "{error}");
        }
        for length in 0..whole.residues.len() {
            let residues = whole.residues[..length].to_vec();
            let error = one(VolumeBytes { residues, ..whole.clone() }).unwrap_err();
            let length = length as u64;
            assert!(matches!(error, DbError::FileTruncated { length: l, .. } if l == length));
        }
        for length in 0..whole.headers.len() {
            let headers = whole.headers[..length].to_vec();
            assert!(one(VolumeBytes { headers, ..whole.clone() }).is_err());
        }
        one(whole).unwrap();
    }
}

/// Reads sequences, definition lines and partitions of a database. No call may panic, whatever the
/// bytes. Returns whether sequences and definition lines are valid.
fn touch(database: &Database) -> bool {
    let count = database.oid_count().min(100);
    let mut sound = database.validate(0..count).is_ok();
    for oid in 0..count {
        let residues = database.residues_of(oid);
        assert!(residues.len() <= database.length_of(oid) as usize);
        assert!(!sound || residues.iter().all(|&code| code < 28));
        sound &= database.deflines(oid).is_ok();
    }
    for n in [1, 3, 1000] {
        let parts = database.partitions(n);
        assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
    sound
}

#[test]
fn no_single_wrong_byte_is_a_panic() {
    let whole = volume(&FIVE, &entries(4, 4));
    let mut damaged = 0;
    let mut check = |bytes: VolumeBytes| match one(bytes) {
        Ok(database) => damaged += usize::from(!touch(&database)),
        Err(_) => damaged += 1,
    };
    for flip in [0x01, 0x80, 0xff] {
        for at in 0..whole.index.len() {
            let mut bytes = whole.clone();
            bytes.index[at] ^= flip;
            check(bytes);
        }
        for at in 0..whole.headers.len() {
            let mut bytes = whole.clone();
            bytes.headers[at] ^= flip;
            check(bytes);
        }
        for at in 0..whole.residues.len() {
            let mut bytes = whole.clone();
            bytes.residues[at] ^= flip;
            check(bytes);
        }
    }
    // Most of the damage is noticed, but not a changed title.
    assert!(damaged > 600, "{damaged}");
}

#[test]
fn validation_names_the_byte_and_the_sequence() {
    let entries = entries(5, 9);
    let first = volume(&FOUR, &entries);
    let mut second = first.clone();
    let start: usize = 1 + entries[..4].iter().map(|(_, letters)| letters.len() + 1).sum::<usize>();
    second.residues[start + entries[4].1.len() - 1] = 28;
    let at = (start + entries[4].1.len() - 1) as u64;
    let database = Database::from_volume_bytes(vec![first.clone(), second]).unwrap();
    database.validate(0..13).unwrap();
    database.validate(14..18).unwrap();
    match database.validate(2..18).unwrap_err() {
        DbError::InvalidResidue { offset, oid: 13, code: 28, expected: "a residue", path } => {
            assert_eq!((offset, path.to_str()), (at, Some("volume-1.psq")));
        }
        other => panic!("{other}"),
    }
    let mut bytes = first.clone();
    bytes.residues[start - 1] = 5;
    let database = one(bytes).unwrap();
    let error = database.validate(0..9).unwrap_err();
    assert!(
        matches!(error, DbError::InvalidResidue { oid: 3, code: 5, expected: "a sentinel", .. }),
        "{error}"
    );
    assert!(database.validate(4..9).is_err(), "the byte before a range is its sentinel");

    let mut bytes = first;
    let entry = bytes.index.len() - 4 * 5;
    bytes.index[entry] = 0x7f;
    let database = one(bytes).unwrap();
    let error = database.validate(0..9).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, DbError::InvalidOffset { what: "sequence", oid: 5, .. }), "{text}");
    assert!(text.contains(&format!("byte {entry}")), "{text}");
    assert!(database.residues_of(4).is_empty() && database.residues_of(5).is_empty());
}

#[test]
fn other_versions_and_types_are_refused_in_the_words_of_the_oracle() {
    let whole = volume(&FOUR, &entries(6, 2));
    for version in [0, 3, 6, 255] {
        let mut bytes = whole.clone();
        bytes.index[3] = version;
        let error = one(bytes).unwrap_err();
        assert_eq!(
            (error.stderr_line().as_str(), error.exit_code()),
            ("BLAST Database error: Error: Not a valid version 4 or 5 database.", 2)
        );
    }
    let mut bytes = whole;
    bytes.index[7] = 2;
    assert_eq!(
        one(bytes).unwrap_err().stderr_line(),
        "BLAST Database error: Error: requested sequence type does not match DB."
    );
}

#[test]
fn partitions_need_the_index_only_and_are_balanced() {
    let entries = entries(7, 400);
    let mut bytes = volume(&FOUR, &entries);
    let total: u64 = entries.iter().map(|(_, letters)| letters.len() as u64).sum();
    bytes.residues.fill(0xff);
    let database = Database::from_volume_bytes(vec![bytes.clone(), bytes]).unwrap();
    for n in [1, 2, 5, 16] {
        let parts = database.partitions(n);
        assert_eq!(parts.len(), n);
        assert_eq!((parts[0].start, parts[n - 1].end), (0, 800));
        for part in parts {
            let held: u64 = part.map(|oid| u64::from(database.length_of(oid))).sum();
            assert!(held.abs_diff(2 * total / n as u64) <= 60, "{n} {held}");
        }
    }
}

#[test]
fn titles_and_dates_end_at_a_nul() {
    let label = Label { title: "cut\0here", date: "Nov 2, 2026  1:10 AM\0\0junk", ..FOUR };
    let database = one(volume(&label, &entries(8, 1))).unwrap();
    assert_eq!((database.title(), database.date()), (&b"cut"[..], "Nov 2, 2026  1:10 AM"));
}
