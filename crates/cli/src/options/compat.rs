//! `-compat`: the release of BLAST+ whose rules a search follows. BLAST+ does not have this option.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use fleetblast_job::error::{Error, ErrorKind, exit};
use fleetblast_stats::release::{MissingDatabase, Release};

use crate::options::opt::{Opt, ValueWords};
use crate::options::parse::{GivenOptions, Value};
use crate::options::spec::{Group, OptionSpec};

/// The options, in the order of the usage text.
pub const OPTIONS: &[OptionSpec] = &[COMPAT.spec];

/// Environment variable with the release of searches without `-compat`.
pub const VARIABLE: &str = "FLEETBLAST_COMPAT";

/// The value of `-compat` for the release of the BLAST+ that is installed. It is replaced by the
/// number of a release before options are read.
pub const AUTO: &str = "auto";

/// A value of `-compat`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compat {
    /// This release.
    Release(&'static Release),
    /// The release of the BLAST+ that is installed, or the latest known one.
    Installed,
}

const CHOICES: ValueWords<Compat, { Release::ALL.len() + 1 }> = {
    let mut pairs = [(AUTO, Compat::Installed); Release::ALL.len() + 1];
    let mut number = 0;
    while number < Release::ALL.len() {
        let release = Release::ALL[number];
        pairs[number] = (release.version, Compat::Release(release));
        number += 1;
    }
    ValueWords::new(pairs)
};

/// `-compat`.
pub const COMPAT: Opt<Compat> = Opt::one_of(
    "compat",
    Group::FLEETBLAST,
    &[
        "Release of BLAST+ whose results and reports the search has; auto is that of the",
        "BLAST+ beside the link or in PATH, or 2.17.0 without one of these releases",
        "Default = the environment variable FLEETBLAST_COMPAT, or 2.12.0",
    ],
    &CHOICES,
)
.label("release");

/// Returns the release of `-compat` in the arguments of a program, or else of the environment
/// `variable`; `None` without either. The parser refuses other values of the option later.
/// `installed` finds the release of the BLAST+ that is installed.
///
/// # Errors
/// A variable that is not the number of a release.
pub fn choose_release(
    arguments: &[OsString],
    variable: Option<&OsStr>,
    installed: impl FnOnce() -> Option<&'static Release>,
) -> Result<Option<&'static Release>, Error> {
    let choice = choose(arguments, variable)?;
    let latest = Release::ALL[Release::ALL.len() - 1];
    Ok(choice.map(|choice| match choice {
        Compat::Release(release) => release,
        Compat::Installed => installed().unwrap_or(latest),
    }))
}

fn choose(arguments: &[OsString], variable: Option<&OsStr>) -> Result<Option<Compat>, Error> {
    let parse = |text: &OsStr| COMPAT.convert(&Value::Text(text.to_owned()));
    let mut words = arguments.iter().map(|word| word.as_bytes());
    while let Some(word) = words.next() {
        let value = match word.strip_prefix(b"-compat") {
            Some(b"") => words.next(),
            Some(rest) => rest.strip_prefix(b"="),
            None => continue,
        };
        if let Some(choice) = value.and_then(|value| parse(OsStr::from_bytes(value))) {
            return Ok(Some(choice));
        }
    }
    let Some(variable) = variable else { return Ok(None) };
    parse(variable).map(Some).ok_or_else(|| {
        let known = COMPAT.spec.words().join(", ");
        Error::query_options(format_args!(
            "environment variable {VARIABLE}: '{}' is no release; it may be one of {known}",
            variable.to_string_lossy()
        ))
    })
}

/// Returns the release that the options choose, if they do.
pub fn given_release(given: &GivenOptions) -> Option<&'static Release> {
    released(given.get(COMPAT.name())?)
}

/// Returns the release that a value of `-compat` names.
pub fn released(value: &Value) -> Option<&'static Release> {
    match COMPAT.convert(value)? {
        Compat::Release(release) => Some(release),
        Compat::Installed => None,
    }
}

/// Adds `-compat` to the options of a program that has it, as if the user had given the release
/// there.
pub fn insert_release(release: &Release, given: &mut GivenOptions) {
    given.insert(COMPAT.name(), Value::Text(release.version.into()));
}

/// Converts the error for a missing database to that of the release.
pub fn convert_error(release: &Release, error: Error) -> Error {
    if error.kind != ErrorKind::MissingDatabase {
        return error;
    }
    match release.missing_database {
        MissingDatabase::Named => error,
        MissingDatabase::NamedWithAdvice => Error {
            message: format!(
                "{}. Please verify the spelling of the BLAST database and its molecule type.",
                error.message
            ),
            ..error
        },
        MissingDatabase::Unmapped => Error {
            exit_code: exit::ENGINE,
            message: "BLAST Database error: Database memory map file error".to_owned(),
            ..error
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_has_all_releases() {
        for release in Release::ALL {
            let value = Value::Text(release.version.into());
            assert_eq!(released(&value), Some(release));
        }
    }

    #[test]
    fn the_installed_release_is_looked_up_only_for_auto() {
        type Found = fn() -> Option<&'static Release>;
        let choose = |word: &str, variable: Option<&str>, installed: Found| {
            let arguments = ["-compat".into(), word.into()];
            choose_release(&arguments, variable.map(OsStr::new), installed).expect("a release")
        };
        let none = || panic!("looked up");
        assert_eq!(choose("2.16.0", Some(AUTO), none), Some(&Release::V2_16_0));
        let found = || Some(&Release::V2_12_0);
        assert_eq!(choose(AUTO, Some("2.16.0"), found), Some(&Release::V2_12_0));
        assert_eq!(choose("wrong", Some(AUTO), || None), Some(&Release::V2_17_0));
    }
}
