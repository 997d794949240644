//! `-compat`: the release of BLAST+ whose rules a search follows. BLAST+ does not have this option.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use fleetblast_db::{DbError, SearchPath};
use fleetblast_job::error::{Error, ErrorKind, exit};
use fleetblast_stats::release::{MissingDatabase, Release};

use crate::installed_blast::{Installation, InstalledBlast, UnusableBlast, VARIABLE};
use crate::options::opt::{Opt, ValueWords};
use crate::options::parse::{GivenOptions, Value};
use crate::options::spec::{Group, OptionSpec};

/// The options, in the order of the usage text.
pub const OPTIONS: &[OptionSpec] = &[COMPAT.spec];

/// The value of `-compat` for the release of the BLAST+ that is installed. It is replaced by the
/// number of a release before options are read.
pub const AUTO: &str = "auto";

/// A value of `-compat`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compat {
    /// A release given by its number.
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
        "Release of BLAST+ whose results and reports the search has; auto is that of the BLAST+ \
         beside the link or in PATH, or 2.17.0 without one of these releases",
        "Default = the environment variable FLEETBLAST_COMPAT, or auto",
    ],
    &CHOICES,
)
.label("release");

/// Why a program follows a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `-compat` names it.
    Option,
    /// The environment variable names it.
    Variable,
    /// Release of the installed BLAST+ that this path names.
    Installed(PathBuf),
    /// Latest known release: no BLAST+ is installed (`None`), or one of an unknown release.
    Latest(Option<InstalledBlast>),
    /// Latest known release: the installed BLAST+ does not state its own.
    Unusable(UnusableBlast),
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Option => write!(out, "by -{}", COMPAT.name()),
            Reason::Variable => write!(out, "by {VARIABLE}"),
            Reason::Installed(program) => write!(out, "as {}", program.display()),
            Reason::Latest(None) => write!(out, "the latest known; no BLAST+ found"),
            Reason::Latest(Some(InstalledBlast { program, version })) => {
                write!(out, "the latest known; {} is {version}", program.display())
            }
            Reason::Unusable(UnusableBlast { program, problem }) => {
                write!(out, "the latest known; {} is unusable: {problem}", program.display())
            }
        }
    }
}

/// A release, and why a program follows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenRelease {
    /// The release.
    pub release: &'static Release,
    /// The reason why the program follows the release.
    pub reason: Reason,
}

impl ChosenRelease {
    /// Returns a text about an installed BLAST+ that cannot be followed because it fails.
    pub fn problem(&self) -> Option<String> {
        let Reason::Unusable(UnusableBlast { program, problem }) = &self.reason else {
            return None;
        };
        Some(format!(
            "{} does not state its release: {problem}. The report is that of {}; -{} or {VARIABLE} \
             names another release.",
            program.display(),
            self.release.version,
            COMPAT.name(),
        ))
    }
}

/// Returns the release of `-compat` in the arguments of a program, or else of the environment
/// `variable`, or else of the BLAST+ that `find_installed` finds. The parser refuses other values
/// of the option later.
///
/// # Errors
/// A variable that is not the number of a release.
pub fn choose_release(
    arguments: &[OsString],
    variable: Option<&OsStr>,
    find_installed: impl FnOnce() -> Installation,
) -> Result<ChosenRelease, Error> {
    if let Some((Compat::Release(release), reason)) = choose(arguments, variable)? {
        return Ok(ChosenRelease { release, reason });
    }
    let (release, reason) = match find_installed() {
        Installation::Found(blast) => match Release::find(&blast.version) {
            Some(release) => (release, Reason::Installed(blast.program)),
            None => (latest(), Reason::Latest(Some(blast))),
        },
        Installation::None => (latest(), Reason::Latest(None)),
        Installation::Unusable(blast) => (latest(), Reason::Unusable(blast)),
    };
    Ok(ChosenRelease { release, reason })
}

/// The latest release.
fn latest() -> &'static Release {
    Release::ALL[Release::ALL.len() - 1]
}

