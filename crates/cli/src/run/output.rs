//! Where the report goes. A regular file appears under its name only when it is whole.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::CliError;
use crate::plan::Target;
use crate::program::output_error;

/// Bytes collected before they are written.
const BUFFER: usize = 1 << 20;

/// The open output.
pub struct Output {
    writer: BufWriter<Box<dyn Write>>,
    /// A file that gets its name in the end.
    pending: Option<Pending>,
}

struct Pending {
    written: PathBuf,
    wanted: PathBuf,
    /// The report is whole and has its name.
    committed: bool,
}

impl Output {
    /// Opens the output: a regular file under a name of its own beside the wanted one; pipes and devices directly.
    pub fn open(target: &Target) -> Result<Output, CliError> {
        let (writer, pending): (Box<dyn Write>, _) = match target {
            Target::Stdout => (Box::new(io::stdout().lock()), None),
            Target::File(path) if is_regular(path) => {
                let written = beside(path);
                let file = File::create(&written).map_err(|error| failure(&written, &error))?;
                let wanted = path.clone();
                (Box::new(file), Some(Pending { written, wanted, committed: false }))
            }
            Target::File(path) => {
                let file = File::options().write(true).open(path);
                (Box::new(file.map_err(|error| failure(path, &error))?), None)
            }
        };
        Ok(Output { writer: BufWriter::with_capacity(BUFFER, writer), pending })
    }

    /// Appends to the report.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.writer.write_all(bytes).map_err(|error| self.failure(&error))
    }

    /// Ends the report: everything is written, and a regular file gets its name.
    pub fn commit(mut self) -> Result<(), CliError> {
        self.writer.flush().map_err(|error| self.failure(&error))?;
        if let Some(pending) = &mut self.pending {
            fs::rename(&pending.written, &pending.wanted)
                .map_err(|error| failure(&pending.wanted, &error))?;
            pending.committed = true;
        }
        Ok(())
    }

    fn failure(&self, error: &io::Error) -> CliError {
        match &self.pending {
            Some(pending) => failure(&pending.wanted, error),
            None => output_error(error),
        }
    }
}

impl Drop for Pending {
    /// An unfinished report is removed, and so is the empty file that the check of the option made: nobody shall take either for
    /// a report without hits.
    fn drop(&mut self) {
        if !self.committed {
            // Best effort: the error that led here is what the user is told.
            let _ = fs::remove_file(&self.written);
            if fs::metadata(&self.wanted).is_ok_and(|meta| meta.len() == 0) {
                let _ = fs::remove_file(&self.wanted);
            }
        }
    }
}

fn failure(path: &Path, error: &io::Error) -> CliError {
    CliError::output(format_args!("{}: {error}", path.display()))
}

fn is_regular(path: &Path) -> bool {
    // A link is followed when it is written to, so its target must not be replaced by a file.
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

/// The name under which a report is written until it is whole.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}
