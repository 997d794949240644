//! Parses the files of lists of identifiers, GIs or taxids.

use std::path::{Path, PathBuf};

use fleetblast_seq::convert::{parse_integer, trim_spaces};
use fleetblast_seq::input::read_whole_file;
use serde::{Deserialize, Serialize};

use crate::{DbError, SearchPath, path};

/// An error in a list, with BLAST+'s message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// A list of GIs or taxids is empty.
    #[error("Specified file is empty.")]
    EmptyNumberList,
    /// A list of GIs or taxids starts neither with a digit nor as a binary list.
    #[error("Specified file is not a valid GI/TI list.")]
    NotNumbers,
    /// A binary list has another length than it states.
    #[error("Specified file is not a valid binary {kind} file.")]
    BinaryNumberListLength {
        /// Name of the kind of list in the message: `GI` or `Tax Id List`.
        kind: &'static str,
    },
    /// A list has a byte that is neither digit, blank nor line end.
    #[error("Invalid byte in text{kind} list [{byte}].")]
    InvalidByte {
        /// Name of the kind of list in the message: `GI` or `TAXID`.
        kind: &'static str,
        /// The invalid byte.
        byte: u8,
    },
    /// A list of identifiers is empty.
    #[error("Failed to map seqidlist file ")]
    EmptyIdList,
    /// A binary list of identifiers is cut short or states another length.
    #[error("Invalid seqidlist file")]
    BinaryIdListLength,
    /// A binary list has fewer identifiers than it states.
    #[error("Invalid total num of ids in seqidlist file")]
    BinaryIdListCount,
}

impl ListError {
    /// Returns whether BLAST+ reports the error as one of a file (`CSeqDBException::eFileErr`). It
    /// does so for lists of numbers.
    pub(crate) fn is_file_error(&self) -> bool {
        match self {
            Self::EmptyNumberList
            | Self::NotNumbers
            | Self::BinaryNumberListLength { .. }
            | Self::InvalidByte { .. } => true,
            Self::EmptyIdList | Self::BinaryIdListLength | Self::BinaryIdListCount => false,
        }
    }
}

/// Identifiers of a list, from a text file or a binary file of `blastdb_aliastool -seqid_file_in`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeqIdList {
    /// Identifiers as they are in the file.
    pub ids: Vec<Vec<u8>>,
    /// Whether the file is binary. Its identifiers are then already keys.
    pub is_binary: bool,
    /// Number of residues of the database for which a binary list was made; 0 for any database.
    pub database_residues: u64,
}

impl SeqIdList {
    /// Parses a text or a binary list. A list that starts with a zero byte is binary. In text,
    /// white space separates words, and `>` before a word is ignored. `#` at the start of a word
    /// begins a comment (`SeqDB_ReadMemorySiList`).
    ///
    /// # Errors
    /// [`ListError`] for an empty file or a damaged binary one.
    pub fn parse(file: &[u8]) -> Result<Self, ListError> {
        match file.first() {
            None => Err(ListError::EmptyIdList),
            Some(0) => Self::parse_binary(file),
            Some(_) => Ok(Self { ids: split_words(file), ..Self::default() }),
        }
    }

    fn parse_binary(file: &[u8]) -> Result<Self, ListError> {
        let (info, mut fields) = SeqIdListInfo::parse_header(file)?;
        let mut list = Self { is_binary: true, ..Self::default() };
        list.database_residues = info.database.map_or(0, |database| database.residue_count);
        while (list.ids.len() as u64) < info.id_count {
            let id = fields.id().ok_or(ListError::BinaryIdListCount)?;
            list.ids.push(id.to_vec());
        }
        if info.id_count == 0 {
            // BLAST+ then reads the file once more, as text (`SeqDB_ReadSiList`, seqdbcommon.cpp).
            // The words of its binary header match no sequence.
            list.ids = split_words(file);
        }
        Ok(list)
    }
}

