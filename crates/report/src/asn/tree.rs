//! ASN.1 values of any type, as a tree.

/// An ASN.1 value of any type.
#[derive(Clone, Debug, PartialEq)]
pub enum AsnValue {
    /// A whole number.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A text, printed in quotes.
    Text(Vec<u8>),
    /// Bytes, printed in hexadecimal.
    Bytes(Vec<u8>),
    /// A boolean.
    Boolean(bool),
    /// An enumerated value, by its name.
    Word(&'static str),
    /// A choice: the name of the chosen alternative, and its value.
    Choice(&'static str, Box<AsnValue>),
    /// A sequence: values with names.
    Fields(Vec<(&'static str, AsnValue)>),
    /// A set or list: values without names.
    List(Vec<AsnValue>),
}

impl AsnValue {
    /// Makes a [`AsnValue::Choice`].
    pub fn choice(name: &'static str, value: AsnValue) -> AsnValue {
        AsnValue::Choice(name, Box::new(value))
    }

    /// Makes an [`AsnValue::Integer`].
    pub fn integer(number: impl Into<i64>) -> AsnValue {
        AsnValue::Integer(number.into())
    }

    /// Makes an [`AsnValue::Text`].
    pub fn text(text: impl AsRef<[u8]>) -> AsnValue {
        AsnValue::Text(text.as_ref().to_vec())
    }
}
