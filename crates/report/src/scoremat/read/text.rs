//! Values as text.

use super::node::{Kind, Label, Node};
use super::{DEEPEST, Malformed};

type Result<T> = std::result::Result<T, Malformed>;

/// Reads the value behind the name of its type; what follows it is not looked at.
pub fn read(bytes: &[u8], type_name: &str) -> Result<Node> {
    let mut text = Text { bytes, at: 0 };
    let start = text.next_at();
    if text.word() != type_name.as_bytes() {
        return text.fail_at(start, format!("{type_name} belongs here"));
    }
    for &byte in b"::=" {
        // No blank between them; one before.
        if byte == b':' && text.bytes.get(text.at) != Some(&b':') {
            text.next_at();
        }
        text.expect(byte)?;
    }
    text.value(0)
}

struct Text<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Text<'_> {
    fn fail_at<T>(&self, at: usize, problem: impl Into<String>) -> Result<T> {
        Err(Malformed { at, problem: problem.into() })
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.peek() != Some(byte) {
            return self.unexpected(&format!("'{}'", byte as char));
        }
        self.at += 1;
        Ok(())
    }

    fn unexpected<T>(&self, wanted: &str) -> Result<T> {
        let problem = match self.peek() {
            Some(_) => format!("{wanted} belongs here"),
            None => format!("the file ends where {wanted} belongs"),
        };
        self.fail_at(self.at, problem)
    }

    /// Passes over blanks and comments, from two hyphens to two others or to the end of the line; tells where it is then.
    fn next_at(&mut self) -> usize {
        loop {
            match self.bytes[self.at..] {
                [byte, ..] if byte.is_ascii_whitespace() => self.at += 1,
                [b'-', b'-', ..] => {
                    self.at += 2;
                    let rest = &self.bytes[self.at..];
                    let line = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                    let end = rest[..line].windows(2).position(|pair| pair == b"--");
                    self.at += end.map_or(line, |end| end + 2);
                }
                _ => return self.at,
            }
        }
    }

    /// Letters, digits and single hyphens; none if there is something else.
    fn word(&mut self) -> &[u8] {
        let start = self.at;
        while let Some(&byte) = self.bytes.get(self.at) {
            let ends_here = byte == b'-' && self.bytes.get(self.at + 1) == Some(&b'-');
            if ends_here || !(byte.is_ascii_alphanumeric() || byte == b'-') {
                break;
            }
            self.at += 1;
        }
        &self.bytes[start..self.at]
    }

    fn value(&mut self, depth: usize) -> Result<Node> {
        let at = self.next_at();
        if depth > DEEPEST {
            return self.fail_at(at, "values within values within values");
        }
        let kind = match self.peek() {
            Some(b'{') => Kind::Block(self.block(depth)?),
            Some(b'"') => Kind::Text(self.text()?),
            Some(b'\'') => Kind::Bytes(self.hexadecimal()?),
            Some(b'-' | b'+' | b'0'..=b'9') => Kind::Integer(self.integer()?),
            Some(byte) if byte.is_ascii_alphabetic() => {
                let word = String::from_utf8_lossy(self.word()).into_owned();
                self.next_at();
                match self.peek() {
                    None | Some(b',' | b'}') => Kind::Word(word),
                    Some(_) => Kind::Labelled(Label::Name(word), Box::new(self.value(depth + 1)?)),
                }
            }
            _ => return self.unexpected("a value"),
        };
        Ok(Node { at, kind })
    }

    fn block(&mut self, depth: usize) -> Result<Vec<Node>> {
        self.at += 1;
        let mut nodes = Vec::new();
        self.next_at();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(nodes);
        }
        loop {
            nodes.push(self.value(depth + 1)?);
            self.next_at();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(nodes);
                }
                _ => return self.unexpected("',' or '}'"),
            }
        }
    }

    /// A text in quotes, whose lines are one.
    fn text(&mut self) -> Result<Vec<u8>> {
        let start = self.at;
        self.at += 1;
        let mut text = Vec::new();
        loop {
            match self.bytes[self.at..] {
                [b'"', b'"', ..] => {
                    text.push(b'"');
                    self.at += 1;
                }
                [b'"', ..] => {
                    self.at += 1;
                    return Ok(text);
                }
                [b'\r' | b'\n', ..] => {}
                [byte @ b' '..=b'~', ..] => text.push(byte),
                [_, ..] => return self.fail_at(self.at, "a byte that is no visible character"),
                [] => return self.fail_at(start, "a text without its second quote"),
            }
            self.at += 1;
        }
    }

    /// Bytes in apostrophes.
    fn hexadecimal(&mut self) -> Result<Vec<u8>> {
        let start = self.at;
        self.at += 1;
        let mut digits = Vec::new();
        loop {
            match self.peek() {
                Some(b'\'') => break,
                Some(byte) if byte.is_ascii_whitespace() => {}
                Some(byte) => match (byte as char).to_digit(16) {
                    Some(digit) => digits.push(digit as u8),
                    None => return self.fail_at(self.at, "a hexadecimal digit belongs here"),
                },
                None => return self.fail_at(start, "bytes without their second apostrophe"),
            }
            self.at += 1;
        }
        self.at += 1;
        self.expect(b'H')?;
        match digits.as_chunks::<2>() {
            (pairs, []) => Ok(pairs.iter().map(|[high, low]| high << 4 | low).collect()),
            _ => self.fail_at(start, "half a byte"),
        }
    }

    fn integer(&mut self) -> Result<i64> {
        let start = self.at;
        self.at += 1;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        let text = String::from_utf8_lossy(&self.bytes[start..self.at]);
        text.parse()
            .or_else(|_| self.fail_at(start, "a whole number of at most 18 digits belongs here"))
    }
}
