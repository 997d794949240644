//! Wraps text to lines, wraps titles as NCBI does, and escapes text for HTML and XML.

use fleetblast_seq::convert::is_space;
use fleetblast_stats::release::XmlEncoding;

use crate::error::ReportError;

/// Width of the text column of the prologue, the query line and the description table.
pub const TEXT_WIDTH: usize = 68;

/// Appends `text` wrapped to lines of at most `width` columns, each with its line end. Appends
/// nothing for an empty text.
///
/// With `html` the text is already encoded as HTML: entities are one column wide, and lines can
/// break at more characters (`NStr::Wrap`, ncbistr.cpp).
pub fn wrap(text: &[u8], width: usize, html: bool, out: &mut Vec<u8>) {
    let mut at = 0;
    while at < text.len() {
        let line = Line::find(&text[at..], width, html, text.get(at.wrapping_sub(1)).copied());
        out.extend_from_slice(&text[at..at + line.length]);
        out.push(b'\n');
        at += line.length + line.skip(&text[at + line.length..], html);
    }
}

/// The kind of place of a line break, worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Break {
    Forced,
    Punctuation,
    Comma,
    Space,
    Newline,
}

/// One line of wrapped text.
struct Line {
    length: usize,
    kind: Break,
}

impl Line {
    /// Finds the first line of `text`. `before` is the character that precedes `text`.
    fn find(text: &[u8], width: usize, html: bool, before: Option<u8>) -> Self {
        let mut best: Option<(usize, Break)> = None;
        let (mut at, mut column) = (0, 0);
        if !html {
            // The search stays within the line. Otherwise each line would scan the rest of the
            // title.
            let line = &text[..text.len().min(width + 1)];
            let end = line.iter().position(|&c| c == b'\n').unwrap_or(text.len());
            if end <= width {
                at = end;
            }
        }
        let first = at;
        while at < text.len() && column <= width {
            let (kind, place) = match text[at] {
                b'\n' => return Self { length: at, kind: Break::Newline },
                c if is_space(c) => {
                    let previous = if at > 0 { Some(text[at - 1]) } else { before };
                    if html && previous.is_some_and(is_space) {
                        at += 1;
                        column += 1;
                        continue;
                    }
                    (Break::Space, at)
                }
                b'&' if html => {
                    at = end_of_entity(text, at);
                    (Break::Forced, at)
                }
                b',' if column < width && at + 1 < text.len() => (Break::Comma, at + 1),
                c if breaks_before(c, html) => (Break::Punctuation, at),
                c if breaks_after(c, html) && column < width && at + 1 < text.len() => {
                    (Break::Punctuation, at + 1)
                }
                _ => (Break::Forced, at),
            };
            offer(&mut best, kind, place, first);
            at += 1;
            column += 1;
        }
        if column <= width {
            return Self { length: text.len(), kind: Break::Forced };
        }
        let (length, kind) = best.unwrap_or((text.len(), Break::Forced));
        Self { length, kind }
    }

    /// Returns the number of bytes after the line that the output omits.
    fn skip(&self, rest: &[u8], html: bool) -> usize {
        if html {
            return usize::from(matches!(self.kind, Break::Space | Break::Newline)).min(rest.len());
        }
        match self.kind {
            Break::Space => {
                let blanks = rest.iter().take_while(|&&c| c == b' ').count();
                blanks + usize::from(rest.get(blanks) == Some(&b'\n'))
            }
            Break::Newline => 1,
            _ => 0,
        }
    }
}

/// Stores a place for a break in `best`, unless a better one is known. Of equal places the last
/// wins. `first` is the last position that is too early for a break.
fn offer(best: &mut Option<(usize, Break)>, kind: Break, place: usize, first: usize) {
    if place > first && best.is_none_or(|(_, known)| kind >= known) {
        *best = Some((place, kind));
    }
}

fn breaks_before(c: u8, html: bool) -> bool {
    html && matches!(c, b'(' | b'[' | b'{' | b'<' | b'`')
}

