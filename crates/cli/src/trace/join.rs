//! One file from the parts of all ranks.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Description, PROCESS};

/// Where a rank's part of a trace is while it works.
pub fn part_path(trace: &Path, rank: u32) -> PathBuf {
    let mut name = OsString::from(trace);
    name.push(format!(".{rank}.part"));
    name.into()
}

/// Makes a trace of what its ranks recorded, one after the other, and removes the parts. All of them must have finished.
///
/// # Errors
/// Parts that cannot be read, a trace that cannot be written.
pub fn join(trace: &Path, description: &Description) -> io::Result<()> {
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
        for line in BufReader::new(File::open(&part)?).lines() {
            write!(out, ",\n{}", line?)?;
        }
        fs::remove_file(&part)?;
    }
    out.write_all(b"\n]}\n")?;
    out.flush()
}
