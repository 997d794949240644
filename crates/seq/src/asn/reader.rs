//! Reads the values of a file one after the other.

use std::io::Read;

use super::binary::End;
use super::cursor::{Cursor, Result as Parsed, Stop};
use super::node::{Item, Node, index_of_name, index_of_number};
use super::{AsnError, Malformed, Place};

type Result<T> = std::result::Result<T, AsnError>;

/// Number of bytes to read at a time.
const WINDOW: usize = 256 * 1024;

/// The encoding of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Text,
    Binary,
}

/// Reader of ASN.1 files, text or binary (BER).
///
/// Only a part of the file is in memory: at least the value that the caller reads. For a value that
/// is too long for memory, call [`open`](AsnReader::open) and read it element by element.
///
/// # Errors
/// All functions fail if the file cannot be read, or if something else is at the current position.
pub struct AsnReader<'a> {
    input: Box<dyn Read + 'a>,
    encoding: Encoding,
    /// Consecutive bytes of the file.
    window: Vec<u8>,
    /// Offset in the file of the first byte of `window`.
    base: u64,
    /// Index in `window` of the next byte.
    at: usize,
    /// Whether the file ends after `window`.
    is_last: bool,
    /// Number of lines that end before `window`.
    lines: u64,
    /// The last value.
    items: Vec<Item>,
    /// Ends of the opened blocks and fields of a binary file.
    ends: Vec<End>,
}

impl<'a> AsnReader<'a> {
    /// Creates a reader at the start of a text file.
    pub fn text(input: impl Read + 'a) -> Self {
        Self::new(input, Encoding::Text)
    }

    /// Creates a reader at the start of a binary file.
    pub fn binary(input: impl Read + 'a) -> Self {
        Self::new(input, Encoding::Binary)
    }

    fn new(input: impl Read + 'a, encoding: Encoding) -> Self {
        Self {
            input: Box::new(input),
            encoding,
            window: Vec::new(),
            base: 0,
            at: 0,
            is_last: false,
            lines: 0,
            items: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Returns whether another object follows.
    pub fn more(&mut self) -> Result<bool> {
        match self.encoding {
            Encoding::Text => self.parse(|cursor, _| Ok(cursor.next()?.is_some())),
            Encoding::Binary => self.parse(|cursor, _| Ok(cursor.peek()?.is_some())),
        }
    }

    /// Skips the type name before an object, which binary files do not have.
    pub fn header(&mut self, name: &str) -> Result<()> {
        match self.encoding {
            Encoding::Text => self.parse(|cursor, _| cursor.text_header(name)),
            Encoding::Binary => Ok(()),
        }
    }

    /// Starts to read a value that consists of fields or elements.
    pub fn open(&mut self) -> Result<()> {
        match self.encoding {
            Encoding::Text => self.parse(|cursor, _| cursor.next_byte(b'{')),
            Encoding::Binary => {
                let end = self.parse(|cursor, _| cursor.block_start())?;
                self.ends.push(end);
                Ok(())
            }
        }
    }

    /// Ends the value that [`open`](Self::open) started.
    pub fn close(&mut self) -> Result<()> {
        match self.encoding {
            Encoding::Text => self.parse(|cursor, _| cursor.next_byte(b'}')),
            Encoding::Binary => self.close_end(),
        }
    }

    fn close_end(&mut self) -> Result<()> {
        match self.ends.pop() {
            Some(end) => self.parse(|cursor, _| cursor.read_end(end)),
            None => Ok(()),
        }
    }

    /// Starts the next field of an opened value; `None` at its end. Returns the index of the field
    /// in `names`, which is at least `from`. The caller must read the value of the field next.
    pub fn open_field(&mut self, names: &[&str], from: usize) -> Result<Option<usize>> {
        if self.encoding == Encoding::Text {
            return self.parse(|cursor, _| {
                let Some(name) = cursor.field_name()? else { return Ok(None) };
                match index_of_name(&cursor.bytes[name.range()], names, from) {
                    Ok(place) => Ok(Some(place)),
                    Err(problem) => cursor.fail(name.start, problem),
                }
            });
        }
        let block = self.ends.last().copied();
        let field = self.parse(|cursor, _| {
            if block.map_or(Ok(false), |end| cursor.is_at_end(end))? {
                return Ok(None);
            }
            let start = cursor.at;
            let (number, end) = cursor.field_start()?;
            match index_of_number(number.into(), names, from) {
                Ok(place) => Ok(Some((place, end))),
                Err(problem) => cursor.fail(start, problem),
            }
        })?;
        self.ends.extend(field.map(|(_, end)| end));
        Ok(field.map(|(place, _)| place))
    }

    /// Ends the field that [`open_field`](Self::open_field) started.
    pub fn close_field(&mut self) -> Result<()> {
        match self.encoding {
            Encoding::Text => self.parse(|cursor, _| cursor.separator().map(|_| ())),
            Encoding::Binary => self.close_end(),
        }
    }

    /// Reads the next element of an opened value; `None` at its end.
    pub fn element(&mut self) -> Result<Option<Node<'_>>> {
        let found = match self.encoding {
            Encoding::Text => self.parse(|cursor, items| {
                if cursor.next()? == Some(b'}') {
                    return Ok(false);
                }
                cursor.text_value(items, 0)?;
                cursor.separator()?;
                Ok(true)
            }),
            Encoding::Binary => {
                let block = self.ends.last().copied();
                self.parse(|cursor, items| {
                    if block.map_or(Ok(false), |end| cursor.is_at_end(end))? {
                        return Ok(false);
                    }
                    cursor.binary_value(items, 0)?;
                    Ok(true)
                })
            }
        }?;
        Ok(found.then(|| self.node()))
    }

    /// Reads a list. Calls `each` with every element.
    pub fn for_each_element(
        &mut self,
        mut each: impl FnMut(Node<'_>) -> std::result::Result<(), Malformed>,
    ) -> Result<()> {
        self.open()?;
        while let Some(element) = self.element()? {
            each(element)?;
        }
        self.close()
    }

    /// Reads a whole value.
    pub fn value(&mut self) -> Result<Node<'_>> {
        match self.encoding {
            Encoding::Text => self.parse(|cursor, items| cursor.text_value(items, 0)),
            Encoding::Binary => self.parse(|cursor, items| cursor.binary_value(items, 0)),
        }?;
        Ok(self.node())
    }

    fn node(&self) -> Node<'_> {
        Node { items: &self.items, bytes: &self.window, base: self.base }
    }

