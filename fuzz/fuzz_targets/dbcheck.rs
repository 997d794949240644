//! Opens and checks a volume whose index, sequences and headers are parts of the input. The first
//! two bytes state their lengths. Also copies partitions of the volume to other memory.
#![no_main]

use std::sync::Arc;

use fleetblast_db::integrity::check_integrity;
use fleetblast_db::load::{LoadPurpose, LoaderRequest, MapLoader, choose_loader};
use fleetblast_db::partition::FilledMemory;
use fleetblast_db::{Database, LoadedPartition, PartitionContents, VolumeBytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((&[index, headers], rest)) = input.split_first_chunk() else { return };
    let (index, rest) = rest.split_at(rest.len().min(usize::from(index) * 2));
    let (headers, residues) = rest.split_at(rest.len().min(usize::from(headers) * 2));
    let volume = VolumeBytes {
        index: index.to_vec(),
        residues: residues.to_vec(),
        headers: headers.to_vec(),
    };
    let Ok(database) = Database::from_volume_bytes(vec![volume]) else { return };
    let _ = MapLoader::new(database.clone(), PartitionContents::All);
    for oids in database.partitions(3) {
        let Ok(partition) = database.partition(oids.clone(), PartitionContents::All) else {
            continue;
        };
        let resident =
            LoadedPartition::from_resident(&database, &partition).expect("it is all there");
        let filled = partition.pieces[0].spans.iter().map(|span| {
            let bytes = resident.part_memory(span.part).next().unwrap_or(&[]).to_vec();
            FilledMemory { memory: Arc::new(bytes), start: 0 }
        });
        let copied = LoadedPartition::new(&database, &partition, filled).expect("so many bytes");
        assert_eq!(copied.validate().is_ok(), database.validate(oids.clone()).is_ok());
        for oid in oids.take(300) {
            assert_eq!(copied.residues_of(oid), database.residues_of(oid));
            assert_eq!(copied.deflines(oid).ok(), database.deflines(oid).ok());
        }
    }
    let supply = choose_loader(&database, LoadPurpose::Check, LoaderRequest::default())
        .and_then(|choice| choice.supply(&database, 2));
    if let Ok(supply) = supply {
        let _ = check_integrity(&database, &supply, |work| work());
    }
});
