//! Values in BER, with the tags that the toolkit writes: fields and choices have explicit tags by their numbers.

use super::node::{Kind, Label, Node};
use super::{DEEPEST, Malformed};

type Result<T> = std::result::Result<T, Malformed>;

const BOOLEAN: u8 = 0x01;
const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const NULL: u8 = 0x05;
const REAL: u8 = 0x09;
const ENUMERATED: u8 = 0x0a;
const UTF8_STRING: u8 = 0x0c;
const VISIBLE_STRING: u8 = 0x1a;
/// `SEQUENCE` and `SET`, each of fields or of values.
const BLOCKS: [u8; 2] = [0x30, 0x31];
/// `StringStore`, a text of the toolkit's own.
const STRING_STORE: u8 = 0x41;
/// An explicit tag with a number below [`MANY`].
const LABEL: u8 = 0xa0;
/// The number that stands for numbers in bytes of their own.
const MANY: u8 = 0x1f;
/// Bits of the first byte of a real number, none of which is there if it is told in decimal digits.
const NOT_DECIMAL: u8 = 0xc0;

/// Reads a value; what follows it is not looked at.
pub fn read(bytes: &[u8]) -> Result<Node> {
    Binary { bytes, at: 0 }.value(0)
}

struct Binary<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Binary<'a> {
    fn fail_at<T>(&self, at: usize, problem: &str) -> Result<T> {
        Err(Malformed { at, problem: problem.to_owned() })
    }

    fn byte(&mut self) -> Result<u8> {
        let Some(&byte) = self.bytes.get(self.at) else {
            return self.fail_at(self.at, "the file ends amid a value");
        };
        self.at += 1;
        Ok(byte)
    }

    /// A length; `None` if the end is told when it is there.
    fn length(&mut self) -> Result<Option<usize>> {
        let start = self.at;
        let length = match self.byte()? {
            0x80 => return Ok(None),
            byte @ ..0x80 => usize::from(byte),
            byte @ ..0x85 => {
                let mut length = 0;
                for _ in 0..byte & 0x7f {
                    length = length << 8 | usize::from(self.byte()?);
                }
                length
            }
            _ => return self.fail_at(start, "a length too large"),
        };
        match length <= self.bytes.len() - self.at {
            true => Ok(Some(length)),
            false => self.fail_at(start, "a length beyond the end of the file"),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node> {
        let at = self.at;
        if depth > DEEPEST {
            return self.fail_at(at, "values within values within values");
        }
        let tag = self.byte()?;
        let kind = if BLOCKS.contains(&tag) {
            Kind::Block(self.values(depth)?)
        } else if tag & 0xe0 == LABEL && tag & MANY != MANY {
            let mut values = self.values(depth)?;
            let (Some(value), true) = (values.pop(), values.is_empty()) else {
                return self.fail_at(at, "a label is of one value");
            };
            Kind::Labelled(Label::Number(usize::from(tag & MANY)), Box::new(value))
        } else {
            let Some(length) = self.length()? else {
                return self.fail_at(at, "a value without length");
            };
            let contents = &self.bytes[self.at..self.at + length];
            self.at += length;
            self.primitive(at, tag, contents)?
        };
        Ok(Node { at, kind })
    }

    /// The values of a block or of a label.
    fn values(&mut self, depth: usize) -> Result<Vec<Node>> {
        let end = self.length()?.map(|length| self.at + length);
        let mut values = Vec::new();
        loop {
            match end {
                Some(end) if self.at == end => return Ok(values),
                Some(end) if self.at > end => {
                    return self.fail_at(self.at, "a value beyond the end of its block");
                }
                None if self.bytes[self.at..].starts_with(&[0, 0]) => {
                    self.at += 2;
                    return Ok(values);
                }
                _ => values.push(self.value(depth + 1)?),
            }
        }
    }

    fn primitive(&self, at: usize, tag: u8, contents: &'a [u8]) -> Result<Kind> {
        Ok(match (tag, contents) {
            (BOOLEAN, [byte]) => Kind::Word(if *byte == 0 { "FALSE" } else { "TRUE" }.to_owned()),
            (NULL, []) => Kind::Word("NULL".to_owned()),
            (INTEGER | ENUMERATED, [first, rest @ ..]) if rest.len() < 8 => {
                let first = i64::from(first.cast_signed());
                Kind::Integer(rest.iter().fold(first, |n, &byte| n << 8 | i64::from(byte)))
            }
            (OCTETS, _) => Kind::Bytes(contents.to_vec()),
            (VISIBLE_STRING | UTF8_STRING | STRING_STORE, _) => {
                if !contents.iter().all(|byte| matches!(byte, b' '..=b'~')) {
                    return self.fail_at(at, "a text with a byte that is no visible character");
                }
                Kind::Text(contents.to_vec())
            }
            (REAL, []) => Kind::Real(0.0),
            (REAL, [kind, digits @ ..]) if kind & NOT_DECIMAL == 0 => {
                let number = str::from_utf8(digits).ok().and_then(|text| text.trim().parse().ok());
                match number {
                    Some(number) if f64::is_finite(number) => Kind::Real(number),
                    _ => return self.fail_at(at, "a real number that is none"),
                }
            }
            _ => return self.fail_at(at, "a value of a kind that does not belong here"),
        })
    }
}
