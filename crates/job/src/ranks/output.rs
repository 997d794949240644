//! The output of a job. Several ranks write to it, and one rank publishes it.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use fleetblast_report::sam::SamHeader;
use fleetblast_spool::{Checkpoint, Run, Summary, open_regular};

use super::metadata_stream::MetadataStream;
use super::{checkpoint, record_chain, sam_header};
use crate::cleanup::{CleanupGuard, register_cleanup};
use crate::error::Error;
use crate::interrupt::EarlySignalHandler;
use crate::output::part::{self, RunId};
use crate::output::report_delayed_errors;
use crate::output::{self, Output};
use crate::plan::Destination;

/// Bytes copied at a time.
const COPIED: usize = 1 << 20;

/// The output on the supermaster's rank, which publishes it.
pub struct JobOutput {
    path: PathBuf,
    publication: Publication,
    /// For a SAM report, the header without references.
    pub header: Option<SamHeader>,
    /// Whether the output is metadata, whose records must be joined to one chain of checksums.
    pub is_metadata: bool,
    /// The stream to another site, if metadata are sent.
    pub stream: Option<MetadataStream>,
    /// The error that ended reading queries. It is reported after the report.
    pub read_error: Option<Error>,
}

/// How the report is published. Ranks write at offsets. Standard output, pipes and devices have
/// none, so their report is written to a temporary file first.
enum Publication {
    /// The temporary file is renamed.
    Named(Output),
    /// The temporary file is copied to an output that is already open.
    Copied(Output),
    /// For a job with a checkpoint: the temporary file is renamed.
    Renamed(UnfinishedReport, PathBuf),
    /// For a job with a checkpoint: the temporary file is copied to an output that is opened at the
    /// end. Until then, a signal can drain the job.
    CopiedLate(UnfinishedReport, Destination),
    /// The records of the blocks are the report. The summary is set at the end of the job.
    Records(Option<Summary>),
}

/// The temporary file of a job with a checkpoint. The file is removed when this is dropped.
struct UnfinishedReport {
    path: PathBuf,
    /// Removes the file when the process ends suddenly.
    _cleanup: CleanupGuard,
}

impl UnfinishedReport {
    fn new(path: &Path) -> Self {
        let unfinished = path.to_owned();
        let cleanup = register_cleanup(move || {
            let _ = fs::remove_file(&unfinished);
        });
        UnfinishedReport { path: path.to_owned(), _cleanup: cleanup }
    }
}

impl Drop for UnfinishedReport {
    fn drop(&mut self) {
        // The next run creates the report again, so a failure does no harm.
        let _ = fs::remove_file(&self.path);
    }
}

/// The output on a rank that writes parts of it.
#[derive(Clone)]
pub struct SharedOutput {
    path: Arc<Path>,
    file: Arc<OnceLock<File>>,
}

/// Consecutive bytes of the output, to be written.
pub struct OutputSlice {
    /// Offset in the output, in bytes.
    pub offset: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl JobOutput {
    /// Prepares an open output so that many ranks can write to it.
    ///
    /// # Errors
    /// The output needs a temporary file, which cannot be created in the current directory.
    pub fn new(mut output: Output) -> Result<Self, Error> {
        if let Some(path) = output.temporary_path() {
            return Ok(JobOutput::with_publication(path, Publication::Named(output)));
        }
        let path = output.create_join_file().map_err(|error| {
            Error::output(format_args!(
                "a file in the current directory, needed where ranks do not write to a regular file: {error}; \
                 name one with -out"
            ))
        })?;
        Ok(JobOutput::with_publication(path, Publication::Copied(output)))
    }

    fn with_publication(path: PathBuf, publication: Publication) -> Self {
        JobOutput {
            path,
            publication,
            header: None,
            is_metadata: false,
            stream: None,
            read_error: None,
        }
    }

    /// Creates the output of a job with a checkpoint. While `early_end` is in force, a signal
    /// removes the file.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn resumable(
        destination: &Destination,
        run: &Run,
        early_end: Option<&EarlySignalHandler>,
    ) -> Result<Self, Error> {
        let wanted = match destination {
            Destination::File(path) => output::resolve_replaced_path(path),
            // The parts are joined beside the checkpoint, and divided into files at the end.
            Destination::Stdout | Destination::Files(_) => None,
            Destination::Records(_) => {
                return Ok(JobOutput::with_publication(
                    run.root.clone(),
                    Publication::Records(None),
                ));
            }
        };
        let id = Some(RunId { job: run.job, number: run.number });
        let make = || {
            if let Some(wanted) = &wanted
                && let Some((_, path)) = output::create_replacement_file(wanted, id)?
            {
                return Ok((true, path));
            }
            let (_, path) = part::create(&run.root.join("report"), id, output::PRIVATE_FILE_MODE)?;
            Ok((false, path))
        };
        let made = match early_end {
            Some(early_end) => early_end.create_watched_file(make),
            None => make(),
        };
        let place = wanted.as_deref().unwrap_or(&run.root);
        let failed = |error: io::Error| failure(place, None, &error);
        let (is_beside, path) = made.map_err(failed)?;
        let wanted = wanted.filter(|_| is_beside);
        let path = fs::canonicalize(&path).map_err(|error| failure(&path, None, &error))?;
        let unfinished = UnfinishedReport::new(&path);
        let publication = match wanted {
            Some(wanted) => Publication::Renamed(unfinished, wanted),
            None => Publication::CopiedLate(unfinished, destination.clone()),
        };
        Ok(JobOutput::with_publication(path, publication))
    }

