//! Opens volumes whose index is arbitrary bytes; their sequence and header files are fixed.
#![no_main]

use fleetblast_db::{Database, SequenceKind, VolumeBytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let header = [0x30, 0x80, 0x30, 0x80, 0, 0, 0, 0];
    let residues: Vec<u8> = (0..200u8).map(|i| if i % 7 == 0 { 0 } else { i % 28 }).collect();
    let volume = VolumeBytes { index: bytes.to_vec(), residues, headers: header.repeat(25) };
    let Ok(database) = Database::from_volume_bytes(vec![volume.clone(), volume]) else { return };
    let count = database.oid_count();
    let sound = database.validate(0..count).is_ok();
    for oid in (0..count.min(300)).chain([count, u32::MAX]) {
        if database.kind() == SequenceKind::Nucleotide {
            let length = database.bases_of(oid).map(|bases| bases.length());
            assert!(!sound || oid >= count || length.is_ok());
            assert!(length.is_err() || length.ok() == Some(database.length_of(oid)));
        } else {
            let residues = database.residues_of(oid);
            assert!(residues.len() <= database.length_of(oid) as usize);
            assert!(!sound || residues.iter().all(|&code| code < 28));
        }
        let _ = database.deflines(oid);
    }
    for n in [0, 1, 3, 100] {
        let parts = database.partitions(n);
        assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(parts.iter().all(|part| part.start < part.end));
        assert_eq!(parts.is_empty(), count == 0);
    }
});
