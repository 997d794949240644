//! The values of an ASN.1 file, in one form for text and binary files.

use super::Malformed;

/// The label of a field or of an alternative: a name in text files, a number in binary ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// A name.
    Name(String),
    /// The number of a field or of an alternative of a choice, from 0.
    Number(usize),
}

/// A value, and its position in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Byte offset in the file.
    pub at: u64,
    /// The value itself.
    pub kind: AsnValue,
}

/// The kinds of values.
#[derive(Clone, Debug, PartialEq)]
pub enum AsnValue {
    /// An integer, or in binary files an enumerated value.
    Integer(i64),
    /// A real number of a binary file. In text it is a block of three integers.
    Real(f64),
    /// A text.
    Text(Vec<u8>),
    /// Bytes.
    Bytes(Vec<u8>),
    /// An enumerated value or boolean as a name, such as `TRUE`.
    Word(String),
    /// A value with a label: a field, or an alternative of a choice.
    Labelled(Label, Box<Node>),
    /// A value of several elements or fields.
    Block(Vec<Node>),
}

type Result<T> = std::result::Result<T, Malformed>;

impl Label {
    /// Returns the index of the label in `names`, if it is at least `from`.
    fn place(&self, names: &[&str], from: usize) -> Option<usize> {
        match self {
            Label::Name(name) => {
                names.iter().skip(from).position(|known| known == name).map(|at| at + from)
            }
            Label::Number(number) => (from..names.len()).contains(number).then_some(*number),
        }
    }
}

impl Node {
    /// Returns an error at this value's position.
    ///
    /// # Errors
    /// The error with this problem, always.
    pub fn fail<T>(&self, problem: impl Into<String>) -> Result<T> {
        Err(Malformed { at: self.at, problem: problem.into() })
    }

    /// Returns the fields of a value in the order of `names`; `None` for each missing field. In the
    /// file, the fields must be in this order.
    ///
    /// # Errors
    /// [`Malformed`] if the value has another form.
    pub fn fields<const N: usize>(&self, names: &[&str; N]) -> Result<[Option<&Node>; N]> {
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
    pub fn choice(&self, names: &[&str]) -> Result<(usize, &Node)> {
        self.choice_from(names, 0)
    }

    fn choice_from(&self, names: &[&str], from: usize) -> Result<(usize, &Node)> {
        let AsnValue::Labelled(label, value) = &self.kind else {
            return self.fail(format!(
                "one of {} belongs here",
                names[from.min(names.len())..].join(", ")
            ));
        };
        match label.place(names, from) {
            Some(place) => Ok((place, value)),
            None => self.fail(match label {
                Label::Name(name) => format!("'{name}' does not belong here"),
                Label::Number(number) => format!("a field of number {number} does not belong here"),
            }),
        }
    }

    /// Returns the elements of a list.
    ///
    /// # Errors
    /// [`Malformed`] if the value has another form.
    pub fn list(&self) -> Result<&[Node]> {
        match &self.kind {
            AsnValue::Block(nodes) => Ok(nodes),
            _ => self.fail("several values belong here"),
        }
    }

    /// Returns the value as an integer.
    ///
    /// # Errors
    /// [`Malformed`] if the value has another form.
    pub fn integer(&self) -> Result<i64> {
        match self.kind {
            AsnValue::Integer(number) => Ok(number),
            _ => self.fail("a whole number belongs here"),
        }
    }

    /// Returns the value as a boolean.
    ///
    /// # Errors
    /// [`Malformed`] if the value has another form.
    pub fn boolean(&self) -> Result<bool> {
        match &self.kind {
            AsnValue::Word(word) if word == "TRUE" => Ok(true),
            AsnValue::Word(word) if word == "FALSE" => Ok(false),
            _ => self.fail("TRUE or FALSE belongs here"),
        }
    }

    /// Returns the value as a text, which may have any bytes.
    ///
    /// # Errors
    /// [`Malformed`] if the value has another form.
    pub fn text(&self) -> Result<&[u8]> {
        match &self.kind {
            AsnValue::Text(text) => Ok(text),
            _ => self.fail("a text belongs here"),
        }
    }

    /// Returns the value as a text of visible ASCII characters.
    ///
    /// # Errors
    /// [`Malformed`] if the value has another form or other characters.
    pub fn visible(&self) -> Result<&[u8]> {
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
    pub fn bytes(&self) -> Result<&[u8]> {
        match &self.kind {
            AsnValue::Bytes(bytes) => Ok(bytes),
            _ => self.fail("bytes belong here"),
        }
    }

    /// Returns whether this is the enumerated value `word`, which is `number` in binary files.
    pub fn is_word(&self, word: &str, number: i64) -> bool {
        match &self.kind {
            AsnValue::Word(name) => name == word,
            AsnValue::Integer(integer) => *integer == number,
            _ => false,
        }
    }

    /// Returns the value as a real number (`CObjectIStreamAsn::ReadDouble`, objistrasn.cpp).
    ///
    /// # Errors
    /// [`Malformed`] if the value has another form.
    pub fn real(&self) -> Result<f64> {
        let parts = match &self.kind {
            AsnValue::Real(number) => return Ok(*number),
            AsnValue::Block(parts) => parts.as_slice(),
            _ => &[],
        };
        let numbers: Vec<i64> = parts.iter().map_while(|part| part.integer().ok()).collect();
        let &[mantissa, base @ (2 | 10), exponent] = numbers.as_slice() else {
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
