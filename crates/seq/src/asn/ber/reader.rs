//! Reads BER elements in memory, without copies. The caller requests them in the order of a format.

use super::{Length, integer, length, tag};

/// Error for malformed BER, with its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BerError {
    /// Byte offset from the first byte of the input.
    pub at: usize,
    /// Description of the error.
    pub problem: &'static str,
}

type Result<T> = std::result::Result<T, BerError>;

/// Maximal nesting depth of unknown elements.
const DEEPEST: usize = 32;

/// The end of a constructed element.
#[derive(Clone, Copy)]
enum End {
    /// The element ends at this offset.
    At(usize),
    /// The element ends at the next end-of-contents octets.
    Octets,
}

/// Reader of BER elements, with a current position.
pub struct BerReader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Offset of the first unknown element that was skipped.
    skipped: Option<usize>,
}

impl<'a> BerReader<'a> {
    /// Creates a reader at the start of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, skipped: None }
    }

    /// Returns an error at the current position.
    pub fn fail<T>(&self, problem: &'static str) -> Result<T> {
        Err(BerError { at: self.at, problem })
    }

    fn byte(&mut self) -> Result<u8> {
        match self.bytes.get(self.at) {
            Some(&byte) => {
                self.at += 1;
                Ok(byte)
            }
            None => self.fail("unexpected end"),
        }
    }

    /// Returns the next tag without consuming it; `None` at the end.
    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Reads a length; `None` if it is indefinite. A definite length never exceeds the remaining
    /// bytes.
    fn length(&mut self) -> Result<Option<usize>> {
        let start = self.at;
        let problem = match length(|| self.byte())? {
            Length::Indefinite => return Ok(None),
            Length::Definite(length) => {
                let rest = self.bytes.len() - self.at;
                match usize::try_from(length).ok().filter(|&length| length <= rest) {
                    Some(length) => return Ok(Some(length)),
                    None => "a length beyond the end",
                }
            }
            Length::TooLarge => "a length too large",
        };
        self.at = start;
        self.fail(problem)
    }

    /// Reads a sequence of fields. As in BLAST+, each field may occur once, in ascending order of
    /// tags. In any other order a field could be mistaken for another one.
    pub fn fields(&mut self, mut field: impl FnMut(&mut Self, u8) -> Result<()>) -> Result<()> {
        let mut last = 0;
        self.constructed(tag::SEQUENCE, |reader, tag| {
            if tag <= last {
                return reader.fail("a field out of order");
            }
            last = tag;
            field(reader, tag)
        })
    }

    /// Reads a constructed element with this tag. Calls `item` before each inner element, with its
    /// tag. `item` must read the inner element, including its tag.
    pub fn constructed(
        &mut self,
        tag: u8,
        mut item: impl FnMut(&mut Self, u8) -> Result<()>,
    ) -> Result<()> {
        if self.peek() != Some(tag) {
            return self.fail("an unexpected tag");
        }
        self.at += 1;
        let end = self.length()?.map_or(End::Octets, |length| End::At(self.at + length));
        loop {
            match end {
                End::At(end) if self.at == end => return Ok(()),
                End::At(end) if self.at > end => {
                    return self.fail("an element beyond its container");
                }
                End::Octets if self.peek() == Some(0) => {
                    self.at += 1;
                    return match self.byte()? {
                        0 => Ok(()),
                        _ => {
                            self.at -= 1;
                            self.fail("malformed end-of-contents octets")
                        }
                    };
                }
                _ => {}
            }
            match self.peek() {
                Some(tag) => item(self, tag)?,
                None => return self.fail("unexpected end"),
            }
        }
    }

    /// Reads an element with this tag that contains exactly one inner element, which `value` reads.
    pub fn wrapped<T>(
        &mut self,
        tag: u8,
        mut value: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let mut found = None;
        self.constructed(tag, |reader, _| {
            if found.is_some() {
                return reader.fail("a second value where one is allowed");
            }
            found = Some(value(reader)?);
            Ok(())
        })?;
        match found {
            Some(value) => Ok(value),
            None => self.fail("a missing value"),
        }
    }

    /// Reads the contents of a primitive element.
    fn primitive(&mut self) -> Result<&'a [u8]> {
        self.at += 1;
        match self.length()? {
            Some(length) => {
                let contents = &self.bytes[self.at..self.at + length];
                self.at += length;
                Ok(contents)
            }
            None => self.fail("an indefinite length where none is allowed"),
        }
    }

    /// Reads an INTEGER of at most 8 bytes.
    pub fn integer(&mut self) -> Result<i64> {
        if self.peek() != Some(tag::INTEGER) {
            return self.fail("a missing INTEGER");
        }
        let bytes = self.primitive()?;
        match integer(bytes) {
            Some(value) => Ok(value),
            None if bytes.is_empty() => self.fail("an empty INTEGER"),
            None => self.fail("an INTEGER too large"),
        }
    }

    /// Reads a string.
    pub fn string(&mut self) -> Result<Vec<u8>> {
        match self.peek() {
            Some(tag::VISIBLE_STRING | tag::UTF8_STRING) => Ok(self.primitive()?.to_vec()),
            _ => self.fail("a missing string"),
        }
    }

    /// Skips one element of any type.
    pub fn skip(&mut self) -> Result<()> {
        self.skipped.get_or_insert(self.at);
        self.skip_nested(0)
    }

    fn skip_nested(&mut self, depth: usize) -> Result<()> {
        match self.peek() {
            None => self.fail("unexpected end"),
            Some(tag) if tag & tag::NUMBER_MASK == tag::NUMBER_MASK => {
                self.fail("a tag of several bytes")
            }
            Some(_) if depth == DEEPEST => self.fail("elements nested too deeply"),
            Some(tag) if tag & 0x20 != 0 => {
                self.constructed(tag, |reader, _| reader.skip_nested(depth + 1))
            }
            Some(_) => self.primitive().map(|_| ()),
        }
    }

    /// Returns an error if an unknown element was skipped.
    pub fn verify_all_known(&self) -> Result<()> {
        match self.skipped {
            None => Ok(()),
            Some(at) => Err(BerError { at, problem: "an unknown element" }),
        }
    }

    /// Returns an error unless all bytes were read.
    pub fn finish(&self) -> Result<()> {
        if self.at == self.bytes.len() { Ok(()) } else { self.fail("bytes after the end") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(bytes: &[u8]) -> Result<i64> {
        BerReader::new(bytes).integer()
    }

    #[test]
    fn integers_are_signed_and_bounded() {
        assert_eq!(integer(&[2, 1, 0]), Ok(0));
        assert_eq!(integer(&[2, 1, 0xff]), Ok(-1));
        assert_eq!(integer(&[2, 2, 0, 0x80]), Ok(128));
        assert_eq!(integer(&[2, 0x81, 1, 5]), Ok(5));
        assert_eq!(integer(&[2, 8, 0x80, 0, 0, 0, 0, 0, 0, 0]), Ok(i64::MIN));
        assert!(integer(&[2, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0]).is_err());
        assert_eq!(integer(&[2, 0]).unwrap_err().problem, "an empty INTEGER");
        assert_eq!(
            integer(&[2, 3, 0]),
            Err(BerError { at: 1, problem: "a length beyond the end" })
        );
    }

    #[test]
    fn both_kinds_of_length_bound_a_container() {
        let read = |bytes: &[u8]| {
            let mut numbers = Vec::new();
            let mut reader = BerReader::new(bytes);
            reader.constructed(tag::SEQUENCE, |r, _| {
                numbers.push(r.integer()?);
                Ok(())
            })?;
            reader.finish().map(|()| numbers)
        };
        assert_eq!(read(&[0x30, 0x80, 2, 1, 7, 2, 1, 8, 0, 0]), Ok(vec![7, 8]));
        assert_eq!(read(&[0x30, 6, 2, 1, 7, 2, 1, 8]), Ok(vec![7, 8]));
        assert_eq!(read(&[0x30, 4, 2, 1, 7, 2, 1, 8]).unwrap_err().at, 8);
        assert!(read(&[0x30, 0x80, 2, 1, 7, 0]).is_err());
        assert!(read(&[0x30, 0x80, 0, 1]).is_err());
        assert!(read(&[0x30, 0x80, 0, 0, 9]).is_err());
        assert!(read(&[0x30, 0x89, 1, 1, 1, 1, 1, 1, 1, 1, 1]).is_err());
    }

    #[test]
    fn deep_nesting_is_an_error_not_a_stack_overflow() {
        let deep = [0x30, 0x80].repeat(100_000);
        assert_eq!(BerReader::new(&deep).skip().unwrap_err().problem, "elements nested too deeply");
    }
}
