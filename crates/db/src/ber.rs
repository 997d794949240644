//! The subset of BER that binary ASN.1 headers use: single-byte tags, definite and indefinite
//! lengths.

/// The error of a malformed header, and its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// Byte offset from the start of the header.
    pub(crate) at: usize,
    /// Description of the error.
    pub(crate) problem: &'static str,
}

type Result<T> = std::result::Result<T, Malformed>;

/// SEQUENCE, constructed.
pub(crate) const SEQUENCE: u8 = 0x30;
/// INTEGER.
const INTEGER: u8 = 0x02;
/// VisibleString.
const VISIBLE_STRING: u8 = 0x1a;
/// UTF8String, which later writers use for titles.
const UTF8_STRING: u8 = 0x0c;

/// How deeply unknown elements may nest before the header counts as malformed.
const DEEPEST: usize = 32;

/// The constructed context-specific tag of `number`.
pub(crate) const fn context(number: u8) -> u8 {
    0xa0 | number
}

/// The end of a constructed element.
#[derive(Clone, Copy)]
enum End {
    /// At this offset.
    At(usize),
    /// At the next end-of-contents octets.
    Octets,
}

/// A position in a header.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Offset of the first unknown element.
    skipped: Option<usize>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, skipped: None }
    }

    /// An error at the current position.
    pub(crate) fn fail<T>(&self, problem: &'static str) -> Result<T> {
        Err(Malformed { at: self.at, problem })
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
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Reads a length; `None` means indefinite. A definite length never exceeds the remaining
    /// bytes.
    fn length(&mut self) -> Result<Option<usize>> {
        let start = self.at;
        let first = self.byte()?;
        let length = match first {
            0x80 => return Ok(None),
            0..0x80 => usize::from(first),
            _ => {
                let mut length = 0usize;
                for _ in 0..first & 0x7f {
                    if length >> (usize::BITS - 8) != 0 {
                        self.at = start;
                        return self.fail("a length too large");
                    }
                    length = length << 8 | usize::from(self.byte()?);
                }
                length
            }
        };
        if length > self.bytes.len() - self.at {
            self.at = start;
            return self.fail("a length beyond the end");
        }
        Ok(Some(length))
    }

    /// Reads a sequence of fields, each at most once and in their order, as BLAST+ does. Otherwise
    /// one field could be taken for another.
    pub(crate) fn fields(
        &mut self,
        mut field: impl FnMut(&mut Self, u8) -> Result<()>,
    ) -> Result<()> {
        let mut last = 0;
        self.constructed(SEQUENCE, |reader, tag| {
            if tag <= last {
                return reader.fail("a field out of order");
            }
            last = tag;
            field(reader, tag)
        })
    }

    /// Reads a constructed element with this tag, calling `item` with the tag of each of its
    /// elements (the position is before that tag) until it ends. `item` must consume the element.
    pub(crate) fn constructed(
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

    /// Reads `tag` around exactly one value, which `value` reads.
    pub(crate) fn wrapped<T>(
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

    /// The contents of a primitive element.
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

    /// An INTEGER of at most 8 bytes.
    pub(crate) fn integer(&mut self) -> Result<i64> {
        if self.peek() != Some(INTEGER) {
            return self.fail("a missing INTEGER");
        }
        let bytes = self.primitive()?;
        let Some((&first, rest)) = bytes.split_first() else {
            return self.fail("an empty INTEGER");
        };
        if rest.len() > 7 {
            return self.fail("an INTEGER too large");
        }
        let first = i64::from(first.cast_signed());
        Ok(rest.iter().fold(first, |value, &byte| value << 8 | i64::from(byte)))
    }

    /// A string.
    pub(crate) fn string(&mut self) -> Result<Vec<u8>> {
        match self.peek() {
            Some(VISIBLE_STRING | UTF8_STRING) => Ok(self.primitive()?.to_vec()),
            _ => self.fail("a missing string"),
        }
    }

    /// Skips one element of any type.
    pub(crate) fn skip(&mut self) -> Result<()> {
        self.skipped.get_or_insert(self.at);
        self.skip_nested(0)
    }

    fn skip_nested(&mut self, depth: usize) -> Result<()> {
        match self.peek() {
            None => self.fail("unexpected end"),
            Some(tag) if tag & 0x1f == 0x1f => self.fail("a tag of several bytes"),
            Some(_) if depth == DEEPEST => self.fail("elements nested too deeply"),
            Some(tag) if tag & 0x20 != 0 => {
                self.constructed(tag, |reader, _| reader.skip_nested(depth + 1))
            }
            Some(_) => self.primitive().map(|_| ()),
        }
    }

    /// Fails if an element was skipped.
    pub(crate) fn all_known(&self) -> Result<()> {
        match self.skipped {
            None => Ok(()),
            Some(at) => Err(Malformed { at, problem: "an unknown element" }),
        }
    }

    /// Fails unless everything was read.
    pub(crate) fn finish(&self) -> Result<()> {
        if self.at == self.bytes.len() { Ok(()) } else { self.fail("bytes after the end") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(bytes: &[u8]) -> Result<i64> {
        Reader::new(bytes).integer()
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
            Err(Malformed { at: 1, problem: "a length beyond the end" })
        );
    }

    #[test]
    fn both_kinds_of_length_bound_a_container() {
        let read = |bytes: &[u8]| {
            let mut numbers = Vec::new();
            let mut reader = Reader::new(bytes);
            reader.constructed(SEQUENCE, |r, _| {
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
        assert_eq!(Reader::new(&deep).skip().unwrap_err().problem, "elements nested too deeply");
    }
}