/// The header of a binary list of identifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeqIdListInfo {
    /// Number of identifiers.
    pub id_count: u64,
    /// Title of the list.
    pub title: Vec<u8>,
    /// Date of the list.
    pub date: Vec<u8>,
    /// The database for which the list was made, if it was made for one.
    pub database: Option<ListedDatabase>,
}

/// The database for which a binary list of identifiers was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedDatabase {
    /// Number of residues of all volumes.
    pub residue_count: u64,
    /// Date of the database.
    pub date: Vec<u8>,
    /// Names of the volumes, separated by blanks.
    pub volumes: Vec<u8>,
}

impl SeqIdListInfo {
    /// Parses the header of a list; `None` for a list in text.
    ///
    /// # Errors
    /// [`ListError`] for an empty file or a damaged binary one.
    pub fn parse(file: &[u8]) -> Result<Option<Self>, ListError> {
        match file.first() {
            None => Err(ListError::EmptyIdList),
            Some(0) => Ok(Some(Self::parse_header(file)?.0)),
            Some(_) => Ok(None),
        }
    }

    /// Parses the header of a binary list. Returns also the unread rest of the list.
    fn parse_header(file: &[u8]) -> Result<(Self, Fields<'_>), ListError> {
        let mut fields = Fields { rest: &file[1..] };
        let short = ListError::BinaryIdListLength;
        if fields.long().ok_or(short)? != file.len() as u64 {
            return Err(short);
        }
        let id_count = fields.long().ok_or(short)?;
        let title = fields.long_text().ok_or(short)?;
        let date = fields.short_text().ok_or(short)?;
        let residue_count = fields.long().ok_or(short)?;
        let database = match residue_count {
            0 => None,
            residue_count => {
                let date = fields.short_text().ok_or(short)?;
                let volumes = fields.long_text().ok_or(short)?;
                Some(ListedDatabase { residue_count, date, volumes })
            }
        };
        Ok((Self { id_count, title, date, database }, fields))
    }
}

/// The unread rest of a binary list.
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn read(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.read(1).map(|bytes| bytes[0])
    }

    fn word(&mut self) -> Option<u32> {
        let bytes = self.read(4)?;
        Some(u32::from_le_bytes(std::array::from_fn(|i| bytes[i])))
    }

    fn long(&mut self) -> Option<u64> {
        let bytes = self.read(8)?;
        Some(u64::from_le_bytes(std::array::from_fn(|i| bytes[i])))
    }

    /// Reads a text whose length has one byte.
    fn short_text(&mut self) -> Option<Vec<u8>> {
        let length = self.byte()?;
        self.read(usize::from(length)).map(<[u8]>::to_vec)
    }

    /// Reads a text whose length has four bytes.
    fn long_text(&mut self) -> Option<Vec<u8>> {
        let length = self.word()?;
        self.read(length as usize).map(<[u8]>::to_vec)
    }

    fn id(&mut self) -> Option<&'a [u8]> {
        let length = match self.byte()? {
            0xff => self.word()? as usize,
            length => usize::from(length),
        };
        self.read(length)
    }
}

/// Splits a text list into words, without comments.
pub(super) fn split_words(text: &[u8]) -> Vec<Vec<u8>> {
    let is_blank = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r');
    let mut ids = Vec::new();
    let mut rest = text;
    loop {
        let start = rest.iter().position(|b| !is_blank(b) && *b != b'>');
        let Some(start) = start else { return ids };
        rest = &rest[start..];
        let end = if rest[0] == b'#' {
            rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())
        } else {
            let end = rest.iter().position(is_blank).unwrap_or(rest.len());
            // Form feeds and vertical tabs do not separate words, but BLAST+ removes them at the
            // ends of words.
            let word = trim_spaces(&rest[..end]);
            ids.extend((!word.is_empty()).then(|| word.to_vec()));
            end
        };
        rest = &rest[end..];
    }
}

