//! The properties of a job of another program. A resumed job must have the same properties.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use fleetblast_seq::input::FileVersion;
use fleetblast_spool::{DatabaseProperties, JobProperties, VolumeProperties};

use crate::error::Error;
use crate::inputs::digest;
use crate::plan::WrappedJobPlan;
use crate::ranks::job_properties::{PROGRAM, digest_rereadable_input};

/// Returns all known data on which the output depends. The program may read further files, which
/// its command does not name. Blocks have `residues` letters. `queries` is the version of the query
/// file when it was opened.
///
/// # Errors
/// Queries cannot be read again, or have changed.
pub fn job_properties(
    plan: &WrappedJobPlan,
    residues: u64,
    queries: Option<FileVersion>,
) -> Result<JobProperties, Error> {
    let words: Vec<_> = plan.command.iter().map(|word| word.to_string_lossy()).collect();
    let mut options = vec![
        ("the command".to_owned(), words.join(" ")),
        ("-join".to_owned(), format!("{:?}", plan.join).to_lowercase()),
    ];
    let program = plan.command.first().and_then(|program| find_program(program));
    if let Some(program) = program {
        options.push(("the program".to_owned(), digest(&program)?.to_string()));
    }
    let volume = |path: &PathBuf| {
        let meta = fs::metadata(path).ok();
        let changed = meta.as_ref().and_then(|meta| meta.modified().ok());
        let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        VolumeProperties {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            date: changed.map_or_else(String::new, |time| time.as_nanos().to_string()),
            sequences: 0,
            index: meta.map_or_else(String::new, |meta| meta.len().to_string()),
            residues: String::new(),
            headers: String::new(),
        }
    };
    Ok(JobProperties {
        program: "wrap".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: digest(Path::new(PROGRAM))?.to_string(),
        query: digest_rereadable_input(&plan.query, "-query", queries)?,
        database: DatabaseProperties {
            name: plan.database.to_string_lossy().into_owned(),
            volumes: plan.files.iter().map(volume).collect(),
            ..DatabaseProperties::default()
        },
        options: options.into_iter().collect(),
        blocks: format!("{residues} residues or {} queries", plan.block_queries),
    })
}

/// Finds the file of a program as the system does.
fn find_program(program: &OsStr) -> Option<PathBuf> {
    if Path::new(program).components().count() > 1 {
        return Some(PathBuf::from(program));
    }
    let directories = env::var_os("PATH")?;
    env::split_paths(&directories).map(|path| path.join(program)).find(|path| path.is_file())
}
