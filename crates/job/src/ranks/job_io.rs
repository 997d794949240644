//! Input and output of a job: its queries and its report.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use fleetblast_db::check_mapped_files;
use fleetblast_fleet::plan::Layout;
use fleetblast_metadata::records::{RecordChain, RecordKind};
use fleetblast_spool::Checkpoint;

use super::checkpoint::{self, OpenedCheckpoint};
use super::execution::SupermasterExecutor;
use super::execution::supermaster::SearchSupermaster;
use super::job::RankJob;
use super::job_properties;
use super::metadata_stream::MetadataStream;
use super::output::JobOutput;
use super::record_chain::first_record;
use crate::alone::write_empty_output;
use crate::audience::Audience;
use crate::error::Error;
use crate::fingerprint::VolumeFingerprints;
use crate::halt::Halt;
use crate::interrupt::EarlySignalHandler;
use crate::io_channel::IoChannel;
use crate::metadata::{MetadataSink, fingerprint, header};
use crate::output::Output;
use crate::plan::{MetadataDestination, Plan};
use crate::queries::QueryReader;
use crate::subjects::SubjectDatabase;

/// Input and output of a job: its queries and its report.
pub struct JobIo<'a> {
    queries: QueryReader<'a>,
    /// The output.
    pub output: JobOutput,
    /// The first bytes of the metadata, if the job writes metadata instead of a report.
    start: Option<Vec<u8>>,
}

impl<'a> JobIo<'a> {
    /// Opens the queries, the output and the checkpoint. Returns `None` if there are no queries, or
    /// if an earlier run has completed the job. `early_end` removes the unfinished output if a
    /// signal arrives before the job starts.
    ///
    /// # Errors
    /// Queries cannot be read, outputs cannot be written, or the checkpoint belongs to another
    /// search. With metadata also: the database cannot be read, or the I/O site cannot be reached.
    pub fn open(
        plan: &'a Plan,
        subjects: &SubjectDatabase,
        fingerprint: &VolumeFingerprints,
        layout: &Layout,
        io_channel: Option<&IoChannel>,
        (early_end, shared): (Option<&EarlySignalHandler>, &'a Arc<dyn Audience>),
    ) -> Result<Option<(Self, Option<Checkpoint>)>, Error> {
        let audience = &**shared;
        audience.begin_search();
        let block_residues = layout.block_residues;
        let queries = QueryReader::open(plan, block_residues, subjects.facts(), audience)?;
        let Some(queries) = queries else {
            audience.warn("Query is Empty!");
            match plan.records_directory() {
                Some(directory) => checkpoint::create_empty(directory, plan.fleet.codec)?,
                None => write_empty_output(plan, subjects, io_channel, shared)?,
            }
            return Ok(None);
        };
        plan.check_late_error()?;
        if audience.is_watching() {
            audience.set_query_count(layout.config.total.map(|queries| queries.sequences));
        }
        let properties = || {
            let version = queries.version();
            let properties = job_properties::job_properties(
                plan,
                (subjects, fingerprint),
                block_residues,
                version,
            )?;
            // If the files changed while they were read, these properties are of no real database,
            // and nobody could resume the job.
            check_mapped_files()?;
            Ok(properties)
        };
        let opened = checkpoint::open(&plan.into(), properties, audience)?;
        let checkpoint = match opened {
            OpenedCheckpoint::Nothing => None,
            OpenedCheckpoint::Checkpoint(checkpoint) => Some(checkpoint),
            OpenedCheckpoint::Complete => return Ok(None),
        };
        let mut output = match checkpoint.as_ref().map(Checkpoint::run) {
            Some(run) => JobOutput::resumable(plan.output_destination(), run, early_end)?,
            None => JobOutput::new(Output::open(plan.output_destination())?)?,
        };
        let goes_on = checkpoint.is_some();
        let environment = (io_channel, shared);
        let start = start(plan, (subjects, fingerprint), &mut output, goes_on, environment)?;
        Ok(Some((JobIo { queries, output, start }, checkpoint)))
    }

    /// Returns the executor of the supermaster, and the receiver of the complete output.
    ///
    /// # Errors
    /// The executor cannot be created.
    pub fn into_executor(
        self,
        job: &'a RankJob<'a>,
    ) -> Result<(Box<dyn SupermasterExecutor + 'a>, Receiver<JobOutput>), Error> {
        let (publisher, outputs) = channel();
        let JobIo { queries, output, start } = self;
        let executor = SearchSupermaster::new(job, queries, (output, start), publisher)?;
        Ok((Box::new(executor), outputs))
    }
}

/// Returns the first bytes of the metadata; `None` if the job writes none. For a link or for I/O
/// ranks, also opens the sink and starts to send the metadata. `goes_on` says that the job may be
/// resumed, so that the stream may end before it is complete.
fn start(
    plan: &Plan,
    (subjects, fingerprint): (&SubjectDatabase, &VolumeFingerprints),
    output: &mut JobOutput,
    goes_on: bool,
    (io_channel, audience): (Option<&IoChannel>, &Arc<dyn Audience>),
) -> Result<Option<Vec<u8>>, Error> {
    let Some(metadata) = &plan.metadata else { return Ok(None) };
    let fingerprint = fingerprint::fingerprint_ranks_database(subjects, fingerprint)?;
    let header = header(plan, metadata, subjects, fingerprint)?;
    if !matches!(metadata.out, MetadataDestination::File(_)) {
        // If the link is given up, the supervisor of this rank receives the error. So no halt flag
        // is needed.
        let environment = (io_channel, audience, &Halt::default());
        let begun = MetadataSink::open(metadata, &header, environment)?;
        output.stream =
            Some(MetadataStream::start(output.path(), begun, metadata.encodings, goes_on)?);
    }
    Ok(Some([RecordChain::start(), first_record(RecordKind::Header, &header)?].concat()))
}