/// Parses a list of GIs: text, or binary as `blastdb_aliastool -gi_file_in` writes it.
///
/// In text a number counts only if another character follows. So the last number is lost if the
/// text has no final line end. Zeros are ignored (`SeqDB_ReadMemoryGiList`).
///
/// # Errors
/// [`ListError`] for an empty or invalid file.
pub fn parse_gis(file: &[u8]) -> Result<Vec<u32>, ListError> {
    numbers(file, "GI", "GI")
}

/// Parses the TAXIDLIST file of an alias by the rules of [`parse_gis`].
///
/// # Errors
/// [`ListError`] for an empty or invalid file.
pub fn parse_taxids(file: &[u8]) -> Result<Vec<i32>, ListError> {
    let numbers = numbers(file, "TAXID", "Tax Id List")?;
    Ok(numbers.into_iter().map(u32::cast_signed).collect())
}

/// Returns whether a list of GIs or taxids is binary. The first bytes decide
/// (`s_SeqDB_IsBinaryNumericList`, seqdbcommon.cpp).
///
/// # Errors
/// [`ListError`] for an empty file, and for one that is neither binary nor text.
pub fn is_binary_number_list(file: &[u8]) -> Result<bool, ListError> {
    match file.first() {
        None => Err(ListError::EmptyNumberList),
        Some(b'0'..=b'9' | b'#') => Ok(false),
        Some(0xff) if file.len() >= 8 => Ok(true),
        Some(_) => Err(ListError::NotNumbers),
    }
}

fn numbers(file: &[u8], text: &'static str, binary: &'static str) -> Result<Vec<u32>, ListError> {
    if is_binary_number_list(file)? {
        let words = file.chunks_exact(4);
        let mut words = words.map(|w| u32::from_be_bytes([w[0], w[1], w[2], w[3]]));
        let (marker, count) = (words.next(), words.next());
        let numbers: Vec<u32> = words.collect();
        return match (marker, count) {
            (Some(u32::MAX), Some(count)) if count as usize == numbers.len() => Ok(numbers),
            _ => Err(ListError::BinaryNumberListLength { kind: binary }),
        };
    }
    let mut numbers = Vec::new();
    let mut number = 0u32;
    for &byte in file {
        match byte {
            b'0'..=b'9' => {
                number = number.wrapping_mul(10).wrapping_add(u32::from(byte - b'0'));
            }
            b' ' | b'\n' | b'\r' => {
                numbers.extend((number != 0).then_some(number));
                number = 0;
            }
            byte => return Err(ListError::InvalidByte { kind: text, byte }),
        }
    }
    Ok(numbers)
}

/// Parses the taxids of `-taxids` (separated by commas) or of a `-taxidlist` file (one a line).
/// Lines end with CR, LF or both; blank ones are ignored. Returns `None` if an entry is not a
/// number.
pub fn parse_typed_taxids(text: &[u8], separators: &[u8]) -> Option<Vec<i32>> {
    let pieces = text.split(|b| separators.contains(b)).map(trim_spaces);
    let pieces = pieces.filter(|piece| !piece.is_empty());
    pieces.map(|piece| i32::try_from(parse_integer(piece, 10).ok()?).ok()).collect()
}

/// Reads the first file called `name` in the working directory or on the search path
/// (`SeqDB_ResolveDbPath`). Returns its path and contents.
///
/// # Errors
/// [`DbError::MissingList`] if there is no such file; [`DbError::Io`] if it cannot be read.
pub fn find_and_read(name: &str, search: &SearchPath) -> Result<(PathBuf, Vec<u8>), DbError> {
    let found = search.find_file(name.as_bytes());
    let found =
        found.ok_or_else(|| DbError::MissingList { path: name.into(), later_words: false })?;
    let file = PathBuf::from(path::os_str(&found));
    let contents = read_list_file(&file)?;
    Ok((file, contents))
}

