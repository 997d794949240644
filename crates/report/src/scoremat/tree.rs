//! Values of ASN.1, whatever they mean.

/// A value.
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
    /// A name that stands for a value, such as `TRUE`.
    Word(&'static str),
    /// One of several kinds of values, by its name.
    Choice(&'static str, Box<Value>),
    /// Values with names.
    Fields(Vec<(&'static str, Value)>),
    /// Values without.
    List(Vec<Value>),
}

impl Value {
    /// A choice.
    pub fn choice(name: &'static str, value: Value) -> Value {
        Value::Choice(name, Box::new(value))
    }
}
