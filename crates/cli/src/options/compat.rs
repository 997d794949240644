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

const RELEASES: ValueWords<&'static Release, { Release::ALL.len() }> = {
    let mut pairs = [(Release::ALL[0].version, Release::ALL[0]); Release::ALL.len()];
    let mut number = 0;
    while number < pairs.len() {
        pairs[number] = (Release::ALL[number].version, Release::ALL[number]);
        number += 1;
    }
    ValueWords::new(pairs)
};

/// `-compat`.
pub const COMPAT: Opt<&'static Release> = Opt::one_of(
    "compat",
    Group::FLEETBLAST,
    &[
        "Release of BLAST+ whose results and reports the search has. What FleetBLAST",
        "does not have of a release is refused",
        "Default = the environment variable FLEETBLAST_COMPAT, or 2.12.0",
    ],
    &RELEASES,
)
.label("release");

/// Returns the release of `-compat` in the arguments of a program, or else of the environment
/// `variable`; `None` without either. The parser refuses other values of the option later.
///
/// # Errors
/// A variable that is not the number of a release.
pub fn choose_release(
    arguments: &[OsString],
    variable: Option<&OsStr>,
) -> Result<Option<&'static Release>, Error> {
    let mut words = arguments.iter().map(|word| word.as_bytes());
    while let Some(word) = words.next() {
        let value = match word.strip_prefix(b"-compat") {
            Some(b"") => words.next(),
            Some(rest) => rest.strip_prefix(b"="),
            None => continue,
        };
        if let Some(release) = value.and_then(|value| Release::find(str::from_utf8(value).ok()?)) {
            return Ok(Some(release));
        }
    }
    let Some(variable) = variable else { return Ok(None) };
    let found = variable.to_str().and_then(Release::find);
    found.map(Some).ok_or_else(|| {
        let known = Release::ALL.map(|release| release.version).join(", ");
        Error::query_options(format_args!(
            "environment variable {VARIABLE}: '{}' is no release; it may be one of {known}",
            variable.to_string_lossy()
        ))
    })
}

/// Adds `-compat` to the options of a program that has it, as if the user had given the release
/// there.
pub fn insert_release(release: &Release, given: &mut GivenOptions) {
    given.entry(COMPAT.name()).or_insert_with(|| Value::Text(release.version.into()));
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
            assert_eq!(COMPAT.convert(&value), Some(release));
        }
        assert_eq!(COMPAT.spec.words().len(), Release::ALL.len());
    }
}
