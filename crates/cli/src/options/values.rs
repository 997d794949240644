//! The values of a program's options in their types, with the defaults of its table.

use fleetblast_job::error::Error;
use fleetblast_stats::release::Release;

use super::compat;
use super::constraint::Kind;
use super::opt::Opt;
use super::parse::{self, GivenOptions, Value};
use super::refused::Refused;
use super::spec::{Group, OptionSpec, Program};

/// Access to the options given to a program, by their constants.
///
/// Reading an option that the program's table does not have, or has with another type, is a defect
/// of this program: it panics, whatever the command line.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    program: Program,
    given: &'a GivenOptions,
}

impl<'a> Values<'a> {
    /// Wraps options that the parser accepted for this program, in the release that they choose.
    pub fn new(program: &Program, given: &'a GivenOptions) -> Self {
        Self { program: program.in_release(compat::given_release(given)), given }
    }

    /// Returns the value of an option, or its default. This is for flags (false by default),
    /// mandatory options and options with a default.
    ///
    /// # Panics
    /// If the option is none of these, or is not in the program's table.
    pub fn get<T: Clone>(&self, option: &Opt<T>) -> T {
        let spec = self.spec(option);
        let may_lack = spec.default.is_none() && !spec.mandatory && spec.kind != Kind::Flag;
        match self.value(option, &spec) {
            Some(value) if !may_lack => value,
            _ => panic!("{}: -{} may have no value", self.program.name, spec.name),
        }
    }

    /// Returns the value of an option without a default, if it was given.
    ///
    /// # Panics
    /// If the option has a default, or is not in the program's table.
    pub fn optional<T: Clone>(&self, option: &Opt<T>) -> Option<T> {
        let spec = self.spec(option);
        let always = spec.default.is_some() || spec.mandatory || spec.kind == Kind::Flag;
        assert!(!always, "{}: -{} always has a value", self.program.name, spec.name);
        self.value(option, &spec)
    }

    /// Returns the value of an option, if it was given; its default is left out.
    ///
    /// # Panics
    /// If the option is not in the program's table.
    pub fn given<T: Clone>(&self, option: &Opt<T>) -> Option<T> {
        if self.is_given(option) { self.value(option, &self.spec(option)) } else { None }
    }

    /// Returns the value of an option without a default, if the program has it and it was given.
    ///
    /// # Panics
    /// If the option has a default.
    pub fn optional_if_listed<T: Clone>(&self, option: &Opt<T>) -> Option<T> {
        if self.has(option) { self.optional(option) } else { None }
    }

    /// Returns whether a flag was given to a program whose release has it.
    pub fn flag_if_listed(&self, option: &Opt<bool>) -> bool {
        self.has(option) && self.get(option)
    }

    /// Returns the release that the program follows.
    ///
    /// # Panics
    /// If BLAST+ has no such program.
    pub fn release(&self) -> &'static Release {
        self.program.release.expect("a program of BLAST+")
    }

    /// Returns whether the program has an option.
    pub fn has<T>(&self, option: &Opt<T>) -> bool {
        self.program.find(option.name()).is_some()
    }

    /// Returns whether an option was given.
    ///
    /// # Panics
    /// If it is not in the program's table.
    pub fn is_given<T>(&self, option: &Opt<T>) -> bool {
        self.given.contains_key(self.spec(option).name)
    }

    /// Returns the error for the first option or value, in the order of the usage text, that
    /// FleetBLAST always refuses.
    pub fn unsupported(&self) -> Option<Error> {
        let name = self.program.name;
        self.program.all().find_map(|option| {
            let value = self.given.get(option.name)?;
            let refused = match option.refused {
                Refused::Always => format!("-{}", option.name),
                Refused::Values(values) => {
                    let word = word(&option, value)?;
                    values.iter().find(|refused| **refused == word)?;
                    format!("-{} {word}", option.name)
                }
                Refused::Nothing | Refused::When(_) | Refused::ValuesWhen(..) => return None,
            };
            // For an option that BLAST+ does not have, the error does not advise to run BLAST+.
            let is_own = option.group == Group::FLEETBLAST || !self.program.is_of_blast();
            Some(match is_own {
                true => Error::not_yet(format_args!("{name} {refused}")),
                false => Error::unsupported(name, refused),
            })
        })
    }

    /// Returns the option's entry in the table.
    fn spec<T>(&self, option: &Opt<T>) -> OptionSpec {
        let spec = self.program.find(option.name()).filter(|spec| spec.kind == option.spec.kind);
        spec.unwrap_or_else(|| panic!("{}: no such -{}", self.program.name, option.name()))
    }

    fn value<T: Clone>(&self, option: &Opt<T>, spec: &OptionSpec) -> Option<T> {
        let value = self.given.get(spec.name).cloned().or_else(|| parse::default(spec))?;
        let typed = option.convert(&value);
        Some(typed.unwrap_or_else(|| panic!("-{} cannot be {value:?}", spec.name)))
    }
}

/// Returns the value of an option with a fixed set of values, as the table spells it.
fn word(option: &OptionSpec, value: &Value) -> Option<String> {
    match value {
        Value::Boolean(value) => Some(value.to_string()),
        Value::Text(text) if !option.words().is_empty() => Some(text.to_str()?.to_owned()),
        _ => None,
    }
}
