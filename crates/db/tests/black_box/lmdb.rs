//! Tests of the LMDB reader on files that the real LMDB wrote, intact and damaged.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fastrand::Rng;
use fleetblast_db::lookup::lmdb::{LmdbFile, Table};
use heed::types::Bytes;
use heed::{CommitOrAbort, DatabaseFlags, EnvFlags, EnvOpenOptions};

/// LMDB's flag `MDB_INTEGERKEY`.
const INTEGER_KEY: DatabaseFlags = DatabaseFlags::from_bits_retain(0x08);

type Contents = BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>;

/// A table to write: its name, its flags, its contents, and the keys to delete afterwards.
struct Plan {
    name: &'static str,
    flags: DatabaseFlags,
    contents: Contents,
    deleted: Vec<Vec<u8>>,
}

/// Writes the tables in several transactions. Returns the bytes of the file.
fn write_database(directory: &Path, plans: &[Plan]) -> Vec<u8> {
    let path = directory.join("x.mdb");
    let mut options = EnvOpenOptions::new();
    options.max_dbs(8).map_size(1 << 28);
    // SAFETY: the file is in a directory of this test, and no other code opens it.
    let env =
        unsafe { options.flags(EnvFlags::NO_SUB_DIR | EnvFlags::NO_SYNC).open(&path) }.unwrap();
    for plan in plans {
        let mut txn = env.write_txn().unwrap();
        let mut table = None;
        env.create_databases_and_commit(txn, |opener, txn| {
            let mut options = opener.database_options().types::<Bytes, Bytes>();
            table = Some(options.flags(plan.flags).name(plan.name).create(txn)?);
            Ok::<_, heed::Error>(CommitOrAbort::<(), ()>::Commit(()))
        })
        .unwrap();
        let table = table.unwrap();
        txn = env.write_txn().unwrap();
        for (i, (key, values)) in plan.contents.iter().enumerate() {
            for value in values {
                table.put(&mut txn, key, value).unwrap();
            }
            if i % 1000 == 999 {
                txn.commit().unwrap();
                txn = env.write_txn().unwrap();
            }
        }
        for key in &plan.deleted {
            assert!(table.delete(&mut txn, key).unwrap());
        }
        txn.commit().unwrap();
    }
    env.prepare_for_closing().wait();
    std::fs::read(path).unwrap()
}

/// Returns tables of all shapes that BLAST databases have, and of some other shapes.
fn plans() -> Vec<Plan> {
    let mut random = Rng::with_seed(5);
    let text = |random: &mut Rng, most| {
        let length = random.usize(1..=most);
        (0..length).map(|_| random.u8(..)).collect::<Vec<u8>>()
    };
    let one = |value: Vec<u8>| BTreeSet::from([value]);
    let dup_fixed = DatabaseFlags::DUP_SORT | DatabaseFlags::DUP_FIXED;
    // A few values fit into the node, many values need a tree.
    let amounts = [1, 1, 2, 7, 300, 40_000];
    let values = |random: &mut Rng, i: usize| -> BTreeSet<Vec<u8>> {
        let count = amounts[if i.is_multiple_of(701) { 5 } else { i % 5 }];
        (0..count).map(|_| random.u32(..1 << 20).to_le_bytes().to_vec()).collect()
    };
    let fixed: Contents =
        (0..1500).map(|i| (text(&mut random, 60), values(&mut random, i))).collect();
    let varied = (0..300)
        .map(|i| {
            let count = amounts[i % 5];
            (text(&mut random, 40), (0..count).map(|_| text(&mut random, 90)).collect())
        })
        .collect();
    let plain: Contents =
        (0..20_000).map(|_| (text(&mut random, 30), one(text(&mut random, 50)))).collect();
    let numbers = (0..1200u32)
        .map(|i| {
            let value = vec![i as u8; if i % 100 == 7 { 9000 } else { 5 }];
            // The keys are in the order of the numbers, not of their bytes.
            ((i * 977).to_le_bytes().to_vec(), one(value))
        })
        .collect();
    let deleted = plain.keys().step_by(3).cloned().collect();
    let plan = |name, flags, contents| Plan { name, flags, contents, deleted: Vec::new() };
    vec![
        plan("fixed", dup_fixed, fixed),
        plan("varied", DatabaseFlags::DUP_SORT, varied),
        Plan { deleted, ..plan("plain", DatabaseFlags::empty(), plain) },
        plan("numbers", INTEGER_KEY, numbers),
        plan("empty", DatabaseFlags::empty(), Contents::new()),
    ]
}