    /// Returns an error at the current position.
    ///
    /// # Errors
    /// Always an error with this problem.
    pub fn fail<T>(&self, problem: impl Into<String>) -> Result<T> {
        Err(Malformed { at: self.base + self.at as u64, problem: problem.into() }.into())
    }

    /// Returns the position of the reader.
    pub fn place(&self) -> Place {
        match self.encoding {
            Encoding::Text => Place::Line(1 + self.lines + line_count(&self.window[..self.at])),
            Encoding::Binary => Place::Byte(self.base + self.at as u64),
        }
    }

    /// Parses the item at the current position with `parse`. If it extends beyond the bytes in
    /// memory, reads more of the file and parses again.
    fn parse<T>(
        &mut self,
        parse: impl Fn(&mut Cursor<'_>, &mut Vec<Item>) -> Parsed<T>,
    ) -> Result<T> {
        loop {
            self.items.clear();
            let (bytes, is_last, base) = (&self.window[..], self.is_last, self.base);
            let mut cursor = Cursor { bytes, at: self.at, is_last, base };
            let parsed = parse(&mut cursor, &mut self.items);
            let at = cursor.at;
            match parsed {
                Err(Stop::Incomplete) => self.read_more()?,
                Err(Stop::Malformed(malformed)) => {
                    self.at = at.min(self.window.len());
                    return Err(malformed.into());
                }
                Ok(value) => {
                    self.at = at;
                    return Ok(value);
                }
            }
        }
    }

    /// Drops the bytes before the current position, and reads more. A long value needs few calls,
    /// because each one doubles the bytes in memory.
    fn read_more(&mut self) -> Result<()> {
        if self.encoding == Encoding::Text {
            self.lines += line_count(&self.window[..self.at]);
        }
        self.base += self.at as u64;
        self.window.drain(..self.at);
        self.at = 0;
        let count = self.window.len().max(WINDOW) as u64;
        let got = self.input.by_ref().take(count).read_to_end(&mut self.window)?;
        self.is_last = (got as u64) < count;
        Ok(())
    }
}

fn line_count(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
