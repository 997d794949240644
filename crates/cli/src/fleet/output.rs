//! The output while many write to it, and its two ends.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tempfile::NamedTempFile;

use crate::error::CliError;
use crate::run::output::Output;

/// Bytes copied at a time.
const COPIED: usize = 1 << 20;

/// The output as the supermaster has it.
pub struct Whole {
    output: Output,
    /// Standard output, pipes and devices have no places to write at: their report is made in a file of its own first.
    detour: Option<NamedTempFile>,
    path: PathBuf,
}

/// The output as those have it who write parts of it.
#[derive(Clone)]
pub struct Shared {
    path: Arc<Path>,
    file: Arc<OnceLock<File>>,
}

/// Bytes of one stretch of the output.
pub struct Stretch {
    /// Where they go.
    pub offset: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Whole {
    /// Takes an opened output, which many will write to.
    ///
    /// # Errors
    /// If it needs a file of its own and none can be made in the current directory.
    pub fn new(output: Output) -> Result<Self, CliError> {
        if let Some(path) = output.unfinished() {
            return Ok(Whole { output, detour: None, path });
        }
        let here = Path::new(".");
        let detour =
            tempfile::Builder::new().prefix(".fleetblast-").suffix(".part").tempfile_in(here);
        let detour = detour.and_then(|file| Ok((fs::canonicalize(file.path())?, file)));
        let (path, detour) = detour.map_err(|error| {
            CliError::output(format_args!(
                "a file in the current directory, needed where ranks do not write to a regular file: {error}; \
                 name one with -out"
            ))
        })?;
        Ok(Whole { output, detour: Some(detour), path })
    }

    /// Where the others write.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the end of the report, after which it gets its name.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn finish(mut self, offset: u64, end: &[u8]) -> Result<(), CliError> {
        Shared::new(&self.path).write(&[Stretch { offset, bytes: end.to_vec() }])?;
        if let Some(detour) = self.detour.take() {
            let failed = |error: std::io::Error| failure(&self.path, None, &error);
            let mut file = File::open(detour.path()).map_err(failed)?;
            let mut buffer = vec![0; COPIED];
            loop {
                match file.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(length) => self.output.write(&buffer[..length])?,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(failed(error)),
                }
            }
        }
        self.output.commit()
    }
}

impl Shared {
    /// The output that the supermaster made at `path`.
    pub fn new(path: &Path) -> Self {
        Shared { path: path.into(), file: Arc::default() }
    }

    /// Writes what belongs together; each stretch with one call.
    ///
    /// # Errors
    /// Names file and place.
    pub fn write(&self, stretches: &[Stretch]) -> Result<(), CliError> {
        let file = match self.file.get() {
            Some(file) => file,
            None => {
                let file = File::options().write(true).open(&self.path);
                let file = file.map_err(|error| failure(&self.path, None, &error))?;
                self.file.get_or_init(|| file)
            }
        };
        for Stretch { offset, bytes } in stretches {
            file.write_all_at(bytes, *offset)
                .map_err(|error| failure(&self.path, Some(*offset), &error))?;
        }
        Ok(())
    }
}

fn failure(path: &Path, offset: Option<u64>, error: &std::io::Error) -> CliError {
    let place = offset.map_or_else(String::new, |offset| format!(" at byte {offset}"));
    CliError::output(format_args!("{}{place}: {error}", path.display()))
}
