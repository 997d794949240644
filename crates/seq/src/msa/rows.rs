//! The rows of an alignment that is being read.

use std::collections::HashMap;

use super::{GAP, Result, malformed_error};

/// A sequence of an alignment, with the columns read so far.
#[derive(Debug)]
pub(super) struct Row {
    pub line: usize,
    /// Name of the sequence.
    pub word: Vec<u8>,
    pub title: Vec<u8>,
    pub columns: Vec<u8>,
}

/// The sequences of an alignment that were read so far.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    /// Names in lower case, with the line of each.
    known: HashMap<Vec<u8>, usize>,
}

impl Rows {
    /// Starts a new sequence. Fails if a previous name is equal, without regard to case.
    pub fn begin(&mut self, line: usize, word: &[u8], title: &[u8]) -> Result<()> {
        if let Some(before) = self.known.insert(word.to_ascii_lowercase(), line) {
            let name = String::from_utf8_lossy(word);
            return malformed_error(
                line,
                format!("'{name}' was the name of a sequence in line {before}"),
            );
        }
        let (word, title) = (word.to_vec(), title.to_vec());
        self.rows.push(Row { line, word, title, columns: Vec::new() });
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the name of a sequence.
    pub fn word(&self, row: usize) -> Option<&[u8]> {
        self.rows.get(row).map(|row| &row.word[..])
    }

    /// Appends columns to a sequence. Fails if a character is neither a letter nor `*` nor [`GAP`].
    pub fn extend<'a>(
        &mut self,
        row: usize,
        line: usize,
        pieces: impl Iterator<Item = &'a [u8]>,
    ) -> Result<()> {
        let is_odd = |&&byte: &&u8| !byte.is_ascii_alphabetic() && byte != b'*' && byte != GAP;
        for piece in pieces {
            if let Some(odd) = piece.iter().find(is_odd) {
                let odd = odd.escape_ascii();
                return malformed_error(
                    line,
                    format!("'{odd}' is neither a letter nor '*' nor '-'"),
                );
            }
            self.rows[row].columns.extend_from_slice(piece);
        }
        Ok(())
    }

    /// Returns the number of columns of a sequence so far.
    pub fn columns(&self, row: usize) -> usize {
        self.rows.get(row).map_or(0, |row| row.columns.len())
    }

    pub fn into_inner(self) -> Vec<Row> {
        self.rows
    }
}
