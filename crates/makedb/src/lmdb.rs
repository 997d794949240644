//! LMDB files, page for page as BLAST+ writes them: the same entries in the same transactions.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use heed::types::Bytes;
use heed::{
    CommitOrAbort, DatabaseFlags, DatabaseOpener, Env, EnvFlags, EnvOpenOptions, IntegerComparator,
    PutFlags, RwTxn, WithTls,
};

use crate::error::{ErrorContext, MakedbError};
use crate::lmdb_pages::restore_spare_bytes;

/// Number of entries per transaction.
const ENTRIES: usize = 40_000;
/// Maximal number of named tables in one file.
const TABLES: u32 = 3;
/// Number of bytes of a page. [`PAGE_CONTENTS`] is the number of its bytes that hold entries.
const PAGE: u64 = 4096;
pub(crate) const PAGE_CONTENTS: u64 = PAGE - 16;
/// Offsets of the map size in the two meta pages.
const MAP_SIZE_AT: [u64; 2] = [32, PAGE + 32];

/// Number of bytes of a map in addition to four times the size of the entries.
const ROOM: u64 = 16 << 20;

/// The map sizes that BLAST+ writes into an LMDB file.
#[derive(Debug)]
struct MapSize {
    /// The current map size in bytes.
    size: u64,
    /// The map sizes in the two meta pages. Transactions write these pages alternately.
    stated: [u64; 2],
    transactions: usize,
}

impl MapSize {
    /// Creates the map sizes of a new file. A map has at least the two meta pages.
    fn new(size: u64) -> Self {
        let size = size.max(2 * PAGE);
        Self { size, stated: [size; 2], transactions: 0 }
    }

    fn commit(&mut self) {
        self.transactions += 1;
        self.stated[self.transactions % 2] = self.size;
    }
}

/// An LMDB table whose values are numbers of one size. A key can have several values.
type Table<'e> = heed::Database<'e, Bytes, Bytes>;

/// Writer of an LMDB file.
pub(crate) struct LmdbWriter {
    env: Env<WithTls>,
    path: PathBuf,
    map: MapSize,
    /// Whether any key has several values.
    repeats: bool,
}

/// An entry: key and value.
pub(crate) type TableEntry = (Vec<u8>, Vec<u8>);

impl LmdbWriter {
    /// Creates a file. `map_size` is the initial map size of BLAST+ in bytes. `entries` is an upper
    /// bound of the bytes of all keys and values, with 16 more bytes for each entry.
    pub(crate) fn create(path: PathBuf, map_size: u64, entries: u64) -> Result<Self, MakedbError> {
        // A large map costs nothing. It is needed for half-filled pages, and for pages that
        // transactions free.
        let room = map_size.max(ROOM + 4 * entries);
        let room = room.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX - (PAGE - 1));
        let mut options = EnvOpenOptions::new();
        options.map_size(room as usize).max_dbs(TABLES);
        // SAFETY: the file was just made in a directory of our own, so nobody else maps it; a
        // crash that leaves it unsynced leaves a file that never gets its name.
        let env = unsafe {
            options.flags(EnvFlags::NO_SUB_DIR | EnvFlags::NO_LOCK | EnvFlags::NO_SYNC);
            options.open(&path)
        };
        let env = env.map_err(|source| match source {
            heed::Error::Io(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                MakedbError::MapTable { path: path.clone(), size: room }
            }
            source => MakedbError::WriteTable { path: path.clone(), source },
        })?;
        Ok(Self { env, path, map: MapSize::new(map_size), repeats: false })
    }

    fn transaction(
        &mut self,
        work: impl FnOnce(&DatabaseOpener<'_, WithTls>, &mut RwTxn<'_>) -> heed::Result<()>,
    ) -> Result<(), MakedbError> {
        let run = || {
            let transaction = self.env.write_txn()?;
            self.env.create_databases_and_commit(transaction, |opener, transaction| {
                work(opener, transaction)?;
                Ok::<_, heed::Error>(CommitOrAbort::<(), ()>::Commit(()))
            })
        };
        run().map_err(|source| MakedbError::WriteTable { path: self.path.clone(), source })?;
        self.map.commit();
        Ok(())
    }

    /// Writes the tables `volinfo` and `volname`: the number of sequences and the name of each
    /// volume.
    pub(crate) fn put_volumes(&mut self, volumes: &[(Vec<u8>, u32)]) -> Result<(), MakedbError> {
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
    fn put_numbers(&mut self, name: &str, entries: &[TableEntry]) -> Result<(), MakedbError> {
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

    /// Creates a writer for the table `name`, which collects entries and writes them in
    /// transactions.
    pub(crate) fn transaction_writer(&mut self, name: &'static str) -> TransactionWriter<'_> {
        TransactionWriter { lmdb: self, name, seen: 0, entries: Vec::new() }
    }

    /// Increases the stated map size if it is too small for this number of further pages.
    pub(crate) fn reserve_pages(&mut self, pages: u64) {
        let pages = pages + self.env.info().last_page_number as u64;
        if pages > self.map.size / PAGE {
            self.map.size = pages * PAGE;
        }
    }

    /// Records that some key has several values.
    pub(crate) fn allow_repeated_keys(&mut self) {
        self.repeats = true;
    }

    /// Closes the file, and sets its permissions.
    pub(crate) fn close(self) -> Result<(), MakedbError> {
        let Self { env, path, map, repeats } = self;
        drop(env);
        let file =
            File::options().read(true).write(true).open(&path).with_context("write", &path)?;
        if repeats {
            restore_spare_bytes(&file).with_context("write", &path)?;
        }
        for (at, size) in MAP_SIZE_AT.into_iter().zip(map.stated) {
            file.write_all_at(&size.to_le_bytes(), at).with_context("write", &path)?;
        }
        open_up(&path)
    }
}

/// Sets the permissions of a file to those of a newly created file in its directory.
fn open_up(path: &Path) -> Result<(), MakedbError> {
    let probe = path.with_extension("mode");
    let mode =
        File::create(&probe).and_then(|file| file.metadata()).with_context("make", &probe)?;
    fs::remove_file(&probe).with_context("remove", &probe)?;
    let mode = Permissions::from_mode(mode.permissions().mode() & 0o7777);
    fs::set_permissions(path, mode).with_context("give permissions to", path)
}

/// Collector of the entries of a table, which writes them in transactions of BLAST+'s size.
pub(crate) struct TransactionWriter<'a> {
    lmdb: &'a mut LmdbWriter,
    name: &'static str,
    /// Number of entries in the next transaction, including repeated ones.
    seen: usize,
    entries: Vec<TableEntry>,
}

impl TransactionWriter<'_> {
    /// Adds an entry. `None` stands for a repetition of the last entry, and only counts towards the
    /// size of the transaction.
    pub(crate) fn push(&mut self, entry: Option<TableEntry>) -> Result<(), MakedbError> {
        if self.seen == ENTRIES {
            self.flush()?;
        }
        self.seen += 1;
        self.entries.extend(entry);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), MakedbError> {
        self.lmdb.put_numbers(self.name, &self.entries)?;
        self.entries.clear();
        self.seen = 0;
        Ok(())
    }

    /// Writes the remaining entries.
    pub(crate) fn finish(mut self) -> Result<(), MakedbError> {
        if self.seen > 0 { self.flush() } else { Ok(()) }
    }
}
