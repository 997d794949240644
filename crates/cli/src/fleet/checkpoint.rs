//! What is kept of a job that may be resumed: which job it is, and which blocks of queries are finished.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use fleetblast_fleet::ids::BlockId;
use fleetblast_fleet::plan::BLOCK_QUERIES;
use fleetblast_spool::{
    Checkpoint, DatabaseIdentity, Error, Fault, FileId, Identity, Index, Kind, QueryDigest,
    QueryHasher, Run, Scan, Start, VolumeIdentity,
};

use crate::error::{CliError, exit};
use crate::messages::complain;
use crate::options::typed::lossy;
use crate::plan::{self, Plan, Source, Subjects};
use crate::run::subjects::Target;

/// Bytes read at a time.
const READ: usize = 1 << 20;
/// Damaged records told one by one, at most.
const MOST_TOLD: usize = 10;

/// Follows the residues of a block in what a checkpoint says of blocks.
const BLOCK_UNIT: &str = " residues";

/// What every rank knows of the checkpoint.
#[derive(Clone, Debug)]
pub struct Kept {
    /// This run of the job.
    pub run: Run,
    /// What earlier runs left.
    pub earlier: Arc<Index>,
}

/// Opens the checkpoint of a plan that asks for one. One process of the job does.
///
/// # Errors
/// A directory that cannot be used, or keeps another job; queries that cannot be read again.
pub fn open(
    plan: &Plan,
    target: &Target,
    block_residues: u64,
) -> Result<Option<Checkpoint>, CliError> {
    let Some(wanted) = &plan.fleet.checkpoint else { return Ok(None) };
    let identity = identity(plan, wanted, target, block_residues)?;
    let start = if wanted.resume { Start::NewOrResume } else { Start::New };
    // Other ranks may have another current directory.
    let directory = std::path::absolute(&wanted.directory).map_err(|error| {
        CliError::inaccessible("checkpoint", &format!("{} ({error})", wanted.directory.display()))
    })?;
    let opened = Checkpoint::open(&directory, &identity, start);
    let opened = match opened {
        // A job that a batch system starts again on another machine comes too early to know that it is alone.
        Err(Error::Locked { retry_after: Some(time), .. }) if wanted.resume => {
            complain(&format!(
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
    identity.blocks.split_once(BLOCK_UNIT)?.0.parse().ok()
}

/// The files that earlier runs left. One process of the job looks: there may be thousands of directories.
///
/// # Errors
/// Directories that cannot be read.
pub fn files(run: &Run) -> Result<Vec<FileId>, CliError> {
    run.files().map_err(|error| failure(&error))
}

/// Scans one in `of` of these files, counting from `part`.
///
/// # Errors
/// Files that cannot be read.
pub fn scan(run: &Run, files: Vec<FileId>, part: usize, of: usize) -> Result<Vec<Scan>, CliError> {
    let own = files.into_iter().skip(part).step_by(of.max(1));
    own.map(|file| run.scan(file)).collect::<Result<_, _>>().map_err(|error| failure(&error))
}

impl Kept {
    /// With all scans of the files that earlier runs left.
    ///
    /// # Errors
    /// Records that contradict each other.
    pub fn new(run: Run, scans: &[Scan]) -> Result<Kept, CliError> {
        let mut earlier = Index::default();
        for place in scans.iter().flat_map(|scan| &scan.records) {
            earlier.add(&run, *place).map_err(|error| failure(&error))?;
        }
        Ok(Kept { run, earlier: Arc::new(earlier) })
    }

    /// The same, and tells the user where the job begins.
    ///
    /// # Errors
    /// Records that contradict each other.
    pub fn told(run: Run, plan: &Plan, scans: &[Scan]) -> Result<Kept, CliError> {
        let kept = Kept::new(run, scans)?;
        if let Some(wanted) = &plan.fleet.checkpoint {
            kept.tell(wanted, scans);
        }
        Ok(kept)
    }

    /// The blocks that earlier runs finished, with the bytes of their output.
    pub fn finished(&self) -> BTreeMap<BlockId, u64> {
        let results = self.earlier.complete().filter(|(key, _)| key.kind == Kind::RESULT);
        let block = |(key, size): (fleetblast_spool::Key, u64)| {
            u32::try_from(key.block).ok().map(|block| (BlockId(block), size))
        };
        results.filter_map(block).collect()
    }

    /// Tells the user where the job begins.
    fn tell(&self, wanted: &plan::Checkpoint, scans: &[Scan]) {
        let directory = wanted.directory.display();
        if wanted.resume && self.run.number == 1 {
            complain(&format!("{directory} keeps no job yet; this is the job's first run"));
        } else if self.run.number > 1 {
            let finished = self.finished().len();
            complain(&format!("{directory}: {finished} blocks of queries are finished already"));
        }
        let faults =
            scans.iter().flat_map(|scan| scan.faults.iter().map(move |fault| (scan, fault)));
        // What was being written when a run was killed is no news.
        let faults = faults.filter(|(_, fault)| !matches!(fault, Fault::Tail { .. }));
        for (scan, fault) in faults.clone().take(MOST_TOLD) {
            complain(&format!("{}: {fault}", self.run.path(scan.file).display()));
        }
        if let Some(more) = faults.count().checked_sub(MOST_TOLD).filter(|&more| more > 0) {
            complain(&format!("{directory}: {more} more faults like these"));
        }
    }
}

/// Everything on which the bytes of the report depend.
fn identity(
    plan: &Plan,
    wanted: &plan::Checkpoint,
    target: &Target,
    block_residues: u64,
) -> Result<Identity, CliError> {
    let mut options = wanted.options.clone();
    for (name, path) in &wanted.files {
        options.insert(name.clone(), format!("a list of {}", digest(path)?));
    }
    Ok(Identity {
        program: "blastp".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        query: again(&plan.query, "-query")?,
        database: database(plan, target)?,
        options,
        blocks: format!(
            "{block_residues}{BLOCK_UNIT} or {BLOCK_QUERIES} queries, in batches of {} residues",
            plan.batch_size
        ),
    })
}

fn database(plan: &Plan, target: &Target) -> Result<DatabaseIdentity, CliError> {
    let searched = &target.searched;
    let (name, volumes) = match &plan.subjects {
        Subjects::Fasta { source, name, .. } => {
            let QueryDigest { bytes, xxh3 } = again(source, "-subject")?;
            let date = format!("the checksum {xxh3}");
            (name.clone(), vec![VolumeIdentity { name: name.clone(), date, bytes }])
        }
        Subjects::Database(names) => {
            let volumes = searched.volume_paths().map(|path| volume(path, searched.date()));
            (names.clone(), volumes.collect::<Result<_, _>>()?)
        }
    };
    let (sequences, residues) = (searched.sequences(), searched.residues());
    Ok(DatabaseIdentity { name, sequences, residues, volumes })
}

/// A volume, by the sizes of its files; the date is that of the database's latest.
fn volume(path: &Path, date: &str) -> Result<VolumeIdentity, CliError> {
    let mut bytes = 0;
    for extension in ["pin", "phr", "psq"] {
        let mut file = path.as_os_str().to_owned();
        file.push(".");
        file.push(extension);
        let meta = fs::metadata(&file).map_err(|error| {
            CliError::database(format_args!("{}: {error}", Path::new(&file).display()))
        })?;
        bytes += meta.len();
    }
    let name = path.file_name().map(lossy).unwrap_or_default();
    Ok(VolumeIdentity { name, date: date.to_owned(), bytes })
}

/// The digest of an input that can be read again when the job is resumed.
fn again(source: &Source, option: &str) -> Result<QueryDigest, CliError> {
    match source {
        Source::File(path) if path.is_file() => digest(path),
        _ => Err(CliError::query_options(format_args!(
            "-checkpoint needs a regular file for {option}: the input is read again when the job is resumed"
        ))),
    }
}

fn digest(path: &Path) -> Result<QueryDigest, CliError> {
    let failed = |error: std::io::Error| {
        CliError::new(exit::INPUT, format!("cannot read {}: {error}", path.display()))
    };
    let mut file = File::open(path).map_err(failed)?;
    let (mut hasher, mut buffer) = (QueryHasher::default(), vec![0; READ]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finish()),
            Ok(count) => hasher.update(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
}

/// A checkpoint that cannot be used.
pub fn failure(error: &Error) -> CliError {
    match error {
        Error::Io { .. } | Error::Unreliable { .. } | Error::Damaged { .. } => {
            CliError::output(format_args!("checkpoint: {error}"))
        }
        _ => CliError::new(exit::INPUT, format!("BLAST query/options error: -checkpoint: {error}")),
    }
}