    /// Returns the path of the file that ranks write to.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets the summary of a report that consists of records.
    pub fn set_summary(&mut self, summary: Summary) {
        if let Publication::Records(known) = &mut self.publication {
            *known = Some(summary);
        }
    }

    /// Publishes the report: renames it, copies it, or ends its stream. All ranks must have closed
    /// the file before. Other hosts may not see bytes before the host that wrote them closes the
    /// file (NFS).
    ///
    /// If the report is incomplete, a regular file is removed. Other outputs receive the incomplete
    /// report, as in a search without ranks.
    ///
    /// # Errors
    /// A file cannot be written; or another run has taken over the checkpoint, and owns the report
    /// now; or queries could not be read, so that the report is incomplete.
    pub fn publish(self, checkpoint: Option<&Checkpoint>) -> Result<(), Error> {
        if let Some(checkpoint) = checkpoint {
            checkpoint.renew_lock().map_err(|error| checkpoint::checkpoint_error(&error))?;
        }
        if let Some(header) = self.header {
            let put = sam_header::insert_header(&self.path, header);
            put.map_err(|error| failure(&self.path, None, &error))?;
        }
        if let Some(stream) = self.stream {
            // If metadata are sent, the file itself is only temporary.
            return self.read_error.map_or_else(|| stream.finish(), Err);
        }
        if self.is_metadata {
            record_chain::join_records(&self.path)
                .map_err(|error| failure(&self.path, None, &error))?;
        }
        if let Some(failure) = self.read_error {
            match self.publication {
                Publication::Named(_)
                | Publication::Renamed(..)
                | Publication::Records(_)
                | Publication::CopiedLate(_, Destination::Files(_)) => {}
                Publication::Copied(output) => copy(&self.path, output)?,
                Publication::CopiedLate(_unfinished, destination) => {
                    copy(&self.path, Output::open(&destination)?)?;
                }
            }
            return Err(failure);
        }
        match self.publication {
            Publication::Named(output) => output.commit(),
            Publication::Copied(output) => copy(&self.path, output),
            Publication::CopiedLate(_unfinished, destination) => {
                copy(&self.path, Output::open(&destination)?)
            }
            Publication::Records(summary) => match (checkpoint, summary) {
                (Some(checkpoint), Some(summary)) => checkpoint
                    .complete(&summary)
                    .map_err(|error| checkpoint::checkpoint_error(&error)),
                _ => Err(Error::engine("the size of the report was not computed")),
            },
            Publication::Renamed(_unfinished, wanted) => {
                // The checkpoint is removed afterwards, so the report must be on disk.
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
    /// Creates access to the output, which the supermaster has created at `path`.
    pub fn new(path: &Path) -> Self {
        SharedOutput { path: path.into(), file: Arc::default() }
    }

    /// Writes slices of the output, each with one call.
    ///
    /// # Errors
    /// Bytes cannot be written. The message names the file and the offset.
    pub fn write(&self, output_slices: &[OutputSlice]) -> Result<(), Error> {
        let file = match self.file.get() {
            Some(file) => file,
            None => {
                let file = open_regular(File::options().write(true), &self.path);
                let file = file.map_err(|error| failure(&self.path, None, &error))?;
                self.file.get_or_init(|| file)
            }
        };
        for OutputSlice { offset, bytes } in output_slices {
            file.write_all_at(bytes, *offset)
                .map_err(|error| failure(&self.path, Some(*offset), &error))?;
        }
        Ok(())
    }

    /// Reports delayed errors: those of bytes that this rank wrote and that its host has not stored
    /// yet.
    ///
    /// # Errors
    /// Bytes could not be stored. The message names the file.
    pub fn flush(&self) -> Result<(), Error> {
        let stored = self.file.get().map_or(Ok(()), report_delayed_errors);
        stored.map_err(|error| failure(&self.path, None, &error))
    }

    /// Brings the bytes to disk that this rank wrote.
    ///
    /// # Errors
    /// Bytes could not be stored. The message names the file.
    pub fn sync(&self) -> Result<(), Error> {
        let synced = self.file.get().map_or(Ok(()), File::sync_all);
        synced.map_err(|error| failure(&self.path, None, &error))
    }
}

fn failure(path: &Path, offset: Option<u64>, error: &io::Error) -> Error {
    let place = offset.map_or_else(String::new, |offset| format!(" at byte {offset}"));
    Error::output(format_args!("{}{place}: {error}", path.display()))
}

/// Publishes the report of a job, on the supermaster's rank. All ranks must have closed the file
/// before.
///
/// # Errors
/// See [`JobOutput::publish`].
pub fn publish(
    outputs: impl IntoIterator<Item = JobOutput>,
    checkpoint: Option<&Checkpoint>,
) -> Result<(), Error> {
    outputs.into_iter().try_for_each(|output| output.publish(checkpoint))
}
