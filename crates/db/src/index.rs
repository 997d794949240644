//! The index file of a volume (`.pin`, `.nin`): a header, and the offsets of sequences and headers.
//!
//! Integers are 32 bits, big-endian, unless noted:
//!
//! | field | version 4 | version 5 |
//! |---|---|---|
//! | version, then sequence type (1 protein, 0 nucleotide) | 4, type | 5, type |
//! | volume number | | number |
//! | title: length and bytes | text | text |
//! | name of the LMDB file: length and bytes | | text |
//! | date: length and bytes, with NULs up to a multiple of 8 | text | text |
//! | number of sequences N, residues (64 bits, *little*-endian), longest sequence | | |
//! | offsets of headers, of sequences, of ambiguities (nucleotides only): N + 1 each | | |

use std::ops::Range;
use std::path::Path;

use serde::Serialize;

use crate::bytes::FileBytes;
use crate::{DbError, SequenceKind};

/// Fields of an index file before its offset tables, and the positions of these tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VolumeIndex {
    /// Version of the format, 4 or 5.
    pub version: u32,
    /// Type of the sequences.
    pub kind: SequenceKind,
    /// Title, up to the first NUL byte.
    pub title: Vec<u8>,
    /// Name of the LMDB file in the directory of the volume; empty in version 4.
    pub lmdb_name: Vec<u8>,
    /// Date of creation, e.g. `Nov 20, 2026  11:10 PM`.
    pub date: String,
    /// Number of sequences in the volume.
    pub sequence_count: u32,
    /// Number of residues in the volume, as stated.
    pub residue_count: u64,
    /// Length of the longest sequence, as stated.
    pub max_sequence_length: u32,
    /// Byte offset in the file of the table of header offsets.
    headers_at: usize,
    /// Byte offset in the file of the table of sequence offsets.
    sequences_at: usize,
    /// Byte offset in the file of the table of ambiguity offsets; for proteins, equal to
    /// `sequences_at`.
    ambiguities_at: usize,
}

/// An offset table of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OffsetTable {
    /// Offsets into the header file.
    Headers,
    /// Offsets into the sequence file.
    Sequences,
    /// Offsets into the sequence file, to the ambiguities after the bases of each nucleotide
    /// sequence.
    Ambiguities,
}

impl OffsetTable {
    /// Number of tables.
    pub(crate) const COUNT: usize = 3;

    /// Returns the name of the items that the offsets point to, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Headers => "header",
            Self::Sequences => "sequence",
            Self::Ambiguities => "ambiguity",
        }
    }
}

impl VolumeIndex {
    /// Parses `bytes`, the contents of the index file `path`. Checks that the offset tables are
    /// complete, but does not read them. If `wanted` is given, another sequence type is an error.
    ///
    /// # Errors
    /// [`DbError::UnsupportedVersion`], [`DbError::WrongSequenceKind`] or
    /// [`DbError::FileTruncated`].
    pub fn parse(bytes: &[u8], path: &Path, wanted: Option<SequenceKind>) -> Result<Self, DbError> {
        let mut fields = Fields { bytes, at: 0, path };
        let version = fields.read_number("the version")?;
        if version != 4 && version != 5 {
            return Err(DbError::UnsupportedVersion { path: path.into(), found: version });
        }
        let kind = fields.read_number("the sequence type")?;
        if version == 5 {
            fields.read_number("the volume number")?;
        }
        let title = until_nul(fields.read_text("the title")?);
        let lmdb = if version == 5 { fields.read_text("the LMDB file name")? } else { &[] };
        let date = until_nul(fields.read_text("the date")?);
        let sequences = fields.read_number("the number of sequences")?;
        let residues = fields.read(8, "the number of residues")?;
        let residues = u64::from_le_bytes(std::array::from_fn(|i| residues[i]));
        let longest = fields.read_number("the length of the longest sequence")?;
        let kind = match kind {
            0 => SequenceKind::Nucleotide,
            1 => SequenceKind::Protein,
            _ => return Err(DbError::WrongSequenceKind { path: path.into(), wanted: None }),
        };
        if wanted.is_some_and(|wanted| wanted != kind) {
            return Err(DbError::WrongSequenceKind { path: path.into(), wanted });
        }
        let table = (u64::from(sequences) + 1) * 4;
        let headers_at = fields.at;
        fields.read(table, "the table of header offsets")?;
        let sequences_at = fields.at;
        fields.read(table, "the table of sequence offsets")?;
        let mut ambiguities_at = sequences_at;
        if kind == SequenceKind::Nucleotide {
            ambiguities_at = fields.at;
            fields.read(table, "the table of ambiguity offsets")?;
        }
        Ok(Self {
            version,
            kind,
            title: title.to_vec(),
            lmdb_name: lmdb.to_vec(),
            date: String::from_utf8_lossy(date).into_owned(),
            sequence_count: sequences,
            residue_count: residues,
            max_sequence_length: longest,
            headers_at,
            sequences_at,
            ambiguities_at,
        })
    }

    /// Returns the byte offset in the index file of entry `i` of a table.
    pub(crate) fn entry_position(&self, table: OffsetTable, i: u32) -> usize {
        let start = match table {
            OffsetTable::Headers => self.headers_at,
            OffsetTable::Sequences => self.sequences_at,
            OffsetTable::Ambiguities => self.ambiguities_at,
        };
        start + 4 * i as usize
    }

    /// Reads entry `i` of a table; `None` if `i` is greater than the number of sequences. `bytes`
    /// is the index file, or a part of it that contains this entry.
    #[inline]
    pub(crate) fn offset(&self, bytes: &FileBytes, table: OffsetTable, i: u32) -> Option<u32> {
        if i > self.sequence_count {
            return None;
        }
        let at = self.entry_position(table, i);
        let word = bytes.file_range(at..at + 4)?;
        Some(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
    }

    /// Returns the range from entry `i` to entry `i + 1` of a table. `None` if the entries are out
    /// of order or do not exist.
    #[inline]
    pub(crate) fn entry_range(
        &self,
        bytes: &FileBytes,
        table: OffsetTable,
        i: u32,
    ) -> Option<Range<usize>> {
        let start = self.offset(bytes, table, i)?;
        let end = self.offset(bytes, table, i.checked_add(1)?)?;
        (start <= end).then_some(start as usize..end as usize)
    }
}

fn until_nul(text: &[u8]) -> &[u8] {
    text.iter().position(|&b| b == 0).map_or(text, |end| &text[..end])
}

/// Reader of the fields of an index file.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    path: &'a Path,
}

impl<'a> Fields<'a> {
    fn read(&mut self, count: u64, what: &'static str) -> Result<&'a [u8], DbError> {
        let needed = self.at as u64 + count;
        let found = usize::try_from(needed).ok().and_then(|end| self.bytes.get(self.at..end));
        let Some(found) = found else {
            return Err(DbError::FileTruncated {
                path: self.path.into(),
                what,
                offset: self.at as u64,
                needed,
                length: self.bytes.len() as u64,
            });
        };
        self.at += found.len();
        Ok(found)
    }

    fn read_number(&mut self, what: &'static str) -> Result<u32, DbError> {
        let word = self.read(4, what)?;
        Ok(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
    }

    fn read_text(&mut self, what: &'static str) -> Result<&'a [u8], DbError> {
        let length = self.read_number(what)?;
        self.read(u64::from(length), what)
    }
}
