//! The checkpoint of a job that may be resumed: the properties of the job, and its finished blocks.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use fleetblast_fleet::ids::BlockId;
use fleetblast_spool::{
    self as spool, Checkpoint, Codec, InvalidBytes, JobProperties, ResultIndex, ResultKey,
    ResultKind, Run, Scan, StartMode, Summary,
};

use super::job_properties;
use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::plan::{self, Plan};
use crate::processes::Collective;

/// Largest number of damaged records that are reported one by one.
const MOST_REPORTED: usize = 10;

/// Options of the checkpoint.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointOptions<'a> {
    /// The directory from which the job may be resumed. `None` for a job without a checkpoint.
    pub checkpoint: Option<&'a plan::Checkpoint>,
    /// The directory of the report, if the report consists of records.
    pub records: Option<&'a Path>,
    /// Compression of the records.
    pub codec: Codec,
    /// Whether blocks are verified one after the other. Then a finished block needs a record with
    /// the results of its verification.
    pub verified: bool,
}

impl<'a> From<&'a Plan> for CheckpointOptions<'a> {
    fn from(plan: &'a Plan) -> Self {
        CheckpointOptions {
            checkpoint: plan.fleet.checkpoint.as_ref(),
            records: plan.records_directory(),
            codec: plan.fleet.codec,
            verified: plan.has_dependent_blocks(),
        }
    }
}

/// The state of the checkpoint. Every rank has a copy of it.
#[derive(Clone, Debug)]
pub struct CheckpointState {
    /// This run of the job.
    pub run: Run,
    /// Index of the records that earlier runs wrote.
    pub earlier: Arc<ResultIndex>,
    /// Whether the job may be resumed. Then a block counts as finished only when its output is on
    /// disk.
    pub durable: bool,
    /// Whether the report consists of the records, which stay in the directory.
    pub records_are_report: bool,
}

/// The result of opening a checkpoint.
pub enum OpenedCheckpoint {
    /// The job has neither a checkpoint nor a report of records.
    Nothing,
    /// This run has opened the directory, and writes records there.
    Checkpoint(Checkpoint),
    /// The directory has a complete report.
    Complete,
}

/// Opens the checkpoint, or the directory of a report of records. Only one process of the job calls
/// this function. Computes the `properties` only if the job may be resumed.
///
/// # Errors
/// The directory cannot be used, or has the checkpoint of another job; or the queries cannot be
/// read again.
pub fn open(
    checkpoint_options: &CheckpointOptions,
    properties: impl Fn() -> Result<JobProperties, Error>,
    audience: &dyn Audience,
) -> Result<OpenedCheckpoint, Error> {
    let wanted = checkpoint_options.checkpoint;
    let place = checkpoint_options.records.or(wanted.map(|wanted| wanted.directory.as_path()));
    let Some(place) = place else { return Ok(OpenedCheckpoint::Nothing) };
    let properties = wanted.map(|_| properties()).transpose()?;
    let resume = wanted.is_some_and(|wanted| wanted.resume);
    let start = if resume { StartMode::NewOrResume } else { StartMode::New };
    // Other ranks may have another working directory, so they need an absolute path.
    let directory = std::path::absolute(place).map_err(|error| {
        Error::inaccessible("checkpoint", &format!("{} ({error})", place.display()))
    })?;
    let open = || {
        Checkpoint::open_with_codec(
            &directory,
            properties.as_ref(),
            start,
            checkpoint_options.codec,
        )
    };
    let opened = match open() {
        // A batch system may restart a job on another machine so early that the earlier run still
        // counts as alive.
        Err(spool::Error::Locked { retry_after: Some(time), .. }) if resume => {
            audience.print_message(&format!(
                "waiting {} s to see whether an earlier run in {} is dead",
                time.as_secs() + 1,
                directory.display()
            ));
            thread::sleep(time + std::time::Duration::from_secs(1));
            open()
        }
        opened => opened,
    };
    match opened {
        Err(spool::Error::Complete(_)) if resume => {
            audience.print_message(&format!(
                "{} keeps a whole report of this search already; nothing is left to do",
                directory.display()
            ));
            Ok(OpenedCheckpoint::Complete)
        }
        opened => {
            opened.map(OpenedCheckpoint::Checkpoint).map_err(|error| checkpoint_error(&error))
        }
    }
}

/// Creates the directory of a report that consists of records, for a job without queries.
///
/// # Errors
/// The directory cannot be used.
pub fn create_empty(directory: &Path, codec: Codec) -> Result<(), Error> {
    let made = Checkpoint::open_with_codec(directory, None, StartMode::New, codec);
    let left = made.and_then(|made| {
        made.complete(&Summary { blocks: 0, queries: 0, bytes: 0 })?;
        made.close()
    });
    left.map_err(|error| checkpoint_error(&error))
}

/// Returns the block size, in residues, of the job that is to be resumed, whose records are only
/// valid for this size. Returns `None` if no job is resumed, or if its properties cannot be read.
/// [`open`] reports that error.
pub fn kept_block_residues(wanted: &plan::Checkpoint) -> Option<u64> {
    let properties =
        Checkpoint::read_properties(&wanted.directory).ok().flatten().filter(|_| wanted.resume)?;
    job_properties::block_residues(&properties)
}

