//! Reads values in BER with the tags that NCBI's toolkit writes: fields and choices have explicit
//! tags with their numbers.

use super::DEEPEST;
use super::ber::{Length, integer, length, tag};
use super::cursor::{Cursor, Result};
use super::node::{Item, Kind, Span};

/// Tags of values that contain fields or elements: `SEQUENCE` and `SET`.
const BLOCKS: [u8; 2] = [tag::SEQUENCE, tag::SET];
/// Maximal length of an element in bytes: files of the toolkit have 32-bit lengths.
const MAX_LENGTH: u64 = u32::MAX as u64;
/// Bits of the first byte of a real number. They are all 0 if decimal digits follow.
const NOT_DECIMAL: u8 = 0xc0;

const MISPLACED: &str = "a value of a kind that does not belong here";

/// The end of a block or of a label in BER.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// Offset of the end in the file (definite length).
    Offset(u64),
    /// Two zero bytes mark the end (indefinite length).
    Mark,
}

impl Cursor<'_> {
    fn byte(&mut self) -> Result<u8> {
        match self.peek()? {
            Some(byte) => {
                self.at += 1;
                Ok(byte)
            }
            None => self.fail(self.at, "the file ends amid a value"),
        }
    }

    /// Reads a length; `None` if it is indefinite. Then an end mark follows the value.
    fn length(&mut self) -> Result<Option<u64>> {
        let start = self.at;
        match length(|| self.byte())? {
            Length::Indefinite => Ok(None),
            Length::Definite(length) if length <= MAX_LENGTH => Ok(Some(length)),
            Length::Definite(_) | Length::TooLarge => self.fail(start, "a length too large"),
        }
    }

    fn end_after_length(&mut self) -> Result<End> {
        let length = self.length()?;
        Ok(length.map_or(End::Mark, |length| End::Offset(self.base + self.at as u64 + length)))
    }

    /// Returns whether the current position is at the end `end` of a block or of a label.
    pub fn is_at_end(&self, end: End) -> Result<bool> {
        let at = self.base + self.at as u64;
        match end {
            End::Offset(end) if at > end => {
                self.fail(self.at, "a value beyond the end of its block")
            }
            End::Offset(end) => Ok(at == end),
            // No value has the tag 0, so this is the end mark.
            End::Mark => Ok(self.peek()? == Some(0)),
        }
    }

    /// Reads the end of a block or of a label: two zero bytes if a mark ends it, else nothing.
    /// Fails if the current position is elsewhere.
    pub fn read_end(&mut self, end: End) -> Result<()> {
        const PROBLEM: &str = "a value where another one ends";
        if !self.is_at_end(end)? {
            return self.fail(self.at, PROBLEM);
        }
        let End::Mark = end else { return Ok(()) };
        self.at += 1;
        match self.byte()? {
            0 => Ok(()),
            _ => self.fail(self.at - 1, PROBLEM),
        }
    }

    /// Reads the start of a block.
    pub fn block_start(&mut self) -> Result<End> {
        let start = self.at;
        match BLOCKS.contains(&self.byte()?) {
            true => self.end_after_length(),
            false => self.fail(start, "not a SEQUENCE where one should be"),
        }
    }

    /// Reads the start of a field. Returns the number of the field and its end.
    pub fn field_start(&mut self) -> Result<(u8, End)> {
        let start = self.at;
        match tag::field_number(self.byte()?) {
            Some(number) => Ok((number, self.end_after_length()?)),
            None => self.fail(start, MISPLACED),
        }
    }

    /// Reads a value, and appends it to `items`.
    pub fn binary_value(&mut self, items: &mut Vec<Item>, depth: usize) -> Result<()> {
        let (at, index) = (self.at, items.len());
        if depth > DEEPEST {
            return self.fail(at, "values within values within values");
        }
        let tag = self.byte()?;
        let mut push = |kind| items.push(Item { at, size: 1, kind });
        if BLOCKS.contains(&tag) {
            push(Kind::Block);
            self.values(items, depth)?;
        } else if let Some(number) = tag::field_number(tag) {
            push(Kind::Number(number.into()));
            if self.values(items, depth)? != 1 {
                return self.fail(at, "a label is of one value");
            }
        } else {
            let start = self.at;
            let Some(length) = self.length()? else {
                return self.fail(at, "a value without length");
            };
            let span = Span { start: self.at, end: self.at + length as usize };
            if span.end > self.bytes.len() {
                return self.interruption_error(start, "a length beyond the end of the file");
            }
            self.at = span.end;
            push(self.primitive(at, tag, span)?);
        }
        items[index].size = items.len() - index;
        Ok(())
    }

    /// Reads the values of a block or of a label, after its tag. Returns their number.
    fn values(&mut self, items: &mut Vec<Item>, depth: usize) -> Result<usize> {
        let end = self.end_after_length()?;
        let mut count = 0;
        while !self.is_at_end(end)? {
            self.binary_value(items, depth + 1)?;
            count += 1;
        }
        self.read_end(end)?;
        Ok(count)
    }

    fn primitive(&self, at: usize, tag: u8, span: Span) -> Result<Kind> {
        Ok(match (tag, &self.bytes[span.range()]) {
            (tag::BOOLEAN, [byte]) => Kind::Boolean(*byte != 0),
            (tag::NULL, []) => Kind::Null,
            (tag::INTEGER | tag::ENUMERATED, contents) => match integer(contents) {
                Some(value) => Kind::Integer(value),
                None => return self.fail(at, MISPLACED),
            },
            (tag::OCTETS, _) => Kind::Bytes(span),
            (tag::VISIBLE_STRING | tag::UTF8_STRING | tag::STRING_STORE, _) => Kind::Text(span),
            (tag::REAL, []) => Kind::Real(0.0),
            (tag::REAL, [kind, digits @ ..]) if kind & NOT_DECIMAL == 0 => {
                let number = str::from_utf8(digits).ok().and_then(|text| text.trim().parse().ok());
                match number {
                    Some(number) if f64::is_finite(number) => Kind::Real(number),
                    _ => return self.fail(at, "a real number that is none"),
                }
            }
            _ => return self.fail(at, MISPLACED),
        })
    }
}
