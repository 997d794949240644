//! An option as a typed constant: its name, and how to read its value as a `T`.

use std::ffi::OsString;

use super::constraint::{Constraint, Kind};
use super::later::Later;
use super::parse::Value;
use super::refused::Refused;
use super::spec::{Group, OptionSpec};

/// An option whose value is a `T`. Its name is spelled only here: tables hold its
/// [`spec`](Self::spec), and [`Values`](super::values::Values) reads its value.
///
/// A program may have an option with another default, range or help text than other programs. The
/// spec in the program's table has these; the constant has the properties that all programs share.
#[derive(Debug)]
pub struct Opt<T: 'static> {
    /// The entry of the option in a table.
    pub spec: OptionSpec,
    reader: Reader<T>,
}

/// The conversion of an option's value to a `T`.
#[derive(Debug)]
enum Reader<T: 'static> {
    /// A function for the type of the value.
    Value(fn(&Value) -> Option<T>),
    /// The value of each word that the option accepts, in the order of the words.
    Word(&'static [T]),
}

/// The words that an option accepts, and the value of each.
#[derive(Debug)]
pub struct ValueWords<T, const N: usize> {
    words: [&'static str; N],
    values: [T; N],
}

impl<T: Copy, const N: usize> ValueWords<T, N> {
    /// Builds the list from pairs of a word and its value. Help and errors show the words in this
    /// order.
    pub const fn new(pairs: [(&'static str, T); N]) -> Self {
        let (mut words, mut values) = ([""; N], [pairs[0].1; N]);
        let mut at = 0;
        while at < N {
            (words[at], values[at]) = pairs[at];
            at += 1;
        }
        Self { words, values }
    }
}

impl<T: Clone> Opt<T> {
    /// Converts a value; `None` if it is of another type than the option.
    pub(crate) fn convert(&self, value: &Value) -> Option<T> {
        match self.reader {
            Reader::Value(read) => read(value),
            Reader::Word(values) => {
                let Value::Text(text) = value else { return None };
                let at = self.spec.words().iter().position(|word| text == word)?;
                values.get(at).cloned()
            }
        }
    }
}

impl<T: PartialEq> Opt<T> {
    /// Returns the word that stands for a value, if there is one.
    pub fn word_for_value(&self, value: &T) -> Option<&'static str> {
        let Reader::Word(values) = self.reader else { return None };
        let at = values.iter().position(|other| other == value)?;
        self.spec.words().get(at).copied()
    }
}

impl Opt<bool> {
    /// Creates an option without a value; it is true if it is given.
    pub const fn flag(name: &'static str, group: Group, help: &'static [&'static str]) -> Self {
        let reader = |value: &Value| Some(*value == Value::Flag);
        Self::new(OptionSpec::new(name, Kind::Flag, group, help), Reader::Value(reader))
    }

    /// Creates an option with the value true or false.
    pub const fn boolean(name: &'static str, group: Group, help: &'static [&'static str]) -> Self {
        let reader = |value: &Value| match value {
            Value::Boolean(value) => Some(*value),
            _ => None,
        };
        Self::new(OptionSpec::new(name, Kind::Boolean, group, help), Reader::Value(reader))
    }
}

impl Opt<f64> {
    /// Creates an option with a floating-point number.
    pub const fn real(name: &'static str, group: Group, help: &'static [&'static str]) -> Self {
        let reader = |value: &Value| match value {
            Value::Real(value) => Some(*value),
            _ => None,
        };
        Self::new(OptionSpec::new(name, Kind::Real, group, help), Reader::Value(reader))
    }
}

impl Opt<OsString> {
    /// Creates an option with any text.
    pub const fn text(name: &'static str, group: Group, help: &'static [&'static str]) -> Self {
        Self::of_text(OptionSpec::new(name, Kind::Text, group, help))
    }

    /// Creates an option with a file to read.
    pub const fn input(name: &'static str, group: Group, help: &'static [&'static str]) -> Self {
        Self::of_text(OptionSpec::new(name, Kind::InputFile, group, help))
    }

    /// Creates an option with a file to write.
    pub const fn output(name: &'static str, group: Group, help: &'static [&'static str]) -> Self {
        Self::of_text(OptionSpec::new(name, Kind::OutputFile, group, help))
    }

    const fn of_text(spec: OptionSpec) -> Self {
        let reader = |value: &Value| match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        };
        Self::new(spec, Reader::Value(reader))
    }
}

impl<T: TryFrom<i64>> Opt<T> {
    /// Creates an option with a 32-bit integer. Its constraint must keep it in the range of `T`.
    pub const fn integer(name: &'static str, group: Group, help: &'static [&'static str]) -> Self {
        let spec = OptionSpec::new(name, Kind::Integer, group, help);
        Self::new(spec, Reader::Value(convert_integer))
    }

    /// Creates an option with a 64-bit integer.
    pub const fn long(name: &'static str, group: Group, help: &'static [&'static str]) -> Self {
        let spec = OptionSpec::new(name, Kind::Long, group, help);
        Self::new(spec, Reader::Value(convert_integer))
    }
}

fn convert_integer<T: TryFrom<i64>>(value: &Value) -> Option<T> {
    match value {
        Value::Integer(value) => T::try_from(*value).ok(),
        _ => None,
    }
}

impl<T> Opt<T> {
    /// Creates an option with one of some words, described in the style of the search programs.
    pub const fn one_of<const N: usize>(
        name: &'static str,
        group: Group,
        help: &'static [&'static str],
        choices: &'static ValueWords<T, N>,
    ) -> Self {
        let spec = OptionSpec::new(name, Kind::Text, group, help);
        let spec = spec.with_constraint(Constraint::OneOf(&choices.words));
        Self::new(spec, Reader::Word(&choices.values))
    }

    /// Creates an option with one of some words, described in the style of the database programs.
    pub const fn word<const N: usize>(
        name: &'static str,
        group: Group,
        help: &'static [&'static str],
        choices: &'static ValueWords<T, N>,
    ) -> Self {
        let spec = OptionSpec::new(name, Kind::Text, group, help);
        let spec = spec.with_constraint(Constraint::Word(&choices.words));
        Self::new(spec, Reader::Word(&choices.values))
    }

    const fn new(spec: OptionSpec, reader: Reader<T>) -> Self {
        Self { spec, reader }
    }

    /// Returns the name, without the dash.
    pub const fn name(&self) -> &'static str {
        self.spec.name
    }

    /// Sets the paragraphs of help.
    pub const fn help(self, help: &'static [&'static str]) -> Self {
        Self::new(self.spec.help(help), self.reader)
    }

    /// Sets the word for the value in the usage text.
    pub const fn label(self, label: &'static str) -> Self {
        Self::new(self.spec.label(label), self.reader)
    }

    /// Sets the default.
    pub const fn default(self, value: &'static str) -> Self {
        Self::new(self.spec.default(value), self.reader)
    }

    /// Sets the constraint.
    pub const fn with_constraint(self, constraint: Constraint) -> Self {
        Self::new(self.spec.with_constraint(constraint), self.reader)
    }

    /// Sets the options that this one excludes.
    pub const fn excludes(self, names: &'static [&'static str]) -> Self {
        Self::new(self.spec.excludes(names), self.reader)
    }

    /// Sets the options that this one requires.
    pub const fn requires(self, names: &'static [&'static str]) -> Self {
        Self::new(self.spec.requires(names), self.reader)
    }

    /// Marks the option as refused by FleetBLAST.
    pub const fn unsupported(self) -> Self {
        Self::new(self.spec.unsupported(), self.reader)
    }

    /// Leaves the option out of the help under the name of BLAST+'s program.
    pub const fn hidden(self) -> Self {
        Self::new(self.spec.hidden(), self.reader)
    }

    /// Sets the properties that only `-xmlhelp` shows.
    pub const fn xml_flags(self, flags: &'static [&'static str]) -> Self {
        Self::new(self.spec.xml_flags(flags), self.reader)
    }

    /// Sets the values that FleetBLAST refuses.
    pub const fn refused(self, refused: Refused) -> Self {
        Self::new(self.spec.refused(refused), self.reader)
    }

    /// Sets the section of the help text.
    pub const fn group(self, group: Group) -> Self {
        Self::new(self.spec.group(group), self.reader)
    }

    /// Sets the changes in later releases.
    pub const fn later(self, later: &'static [Later]) -> Self {
        Self::new(self.spec.later(later), self.reader)
    }

    /// Makes the option mandatory.
    pub const fn mandatory(self) -> Self {
        Self::new(self.spec.mandatory(), self.reader)
    }
}