impl CheckpointState {
    /// Shares the state of the checkpoint with all processes; `None` if the job has none. Each
    /// process scans some of the files that earlier runs wrote. The process that opened the
    /// `checkpoint` reports where the job continues. Collective.
    ///
    /// # Errors
    /// The files cannot be read, or their records contradict each other.
    pub fn share(
        processes: &impl Collective,
        checkpoint_options: &CheckpointOptions,
        checkpoint: Option<&Checkpoint>,
        audience: &dyn Audience,
    ) -> Result<Option<CheckpointState>, Error> {
        // Only one process lists the files, because there may be thousands of directories.
        let run = checkpoint.map(|checkpoint| {
            let Run { root, number, job, codec } = checkpoint.run().clone();
            let files = checkpoint.run().files().map_err(|error| checkpoint_error(&error))?;
            Ok((root.into_os_string(), number, job, codec, files))
        });
        let Some((root, number, job, codec, files)) =
            processes.broadcast(processes.require_all(run.transpose())?)?
        else {
            return Ok(None);
        };
        let run = Run { root: root.into(), number, job, codec };
        let own = files.into_iter().skip(processes.number()).step_by(processes.count());
        let own: Result<Vec<Scan>, Error> =
            own.map(|file| run.scan(file).map_err(|error| checkpoint_error(&error))).collect();
        let scans = processes.gather(&processes.require_all(own)?)?.concat();
        let checkpoint_state = CheckpointState::new(run, checkpoint_options, &scans);
        if let (Ok(checkpoint_state), Some(_)) = (&checkpoint_state, checkpoint) {
            checkpoint_state.report_start(checkpoint_options, &scans, audience);
        }
        processes.require_all(checkpoint_state).map(Some)
    }

    /// Creates the state from the scans of all files that earlier runs left.
    fn new(
        run: Run,
        checkpoint_options: &CheckpointOptions,
        scans: &[Scan],
    ) -> Result<CheckpointState, Error> {
        let mut earlier = ResultIndex::default();
        for place in scans.iter().flat_map(|scan| &scan.places) {
            earlier.add(&run, *place).map_err(|error| checkpoint_error(&error))?;
        }
        let (durable, records_are_report) =
            (checkpoint_options.checkpoint.is_some(), checkpoint_options.records.is_some());
        Ok(CheckpointState { run, earlier: Arc::new(earlier), durable, records_are_report })
    }

    /// Returns the blocks that earlier runs finished, each with the number of bytes of its output.
    /// If blocks are `verified`, a block counts only with the record of its verification.
    pub fn finished_blocks(&self, verified: bool) -> BTreeMap<BlockId, u64> {
        let has = |kind: ResultKind, key: &ResultKey| {
            self.earlier.shares_of_result(ResultKey { kind, ..*key }).is_some()
        };
        let results = self.earlier.complete().filter(|(key, _)| key.kind == ResultKind::RESULT);
        let results = results.filter(|(key, _)| !verified || has(ResultKind::VERIFICATION, key));
        let results =
            results.filter(|(key, _)| !self.records_are_report || has(ResultKind::NAMES, key));
        let block = |(key, size): (ResultKey, u64)| {
            u32::try_from(key.block).ok().map(|block| (BlockId(block), size))
        };
        results.filter_map(block).collect()
    }

    /// Reports to the audience where the job continues, and which records are damaged.
    fn report_start(
        &self,
        checkpoint_options: &CheckpointOptions,
        scans: &[Scan],
        audience: &dyn Audience,
    ) {
        let Some(wanted) = checkpoint_options.checkpoint else { return };
        let directory = wanted.directory.display();
        if wanted.resume && self.run.number == 1 {
            audience.print_message(&format!(
                "{directory} keeps no job yet; this is the job's first run"
            ));
        } else if self.run.number > 1 {
            let finished = self.finished_blocks(checkpoint_options.verified).len();
            audience.print_message(&format!(
                "{directory}: {finished} blocks of queries are finished already"
            ));
        }
        let faults =
            scans.iter().flat_map(|scan| scan.invalid_bytes.iter().map(move |fault| (scan, fault)));
        // An incomplete record at the end of a file is usual after a kill.
        let faults = faults.filter(|(_, fault)| !matches!(fault, InvalidBytes::Tail { .. }));
        for (scan, fault) in faults.clone().take(MOST_REPORTED) {
            audience.print_message(&format!("{}: {fault}", self.run.path(scan.file).display()));
        }
        if let Some(more) = faults.count().checked_sub(MOST_REPORTED).filter(|&more| more > 0) {
            audience.print_message(&format!("{directory}: {more} more faults like these"));
        }
    }
}

/// Converts an error of the checkpoint.
pub fn checkpoint_error(error: &spool::Error) -> Error {
    match error {
        spool::Error::Io { .. }
        | spool::Error::Unreliable { .. }
        | spool::Error::Damaged { .. } => Error::output(format_args!("checkpoint: {error}")),
        _ => Error::new(exit::INPUT, format!("BLAST query/options error: -checkpoint: {error}")),
    }
}
