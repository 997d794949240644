//! Names of taxa, from NCBI's taxonomy database (`taxdb.bti`, `taxdb.btd`) if there is one on the search path.
//!
//! Index, all 32 bits and big-endian: the magic number, the number of taxa, four reserved words, then for each taxon,
//! ascending, its taxid and where its names begin in the data file. The names reach to those of the next taxon:
//! scientific, common, BLAST name and super-kingdom, separated by tabs (`CSeqDBTaxInfo`, seqdbtax.cpp).

use std::path::PathBuf;

use crate::bytes::Bytes;
use crate::{SearchPath, path};

const MAGIC: u32 = 0x8739;
/// Bytes before the first entry of the index.
const HEADER: usize = 24;
/// Bytes of an entry.
const ENTRY: usize = 8;

/// How a taxon is called, in the bytes of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaxonNames {
    /// Scientific name.
    pub scientific: Vec<u8>,
    /// Common name.
    pub common: Vec<u8>,
    /// Name of the group that BLAST reports show.
    pub blast: Vec<u8>,
    /// Super-kingdom.
    pub kingdom: Vec<u8>,
}

/// The taxonomy database. Without its files, or with damaged ones, no taxon has names: BLAST+ does without as well.
#[derive(Debug, Default)]
pub struct TaxonomyNames {
    files: Option<(Bytes, Bytes)>,
}

impl TaxonomyNames {
    /// The taxonomy database on the search path.
    pub fn find(search: &SearchPath) -> Self {
        let files = search.find_file(b"taxdb.bti").and_then(|index| {
            let index = PathBuf::from(path::os(&index));
            let data = index.with_extension("btd");
            Some((Bytes::map(&index).ok()?, Bytes::map(&data).ok()?))
        });
        Self { files: files.filter(|(index, _)| is_whole(index)) }
    }

    /// The names of a taxon, `None` if the database does not know it.
    pub fn of(&self, taxid: i64) -> Option<TaxonNames> {
        let (index, data) = self.files.as_ref()?;
        let entries = index.get(HEADER..)?.as_chunks::<ENTRY>().0;
        let at = entries.binary_search_by_key(&taxid, |entry| word(entry, 0).cast_signed().into());
        let at = at.ok()?;
        let start = word(&entries[at], 4) as usize;
        let end = entries.get(at + 1).map_or(data.len(), |next| word(next, 4) as usize);
        let mut names = data.get(start..end)?.splitn(4, |&byte| byte == b'\t').map(<[u8]>::to_vec);
        let mut next = || names.next();
        let found =
            TaxonNames { scientific: next()?, common: next()?, blast: next()?, kingdom: next()? };
        (!found.kingdom.is_empty()).then_some(found)
    }
}

fn word(bytes: &[u8; ENTRY], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Whether an index has the magic number and as many entries as it says.
fn is_whole(index: &[u8]) -> bool {
    let Some(head) = index.first_chunk::<ENTRY>() else { return false };
    let entries = index.len().saturating_sub(HEADER) / ENTRY;
    word(head, 0) == MAGIC && entries > 0 && word(head, 4) as usize == entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn database(entries: &[(u32, u32)], data: &[u8]) -> TaxonomyNames {
        let directory = tempfile::tempdir().unwrap();
        let head = [MAGIC, entries.len() as u32, 0, 0, 0, 0];
        let words = head.into_iter().chain(entries.iter().flat_map(|&(id, at)| [id, at]));
        let index: Vec<u8> = words.flat_map(u32::to_be_bytes).collect();
        std::fs::write(directory.path().join("taxdb.bti"), index).unwrap();
        std::fs::write(directory.path().join("taxdb.btd"), data).unwrap();
        let search = SearchPath::new(Path::new("/"), directory.path().as_os_str(), None);
        TaxonomyNames::find(&search)
    }

    #[test]
    fn names_are_found_and_damage_is_nothing() {
        let data = b"Homo sapiens\thuman\tprimates\tEukaryota\nMus\tmouse\trodents";
        let names = database(&[(9606, 0), (10090, 38)], data);
        let human = names.of(9606).unwrap();
        assert_eq!((human.common, human.kingdom), (b"human".to_vec(), b"Eukaryota\n".to_vec()));
        // Three names only; an unknown taxon; names outside the file; names that end before they begin.
        assert_eq!((names.of(10090), names.of(1)), (None, None));
        let names = database(&[(5, 30), (7, 10), (9, 999)], data);
        assert_eq!((names.of(5), names.of(7), names.of(9)), (None, None, None));
        let missing = SearchPath::new(Path::new("/nosuch"), "".as_ref(), None);
        assert_eq!(TaxonomyNames::find(&missing).of(9606), None);
    }
}
