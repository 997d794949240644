//! Reads Clustal W (`CAlnScannerClustal`). It consists of blocks of lines, each with a name,
//! letters and possibly a count. A line of conservation or an empty line ends a block.

use super::lines::{Lines, parse_number, words};
use super::rows::Rows;
use super::{Result, malformed_error};
use crate::convert::trim_spaces;

/// The block of lines that is being read.
#[derive(Default)]
struct Block {
    /// Number of lines read so far.
    lines: usize,
    /// Number of letters of each line.
    width: usize,
    /// Whether the first block has ended. The first block names the sequences.
    is_later: bool,
}

impl Block {
    fn end(&mut self, line: usize, rows: &Rows) -> Result<()> {
        if self.lines != rows.len() {
            let (lines, count) = (self.lines, rows.len());
            return malformed_error(line, format!("a block of {lines} of {count} sequences ends"));
        }
        *self = Block { is_later: true, ..Block::default() };
        Ok(())
    }

    fn add_line(&mut self, line: usize, words: &[&[u8]], rows: &mut Rows) -> Result<()> {
        let (name, letters) = match words {
            [name, letters] => (*name, *letters),
            [name, letters, count] if parse_number(count).is_some_and(|count| count != 0) => {
                (*name, *letters)
            }
            _ => return malformed_error(line, "a name, letters and perhaps a count belong here"),
        };
        if !self.is_later {
            rows.begin(line, name, b"")?;
        } else if rows.word(self.lines) != Some(name) {
            return malformed_error(line, "the names are not those of the first block");
        }
        if self.lines == 0 {
            self.width = letters.len();
        } else if self.width != letters.len() {
            let (count, width) = (letters.len(), self.width);
            return malformed_error(line, format!("{count} columns in a block of {width}"));
        }
        rows.extend(self.lines, line, std::iter::once(letters))?;
        self.lines += 1;
        Ok(())
    }
}

pub(super) fn read(lines: Lines) -> Result<Rows> {
    let mut rows = Rows::default();
    let mut block = Block::default();
    let mut last = 0;
    for (line, text) in lines {
        last = line;
        if line == 1 && text.get(..7).is_some_and(|it| it.eq_ignore_ascii_case(b"clustal")) {
            continue;
        }
        let text = trim_spaces(text);
        match text.first() {
            None if block.lines > 0 => block.end(line, &rows)?,
            None => {}
            Some(b'*' | b'.' | b':') if block.lines > 0 => block.end(line, &rows)?,
            Some(b'*' | b'.' | b':') => {
                return malformed_error(line, "a line of conservation without a block before it");
            }
            Some(_) => block.add_line(line, &words(text).collect::<Vec<_>>(), &mut rows)?,
        }
    }
    match block.lines {
        0 => Ok(rows),
        _ => malformed_error(last, "the last block does not end with a line of conservation"),
    }
}
