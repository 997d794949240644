//! Taxonomy ids of sequences, and their tables in version 5.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZero;
use std::path::{Path, PathBuf};

use fleetblast_seq::id::{SeqId, parse_single_id};
use fleetblast_seq::input::read_whole_file;

use crate::error::MakedbError;
use crate::ids::key_without_version;
use crate::lmdb::{LmdbWriter, PAGE_CONTENTS};
use crate::sink::{OutputFile, StagedFiles};
use crate::sort::ExternalSorter;

/// Initial map size of BLAST+ for the table of taxonomy ids, in bytes.
const MAP_SIZE: u64 = 300_000_000;

/// The source of taxonomy ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TaxidSource {
    /// No taxonomy ids are given. A sequence from a database keeps its own; for any other sequence
    /// 0 is stored.
    #[default]
    Unknown,
    /// One taxonomy id for all sequences.
    SameForAll(i32),
    /// A taxonomy id for each identifier. Keys are identifiers without tag and version.
    ByIdentifier(HashMap<Vec<u8>, i32>),
}

impl TaxidSource {
    /// Reads a file with an identifier and a number on each line, one blank or tab between them.
    /// Lines without exactly two such words are skipped.
    ///
    /// # Errors
    /// If the file cannot be read, or a second word is no number.
    pub fn read_map(path: &Path) -> Result<Self, MakedbError> {
        let text = read_whole_file(path)
            .map_err(|source| MakedbError::ReadFile { path: path.to_path_buf(), source })?;
        let mut map = HashMap::new();
        for (line, text) in (1..).zip(text.split(|&byte| byte == b'\n' || byte == b'\r')) {
            let mut words = text.trim_ascii().split(|&byte| byte == b' ' || byte == b'\t');
            let (Some(id), Some(number), None) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            if id.is_empty() || number.is_empty() {
                continue;
            }
            let number = std::str::from_utf8(number).ok().and_then(|text| text.parse().ok());
            let Some(number) = number else {
                let text = String::from_utf8_lossy(text).into_owned();
                return Err(MakedbError::InvalidTaxidMap { path: PathBuf::from(path), line, text });
            };
            map.insert(map_key(id), number);
        }
        Ok(if map.is_empty() { Self::Unknown } else { Self::ByIdentifier(map) })
    }

    /// Returns the taxonomy id for a definition line with these identifiers
    /// (`CTaxIdSet::x_SelectBestTaxid`). It is 0 if the source is unknown; `None` if no identifier
    /// is in the map.
    pub(crate) fn taxid_of_ids(&self, ids: &[SeqId]) -> Option<i32> {
        match self {
            Self::Unknown => Some(0),
            Self::SameForAll(taxid) => Some(*taxid),
            Self::ByIdentifier(map) => ids.iter().find_map(|id| {
                let key = Some(key_without_version(id)).filter(|key| !key.is_empty())?;
                let plain =
                    || key.split(|&byte| byte == b'.').next().filter(|k| k.len() < key.len());
                map.get(&key).or_else(|| map.get(plain()?)).copied()
            }),
        }
    }
}

/// Returns the key of an identifier in a file of taxonomy ids (`AccessionToKey`). Empty for a word
/// that is no identifier, or several.
fn map_key(word: &[u8]) -> Vec<u8> {
    if word.iter().all(u8::is_ascii_digit) {
        // A GI, whose key has no leading zeros.
        let zeros = word.iter().take_while(|&&digit| digit == b'0').count();
        return word[zeros..].to_vec();
    }
    let id = parse_single_id(word).or_else(|| parse_single_id(&[b"lcl|", word].concat()));
    id.as_ref().map(key_without_version).unwrap_or_default()
}

/// Collector of the taxonomy ids of all sequences of a version 5 database.
#[derive(Debug)]
pub(crate) struct TaxidTables {
    ends: OutputFile,
    lists: OutputFile,
    numbers: ExternalSorter,
    /// Number of sequences of each taxonomy id.
    counts: BTreeMap<i32, u32>,
    count: u64,
}

impl TaxidTables {
    pub(crate) fn new(sink: &StagedFiles) -> Result<Self, MakedbError> {
        let spool = || {
            Ok::<_, MakedbError>(OutputFile::new(
                sink.temporary_file()?,
                sink.directory().to_path_buf(),
            ))
        };
        let (ends, lists) = (spool()?, spool()?);
        let (numbers, counts) = (ExternalSorter::new(sink.directory()), BTreeMap::new());
        Ok(Self { ends, lists, numbers, counts, count: 0 })
    }

    /// Adds the taxonomy ids of the next sequence, ascending and without duplicates. `number` is
    /// the OID of the sequence.
    pub(crate) fn add(&mut self, taxids: &[i32], number: u32) -> Result<(), MakedbError> {
        for &taxid in taxids {
            self.lists.write_bytes(&taxid.to_le_bytes())?;
            let sortable = taxid.cast_unsigned() ^ 1 << 31;
            *self.counts.entry(taxid).or_default() += 1;
            self.numbers.push(&sortable.to_be_bytes(), u64::from(number))?;
        }
        self.count += 1;
        self.ends.write_bytes(&(self.lists.length() / 4).to_le_bytes())
    }

    /// Writes the files `.?ot` (taxonomy ids of each sequence), `.?to` (sequences of each taxonomy
    /// id) and `.?tf` (table of offsets in `.?to`).
    pub(crate) fn write(
        self,
        sink: &mut StagedFiles,
        map_size: Option<NonZero<u64>>,
    ) -> Result<(), MakedbError> {
        let mut file = sink.create_file(None, "ot")?;
        file.write_bytes(&self.count.to_le_bytes())?;
        file.append(self.ends)?;
        file.append(self.lists)?;
        file.close()?;
        let mut file = sink.create_file(None, "to")?;
        let mut offsets = Vec::with_capacity(self.counts.len());
        let mut counts = self.counts.into_iter();
        let mut left = 0;
        self.numbers.for_each_sorted(|_, number| {
            while left == 0
                && let Some((taxid, count)) = counts.next()
            {
                offsets.push((taxid, file.length()));
                file.write_bytes(&count.to_le_bytes())?;
                left = count;
            }
            left -= 1;
            file.write_bytes(&(number as u32).to_le_bytes())
        })?;
        file.close()?;
        let map_size = map_size.map_or(MAP_SIZE, NonZero::get);
        let entries = 32 * offsets.len() as u64;
        let mut lmdb = LmdbWriter::create(sink.staged_path(None, "tf"), map_size, entries)?;
        // The number of pages that BLAST+ reserves (`CWriteDB_TaxID::x_IncreaseEnvMapSize`).
        let leaves = entries / PAGE_CONTENTS + 1;
        lmdb.reserve_pages(leaves + 24 * leaves / PAGE_CONTENTS + 1 + 4);
        let mut batches = lmdb.transaction_writer("taxid2offset");
        for (taxid, offset) in offsets {
            let entry = (taxid.to_le_bytes().to_vec(), offset.to_le_bytes().to_vec());
            batches.push(Some(entry))?;
        }
        batches.finish()?;
        lmdb.close()
    }
}
