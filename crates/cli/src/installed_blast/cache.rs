//! Versions of programs that were run before, in a small file of the user. Running a program of
//! BLAST+ takes longer than many searches.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{env, process};

/// Number of programs in the file. Several machines can share it.
const KEPT: usize = 20;

/// Greatest size of the file in bytes. A larger one is not read.
const MAX_SIZE: u64 = 64 << 10;

/// How programs of Linux and of macOS begin. Of a script nothing is stored: it can run any program.
const BINARY: [[u8; 4]; 3] =
    [*b"\x7fELF", 0xfeed_facf_u32.to_le_bytes(), 0xcafe_babe_u32.to_be_bytes()];

/// The file with versions. Each line has the [identity](identify) of a program, a tab, and its
/// version.
pub struct VersionCache {
    file: PathBuf,
}

impl VersionCache {
    /// Returns the cache of the user: `fleetblast/blast-versions` in `XDG_CACHE_HOME` or
    /// `~/.cache`. `None` if the user has no such directory.
    pub fn of_user() -> Option<Self> {
        let variable = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let home = || env::home_dir().filter(|home| home.is_absolute());
        let directory = match variable.filter(|directory| directory.is_absolute()) {
            Some(directory) => directory,
            None => home()?.join(".cache"),
        };
        Some(Self { file: directory.join("fleetblast").join("blast-versions") })
    }

    /// Returns the stored version of a program, or that which `find` returns, and stores it.
    pub fn version_of(
        &self,
        program: &Path,
        find: impl FnOnce(&Path) -> Option<String>,
    ) -> Option<String> {
        let Some(identity) = identify(program) else { return find(program) };
        let lines = self.lines();
        let stored = lines.iter().find_map(|line| line.strip_prefix(identity.as_str()));
        if let Some(version) = stored.and_then(|rest| rest.strip_prefix('\t')) {
            return Some(version.to_owned());
        }
        let found = find(program);
        // A program that fails may be repaired without a change of its file.
        if let Some(version) = &found {
            self.store(format!("{identity}\t{version}"), &lines);
        }
        found
    }

    /// Returns the lines of the file; none if it cannot be read.
    fn lines(&self) -> Vec<String> {
        let mut text = String::new();
        let read = File::open(&self.file).and_then(|file| {
            let is_small = file.metadata()?.len() <= MAX_SIZE;
            if is_small { file.take(MAX_SIZE).read_to_string(&mut text) } else { Ok(0) }
        });
        if read.is_err() {
            return Vec::new();
        }
        text.lines().map(str::to_owned).collect()
    }

    /// Writes the file with a new first line. Without it the next run takes longer, so errors do
    /// not matter.
    fn store(&self, first: String, others: &[String]) {
        let lines = [&first].into_iter().chain(others).take(KEPT);
        let text: String = lines.flat_map(|line| [line.as_str(), "\n"]).collect();
        let own = self.file.with_extension(process::id().to_string());
        let directory = self.file.parent().map_or(Ok(()), fs::create_dir_all);
        let written = directory.and_then(|()| fs::write(&own, text));
        if written.and_then(|()| fs::rename(&own, &self.file)).is_err() {
            let _ = fs::remove_file(&own);
        }
    }
}

/// Returns a text that changes with the file of a program; `None` for scripts and for files whose
/// path cannot be stored in a line.
fn identify(program: &Path) -> Option<String> {
    let real = program.canonicalize().ok()?;
    let mut start = [0; 4];
    let mut file = File::open(&real).ok()?;
    file.read_exact(&mut start).ok()?;
    let data = file.metadata().ok()?;
    let path = storable(real.as_os_str())?;
    let (device, inode, size) = (data.dev(), data.ino(), data.size());
    let (modified, changed) = (data.mtime_nsec(), data.ctime_nsec());
    let (modified_at, changed_at) = (data.mtime(), data.ctime());
    BINARY.contains(&start).then(|| {
        format!("{path}\t{device} {inode} {size} {modified_at}.{modified} {changed_at}.{changed}")
    })
}

/// Returns a path as text if it has no tab or line end.
fn storable(path: &OsStr) -> Option<&str> {
    let text = std::str::from_utf8(path.as_bytes()).ok()?;
    (!text.contains(['\t', '\n', '\r'])).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_asked_again_when_its_file_changes() {
        let dir = tempfile::tempdir().expect("a directory");
        let cache = VersionCache { file: dir.path().join("new/versions") };
        let program = dir.path().join("blastp");
        let find = |version: &'static str| move |_: &Path| Some(version.to_owned());
        let stored = || -> Option<String> { cache.version_of(&program, |_| panic!("asked")) };
        fs::write(&program, b"\x7fELF 1").expect("a program");
        assert_eq!(cache.version_of(&program, find("2.12.0")).as_deref(), Some("2.12.0"));
        assert_eq!(stored().as_deref(), Some("2.12.0"));
        fs::write(&program, b"\x7fELF 22").expect("another program");
        assert_eq!(cache.version_of(&program, find("2.16.0")).as_deref(), Some("2.16.0"));
        assert_eq!(stored().as_deref(), Some("2.16.0"));
    }

    #[test]
    fn scripts_failures_and_damage_are_not_stored() {
        let dir = tempfile::tempdir().expect("a directory");
        let cache = VersionCache { file: dir.path().join("versions") };
        let program = dir.path().join("blastp");
        fs::write(&program, b"#!/bin/sh\n").expect("a script");
        for version in ["1", "2"] {
            let found = cache.version_of(&program, |_| Some(version.to_owned()));
            assert_eq!(found.as_deref(), Some(version));
        }
        fs::write(&program, b"\x7fELF").expect("a program");
        assert_eq!(cache.version_of(&program, |_| None), None);
        assert_eq!(cache.version_of(&program, |_| Some("3".into())).as_deref(), Some("3"));
        fs::write(&cache.file, [0xff; 100]).expect("damage");
        assert_eq!(cache.version_of(&program, |_| Some("4".into())).as_deref(), Some("4"));
    }

    #[test]
    fn the_file_stays_small() {
        let dir = tempfile::tempdir().expect("a directory");
        let cache = VersionCache { file: dir.path().join("versions") };
        for number in 0..3 * KEPT {
            let program = dir.path().join(number.to_string());
            fs::write(&program, b"\x7fELF").expect("a program");
            cache.version_of(&program, |_| Some("1".into()));
        }
        assert_eq!(cache.lines().len(), KEPT);
        assert_eq!(fs::read_dir(dir.path()).expect("files").count(), 3 * KEPT + 1);
    }
}
