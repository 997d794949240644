//! The lines below a row that show its inserted residues (`x_FillInserts`, showalign.cpp).

use std::ops::Range;

use super::row::Row;

/// Appends the lines that show a row's inserted residues, below the row's text in the columns
/// `line`. Full lines have `length` columns; the last one may have fewer. `margin` is the number of
/// blanks before the letters.
///
/// The first line has `\` at each insertion. Pairs of lines follow: a line with `|` at each
/// insertion that is not printed yet, and a line with the residues of as many insertions as have
/// room. An insertion without room is printed in a later pair.
pub fn lines(row: &Row, (line, length): (&Range<usize>, usize), margin: usize, out: &mut Vec<u8>) {
    let columns = line.start..line.start + length;
    let mut waiting: Vec<(usize, &[u8])> = row
        .insertions
        .iter()
        .filter(|(column, _)| columns.contains(column))
        .map(|(column, residues)| {
            (column - line.start, &row.letters[residues.start as usize..residues.end as usize])
        })
        .collect();
    if waiting.is_empty() {
        return;
    }
    let mut append = |text: &[u8]| {
        out.resize(out.len() + margin, b' ');
        out.extend_from_slice(text);
        out.push(b'\n');
    };
    append(&marks(b'\\', &waiting, line.len()));
    while !waiting.is_empty() {
        append(&marks(b'|', &waiting, line.len()));
        let mut text = Vec::new();
        waiting.retain(|&(place, residues)| {
            let used = text.len();
            if used > 0 && place <= used {
                if place == used {
                    text.push(b'|');
                }
                return true;
            }
            // The residues end below the bar if there is room for that.
            let blanks = (place + 1 - used).checked_sub(residues.len()).filter(|&it| it > 0);
            text.resize(used + blanks.unwrap_or(usize::from(used > 0)), b' ');
            text.extend_from_slice(residues);
            false
        });
        append(&text);
    }
}

/// Returns a line of `length` characters with `mark` at the column of each insertion, else blanks.
fn marks(mark: u8, insertions: &[(usize, &[u8])], length: usize) -> Vec<u8> {
    let mut text = vec![b' '; length];
    for &(place, _) in insertions {
        // An insertion after the last column has no mark.
        if let Some(character) = text.get_mut(place) {
            *character = mark;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use fleetblast_seq::frame::Frame;

    use super::super::columns::AlignmentColumns;
    use super::*;
    use crate::row_position::RowPosition;

    /// Returns the lines that [`lines`] makes for insertions, given as pairs: the column before
    /// which residues are inserted, and the number of residues.
    fn drawn(insertions: &[(usize, u32)]) -> Vec<String> {
        let position =
            RowPosition { frame: Frame::Protein, frame_range: 0..20, sequence_range: 0..20 };
        let columns = AlignmentColumns::new(false, &position, [].into_iter());
        let letters = b"ABCDEFGHIJKLMNOPQRST".to_vec();
        let mut row = Row::of_query(&columns, Vec::new(), position, letters);
        let mut start = 0;
        for &(column, residues) in insertions {
            row.insertions.push((column, start..start + residues));
            start += residues;
        }
        let mut out = Vec::new();
        lines(&row, (&(0..20), 20), 1, &mut out);
        let text = String::from_utf8(out).unwrap();
        text.lines().map(|line| line.trim_end().to_owned()).collect()
    }

    /// Expected values: lines of `blastp -outfmt 2`.
    #[test]
    fn insertions_without_room_go_to_the_next_lines() {
        assert!(drawn(&[]).is_empty());
        assert_eq!(drawn(&[(4, 3)]), [r"     \", "     |", "   ABC"]);
        assert_eq!(drawn(&[(1, 3)]), [r"  \", "  |", " ABC"]);
        assert_eq!(drawn(&[(3, 2), (8, 2)]), [r"    \    \", "    |    |", "   AB   CD"]);
        assert_eq!(
            drawn(&[(3, 5), (5, 2), (7, 1)]),
            [r"    \ \ \", "    | | |", " ABCDE| H", "      |", "     FG"]
        );
    }
}
