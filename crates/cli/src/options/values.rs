//! What was given to a program, in the types of its options, with the defaults of its table.

use fleetblast_job::error::Error;

use super::opt::Opt;
use super::parse::{self, Given, Value};
use super::refused::Refused;
use super::spec::{Group, Kind, OptionSpec, Program};

/// The options given to a program, read by their constants.
///
/// To read an option that the table of the program does not have, or has otherwise than it is read, is a defect of
/// this program and panics, whatever was typed.
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

    /// What was typed, or else the default: for flags, which default to false, and options that must be given or have
    /// a default.
    ///
    /// # Panics
    /// If the option is none of these, or not of the program.
    pub fn get<T: Clone>(&self, option: &Opt<T>) -> T {
        let spec = self.spec(option);
        let may_lack = spec.default.is_none() && !spec.mandatory && spec.kind != Kind::Flag;
        match self.value(option, spec) {
            Some(value) if !may_lack => value,
            _ => panic!("{}: -{} may have no value", self.program.name, spec.name),
        }
    }

    /// What was typed, if it was: for options without a default.
    ///
    /// # Panics
    /// If the option has a default, or is not of the program.
    pub fn optional<T: Clone>(&self, option: &Opt<T>) -> Option<T> {
        let spec = self.spec(option);
        let always = spec.default.is_some() || spec.mandatory || spec.kind == Kind::Flag;
        assert!(!always, "{}: -{} always has a value", self.program.name, spec.name);
        self.value(option, spec)
    }

    /// Whether the program has an option.
    pub fn has<T>(&self, option: &Opt<T>) -> bool {
        self.program.find(option.name()).is_some()
    }

    /// Whether an option was typed.
    ///
    /// # Panics
    /// If it is not of the program.
    pub fn is_given<T>(&self, option: &Opt<T>) -> bool {
        self.given.contains_key(self.spec(option).name)
    }

    /// The error for the first option or value given, in the order of the usage text, that
    /// FleetBLAST always refuses.
    pub fn unsupported(&self) -> Option<Error> {
        let name = self.program.name;
        self.program.all().find_map(|option| {
            let value = self.given.get(option.name)?;
            let refused = match option.refused {
                Refused::Always => format!("-{}", option.name),
                Refused::Values(values) => {
                    let word = word(option, value)?;
                    values.iter().find(|refused| **refused == word)?;
                    format!("-{} {word}", option.name)
                }
                Refused::Nothing | Refused::When(_) | Refused::ValuesWhen(..) => return None,
            };
            // BLAST+ has no such option either.
            let is_own = option.group == Group::FLEETBLAST || !self.program.is_of_blast();
            Some(match is_own {
                true => Error::not_yet(format_args!("{name} {refused}")),
                false => Error::unsupported(name, refused),
            })
        })
    }

    /// What the table tells of an option.
    fn spec<T>(&self, option: &Opt<T>) -> &'static OptionSpec {
        let spec = self.program.find(option.name()).filter(|spec| spec.kind == option.spec.kind);
        spec.unwrap_or_else(|| panic!("{}: no such -{}", self.program.name, option.name()))
    }

    fn value<T: Clone>(&self, option: &Opt<T>, spec: &OptionSpec) -> Option<T> {
        let value = self.given.get(spec.name).cloned().or_else(|| parse::default(spec))?;
        let typed = option.typed(&value);
        Some(typed.unwrap_or_else(|| panic!("-{} cannot be {value:?}", spec.name)))
    }
}

/// The value of an option whose values the table knows, as it is written there.
fn word(option: &OptionSpec, value: &Value) -> Option<String> {
    match value {
        Value::Boolean(value) => Some(value.to_string()),
        Value::Text(text) if !option.words().is_empty() => Some(text.to_str()?.to_owned()),
        _ => None,
    }
}
