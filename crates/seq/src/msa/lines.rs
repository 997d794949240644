//! The lines and words of a text.

/// Iterator over lines without their ends, with their numbers from 1.
#[derive(Clone, Debug)]
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        Lines { rest: text, number: 0 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|&byte| byte == b'\n');
        let line = &self.rest[..end.unwrap_or(self.rest.len())];
        self.rest = &self.rest[end.map_or(self.rest.len(), |end| end + 1)..];
        self.number += 1;
        Some((self.number, line))
    }
}

/// Returns the words between blanks and tabs.
pub(super) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| is_blank(*byte)).filter(|word| !word.is_empty())
}

/// Splits a text into its first word and the rest after blanks and tabs.
pub(super) fn first_word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|&byte| is_blank(byte)).unwrap_or(text.len());
    let rest = &text[end..];
    let start = rest.iter().position(|&byte| !is_blank(byte)).unwrap_or(rest.len());
    (&text[..end], &rest[start..])
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Parses a whole word as a C `int`; `None` for any other word.
pub(super) fn parse_number(word: &[u8]) -> Option<i32> {
    std::str::from_utf8(word).ok()?.parse().ok()
}
