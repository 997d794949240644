//! The values of an ASN.1 file, in one form for text and binary files.
//!
//! A value and its inner values are consecutive items of a list. An item refers to the bytes of the
//! file, which are decoded only when the caller asks for them.

use std::borrow::Cow;
use std::ops::Range;

use super::Malformed;

/// Indexes of consecutive bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// The kinds of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// An integer, or in binary files an enumerated value.
    Integer(i64),
    /// A real number of a binary file. In text it is a block of three integers.
    Real(f64),
    /// A boolean of a binary file. In text it is a word.
    Boolean(bool),
    /// The value of binary files that has no contents.
    Null,
    /// A text of a binary file.
    Text(Span),
    /// A text between quotes, with line ends and doubled quotes.
    Quoted(Span),
    /// Bytes of a binary file.
    Bytes(Span),
    /// Bytes as hexadecimal digits, with line ends.
    Hexadecimal(Span),
    /// An enumerated value or boolean as a name, such as `TRUE`.
    Word(Span),
    /// The name of a field or of an alternative. Its value is the next item.
    Name(Span),
    /// The number of a field or of an alternative, from 0. Its value is the next item.
    Number(usize),
    /// A value of several elements or fields, which are the next items.
    Block,
}

/// A value, without its inner values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Item {
    /// Index of the first byte of the value.
    pub at: usize,
    /// Number of items of the value and its inner values.
    pub size: usize,
    pub kind: Kind,
}

/// A value, and its position in the file.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// The value, and its inner values. There is at least one item.
    pub(super) items: &'a [Item],
    /// The bytes to which the items refer.
    pub(super) bytes: &'a [u8],
    /// Offset in the file of the first byte of `bytes`.
    pub(super) base: u64,
}

/// The elements of a list.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a>(Node<'a>);

type Result<T> = std::result::Result<T, Malformed>;

impl<'a> Iterator for Elements<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        let size = self.0.items.first()?.size;
        let (items, rest) = self.0.items.split_at(size);
        self.0.items = rest;
        Some(Node { items, ..self.0 })
    }
}

impl<'a> Elements<'a> {
    /// Returns all elements; `None` if there are not exactly `N`.
    pub fn array<const N: usize>(mut self) -> Option<[Node<'a>; N]> {
        let first = self.0;
        let mut elements = [first; N];
        for element in &mut elements {
            *element = self.next()?;
        }
        self.next().is_none().then_some(elements)
    }
}

impl<'a> Node<'a> {
    fn kind(&self) -> Kind {
        self.items[0].kind
    }

