//! Reads values from ASN.1 text.

use std::io::BufRead;

use super::node::{AsnValue, Label, Node};
use super::{AsnError, AsnReader, DEEPEST, LONGEST, Place};

type Result<T> = std::result::Result<T, AsnError>;

/// Reader of ASN.1 text.
pub struct AsnTextReader<R> {
    input: R,
    /// The next bytes of the input, `count` of them, which were read but not consumed.
    ahead: [u8; 2],
    count: usize,
    at: u64,
    line: u64,
}

impl<R: BufRead> AsnTextReader<R> {
    /// Makes a reader at the start of a file.
    pub fn new(input: R) -> Self {
        Self { input, ahead: [0; 2], count: 0, at: 0, line: 1 }
    }

    /// Returns the next byte (`over` is 0) or the byte after it (1) without consuming it; `None`
    /// beyond the end of the file.
    fn peek_over(&mut self, over: usize) -> Result<Option<u8>> {
        while self.count <= over {
            let Some(&byte) = self.input.fill_buf()?.first() else { return Ok(None) };
            self.input.consume(1);
            self.ahead[self.count] = byte;
            self.count += 1;
        }
        Ok(Some(self.ahead[over]))
    }

    fn peek(&mut self) -> Result<Option<u8>> {
        self.peek_over(0)
    }

    /// Consumes the next byte, which the caller must have peeked at.
    fn skip(&mut self) {
        self.line += u64::from(self.ahead[0] == b'\n');
        self.at += 1;
        self.ahead[0] = self.ahead[1];
        self.count -= 1;
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.peek()? != Some(byte) {
            return self.unexpected(&format!("'{}'", byte as char));
        }
        self.skip();
        Ok(())
    }

    fn unexpected<T>(&mut self, wanted: &str) -> Result<T> {
        let problem = match self.peek()? {
            Some(_) => format!("{wanted} belongs here"),
            None => format!("the file ends where {wanted} belongs"),
        };
        AsnError::malformed(self.at, problem)
    }

    /// Skips blanks and comments. Returns the next byte without consuming it. A comment extends
    /// from two hyphens to the next two, or to the end of the line.
    fn next(&mut self) -> Result<Option<u8>> {
        loop {
            match self.peek()? {
                Some(byte) if byte.is_ascii_whitespace() => self.skip(),
                Some(b'-') if self.peek_over(1)? == Some(b'-') => self.comment()?,
                byte => return Ok(byte),
            }
        }
    }

    fn comment(&mut self) -> Result<()> {
        self.skip();
        self.skip();
        while let Some(byte) = self.peek()?
            && byte != b'\n'
        {
            let ends = byte == b'-' && self.peek_over(1)? == Some(b'-');
            self.skip();
            if ends {
                self.skip();
                break;
            }
        }
        Ok(())
    }

    /// Reads letters, digits and single hyphens. Returns an empty string if there are none.
    fn word(&mut self) -> Result<String> {
        let start = self.at;
        let mut word = String::new();
        while let Some(byte) = self.peek()?
            && (byte.is_ascii_alphanumeric() || byte == b'-')
            && !(byte == b'-' && self.peek_over(1)? == Some(b'-'))
        {
            if word.len() as u64 == LONGEST {
                return AsnError::malformed(start, "a word too long");
            }
            word.push(byte as char);
            self.skip();
        }
        Ok(word)
    }

    fn nested(&mut self, depth: usize) -> Result<Node> {
        let next = self.next()?;
        let at = self.at;
        if depth > DEEPEST {
            return AsnError::malformed(at, "values within values within values");
        }
        let kind = match next {
            Some(b'{') => AsnValue::Block(self.block(depth)?),
            Some(b'"') => AsnValue::Text(self.quoted()?),
            Some(b'\'') => AsnValue::Bytes(self.hexadecimal()?),
            Some(b'-' | b'+' | b'0'..=b'9') => AsnValue::Integer(self.integer()?),
            Some(byte) if byte.is_ascii_alphabetic() => {
                let word = self.word()?;
                match self.next()? {
                    None | Some(b',' | b'}') => AsnValue::Word(word),
                    Some(_) => {
                        AsnValue::Labelled(Label::Name(word), Box::new(self.nested(depth + 1)?))
                    }
                }
            }
            _ => return self.unexpected("a value"),
        };
        Ok(Node { at, kind })
    }