/// Returns the choice that `-compat` in the arguments makes, or else that of the environment
/// variable; `None` without either.
fn choose(
    arguments: &[OsString],
    variable: Option<&OsStr>,
) -> Result<Option<(Compat, Reason)>, Error> {
    let parse = |text: &OsStr| COMPAT.convert(&Value::Text(text.to_owned()));
    let mut words = arguments.iter().map(|word| word.as_bytes());
    while let Some(word) = words.next() {
        let value = match word.strip_prefix(b"-compat") {
            Some(b"") => words.next(),
            Some(rest) => rest.strip_prefix(b"="),
            None => continue,
        };
        if let Some(choice) = value.and_then(|value| parse(OsStr::from_bytes(value))) {
            return Ok(Some((choice, Reason::Option)));
        }
    }
    let Some(variable) = variable else { return Ok(None) };
    let choice = parse(variable).map(|choice| Some((choice, Reason::Variable)));
    choice.ok_or_else(|| {
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

/// Sets `-compat` to this release, as if the user had given it. The program must have the option.
pub fn insert_release(release: &Release, given: &mut GivenOptions) {
    given.insert(COMPAT.name(), Value::Text(release.version.into()));
}

/// Advice that later releases add to the message about a missing database.
const MISSING_DATABASE_ADVICE: &str =
    ". Please verify the spelling of the BLAST database and its molecule type.";

/// Converts the error for a missing database, or for a missing file of a database, to the error of
/// the release.
pub fn convert_error(release: &Release, error: Error) -> Error {
    match (error.kind, release.missing_database) {
        (ErrorKind::MissingDatabase, MissingDatabase::NamedWithAdvice) => {
            Error { message: error.message + MISSING_DATABASE_ADVICE, ..error }
        }
        (ErrorKind::MissingDatabase | ErrorKind::UnmappedFile, MissingDatabase::Unmapped) => {
            Error {
                exit_code: exit::ENGINE,
                message: "BLAST Database error: Database memory map file error".to_owned(),
                ..error
            }
        }
        _ => error,
    }
}

/// Returns the release's error for a list or a file of a database that is missing or invalid.
pub fn database_file_error(release: &Release, what: impl fmt::Display) -> Error {
    convert_error(release, Error { kind: ErrorKind::UnmappedFile, ..Error::database(what) })
}

/// Returns the text of an error of the database in exceptions and warnings of the release.
pub fn database_error_text(release: &Release, error: &DbError) -> String {
    match (error, release.missing_database) {
        (DbError::NotFound { .. }, MissingDatabase::NamedWithAdvice) => {
            format!("{error}{MISSING_DATABASE_ADVICE}")
        }
        _ => error.to_string(),
    }
}

/// Converts an error of the database to the words of the release.
pub fn in_words_of(release: &Release, error: DbError) -> DbError {
    if release.expands_taxa { error.in_later_words() } else { error }
}

/// Converts an error of the database to the error of the release, including the error for a missing
/// database.
pub fn database_error(release: &Release, error: DbError) -> Error {
    convert_error(release, in_words_of(release, error).into())
}

/// Returns the search path of this process, for databases whose sequences are counted as in this
/// release.
///
/// # Errors
/// See [`SearchPath::from_environment`].
pub fn search_path(release: &Release) -> Result<SearchPath, DbError> {
    Ok(SearchPath::from_environment()?.counting_oid_lists(release.counts_oid_lists))
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
    fn the_installed_release_is_looked_up_for_auto_and_by_default() {
        let installed = |version: &str| {
            let (program, version) = (PathBuf::from("/bin/blastp"), version.to_owned());
            move || Installation::Found(InstalledBlast { program, version })
        };
        let choose = |words: &[&str], variable: Option<&str>, version: &str| {
            let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
            let variable = variable.map(OsStr::new);
            let chosen = choose_release(&arguments, variable, installed(version));
            let chosen = chosen.expect("a release");
            (chosen.release.version, chosen.reason.to_string())
        };
        let expected = |version, reason: &str| (version, reason.to_owned());
        assert_eq!(
            choose(&["-compat", "2.16.0"], Some(AUTO), "2.12.0"),
            expected("2.16.0", "by -compat")
        );
        assert_eq!(
            choose(&[], Some("2.16.0"), "2.12.0"),
            expected("2.16.0", "by FLEETBLAST_COMPAT")
        );
        let found = expected("2.12.0", "as /bin/blastp");
        assert_eq!(choose(&["-compat=auto"], Some("2.16.0"), "2.12.0"), found);
        assert_eq!(choose(&[], Some(AUTO), "2.12.0"), found);
        assert_eq!(choose(&["-evalue", "1"], None, "2.12.0"), found);
        let unknown = expected("2.17.0", "the latest known; /bin/blastp is 2.14.1");
        assert_eq!(choose(&["-compat", "wrong"], Some(AUTO), "2.14.1"), unknown);
        let none = choose_release(&[], None, || Installation::None).expect("a release");
        assert_eq!(none.release, &Release::V2_17_0);
        assert_eq!(none.reason, Reason::Latest(None));
        let (program, problem) = (PathBuf::from("/bin/blastp"), "it failed".to_owned());
        let broken = || Installation::Unusable(UnusableBlast { program, problem });
        let chosen = choose_release(&[], None, broken).expect("a release");
        let reason = "the latest known; /bin/blastp is unusable: it failed";
        assert_eq!((chosen.release, &*chosen.reason.to_string()), (&Release::V2_17_0, reason));
    }
}
