//! Search path for databases: working directory, `BLASTDB`, configuration file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::path::{self, BasePath};
use crate::{DbError, SequenceKind, configuration_value};

/// Directories in which a database is searched. They are, in this order, the working directory,
/// those of the environment variable `BLASTDB`, and those of `[BLAST] BLASTDB` in NCBI's
/// configuration file.
///
/// [`DbError::NotFound`] prints these three parts, each followed by a colon. It omits the last part
/// and its colon if there is no such entry (`CSeqDBAtlas::GenerateSearchPath`, seqdbatlas.hpp).
#[derive(Clone, Debug)]
pub struct SearchPath {
    /// Working directory, normalised.
    directory: Vec<u8>,
    /// The text of the search path: its three parts, each followed by a colon.
    text: Vec<u8>,
    /// An alias file that is not written yet, but is read as if it were.
    planned: Option<PlannedAlias>,
    /// Whether an OIDLIST makes a database count its sequences, as later releases of BLAST+ do,
    /// instead of stating the totals of the whole database.
    counts_oid_lists: bool,
}

/// An alias file that does not exist yet, or replaces an older one.
#[derive(Clone, Debug)]
struct PlannedAlias {
    /// Absolute path of the file, with a normalised directory.
    file: BasePath,
    /// Contents of the file.
    text: Vec<u8>,
}

impl SearchPath {
    /// Creates a search path from the working directory `directory`, the value of `BLASTDB` (empty
    /// if unset) and the value in the configuration file. Each of the two values can list several
    /// directories, separated by colons.
    pub fn new(directory: &Path, blastdb: &OsStr, configured: Option<&OsStr>) -> Self {
        let directory = path::normalize(directory.as_os_str().as_bytes());
        let mut text = directory.clone();
        text.push(b':');
        // BLAST+ normalises the whole value as if it were one path, as its messages show.
        text.extend(path::normalize(blastdb.as_bytes()));
        text.push(b':');
        if let Some(configured) = configured {
            text.extend(path::normalize(configured.as_bytes()));
            text.push(b':');
        }
        Self { directory, text, planned: None, counts_oid_lists: false }
    }

    /// Creates the search path of this process from working directory, environment and `.ncbirc`.
    ///
    /// # Errors
    /// [`DbError::Io`] if there is no working directory.
    pub fn from_environment() -> Result<Self, DbError> {
        let directory = std::env::current_dir()
            .map_err(|source| DbError::Io { path: PathBuf::from("."), source })?;
        let blastdb = std::env::var_os("BLASTDB").unwrap_or_default();
        let configured = configuration_value("BLAST", "BLASTDB");
        Ok(Self::new(&directory, &blastdb, configured.as_deref()))
    }

    /// Adds an alias file that is not written yet. Databases are found and opened as if `file` had
    /// the contents `text`.
    #[must_use]
    pub fn with_planned_alias(mut self, file: &Path, text: Vec<u8>) -> Self {
        let file = self.absolute(file.as_os_str().as_bytes());
        self.planned = Some(PlannedAlias { file, text });
        self
    }

    /// Sets how an OIDLIST in an alias is read. If `counts` is true, the database counts its
    /// sequences. A list that is missing in the directory of the alias is then read in the
    /// directory of the first volume. Later releases of BLAST+ do so (`CSeqDB_IdListValuesTest` and
    /// `CSeqDBAliasNode::ComputeMasks`, seqdbalias.cpp). If it is false, as by default, the totals
    /// are those of the whole database.
    #[must_use]
    pub fn counting_oid_lists(mut self, counts: bool) -> Self {
        self.counts_oid_lists = counts;
        self
    }

    /// Returns whether an OIDLIST makes a database count its sequences, as later releases of BLAST+
    /// do, instead of stating the totals of the whole database.
    pub(crate) fn counts_oid_lists(&self) -> bool {
        self.counts_oid_lists
    }

    /// Returns the text of the search path as BLAST+ prints it, e.g. `/cwd::`.
    pub fn display_text(&self) -> String {
        path::display_text(&self.text)
    }

    /// Returns the working directory.
    pub(crate) fn directory(&self) -> &[u8] {
        &self.directory
    }

    fn directories(&self) -> impl Iterator<Item = &[u8]> {
        self.text.split(|&b| b == b':').filter(|directory| !directory.is_empty())
    }

    /// Finds the first `directory/name` for which an alias or an index file exists.
    pub(crate) fn find_database(&self, name: &[u8], kind: SequenceKind) -> Option<BasePath> {
        let index = kind.extension("in");
        self.directories()
            .map(|directory| path::join(directory, name))
            .find(|base| self.has_alias(base, kind) || path::has_file(base, &index))
    }

    /// Returns whether there is a database of this name. It is not opened.
    pub fn has_database(&self, name: &[u8], kind: SequenceKind) -> bool {
        self.find_database(name, kind).is_some()
    }

    /// Returns whether the database `base` has an alias file.
    pub(crate) fn has_alias(&self, base: &[u8], kind: SequenceKind) -> bool {
        self.planned_text(base, kind).is_some() || path::has_file(base, &kind.extension("al"))
    }

    /// Reads the alias file of the database `base`.
    pub(crate) fn read_alias(&self, base: &[u8], kind: SequenceKind) -> io::Result<Vec<u8>> {
        match self.planned_text(base, kind) {
            Some(text) => Ok(text.to_vec()),
            None => fs::read(path::with_extension(base, &kind.extension("al"))),
        }
    }

    fn planned_text(&self, base: &[u8], kind: SequenceKind) -> Option<&[u8]> {
        let planned = self.planned.as_ref()?;
        let file = path::with_extension(base, &kind.extension("al"));
        let file = self.absolute(file.as_os_str().as_bytes());
        (file == planned.file).then_some(&planned.text)
    }

    fn absolute(&self, file: &[u8]) -> BasePath {
        path::normalize_directory(&path::join(&self.directory, file))
    }

    /// Finds the first `directory/name` that is a file. An absolute `name` is used as it is.
    pub(crate) fn find_file(&self, name: &[u8]) -> Option<BasePath> {
        self.directories()
            .map(|directory| path::join(directory, name))
            .find(|file| Path::new(path::os_str(file)).is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_the_one_ncbi_prints() {
        let path = |blastdb: &str, configured: Option<&str>| {
            SearchPath::new(Path::new("/no/cwd"), blastdb.as_ref(), configured.map(OsStr::new))
                .display_text()
        };
        assert_eq!(path("", None), "/no/cwd::");
        assert_eq!(path("/no/fb:/nonexist/", None), "/no/cwd:/no/fb:/nonexist:");
        assert_eq!(path("..", Some("/rc")), "/no/cwd:..:/rc:");
    }
}
