//! Binary ASN.1 as NCBI's programs write it: constructed values of indefinite length.

use std::io::{BufRead, Read};

use super::asn::{Key, Node};
use super::source::{Place, Problem, Source};

/// SEQUENCE and SEQUENCE OF, constructed.
const SEQUENCE: u8 = 0x30;
/// Tags of primitive values.
const BOOLEAN: u8 = 1;
const INTEGER: u8 = 2;
const NULL: u8 = 5;
const ENUMERATED: u8 = 10;
const UTF8_STRING: u8 = 0x0c;
const VISIBLE_STRING: u8 = 0x1a;
/// A constructed tag of a context, but for the number.
const CONTEXT: u8 = 0xa0;
/// An indefinite length.
const INDEFINITE: u8 = 0x80;

/// Deepest nesting of values.
const DEEPEST: usize = 32;
/// Longest text.
const MAX_TEXT: u64 = 1 << 20;

/// Reads values.
pub(super) struct Binary<R> {
    input: R,
    at: u64,
}

impl<R: BufRead> Binary<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, at: 0 }
    }

    fn byte(&mut self) -> Result<u8, Problem> {
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        self.at += 1;
        Ok(byte[0])
    }

    /// The next byte, not consumed.
    fn peek(&mut self) -> Result<Option<u8>, Problem> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    fn expect(&mut self, wanted: u8, problem: &'static str) -> Result<(), Problem> {
        if self.byte()? == wanted { Ok(()) } else { Err(Problem::Malformed(problem)) }
    }

    fn open_tag(&mut self, tag: u8, problem: &'static str) -> Result<(), Problem> {
        self.expect(tag, problem)?;
        self.expect(INDEFINITE, "a definite length of a constructed value")
    }

    fn end(&mut self) -> Result<(), Problem> {
        let problem = "a value where another one ends";
        self.expect(0, problem)?;
        self.expect(0, problem)
    }

    fn length(&mut self) -> Result<u64, Problem> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(u64::from(first));
        }
        let count = first & 0x7f;
        if count == 0 || count > 4 {
            return Err(Problem::Malformed("a length that is none"));
        }
        let mut length = 0;
        for _ in 0..count {
            length = length << 8 | u64::from(self.byte()?);
        }
        Ok(length)
    }

    fn contents(&mut self, most: u64) -> Result<Vec<u8>, Problem> {
        let length = self.length()?;
        if length > most {
            return Err(Problem::Malformed("a value too long"));
        }
        let mut bytes = Vec::new();
        let got = self.input.by_ref().take(length).read_to_end(&mut bytes)?;
        self.at += got as u64;
        if (got as u64) < length {
            return Err(Problem::Malformed("the end in the middle of a value"));
        }
        Ok(bytes)
    }

    fn nested(&mut self, depth: usize) -> Result<Node, Problem> {
        if depth == DEEPEST {
            return Err(Problem::Malformed("values nested too deeply"));
        }
        let tag = self.byte()?;
        match tag {
            INTEGER | ENUMERATED => {
                let bytes = self.contents(8)?;
                let sign = bytes.first().map_or(0, |&first| i64::from(first.cast_signed() >> 7));
                let join = |number: i64, &byte: &u8| number << 8 | i64::from(byte);
                Ok(Node::Integer(bytes.iter().fold(sign, join)))
            }
            BOOLEAN => {
                let set = self.contents(1)?.first().is_some_and(|&byte| byte != 0);
                Ok(Node::Word(if set { b"TRUE".to_vec() } else { b"FALSE".to_vec() }))
            }
            NULL => {
                self.contents(0)?;
                Ok(Node::Word(b"NULL".to_vec()))
            }
            VISIBLE_STRING | UTF8_STRING => self.contents(MAX_TEXT).map(Node::Text),
            SEQUENCE => {
                self.expect(INDEFINITE, "a definite length of a constructed value")?;
                let mut members = Vec::new();
                while self.peek()? != Some(0) {
                    members.push(self.member(depth + 1)?);
                }
                self.end()?;
                Ok(Node::Group(members))
            }
            _ if tag & 0xe0 == CONTEXT => {
                self.expect(INDEFINITE, "a definite length of a constructed value")?;
                let value = self.nested(depth + 1)?;
                self.end()?;
                Ok(Node::Group(vec![(Key::Number(tag & 0x1f), value)]))
            }
            _ => Err(Problem::Malformed("an unknown tag")),
        }
    }

    /// A member of a SEQUENCE, with its number, or an element of a list.
    fn member(&mut self, depth: usize) -> Result<(Key, Node), Problem> {
        match self.nested(depth)? {
            // A CHOICE in a list looks the same; what asks for its alternative finds it either way.
            Node::Group(mut one) if one.len() == 1 && matches!(one[0].0, Key::Number(_)) => {
                one.pop().ok_or(Problem::Malformed("an empty value"))
            }
            node => Ok((Key::None, node)),
        }
    }
}

impl<R: BufRead> Source for Binary<R> {
    fn more(&mut self) -> Result<bool, Problem> {
        Ok(self.peek()?.is_some())
    }

    fn open(&mut self, _: &str) -> Result<(), Problem> {
        self.open_value()
    }

    fn close(&mut self) -> Result<(), Problem> {
        self.end()
    }

    fn open_member(&mut self, _: &str, number: u8) -> Result<(), Problem> {
        self.open_tag(CONTEXT | number, "not the member that should follow")
    }

    fn close_member(&mut self, _: bool) -> Result<(), Problem> {
        self.end()
    }

    fn open_value(&mut self) -> Result<(), Problem> {
        self.open_tag(SEQUENCE, "not a SEQUENCE where one should be")
    }

    fn close_value(&mut self) -> Result<(), Problem> {
        self.end()
    }

    fn element(&mut self) -> Result<Option<Node>, Problem> {
        if self.peek()? == Some(0) { Ok(None) } else { self.nested(0).map(Some) }
    }

    fn value(&mut self) -> Result<Node, Problem> {
        self.nested(0)
    }

    fn place(&self) -> Place {
        Place::Byte(self.at)
    }
}
