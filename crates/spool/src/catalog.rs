//! The index of a file of records: the places of its shares, and the queries whose names its writer
//! stored.
//!
//! The index contains only data that the records contain, too. If it is missing or does not match
//! its file, the records are scanned instead.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::durable::{open_own, replace};
use crate::error::{Context, Error};
use crate::layout::{FileId, Run};
use crate::record::StoredShare;

/// The first bytes of an index.
const MAGIC: [u8; 8] = *b"\xf5FBind1\n";
/// Number of bytes before the compressed part: the magic bytes, and the checksum of the compressed
/// part.
const HEAD: usize = 16;
/// An index must not decompress to more than `MOST_RATIO` times its bytes or [`LEAST_MOST`] bytes,
/// whichever is more. So a small file cannot fill the memory of its reader. Places and hashes
/// compress less.
const MOST_RATIO: u64 = 32;
const LEAST_MOST: u64 = 1 << 20;
/// Compression level of zstd. It is higher than for records, since an index is written only once.
const LEVEL: i32 = 3;

/// The shares in a file of records, and the names of its queries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalog {
    /// The mark of the job.
    job: u64,
    /// The file of records.
    pub file: FileId,
    /// Length of the file of records in bytes.
    pub written: u64,
    /// All shares in the file.
    pub places: Vec<StoredShare>,
    /// The names of queries in the file, ascending.
    pub names: Vec<Name>,
}

/// The hash of a query's name, and the block with the query's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Name {
    /// XXH3 of the name. Different names can have the same hash.
    pub hash: u64,
    /// Number of the block with the query's result.
    pub block: u64,
}

impl Name {
    /// Creates the entry for a query with this name in a block.
    pub fn new(name: &[u8], block: u64) -> Self {
        Self { hash: xxh3_64(name), block }
    }
}

impl Catalog {
    /// Creates the index of a file of `written` bytes. Sorts the names.
    pub fn new(
        run: &Run,
        file: FileId,
        written: u64,
        places: Vec<StoredShare>,
        mut names: Vec<Name>,
    ) -> Self {
        names.sort_unstable();
        names.dedup();
        Self { job: run.job, file, written, places, names }
    }

    /// Writes the index next to its file.
    ///
    /// # Errors
    /// [`Error::Io`] if the index cannot be written.
    pub fn write(&self, run: &Run) -> Result<(), Error> {
        let path = run.index(self.file);
        let plain = postcard::to_allocvec(self).map_err(std::io::Error::other);
        let packed = plain.and_then(|plain| zstd::encode_all(plain.as_slice(), LEVEL));
        let packed = packed.during("compress for", &path)?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(xxh3_64(&packed).to_le_bytes());
        bytes.extend(packed);
        replace(&path, &path.with_extension("index.new"), &bytes)
    }

    /// Reads the index of a file. Returns `None` if there is none, if it does not match the file,
    /// or if it does not belong to `owner`, the owner of the job.
    pub fn read(run: &Run, file: FileId, owner: u32) -> Option<Self> {
        let bytes = |path: &Path| {
            let mut bytes = Vec::new();
            open_own(File::options().read(true), path, owner).ok()?.read_to_end(&mut bytes).ok()?;
            Some(bytes)
        };
        let length = std::fs::metadata(run.path(file)).ok()?.len();
        let catalog = Self::decode(&bytes(&run.index(file))?)?;
        let fits = (catalog.job, catalog.file, catalog.written) == (run.job, file, length);
        fits.then_some(catalog)
    }

    /// Decodes an index; `None` if the bytes are not a valid index.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (head, packed) = bytes.split_at_checked(HEAD)?;
        if head[..8] != MAGIC || head[8..] != xxh3_64(packed).to_le_bytes() {
            return None;
        }
        let most = (MOST_RATIO * packed.len() as u64).max(LEAST_MOST);
        let mut plain = Vec::new();
        zstd::Decoder::with_buffer(packed).ok()?.take(most + 1).read_to_end(&mut plain).ok()?;
        if plain.len() as u64 > most {
            return None;
        }
        let catalog: Self = postcard::from_bytes(&plain).ok()?;
        let fits = |place: &StoredShare| {
            let end = place.contents_offset.checked_add(place.length);
            place.file == catalog.file && place.offset < catalog.written && end.is_some()
        };
        (catalog.places.iter().all(fits) && catalog.names.is_sorted()).then_some(catalog)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_stands_for_too_much_is_none() {
        let file = FileId { writer: 1, run: 2 };
        let is_known = |count: usize| {
            let names = vec![Name { hash: 5, block: 1 }; count];
            let catalog = Catalog { job: 3, file, written: 9, places: Vec::new(), names };
            let plain = postcard::to_allocvec(&catalog).unwrap();
            let packed = zstd::bulk::compress(&plain, LEVEL).unwrap();
            let sum = xxh3_64(&packed).to_le_bytes();
            Catalog::decode(&[&MAGIC[..], &sum, &packed].concat()) == Some(catalog)
        };
        assert!(is_known(1000));
        assert!(!is_known(1 << 20));
    }
}
