//! Accession files of a version 5 database: the table from accession to sequence (`.?db`), and the
//! lists of accessions of each sequence (`.?os`).

use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use fleetblast_seq::id::SeqId;

use crate::error::MakedbError;
use crate::ids;
use crate::lmdb::{LmdbWriter, PAGE_CONTENTS};
use crate::sink::{OutputFile, StagedFiles};
use crate::sort::ExternalSorter;

/// Initial map size of BLAST+ for the table of accessions, in bytes.
const MAP_SIZE: u64 = 700_000_000;
/// Minimal length of an identifier whose stored length takes four more bytes.
const LONG: usize = 255;

/// Collector of the accessions of all sequences.
#[derive(Debug)]
pub(crate) struct AccessionTables {
    keys: ExternalSorter,
    ends: OutputFile,
    lists: OutputFile,
    /// Number of sequences up to and including the last one with accessions.
    count: u64,
    /// Number of sequences after the last one with accessions.
    without: u64,
    /// Number of keys, including repeated ones.
    entries: u64,
    /// Total length of all keys in bytes.
    key_bytes: u64,
}

impl AccessionTables {
    pub(crate) fn new(sink: &StagedFiles) -> Result<Self, MakedbError> {
        let spool = || {
            Ok::<_, MakedbError>(OutputFile::new(
                sink.temporary_file()?,
                sink.directory().to_path_buf(),
            ))
        };
        let keys = ExternalSorter::new(sink.directory());
        let (ends, lists) = (spool()?, spool()?);
        Ok(Self { keys, ends, lists, count: 0, without: 0, entries: 0, key_bytes: 0 })
    }

    /// Adds the identifiers of the next sequence. `number` is the OID of the sequence.
    pub(crate) fn add(&mut self, ids: &[SeqId], number: u32) -> Result<(), MakedbError> {
        let mut listed: Vec<Vec<u8>> = Vec::new();
        let mut result = Ok(());
        // BLAST+ sorts the numbers of one key as the bytes of little-endian integers.
        let value = u64::from(number.swap_bytes());
        for id in ids {
            ids::accession_keys(id, |key, list| {
                self.entries += 1;
                self.key_bytes += key.len() as u64;
                if result.is_ok() {
                    result = self.keys.push(key, value);
                }
                if list {
                    listed.push(key.to_vec());
                }
            });
        }
        result?;
        listed.sort();
        let before = self.lists.length();
        for id in &listed {
            self.put_listed(id)?;
        }
        if listed.is_empty() {
            self.without += 1;
            return Ok(());
        }
        self.count += self.without + 1;
        for _ in 0..std::mem::take(&mut self.without) {
            self.ends.write_bytes(&before.to_le_bytes())?;
        }
        self.ends.write_bytes(&self.lists.length().to_le_bytes())
    }

    fn put_listed(&mut self, id: &[u8]) -> Result<(), MakedbError> {
        if id.len() >= LONG {
            self.lists.write_bytes(&[LONG as u8])?;
            self.lists.write_bytes(&(id.len() as u32).to_le_bytes())?;
        } else {
            self.lists.write_bytes(&[id.len() as u8])?;
        }
        self.lists.write_bytes(id)
    }

    /// Writes the table of accessions, and the lists of accessions if there are any.
    pub(crate) fn write(
        self,
        sink: &mut StagedFiles,
        volumes: &[(Vec<u8>, u32)],
        map_size: Option<NonZero<u64>>,
    ) -> Result<(), MakedbError> {
        let mut lmdb = create(sink, self.key_bytes + 16 * self.entries, volumes, map_size)?;
        if self.entries > 0 {
            let mut file = sink.create_file(None, "os")?;
            file.write_bytes(&self.count.to_le_bytes())?;
            file.append(self.ends)?;
            file.append(self.lists)?;
            file.close()?;
            lmdb.reserve_pages(pages(self.entries, self.key_bytes));
            let mut batches = lmdb.transaction_writer("acc2oid");
            let mut repeats = false;
            let mut last: Option<(Vec<u8>, u64)> = None;
            self.keys.for_each_sorted(|key, value| {
                let same_key = last.as_ref().is_some_and(|(k, _)| k == key);
                let repeated = same_key && last.as_ref().is_some_and(|(_, v)| *v == value);
                repeats |= same_key && !repeated;
                let number = (value as u32).swap_bytes().to_le_bytes();
                batches.push((!repeated).then(|| (key.to_vec(), number.to_vec())))?;
                if !repeated {
                    last = Some((key.to_vec(), value));
                }
                Ok(())
            })?;
            batches.finish()?;
            if repeats {
                lmdb.allow_repeated_keys();
            }
        }
        lmdb.close()
    }
}

/// Writes only the table of volumes, for a database whose identifiers are not parsed.
pub(crate) fn write_volumes(
    sink: &mut StagedFiles,
    volumes: &[(Vec<u8>, u32)],
    map_size: Option<NonZero<u64>>,
) -> Result<(), MakedbError> {
    create(sink, 0, volumes, map_size)?.close()
}

/// Creates the LMDB file and writes its table of volumes. `entries` is an upper bound of the bytes
/// of all other entries.
fn create(
    sink: &mut StagedFiles,
    entries: u64,
    volumes: &[(Vec<u8>, u32)],
    map_size: Option<NonZero<u64>>,
) -> Result<LmdbWriter, MakedbError> {
    let map_size = map_size.map_or(MAP_SIZE, NonZero::get);
    let mut lmdb = LmdbWriter::create(sink.staged_path(None, "db"), map_size, entries)?;
    let names = volumes.first().map_or(0, |(name, _)| name.len() as u64);
    let count = volumes.len() as u64;
    lmdb.reserve_pages(7 + (names + 24) * count / PAGE_CONTENTS + 24 * count / PAGE_CONTENTS);
    lmdb.put_volumes(volumes)?;
    Ok(lmdb)
}

/// Returns the number of pages that BLAST+ reserves for the accessions
/// (`CWriteDB_LMDB::x_IncreaseEnvMapSize`).
fn pages(entries: u64, key_bytes: u64) -> u64 {
    let leaves = (key_bytes + 16 * entries) / PAGE_CONTENTS + 1;
    let duplicates = if leaves > 200 { 14 } else { 7 };
    let branches = (key_bytes / entries + 16) * leaves / PAGE_CONTENTS + 1;
    leaves + branches + duplicates
}

/// Returns the name of a volume in the table of volumes.
pub(crate) fn volume_name(base: &Path, volume: Option<u32>) -> Vec<u8> {
    let mut name = base.file_name().unwrap_or_default().as_bytes().to_vec();
    if let Some(volume) = volume {
        name.extend(format!(".{volume:02}").bytes());
    }
    name
}
