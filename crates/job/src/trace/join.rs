//! One file from the parts of all ranks.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde_json::json;

use super::{Description, PROCESS};

/// Where a rank's part of a trace is while it works.
fn part_path(trace: &Path, rank: u32) -> PathBuf {
    let mut name = OsString::from(trace);
    name.push(format!(".{rank}.part"));
    name.into()
}

/// A new part, in a directory where others may write, too: what is there of that name, as after a run that was killed, is
/// removed and not written to, nor is a link followed.
///
/// # Errors
/// It cannot be made.
pub fn create_part(trace: &Path, rank: u32) -> io::Result<File> {
    let path = part_path(trace, rank);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => File::create_new(path),
    }
}

/// Opens a part: a file of this owner, and no link.
fn open_part(path: &Path, owner: u32) -> io::Result<File> {
    let file =
        File::options().read(true).custom_flags(OFlags::NOFOLLOW.bits() as i32).open(path)?;
    match file.metadata()?.uid() == owner {
        true => Ok(file),
        false => {
            let what = format!("{} was replaced by another user's file", path.display());
            Err(io::Error::other(what))
        }
    }
}

/// Removes what an earlier run on more ranks left when it was killed.
fn remove_left(trace: &Path, from: u32, owner: u32) {
    for path in (from..).map(|rank| part_path(trace, rank)) {
        // Best effort: they are in nobody's way.
        let own = fs::symlink_metadata(&path).is_ok_and(|meta| meta.uid() == owner);
        if !own || fs::remove_file(path).is_err() {
            return;
        }
    }
}

/// Makes a trace of what its ranks recorded, one after the other, and removes the parts. All of them must have finished.
///
/// # Errors
/// Parts that cannot be read, a trace that cannot be written.
pub fn join(trace: &Path, description: &Description) -> io::Result<()> {
    let own = fs::symlink_metadata(part_path(trace, 0))?.uid();
    let mut out = BufWriter::new(File::create(trace)?);
    let of_process = json!({
        "ph": "M", "pid": PROCESS, "tid": 0, "ts": 0, "name": "process_name",
        "args": {"name": description.made_by},
    });
    write!(
        out,
        "{{\"displayTimeUnit\":\"ms\",\"otherData\":{},\"traceEvents\":[\n{of_process}",
        serde_json::to_string(description)?
    )?;
    for rank in 0..description.ranks {
        let part = part_path(trace, rank);
        for line in BufReader::new(open_part(&part, own)?).lines() {
            write!(out, ",\n{}", line?)?;
        }
        fs::remove_file(&part)?;
    }
    remove_left(trace, description.ranks, own);
    out.write_all(b"\n]}\n")?;
    out.flush()
}
