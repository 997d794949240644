//! An option by its name and the type of its value: what it is read by.

use std::ffi::OsString;

use super::parse::Value;
use super::refused::Refused;
use super::spec::{Constraint, Group, Kind, OptionSpec};

/// An option whose value is a `T`. Its name is spelled here only: tables hold its [`spec`](Self::spec), and what was
/// typed is read by it ([`Values`](super::values::Values)).
///
/// A program may have an option with another default, range or text than others have. The spec in its table tells
/// these; the constant tells what is the same for all.
#[derive(Debug)]
pub struct Opt<T: 'static> {
    /// What a table holds of it.
    pub spec: OptionSpec,
    reader: Reader<T>,
}

/// How a value becomes a `T`.
#[derive(Debug)]
enum Reader<T: 'static> {
    /// By its type.
    Value(fn(&Value) -> Option<T>),
    /// It is what this place of the list of words stands for.
    Word(&'static [T]),
}

/// The words that the value of an option may be, and what each stands for.
#[derive(Debug)]
pub struct Choices<T, const N: usize> {
    words: [&'static str; N],
    values: [T; N],
}

impl<T: Copy, const N: usize> Choices<T, N> {
    /// Of pairs, in the order in which help and errors tell the words.
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
    /// What a value stands for; nothing if it is of another type than the option.
    pub(super) fn typed(&self, value: &Value) -> Option<T> {
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
    /// The word that stands for a value, if one does.
    pub fn spelled(&self, value: &T) -> Option<&'static str> {
        let Reader::Word(values) = self.reader else { return None };
        let at = values.iter().position(|other| other == value)?;
        self.spec.words().get(at).copied()
    }
}

impl Opt<bool> {
    /// An option without a value: true if it is given.
    pub const fn flag(name: &'static str, group: Group, help: &'static [&'static str]) -> Self {
        let reader = |value: &Value| Some(*value == Value::Flag);
        Self::new(OptionSpec::new(name, Kind::Flag, group, help), Reader::Value(reader))
    }

    /// True or false.
    pub const fn boolean(name: &'static str, group: Group, help: &'static [&'static str]) -> Self {
        let reader = |value: &Value| match value {
            Value::Boolean(value) => Some(*value),
            _ => None,
        };
        Self::new(OptionSpec::new(name, Kind::Boolean, group, help), Reader::Value(reader))
    }
}

impl Opt<f64> {
    /// A floating-point number.
    pub const fn real(name: &'static str, group: Group, help: &'static [&'static str]) -> Self {
        let reader = |value: &Value| match value {
            Value::Real(value) => Some(*value),
            _ => None,
        };
        Self::new(OptionSpec::new(name, Kind::Real, group, help), Reader::Value(reader))
    }
}

impl Opt<OsString> {
    /// Any text.
    pub const fn text(name: &'static str, group: Group, help: &'static [&'static str]) -> Self {
        Self::of_text(OptionSpec::new(name, Kind::Text, group, help))
    }

    /// A file to read.
    pub const fn input(name: &'static str, group: Group, help: &'static [&'static str]) -> Self {
        Self::of_text(OptionSpec::new(name, Kind::InputFile, group, help))
    }

    /// A file to write.
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
    /// A 32-bit integer. Its constraint must keep it in the range of `T`.
    pub const fn integer(name: &'static str, group: Group, help: &'static [&'static str]) -> Self {
        let spec = OptionSpec::new(name, Kind::Integer, group, help);
        Self::new(spec, Reader::Value(whole))
    }

    /// A 64-bit integer.
    pub const fn long(name: &'static str, group: Group, help: &'static [&'static str]) -> Self {
        let spec = OptionSpec::new(name, Kind::Long, group, help);
        Self::new(spec, Reader::Value(whole))
    }
}

fn whole<T: TryFrom<i64>>(value: &Value) -> Option<T> {
    match value {
        Value::Integer(value) => T::try_from(*value).ok(),
        _ => None,
    }
}

impl<T> Opt<T> {
    /// One of some words, as search programs tell them.
    pub const fn one_of<const N: usize>(
        name: &'static str,
        group: Group,
        help: &'static [&'static str],
        choices: &'static Choices<T, N>,
    ) -> Self {
        let spec = OptionSpec::new(name, Kind::Text, group, help);
        let spec = spec.within(Constraint::OneOf(&choices.words));
        Self::new(spec, Reader::Word(&choices.values))
    }

    /// One of some words, as the database programs tell them.
    pub const fn word<const N: usize>(
        name: &'static str,
        group: Group,
        help: &'static [&'static str],
        choices: &'static Choices<T, N>,
    ) -> Self {
        let spec = OptionSpec::new(name, Kind::Text, group, help);
        let spec = spec.within(Constraint::Word(&choices.words));
        Self::new(spec, Reader::Word(&choices.values))
    }

    const fn new(spec: OptionSpec, reader: Reader<T>) -> Self {
        Self { spec, reader }
    }

    /// Its name, without the dash.
    pub const fn name(&self) -> &'static str {
        self.spec.name
    }

    /// With these lines of help.
    pub const fn help(self, help: &'static [&'static str]) -> Self {
        Self::new(self.spec.help(help), self.reader)
    }

    /// With this word for the value.
    pub const fn label(self, label: &'static str) -> Self {
        Self::new(self.spec.label(label), self.reader)
    }

    /// With this default.
    pub const fn default(self, value: &'static str) -> Self {
        Self::new(self.spec.default(value), self.reader)
    }

    /// With this constraint.
    pub const fn within(self, constraint: Constraint) -> Self {
        Self::new(self.spec.within(constraint), self.reader)
    }

    /// With these incompatible options.
    pub const fn excludes(self, names: &'static [&'static str]) -> Self {
        Self::new(self.spec.excludes(names), self.reader)
    }

    /// With these required options.
    pub const fn requires(self, names: &'static [&'static str]) -> Self {
        Self::new(self.spec.requires(names), self.reader)
    }

    /// Known from BLAST+ or another program, but refused.
    pub const fn unsupported(self) -> Self {
        Self::new(self.spec.unsupported(), self.reader)
    }

    /// With these refusals.
    pub const fn refused(self, refused: Refused) -> Self {
        Self::new(self.spec.refused(refused), self.reader)
    }

    /// That must be given.
    pub const fn mandatory(self) -> Self {
        Self::new(self.spec.mandatory(), self.reader)
    }
}
