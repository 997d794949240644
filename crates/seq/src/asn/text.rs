//! Reads values from ASN.1 text.

use super::DEEPEST;
use super::cursor::{Cursor, Result};
use super::node::{Item, Kind, Span};

impl Cursor<'_> {
    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.peek()? != Some(byte) {
            return self.unexpected(&format!("'{}'", byte as char));
        }
        self.at += 1;
        Ok(())
    }

    fn unexpected<T>(&self, wanted: &str) -> Result<T> {
        let problem = match self.peek()? {
            Some(_) => format!("{wanted} belongs here"),
            None => format!("the file ends where {wanted} belongs"),
        };
        self.fail(self.at, problem)
    }

    /// Skips blanks and comments. Returns the next byte without consuming it. A comment extends
    /// from two hyphens to the next two, or to the end of the line.
    pub fn next(&mut self) -> Result<Option<u8>> {
        loop {
            // Values are indented by many blanks.
            while self.rest().starts_with(&[b' '; 8]) {
                self.at += 8;
            }
            let blanks = self.rest().iter().take_while(|byte| byte.is_ascii_whitespace());
            self.at += blanks.count();
            match self.peek()? {
                Some(b'-') if self.peek_over(1)? == Some(b'-') => self.comment()?,
                byte => return Ok(byte),
            }
        }
    }

    fn comment(&mut self) -> Result<()> {
        self.at += 2;
        while let Some(byte) = self.peek()?
            && byte != b'\n'
        {
            if byte == b'-' && self.peek_over(1)? == Some(b'-') {
                self.at += 2;
                break;
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Reads letters, digits and single hyphens. Returns an empty span if there are none.
    fn word(&mut self) -> Result<Span> {
        let start = self.at;
        loop {
            let is_inner = |byte: &&u8| byte.is_ascii_alphanumeric();
            self.at += self.rest().iter().take_while(is_inner).count();
            match self.peek()? {
                Some(b'-') if self.peek_over(1)? != Some(b'-') => self.at += 1,
                _ => return Ok(Span { start, end: self.at }),
            }
        }
    }

    /// Reads a value, and appends it to `items`.
    pub fn text_value(&mut self, items: &mut Vec<Item>, depth: usize) -> Result<()> {
        let next = self.next()?;
        let (at, index) = (self.at, items.len());
        if depth > DEEPEST {
            return self.fail(at, "values within values within values");
        }
        // A value with inner ones is before them, and gets its size after they are read.
        let mut push = |kind| items.push(Item { at, size: 1, kind });
        match next {
            Some(b'{') => {
                push(Kind::Block);
                self.text_block(items, depth)?;
            }
            Some(b'"') => push(self.read_quoted()?),
            Some(b'\'') => push(Kind::Hexadecimal(self.hexadecimal()?)),
            Some(b'-' | b'+' | b'0'..=b'9') => push(Kind::Integer(self.integer()?)),
            Some(byte) if byte.is_ascii_alphabetic() => {
                let word = self.word()?;
                match self.next()? {
                    None | Some(b',' | b'}') => push(Kind::Word(word)),
                    Some(_) => {
                        push(Kind::Name(word));
                        self.text_value(items, depth + 1)?;
                    }
                }
            }
            _ => return self.unexpected("a value"),
        }
        items[index].size = items.len() - index;
        Ok(())
    }

    fn text_block(&mut self, items: &mut Vec<Item>, depth: usize) -> Result<()> {
        self.at += 1;
        if self.next()? == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.text_value(items, depth + 1)?;
            if self.separator()? == b'}' {
                self.at += 1;
                return Ok(());
            }
        }
    }

    /// Skips the comma after a value and returns it. If a closing brace follows instead, returns
    /// the brace without consuming it.
    pub fn separator(&mut self) -> Result<u8> {
        match self.next()? {
            Some(b',') => {
                self.at += 1;
                Ok(b',')
            }
            Some(b'}') => Ok(b'}'),
            _ => self.unexpected("',' or '}'"),
        }
    }

    /// Reads a text in quotes. Two quotes within the text stand for one.
    fn read_quoted(&mut self) -> Result<Kind> {
        let opening = self.at;
        self.at += 1;
        let start = self.at;
        loop {
            let Some(length) = memchr::memchr(b'"', self.rest()) else {
                return self.interruption_error(opening, "a text without its second quote");
            };
            self.at += length + 1;
            if self.peek()? != Some(b'"') {
                return Ok(Kind::Quoted(Span { start, end: self.at - 1 }));
            }
            self.at += 1;
        }
    }

    /// Reads a byte string: hexadecimal digits in apostrophes, then `H`. Returns the span of the
    /// digits, which may be on several lines.
    fn hexadecimal(&mut self) -> Result<Span> {
        let opening = self.at;
        self.at += 1;
        let start = self.at;
        let mut digits = 0;
        for &byte in self.rest() {
            match byte {
                b'\'' => break,
                byte if byte.is_ascii_whitespace() => {}
                byte if byte.is_ascii_hexdigit() => digits += 1,
                _ => return self.fail(self.at, "a hexadecimal digit belongs here"),
            }
            self.at += 1;
        }
        let end = self.at;
        if end == self.bytes.len() {
            return self.interruption_error(opening, "bytes without their second apostrophe");
        }
        self.at += 1;
        self.expect(b'H')?;
        match digits % 2 {
            0 => Ok(Span { start, end }),
            _ => self.fail(opening, "half a byte"),
        }
    }

    fn integer(&mut self) -> Result<i64> {
        let start = self.at;
        self.at += 1;
        self.at += self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        // Another byte, or the end of the file, completes the number.
        self.peek()?;
        let text = str::from_utf8(&self.bytes[start..self.at]).unwrap_or_default();
        match text.parse() {
            Ok(number) => Ok(number),
            Err(_) => self.fail(start, "a whole number of at most 18 digits belongs here"),
        }
    }

    /// Skips the name of a type before an object, which must be `name`.
    pub fn text_header(&mut self, name: &str) -> Result<()> {
        self.next()?;
        let word = self.word()?;
        if self.bytes[word.range()] != *name.as_bytes() {
            return self.fail(word.start, format!("{name} belongs here"));
        }
        self.next()?;
        b"::=".iter().try_for_each(|&byte| self.expect(byte))
    }

    /// Skips blanks and this byte.
    pub fn next_byte(&mut self, byte: u8) -> Result<()> {
        self.next()?;
        self.expect(byte)
    }

    /// Reads the name of a field; `None` at the end of its block.
    pub fn field_name(&mut self) -> Result<Option<Span>> {
        match self.next()? {
            Some(b'}') => Ok(None),
            _ => self.word().map(Some),
        }
    }
}
