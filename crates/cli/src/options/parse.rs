//! Parses a command line the way BLAST+ does (`ncbiargs.cpp`): single dashes, whole names, values
//! apart or after `=`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use fleetblast_job::error::{Error, exit};

use super::constraint::{Constraint, Kind};
use super::nearest::nearest;
use super::number::{self, ValueParseError};
use super::spec::{CONFFILE, LOGFILE, OptionSpec, Program};
use super::usage::{self, ProgramName};
use super::version::VersionOption;
use super::xml;
use crate::logfile;
use crate::messages::somebody_reads;

/// Value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A flag.
    Flag,
    /// Text or a path.
    Text(OsString),
    /// An integer of 32 or 64 bits.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// A truth value.
    Boolean(bool),
}

/// The values of the given options, by name.
pub type GivenOptions = BTreeMap<&'static str, Value>;

/// The result of parsing a command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Print this text and end.
    Print(String),
    /// Print the version and end.
    PrintVersion(VersionOption),
    /// Run with these options.
    Run(GivenOptions),
}

/// Option of every BLAST+ program that its help does not show: end after the arguments are checked.
const DRY_RUN: &[u8] = b"dryrun";

/// An error of the parser: BLAST+'s name for its kind, the message, and a second message if there
/// is one.
struct Failure {
    code: &'static str,
    message: String,
    cause: Option<ValueParseError>,
    /// The option that was probably meant.
    meant: Option<&'static str>,
}

impl Failure {
    fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), cause: None, meant: None }
    }

    /// Builds the error with the usage text before it, as BLAST+ prints it. On a terminal, the
    /// option that was probably meant follows.
    fn report(self, program: &Program, name: ProgramName) -> Error {
        let Failure { code, message, cause, meant } = self;
        let cause = cause.map(|cause| format!("Error: {cause}\n")).unwrap_or_default();
        let meant = meant.filter(|_| somebody_reads());
        let meant = meant.map_or(String::new(), |meant| format!("\nDid you mean -{meant}?"));
        let message =
            format!("{cause}Error: {message}\nError:  (CArgException::{code}) {message}{meant}");
        after_usage(program, name, message)
    }
}

/// Builds the error of arguments that this message describes, with the usage text before it. The
/// file of `-logfile` gets the message only.
fn after_usage(program: &Program, name: ProgramName, message: String) -> Error {
    let (usage, rule) = (usage::brief(program, name), "=".repeat(72));
    let hint = "Error in command-line arguments. See error logs for more details.\n";
    let message = match logfile::say_on_screen(&format!("{usage}{hint}{rule}\n\n")) {
        true => message,
        false => format!("{usage}{rule}\n\n{message}"),
    };
    Error::new(exit::INPUT, message)
}

/// Converts the error of a file that a running program could not open to BLAST+'s report of an
/// error in the arguments. Returns other errors as they are.
pub fn convert_file_error(program: &Program, name: ProgramName, error: Error) -> Error {
    let Some(what) = error.message.strip_prefix("Command line argument error: ") else {
        return error;
    };
    let failed = "Error: Application's execution failed";
    let message = format!("Error: {what}\n{failed}\nError:  (CArgException::eNoFile) {what}");
    after_usage(program, name, message)
}

/// Formats `Argument "NAME". WHAT:  `VALUE'`; without the value if it is empty.
fn about(name: &str, what: &str, value: &OsStr) -> String {
    let value = value.to_string_lossy();
    let value = if value.is_empty() { String::new() } else { format!(":  `{value}'") };
    format!("Argument \"{name}\". {what}{value}")
}

