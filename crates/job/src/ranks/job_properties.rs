//! The properties of a job: the inputs and options that must be equal in all runs of a job, and on
//! all ranks.

use std::ffi::OsStr;
use std::path::Path;

use fleetblast_seq::input::FileVersion;
use fleetblast_spool::{
    DatabaseProperties, JobProperties, QueryDigest, QueryHasher, VolumeProperties,
};

use crate::digest::checksum;
use crate::error::Error;
use crate::fingerprint::SequenceFile;
use crate::fingerprint::VolumeFingerprints;
use crate::inputs;
use crate::plan::{Plan, Source, Subjects};
use crate::subjects::SubjectDatabase;

/// Path of the program file of this process. It is valid even if the file was renamed.
pub const PROGRAM: &str = "/proc/self/exe";

/// Text after the number of residues in [`JobProperties::blocks`].
const BLOCK_UNIT: &str = " residues";

/// Returns all inputs and options on which the bytes of a report depend, for a job that may be
/// resumed. `fingerprint` covers the whole database. Blocks have `block_residues` residues.
/// `queries` is the version of the query file when it was opened.
///
/// # Errors
/// Inputs cannot be read again, or have changed.
pub fn job_properties(
    plan: &Plan,
    (subjects, fingerprint): (&SubjectDatabase, &VolumeFingerprints),
    block_residues: u64,
    queries: Option<FileVersion>,
) -> Result<JobProperties, Error> {
    let mut properties = plan_properties(plan)?;
    if let Subjects::Fasta { source, .. } = &plan.subjects {
        let file = digest_rereadable_input(source, "-subject", None)?;
        properties.options.insert("-subject (its file)".to_owned(), file.to_string());
    }
    properties.options.extend(inputs::digest_taxonomy_files(subjects)?);
    Ok(JobProperties {
        query: digest_rereadable_input(&plan.query, "-query", queries)?,
        database: database_properties(plan, subjects, fingerprint)?,
        blocks: format!(
            "{block_residues}{BLOCK_UNIT} or {} queries, in {}",
            plan.batch_size.block_queries(),
            properties.blocks
        ),
        ..properties
    })
}

/// Returns the block size in the properties of a job, in residues; `None` if they have no size.
pub fn block_residues(properties: &JobProperties) -> Option<u64> {
    properties.blocks.split_once(BLOCK_UNIT)?.0.parse().ok()
}

/// Returns the properties that a rank knows before it has read the database. They lack the queries,
/// which only one rank reads.
///
/// # Errors
/// The program file cannot be read.
pub fn plan_properties(plan: &Plan) -> Result<JobProperties, Error> {
    let mut options = plan.fleet.report_options.clone();
    if let (Some(name), Some(restriction)) = (&plan.fleet.sequence_list_option, &plan.restriction) {
        let list = checksum(restriction);
        options.insert(name.to_owned(), format!("a list with the checksum {list}"));
    }
    options.extend(inputs::describe_loaded_inputs(plan));
    Ok(JobProperties {
        program: plan.program.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: inputs::digest(Path::new(PROGRAM))?.to_string(),
        query: QueryHasher::default().finish(),
        database: DatabaseProperties::default(),
        options,
        blocks: match plan.check_late_error() {
            Ok(()) => format!("batches of {} residues (BATCH_SIZE)", plan.batch_size.min_letters()),
            Err(error) => format!("no size of batches: {error}"),
        },
    })
}

/// Returns the properties of the database. `fingerprint` has the fingerprints of its volumes.
///
/// # Errors
/// The database is damaged.
pub fn database_properties(
    plan: &Plan,
    subjects: &SubjectDatabase,
    fingerprint: &VolumeFingerprints,
) -> Result<DatabaseProperties, Error> {
    let searched = &subjects.searched;
    let volume = |(number, outline): (usize, fleetblast_db::fingerprint::VolumeSummary)| {
        let name = outline.path.file_name().map(lossy).unwrap_or_default();
        VolumeProperties {
            name,
            date: outline.date,
            sequences: outline.sequence_count,
            index: format!("{:032x}", outline.index_fingerprint),
            residues: fingerprint.volume_fingerprint(number, SequenceFile::Residues),
            headers: fingerprint.volume_fingerprint(number, SequenceFile::Headers),
        }
    };
    let name = match &plan.subjects {
        Subjects::Fasta { name, .. } | Subjects::Database(name) => name.clone(),
    };
    Ok(DatabaseProperties {
        name,
        sequences: searched.sequence_count(),
        residues: searched.residue_count(),
        volumes: searched.volume_summaries().enumerate().map(volume).collect(),
        selection: format!("{:032x}", subjects.selection_fingerprint()?),
    })
}

fn lossy(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

/// Computes the digest of an input that can be read again if the job is resumed. If `version` is
/// known, the file must still have this version.
///
/// # Errors
/// The input cannot be read again, or has changed since it was opened.
pub fn digest_rereadable_input(
    source: &Source,
    option: &str,
    version: Option<FileVersion>,
) -> Result<QueryDigest, Error> {
    inputs::digest_of(regular_file(source, option)?, version)
}

/// Returns the path of an input that can be read again.
///
/// # Errors
/// The input is standard input, a pipe, or no file.
pub fn regular_file<'a>(source: &'a Source, option: &str) -> Result<&'a Path, Error> {
    match source {
        Source::File(path) if path.is_file() => Ok(path),
        _ => Err(Error::query_options(format_args!(
            "-checkpoint needs a regular file for {option}: the input is read again when the job is resumed"
        ))),
    }
}
