//! All loaders give the same bytes.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::{FOUR, entries, write};
use fleetblast_db::load::{
    LoadMethod, LoadPurpose, LoadStatistics, Loader, LoaderRequest, MapLoader, PageKind,
    PartitionSupply, ReadLoader, choose_loader,
};
use fleetblast_db::{
    Database, DbError, LoadedPartition, Partition, PartitionContents, SearchPath, SequenceKind,
};
use tempfile::TempDir;

const COUNTS: [usize; 2] = [900, 600];

fn database() -> (TempDir, Database) {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a", &FOUR, &entries(1, COUNTS[0]));
    write(dir.path(), "b", &FOUR, &entries(2, COUNTS[1]));
    let database = open(dir.path());
    (dir, database)
}

fn open(dir: &Path) -> Database {
    let search = SearchPath::new(dir, "".as_ref(), None);
    Database::open("a b", SequenceKind::Protein, &search).unwrap()
}

fn assert_same(loaded: &LoadedPartition, database: &Database) {
    loaded.validate().unwrap();
    for oid in loaded.oids() {
        assert_eq!(loaded.residues_of(oid), database.residues_of(oid));
    }
}

#[test]
fn all_loaders_give_the_same_bytes() {
    let (_dir, database) = database();
    let loaders: [Box<dyn Loader>; 5] = [
        Box::new(MapLoader::new(database.clone(), PartitionContents::All)),
        Box::new(ReadLoader::new(database.clone(), PartitionContents::All, false)),
        Box::new(ReadLoader::new(database.clone(), PartitionContents::All, true)),
        Box::new(
            ReadLoader::new(database.clone(), PartitionContents::All, false).with_buffers(1, 1),
        ),
        Box::new(
            ReadLoader::new(database.clone(), PartitionContents::All, true)
                .with_buffers(2, 5_000_000),
        ),
    ];
    for loader in &loaders {
        for contents in [PartitionContents::Residues, PartitionContents::All] {
            for oids in database.partitions(7) {
                let partition = database.partition(oids, contents).unwrap();
                let loaded = loader.load(&partition).unwrap();
                assert_same(&loaded, &database);
                if contents == PartitionContents::All {
                    for oid in loaded.oids() {
                        assert_eq!(loaded.deflines(oid).unwrap(), database.deflines(oid).unwrap());
                    }
                }
            }
        }
    }
}

/// Makes one pass through a supply on three threads, and compares the residues with those of the
/// database. Returns the number of residues.
fn pass(supply: &PartitionSupply, database: &Database) -> usize {
    let residues = AtomicUsize::new(0);
    let work = |queue: &fleetblast_db::load::RangeQueue| {
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while let Some(work) = queue.next() {
                        work.partition.validate_range(&work.range).unwrap();
                        for oid in work.range {
                            let found = work.partition.residues_of(oid);
                            assert_eq!(found, database.residues_of(oid));
                            residues.fetch_add(found.len(), Ordering::Relaxed);
                        }
                    }
                });
            }
        });
    };
    supply.run_pass(work).unwrap();
    residues.into_inner()
}

#[test]
fn supplies_give_everything_once_however_little_memory() {
    let (_dir, database) = database();
    let all = database.residue_count() as usize;
    for method in [LoadMethod::Map, LoadMethod::Read, LoadMethod::Direct] {
        for memory in [None, Some(1), Some(9_000), Some(1 << 30)] {
            let wish = LoaderRequest { method: Some(method), memory_limit: memory };
            let choice = match choose_loader(&database, LoadPurpose::Search, wish) {
                Err(DbError::MapTooLarge { .. }) if method == LoadMethod::Map => continue,
                choice => choice.unwrap(),
            };
            assert_eq!(
                choice.streaming_bytes.is_some(),
                memory.is_some_and(|memory| memory < 100_000)
            );
            for ranges in [1, 7, 200] {
                let supply = choice.supply(&database, ranges).unwrap();
                assert_eq!(pass(&supply, &database), all, "{choice:?} {ranges}");
                assert_eq!(pass(&supply, &database), all, "{choice:?} {ranges}, once more");
                let kept = supply.kept_residues_of(700);
                let keeps = method != LoadMethod::Map && choice.streaming_bytes.is_none();
                assert_eq!(kept.is_some(), keeps);
                assert_eq!(kept.unwrap_or(database.residues_of(700)), database.residues_of(700));
            }
        }
    }
}

/// A loader that counts how many partitions it has loaded.
struct CountingLoader {
    inner: ReadLoader,
    loaded: Arc<AtomicUsize>,
}

impl Loader for CountingLoader {
    fn load(&self, partition: &Partition) -> Result<Arc<LoadedPartition>, DbError> {
        let loaded = self.inner.load(partition)?;
        self.loaded.fetch_add(1, Ordering::SeqCst);
        Ok(loaded)
    }

    fn statistics(&self) -> LoadStatistics {
        self.inner.statistics()
    }

    fn page_kind(&self) -> Option<PageKind> {
        self.inner.page_kind()
    }
}