fn breaks_after(c: u8, html: bool) -> bool {
    if html { c.is_ascii_punctuation() } else { c == b'-' }
}

/// Returns the position of the semicolon of an entity that starts at `at`; returns `at` for a lone
/// ampersand.
fn end_of_entity(text: &[u8], at: usize) -> usize {
    let name =
        text[at + 1..].iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'#').count();
    if text.get(at + 1 + name) == Some(&b';') { at + 1 + name } else { at }
}

/// Appends a subject's title with line breaks. A line ends after the first blank at or beyond every
/// 60th character, and keeps this blank (`s_WrapOutputLine`, showalign.cpp).
pub fn wrap_title(title: &[u8], out: &mut Vec<u8>) {
    const WIDTH: usize = 60;
    let long = title.len() > WIDTH;
    let mut due = false;
    for (i, &c) in title.iter().enumerate() {
        due |= long && i > 0 && i % WIDTH == 0;
        out.push(c);
        if due && is_space(c) {
            out.push(b'\n');
            due = false;
        }
    }
}

/// Encodes text for HTML: replaces `&`, `<`, `>` and `"` by entities.
pub fn escape_html(text: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(text.len());
    for &c in text {
        match c {
            b'&' => encoded.extend_from_slice(b"&amp;"),
            b'<' => encoded.extend_from_slice(b"&lt;"),
            b'>' => encoded.extend_from_slice(b"&gt;"),
            b'"' => encoded.extend_from_slice(b"&quot;"),
            c => encoded.push(c),
        }
    }
    encoded
}

/// Appends text to XML, up to its first zero byte.
///
/// Replaces `&`, `<`, `>`, `'`, `"`, tabs and line ends by entities, other control characters by
/// `#`, and UTF-8 characters above ASCII by their Latin-1 byte (`WriteEscapedChar`,
/// objostrxml.cpp).
///
/// # Errors
/// [`ReportError::XmlText`] if the text is not UTF-8 or has characters that XML of this encoding
/// cannot have: beyond Latin-1, or beyond ASCII. BLAST+ fails, too.
pub fn append_escaped_xml(
    text: &[u8],
    encoding: XmlEncoding,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    // BLAST+ treats the text as a C string.
    let text = before_zero(text);
    if text.is_ascii() {
        let is_plain = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'+' | b'-' | b'*' | b'|' | b'.')
        };
        append_escaped(text, out, |byte| !is_plain(byte), append_escaped_xml_byte);
        return Ok(());
    }
    let characters = match encoding {
        XmlEncoding::Latin1 => "Latin-1 characters in UTF-8",
        XmlEncoding::Ascii => "ASCII",
    };
    let failed =
        || ReportError::XmlText { text: String::from_utf8_lossy(text).into_owned(), characters };
    if encoding == XmlEncoding::Ascii {
        return Err(failed());
    }
    for c in std::str::from_utf8(text).map_err(|_| failed())?.chars() {
        let byte = u8::try_from(u32::from(c)).map_err(|_| failed())?;
        append_escaped_xml_byte(byte, out);
    }
    Ok(())
}

/// Appends a character of Latin-1, or a byte of UTF-8, to XML, escaped as BLAST+ does it.
pub fn append_escaped_xml_byte(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'&' => out.extend_from_slice(b"&amp;"),
        b'<' => out.extend_from_slice(b"&lt;"),
        b'>' => out.extend_from_slice(b"&gt;"),
        b'\'' => out.extend_from_slice(b"&apos;"),
        b'"' => out.extend_from_slice(b"&quot;"),
        b'\t' | b'\n' | b'\r' => out.extend_from_slice(format!("&#x{byte:x};").as_bytes()),
        0..b' ' => out.push(b'#'),
        byte => out.push(byte),
    }
}

/// Returns a text up to its first zero byte.
pub fn before_zero(text: &[u8]) -> &[u8] {
    &text[..memchr::memchr(0, text).unwrap_or(text.len())]
}

