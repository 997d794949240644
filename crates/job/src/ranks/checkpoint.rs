//! What is kept of a job that may be resumed: which job it is, and which blocks of queries are
//! finished.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use fleetblast_fleet::ids::BlockId;
use fleetblast_spool::{
    self as spool, Checkpoint, Codec, Fault, FileId, Identity, Index, Key, Kind, Run, Scan, Start,
    Summary,
};

use super::identity;
use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::plan::{self, Plan};

/// Damaged records told one by one, at most.
const MOST_TOLD: usize = 10;

/// What is wanted of a checkpoint.
#[derive(Clone, Copy, Debug)]
pub struct Keeping<'a> {
    /// The job may be resumed from here.
    pub checkpoint: Option<&'a plan::Checkpoint>,
    /// What is kept stays here as the report.
    pub records: Option<&'a Path>,
    /// How records that stay are compressed.
    pub codec: Codec,
    /// Blocks are judged one after the other.
    pub judged: bool,
}

impl<'a> From<&'a Plan> for Keeping<'a> {
    fn from(plan: &'a Plan) -> Self {
        Keeping {
            checkpoint: plan.fleet.checkpoint.as_ref(),
            records: plan.records_directory(),
            codec: plan.fleet.codec,
            judged: plan.has_dependent_blocks(),
        }
    }
}

/// What every rank knows of the checkpoint.
#[derive(Clone, Debug)]
pub struct Kept {
    /// This run of the job.
    pub run: Run,
    /// What earlier runs left.
    pub earlier: Arc<Index>,
    /// What is finished is on disk before it counts as such: the job may be resumed.
    pub durable: bool,
    /// What is kept stays as the report.
    pub stays: bool,
}

/// What there is to keep results in.
pub enum Opened {
    /// Nothing, nor is it wanted.
    Nothing,
    /// The directory of this run.
    Checkpoint(Checkpoint),
    /// The directory of a job that is through.
    Complete,
}

/// Opens the checkpoint that is asked for, or the directory of a report that is records. One
/// process of the job does. Which job it is is asked only if it may be resumed.
///
/// # Errors
/// A directory that cannot be used, or keeps another job; queries that cannot be read again.
pub fn open(
    keeping: &Keeping,
    identity: impl Fn() -> Result<Identity, Error>,
    audience: &dyn Audience,
) -> Result<Opened, Error> {
    let wanted = keeping.checkpoint;
    let place = keeping.records.or(wanted.map(|wanted| wanted.directory.as_path()));
    let Some(place) = place else { return Ok(Opened::Nothing) };
    let identity = wanted.map(|_| identity()).transpose()?;
    let resume = wanted.is_some_and(|wanted| wanted.resume);
    let start = if resume { Start::NewOrResume } else { Start::New };
    // Other ranks may have another current directory.
    let directory = std::path::absolute(place).map_err(|error| {
        Error::inaccessible("checkpoint", &format!("{} ({error})", place.display()))
    })?;
    let open = || Checkpoint::open_as(&directory, identity.as_ref(), start, keeping.codec);
    let opened = match open() {
        // A job that a batch system starts again on another machine comes too early to know that it
        // is alone.
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
            Ok(Opened::Complete)
        }
        opened => opened.map(Opened::Checkpoint).map_err(|error| failure(&error)),
    }
}

/// Makes a report of records that has nothing.
///
/// # Errors
/// A directory that cannot be used.
pub fn leave_empty(directory: &Path, codec: Codec) -> Result<(), Error> {
    let made = Checkpoint::open_as(directory, None, Start::New, codec);
    let left = made.and_then(|made| {
        made.complete(&Summary { blocks: 0, queries: 0, bytes: 0 })?;
        made.leave()
    });
    left.map_err(|error| failure(&error))
}

/// Residues of the blocks into which a job was cut that may go on: its records are of such blocks.
/// `None` if there is no such job, or it cannot be told, which opening it will say.
pub fn kept_block_residues(wanted: &plan::Checkpoint) -> Option<u64> {
    let identity = Checkpoint::kept(&wanted.directory).ok().flatten().filter(|_| wanted.resume)?;
    identity::block_residues(&identity)
}

/// The files that earlier runs left. One process of the job looks: there may be thousands of
/// directories.
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
    pub fn new(run: Run, keeping: &Keeping, scans: &[Scan]) -> Result<Kept, Error> {
        let mut earlier = Index::default();
        for place in scans.iter().flat_map(|scan| &scan.places) {
            earlier.add(&run, *place).map_err(|error| failure(&error))?;
        }
        let (durable, stays) = (keeping.checkpoint.is_some(), keeping.records.is_some());
        Ok(Kept { run, earlier: Arc::new(earlier), durable, stays })
    }

    /// The same, and tells the audience where the job begins.
    ///
    /// # Errors
    /// Records that contradict each other.
    pub fn told(
        run: Run,
        keeping: &Keeping,
        scans: &[Scan],
        audience: &dyn Audience,
    ) -> Result<Kept, Error> {
        let kept = Kept::new(run, keeping, scans)?;
        if let Some(wanted) = keeping.checkpoint {
            kept.tell(wanted, keeping.judged, scans, audience);
        }
        Ok(kept)
    }

    /// The blocks that earlier runs finished, with the bytes of their output. In a job that judges
    /// them they are none without what they were judged by.
    pub fn finished(&self, judged: bool) -> BTreeMap<BlockId, u64> {
        let has = |kind: Kind, key: &Key| self.earlier.cover(Key { kind, ..*key }).is_some();
        let results = self.earlier.complete().filter(|(key, _)| key.kind == Kind::RESULT);
        let results = results.filter(|(key, _)| !judged || has(Kind::COUNTS, key));
        let results = results.filter(|(key, _)| !self.stays || has(Kind::NAMES, key));
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
            audience.print_message(&format!(
                "{directory} keeps no job yet; this is the job's first run"
            ));
        } else if self.run.number > 1 {
            let finished = self.finished(judged).len();
            audience.print_message(&format!(
                "{directory}: {finished} blocks of queries are finished already"
            ));
        }
        let faults =
            scans.iter().flat_map(|scan| scan.faults.iter().map(move |fault| (scan, fault)));
        // What was being written when a run was killed is no news.
        let faults = faults.filter(|(_, fault)| !matches!(fault, Fault::Tail { .. }));
        for (scan, fault) in faults.clone().take(MOST_TOLD) {
            audience.print_message(&format!("{}: {fault}", self.run.path(scan.file).display()));
        }
        if let Some(more) = faults.count().checked_sub(MOST_TOLD).filter(|&more| more > 0) {
            audience.print_message(&format!("{directory}: {more} more faults like these"));
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
