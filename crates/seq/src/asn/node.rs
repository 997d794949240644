//! The values of an ASN.1 file, without their meaning: the same for text and binary files.

use super::Malformed;

/// The label of a value: a name in text files, a number in binary ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// A name.
    Name(String),
    /// The number of a field or of a choice, from 0.
    Number(usize),
}

/// A value, and its position in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Offset in bytes.
    pub at: u64,
    /// The value itself.
    pub kind: Kind,
}

/// The kinds of values.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// An integer, or in binary files an enumerated value.
    Integer(i64),
    /// A real number of a binary file; in text it is a list of three integers.
    Real(f64),
    /// A text.
    Text(Vec<u8>),
    /// Bytes.
    Bytes(Vec<u8>),
    /// An enumerated value or boolean as a name, such as `TRUE`.
    Word(String),
    /// A value with a label: a field, or an alternative of a choice.
    Labelled(Label, Box<Node>),
    /// Several values.
    Block(Vec<Node>),
}

type Result<T> = std::result::Result<T, Malformed>;

impl Label {
    /// Index of the label among these names, from index `from` on.
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
    /// Always.
    pub fn fail<T>(&self, problem: impl Into<String>) -> Result<T> {
        Err(Malformed { at: self.at, problem: problem.into() })
    }

    /// Returns the fields of a value by their indexes among all names; they must be in this order.
    ///
    /// # Errors
    /// If the value has another form.
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

    /// Returns the index and the value of a choice.
    ///
    /// # Errors
    /// If the value has another form.
    pub fn choice(&self, names: &[&str]) -> Result<(usize, &Node)> {
        self.choice_from(names, 0)
    }

    fn choice_from(&self, names: &[&str], from: usize) -> Result<(usize, &Node)> {
        let Kind::Labelled(label, value) = &self.kind else {
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
    /// If the value has another form.
    pub fn list(&self) -> Result<&[Node]> {
        match &self.kind {
            Kind::Block(nodes) => Ok(nodes),
            _ => self.fail("several values belong here"),
        }
    }

    /// Returns an integer.
    ///
    /// # Errors
    /// If the value has another form.
    pub fn integer(&self) -> Result<i64> {
        match self.kind {
            Kind::Integer(number) => Ok(number),
            _ => self.fail("a whole number belongs here"),
        }
    }

    /// Returns a boolean.
    ///
    /// # Errors
    /// If the value has another form.
    pub fn boolean(&self) -> Result<bool> {
        match &self.kind {
            Kind::Word(word) if word == "TRUE" => Ok(true),
            Kind::Word(word) if word == "FALSE" => Ok(false),
            _ => self.fail("TRUE or FALSE belongs here"),
        }
    }

    /// Returns a text of any bytes.
    ///
    /// # Errors
    /// If the value has another form.
    pub fn text(&self) -> Result<&[u8]> {
        match &self.kind {
            Kind::Text(text) => Ok(text),
            _ => self.fail("a text belongs here"),
        }
    }

    /// Returns a text of visible characters.
    ///
    /// # Errors
    /// If the value has another form.
    pub fn visible(&self) -> Result<&[u8]> {
        let text = self.text()?;
        match text.iter().all(|byte| matches!(byte, b' '..=b'~')) {
            true => Ok(text),
            false => self.fail("a text with a byte that is no visible character"),
        }
    }

    /// Returns a byte string.
    ///
    /// # Errors
    /// If the value has another form.
    pub fn bytes(&self) -> Result<&[u8]> {
        match &self.kind {
            Kind::Bytes(bytes) => Ok(bytes),
            _ => self.fail("bytes belong here"),
        }
    }

    /// Whether this is the enumerated value `word`, which is `number` in binary files.
    pub fn is_word(&self, word: &str, number: i64) -> bool {
        match &self.kind {
            Kind::Word(name) => name == word,
            Kind::Integer(integer) => *integer == number,
            _ => false,
        }
    }

    /// Returns a real number (`CObjectIStreamAsn::ReadDouble`, objistrasn.cpp).
    ///
    /// # Errors
    /// If the value has another form.
    pub fn real(&self) -> Result<f64> {
        let parts = match &self.kind {
            Kind::Real(number) => return Ok(*number),
            Kind::Block(parts) => parts.as_slice(),
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
        // A constant would be computed by the compiler, with another function than the toolkit's.
        let base = std::hint::black_box(base as f64);
        let size = mantissa.unsigned_abs() as f64 * base.powf(exponent as f64);
        let size = size.clamp(f64::MIN_POSITIVE, f64::MAX);
        Ok(if mantissa < 0 { -size } else { size })
    }
}
