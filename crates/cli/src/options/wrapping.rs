//! Breaks the lines of usage and help texts where BLAST+ breaks them (`NStr::Wrap`, ncbistr.cpp).

/// Width of usage and help lines in columns.
const WIDTH: usize = 78;
/// Columns to the left of help texts.
const INDENT: usize = 3;

/// Appends words to `out`, and breaks lines of more than 78 columns. The first line begins
/// with `start`, the others with `indent`. A word that does not fit on a line is broken behind a
/// punctuation mark.
pub fn wrap<'a>(out: &mut String, start: &str, indent: &str, words: impl Iterator<Item = &'a str>) {
    let mut line = start.to_owned();
    let mut is_empty = true;
    let mut end_line = |line: &mut String| {
        out.push_str(line);
        out.push('\n');
        indent.clone_into(line);
    };
    for mut word in words {
        if !is_empty && line.len() + 1 + word.len() > WIDTH {
            end_line(&mut line);
            is_empty = true;
        }
        while is_empty && line.len() + word.len() > WIDTH {
            let Some(at) = last_break(word, WIDTH - line.len()) else { break };
            line.push_str(&word[..at]);
            end_line(&mut line);
            word = &word[at..];
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    end_line(&mut line);
}

/// Returns the position behind the last punctuation mark in the first `columns` bytes of a word.
fn last_break(word: &str, columns: usize) -> Option<usize> {
    let bytes = &word.as_bytes()[..columns.min(word.len())];
    bytes.iter().rposition(u8::is_ascii_punctuation).map(|at| at + 1)
}

/// Returns the lines of a help text, without the columns to their left. An empty paragraph at the
/// end gives no line.
pub fn lines(paragraphs: &[impl AsRef<str>]) -> Vec<String> {
    let shown = match paragraphs {
        [shown @ .., last] if last.as_ref().is_empty() => shown,
        all => all,
    };
    let indent = " ".repeat(INDENT);
    let mut out = String::new();
    for paragraph in shown {
        wrap(&mut out, &indent, &indent, paragraph.as_ref().split(' '));
    }
    out.lines().map(|line| line[INDENT..].to_owned()).collect()
}
