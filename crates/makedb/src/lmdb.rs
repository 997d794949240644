//! LMDB files, page for page as BLAST+ writes them: the same entries in the same transactions.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use heed::types::Bytes;
use heed::{
    CommitOrAbort, DatabaseFlags, DatabaseOpener, Env, EnvFlags, EnvOpenOptions, IntegerComparator,
    PutFlags, RwTxn, WithTls,
};

use crate::error::{Context, Error};
use crate::lmdb_pages::restore_spare_bytes;

/// Entries to a transaction.
const ENTRIES: usize = 40_000;
/// Named tables in one file.
const TABLES: u32 = 3;
/// Bytes of a page.
const PAGE: u64 = 4096;
/// Where the two meta pages hold the size of the map.
const MAP_SIZE_AT: [u64; 2] = [32, PAGE + 32];

/// A table of numbers: duplicate keys, values of one size.
type Table<'e> = heed::Database<'e, Bytes, Bytes>;

/// An LMDB file being written.
pub(crate) struct Lmdb {
    env: Env<WithTls>,
    path: PathBuf,
    map_size: u64,
    /// Some key has several values.
    repeats: bool,
}

/// An entry: key and value.
pub(crate) type Entry = (Vec<u8>, Vec<u8>);

impl Lmdb {
    /// A new file. `map_size` is what BLAST+ states in it; `entries` bounds the bytes of keys and
    /// values that will be put, with 16 for each.
    pub(crate) fn create(path: PathBuf, map_size: u64, entries: u64) -> Result<Self, Error> {
        // Room to grow costs nothing: half-filled pages and what transactions leave free.
        let room = (map_size + 4 * entries).next_multiple_of(PAGE);
        let mut options = EnvOpenOptions::new();
        options.map_size(room as usize).max_dbs(TABLES);
        // SAFETY: the file was just made in a directory of our own, so nobody else maps it; a
        // crash that leaves it unsynced leaves a file that never gets its name.
        let env = unsafe {
            options.flags(EnvFlags::NO_SUB_DIR | EnvFlags::NO_LOCK | EnvFlags::NO_SYNC);
            options.open(&path)
        };
        let env = env.map_err(|source| Error::Table { path: path.clone(), source })?;
        Ok(Self { env, path, map_size, repeats: false })
    }

    fn transaction(
        &self,
        work: impl FnOnce(&DatabaseOpener<'_, WithTls>, &mut RwTxn<'_>) -> heed::Result<()>,
    ) -> Result<(), Error> {
        let run = || {
            let transaction = self.env.write_txn()?;
            self.env.create_databases_and_commit(transaction, |opener, transaction| {
                work(opener, transaction)?;
                Ok::<_, heed::Error>(CommitOrAbort::<(), ()>::Commit(()))
            })
        };
        run().map(|_| ()).map_err(|source| Error::Table { path: self.path.clone(), source })
    }

    /// The tables `volinfo` and `volname`: numbers of sequences and names of the volumes.
    pub(crate) fn put_volumes(&self, volumes: &[(Vec<u8>, u32)]) -> Result<(), Error> {
        self.transaction(|opener, transaction| {
            let mut table = |name: &str| {
                opener
                    .database_options()
                    .types::<Bytes, Bytes>()
                    .key_comparator::<IntegerComparator>()
                    .name(name)
                    .create(transaction)
            };
            let (counts, names) = (table("volinfo")?, table("volname")?);
            for (number, (name, count)) in (0u32..).zip(volumes) {
                let number = number.to_le_bytes();
                names.put(transaction, &number, name)?;
                counts.put(transaction, &number, &count.to_le_bytes())?;
            }
            Ok(())
        })
    }

    /// Puts entries into a table of numbers in one transaction.
    fn put_numbers(&self, name: &str, entries: &[Entry]) -> Result<(), Error> {
        self.transaction(|opener, transaction| {
            let flags = DatabaseFlags::DUP_SORT | DatabaseFlags::DUP_FIXED;
            let mut options = opener.database_options().types::<Bytes, Bytes>();
            let table: Table<'_> = options.name(name).flags(flags).create(transaction)?;
            for (key, value) in entries {
                table.put_with_flags(transaction, PutFlags::APPEND_DUP, key, value)?;
            }
            Ok(())
        })
    }

    /// Collects entries for transactions of [`put_numbers`](Self::put_numbers).
    pub(crate) fn batches(&self, name: &'static str) -> Batches<'_> {
        Batches { lmdb: self, name, seen: 0, entries: Vec::new() }
    }

    /// Number of the last page that is used.
    pub(crate) fn last_page(&self) -> u64 {
        self.env.info().last_page_number as u64
    }

    /// States another size of the map in the file.
    pub(crate) fn set_map_size(&mut self, size: u64) {
        self.map_size = size;
    }

    /// Remembers that some key has several values.
    pub(crate) fn set_repeats(&mut self) {
        self.repeats = true;
    }

    /// Ends the file, and gives it the permissions of others.
    pub(crate) fn close(self) -> Result<(), Error> {
        let Self { env, path, map_size, repeats } = self;
        drop(env);
        let file = File::options().read(true).write(true).open(&path).during("write", &path)?;
        if repeats {
            restore_spare_bytes(&file).during("write", &path)?;
        }
        for at in MAP_SIZE_AT {
            file.write_all_at(&map_size.to_le_bytes(), at).during("write", &path)?;
        }
        open_up(&path)
    }
}

/// Gives a file the permissions that files get here.
fn open_up(path: &Path) -> Result<(), Error> {
    let probe = path.with_extension("mode");
    let mode = File::create(&probe).and_then(|file| file.metadata()).during("make", &probe)?;
    fs::remove_file(&probe).during("remove", &probe)?;
    let mode = Permissions::from_mode(mode.permissions().mode() & 0o7777);
    fs::set_permissions(path, mode).during("give permissions to", path)
}

/// Entries on their way into a table.
pub(crate) struct Batches<'a> {
    lmdb: &'a Lmdb,
    name: &'static str,
    /// Of the entries of the transaction to come, repeated ones included.
    seen: usize,
    entries: Vec<Entry>,
}

impl Batches<'_> {
    /// Adds an entry; `None` is one that repeats the last and counts only towards the size of the
    /// transaction.
    pub(crate) fn push(&mut self, entry: Option<Entry>) -> Result<(), Error> {
        if self.seen == ENTRIES {
            self.flush()?;
        }
        self.seen += 1;
        self.entries.extend(entry);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.lmdb.put_numbers(self.name, &self.entries)?;
        self.entries.clear();
        self.seen = 0;
        Ok(())
    }

    /// Puts what is left.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        if self.seen > 0 { self.flush() } else { Ok(()) }
    }
}
