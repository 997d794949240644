//! What makes two jobs, or the ranks of one job, the same.

use std::ffi::OsStr;
use std::path::Path;

use fleetblast_seq::input::FileVersion;
use fleetblast_spool::{DatabaseIdentity, Identity, QueryDigest, QueryHasher, VolumeIdentity};

use crate::digest::checksum;
use crate::error::Error;
use crate::fingerprint::SequenceFile;
use crate::fingerprint::VolumeFingerprints;
use crate::inputs;
use crate::plan::{Plan, Source, Subjects};
use crate::subjects::SubjectDatabase;

/// The program that this process runs, also if the file has another name by now.
pub const PROGRAM: &str = "/proc/self/exe";

/// Follows the residues of a block in what an identity says of blocks.
const BLOCK_UNIT: &str = " residues";

/// Everything on which the bytes of a report depend, of a job that may be resumed. `contents` is of
/// the whole database, blocks have `block_residues` residues, and the queries are read from this
/// version of their file.
///
/// # Errors
/// Inputs that cannot be read again, or have changed.
pub fn of_job(
    plan: &Plan,
    (target, contents): (&SubjectDatabase, &VolumeFingerprints),
    block_residues: u64,
    queries: Option<FileVersion>,
) -> Result<Identity, Error> {
    let mut identity = of_plan(plan)?;
    if let Subjects::Fasta { source, .. } = &plan.subjects {
        let file = again(source, "-subject", None)?;
        identity.options.insert("-subject (its file)".to_owned(), file.to_string());
    }
    identity.options.extend(inputs::taxonomy(target)?);
    Ok(Identity {
        query: again(&plan.query, "-query", queries)?,
        database: database(plan, target, contents)?,
        blocks: format!(
            "{block_residues}{BLOCK_UNIT} or {} queries, in {}",
            plan.batch_size.block_queries(),
            identity.blocks
        ),
        ..identity
    })
}

/// Residues of the blocks into which a job was cut; `None` if that cannot be told.
pub fn block_residues(identity: &Identity) -> Option<u64> {
    identity.blocks.split_once(BLOCK_UNIT)?.0.parse().ok()
}

/// What a rank knows before it has looked at the database. Queries are read by one rank for all.
///
/// # Errors
/// A program that cannot be read.
pub fn of_plan(plan: &Plan) -> Result<Identity, Error> {
    let mut options = plan.fleet.decisive.clone();
    if let (Some(name), Some(restriction)) = (&plan.fleet.list, &plan.restriction) {
        let list = checksum(restriction);
        options.insert(name.to_owned(), format!("a list with the checksum {list}"));
    }
    options.extend(inputs::loaded(plan));
    Ok(Identity {
        program: plan.program.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: inputs::digest(Path::new(PROGRAM))?.to_string(),
        query: QueryHasher::default().finish(),
        database: DatabaseIdentity::default(),
        options,
        blocks: match plan.check_batch_size() {
            Ok(()) => format!("batches of {} residues (BATCH_SIZE)", plan.batch_size.min_letters()),
            Err(error) => format!("no size of batches (BATCH_SIZE): {error}"),
        },
    })
}

/// The database, with what `contents` tells of its volumes.
///
/// # Errors
/// A damaged database.
pub fn database(
    plan: &Plan,
    target: &SubjectDatabase,
    contents: &VolumeFingerprints,
) -> Result<DatabaseIdentity, Error> {
    let searched = &target.searched;
    let volume = |(number, outline): (usize, fleetblast_db::fingerprint::VolumeOutline)| {
        let name = outline.path.file_name().map(lossy).unwrap_or_default();
        VolumeIdentity {
            name,
            date: outline.date,
            sequences: outline.sequences,
            index: format!("{:032x}", outline.index),
            residues: contents.of_volume(number, SequenceFile::Residues),
            headers: contents.of_volume(number, SequenceFile::Headers),
        }
    };
    let name = match &plan.subjects {
        Subjects::Fasta { name, .. } | Subjects::Database(name) => name.clone(),
    };
    Ok(DatabaseIdentity {
        name,
        sequences: searched.sequences(),
        residues: searched.residues(),
        volumes: searched.outlines().enumerate().map(volume).collect(),
        selection: format!("{:032x}", target.selection_fingerprint()?),
    })
}

fn lossy(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

/// The digest of an input that can be read again when the job is resumed; of the version that is
/// being read, if that is known.
///
/// # Errors
/// One that cannot, or has changed since it was opened.
pub fn again(
    source: &Source,
    option: &str,
    version: Option<FileVersion>,
) -> Result<QueryDigest, Error> {
    inputs::digest_of(regular_file(source, option)?, version)
}

/// The path of an input that can be read again.
///
/// # Errors
/// Standard input, a pipe, or no file.
pub fn regular_file<'a>(source: &'a Source, option: &str) -> Result<&'a Path, Error> {
    match source {
        Source::File(path) if path.is_file() => Ok(path),
        _ => Err(Error::query_options(format_args!(
            "-checkpoint needs a regular file for {option}: the input is read again when the job is resumed"
        ))),
    }
}