fn values(env: &LmdbFile<'_>, table: &Table, key: &[u8]) -> Vec<Vec<u8>> {
    env.values(table, key).unwrap().map(|value| value.unwrap().to_vec()).collect()
}

#[test]
fn what_lmdb_writes_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let plans = plans();
    let file = write_database(directory.path(), &plans);
    let env = LmdbFile::open(&file).unwrap();
    assert_eq!(env.table("none"), Ok(None));
    for plan in plans {
        let table = env.table(plan.name).unwrap().unwrap();
        let mut expected = plan.contents;
        expected.retain(|key, _| !plan.deleted.contains(key));
        let count: usize = expected.values().map(BTreeSet::len).sum();
        assert_eq!(table.stated_entries(), count as u64, "{}", plan.name);
        let mut found = Contents::new();
        let mut order = Vec::new();
        for entry in env.entries(&table).unwrap() {
            let (key, value) = entry.unwrap();
            assert!(found.entry(key.to_vec()).or_default().insert(value.to_vec()));
            order.push((key, value));
        }
        assert!(found == expected, "{}", plan.name);
        if plan.flags.contains(INTEGER_KEY) {
            let number = |key: &[u8]| u32::from_le_bytes(key.try_into().unwrap());
            assert!(order.is_sorted_by_key(|(key, _)| number(key)));
        } else {
            assert!(order.is_sorted(), "{}", plan.name);
        }
        for (key, wanted) in &expected {
            assert!(values(&env, &table, key).iter().eq(wanted), "{}", plan.name);
            let absent = [&key[..], b"\0\0\0\0\0"].concat();
            assert!(expected.contains_key(&absent) || values(&env, &table, &absent).is_empty());
        }
        for key in plan.deleted {
            assert!(values(&env, &table, &key).is_empty());
        }
    }
}

/// Reads all tables of a file and discards the entries. Errors are as acceptable as entries.
fn read_all(file: &[u8]) {
    let Ok(env) = LmdbFile::open(file) else { return };
    for name in ["fixed", "varied", "plain", "numbers"] {
        let Ok(Some(table)) = env.table(name) else { continue };
        let Ok(entries) = env.entries(&table) else { continue };
        // A file cannot have more entries than bits.
        assert!(entries.map_while(Result::ok).count() < 8 * file.len());
        let _ = env.values(&table, b"some key").map(|values| values.count());
    }
}

#[test]
fn damaged_files_end_in_errors() {
    let directory = tempfile::tempdir().unwrap();
    let mut plans = plans();
    for plan in &mut plans {
        let half: Vec<_> = plan.contents.keys().skip(40).cloned().collect();
        half.iter().for_each(|key| drop(plan.contents.remove(key)));
        plan.deleted.clear();
    }
    let file = write_database(directory.path(), &plans);
    let mut random = Rng::with_seed(77);
    for _ in 0..3000 {
        let mut damaged = file.clone();
        for _ in 0..random.u64(1..=12) {
            let page = random.usize(..file.len() / 4096) * 4096;
            // Damage in headers and offsets has the worst effects.
            let within = {
                let most = if random.u64(..3) == 0 { 4096 } else { 64 };
                random.usize(..most)
            };
            damaged[page + within] = random.u8(..);
        }
        if random.u64(..10) == 0 {
            damaged.truncate(random.usize(..file.len()));
        }
        read_all(&damaged);
    }
    assert!(LmdbFile::open(&file[..100]).is_err());
    assert!(LmdbFile::open(b"").is_err());
}

