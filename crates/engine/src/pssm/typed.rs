//! Converts a multiple alignment of the user to an alignment that has one of its sequences as the
//! query (`CPsiBlastInputClustalW`, msa_pssm_input.cpp).

use fleetblast_seq::alphabet::{U, X, encode};
use thiserror::Error;

use super::alignment::{Cell, GAP, QueryAlignment, Row};

/// Length from which on a gap counts as not aligned.
const LONG_GAP: usize = 10;

/// Reason why the chosen row cannot be the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UserAlignmentError {
    /// The row does not exist. The text is that of BLAST+.
    #[error("Invalid master sequence index, please use a value between 1 and {0}")]
    NoRow(usize),
    /// The row has only gaps. The text is that of BLAST+.
    #[error("Query length provided by IPssmInputData is 0")]
    Empty,
    /// The row contains a `*`, which no query can have.
    #[error("sequence {0} of the alignment, which is to be the query, has a '*'")]
    Stop(usize),
    /// Another row begins with the query's letters and is longer. BLAST+ takes the first such row
    /// for the query, and writes beyond the query's end.
    #[error(
        "sequence {0} of the alignment begins with the letters of the query, which is another one, and goes on"
    )]
    Longer(usize),
}

/// Reads the rows of a multiple alignment as pairwise alignments with row `master` (from 0), the
/// query. Each column of a row has a letter or `-`. Lower-case letters of the query do not count
/// as aligned.
///
/// # Errors
/// [`UserAlignmentError`] if there is no such row, or it is empty, has a `*`, or BLAST+ would take
/// a longer row for the query.
pub fn align_rows(rows: &[&[u8]], master: usize) -> Result<QueryAlignment, UserAlignmentError> {
    let Some(typed) = rows.get(master) else { return Err(UserAlignmentError::NoRow(rows.len())) };
    let query: Vec<u8> = letters(typed).collect();
    if query.is_empty() {
        return Err(UserAlignmentError::Empty);
    }
    if typed.contains(&b'*') {
        return Err(UserAlignmentError::Stop(master + 1));
    }
    // The row that BLAST+ takes for the query may have other gaps.
    let first = rows.iter().position(|row| begins_with(row, &query)).unwrap_or(master);
    let typed = rows[first];
    if letters(typed).count() > query.len() {
        return Err(UserAlignmentError::Longer(first + 1));
    }
    let columns: Vec<usize> = (0..typed.len()).filter(|&column| typed[column] != b'-').collect();
    let cell = |(&code, &column): (&u8, &usize)| match typed[column].is_ascii_uppercase() {
        true => Cell::aligned(code),
        false => Cell::unaligned(code),
    };
    let mut laid: Vec<Row> = vec![query.iter().zip(&columns).map(cell).collect()];
    // The first row takes the place of the row that is the query.
    let others = (1..rows.len()).map(|row| if row == first { 0 } else { row });
    laid.extend(others.map(|row| lay_row(rows[row], &columns)));
    Ok(QueryAlignment::of_rows(laid))
}

/// Returns the letters of a row as NCBIstdaa codes.
fn letters(row: &[u8]) -> impl Iterator<Item = u8> {
    row.iter().filter(|&&letter| letter != b'-').map(|&letter| code(letter))
}

fn code(letter: u8) -> u8 {
    encode(letter.to_ascii_uppercase()).unwrap_or(X)
}

/// Returns whether the letters of a row begin with the query. An `X` of the query may stand for a
/// `U` of the row.
fn begins_with(row: &[u8], query: &[u8]) -> bool {
    let mut letters = letters(row);
    query.iter().all(|&code| {
        letters.next().is_some_and(|letter| letter == code || (letter == U && code == X))
    })
}

/// Returns the cells of a row in these columns. The row is not aligned before its start, after its
/// end, and in long gaps.
fn lay_row(row: &[u8], columns: &[usize]) -> Row {
    let cell = |&column: &usize| match row[column] {
        b'-' => Cell::aligned(GAP),
        letter => Cell::aligned(code(letter)),
    };
    let mut cells: Row = columns.iter().map(cell).collect();
    let count = cells.len();
    let mut start = 0;
    for gap in cells.chunk_by_mut(|a, b| a.letter() == b.letter()) {
        let end = start + gap.len();
        let is_outside = start == 0 || end == count;
        if gap[0].letter() == GAP && (is_outside || gap.len() >= LONG_GAP) {
            gap.fill(Cell::unaligned(GAP));
        }
        start = end;
    }
    cells
}

#[cfg(test)]
mod tests {
    use fleetblast_seq::alphabet::decode;

    use super::*;

    /// Formats the aligned rows: aligned letters unchanged, others in lower case, dots for
    /// positions without alignment.
    fn format_rows(rows: &[&str], master: usize) -> Vec<String> {
        let rows: Vec<&[u8]> = rows.iter().map(|row| row.as_bytes()).collect();
        let letter = |cell: &Cell| match (cell.is_aligned(), decode(cell.letter()) as char) {
            (true, letter) => letter,
            (false, '-') => '.',
            (false, letter) => letter.to_ascii_lowercase(),
        };
        let laid = align_rows(&rows, master).expect("an alignment");
        laid.rows().iter().map(|row| row.iter().map(letter).collect()).collect()
    }

    fn refusal(rows: &[&str], master: usize) -> UserAlignmentError {
        let rows: Vec<&[u8]> = rows.iter().map(|row| row.as_bytes()).collect();
        align_rows(&rows, master).expect_err("no alignment")
    }

    #[test]
    fn columns_are_those_of_the_query() {
        assert_eq!(format_rows(&["MK-vL", "-R-aU", "M-AB-"], 0), ["MKvL", ".RAU", "M-B."]);
        assert_eq!(format_rows(&["MK-vL", "-R-aU", "M-AB-"], 1), ["RaU", "KVL", ".B."]);
        assert_eq!(format_rows(&["MKV", "---", "M-*"], 0), ["MKV", "...", "M-*"]);
    }

    #[test]
    fn long_gaps_are_no_alignment() {
        let query = "MKVLAWGDEFHIRNP";
        assert_eq!(format_rows(&[query, "MKV---------RNP"], 0)[1], "MKV---------RNP");
        assert_eq!(format_rows(&[query, "MKV----------NP"], 0)[1], "MKV..........NP");
    }

    #[test]
    fn the_first_row_with_the_letters_of_the_query_stands_for_it() {
        // Row 2 is the query, with its columns; row 1 takes its place.
        assert_eq!(format_rows(&["A-KV", "MKV-", "M-KV"], 2), ["MKV", "A-K", "M-K"]);
        assert_eq!(format_rows(&["MKU", "MKX"], 1), ["MKX", "MKX"]);
    }

    #[test]
    fn rows_that_cannot_be_the_query_are_reported() {
        assert_eq!(refusal(&["MKV", "MKL"], 2), UserAlignmentError::NoRow(2));
        assert_eq!(refusal(&["---", "MKL"], 0), UserAlignmentError::Empty);
        assert_eq!(refusal(&["MK*", "MKL"], 0), UserAlignmentError::Stop(1));
        assert_eq!(refusal(&["MKL", "MK-"], 1), UserAlignmentError::Longer(1));
    }
}
