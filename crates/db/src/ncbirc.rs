//! Parses NCBI's configuration files, as `IRWRegistry::x_Read` (ncbireg.cpp) does.
//!
//! An entry is `name = value` in a `[section]`. Lines that start with `;` or `#` are comments. A
//! backslash at the end of a value continues the value on the next line. A value may have escapes
//! as in C, and double quotes around it. Reading ends at the first line that breaks these rules,
//! but the entries before this line are used.

use std::borrow::Cow;
use std::fmt;

use fleetblast_seq::convert::trim_spaces;

/// Entries of a configuration file, and the error that stopped the parser.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ConfigFile {
    entries: Vec<Entry>,
    /// The invalid line at which the parser stopped, if there is one.
    pub(crate) invalid_line: Option<InvalidLine>,
}

#[derive(Debug, PartialEq)]
struct Entry {
    section: Vec<u8>,
    name: Vec<u8>,
    value: Vec<u8>,
}

/// An invalid line in a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InvalidLine {
    /// Number of the line, counted from 1.
    line: usize,
    what: &'static str,
}

impl fmt::Display for InvalidLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl ConfigFile {
    /// Parses a file. It may have a byte order mark and be UTF-16.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let text = without_byte_order_mark(bytes);
        let mut file = Self::default();
        let mut lines = Lines { rest: &text, number: 0 };
        let mut section = Vec::new();
        while let Some(line) = lines.next() {
            let number = lines.number;
            let trimmed = trim_spaces(line);
            let result = match trimmed.first() {
                None | Some(b';' | b'#') => Ok(()),
                Some(b'[') => section_name(trimmed).map(|name| section = name.to_vec()),
                Some(_) => entry(line, &mut lines).map(|(name, value)| {
                    let section = section.clone();
                    file.entries.push(Entry { section, name: name.to_vec(), value });
                }),
            };
            if let Err(what) = result {
                file.invalid_line = Some(InvalidLine { line: number, what });
                break;
            }
        }
        file
    }

    /// Returns whether the file has an entry in `[section]`. Ignores the case.
    pub(crate) fn has_section(&self, section: &str) -> bool {
        let is_in = |entry: &Entry| entry.section.eq_ignore_ascii_case(section.as_bytes());
        self.entries.iter().any(is_in)
    }

    /// Returns the value of `name` in `[section]`. Ignores the case of both. The last entry counts.
    pub(crate) fn value(&self, section: &str, name: &str) -> Option<&[u8]> {
        let is_it = |entry: &&Entry| {
            entry.section.eq_ignore_ascii_case(section.as_bytes())
                && entry.name.eq_ignore_ascii_case(name.as_bytes())
        };
        self.entries.iter().rev().find(is_it).map(|entry| &entry.value[..])
    }
}

/// Removes a byte order mark, and converts UTF-16 to UTF-8. Each half of a surrogate pair becomes a
/// character of its own, as in BLAST+.
fn without_byte_order_mark(bytes: &[u8]) -> Cow<'_, [u8]> {
    if let Some(text) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return Cow::Borrowed(text);
    }
    let (units, unit): (_, fn([u8; 2]) -> u16) = match bytes {
        [0xff, 0xfe, rest @ ..] => (rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => (rest, u16::from_be_bytes),
        _ => return Cow::Borrowed(bytes),
    };
    let mut text = Vec::with_capacity(bytes.len());
    for pair in units.chunks_exact(2) {
        let unit = unit([pair[0], pair[1]]);
        let [high, low] = [unit >> 6, unit & 0x3f].map(|bits| bits as u8);
        match unit {
            0..0x80 => text.push(unit as u8),
            0x80..0x800 => text.extend([0xc0 | high, 0x80 | low]),
            _ => text.extend([0xe0 | (unit >> 12) as u8, 0x80 | high & 0x3f, 0x80 | low]),
        }
    }
    Cow::Owned(text)
}

