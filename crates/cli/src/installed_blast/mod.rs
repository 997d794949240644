//! The release of the BLAST+ that is installed, for `-compat auto`.

mod cache;

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fleetblast_stats::program::BlastProgram;
use fleetblast_stats::release::Release;

use self::cache::VersionCache;

/// Environment variable with the release of programs without `-compat`.
pub const VARIABLE: &str = "FLEETBLAST_COMPAT";

/// Programs by which BLAST+ is recognized.
const PROGRAMS: [&str; 3] =
    [BlastProgram::Blastp.name(), BlastProgram::Blastn.name(), "makeblastdb"];

/// Time that a program has to print its version.
const LIMIT: Duration = Duration::from_secs(10);

/// How the second line of `-version` of a program of BLAST+ begins, before the number.
const PACKAGE: &str = "Package: blast ";

/// A program of BLAST+.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledBlast {
    /// Path of the program.
    pub program: PathBuf,
    /// Version of the program, such as `2.16.0`.
    pub version: String,
}

/// Returns the first BLAST+ beside the link `called`, if this is a path, or in a directory of
/// `path`, a list like `PATH`. Versions that were found before are in the user's directory of
/// caches.
pub fn find(called: &OsStr, path: &OsStr) -> Option<InstalledBlast> {
    let beside = Path::new(called).parent().filter(|directory| !directory.as_os_str().is_empty());
    let directories = beside.map(Path::to_path_buf).into_iter().chain(std::env::split_paths(path));
    let mut programs = directories
        .flat_map(|directory| PROGRAMS.map(|name| directory.join(name)))
        .filter(|program| program.is_file() && !is_this_program(program));
    let cache = VersionCache::of_user();
    programs.find_map(|program| {
        let version = match &cache {
            Some(cache) => cache.version_of(&program, blast_version),
            None => blast_version(&program),
        };
        Some(InstalledBlast { version: version?, program })
    })
}

/// Whether a path is a link to this program.
fn is_this_program(path: &Path) -> bool {
    let real = |path: PathBuf| path.canonicalize().ok();
    let own = std::env::current_exe().ok().and_then(real);
    own.is_some() && own == real(path.to_path_buf())
}

/// Returns the version of a program of BLAST+. FleetBLAST has another second line.
fn blast_version(program: &Path) -> Option<String> {
    let said = run_version(program)?;
    let package = said.lines().nth(1)?.trim().strip_prefix(PACKAGE)?;
    package.split(',').next().map(str::to_owned)
}

/// Runs a program with `-version`, and kills it if it does not end. Returns what it printed.
fn run_version(program: &Path) -> Option<String> {
    let mut child = Command::new(program)
        .arg("-version")
        // Another FleetBLAST must not look for this one in turn.
        .env(VARIABLE, Release::ALL[0].version)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let deadline = Instant::now() + LIMIT;
    while child.try_wait().ok()?.is_none() {
        if Instant::now() > deadline {
            let _ = child.kill().and_then(|()| child.wait());
            return None;
        }
        thread::sleep(Duration::from_millis(2));
    }
    let mut said = String::new();
    child.stdout.take()?.read_to_string(&mut said).ok()?;
    Some(said)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn install(directory: &Path, name: &str, package: &str) {
        let script = format!("#!/bin/sh\necho {name}: 2.16.0+\necho ' Package: {package}'\n");
        let path = directory.join(name);
        fs::write(&path, script).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
    }

    #[test]
    fn the_first_blast_counts_and_no_fleetblast() {
        let dir = tempfile::tempdir().expect("a directory");
        let sub = |name: &str| {
            let path = dir.path().join(name);
            fs::create_dir(&path).expect("a directory");
            path
        };
        let (links, fleet, blast, newer) = (sub("links"), sub("fleet"), sub("blast"), sub("newer"));
        symlink(std::env::current_exe().expect("this program"), links.join("blastp"))
            .expect("a link");
        install(&fleet, "blastp", "FleetBLAST 9, reports equal blast 2.12.0");
        install(&blast, "makeblastdb", "blast 2.16.0, build Jan 1 2025");
        install(&newer, "blastp", "blast 9.9.0, build Jan 1 2099");
        let find = |called: &str, directories: &[&Path]| {
            let path = std::env::join_paths(directories).expect("directories");
            super::find(OsStr::new(called), &path).map(|found| found.version)
        };
        let some = |version: &str| Some(version.to_owned());
        assert_eq!(find("blastp", &[&links, &fleet, &blast, &newer]), some("2.16.0"));
        assert_eq!(find("blastp", &[&newer, &blast]), some("9.9.0"));
        assert_eq!(find("blastp", &[&links]), None);
        let beside = blast.join("blastp");
        assert_eq!(find(beside.to_str().expect("text"), &[&newer]), some("2.16.0"));
    }
}
