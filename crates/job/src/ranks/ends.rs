//! Both ends of a job: where the queries come from, and where the report goes.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use fleetblast_db::check_mapped_files;
use fleetblast_fleet::plan::Layout;
use fleetblast_metadata::records::{RecordChain, RecordKind};
use fleetblast_spool::Checkpoint;

use super::chain::first_record;
use super::checkpoint::{self, Opened};
use super::identity;
use super::job::Job;
use super::output::Whole;
use super::sending::Sending;
use super::works::supermaster::SupermasterWorks;
use crate::alone::write_empty_output;
use crate::audience::Audience;
use crate::error::Error;
use crate::fingerprint::VolumeFingerprints;
use crate::halt::Halt;
use crate::interrupt::EarlyEnd;
use crate::io_channel::IoChannel;
use crate::metadata::{MetadataSink, fingerprint, header};
use crate::output::Output;
use crate::plan::{MetadataDestination, Plan};
use crate::queries::QueryReader;
use crate::subjects::SubjectDatabase;

/// Both ends of a job: the queries and the report.
pub struct Ends<'a> {
    queries: QueryReader<'a>,
    /// The output.
    pub output: Whole,
    /// What metadata begin with, if they are written instead of a report.
    start: Option<Vec<u8>>,
}

impl<'a> Ends<'a> {
    /// Opens them, and the checkpoint; `None` if there is nothing to do. `early` signals end the
    /// job.
    ///
    /// # Errors
    /// Queries that cannot be read, outputs that cannot be written, a checkpoint of another search;
    /// for metadata, a database that cannot be read, a site that cannot be reached.
    pub fn open(
        plan: &'a Plan,
        target: &SubjectDatabase,
        contents: &VolumeFingerprints,
        layout: &Layout,
        io_channel: Option<&IoChannel>,
        (early, shared): (Option<&EarlyEnd>, &'a Arc<dyn Audience>),
    ) -> Result<Option<(Self, Option<Checkpoint>)>, Error> {
        let audience = &**shared;
        audience.begin_search();
        let block_residues = layout.block_residues;
        let (letters, is_database_empty) = (target.letters(), target.is_database_empty);
        let queries =
            QueryReader::open(plan, block_residues, letters, is_database_empty, audience)?;
        let Some(queries) = queries else {
            audience.warn("Query is Empty!");
            match plan.records_directory() {
                Some(directory) => checkpoint::leave_empty(directory, plan.fleet.codec)?,
                None => write_empty_output(plan, target, io_channel, shared)?,
            }
            return Ok(None);
        };
        plan.check_batch_size()?;
        if audience.is_watching() {
            audience.set_query_count(layout.config.total.map(|queries| queries.sequences));
        }
        let identity = || {
            let version = queries.version();
            let identity = identity::of_job(plan, (target, contents), block_residues, version)?;
            // Nobody could resume a job of bytes that never were together.
            check_mapped_files()?;
            Ok(identity)
        };
        let opened = checkpoint::open(&plan.into(), identity, audience)?;
        let checkpoint = match opened {
            Opened::Nothing => None,
            Opened::Checkpoint(checkpoint) => Some(checkpoint),
            Opened::Complete => return Ok(None),
        };
        let mut output = match checkpoint.as_ref().map(Checkpoint::run) {
            Some(run) => Whole::kept(plan.output_destination(), run, early)?,
            None => Whole::new(Output::open(plan.output_destination())?)?,
        };
        let goes_on = checkpoint.is_some();
        let outside = (io_channel, shared);
        let start = start(plan, (target, contents), &mut output, goes_on, outside)?;
        Ok(Some((Ends { queries, output, start }, checkpoint)))
    }

    /// The supermaster's works with them, and where the report comes when it is whole.
    ///
    /// # Errors
    /// Of the checkpoint.
    pub fn works(self, job: &'a Job<'a>) -> Result<(SupermasterWorks<'a>, Receiver<Whole>), Error> {
        let (publisher, whole) = channel();
        let Ends { queries, output, start } = self;
        Ok((SupermasterWorks::new(job, queries, (output, start), publisher)?, whole))
    }
}

/// Returns the begin of the metadata, if they are written. Those for another site are sent from now
/// on; a job that `goes_on` in another run may end before they are whole.
fn start(
    plan: &Plan,
    (target, contents): (&SubjectDatabase, &VolumeFingerprints),
    output: &mut Whole,
    goes_on: bool,
    (io_channel, audience): (Option<&IoChannel>, &Arc<dyn Audience>),
) -> Result<Option<Vec<u8>>, Error> {
    let Some(metadata) = &plan.metadata else { return Ok(None) };
    let fingerprint = fingerprint::fingerprint_ranks_database(target, contents)?;
    let header = header(plan, metadata, target, fingerprint)?;
    if !matches!(metadata.out, MetadataDestination::File(_)) {
        // What ends it the vigil hears.
        let outside = (io_channel, audience, &Halt::default());
        let begun = MetadataSink::open(metadata, &header, outside)?;
        output.sending = Some(Sending::start(output.path(), begun, metadata.encodings, goes_on)?);
    }
    Ok(Some([RecordChain::start(), first_record(RecordKind::Header, &header)?].concat()))
}
