//! Reads aligned FASTA (`CAlnScannerFastaGap`). The lines of all sequences must have the same
//! lengths as those of the first sequence.

use super::lines::{Lines, first_word, words};
use super::rows::Rows;
use super::{Result, malformed_error};
use crate::convert::trim_spaces;

pub(super) fn read(lines: Lines) -> Result<Rows> {
    let mut rows = Rows::default();
    // Number of columns of each line of the first sequence.
    let mut widths: Vec<usize> = Vec::new();
    // Index of the next line of the current sequence; `None` after an empty line, which ends the
    // sequence.
    let mut open: Option<usize> = None;
    for (number, line) in lines {
        let line = trim_spaces(line);
        if let Some(at) = open.filter(|_| !line.is_empty() && !line.starts_with(b">")) {
            let row = rows.len() - 1;
            let before = rows.columns(row);
            rows.extend(row, number, words(line))?;
            let width = rows.columns(row) - before;
            if row == 0 {
                widths.push(width);
            } else if widths.get(at) != Some(&width) {
                let expected = widths.get(at).copied().unwrap_or(0);
                let problem = format!("{width} columns, where the first sequence has {expected}");
                return malformed_error(number, problem);
            }
            open = Some(at + 1);
            continue;
        }
        open = None;
        // The first character is dropped, whatever it is. The rest of the line names a sequence.
        let Some((_, named)) = line.split_first() else { continue };
        let (word, title) = first_word(trim_spaces(named));
        if word.is_empty() {
            return malformed_error(number, "the sequence has no name");
        }
        rows.begin(number, word, trim_spaces(title))?;
        open = Some(0);
    }
    Ok(rows)
}
