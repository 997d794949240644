//! Partitions in memory that the caller filled in pieces have exactly the bytes of the files.

use std::path::Path;
use std::sync::Arc;

use crate::common::{FOUR, entries, write};
use fleetblast_db::load::{FileSource, LoadStatistics, Loader, MapLoader, MemoryLoader, PageKind};
use fleetblast_db::partition::FilledMemory;
use fleetblast_db::{Database, DbError, Partition, PartitionContents, SearchPath, SequenceKind};
use tempfile::TempDir;

/// Number of unrelated bytes in the memory before the partition.
const BEFORE: usize = 13;

fn database() -> (TempDir, Database) {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a", &FOUR, &entries(1, 900));
    write(dir.path(), "b", &FOUR, &entries(2, 600));
    let database = open(dir.path());
    (dir, database)
}

fn open(dir: &Path) -> Database {
    let search = SearchPath::new(dir, "".as_ref(), None);
    Database::open("a b", SequenceKind::Protein, &search).unwrap()
}

/// Fills a partition in pieces of `piece` bytes, the last one first.
fn fill_partition(
    database: &Database,
    partition: &Partition,
    piece: usize,
) -> Result<MemoryLoader, DbError> {
    let source = FileSource::new(database.clone());
    let mut memory = vec![0xff; BEFORE + partition.byte_count() as usize];
    let pieces: Vec<&mut [u8]> = memory[BEFORE..].chunks_mut(piece).collect();
    for (number, bytes) in pieces.into_iter().enumerate().rev() {
        source.read(partition, (number * piece) as u64, bytes)?;
    }
    let filled = FilledMemory { memory: Arc::new(memory), start: BEFORE };
    let came = LoadStatistics { read_bytes: partition.byte_count(), ..LoadStatistics::default() };
    Ok(MemoryLoader::new(database.clone(), partition.clone(), filled, came, PageKind::Small))
}

#[test]
fn parts_of_a_held_partition_are_those_of_the_files() {
    let (_dir, database) = database();
    let map = MapLoader::new(database.clone(), PartitionContents::Residues);
    for (partitions, piece) in [(1, 1 << 20), (1, 7_001), (4, 1_000), (9, 333)] {
        for oids in database.partitions(partitions) {
            let partition = database.partition(oids.clone(), PartitionContents::Residues).unwrap();
            let held = fill_partition(&database, &partition, piece).unwrap();
            assert_eq!(held.statistics().read_bytes, partition.byte_count());
            for part in database.partitions_within(oids, 5) {
                let part = database.partition(part, PartitionContents::Residues).unwrap();
                let (ours, files) = (held.load(&part).unwrap(), map.load(&part).unwrap());
                ours.validate().unwrap();
                for oid in part.oids {
                    assert_eq!(ours.residues_of(oid), files.residues_of(oid));
                    assert_eq!(ours.length_of(oid), database.length_of(oid));
                }
            }
        }
    }
}

#[test]
fn a_supply_of_what_is_held_keeps_it() {
    let (_dir, database) = database();
    let oids = 800..1_000;
    let partition = database.partition(oids.clone(), PartitionContents::Residues).unwrap();
    let held = fill_partition(&database, &partition, 5_000).unwrap();
    let supply = held.supply(database.partitions_within(oids.clone(), 6)).unwrap();
    assert_eq!(supply.kept_residues_of(900), None, "not asked for yet");
    let mut searched = Vec::new();
    let pass = supply.run_pass(|queue| {
        while let Some(work) = queue.next() {
            work.partition.validate_range(&work.range).unwrap();
            searched.extend(work.range);
        }
    });
    pass.unwrap();
    assert_eq!(searched, oids.clone().collect::<Vec<_>>());
    for oid in oids {
        assert_eq!(supply.kept_residues_of(oid), Some(database.residues_of(oid)));
    }
}

#[test]
fn what_is_not_held_is_an_error() {
    let (dir, database) = database();
    let partition = database.partition(300..700, PartitionContents::Residues).unwrap();
    let held = fill_partition(&database, &partition, 5_000).unwrap();
    for (oids, contents) in [
        (299..310, PartitionContents::Residues),
        (690..701, PartitionContents::Residues),
        (1_000..1_100, PartitionContents::Residues),
        (310..320, PartitionContents::All),
    ] {
        let wanted = database.partition(oids, contents).unwrap();
        let error = held.load(&wanted).unwrap_err();
        assert!(matches!(error, DbError::NotLoaded { .. }), "{error}");
    }
    let source = FileSource::new(database.clone());
    let mut beyond = [0; 3];
    let error = source.read(&partition, partition.byte_count() - 2, &mut beyond).unwrap_err();
    assert!(matches!(error, DbError::NotLoaded { .. }), "{error}");
    // The memory is shorter than the partition.
    let memory = Arc::new(vec![0u8; partition.byte_count() as usize - 1]);
    let short = FilledMemory { memory, start: 0 };
    let came = LoadStatistics::default();
    let short =
        MemoryLoader::new(database.clone(), partition.clone(), short, came, PageKind::Small);
    let error = short.load(&partition).unwrap_err();
    assert!(matches!(error, DbError::FileTruncated { .. }), "{error}");
    // A file is cut short after it was opened.
    let path = dir.path().join("a.psq");
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(9_000).unwrap();
    let Err(DbError::FileTruncated { path: named, .. }) =
        fill_partition(&database, &partition, 5_000)
    else {
        panic!("no error")
    };
    assert_eq!(named, path);
}
