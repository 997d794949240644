//! Reads LMDB files, mapped or in memory. Treats their contents as untrusted.
//!
//! Version-5 databases keep their identifiers in LMDB files (`.pdb`, `.ptf`). This module does not
//! use `liblmdb`, which follows page numbers and offsets in the file without checking them. A
//! damaged file makes `liblmdb` read outside its mapping and ends the process with a signal, as in
//! NCBI BLAST+. Also, `liblmdb` can only open a path, and by default it writes a lock file next to
//! the database. This reader checks every number against the size of the file.
//!
//! The format is that of LMDB 0.9 (data version 1) as written on 64-bit little-endian machines, the
//! only one that BLAST+ can read. The reader supports any page size, named tables,
//! `MDB_INTEGERKEY`, values on overflow pages, and several sorted values of one key (`MDB_DUPSORT`,
//! `MDB_DUPFIXED`). The values of one key are in a page within the node, or in a tree of their own.
//!
//! # Bounds
//! A descent takes at most as many steps as the stated depth of the tree. The depth is limited to
//! 32 as in LMDB. A traversal visits at most as many bytes as the file has. So page numbers in a
//! circle cause an error.

mod page;
mod sound;
mod walk;

use std::cmp::Ordering;

use self::page::{META, Page, fixed_bytes};
pub use self::walk::{Entries, Values};
use super::FileDamage;

/// First word of a meta page.
const MAGIC: u32 = 0xBEEF_C0DE;
/// Version of the file format.
const DATA_VERSION: u32 = 1;
/// Size in bytes of the record that describes a table, in a meta page or in a node.
const RECORD: usize = 48;
/// Root page number of an empty tree.
const NO_PAGE: u64 = u64::MAX;
/// Maximal number of levels of a tree, as in LMDB.
const DEEPEST: u16 = 32;

/// Flags in a table's record: for the order of its keys, and for several values of a key.
const REVERSE_KEY: u16 = 0x02;
const DUP_SORT: u16 = 0x04;
const INTEGER_KEY: u16 = 0x08;

/// A view of an LMDB file.
#[derive(Clone, Copy, Debug)]
pub struct LmdbFile<'a> {
    bytes: &'a [u8],
    page_size: usize,
    main: Table,
}

/// A table of an LMDB file: the root of its tree, and the order of its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    flags: u16,
    depth: u16,
    entries: u64,
    root: u64,
}

impl<'a> LmdbFile<'a> {
    /// Reads the two meta pages of a file and uses the newer one.
    ///
    /// # Errors
    /// [`FileDamage`] if the bytes are not those of an LMDB file.
    pub fn open(bytes: &'a [u8]) -> Result<Self, FileDamage> {
        let first = Meta::read(bytes, 0)?;
        let second = Meta::read(bytes, first.page_size)?;
        if second.page_size != first.page_size {
            return Err(FileDamage { offset: first.page_size, problem: "two page sizes" });
        }
        let newer = if second.transaction > first.transaction { second } else { first };
        Ok(Self { bytes, page_size: newer.page_size, main: newer.main })
    }

    /// Returns the table called `name`; `None` if there is none.
    ///
    /// # Errors
    /// [`FileDamage`] of the file.
    pub fn table(&self, name: &str) -> Result<Option<Table>, FileDamage> {
        match self.find(&self.main, name.as_bytes())? {
            Some((page, i)) => page.table(i).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the values of a key, in their order. There are none if the key is missing.
    ///
    /// # Errors
    /// [`FileDamage`] of the file.
    pub fn values(&self, table: &Table, key: &[u8]) -> Result<Values<'a>, FileDamage> {
        match self.find(table, key)? {
            Some((page, i)) => Values::of_node(*self, table, &page, i, self.bytes.len()),
            None => Ok(Values::none(*self)),
        }
    }

    /// Returns every key with each of its values, in the order of the keys.
    ///
    /// # Errors
    /// [`FileDamage`] if the table's record is wrong. The iterator gives errors in the entries.
    pub fn entries(&self, table: &Table) -> Result<Entries<'a>, FileDamage> {
        Entries::new(*self, table)
    }

    /// Returns the keys before and after a missing key, on the same leaf page. If damage changed
    /// the stored key, one of them is the changed key, or the result is an error.
    ///
    /// [`FileDamage`] of the file. Unlike [`values`](Self::values), this checks the order of all
    /// keys on the visited pages, and that the keys are within the bounds of their page.
    pub fn neighbours(
        &self,
        table: &Table,
        key: &[u8],
    ) -> Result<[Option<&'a [u8]>; 2], FileDamage> {
        if table.root == NO_PAGE {
            return Ok([None, None]);
        }
        let mut page = self.page(table.root)?;
        let mut bounds = [None, None];
        for level in 1..=table.depth {
            let at_leaves = level == table.depth;
            page.check_keys(table, at_leaves, bounds)?;
            let mut after = 0;
            // The first key of a branch page stands for all smaller keys.
            for i in usize::from(!at_leaves)..page.count() {
                if table.compare(page.key(i)?, key) != Ordering::Greater {
                    after = i + 1;
                }
            }
            let key_at = |i: usize| if i < page.count() { page.key(i).map(Some) } else { Ok(None) };
            if at_leaves {
                let before = after.checked_sub(1).map_or(Ok(None), key_at)?;
                return Ok([before, key_at(after)?]);
            }
            let slot = after.max(1) - 1;
            let lower = if slot > 0 { key_at(slot)? } else { bounds[0] };
            bounds = [lower, key_at(slot + 1)?.or(bounds[1])];
            page = self.page(page.child(slot)?)?;
        }
        Ok([None, None])
    }