#[test]
fn the_next_partition_is_read_while_one_is_searched_and_no_further() {
    let (_dir, database) = database();
    let choice = choose_loader(
        &database,
        LoadPurpose::Search,
        LoaderRequest { method: Some(LoadMethod::Read), memory_limit: Some(9_000) },
    );
    let units = choice.unwrap().supply(&database, 1).unwrap().units().to_vec();
    assert!(units.len() > 5, "{}", units.len());
    let loaded = Arc::new(AtomicUsize::new(0));
    let inner =
        ReadLoader::new(database.clone(), PartitionContents::All, false).with_buffers(2, 9_000);
    let counting = CountingLoader { inner, loaded: Arc::clone(&loaded) };
    let supply = PartitionSupply::new(Box::new(counting), units.clone(), false);
    let work = |queue: &fleetblast_db::load::RangeQueue| {
        let first = queue.next().unwrap();
        // The pause is long enough to load further partitions, if the loader did so.
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(loaded.load(Ordering::SeqCst), 2);
        drop(first);
        while queue.next().is_some() {}
    };
    supply.run_pass(work).unwrap();
    assert_eq!(loaded.load(Ordering::SeqCst), units.len());
}

#[test]
fn a_pass_ends_with_the_first_failure_and_leaves_nobody_waiting() {
    let (dir, database) = database();
    let choice = choose_loader(
        &database,
        LoadPurpose::Search,
        LoaderRequest { method: Some(LoadMethod::Read), memory_limit: Some(9_000) },
    )
    .unwrap();
    let supply = choice.supply(&database, 50).unwrap();
    // A searching thread reports an error.
    let error = supply.run_pass(|queue| {
        while let Some(work) = queue.next() {
            if work.range.contains(&100) {
                queue.fail(100, DbError::NoSuchOid { oid: 100, count: 0 });
            }
        }
    });
    assert!(matches!(error, Err(DbError::NoSuchOid { oid: 100, .. })));
    // A searching thread stops early.
    supply.run_pass(|queue| queue.next().map(drop)).unwrap();
    // A file is cut short after it was opened.
    let path = dir.path().join("b.psq");
    let half = std::fs::read(&path).unwrap().len() / 2;
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(half as u64).unwrap();
    let fresh = choice.supply(&database, 50).unwrap();
    let error = fresh.run_pass(|queue| while queue.next().is_some() {});
    let Err(DbError::FileTruncated { path: named, .. }) = error else { panic!("no error") };
    assert_eq!(named, path);
}

#[test]
fn the_choice_follows_size_and_wish() {
    let (_dir, database) = database();
    let automatic =
        choose_loader(&database, LoadPurpose::Search, LoaderRequest::default()).unwrap();
    assert_eq!((automatic.method, automatic.streaming_bytes), (LoadMethod::Map, None));
    let small = choose_loader(
        &database,
        LoadPurpose::Search,
        LoaderRequest { method: None, memory_limit: Some(5_000) },
    )
    .unwrap();
    assert_eq!((small.method, small.streaming_bytes), (LoadMethod::Direct, Some(5_000)));
    assert!(small.reason.contains("larger than memory"), "{}", small.reason);
    let refused = choose_loader(
        &database,
        LoadPurpose::Search,
        LoaderRequest { method: Some(LoadMethod::Map), memory_limit: Some(5_000) },
    );
    assert!(refused.unwrap_err().to_string().contains("-loader map"));
}

/// A loader may only read the file that was opened, since it has the offsets of this file. The
/// bytes of another file of the same length would be cut at wrong offsets.
#[test]
fn a_file_that_was_replaced_is_not_read_in_the_place_of_the_one_that_was_opened() {
    for (direct, loads) in [(false, 0), (true, 0), (false, 1), (true, 1)] {
        let (dir, database) = database();
        let partition =
            database.partition(0..database.oid_count(), PartitionContents::All).unwrap();
        let before = database.residues_of(0).to_vec();
        let loaders: [Box<dyn Loader>; 2] = [
            Box::new(ReadLoader::new(database.clone(), PartitionContents::All, direct)),
            Box::new(MapLoader::new(database.clone(), PartitionContents::All)),
        ];
        for loader in &loaders {
            (0..loads).for_each(|_| assert_same(&loader.load(&partition).unwrap(), &database));
        }
        let file = dir.path().join("a.psq");
        let other = fs::read(&file).unwrap().iter().rev().copied().collect::<Vec<u8>>();
        fs::write(dir.path().join("new"), other).unwrap();
        fs::rename(dir.path().join("new"), &file).unwrap();
        let read = loaders[0].load(&partition);
        match loads {
            0 => assert!(
                matches!(&read, Err(DbError::FileReplaced { path }) if *path == file),
                "{:?}",
                read.err()
            ),
            // Both loaders still have the older file open.
            _ => assert_same(&read.unwrap(), &database),
        }
        assert_same(&loaders[1].load(&partition).unwrap(), &database);
        assert_eq!(database.residues_of(0), before);
    }
}