    fn span(&self, span: Span) -> &'a [u8] {
        &self.bytes[span.range()]
    }

    /// Returns the value of a field or of an alternative, which follows its name or number.
    fn inner(&self) -> Node<'a> {
        Node { items: &self.items[1..], ..*self }
    }

    /// Returns an error at this value's position.
    ///
    /// # Errors
    /// Always an error with this problem.
    pub fn fail<T>(&self, problem: impl Into<String>) -> Result<T> {
        let at = self.base + self.items[0].at as u64;
        Err(Malformed { at, problem: problem.into() })
    }

    /// Returns the fields of a value in the order of `names`; `None` for each missing field. In the
    /// file, the fields must be in this order.
    ///
    /// # Errors
    /// [`Malformed`] if the value has another form.
    pub fn fields<const N: usize>(&self, names: &[&str; N]) -> Result<[Option<Node<'a>>; N]> {
        let mut fields = [None; N];
        let mut next = 0;
        for node in self.list()? {
            let (place, value) = node.choice_from(names, next)?;
            fields[place] = Some(value);
            next = place + 1;
        }
        Ok(fields)
    }

    /// Returns the index in `names` and the value of a choice.
    ///
    /// # Errors
    /// [`Malformed`] if the value has another form.
    pub fn choice(&self, names: &[&str]) -> Result<(usize, Node<'a>)> {
        self.choice_from(names, 0)
    }

    fn choice_from(&self, names: &[&str], from: usize) -> Result<(usize, Node<'a>)> {
        let place = match self.kind() {
            Kind::Name(name) => index_of_name(self.span(name), names, from),
            Kind::Number(number) => index_of_number(number, names, from),
            _ => Err(format!("one of {} belongs here", names[from.min(names.len())..].join(", "))),
        };
        match place {
            Ok(place) => Ok((place, self.inner())),
            Err(problem) => self.fail(problem),
        }
    }

    /// Returns the elements of a list.
    ///
    /// # Errors
    /// [`Malformed`] if the value has another form.
    pub fn list(&self) -> Result<Elements<'a>> {
        match self.kind() {
            Kind::Block => Ok(Elements(self.inner())),
            _ => self.fail("several values belong here"),
        }
    }

    /// Returns the value as an integer.
    ///
    /// # Errors
    /// [`Malformed`] if the value has another form.
    pub fn integer(&self) -> Result<i64> {
        match self.kind() {
            Kind::Integer(number) => Ok(number),
            _ => self.fail("a whole number belongs here"),
        }
    }

    /// Returns the value as a boolean.
    ///
    /// # Errors
    /// [`Malformed`] if the value has another form.
    pub fn boolean(&self) -> Result<bool> {
        match (self.kind(), self.word()) {
            (Kind::Boolean(value), _) => Ok(value),
            (_, Some(b"TRUE")) => Ok(true),
            (_, Some(b"FALSE")) => Ok(false),
            _ => self.fail("TRUE or FALSE belongs here"),
        }
    }

    /// Returns the value as a text, which may have any bytes. Joins its lines.
    ///
    /// # Errors
    /// [`Malformed`] if the value has another form.
    pub fn text(&self) -> Result<Cow<'a, [u8]>> {
        match self.kind() {
            Kind::Text(span) => Ok(Cow::Borrowed(self.span(span))),
            Kind::Quoted(span) => Ok(unquote(self.span(span))),
            _ => self.fail("a text belongs here"),
        }
    }

    /// Returns the value as a text of visible ASCII characters.
    ///
    /// # Errors
    /// [`Malformed`] if the value has another form or other characters.
    pub fn visible_text(&self) -> Result<Cow<'a, [u8]>> {
        let text = self.text()?;
        match text.iter().all(|byte| matches!(byte, b' '..=b'~')) {
            true => Ok(text),
            false => self.fail("a text with a byte that is no visible character"),
        }
    }

    /// Returns the value as a byte string.
    ///
    /// # Errors
    /// [`Malformed`] if the value has another form.
    pub fn bytes(&self) -> Result<Cow<'a, [u8]>> {
        match self.kind() {
            Kind::Bytes(span) => Ok(Cow::Borrowed(self.span(span))),
            Kind::Hexadecimal(span) => Ok(Cow::Owned(decode_hex(self.span(span)))),
            _ => self.fail("bytes belong here"),
        }
    }

    /// Returns the name of an enumerated value; `None` for other values.
    pub fn word(&self) -> Option<&'a [u8]> {
        match self.kind() {
            Kind::Word(word) => Some(self.span(word)),
            _ => None,
        }
    }

    /// Returns whether this is the enumerated value `word`, which is `number` in binary files.
    pub fn is_word(&self, word: &str, number: i64) -> bool {
        self.word() == Some(word.as_bytes()) || self.kind() == Kind::Integer(number)
    }

    /// Returns the value as a real number (`CObjectIStreamAsn::ReadDouble`, objistrasn.cpp).
    ///
    /// # Errors
    /// [`Malformed`] if the value has another form.
    pub fn real(&self) -> Result<f64> {
        let numbers = match self.kind() {
            Kind::Real(number) => return Ok(number),
            Kind::Block => Elements(self.inner()).array(),
            _ => None,
        };
        let numbers = numbers.map(|numbers| numbers.map(|number| number.kind()));
        let Some(
            [Kind::Integer(mantissa), Kind::Integer(base @ (2 | 10)), Kind::Integer(exponent)],
        ) = numbers
        else {
            return self.fail(
                "a real number belongs here: mantissa, base, which is 2 or 10, and exponent",
            );
        };
        if mantissa == 0 {
            return Ok(0.0);
        }
        // The compiler would compute the power of a constant with another function than the
        // toolkit's.
        let base = std::hint::black_box(base as f64);
        let size = mantissa.unsigned_abs() as f64 * base.powf(exponent as f64);
        let size = size.clamp(f64::MIN_POSITIVE, f64::MAX);
        Ok(if mantissa < 0 { -size } else { size })
    }
}

/// Returns the index in `names` of the name of a field or of an alternative.
///
/// # Errors
/// A description of the problem, if the name is not in `names`, or its index is less than `from`.
pub(super) fn index_of_name(
    name: &[u8],
    names: &[&str],
    from: usize,
) -> std::result::Result<usize, String> {
    let found = names.iter().skip(from).position(|known| known.as_bytes() == name);
    found
        .map(|place| place + from)
        .ok_or_else(|| format!("'{}' does not belong here", String::from_utf8_lossy(name)))
}

/// As [`index_of_name`], for the number of a field or of an alternative.
pub(super) fn index_of_number(
    number: usize,
    names: &[&str],
    from: usize,
) -> std::result::Result<usize, String> {
    match (from..names.len()).contains(&number) {
        true => Ok(number),
        false => Err(format!("a field of number {number} does not belong here")),
    }
}

/// Decodes the body of an ASN.1 string: removes line breaks, and replaces each doubled quote by
/// one.
fn unquote(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut special) = memchr::memchr3(b'\n', b'\r', b'"', text) else {
        return Cow::Borrowed(text);
    };
    let (mut joined, mut rest) = (Vec::with_capacity(text.len()), text);
    loop {
        let is_quote = rest[special] == b'"';
        joined.extend_from_slice(&rest[..special + usize::from(is_quote)]);
        rest = &rest[special + 1 + usize::from(is_quote)..];
        match memchr::memchr3(b'\n', b'\r', b'"', rest) {
            Some(next) => special = next,
            None => break,
        }
    }
    joined.extend_from_slice(rest);
    Cow::Owned(joined)
}

/// Decodes pairs of hexadecimal digits, which the parser has verified.
fn decode_hex(digits: &[u8]) -> Vec<u8> {
    let mut values = digits.iter().filter_map(|&digit| (digit as char).to_digit(16));
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    while let (Some(high), Some(low)) = (values.next(), values.next()) {
        bytes.push((high << 4 | low) as u8);
    }
    bytes
}