/// Parses the arguments after the name of the program.
///
/// # Errors
/// Exit code 1 with BLAST+'s usage text and messages for unknown, repeated, incomplete or
/// ill-matched options.
pub fn parse(
    program: &Program,
    name: ProgramName,
    arguments: &[OsString],
) -> Result<Request, Error> {
    let report = |failure: Failure| failure.report(program, name);
    let mut given = GivenOptions::new();
    let (mut positional, mut is_dry) = (false, false);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = argument.as_bytes();
        if !positional && text == b"--" {
            positional = true;
            continue;
        }
        if positional || text.len() < 2 || text[0] != b'-' {
            let lone = program.positional_option.filter(|lone| !given.contains_key(lone));
            if let Some(option) = lone.and_then(|lone| program.find(lone)) {
                given.insert(option.name, convert(&option, Some(argument)).map_err(report)?);
                continue;
            }
            let message = format!(
                "Too many positional arguments (1), the offending value: {}",
                argument.to_string_lossy()
            );
            return Err(report(Failure::new("eSynopsis", message)));
        }
        let (key, attached) = split(&text[1..]);
        if key == DRY_RUN && program.is_of_blast() && attached.is_none() {
            is_dry = true;
            continue;
        }
        let is_read_first = [LOGFILE.name, CONFFILE.name].iter().any(|name| name.as_bytes() == key);
        if is_read_first && program.is_of_blast() && attached.is_none() && rest.len() == 0 {
            // Without a value, BLAST+ ignores the option.
            continue;
        }
        if text == b"-help-full" && program.release.is_some_and(|release| release.has_full_help) {
            return Ok(Request::Print(usage::full_with_hidden(program, name)));
        }
        let option = option_named(program, key).map_err(report)?;
        match text {
            b"-h" => return Ok(Request::Print(usage::brief(program, name))),
            b"-help" => return Ok(Request::Print(usage::full(program, name))),
            b"-xmlhelp" => return Ok(Request::Print(xml::xml_text(program))),
            _ => {}
        }
        let ignores_value = program.release.is_none_or(|release| release.flags_may_have_values);
        let value = match attached {
            Some(_) if option.kind == Kind::Flag && !ignores_value => {
                let message = format!("Invalid argument: {}", argument.to_string_lossy());
                return Err(report(Failure::new("eInvalidArg", message)));
            }
            _ if option.kind == Kind::Flag => None,
            Some(value) => Some(OsStr::from_bytes(value)),
            None => Some(rest.next().map(OsString::as_os_str).ok_or_else(|| {
                let what = about(&format!("-{}", option.name), "Value is missing", OsStr::new(""));
                report(Failure::new("eNoArg", what))
            })?),
        };
        let value = convert(&option, value).map_err(report)?;
        if given.insert(option.name, value).is_some() {
            let message = format!("Argument with this name is defined already: {}", option.name);
            return Err(report(Failure::new("eSynopsis", message)));
        }
    }
    check_ties(program, &given).map_err(report)?;
    Ok(if is_dry { Request::Print(String::new()) } else { Request::Run(given) })
}

/// Returns a text that is printed regardless of the other arguments. BLAST+ has such texts for
/// versions only. Options with two dashes are for users new to BLAST+'s single dashes.
pub fn find_priority_option(
    program: &Program,
    name: ProgramName,
    arguments: &[OsString],
) -> Option<Request> {
    let typed = |word: &str| arguments.iter().any(|argument| argument == word);
    if program.is_of_blast() {
        let mut words = arguments.iter().map(|argument| argument.as_bytes());
        if let Some(option) = words.find_map(VersionOption::from_word) {
            return Some(Request::PrintVersion(option));
        }
    }
    if typed("-version") || name == ProgramName::FleetBlast && typed("--version") {
        return Some(Request::PrintVersion(VersionOption::Short));
    }
    let first = arguments.first().is_some_and(|argument| argument == "--help");
    let is_help = name == ProgramName::FleetBlast && first;
    is_help.then(|| Request::Print(usage::full(program, name)))
}

/// Returns the path of `-logfile`, where messages about the arguments go.
pub fn log_path<'a>(program: &Program, arguments: &'a [OsString]) -> Option<&'a OsStr> {
    let path = last_value(LOGFILE.name, arguments).filter(|path| !path.is_empty());
    path.filter(|_| program.is_of_blast())
}

