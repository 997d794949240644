//! Reads PHYLIP (`CAlnScannerPhylip`). It has the numbers of sequences and columns, then blocks of
//! lines. The lines of the first block begin with names.

use super::lines::{Lines, first_word, parse_number, words};
use super::rows::Rows;
use super::{MsaError, Result, malformed_error};
use crate::convert::trim_spaces;

/// Lines that BLAST+ skips, in upper or lower case.
const PASSED: [&[u8]; 5] = [b"begin ncbi;", b"begin ncbi", b"sequin", b"end;", b"end"];

pub(super) fn read(mut lines: Lines) -> Result<Rows> {
    let numbers = lines
        .next()
        .map(|(_, line)| words(trim_spaces(line)).map(parse_number).collect::<Vec<_>>());
    let (count, columns) = match numbers.as_deref() {
        Some(&[Some(count), Some(columns)]) if count > 0 => (count as usize, columns as usize),
        _ => return malformed_error(1, "the numbers of sequences and columns belong here"),
    };
    let mut rows = Rows::default();
    let (mut taken, mut width, mut last) = (0, 0, 1);
    for (line, text) in lines {
        last = line;
        let text = trim_spaces(text);
        let Some(first) = text.first() else { continue };
        match first {
            b'>' => return Err(MsaError::Unsupported("definition lines in PHYLIP")),
            b'[' => return malformed_error(line, "a definition line begins with '>'"),
            _ if PASSED.iter().any(|passed| passed.eq_ignore_ascii_case(text)) => continue,
            _ => {}
        }
        let letters = if taken < count {
            let (name, letters) = first_word(text);
            if letters.is_empty() {
                return malformed_error(line, "a name and letters belong here");
            }
            rows.begin(line, name, b"")?;
            letters
        } else {
            text
        };
        let row = taken % count;
        let before = rows.columns(row);
        rows.extend(row, line, words(letters))?;
        let added = rows.columns(row) - before;
        if row == 0 {
            width = added;
        } else if added != width {
            return malformed_error(line, format!("{added} columns in a block of {width}"));
        }
        taken += 1;
    }
    if taken % count != 0 || rows.len() != count {
        return malformed_error(last, format!("the last block is not of {count} sequences"));
    }
    match rows.columns(0) {
        found if found == columns => Ok(rows),
        found => malformed_error(1, format!("{columns} columns are announced, {found} are there")),
    }
}
