//! ASN.1 values of any type, as a tree.

/// An ASN.1 value of any type.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A text, printed in quotes.
    Text(Vec<u8>),
    /// Bytes, printed in hexadecimal.
    Bytes(Vec<u8>),
    /// An enumerated value or a boolean, by its name, such as `TRUE`.
    Word(&'static str),
    /// A choice: the name of the chosen alternative, and its value.
    Choice(&'static str, Box<Value>),
    /// A sequence: values with names.
    Fields(Vec<(&'static str, Value)>),
    /// A set or list: values without names.
    List(Vec<Value>),
}

impl Value {
    /// Makes a [`Value::Choice`].
    pub fn choice(name: &'static str, value: Value) -> Value {
        Value::Choice(name, Box::new(value))
    }
}
