//! The output while many write to it, and its two ends.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use fleetblast_report::sam::Header;
use fleetblast_spool::{Checkpoint, Run, Summary, open_regular};

use super::sending::Sending;
use super::{chain, checkpoint, header};
use crate::cleanup::{CleanupGuard, register_cleanup};
use crate::error::Error;
use crate::interrupt::EarlyEnd;
use crate::output::part::{self, RunId};
use crate::output::{self, Output};
use crate::plan::Destination;

/// Bytes copied at a time.
const COPIED: usize = 1 << 20;

/// The output as the supermaster has it.
pub struct Whole {
    path: PathBuf,
    ending: Ending,
    /// Of a report in SAM, that of what comes before its lines.
    pub header: Option<Header>,
    /// It is metadata: records, which are to be joined.
    pub joins: bool,
    /// Metadata are sent to another site.
    pub sending: Option<Sending>,
    /// What keeps the report from being whole: queries after those that it reports cannot be read.
    pub failure: Option<Error>,
}

/// How the report gets where it belongs. Standard output, pipes and devices have no places to write
/// at: their report is made in a file of its own first.
enum Ending {
    /// The file gets its name.
    Named(Output),
    /// It is copied.
    Copied(Output),
    /// With a checkpoint, the file gets its name ...
    Renamed(Unfinished, PathBuf),
    /// ... or is copied to what is opened then: until then, signals have the job end in order.
    CopiedLate(Unfinished, Destination),
    /// The records of the blocks are the report; how much it is, once that is known.
    Records(Option<Summary>),
}

/// The unfinished report of a run with a checkpoint.
struct Unfinished {
    path: PathBuf,
    /// The same at a sudden end.
    _last: CleanupGuard,
}

impl Unfinished {
    fn new(path: &Path) -> Self {
        let sudden = path.to_owned();
        let last = register_cleanup(move || {
            let _ = fs::remove_file(&sudden);
        });
        Unfinished { path: path.to_owned(), _last: last }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Best effort: the next run makes it anew.
        let _ = fs::remove_file(&self.path);
    }
}

/// The output as those have it who write parts of it.
#[derive(Clone)]
pub struct SharedOutput {
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
    pub fn new(mut output: Output) -> Result<Self, Error> {
        if let Some(path) = output.unfinished() {
            return Ok(Whole::of(path, Ending::Named(output)));
        }
        let path = output.detour().map_err(|error| {
            Error::output(format_args!(
                "a file in the current directory, needed where ranks do not write to a regular file: {error}; \
                 name one with -out"
            ))
        })?;
        Ok(Whole::of(path, Ending::Copied(output)))
    }

    fn of(path: PathBuf, ending: Ending) -> Self {
        Whole { path, ending, header: None, joins: false, sending: None, failure: None }
    }

    /// The output of a run with a checkpoint. A signal removes it as long as `early` is in force.
    ///
    /// # Errors
    /// A file that cannot be made.
    pub fn kept(target: &Destination, run: &Run, early: Option<&EarlyEnd>) -> Result<Self, Error> {
        let wanted = match target {
            Destination::File(path) => output::replaced(path),
            Destination::Stdout => None,
            Destination::Records(_) => {
                return Ok(Whole::of(run.root.clone(), Ending::Records(None)));
            }
        };
        let id = Some(RunId { job: run.job, number: run.number });
        let make = || match &wanted {
            Some(wanted) => part::create(wanted, id, output::MODE),
            None => part::create(&run.root.join("report"), id, output::PRIVATE),
        };
        let made = match early {
            Some(early) => early.watch_over(make),
            None => make(),
        };
        let place = wanted.as_deref().unwrap_or(&run.root);
        let failed = |error: io::Error| failure(place, None, &error);
        let (file, path) = made.map_err(failed)?;
        if let Some(old) = wanted.as_ref().and_then(|wanted| fs::metadata(wanted).ok()) {
            // A courtesy to whoever set them; not every file system has them.
            let _ = file.set_permissions(old.permissions());
        }
        let path = fs::canonicalize(&path).map_err(failed)?;
        let unfinished = Unfinished::new(&path);
        let ending = match wanted {
            Some(wanted) => Ending::Renamed(unfinished, wanted),
            None => Ending::CopiedLate(unfinished, target.clone()),
        };
        Ok(Whole::of(path, ending))
    }

    /// Where the others write.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Tells how much a report of records is.
    pub fn sum_up(&mut self, summary: Summary) {
        if let Ending::Records(known) = &mut self.ending {
            *known = Some(summary);
        }
    }

