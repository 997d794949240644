//! Files and ranges that options name, and their checks.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf, absolute};

use fleetblast_job::error::Error;
use fleetblast_job::plan::{Destination, ReportFiles, Source, Subjects};
use fleetblast_report::model::Notation;
use fleetblast_stats::release::Release;

use crate::exceptions::conversion_error;
use crate::options::number;
use crate::options::search::database::{DatabaseOptions, SUBJECT};
use crate::options::typed::to_text;

/// Largest number of attempts to open an output file that other processes create and remove.
const LOOKS: usize = 1000;

/// Returns the subjects from `-db`, `-subject` and `-subject_loc`.
pub fn subjects(options: &DatabaseOptions, release: &Release) -> Result<Subjects, Error> {
    if let Some(db) = &options.db {
        return Ok(Subjects::Database(to_text(db)));
    }
    let Some(subject) = &options.subject else {
        return Err(Error::query_options(
            "Either a BLAST database or subject sequence(s) must be specified",
        ));
    };
    let source = source(SUBJECT.name(), subject)?;
    let range = range(options.subject_loc.as_deref(), "subject", release)?;
    Ok(Subjects::Fasta { source, name: to_text(subject), range })
}

/// Returns an input file, opened once to check that it can be read.
pub fn source(option: &str, path: &OsStr) -> Result<Source, Error> {
    if path == "-" {
        return Ok(Source::Stdin);
    }
    if !is_fifo(path)
        && let Err(error) = File::open(path)
    {
        return Err(Error::cannot_open(option, &to_text(path), &error));
    }
    Ok(Source::File(PathBuf::from(path)))
}

/// Returns an output file, opened once to check that it can be written. Its contents are kept until
/// the report is written. A file that this check creates is removed again: it would look like a
/// report without hits if the job fails.
pub fn destination(option: &str, path: &OsStr) -> Result<Destination, Error> {
    if path == "-" {
        return Ok(Destination::Stdout);
    }
    if !is_fifo(path) && !can_be_written(Path::new(path)) {
        return Err(Error::inaccessible(option, &to_text(path)));
    }
    Ok(Destination::File(PathBuf::from(path)))
}

/// Returns the output file of a report whose format has this number, opened once to check that it
/// can be written.
pub fn report_destination(option: &str, path: &OsStr, format: i32) -> Result<Destination, Error> {
    let notation = match format {
        13 => Notation::Json,
        14 => Notation::Xml,
        _ => return destination(option, path),
    };
    Ok(match destination(option, path)? {
        Destination::File(index) => Destination::Files(ReportFiles { index, notation }),
        other => other,
    })
}

/// Returns the directory of a report in records. Its contents are checked when the job begins.
pub fn records(option: &str, path: &OsStr) -> Result<Destination, Error> {
    if path == "-" {
        return Err(Error::query_options(
            "-output records needs a directory, which is made or is empty: name it with -out",
        ));
    }
    let directory = PathBuf::from(path);
    if fs::metadata(&directory).is_ok_and(|meta| !meta.is_dir()) {
        return Err(Error::query_options(format_args!(
            "-output records needs a directory, and {} is none: name a new or an empty one with -{option}",
            directory.display()
        )));
    }
    Ok(Destination::Records(directory))
}

/// Returns whether a file can be written. All ranks of a job check at the same time, so the file
/// may appear and disappear meanwhile. Each rank removes only a file that it has created.
fn can_be_written(path: &Path) -> bool {
    let mut path = path.to_owned();
    for _ in 0..LOOKS {
        let made = File::create_new(&path);
        if made.is_ok() {
            return fs::remove_file(&path).is_ok();
        }
        let opened = OpenOptions::new().write(true).open(&path);
        let kind = |file: &io::Result<File>| file.as_ref().err().map(io::Error::kind);
        if (kind(&made), kind(&opened))
            != (Some(ErrorKind::AlreadyExists), Some(ErrorKind::NotFound))
        {
            return opened.is_ok();
        }
        // The name is a link to a file that does not exist yet, or was just removed.
        if let (Ok(to), Some(directory)) = (fs::read_link(&path), path.parent()) {
            path = directory.join(to);
        }
    }
    false
}

/// Refuses two options for output that name the same file.
pub fn refuse_same_file(
    (own, out): (&str, &Destination),
    (name, other): (&str, &Destination),
) -> Result<(), Error> {
    let (Destination::File(out), Destination::File(other)) = (out, other) else { return Ok(()) };
    let is_device = fs::metadata(out).is_ok_and(|meta| !meta.is_file());
    if is_device || !matches!((absolute(out), absolute(other)), (Ok(a), Ok(b)) if a == b) {
        return Ok(());
    }
    Err(Error::query_options(format_args!(
        "-{own} and -{name} both name {}, where one would replace the other; give another name to one of them",
        out.display()
    )))
}

/// Returns whether a path is a named pipe: opening it for a check would disturb the process at its
/// other end.
fn is_fifo(path: &OsStr) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.file_type().is_fifo())
}

/// Parses a range `start-stop`, counted from 1 with both ends included (`ParseSequenceRange`,
/// blast_input_aux.cpp). BLAST+ reports a bad range as an engine error, and a bound that is no
/// number as an unexpected exception.
pub fn range(
    text: Option<&OsStr>,
    what: &str,
    release: &Release,
) -> Result<Option<Range<usize>>, Error> {
    let Some(text) = text else { return Ok(None) };
    let bad = |reason: &str| {
        Error::engine(format_args!("Invalid specification of {what} location ({reason})"))
    };
    let parts: Vec<&[u8]> = text.as_bytes().split(|&byte| byte == b'-').collect();
    let [from, to] = parts[..] else { return Err(bad("Format: start-stop")) };
    if from.is_empty() || to.is_empty() {
        return Err(bad("Format: start-stop"));
    }
    let number = |part| number::parse_int4(part).map_err(|error| conversion_error(&error, release));
    let (from, to) = (number(from)?, number(to)?);
    match (usize::try_from(from), usize::try_from(to)) {
        (Ok(from @ 1..), Ok(to @ 1..)) if from < to => Ok(Some(from - 1..to)),
        (Ok(from @ 1..), Ok(to @ 1..)) if from == to => Err(bad("range cannot be empty")),
        (Ok(1..), Ok(1..)) => Err(bad("start cannot be larger than stop")),
        _ => Err(bad("range elements cannot be less than or equal to 0")),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::thread;

    use super::*;

    #[test]
    fn many_look_at_an_output_at_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("report");
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..2000).for_each(|_| assert!(can_be_written(&path))));
            }
        });
        assert!(!path.exists(), "nothing is left");
    }

    #[test]
    fn links_are_followed_and_nothing_is_left_behind() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        symlink("second", at("first")).expect("a link");
        symlink("missing", at("second")).expect("a link");
        symlink("nowhere/missing", at("lost")).expect("a link");
        symlink("loop", at("loop")).expect("a link");
        assert!(can_be_written(&at("first")));
        assert!(!at("missing").exists());
        for impossible in ["lost", "loop", "nowhere/missing", "first/below", "."] {
            assert!(!can_be_written(&at(impossible)), "{impossible}");
        }
        fs::write(at("missing"), "report").expect("a file");
        assert!(can_be_written(&at("first")));
        assert_eq!(fs::read(at("missing")).expect("a file"), b"report");
    }
}