struct Lines<'a> {
    rest: &'a [u8],
    /// Number of the line that was returned last, counted from 1.
    number: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let end = self.rest.iter().position(|&byte| byte == b'\n').unwrap_or(self.rest.len());
        let line = &self.rest[..end];
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// Parses the name in a line that begins with an opening bracket.
fn section_name(line: &[u8]) -> Result<&[u8], &'static str> {
    // A closing bracket right after the opening one does not end the name; the name is then
    // invalid.
    let end = line.iter().skip(2).position(|&byte| byte == b']');
    let name = trim_spaces(&line[1..2 + end.ok_or("the name of the section lacks its ']'")?]);
    match is_name(name) {
        true => Ok(name),
        false => Err("the section has no valid name"),
    }
}

/// Parses name and value from a line and from the lines that continue it.
fn entry<'a>(line: &'a [u8], lines: &mut Lines) -> Result<(&'a [u8], Vec<u8>), &'static str> {
    let equals = line.iter().position(|&byte| byte == b'=');
    let equals = equals.ok_or("it is neither a section nor NAME=VALUE")?;
    let name = trim_spaces(&line[..equals]);
    if !is_name(name) {
        return Err("the entry has no valid name");
    }
    let mut value = trim_spaces(&line[equals + 1..]).to_vec();
    while is_escaped(&value, value.len())
        && let Some(next) = lines.next()
    {
        value.pop();
        value.push(b'\n');
        value.extend_from_slice(trim_spaces(next));
    }
    Ok((name, unescape(unquote(&value)?)?))
}

/// Returns whether an odd number of backslashes ends right before offset `end`.
fn is_escaped(value: &[u8], end: usize) -> bool {
    value[..end].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

/// Removes all double quotes at the start of a value and one at its end; both may be missing.
fn unquote(value: &[u8]) -> Result<&[u8], &'static str> {
    let (mut begin, mut end) = (0, value.len());
    for position in 0..value.len() {
        if position >= end || value[position] != b'"' || is_escaped(value, position) {
            continue;
        }
        if position == begin {
            begin += 1;
        } else if position == end - 1 {
            end -= 1;
        } else {
            return Err("the value has a quote in its middle");
        }
    }
    Ok(&value[begin..end])
}

/// Resolves escapes as in C. Their numbers count modulo 256. Octal numbers have up to three digits.
fn unescape(value: &[u8]) -> Result<Vec<u8>, &'static str> {
    const WRONG: &str = "the value has a backslash that escapes nothing";
    let digits = |text: &[u8], most: usize, radix: u32| {
        let is_digit = |&&byte: &&u8| char::from(byte).is_digit(radix);
        let digits = text.iter().take(most).take_while(is_digit);
        digits.fold((0, 0u8), |(count, number), &byte| {
            let digit = char::from(byte).to_digit(radix).unwrap_or_default() as u8;
            (count + 1, number.wrapping_mul(radix as u8).wrapping_add(digit))
        })
    };
    let (mut out, mut rest) = (Vec::with_capacity(value.len()), value);
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let (&escaped, after) = rest.split_first().ok_or(WRONG)?;
        let (taken, byte) = match escaped {
            b'x' => match digits(after, usize::MAX, 16) {
                (0, _) => return Err(WRONG),
                (count, number) => (1 + count, number),
            },
            b'0'..=b'7' => digits(rest, 3, 8),
            b'a' => (1, 7),
            b'b' => (1, 8),
            b't' => (1, b'\t'),
            b'n' => (1, b'\n'),
            b'v' => (1, 11),
            b'f' => (1, 12),
            b'r' => (1, b'\r'),
            other => (1, other),
        };
        out.push(byte);
        rest = &rest[taken..];
    }
    Ok(out)
}