/// Reads the file of a list. A path that is not a regular file counts as missing, since reading it
/// might never end.
pub(super) fn read_list_file(file: &Path) -> Result<Vec<u8>, DbError> {
    let missing = || DbError::MissingList { path: file.into(), later_words: false };
    match std::fs::metadata(file) {
        Ok(found) if !found.is_file() => return Err(missing()),
        _ => {}
    }
    read_whole_file(file).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => missing(),
        _ => DbError::Io { path: file.into(), source },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are those that `blastp -gilist` and `-seqidlist` accept or refuse.
    #[test]
    fn numbers_end_with_a_separator() {
        assert_eq!(parse_gis(b"1000\n5006 7\r\n0\n99"), Ok(vec![1000, 5006, 7]));
        assert_eq!(parse_gis(b"4294967297\n"), Ok(vec![1]));
        assert_eq!(parse_gis(b""), Err(ListError::EmptyNumberList));
        assert_eq!(parse_gis(b"abc"), Err(ListError::NotNumbers));
        assert_eq!(parse_gis(b"12 a\n"), Err(ListError::InvalidByte { kind: "GI", byte: 97 }));
        assert_eq!(
            parse_gis(b"# c\n").unwrap_err().to_string(),
            "Invalid byte in textGI list [35]."
        );
        let binary = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 1, 0];
        assert_eq!(parse_gis(&binary), Ok(vec![5, 256]));
        assert_eq!(parse_gis(&binary[..12]), Err(ListError::BinaryNumberListLength { kind: "GI" }));
    }

    #[test]
    fn words_and_comments_of_a_text_list() {
        let list = SeqIdList::parse(b">P1\t>P2 # not P3\n#P4\r\nP5#6\n  ").unwrap();
        assert_eq!(list.ids, [&b"P1"[..], b"P2", b"P5#6"]);
        assert!(!list.is_binary);
        let list = SeqIdList::parse(b"\x0b\n\x0bP1\x0c >\x0bP2\x0bP3\x0b\n\x0b#P4").unwrap();
        assert_eq!(list.ids, [&b"P1"[..], b"P2\x0bP3", b"#P4"]);
        assert_eq!(SeqIdList::parse(b""), Err(ListError::EmptyIdList));
    }

    #[test]
    fn binary_lists_are_checked() {
        let mut file = vec![0u8];
        file.extend(60u64.to_le_bytes());
        file.extend(2u64.to_le_bytes());
        file.extend(5u32.to_le_bytes());
        file.extend(b"title\x04date");
        file.extend(0u64.to_le_bytes());
        file.extend(b"\x06HBA_m0\xff\x03\x00\x00\x00abc");
        file.truncate(60);
        let length = file.len() as u64;
        file[1..9].copy_from_slice(&length.to_le_bytes());
        let list = SeqIdList::parse(&file).unwrap();
        assert_eq!(list.ids, [&b"HBA_m0"[..], b"abc"]);
        assert!(list.is_binary);
        file[9] = 0;
        let none = SeqIdList::parse(&file).unwrap();
        assert!(none.is_binary && !none.ids.is_empty() && !none.ids.contains(&b"abc".to_vec()));
        file[9] = 3;
        assert_eq!(SeqIdList::parse(&file), Err(ListError::BinaryIdListCount));
        file[1] = 0;
        assert_eq!(SeqIdList::parse(&file), Err(ListError::BinaryIdListLength));
    }

    #[test]
    fn typed_taxids_may_have_blanks() {
        assert_eq!(parse_typed_taxids(b"9606, 7,,5 ", b","), Some(vec![9606, 7, 5]));
        assert_eq!(parse_typed_taxids(b"9606\r\n \n-1\n", b"\r\n"), Some(vec![9606, -1]));
        assert_eq!(
            parse_typed_taxids(b"9606\r\x0b7\x0b\r5\0 6\r", b"\r\n"),
            Some(vec![9606, 7, 5])
        );
        assert_eq!(parse_typed_taxids(b"9606,abc", b","), None);
        assert_eq!(parse_typed_taxids(b"\0", b"\r\n"), None);
    }
}
