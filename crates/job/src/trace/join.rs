//! Joins the parts of a trace that the ranks wrote.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fleetblast_spool::open_own;
use serde_json::json;

use super::{Description, PROCESS};
use crate::output::write_whole;

/// Returns the path of a rank's part of a trace.
fn part_path(trace: &Path, rank: u32) -> PathBuf {
    let mut name = OsString::from(trace);
    name.push(format!(".{rank}.part"));
    name.into()
}

/// Creates the file of a rank's part, possibly in a directory where other users may write. An
/// existing file of that name, which a killed run may have left, is removed first: it is neither
/// written to nor followed as a link.
///
/// # Errors
/// A file that cannot be created.
pub fn create_part(trace: &Path, rank: u32) -> io::Result<File> {
    let path = part_path(trace, rank);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => File::create_new(path),
    }
}

/// Removes the parts of ranks 0, 1, 2 and so on, up to the first that is missing or of another
/// owner.
fn remove_parts(trace: &Path, owner: u32) {
    for path in (0..).map(|rank| part_path(trace, rank)) {
        // Best effort: parts that stay do no harm.
        let own = fs::symlink_metadata(&path).is_ok_and(|meta| meta.uid() == owner);
        if !own || fs::remove_file(path).is_err() {
            return;
        }
    }
}

/// Joins the parts of all ranks to one trace and removes them, even after an error. All ranks must
/// have finished.
///
/// # Errors
/// Parts that cannot be read, a trace that cannot be written.
pub fn join(trace: &Path, description: &Description) -> io::Result<()> {
    let own = fs::symlink_metadata(part_path(trace, 0))?.uid();
    let joined = write_whole(trace, |file| write(trace, file, description, own));
    // Includes the parts of an earlier run on more ranks that was killed.
    remove_parts(trace, own);
    joined
}

fn write(trace: &Path, file: &mut File, description: &Description, own: u32) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    let process_name = json!({
        "ph": "M", "pid": PROCESS, "tid": 0, "ts": 0, "name": "process_name",
        "args": {"name": description.made_by},
    });
    write!(
        out,
        "{{\"displayTimeUnit\":\"ms\",\"otherData\":{},\"traceEvents\":[\n{process_name}",
        serde_json::to_string(description)?
    )?;
    for rank in 0..description.ranks {
        let part = part_path(trace, rank);
        for line in BufReader::new(
            open_own(File::options().read(true), &part, own).map_err(io::Error::other)?,
        )
        .lines()
        {
            write!(out, ",\n{}", line?)?;
        }
    }
    out.write_all(b"\n]}\n")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_pipe_in_the_place_of_a_part_makes_nobody_wait() {
        let directory = tempfile::tempdir().unwrap();
        let trace = directory.path().join("trace");
        let description = Description { ranks: 2, ..Description::default() };
        drop(create_part(&trace, 0).unwrap());
        let pipe = part_path(&trace, 1);
        mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let error = join(&trace, &description).unwrap_err().to_string();
        assert!(error.contains("trace.1.part is no regular file"), "{error}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "something is left");
    }
}
