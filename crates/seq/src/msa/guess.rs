//! Guesses the format of an alignment (`CAlnFormatGuesser`).

use super::lines::{Lines, parse_number, words};
use crate::convert::trim_spaces;

/// Number of lines to examine, except for Clustal.
const SAMPLE: usize = 10;
/// Number of blocks that must end with a line of conservation if no heading states Clustal.
const BLOCKS: usize = 3;
/// Characters of lines of conservation, besides blanks.
const CONSERVED: &[u8] = b".:*";
/// Maximal number of columns of a line in Multalin's format.
const MULTALIN: i32 = 50;

/// Formats of alignments that BLAST+ recognises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Nexus,
    Clustal,
    Fasta,
    Phylip,
    Sequin,
    Multalin,
}

/// Guesses the format of a text; `None` if BLAST+ does not recognise it.
pub(super) fn guess(text: &[u8]) -> Option<Format> {
    let mut lines = Lines::new(text).map(|(_, line)| line);
    let mut sample: Vec<&[u8]> = lines.by_ref().take(SAMPLE).map(trim_spaces).collect();
    let first = sample.first()?.to_ascii_lowercase();
    if first.starts_with(b"#nexus") {
        Some(Format::Nexus)
    } else if first.starts_with(b"clustalw")
        || first.starts_with(b"clustal w")
        || has_blocks(&mut sample, lines)
    {
        Some(Format::Clustal)
    } else if sample.iter().find(|line| !line.starts_with(b";"))?.starts_with(b">") {
        Some(Format::Fasta)
    } else if is_phylip(&first) {
        Some(Format::Phylip)
    } else if is_sequin(&sample) {
        Some(Format::Sequin)
    } else {
        is_multalin(&sample).then_some(Format::Multalin)
    }
}

/// Returns whether each of the first three blocks ends with a line of conservation and an empty
/// line. Adds lines from `rest` to the sample as needed. The end of the text counts as an empty
/// line.
fn has_blocks<'a>(sample: &mut Vec<&'a [u8]>, mut rest: impl Iterator<Item = &'a [u8]>) -> bool {
    let (mut at, mut blocks) = (0, 0);
    while blocks < BLOCKS {
        if at == sample.len() {
            sample.push(rest.next().unwrap_or_default());
        }
        if at > 0 && sample[at].is_empty() {
            let before = sample[at - 1];
            let is_conserved = |byte: &u8| CONSERVED.contains(byte);
            let is_blank = |byte: &u8| *byte == b' ';
            if !before.iter().any(is_conserved)
                || !before.iter().all(|byte| is_conserved(byte) || is_blank(byte))
            {
                return false;
            }
            blocks += 1;
        }
        at += 1;
    }
    true
}

fn is_phylip(first: &[u8]) -> bool {
    let words: Vec<&[u8]> = words(first).collect();
    words.len() == 2 && words.concat().iter().all(u8::is_ascii_digit)
}

/// Returns whether the second line is a ruler, which states every tenth column.
fn is_sequin(sample: &[&[u8]]) -> bool {
    let [[], ruler, ..] = sample else { return false };
    let mut marks = words(ruler).zip(1..).peekable();
    marks.peek().is_some() && marks.all(|(mark, at)| parse_number(mark) == Some(10 * at))
}

/// Returns whether the text begins as Multalin's format does: a line states the first and the last
/// column of a block, and the next line has letters for exactly these columns.
fn is_multalin(sample: &[&[u8]]) -> bool {
    let sample = match sample {
        [first, rest @ ..] if first.starts_with(b"//") => rest,
        sample => sample,
    };
    let [[], bounds, line, _, ..] = sample else { return false };
    let bounds: Vec<Option<i32>> = words(bounds).map(parse_number).collect();
    let &[Some(1), Some(end)] = &bounds[..] else { return false };
    let letters: usize = words(line).skip(1).map(<[u8]>::len).sum();
    end <= MULTALIN && letters > 0 && usize::try_from(end) == Ok(letters)
}
