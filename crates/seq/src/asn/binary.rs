//! Reads values in BER with the tags that NCBI's toolkit writes: fields and choices have explicit
//! tags with their numbers.

use std::io::{BufRead, Read};

use super::ber::{INDEFINITE, Length, integer, length, tag};
use super::node::{AsnValue, Label, Node};
use super::{AsnError, AsnReader, DEEPEST, LONGEST, Place};

type Result<T> = std::result::Result<T, AsnError>;

/// Tags of values that contain fields or elements: `SEQUENCE` and `SET`.
const BLOCKS: [u8; 2] = [tag::SEQUENCE, tag::SET];
/// Maximal length of an element in bytes: files of the toolkit have 32-bit lengths.
const MAX_LENGTH: u64 = u32::MAX as u64;
/// Bits of the first byte of a real number. They are all 0 if decimal digits follow.
const NOT_DECIMAL: u8 = 0xc0;

/// Reader of binary ASN.1 (BER).
pub struct AsnBinaryReader<R> {
    input: R,
    at: u64,
}

impl<R: BufRead> AsnBinaryReader<R> {
    /// Makes a reader at the start of a file.
    pub fn new(input: R) -> Self {
        Self { input, at: 0 }
    }

    /// Returns the next byte without consuming it.
    fn peek(&mut self) -> Result<Option<u8>> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    fn byte(&mut self) -> Result<u8> {
        let Some(byte) = self.peek()? else {
            return AsnError::malformed(self.at, "the file ends amid a value");
        };
        self.input.consume(1);
        self.at += 1;
        Ok(byte)
    }

    fn expect(&mut self, wanted: u8, problem: &str) -> Result<()> {
        let at = self.at;
        if self.byte()? == wanted { Ok(()) } else { AsnError::malformed(at, problem) }
    }

    /// Reads the end mark of a value of indefinite length.
    fn end(&mut self) -> Result<()> {
        let problem = "a value where another one ends";
        self.expect(0, problem)?;
        self.expect(0, problem)
    }

    /// Reads a length; `None` if it is indefinite. Then an end mark follows the value.
    fn length(&mut self) -> Result<Option<u64>> {
        let start = self.at;
        match length(|| self.byte())? {
            Length::Indefinite => Ok(None),
            Length::Definite(length) if length <= MAX_LENGTH => Ok(Some(length)),
            Length::Definite(_) | Length::TooLarge => {
                AsnError::malformed(start, "a length too large")
            }
        }
    }

    /// Reads the `length` bytes of a value. `start` is the position for errors.
    fn contents(&mut self, start: u64, length: u64) -> Result<Vec<u8>> {
        if length > LONGEST {
            return AsnError::malformed(start, "a length too large");
        }
        let mut bytes = Vec::new();
        let got = self.input.by_ref().take(length).read_to_end(&mut bytes)? as u64;
        self.at += got;
        match got == length {
            true => Ok(bytes),
            false => AsnError::malformed(start, "a length beyond the end of the file"),
        }
    }

    fn nested(&mut self, depth: usize) -> Result<Node> {
        let at = self.at;
        if depth > DEEPEST {
            return AsnError::malformed(at, "values within values within values");
        }
        let tag = self.byte()?;
        let kind = if BLOCKS.contains(&tag) {
            AsnValue::Block(self.values(depth)?)
        } else if let Some(number) = tag::field_number(tag) {
            let mut values = self.values(depth)?;
            let (Some(value), true) = (values.pop(), values.is_empty()) else {
                return AsnError::malformed(at, "a label is of one value");
            };
            AsnValue::Labelled(Label::Number(number.into()), Box::new(value))
        } else {
            let start = self.at;
            let Some(length) = self.length()? else {
                return AsnError::malformed(at, "a value without length");
            };
            let contents = self.contents(start, length)?;
            primitive(at, tag, contents)?
        };
        Ok(Node { at, kind })
    }

    /// Reads the values of a block or of a label, after its tag.
    fn values(&mut self, depth: usize) -> Result<Vec<Node>> {
        let end = self.length()?.map(|length| self.at + length);
        let mut values = Vec::new();
        loop {
            match end {
                Some(end) if self.at == end => return Ok(values),
                Some(end) if self.at > end => {
                    return AsnError::malformed(self.at, "a value beyond the end of its block");
                }
                // No value has the tag 0, so this is the end mark.
                None if self.peek()? == Some(0) => {
                    self.end()?;
                    return Ok(values);
                }
                _ => values.push(self.nested(depth + 1)?),
            }
        }
    }

    /// Reads the tag and the indefinite length of a value.
    fn start(&mut self, tag: u8, problem: &str) -> Result<()> {
        self.expect(tag, problem)?;
        self.expect(INDEFINITE, "a value with a length where one with an end mark belongs")
    }
}

const MISPLACED: &str = "a value of a kind that does not belong here";

fn primitive(at: u64, tag: u8, contents: Vec<u8>) -> Result<AsnValue> {
    Ok(match (tag, contents.as_slice()) {
        (tag::BOOLEAN, [byte]) => {
            AsnValue::Word(if *byte == 0 { "FALSE" } else { "TRUE" }.to_owned())
        }
        (tag::NULL, []) => AsnValue::Word("NULL".to_owned()),
        (tag::INTEGER | tag::ENUMERATED, contents) => match integer(contents) {
            Some(value) => AsnValue::Integer(value),
            None => return AsnError::malformed(at, MISPLACED),
        },
        (tag::OCTETS, _) => AsnValue::Bytes(contents),
        (tag::VISIBLE_STRING | tag::UTF8_STRING | tag::STRING_STORE, _) => AsnValue::Text(contents),
        (tag::REAL, []) => AsnValue::Real(0.0),
        (tag::REAL, [kind, digits @ ..]) if kind & NOT_DECIMAL == 0 => {
            let number = str::from_utf8(digits).ok().and_then(|text| text.trim().parse().ok());
            match number {
                Some(number) if f64::is_finite(number) => AsnValue::Real(number),
                _ => return AsnError::malformed(at, "a real number that is none"),
            }
        }
        _ => return AsnError::malformed(at, MISPLACED),
    })
}

impl<R: BufRead> AsnReader for AsnBinaryReader<R> {
    fn more(&mut self) -> Result<bool> {
        Ok(self.peek()?.is_some())
    }

    fn header(&mut self, _: &str) -> Result<()> {
        Ok(())
    }

    fn open(&mut self) -> Result<()> {
        self.start(tag::SEQUENCE, "not a SEQUENCE where one should be")
    }

    fn close(&mut self) -> Result<()> {
        self.end()
    }

    fn open_field(&mut self, name: &str, number: u8) -> Result<()> {
        self.start(tag::field(number), &format!("'{name}' belongs here"))
    }

    fn close_field(&mut self, _: bool) -> Result<()> {
        self.end()
    }

    fn element(&mut self) -> Result<Option<Node>> {
        if self.peek()? == Some(0) { Ok(None) } else { self.nested(0).map(Some) }
    }

    fn value(&mut self) -> Result<Node> {
        self.nested(0)
    }

    fn place(&self) -> Place {
        Place::Byte(self.at)
    }
}
