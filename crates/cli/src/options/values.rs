//! Typed look-ups in what was given, with the defaults of the program's table.

use std::ffi::OsString;

use super::number;
use super::parse::{Given, Value};
use super::spec::{Kind, Program};

/// The options given to a program.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    program: &'a Program,
    given: &'a Given,
}

impl<'a> Values<'a> {
    /// Options as the parser accepted them for that program.
    pub fn new(program: &'a Program, given: &'a Given) -> Self {
        Self { program, given }
    }

    /// Whether an option was typed.
    pub fn flag(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// A text or a path.
    pub fn text(&self, name: &str) -> Option<OsString> {
        match self.given.get(name) {
            Some(Value::Text(text)) => Some(text.clone()),
            Some(_) => None,
            None => self.default(name).map(OsString::from),
        }
    }

    /// An integer of 32 or 64 bits.
    pub fn long(&self, name: &str) -> Option<i64> {
        match self.given.get(name) {
            Some(Value::Integer(value)) => Some(*value),
            Some(_) => None,
            None => self.default(name).and_then(|text| number::parse_int8(text.as_bytes()).ok()),
        }
    }

    /// An integer in its natural type. Constraints of the table have kept it in range.
    pub fn integer<T: TryFrom<i64>>(&self, name: &str) -> Option<T> {
        self.long(name).and_then(|value| T::try_from(value).ok())
    }

    /// A floating-point number.
    pub fn real(&self, name: &str) -> Option<f64> {
        match self.given.get(name) {
            Some(Value::Real(value)) => Some(*value),
            Some(_) => None,
            None => self.default(name).and_then(|text| number::parse_double(text.as_bytes()).ok()),
        }
    }

    /// A truth value; false if there is neither a value nor a default.
    pub fn boolean(&self, name: &str) -> bool {
        match self.given.get(name) {
            Some(value) => *value == Value::Boolean(true),
            None => self
                .default(name)
                .is_some_and(|text| number::parse_bool(text.as_bytes()) == Ok(true)),
        }
    }

    /// The first option given, in the order of the usage text, that FleetBLAST does not support.
    pub fn unsupported(&self) -> Option<&'static str> {
        let mut options = self.program.all();
        options.find(|option| !option.supported && self.flag(option.name)).map(|o| o.name)
    }

    fn default(&self, name: &str) -> Option<&'static str> {
        let option = self.program.find(name)?;
        option.default.filter(|_| option.kind != Kind::Flag)
    }
}
