//! Descendants of taxa, from NCBI's file `taxonomy4blast.sqlite3`.
//!
//! The table `TaxidInfo` of this SQLite database has a taxid and that of its parent in each row
//! (`CTaxonomy4BlastSQLite`, tax4blastsqlite.cpp).

use std::collections::BTreeSet;
use std::path::PathBuf;

use rusqlite::{Connection, OpenFlags, Statement};

use crate::{DbError, SearchPath, path};

/// Name of the file.
const FILE: &[u8] = b"taxonomy4blast.sqlite3";

/// Type and name of the table and of the index that BLAST+ requires in the file.
const REQUIRED: [(&str, &str); 2] =
    [("table", "TaxidInfo"), ("index", "TaxidInfoCompositeIdx_parent")];

/// Access to the files of SQLite without locks. Nothing writes to the file, and file systems of
/// clusters may lack locks.
const WITHOUT_LOCKS: &str = "unix-none";

/// The parents of all taxa.
#[derive(Debug)]
pub struct TaxonTree {
    path: PathBuf,
    connection: Connection,
}

impl TaxonTree {
    /// Opens the file on the search path; `None` if there is no such file.
    ///
    /// # Errors
    /// [`DbError::Inconsistent`] if the file is damaged or lacks what BLAST+ requires of it.
    pub fn find_on_search_path(search: &SearchPath) -> Result<Option<Self>, DbError> {
        let Some(found) = search.find_file(FILE) else { return Ok(None) };
        let path = PathBuf::from(path::os_str(&found));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags_and_vfs(&path, flags, WITHOUT_LOCKS)
            .map_err(|error| damage_error(path.clone(), error.to_string()))?;
        let tree = Self { path, connection };
        tree.require_items()?;
        Ok(Some(tree))
    }

    fn require_items(&self) -> Result<(), DbError> {
        let count = "SELECT COUNT(*) FROM sqlite_master WHERE type = ?1 AND name = ?2";
        for (kind, name) in REQUIRED {
            let found: i64 = self
                .connection
                .query_row(count, [kind, name], |row| row.get(0))
                .map_err(|error| self.damage(&error))?;
            if found != 1 {
                return Err(damage_error(self.path.clone(), format!("it has no {kind} {name}")));
            }
        }
        Ok(())
    }

    /// Returns the given taxids and those of all taxa below them, ascending and without duplicates.
    ///
    /// # Errors
    /// [`DbError::Inconsistent`] if the file is damaged.
    pub fn with_descendants(&self, taxids: &[i32]) -> Result<Vec<i32>, DbError> {
        let children = "SELECT taxid FROM TaxidInfo WHERE parent = ?1";
        let mut children =
            self.connection.prepare(children).map_err(|error| self.damage(&error))?;
        let mut found: BTreeSet<i32> = taxids.iter().copied().collect();
        // Others are no taxids, but may be parents of the root.
        let mut parents: Vec<i32> = found.iter().copied().filter(|&taxid| taxid > 0).collect();
        while let Some(parent) = parents.pop() {
            for child in
                read_children(&mut children, parent).map_err(|error| self.damage(&error))?
            {
                // The root can be its own parent.
                if found.insert(child) {
                    parents.push(child);
                }
            }
        }
        Ok(found.into_iter().collect())
    }

    fn damage(&self, error: &rusqlite::Error) -> DbError {
        damage_error(self.path.clone(), error.to_string())
    }
}

fn read_children(statement: &mut Statement<'_>, parent: i32) -> rusqlite::Result<Vec<i32>> {
    statement.query_map([parent], |row| row.get(0))?.collect()
}

fn damage_error(path: PathBuf, problem: String) -> DbError {
    DbError::UnusableTaxonomy { path, problem }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::path::Path;

    use super::*;

    fn tree(dir: &Path) -> Result<Option<TaxonTree>, DbError> {
        TaxonTree::find_on_search_path(&SearchPath::new(dir, OsStr::new(""), None))
    }

    fn write(dir: &Path, statements: &str) {
        let file = dir.join("taxonomy4blast.sqlite3");
        Connection::open(file).unwrap().execute_batch(statements).unwrap();
    }

    const TABLE: &str = "CREATE TABLE TaxidInfo (taxid INTEGER PRIMARY KEY, parent INTEGER);";
    const INDEX: &str = "CREATE INDEX TaxidInfoCompositeIdx_parent ON TaxidInfo (parent, taxid);";

    #[test]
    fn taxa_have_all_descendants_once() {
        let dir = tempfile::tempdir().unwrap();
        assert!(tree(dir.path()).unwrap().is_none());
        // The root is its own parent, and below 0 is a loop.
        let rows = "INSERT INTO TaxidInfo VALUES (1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 6);";
        write(dir.path(), &[TABLE, INDEX, rows].concat());
        let tree = tree(dir.path()).unwrap().unwrap();
        let with = |taxids: &[i32]| tree.with_descendants(taxids).unwrap();
        assert_eq!(with(&[2]), [2, 3, 4, 5]);
        assert_eq!(with(&[3, 2, 9]), [2, 3, 4, 5, 9]);
        assert_eq!(with(&[1, -1]), [-1, 1, 2, 3, 4, 5]);
        assert_eq!(with(&[0, 6]), [0, 6]);
        assert!(with(&[]).is_empty());
    }

    #[test]
    fn a_file_without_the_table_is_refused() {
        for statements in [TABLE, "CREATE TABLE other (taxid INTEGER);"] {
            let dir = tempfile::tempdir().unwrap();
            write(dir.path(), statements);
            let error = tree(dir.path()).unwrap_err().to_string();
            assert!(error.contains("it has no "), "{error}");
        }
    }

    #[test]
    fn a_damaged_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let rows: String =
            (1..4000).map(|i| format!("INSERT INTO TaxidInfo VALUES ({i}, 1);")).collect();
        write(dir.path(), &[TABLE, INDEX, "BEGIN;", &rows, "COMMIT;"].concat());
        let file = dir.path().join("taxonomy4blast.sqlite3");
        let bytes = fs::read(&file).unwrap();
        fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        let found = tree(dir.path()).and_then(|tree| tree.unwrap().with_descendants(&[1]));
        assert!(matches!(found, Err(DbError::UnusableTaxonomy { .. })), "{found:?}");
        fs::write(&file, "no database").unwrap();
        assert!(matches!(tree(dir.path()), Err(DbError::UnusableTaxonomy { .. })));
    }
}
