//! What is kept of a job that may be resumed: which job it is, and which blocks of queries are finished.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

use fleetblast_fleet::ids::BlockId;
use fleetblast_spool::{
    self as spool, Checkpoint, Fault, FileId, Index, Key, Kind, Run, Scan, Start,
};

use super::contents::Contents;
use super::identity;
use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::plan::{self, Plan};
use crate::subjects::Target;

/// Damaged records told one by one, at most.
const MOST_TOLD: usize = 10;

/// What every rank knows of the checkpoint.
#[derive(Clone, Debug)]
pub struct Kept {
    /// This run of the job.
    pub run: Run,
    /// What earlier runs left.
    pub earlier: Arc<Index>,
}

/// Opens the checkpoint of a plan that asks for one. One process of the job does; `contents` is of the whole database.
///
/// # Errors
/// A directory that cannot be used, or keeps another job; queries that cannot be read again.
pub fn open(
    plan: &Plan,
    target: &Target,
    contents: &Contents,
    block_residues: u64,
    audience: &dyn Audience,
) -> Result<Option<Checkpoint>, Error> {
    let Some(wanted) = &plan.fleet.checkpoint else { return Ok(None) };
    let identity = identity::of_job(plan, target, contents, block_residues)?;
    let start = if wanted.resume { Start::NewOrResume } else { Start::New };
    // Other ranks may have another current directory.
    let directory = std::path::absolute(&wanted.directory).map_err(|error| {
        Error::inaccessible("checkpoint", &format!("{} ({error})", wanted.directory.display()))
    })?;
    let opened = Checkpoint::open(&directory, &identity, start);
    let opened = match opened {
        // A job that a batch system starts again on another machine comes too early to know that it is alone.
        Err(spool::Error::Locked { retry_after: Some(time), .. }) if wanted.resume => {
            audience.complain(&format!(
                "waiting {} s to see whether an earlier run in {} is dead",
                time.as_secs() + 1,
                directory.display()
            ));
            thread::sleep(time + std::time::Duration::from_secs(1));
            Checkpoint::open(&directory, &identity, start)
        }
        opened => opened,
    };
    opened.map(Some).map_err(|error| failure(&error))
}

/// Residues of the blocks into which a job was cut that may go on: its records are of such blocks. `None` if there is no
/// such job, or it cannot be told, which opening it will say.
pub fn kept_block_residues(wanted: &plan::Checkpoint) -> Option<u64> {
    let identity = Checkpoint::kept(&wanted.directory).ok().flatten().filter(|_| wanted.resume)?;
    identity::block_residues(&identity)
}

/// The files that earlier runs left. One process of the job looks: there may be thousands of directories.
///
/// # Errors
/// Directories that cannot be read.
pub fn files(run: &Run) -> Result<Vec<FileId>, Error> {
    run.files().map_err(|error| failure(&error))
}

/// Scans one in `of` of these files, counting from `part`.
///
/// # Errors
/// Files that cannot be read.
pub fn scan(run: &Run, files: Vec<FileId>, part: usize, of: usize) -> Result<Vec<Scan>, Error> {
    let own = files.into_iter().skip(part).step_by(of.max(1));
    own.map(|file| run.scan(file)).collect::<Result<_, _>>().map_err(|error| failure(&error))
}

impl Kept {
    /// With all scans of the files that earlier runs left.
    ///
    /// # Errors
    /// Records that contradict each other.
    pub fn new(run: Run, scans: &[Scan]) -> Result<Kept, Error> {
        let mut earlier = Index::default();
        for place in scans.iter().flat_map(|scan| &scan.records) {
            earlier.add(&run, *place).map_err(|error| failure(&error))?;
        }
        Ok(Kept { run, earlier: Arc::new(earlier) })
    }

    /// The same, and tells the audience where the job begins.
    ///
    /// # Errors
    /// Records that contradict each other.
    pub fn told(
        run: Run,
        plan: &Plan,
        scans: &[Scan],
        audience: &dyn Audience,
    ) -> Result<Kept, Error> {
        let kept = Kept::new(run, scans)?;
        if let Some(wanted) = &plan.fleet.checkpoint {
            kept.tell(wanted, plan.has_unknown_batches(), scans, audience);
        }
        Ok(kept)
    }

    /// The blocks that earlier runs finished, with the bytes of their output. In a job that judges them they are none without what they
    /// were judged by.
    pub fn finished(&self, judged: bool) -> BTreeMap<BlockId, u64> {
        let has_counts =
            |key: &Key| self.earlier.cover(Key { kind: Kind::COUNTS, ..*key }).is_some();
        let results = self.earlier.complete().filter(|(key, _)| key.kind == Kind::RESULT);
        let results = results.filter(|(key, _)| !judged || has_counts(key));
        let block = |(key, size): (Key, u64)| {
            u32::try_from(key.block).ok().map(|block| (BlockId(block), size))
        };
        results.filter_map(block).collect()
    }

    /// Tells where the job begins.
    fn tell(
        &self,
        wanted: &plan::Checkpoint,
        judged: bool,
        scans: &[Scan],
        audience: &dyn Audience,
    ) {
        let directory = wanted.directory.display();
        if wanted.resume && self.run.number == 1 {
            audience
                .complain(&format!("{directory} keeps no job yet; this is the job's first run"));
        } else if self.run.number > 1 {
            let finished = self.finished(judged).len();
            audience.complain(&format!(
                "{directory}: {finished} blocks of queries are finished already"
            ));
        }
        let faults =
            scans.iter().flat_map(|scan| scan.faults.iter().map(move |fault| (scan, fault)));
        // What was being written when a run was killed is no news.
        let faults = faults.filter(|(_, fault)| !matches!(fault, Fault::Tail { .. }));
        for (scan, fault) in faults.clone().take(MOST_TOLD) {
            audience.complain(&format!("{}: {fault}", self.run.path(scan.file).display()));
        }
        if let Some(more) = faults.count().checked_sub(MOST_TOLD).filter(|&more| more > 0) {
            audience.complain(&format!("{directory}: {more} more faults like these"));
        }
    }
}

/// A checkpoint that cannot be used.
pub fn failure(error: &spool::Error) -> Error {
    match error {
        spool::Error::Io { .. }
        | spool::Error::Unreliable { .. }
        | spool::Error::Damaged { .. } => Error::output(format_args!("checkpoint: {error}")),
        _ => Error::new(exit::INPUT, format!("BLAST query/options error: -checkpoint: {error}")),
    }
}
