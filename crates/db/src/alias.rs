//! Alias files (`.pal`, `.nal`): `KEY value` lines that join, rename and restrict databases.

use std::collections::BTreeMap;
use std::path::Path;

use crate::{DbError, path};

/// Alias keys that restrict the member databases in a way that this program does not support.
const UNSUPPORTED: [&str; 1] = ["TILIST"];

/// One `KEY value` line of an alias file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AliasEntry {
    /// Line number, counted from 1.
    pub line: usize,
    /// The value without blanks and tabs at its ends. A blank replaces each inner tab.
    pub value: Vec<u8>,
}

/// The entries of an alias file by key. If a file gives a key twice, the last value counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AliasFile {
    entries: BTreeMap<Vec<u8>, AliasEntry>,
}

impl AliasFile {
    /// Parses the text of an alias file. Every text is valid: lines without a key are ignored.
    ///
    /// The rules are those of `CSeqDBAliasNode::x_ReadValues` (seqdbalias.cpp). Lines end with LF
    /// or CR. Leading blanks are skipped, but a line that starts with a tab has no key and thus no
    /// effect. `#` starts a comment only as the first character after the leading blanks.
    pub fn parse(text: &[u8]) -> Self {
        let mut entries = BTreeMap::new();
        for (i, line) in text.split(|&b| b == b'\n').enumerate() {
            for piece in line.split(|&b| b == b'\r') {
                let start = piece.iter().position(|&b| b != b' ').unwrap_or(piece.len());
                if let Some((key, value)) = key_and_value(&piece[start..]) {
                    entries.insert(key, AliasEntry { line: i + 1, value });
                }
            }
        }
        Self { entries }
    }

    /// Returns the entry of `key`, if the file has one.
    pub fn get(&self, key: &str) -> Option<&AliasEntry> {
        self.entries.get(key.as_bytes())
    }

    /// Returns the names of the databases that the alias joins (DBLIST).
    pub fn member_names(&self) -> Vec<Vec<u8>> {
        self.get("DBLIST").map_or_else(Vec::new, |entry| path::split_names(&entry.value, false))
    }

    /// Parses the value of `key` as a number; `None` if the key is missing.
    ///
    /// # Errors
    /// [`DbError::InvalidAliasNumber`] naming `file` if the value is no number from 0 to `maximum`.
    /// (BLAST+ accepts a negative or too large NSEQ and prints nonsense.)
    pub fn parse_number(
        &self,
        key: &'static str,
        maximum: u64,
        file: &Path,
    ) -> Result<Option<u64>, DbError> {
        let Some(entry) = self.get(key) else { return Ok(None) };
        let digits = entry.value.strip_prefix(b"+").unwrap_or(&entry.value);
        std::str::from_utf8(digits)
            .ok()
            .filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|text| text.parse().ok())
            .filter(|&number| number <= maximum)
            .map(Some)
            .ok_or_else(|| DbError::InvalidAliasNumber {
                path: file.into(),
                line: entry.line,
                key,
                value: path::display_text(&entry.value),
                maximum,
            })
    }

    /// Refuses keys that are not supported. If they were ignored, the search would cover other
    /// sequences than BLAST+ searches.
    ///
    /// # Errors
    /// [`DbError::UnsupportedAliasKey`] naming `file` and the first line with such a key.
    pub fn check_supported(&self, file: &Path) -> Result<(), DbError> {
        let first = UNSUPPORTED.iter().filter_map(|&key| Some((self.get(key)?.line, key))).min();
        first.map_or(Ok(()), |(line, key)| {
            Err(DbError::UnsupportedAliasKey { path: file.into(), line, key: key.into() })
        })
    }
}

/// Parses a line into key and value; `None` for a comment and for a line without a key.
fn key_and_value(line: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let is_blank = |b: &u8| *b == b' ' || *b == b'\t';
    let key_end = line.iter().position(is_blank).unwrap_or(line.len());
    if key_end == 0 || line[0] == b'#' {
        return None;
    }
    let rest = &line[key_end..];
    let start = rest.iter().position(|b| !is_blank(b)).unwrap_or(rest.len());
    let end = rest.iter().rposition(|b| !is_blank(b)).map_or(start, |last| last + 1);
    let value = rest[start..end].iter().map(|&b| if b == b'\t' { b' ' } else { b }).collect();
    Some((line[..key_end].to_vec(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are those of `blastp -db n14` for an alias with this text: title
    /// `second`, 50 sequences, the letters of the volumes.
    #[test]
    fn lines_are_read_as_the_oracle_reads_them() {
        let text = b"TITLE  tabs\there\tx  \nTITLE second \nDBLIST a5\tb5\n  NSEQ 50\n\
                     \tLENGTH 60\n #STATS_NSEQ 8\r\nLAST_OID 3\r\n\n";
        let alias = AliasFile::parse(text);
        assert_eq!(alias.get("TITLE"), Some(&AliasEntry { line: 2, value: b"second".to_vec() }));
        assert_eq!(alias.member_names(), [b"a5", b"b5"]);
        assert_eq!(alias.parse_number("NSEQ", 100, Path::new("x")).unwrap(), Some(50));
        assert_eq!(alias.parse_number("LENGTH", 100, Path::new("x")).unwrap(), None);
        assert_eq!(alias.parse_number("STATS_NSEQ", 100, Path::new("x")).unwrap(), None);
        assert_eq!(alias.get("LAST_OID").unwrap(), &AliasEntry { line: 7, value: b"3".to_vec() });
        assert_eq!(AliasFile::parse(b"TITLE a\tb\t").get("TITLE").unwrap().value, b"a b");
        assert_eq!(AliasFile::parse(b"TITLE").get("TITLE").unwrap().value, b"");
    }

    #[test]
    fn bad_numbers_name_file_line_and_value() {
        let alias = AliasFile::parse(b"\nNSEQ -3\nLENGTH\nFIRST_OID 11\nLAST_OID +7");
        let number = |key| alias.parse_number(key, 10, Path::new("dir/x.pal"));
        let error = number("NSEQ").unwrap_err();
        assert_eq!(
            error.stderr_line(),
            "Error: alias file (dir/x.pal) line 2: NSEQ needs a whole number from 0 to 10, not '-3'"
        );
        assert!(number("LENGTH").is_err());
        assert!(number("FIRST_OID").is_err());
        assert_eq!(number("LAST_OID").unwrap(), Some(7));
    }

    #[test]
    fn lists_are_refused_by_name() {
        let alias = AliasFile::parse(b"DBLIST a\nTILIST x\nGILIST x\n");
        let text = alias.check_supported(Path::new("x.pal")).unwrap_err().to_string();
        assert!(text.contains("line 2 uses TILIST"), "{text}");
        assert!(AliasFile::parse(b"DBLIST a\nMASKLIST x").check_supported(Path::new("x")).is_ok());
    }
}
