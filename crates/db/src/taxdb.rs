//! Names of taxa from NCBI's taxonomy database (`taxdb.bti`, `taxdb.btd`), if the search path has
//! one.
//!
//! The index consists of big-endian 32-bit words. It begins with the magic number, the number of
//! taxa, and four reserved words. For each taxon, in ascending order, follow its taxid and the
//! offset of its names in the data file. The names of a taxon end where those of the next one
//! begin. They are scientific, common and BLAST name and super-kingdom, separated by tabs
//! (`CSeqDBTaxInfo`, seqdbtax.cpp).

use std::path::{Path, PathBuf};

use crate::bytes::FileBytes;
use crate::{DbError, SearchPath, path};

const MAGIC: u32 = 0x8739;
/// Number of bytes before the first entry of the index.
const HEADER: usize = 24;
/// Number of bytes of an entry.
const ENTRY: usize = 8;

/// Names of a taxon, in the encoding of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaxonNames {
    /// Scientific name.
    pub scientific_name: Vec<u8>,
    /// Common name.
    pub common_name: Vec<u8>,
    /// Name of the taxon's group in BLAST reports.
    pub blast_name: Vec<u8>,
    /// Name of the super-kingdom.
    pub kingdom: Vec<u8>,
}

/// The taxonomy database. If its files are missing or obviously invalid, no taxon has names, as in
/// BLAST+.
#[derive(Debug, Default)]
pub struct TaxonomyNames {
    /// Path of the index, if the search path has one.
    index: Option<PathBuf>,
    opened: Option<OpenedFiles>,
    fault: Option<TaxonomyFault>,
}

#[derive(Debug)]
struct OpenedFiles {
    index: FileBytes,
    data: FileBytes,
}

/// The reason why the installed taxonomy database cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaxonomyFault {
    /// BLAST+'s message when it first needs a name; `None` for faults that BLAST+ does not report.
    pub blast_message: Option<String>,
    /// The file, and a description of the error in it.
    pub reason: String,
}

impl TaxonomyNames {
    /// Opens the taxonomy database on the search path.
    pub fn find_on_search_path(search: &SearchPath) -> Self {
        let Some(index) = search.find_file(b"taxdb.bti") else { return Self::default() };
        let index = PathBuf::from(path::os_str(&index));
        let (opened, fault) = match open(&index) {
            Ok(opened) => (Some(opened), None),
            Err(fault) => (None, Some(fault)),
        };
        Self { index: Some(index), opened, fault }
    }

    /// Returns whether the search path has an index, valid or not.
    pub fn is_installed(&self) -> bool {
        self.index.is_some()
    }

    /// Returns the reason why the installed taxonomy database cannot be used. Returns `None` if it
    /// can be used or is not installed.
    pub fn fault(&self) -> Option<&TaxonomyFault> {
        self.fault.as_ref()
    }

    /// Returns the paths of index and data, if both could be opened.
    pub fn files(&self) -> Option<[PathBuf; 2]> {
        let index = self.index.as_ref().filter(|_| self.opened.is_some())?;
        Some([index.clone(), data_of(index)])
    }

    /// Returns the names of a taxon; `None` if the database does not contain it.
    ///
    /// # Errors
    /// [`DbError::Inconsistent`] if the names are beyond the end of the data file. This file is
    /// then cut short, or of another release than the index.
    pub fn names_of_taxid(&self, taxid: i64) -> Result<Option<TaxonNames>, DbError> {
        let Some(OpenedFiles { index, data }) = &self.opened else { return Ok(None) };
        let entries = index.get(HEADER..).unwrap_or_default().as_chunks::<ENTRY>().0;
        let at = entries.binary_search_by_key(&taxid, |entry| word(entry, 0).cast_signed().into());
        let Ok(at) = at else { return Ok(None) };
        let start = word(&entries[at], 4) as usize;
        let end = entries.get(at + 1).map_or(data.len(), |next| word(next, 4) as usize);
        let names = data.get(start..end).ok_or_else(|| DbError::Inconsistent {
            path: self.index.clone().unwrap_or_default(),
            place: format!(" at byte {}", HEADER + at * ENTRY),
            problem: format!(
                "it says that the names of taxon {taxid} are bytes {start} to {end} of taxdb.btd, which has {}",
                data.len()
            ),
        })?;
        Ok(parse(names))
    }
}

/// Parses the four names of a taxon. Returns `None` if there are fewer, or if the last one is
/// empty.
fn parse(names: &[u8]) -> Option<TaxonNames> {
    let mut names = names.splitn(4, |&byte| byte == b'\t').map(<[u8]>::to_vec);
    let mut next = || names.next();
    let found = TaxonNames {
        scientific_name: next()?,
        common_name: next()?,
        blast_name: next()?,
        kingdom: next()?,
    };
    (!found.kingdom.is_empty()).then_some(found)
}

fn data_of(index: &Path) -> PathBuf {
    index.with_extension("btd")
}