/// Returns whether a section or an entry can have this name.
fn is_name(name: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./".contains(byte);
    !name.is_empty() && name.iter().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blastdb(file: impl AsRef<[u8]>) -> Option<String> {
        let file = ConfigFile::parse(file.as_ref());
        assert_eq!(file.invalid_line, None);
        file.value("BLAST", "BLASTDB").map(|value| String::from_utf8_lossy(value).into_owned())
    }

    /// The expected values are those in the search path of `blastp -db nodb` with this text as
    /// `./.ncbirc`.
    #[test]
    fn values_are_read_as_the_oracle_reads_them() {
        assert_eq!(blastdb("[BLAST]\nBLASTDB=/a\nBLASTDB=/b\n").as_deref(), Some("/b"));
        assert_eq!(blastdb("[blast]\nblastdb = \"/q q\"  \n").as_deref(), Some("/q q"));
        let other = ";c\n[OTHER]\nBLASTDB=/x\n[BLAST]\n  BLASTDB = /y z  \n#\n";
        assert_eq!(blastdb(other).as_deref(), Some("/y z"));
        assert_eq!(blastdb("[BLAST]\nBLASTDB=/a\nBLASTDB=\n").as_deref(), Some(""));
        assert_eq!(blastdb("[BLAST]\nBLASTDB=/a;/b\n").as_deref(), Some("/a;/b"));
        assert_eq!(blastdb("BLASTDB=/a"), None);
        assert_eq!(blastdb("; c\\\n[BLAST] x\nBLASTDB=/a\r\n").as_deref(), Some("/a"));
    }

    fn is_value(value: &str, wanted: &str) {
        let found = blastdb(format!("[BLAST]\nBLASTDB={value}\n"));
        assert_eq!(found.as_deref(), Some(wanted), "{value}");
    }

    #[test]
    fn values_have_quotes_escapes_and_further_lines() {
        for (value, wanted) in [
            ("/a/b\\\n/c", "/a/b\n/c"),
            ("/a\\\n  /b \\  \n\t/c", "/a\n/b \n/c"),
            ("/a\\\\", "/a\\"),
            ("/a\\\\\\\n/b", "/a\\\n/b"),
            ("/a\"", "/a"),
            ("\"/a", "/a"),
            ("\"\"\"/a\"", "/a"),
            ("\"", ""),
            ("\"\"\"\"", ""),
            ("/a\\\"", "/a\""),
            ("\"/a\\\"b\"", "/a\"b"),
            ("/a\\nb\\tc\\qd\\\\e\\ f", "/a\nb\tcqd\\e f"),
            ("/a\\101b\\1011\\x41z\\x4142z\\0", "/aAbA1AzBz\0"),
            ("\\x141g\\501", "AgA"),
        ] {
            is_value(value, wanted);
        }
    }

    #[test]
    fn byte_order_marks_are_obeyed() {
        let text = "[BLAST]\nBLASTDB=/aü€\n";
        let units = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(bytes).collect()
        };
        assert_eq!(blastdb(format!("\u{feff}{text}")).as_deref(), Some("/aü€"));
        assert_eq!(blastdb(units(u16::to_le_bytes)).as_deref(), Some("/aü€"));
        assert_eq!(blastdb(units(u16::to_be_bytes)).as_deref(), Some("/aü€"));
    }

    #[test]
    fn reading_ends_at_the_first_line_that_is_wrong() {
        for wrong in [
            "[OTHER",
            "[]",
            "[ ]",
            "[]]",
            "[B C]",
            "junk",
            "=/x",
            "A B=/x",
            "A=/x\\xg",
            "A=\\",
            "A=/x\"y",
            "A=\"/x\"\"",
        ] {
            let text = format!("[BLAST]\nBLASTDB=/a\n\n{wrong}\n");
            let file = ConfigFile::parse(text.as_bytes());
            assert_eq!(file.invalid_line.map(|fault| fault.line), Some(4), "{wrong}");
            assert_eq!(file.value("BLAST", "BLASTDB"), Some(&b"/a"[..]));
            let text = format!("{wrong}\n[BLAST]\nBLASTDB=/a\n");
            assert_eq!(
                ConfigFile::parse(text.as_bytes()).value("BLAST", "BLASTDB"),
                None,
                "{wrong}"
            );
        }
    }
}