    fn block(&mut self, depth: usize) -> Result<Vec<Node>> {
        self.skip();
        let mut nodes = Vec::new();
        if self.next()? == Some(b'}') {
            self.skip();
            return Ok(nodes);
        }
        loop {
            nodes.push(self.nested(depth + 1)?);
            match self.next()? {
                Some(b',') => self.skip(),
                Some(b'}') => {
                    self.skip();
                    return Ok(nodes);
                }
                _ => return self.unexpected("',' or '}'"),
            }
        }
    }

    /// Reads a text in quotes and joins its lines. Two quotes within the text stand for one.
    fn quoted(&mut self) -> Result<Vec<u8>> {
        let start = self.at;
        self.skip();
        let mut text = Vec::new();
        loop {
            let Some(byte) = self.peek()? else {
                return AsnError::malformed(start, "a text without its second quote");
            };
            self.skip();
            if byte == b'"' {
                if self.peek()? != Some(b'"') {
                    return Ok(text);
                }
                self.skip();
            }
            if text.len() as u64 == LONGEST {
                return AsnError::malformed(start, "a text too long");
            }
            if !matches!(byte, b'\r' | b'\n') {
                text.push(byte);
            }
        }
    }

    /// Reads a byte string: hexadecimal digits in apostrophes, then `H`.
    fn hexadecimal(&mut self) -> Result<Vec<u8>> {
        let start = self.at;
        self.skip();
        let mut digits = Vec::new();
        loop {
            match self.peek()? {
                Some(b'\'') => break,
                Some(byte) if byte.is_ascii_whitespace() => {}
                Some(byte) => match (byte as char).to_digit(16) {
                    Some(digit) => digits.push(digit as u8),
                    None => {
                        return AsnError::malformed(self.at, "a hexadecimal digit belongs here");
                    }
                },
                None => return AsnError::malformed(start, "bytes without their second apostrophe"),
            }
            if digits.len() as u64 > LONGEST {
                return AsnError::malformed(start, "too many bytes");
            }
            self.skip();
        }
        self.skip();
        self.expect(b'H')?;
        match digits.as_chunks::<2>() {
            (pairs, []) => Ok(pairs.iter().map(|[high, low]| high << 4 | low).collect()),
            _ => AsnError::malformed(start, "half a byte"),
        }
    }

    fn integer(&mut self) -> Result<i64> {
        let start = self.at;
        let mut text = String::new();
        while let Some(byte) = self.peek()?
            && text.len() < 20
            && (byte.is_ascii_digit() || text.is_empty())
        {
            text.push(byte as char);
            self.skip();
        }
        text.parse().or_else(|_| {
            AsnError::malformed(start, "a whole number of at most 18 digits belongs here")
        })
    }
}

impl<R: BufRead> AsnReader for AsnTextReader<R> {
    fn more(&mut self) -> Result<bool> {
        Ok(self.next()?.is_some())
    }

    fn header(&mut self, name: &str) -> Result<()> {
        self.next()?;
        let start = self.at;
        if self.word()? != name {
            return AsnError::malformed(start, format!("{name} belongs here"));
        }
        self.next()?;
        b"::=".iter().try_for_each(|&byte| self.expect(byte))
    }

    fn open(&mut self) -> Result<()> {
        self.next()?;
        self.expect(b'{')
    }

    fn close(&mut self) -> Result<()> {
        self.next()?;
        self.expect(b'}')
    }

    fn open_field(&mut self, name: &str, _: u8) -> Result<()> {
        self.next()?;
        let start = self.at;
        match self.word()? == name {
            true => Ok(()),
            false => AsnError::malformed(start, format!("'{name}' belongs here")),
        }
    }

    fn close_field(&mut self, last: bool) -> Result<()> {
        if last {
            return Ok(());
        }
        self.next()?;
        self.expect(b',')
    }

    fn element(&mut self) -> Result<Option<Node>> {
        if self.next()? == Some(b'}') {
            return Ok(None);
        }
        let node = self.nested(0)?;
        match self.next()? {
            Some(b',') => self.skip(),
            Some(b'}') => {}
            _ => return self.unexpected("',' or '}'"),
        }
        Ok(Some(node))
    }

    fn value(&mut self) -> Result<Node> {
        self.nested(0)
    }

    fn place(&self) -> Place {
        Place::Line(self.line)
    }
}
