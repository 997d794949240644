//! Finds the oracle of all tests, which is the programs of NCBI BLAST+ 2.12.0.
//!
//! FleetBLAST's programs have the same names and the same first line of `-version`. The second
//! line, the package, therefore identifies a program. The search skips directories of `PATH` with
//! other programs. Without an oracle, tests fail. With `FLEETBLAST_TESTS_WITHOUT_ORACLE=1` each
//! such test prints instead that it tested nothing.

mod deadline;
mod help;
mod share;

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;

pub use deadline::within_a_minute;
pub use help::without_own_sections;
pub use share::{SAMPLE, sample, sample_from, seed};

/// Name of the environment variable that allows tests to run without the oracle if its value is
/// `1`.
pub const WITHOUT_ORACLE_VARIABLE: &str = "FLEETBLAST_TESTS_WITHOUT_ORACLE";

/// Programs that a directory must have to count as the oracle's. The other programs of BLAST+ are
/// in the same directory.
const PROGRAMS: [&str; 3] = ["blastp", "makeblastdb", "blastdbcmd"];

/// The version of the oracle that tests find in `PATH`.
pub const VERSION: &str = "2.12.0";

/// The directory with the programs of BLAST+.
#[derive(Debug, PartialEq, Eq)]
pub struct Oracle {
    directory: PathBuf,
}

/// The error that the oracle is missing or a program is not the oracle's. Its text names the
/// programs found instead, and gives advice.
#[derive(Debug, PartialEq, Eq)]
pub struct OracleError(String);

impl std::fmt::Display for OracleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OracleError {}

impl Oracle {
    /// Finds the first directory with the oracle's programs in `path`, a list like `PATH`.
    ///
    /// # Errors
    /// If no directory has them. The error names other programs of the same names.
    pub fn search(path: &OsStr) -> Result<Oracle, OracleError> {
        let mut others = Vec::new();
        for directory in env::split_paths(path) {
            let programs = PROGRAMS.map(|name| directory.join(name));
            if !programs.iter().any(|program| program.is_file()) {
                continue;
            }
            match programs.iter().find_map(|program| identify(program, VERSION).err()) {
                None => return Ok(Oracle { directory }),
                Some(wrong) => others.push(wrong),
            }
        }
        let others: String = others.iter().map(|wrong| format!("\n  {wrong}")).collect();
        Err(OracleError(format!(
            "no directory of PATH has {} of NCBI BLAST+ {VERSION}, with which the tests compare{others}\n\
             Install it (Debian 12: apt-get install ncbi-blast+), or set {WITHOUT_ORACLE_VARIABLE}=1 to test without it what can be.",
            PROGRAMS.join(", ")
        )))
    }

    /// Finds the oracle in `PATH`. Only the first call searches.
    ///
    /// # Errors
    /// As [`Oracle::search`].
    pub fn find() -> Result<&'static Oracle, &'static OracleError> {
        static FOUND: OnceLock<Result<Oracle, OracleError>> = OnceLock::new();
        let search = || Oracle::search(&env::var_os("PATH").unwrap_or_default());
        FOUND.get_or_init(search).as_ref()
    }

    /// Returns the path of a program of BLAST+.
    pub fn program(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Returns a command that runs a program of BLAST+.
    pub fn command(&self, name: &str) -> Command {
        Command::new(self.program(name))
    }
}

/// Returns the version text of a program.
///
/// # Errors
/// If the program is not one of this version of BLAST+.
pub fn identify(program: &Path, version: &str) -> Result<String, OracleError> {
    let shown = program.display();
    let run = Command::new(program).arg("-version").stdin(Stdio::null()).output();
    let output = run.map_err(|error| OracleError(format!("{shown} cannot be started: {error}")))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let package = said.lines().nth(1).unwrap_or_default().trim();
    if output.status.success() && package.starts_with(&format!("Package: blast {version},")) {
        return Ok(said.trim_end().to_owned());
    }
    Err(OracleError(format!("{shown} is another program: its -version says '{package}'")))
}

/// Whether tests may run without the oracle.
pub fn may_be_missing() -> bool {
    allows(env::var_os(WITHOUT_ORACLE_VARIABLE))
}

fn allows(value: Option<OsString>) -> bool {
    value.is_some_and(|value| value == "1")
}

/// Returns the oracle for a test. Returns `None` if it is missing and tests may run without it.
/// Standard error then names the test that checked nothing.
///
/// # Panics
/// If the oracle is missing and tests may not run without it. A test without comparison proves
/// nothing.
pub fn oracle() -> Option<&'static Oracle> {
    match Oracle::find() {
        Ok(oracle) => Some(oracle),
        Err(missing) if !may_be_missing() => panic!("{missing}"),
        Err(_) => {
            let test = thread::current().name().unwrap_or("a test").to_owned();
            // The test harness hides the output of `eprintln!` unless the test fails.
            let line = format!("NOT TESTED, as BLAST+ {VERSION} is missing: {test}\n");
            let _ = io::stderr().write_all(line.as_bytes());
            None
        }
    }
}

/// Returns a command that runs a program of BLAST+. The test must have checked that the oracle
/// exists.
///
/// # Panics
/// If the oracle is missing.
pub fn command(name: &str) -> Command {
    Oracle::find().unwrap_or_else(|missing| panic!("{missing}")).command(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_one_allows_tests_without_the_oracle() {
        assert!(allows(Some("1".into())));
        for value in [None, Some("".into()), Some("0".into()), Some("yes".into())] {
            assert!(!allows(value));
        }
    }
}
