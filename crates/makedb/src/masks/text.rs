//! Text ASN.1.

use std::io::BufRead;

use super::asn::{Key, Node};
use super::source::{Place, Problem, Source};

/// Deepest nesting of values.
const DEEPEST: usize = 32;
/// Longest word or text.
const MAX_TEXT: usize = 1 << 20;

/// Reads values.
pub(super) struct Text<R> {
    input: R,
    line: u64,
}

impl<R: BufRead> Text<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, line: 1 }
    }

    /// The next byte, not consumed; `None` at the end.
    fn peek_byte(&mut self) -> Result<Option<u8>, Problem> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    fn skip(&mut self, byte: u8) {
        self.input.consume(1);
        self.line += u64::from(byte == b'\n');
    }

    /// The next byte that is no white space, not consumed.
    fn peek(&mut self) -> Result<Option<u8>, Problem> {
        loop {
            match self.peek_byte()? {
                Some(byte) if byte.is_ascii_whitespace() => self.skip(byte),
                byte => return Ok(byte),
            }
        }
    }

    fn expect(&mut self, wanted: u8, problem: &'static str) -> Result<(), Problem> {
        match self.peek()? {
            Some(byte) if byte == wanted => {
                self.skip(byte);
                Ok(())
            }
            Some(_) => Err(Problem::Malformed(problem)),
            None => Err(Problem::Malformed("the end in the middle of a value")),
        }
    }

    /// Letters, digits and hyphens.
    fn word(&mut self) -> Result<Vec<u8>, Problem> {
        let mut word = Vec::new();
        self.peek()?;
        while let Some(byte) = self.peek_byte()?
            && (byte.is_ascii_alphanumeric() || byte == b'-')
        {
            if word.len() == MAX_TEXT {
                return Err(Problem::Malformed("a word too long"));
            }
            word.push(byte);
            self.skip(byte);
        }
        if word.is_empty() {
            return Err(Problem::Malformed("no word where one should be"));
        }
        Ok(word)
    }

    /// What stands between quotes, a quote doubled for one; line ends in it do not count.
    fn quoted(&mut self) -> Result<Vec<u8>, Problem> {
        self.expect(b'"', "no text where one should be")?;
        let mut text = Vec::new();
        loop {
            let Some(byte) = self.peek_byte()? else {
                return Err(Problem::Malformed("the end in the middle of a text"));
            };
            self.skip(byte);
            if byte == b'"' {
                if self.peek_byte()? != Some(b'"') {
                    return Ok(text);
                }
                self.skip(b'"');
            }
            if text.len() == MAX_TEXT {
                return Err(Problem::Malformed("a text too long"));
            }
            if !matches!(byte, b'\n' | b'\r') {
                text.push(byte);
            }
        }
    }

    fn nested(&mut self, depth: usize) -> Result<Node, Problem> {
        if depth == DEEPEST {
            return Err(Problem::Malformed("values nested too deeply"));
        }
        match self.peek()? {
            Some(b'"') => self.quoted().map(Node::Text),
            Some(b'{') => {
                self.skip(b'{');
                let mut members = Vec::new();
                while self.peek()? != Some(b'}') {
                    members.push(self.member(depth + 1)?);
                    self.comma()?;
                }
                self.skip(b'}');
                Ok(Node::Group(members))
            }
            Some(b'-' | b'0'..=b'9') => {
                let word = self.word()?;
                let number = std::str::from_utf8(&word).ok().and_then(|word| word.parse().ok());
                number.map(Node::Integer).ok_or(Problem::Malformed("no number where one should be"))
            }
            Some(_) => {
                let word = self.word()?;
                match self.peek()? {
                    None | Some(b',' | b'}') => Ok(Node::Word(word)),
                    _ => Ok(Node::Group(vec![(Key::Word(word), self.nested(depth + 1)?)])),
                }
            }
            None => Err(Problem::Malformed("the end in the middle of a value")),
        }
    }

    /// A member with its name, or an element of a list.
    fn member(&mut self, depth: usize) -> Result<(Key, Node), Problem> {
        match self.nested(depth)? {
            Node::Group(mut one) if one.len() == 1 && matches!(one[0].0, Key::Word(_)) => {
                one.pop().ok_or(Problem::Malformed("an empty value"))
            }
            node => Ok((Key::None, node)),
        }
    }

    /// Passes over a comma; none is needed before a closing brace.
    fn comma(&mut self) -> Result<(), Problem> {
        match self.peek()? {
            Some(b'}') => Ok(()),
            _ => self.expect(b',', "no comma after a value"),
        }
    }
}

impl<R: BufRead> Source for Text<R> {
    fn more(&mut self) -> Result<bool, Problem> {
        Ok(self.peek()?.is_some())
    }

    fn open(&mut self, name: &str) -> Result<(), Problem> {
        if self.word()? != name.as_bytes() {
            return Err(Problem::Malformed("not an object of masks"));
        }
        for byte in *b"::=" {
            self.expect(byte, "no '::=' after the type")?;
        }
        self.open_value()
    }

    fn close(&mut self) -> Result<(), Problem> {
        self.close_value()
    }

    fn open_member(&mut self, name: &str, _: u8) -> Result<(), Problem> {
        if self.word()? == name.as_bytes() {
            Ok(())
        } else {
            Err(Problem::Malformed("not the member that should follow"))
        }
    }

    fn close_member(&mut self, last: bool) -> Result<(), Problem> {
        if last { Ok(()) } else { self.expect(b',', "no comma after a member") }
    }

    fn open_value(&mut self) -> Result<(), Problem> {
        self.expect(b'{', "no brace where one should be")
    }

    fn close_value(&mut self) -> Result<(), Problem> {
        self.expect(b'}', "no closing brace where one should be")
    }

    fn element(&mut self) -> Result<Option<Node>, Problem> {
        if self.peek()? == Some(b'}') {
            return Ok(None);
        }
        let node = self.nested(0)?;
        self.comma()?;
        Ok(Some(node))
    }

    fn value(&mut self) -> Result<Node, Problem> {
        self.nested(0)
    }

    fn place(&self) -> Place {
        Place::Line(self.line)
    }
}