    /// Gives the report its name, or copies it to where it goes. All ranks must have closed the
    /// file: what was written on one host others need not see before that (NFS), and only then can
    /// it be known that all of it is there.
    ///
    /// Of a report that is not whole, a regular file is removed; elsewhere what there is of it is
    /// shown, as a search without ranks has shown it by then.
    ///
    /// # Errors
    /// A file that cannot be written; a checkpoint that another run has taken over meanwhile, whose
    /// report it is now; what kept the report from being whole.
    pub fn publish(self, checkpoint: Option<&Checkpoint>) -> Result<(), Error> {
        if let Some(checkpoint) = checkpoint {
            checkpoint.beat().map_err(|error| checkpoint::failure(&error))?;
        }
        if let Some(header) = self.header {
            let put = header::put(&self.path, header);
            put.map_err(|error| failure(&self.path, None, &error))?;
        }
        if let Some(sending) = self.sending {
            // What is in the file meanwhile is removed.
            return self.failure.map_or_else(|| sending.finish(), Err);
        }
        if self.joins {
            chain::join(&self.path).map_err(|error| failure(&self.path, None, &error))?;
        }
        if let Some(failure) = self.failure {
            match self.ending {
                Ending::Named(_) | Ending::Renamed(..) | Ending::Records(_) => {}
                Ending::Copied(output) => copy(&self.path, output)?,
                Ending::CopiedLate(_unfinished, target) => {
                    copy(&self.path, Output::open(&target)?)?;
                }
            }
            return Err(failure);
        }
        match self.ending {
            Ending::Named(output) => output.commit(),
            Ending::Copied(output) => copy(&self.path, output),
            Ending::CopiedLate(_unfinished, target) => copy(&self.path, Output::open(&target)?),
            Ending::Records(summary) => match (checkpoint, summary) {
                (Some(checkpoint), Some(summary)) => {
                    checkpoint.complete(&summary).map_err(|error| checkpoint::failure(&error))
                }
                _ => Err(Error::engine("nobody has told how much the report is")),
            },
            Ending::Renamed(_unfinished, wanted) => {
                // What is in the checkpoint is removed afterwards.
                let synced = File::open(&self.path).and_then(|file| file.sync_all());
                synced.map_err(|error| failure(&self.path, None, &error))?;
                let renamed = part::put_in_place(&self.path, &wanted)
                    .and_then(|()| File::open(wanted.parent().unwrap_or(Path::new("/"))))
                    .and_then(|directory| directory.sync_all());
                renamed.map_err(|error| failure(&wanted, None, &error))
            }
        }
    }
}

fn copy(path: &Path, mut output: Output) -> Result<(), Error> {
    let failed = |error: io::Error| failure(path, None, &error);
    let mut file = open_regular(File::options().read(true), path).map_err(failed)?;
    let mut buffer = vec![0; COPIED];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return output.commit(),
            Ok(length) => output.write(&buffer[..length])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
}

impl SharedOutput {
    /// The output that the supermaster made at `path`.
    pub fn new(path: &Path) -> Self {
        SharedOutput { path: path.into(), file: Arc::default() }
    }

    /// Writes what belongs together; each stretch with one call.
    ///
    /// # Errors
    /// Names file and place.
    pub fn write(&self, stretches: &[Stretch]) -> Result<(), Error> {
        let file = match self.file.get() {
            Some(file) => file,
            None => {
                let file = open_regular(File::options().write(true), &self.path);
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

    /// Brings to disk what was written here.
    ///
    /// # Errors
    /// Names the file.
    pub fn sync(&self) -> Result<(), Error> {
        let synced = self.file.get().map_or(Ok(()), File::sync_all);
        synced.map_err(|error| failure(&self.path, None, &error))
    }
}

fn failure(path: &Path, offset: Option<u64>, error: &io::Error) -> Error {
    let place = offset.map_or_else(String::new, |offset| format!(" at byte {offset}"));
    Error::output(format_args!("{}{place}: {error}", path.display()))
}
/// Publishes the report of a job when all ranks have closed it, on the rank that has it whole.
///
/// # Errors
/// As [`Whole::publish`].
pub fn publish(
    whole: impl IntoIterator<Item = Whole>,
    checkpoint: Option<&Checkpoint>,
) -> Result<(), Error> {
    whole.into_iter().try_for_each(|whole| whole.publish(checkpoint))
}