/// Opens and checks index and data (`CTaxDBFileInfo`, seqdbtax.cpp).
fn open(path: &Path) -> Result<OpenedFiles, TaxonomyFault> {
    let silent = |error: DbError| TaxonomyFault { blast_message: None, reason: error.to_string() };
    let fault = |said: Option<String>, problem: String| TaxonomyFault {
        blast_message: said,
        reason: format!("{}: {problem}", path.display()),
    };
    let index = FileBytes::map(path).map_err(silent)?;
    let data = FileBytes::map(&data_of(path)).map_err(silent)?;
    let Some(head) = index.first_chunk::<ENTRY>().filter(|_| index.len() >= HEADER + ENTRY) else {
        return Err(fault(None, format!("{} bytes are no index of taxa", index.len())));
    };
    let (magic, stated) = (word(head, 0), word(head, 4).cast_signed());
    if magic != MAGIC {
        let said = "Error: Tax database file has wrong magic number.";
        return Err(fault(
            Some(said.to_owned()),
            format!("it begins with {magic:#x}, not {MAGIC:#x}"),
        ));
    }
    let entries = (index.len() - HEADER) / ENTRY;
    if i64::from(stated) != entries as i64 {
        let said = format!(
            "SeqDB: Taxid metadata indicates ({stated}) entries but file has room for ({entries})."
        );
        return Err(fault(
            Some(said),
            "byte 4 tells another number of taxa than there is room for".to_owned(),
        ));
    }
    Ok(OpenedFiles { index, data })
}

fn word(bytes: &[u8; ENTRY], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(entries: &[(u32, u32)], data: &[u8]) -> TaxonomyNames {
        let head = [MAGIC, entries.len() as u32, 0, 0, 0, 0];
        let words = head.into_iter().chain(entries.iter().flat_map(|&(id, at)| [id, at]));
        let names = of_files(words.flat_map(u32::to_be_bytes).collect(), Some(data));
        assert_eq!(names.fault(), None);
        names
    }

    /// Opens a taxonomy database from this index, and from data if there are any.
    fn of_files(index: Vec<u8>, data: Option<&[u8]>) -> TaxonomyNames {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("taxdb.bti"), index).unwrap();
        if let Some(data) = data {
            std::fs::write(directory.path().join("taxdb.btd"), data).unwrap();
        }
        let search = SearchPath::new(Path::new("/"), directory.path().as_os_str(), None);
        TaxonomyNames::find_on_search_path(&search)
    }

    #[test]
    fn names_are_found_and_unknown_taxa_have_none() {
        let data = b"Homo sapiens\thuman\tprimates\tEukaryota\nMus\tmouse\trodentsX\t\t\t";
        let names = database(&[(9606, 0), (10090, 38), (32630, 55)], data);
        let human = names.names_of_taxid(9606).unwrap().unwrap();
        assert_eq!(
            (human.common_name, human.kingdom),
            (b"human".to_vec(), b"Eukaryota\n".to_vec())
        );
        // A taxon with three names only, one with an empty last name, and unknown taxa.
        for unknown in [10090, 32630, 1, -1, 9607] {
            assert_eq!(names.names_of_taxid(unknown).unwrap(), None, "{unknown}");
        }
    }

    #[test]
    fn names_that_are_not_in_the_data_are_an_error() {
        let data = b"Homo sapiens\thuman\tprimates\tEukaryota";
        // Names outside the file, names that end before they begin, and the last names of the file.
        let names = database(&[(5, 30), (7, 10), (8, 0), (9, 999)], data);
        for (taxid, place) in [(5, 24), (8, 40), (9, 48)] {
            let error = names.names_of_taxid(taxid).unwrap_err().to_string();
            assert!(error.contains(&format!("taxdb.bti) at byte {place}:")), "{error}");
        }
        assert_eq!(names.names_of_taxid(7).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn missing_and_unusable_files_are_distinguished() {
        let missing = SearchPath::new(Path::new("/nosuch"), "".as_ref(), None);
        let missing = TaxonomyNames::find_on_search_path(&missing);
        assert_eq!((missing.names_of_taxid(9606).unwrap(), missing.is_installed()), (None, false));
        assert_eq!((missing.fault(), missing.files()), (None, None));
        let head = |magic: u32, count: u32| [magic, count, 0, 0, 0, 0, 9606, 0];
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let magic = "Error: Tax database file has wrong magic number.";
        let count = "SeqDB: Taxid metadata indicates (2) entries but file has room for (1).";
        let none: &[u32] = &[];
        for (index, said) in [
            (none, None),
            (&head(MAGIC, 1)[..7], None),
            (&head(1, 1)[..], Some(magic)),
            (&head(MAGIC, 2)[..], Some(count)),
        ] {
            let names = of_files(bytes(index), Some(b"a\tb\tc\td"));
            assert_eq!(names.fault().unwrap().blast_message.as_deref(), said);
            assert!(names.fault().unwrap().reason.contains("taxdb.bti"), "{:?}", names.fault());
            assert_eq!((names.names_of_taxid(9606).unwrap(), names.is_installed()), (None, true));
        }
        let names = of_files(bytes(&head(MAGIC, 1)), None);
        assert!(names.fault().unwrap().reason.contains("taxdb.btd"), "{:?}", names.fault());
        assert_eq!(names.fault().unwrap().blast_message, None);
    }
}