    /// Finds a key. Returns its leaf page and the index of its node.
    fn find(&self, table: &Table, key: &[u8]) -> Result<Option<(Page<'a>, usize)>, FileDamage> {
        if table.root == NO_PAGE {
            return Ok(None);
        }
        let mut page = self.page(table.root)?;
        for _ in 1..table.depth {
            let count = page.count();
            if !page.is_branch() || count == 0 {
                return Err(page.damage("a branch page was expected"));
            }
            // The first key of a branch page stands for all smaller keys.
            let (mut low, mut high) = (0, count);
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                match table.compare(key, page.key(middle)?) {
                    Ordering::Less => high = middle,
                    _ => low = middle,
                }
            }
            page = self.page(page.child(low)?)?;
        }
        if !page.is_leaf() {
            return Err(page.damage("a leaf page was expected"));
        }
        let (mut low, mut high) = (0, page.count());
        while low < high {
            let middle = low + (high - low) / 2;
            match table.compare(key, page.key(middle)?) {
                Ordering::Less => high = middle,
                Ordering::Greater => low = middle + 1,
                Ordering::Equal => return Ok(Some((page, middle))),
            }
        }
        Ok(None)
    }

    /// Reads the page with this number.
    fn page(&self, number: u64) -> Result<Page<'a>, FileDamage> {
        let at = usize::try_from(number).ok().and_then(|n| n.checked_mul(self.page_size));
        let bytes = at.and_then(|at| self.bytes.get(at..at.checked_add(self.page_size)?));
        match (at, bytes) {
            (Some(at), Some(bytes)) => Page::read(bytes, at, number),
            _ => Err(FileDamage { offset: 0, problem: "a page number beyond the end of the file" }),
        }
    }

    /// Returns a value of `length` bytes that begins on the overflow page `number`.
    fn overflow(&self, number: u64, length: usize) -> Result<&'a [u8], FileDamage> {
        let damage = |at| FileDamage { offset: at, problem: "a value beyond its overflow pages" };
        let page = self.page(number)?;
        let room = page.overflow_pages().and_then(|n| n.checked_mul(self.page_size));
        let Some(room) = room else { return Err(page.damage("an overflow page was expected")) };
        let start = page.offset() + page::HEADER;
        let end = start.checked_add(length).ok_or_else(|| damage(start))?;
        if page::HEADER + length > room {
            return Err(damage(start));
        }
        self.bytes.get(start..end).ok_or_else(|| damage(start))
    }
}

impl Table {
    /// Returns the number of values over all keys that the table states. The number is not
    /// verified.
    pub fn stated_entries(&self) -> u64 {
        self.entries
    }

    fn read(record: &[u8], at: usize) -> Result<Self, FileDamage> {
        let damage = |problem| Err(FileDamage { offset: at, problem });
        if record.len() != RECORD {
            return damage("the record of a table was expected");
        }
        let half = |i| u16::from_le_bytes(fixed_bytes(record, i));
        let long = |i| u64::from_le_bytes(fixed_bytes(record, i));
        let table = Self { flags: half(4), depth: half(6), entries: long(32), root: long(40) };
        if table.flags & REVERSE_KEY != 0 {
            return damage("keys in reverse order, which no BLAST database has");
        }
        if table.root != NO_PAGE && !(1..=DEEPEST).contains(&table.depth) {
            return damage("an impossible depth of a table");
        }
        Ok(table)
    }

    fn has_duplicates(&self) -> bool {
        self.flags & DUP_SORT != 0
    }

    fn compare(&self, one: &[u8], other: &[u8]) -> Ordering {
        if self.flags & INTEGER_KEY != 0 && one.len() == other.len() {
            // Little-endian numbers compare from their last byte to their first.
            one.iter().rev().cmp(other.iter().rev())
        } else {
            one.cmp(other)
        }
    }
}

/// The fields of a meta page.
struct Meta {
    page_size: usize,
    free: Table,
    main: Table,
    last_page: u64,
    transaction: u64,
}

impl Meta {
    /// Reads the meta page at byte `at`.
    fn read(bytes: &[u8], at: usize) -> Result<Self, FileDamage> {
        let damage = |problem| Err(FileDamage { offset: at, problem });
        let body = at + page::HEADER;
        // Order of the fields: magic, version, address, size of the map, two tables, last page,
        // transaction.
        let Some(meta) = bytes.get(body..body + 4 + 4 + 8 + 8 + 2 * RECORD + 8 + 8) else {
            return damage("too short for an LMDB file");
        };
        let flags = u16::from_le_bytes(fixed_bytes(bytes, at + page::FLAGS));
        let word = |i| u32::from_le_bytes(fixed_bytes(meta, i));
        if flags & META == 0 || word(0) != MAGIC || word(4) != DATA_VERSION {
            return damage("not an LMDB file of data version 1");
        }
        let page_size = word(24) as usize;
        if !page_size.is_power_of_two() || !(256..=0x8000).contains(&page_size) {
            return damage("an impossible page size");
        }
        let table = |at| Table::read(&meta[at..at + RECORD], body + at);
        let (free, main) = (table(24)?, table(24 + RECORD)?);
        let last_page = u64::from_le_bytes(fixed_bytes(meta, 24 + 2 * RECORD));
        let transaction = u64::from_le_bytes(fixed_bytes(meta, 24 + 2 * RECORD + 8));
        Ok(Self { page_size, free, main, last_page, transaction })
    }
}