/// Returns the name of the file of `-conffile`.
pub fn configuration_name<'a>(program: &Program, arguments: &'a [OsString]) -> Option<&'a OsStr> {
    last_value(CONFFILE.name, arguments).filter(|_| program.is_of_blast())
}

/// Returns the last value of an option, which BLAST+ finds before it parses the arguments.
fn last_value<'a>(name: &str, arguments: &'a [OsString]) -> Option<&'a OsStr> {
    let is_option =
        |at: usize| split(arguments[at].as_bytes()).0.strip_prefix(b"-") == Some(name.as_bytes());
    let value = |at: usize| match split(arguments[at].as_bytes()).1 {
        Some(value) => Some(OsStr::from_bytes(value)),
        None => arguments.get(at + 1).map(OsString::as_os_str),
    };
    (0..arguments.len()).filter(|&at| is_option(at)).filter_map(value).next_back()
}

/// Splits `NAME=VALUE` at the sign.
fn split(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|&byte| byte == b'=') {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

fn option_named(program: &Program, key: &[u8]) -> Result<OptionSpec, Failure> {
    let key_text = String::from_utf8_lossy(key);
    let fail = |message: String| Failure::new("eInvalidArg", message);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if key.is_empty() {
        // BLAST+ prints this position if there were no positional arguments before.
        return Err(fail("Unexpected extra argument, at position # 4294967295".to_owned()));
    }
    if !key.iter().all(is_name) || key.starts_with(b"--") || key == b"-" {
        return Err(fail(format!("Invalid argument name: {key_text}")));
    }
    if let Some(option) = program.find(&key_text) {
        return Ok(option);
    }
    let message = format!("Unknown argument: \"{key_text}\"");
    let meant = nearest(&key_text, program.all().map(|option| option.name));
    Err(Failure { meant, ..Failure::new("eInvalidArg", message) })
}

/// Converts the text of an option to its value.
fn convert(option: &OptionSpec, text: Option<&OsStr>) -> Result<Value, Failure> {
    let Some(text) = text else { return Ok(Value::Flag) };
    let bytes = text.as_bytes();
    let wrap = |cause: ValueParseError| Failure {
        code: "eConvert",
        message: about(option.name, "Argument cannot be converted", text),
        cause: Some(cause),
        meant: None,
    };
    let value = match option.kind {
        Kind::Flag => Value::Flag,
        Kind::Text | Kind::InputFile | Kind::OutputFile => Value::Text(text.to_owned()),
        Kind::Long => Value::Integer(number::parse_int8(bytes).map_err(wrap)?),
        Kind::Integer => {
            let value = number::parse_int8(bytes).map_err(wrap)?;
            if i32::try_from(value).is_err() {
                let message = about(option.name, "Integer value is out of range", text);
                return Err(Failure::new("eConvert", message));
            }
            Value::Integer(value)
        }
        Kind::Real => Value::Real(number::parse_double(bytes).map_err(wrap)?),
        Kind::Boolean => Value::Boolean(number::parse_bool(bytes).map_err(wrap)?),
    };
    if is_allowed(option.constraint, bytes) {
        return Ok(value);
    }
    let usage = option.constraint.usage().unwrap_or_default();
    let what = about(option.name, &format!("Illegal value, expected {usage}"), text);
    Err(Failure::new("eConstraint", what))
}

/// Returns whether an option accepts a value from any source, such as the header of metadata.
pub fn accepts(option: &OptionSpec, value: &Value) -> bool {
    let text = match value {
        Value::Flag => return option.kind == Kind::Flag,
        Value::Boolean(_) => return option.kind == Kind::Boolean,
        Value::Text(text) => text.clone(),
        Value::Integer(value) => value.to_string().into(),
        Value::Real(value) => format!("{value:e}").into(),
    };
    let is_of_kind = match (option.kind, value) {
        (Kind::Text | Kind::InputFile | Kind::OutputFile, Value::Text(_)) => true,
        (Kind::Long, Value::Integer(_)) => true,
        (Kind::Integer, &Value::Integer(value)) => i32::try_from(value).is_ok(),
        (Kind::Real, Value::Real(_)) => true,
        _ => false,
    };
    is_of_kind && is_allowed(option.constraint, text.as_bytes())
}

/// Returns the value of an option that is not given: false for a flag, else its default, if it has
/// one.
///
/// # Panics
/// If the option does not accept its own default.
pub(super) fn default(option: &OptionSpec) -> Option<Value> {
    if option.kind == Kind::Flag {
        return Some(Value::Boolean(false));
    }
    let text = option.default?;
    let value = convert(option, Some(OsStr::new(text)));
    Some(value.unwrap_or_else(|_| panic!("-{} cannot be {text} by default", option.name)))
}

/// Returns whether a constraint accepts a value. BLAST+ checks and converts the text with different
/// parsers: `1e` is a number only for an unconstrained option.
fn is_allowed(constraint: Constraint, text: &[u8]) -> bool {
    let strict = || number::parse_double_strict(text);
    match constraint {
        Constraint::Any => true,
        Constraint::AtLeast(min) => strict().is_ok_and(|value| value >= f64::from(min)),
        Constraint::AtMost(max) => strict().is_ok_and(|value| value <= f64::from(max)),
        Constraint::OneNumber(numbers) => {
            number::parse_int4(text).is_ok_and(|value| numbers.contains(&value))
        }
        Constraint::Ranges(ranges) => number::parse_int4(text)
            .is_ok_and(|value| ranges.iter().any(|&(from, to)| (from..=to).contains(&value))),
        Constraint::UpTo(max) => {
            strict().is_ok_and(|value| (0.0..=f64::from(max)).contains(&value))
        }
        Constraint::BelowHalf => strict().is_ok_and(|value| value > 0.0 && value < 0.5),
        Constraint::Percent => {
            number::parse_double(text).is_ok_and(|value| (0.0..=100.0).contains(&value))
        }
        Constraint::Between(from, to) => {
            number::parse_int8(text).is_ok_and(|value| (from.into()..=to.into()).contains(&value))
        }
        Constraint::FileNameBelow(limit) => {
            let name = text.rsplit(|&byte| byte == b'/').next().unwrap_or(text);
            name.len() < limit as usize
        }
        Constraint::OneOf(words) | Constraint::Word(words) => {
            words.iter().any(|word| word.as_bytes() == text)
        }
    }
}

/// Checks required and excluded options: exclusions by name first, then missing options in the
/// order of the usage text.
fn check_ties(program: &Program, given: &GivenOptions) -> Result<(), Failure> {
    for name in given.keys() {
        let option = program.find(name);
        let excludes = option.map_or(Vec::new(), |option| program.excluded_by(&option));
        if let Some(other) = excludes.iter().find(|other| given.contains_key(**other)) {
            let message = about(other, "Incompatible with argument", OsStr::new(name));
            return Err(Failure::new("eConstraint", message));
        }
    }
    for option in program.all().filter(|option| !given.contains_key(option.name)) {
        if option.mandatory {
            let attributes = option.attributes().unwrap_or_default();
            let message = about(option.name, "Mandatory value is missing", attributes.as_ref());
            return Err(Failure::new("eNoArg", message));
        }
        let requires = |name: &&&str| {
            program.find(name).is_some_and(|other| other.requires.contains(&option.name))
        };
        if let Some(requester) = given.keys().find(requires) {
            let what = "Must be specified, as it is required by argument";
            let message = about(option.name, what, OsStr::new(requester));
            return Err(Failure::new("eConstraint", message));
        }
    }
    Ok(())
}