/// Appends text. Passes the bytes for which `is_escaped` returns true to `escape`, and copies the
/// runs of others.
pub fn append_escaped(
    text: &[u8],
    out: &mut Vec<u8>,
    is_escaped: impl Fn(u8) -> bool,
    escape: impl Fn(u8, &mut Vec<u8>),
) {
    // Most texts are plain; a test of all bytes without a branch takes many at once.
    if !text.iter().fold(false, |any, &byte| any | is_escaped(byte)) {
        out.extend_from_slice(text);
        return;
    }
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| is_escaped(byte)) {
        out.extend_from_slice(&rest[..at]);
        escape(rest[at], out);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Returns the first word of a text, up to the first blank.
pub fn first_word(text: &[u8]) -> &[u8] {
    text.split(|&c| c == b' ').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use fleetblast_oracle::within_a_minute;

    use super::*;

    fn wrap_text(text: &str, html: bool) -> String {
        let mut out = Vec::new();
        wrap(text.as_bytes(), 20, html, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_title_of_megabytes_wraps_in_time_that_grows_with_its_length() {
        // If each line scanned the rest of the title, this would take many minutes.
        let title = "abcd efgh-".repeat(800_000);
        for html in [false, true] {
            let text = title.clone();
            let lines = within_a_minute(move || wrap_text(&text, html));
            assert!(lines.lines().all(|line| line.len() <= 20), "{html}");
            assert_eq!(lines.replace(['\n', ' '], ""), title.replace(' ', ""), "{html}");
        }
    }

    #[test]
    fn text_breaks_at_blanks_then_commas_then_hyphens() {
        assert_eq!(wrap_text("", false), "");
        assert_eq!(wrap_text("twenty columns wide.", false), "twenty columns wide.\n");
        assert_eq!(
            wrap_text("twenty columns wide, and more", false),
            "twenty columns wide,\nand more\n"
        );
        assert_eq!(wrap_text("exactly twenty colum   ns", false), "exactly twenty colum\nns\n");
        assert_eq!(
            wrap_text("one,two,threefourfivesixseven", false),
            "one,two,\nthreefourfivesixseve\nn\n"
        );
        assert_eq!(
            wrap_text("one-two-threefourfivesixseven", false),
            "one-two-\nthreefourfivesixseve\nn\n"
        );
        assert_eq!(
            wrap_text("a.b;c:onetwothreefourfivesixseven", false),
            "a.b;c:onetwothreefou\nrfivesixseven\n"
        );
    }

    #[test]
    fn html_entities_are_one_column_wide() {
        assert_eq!(wrap_text("a &lt;twenty columns wide", true), "a &lt;twenty columns\nwide\n");
    }

    #[test]
    fn titles_break_beyond_sixty() {
        let mut out = Vec::new();
        let title = format!("{} {} {}", "x".repeat(64), "y".repeat(50), "z".repeat(10));
        wrap_title(title.as_bytes(), &mut out);
        let lines: Vec<_> = out.split(|&c| c == b'\n').map(<[u8]>::len).collect();
        assert_eq!(lines, [65, 61]);
    }

    #[test]
    fn escapes() {
        assert_eq!(escape_html(b"<a> & \"b\" 'c'"), b"&lt;a&gt; &amp; &quot;b&quot; 'c'");
        let mut out = Vec::new();
        append_escaped_xml("<a> & \"b\" 'c' \u{e9}\u{1}".as_bytes(), XmlEncoding::Latin1, &mut out)
            .unwrap();
        assert_eq!(out, b"&lt;a&gt; &amp; &quot;b&quot; &apos;c&apos; \xe9#");
        out.clear();
        append_escaped_xml(b"a\0\xff", XmlEncoding::Ascii, &mut out).unwrap();
        assert_eq!(out, b"a");
        assert!(append_escaped_xml(b"\xff", XmlEncoding::Latin1, &mut out).is_err());
        assert!(append_escaped_xml("\u{e9}".as_bytes(), XmlEncoding::Ascii, &mut out).is_err());
        assert!(append_escaped_xml("\u{20ac}".as_bytes(), XmlEncoding::Latin1, &mut out).is_err());
    }
}