#[test]
fn a_root_that_leads_to_itself_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let keys = (0..5000u32).map(|i| (i.to_be_bytes().to_vec(), BTreeSet::from([vec![1u8; 40]])));
    let plan = Plan {
        name: "plain",
        flags: DatabaseFlags::empty(),
        contents: keys.collect(),
        deleted: Vec::new(),
    };
    let mut file = write_database(directory.path(), &[plan]);
    // Every node of every branch page gets the number of the page itself.
    for page in 2..file.len() / 4096 {
        let at = page * 4096;
        let half = |file: &[u8], i| u16::from_le_bytes([file[i], file[i + 1]]) as usize;
        if half(&file, at + 10) & 1 == 0 {
            continue;
        }
        for i in 0..(half(&file, at + 12) - 16) / 2 {
            let node = at + half(&file, at + 16 + 2 * i);
            let number = (page as u64).to_le_bytes();
            file[node..node + 6].fill(0);
            file[node..node + 4].copy_from_slice(&number[..4]);
        }
    }
    let env = LmdbFile::open(&file).unwrap();
    let table = env.table("plain").unwrap().unwrap();
    assert!(env.values(&table, &7u32.to_be_bytes()).is_err());
    assert!(env.entries(&table).unwrap().any(|entry| entry.is_err()));
}

/// The file has pages of 512 bytes: both meta pages, the main tree and a table of one page.
#[test]
fn the_page_size_is_that_of_the_file() {
    const PAGE: usize = 512;
    let mut file = vec![0u8; 4 * PAGE];
    let put = |file: &mut Vec<u8>, at: usize, bytes: &[u8]| {
        file[at..at + bytes.len()].copy_from_slice(bytes);
    };
    let record = |root: u64| {
        let mut record = [0u8; 48];
        record[6] = 1;
        record[40..].copy_from_slice(&root.to_le_bytes());
        record
    };
    for page in 0..2 {
        let at = page * PAGE;
        put(&mut file, at, &(page as u64).to_le_bytes());
        put(&mut file, at + 10, &8u16.to_le_bytes());
        put(&mut file, at + 16, &0xBEEF_C0DEu32.to_le_bytes());
        put(&mut file, at + 20, &1u32.to_le_bytes());
        put(&mut file, at + 40, &(PAGE as u32).to_le_bytes());
        // There are no free pages.
        put(&mut file, at + 80, &u64::MAX.to_le_bytes());
        // The older meta page has no table.
        put(&mut file, at + 88, &record(if page == 1 { 2 } else { u64::MAX }));
        put(&mut file, at + 144, &(page as u64).to_le_bytes());
    }
    let mut leaf = |page: usize, key: &[u8], value: &[u8], flags: u16| {
        let (at, node) = (page * PAGE, 400);
        put(&mut file, at, &(page as u64).to_le_bytes());
        put(&mut file, at + 10, &2u16.to_le_bytes());
        put(&mut file, at + 12, &18u16.to_le_bytes());
        put(&mut file, at + 16, &(node as u16).to_le_bytes());
        put(&mut file, at + node, &(value.len() as u32).to_le_bytes());
        put(&mut file, at + node + 4, &flags.to_le_bytes());
        put(&mut file, at + node + 6, &(key.len() as u16).to_le_bytes());
        put(&mut file, at + node + 8, key);
        put(&mut file, at + node + 8 + key.len(), value);
    };
    leaf(2, b"acc2oid", &record(3), 2);
    leaf(3, b"P12345", &[7, 0, 0, 0], 0);
    let env = LmdbFile::open(&file).unwrap();
    let table = env.table("acc2oid").unwrap().unwrap();
    assert_eq!(values(&env, &table, b"P12345"), [[7, 0, 0, 0]]);
    assert!(values(&env, &table, b"P12346").is_empty());
}
