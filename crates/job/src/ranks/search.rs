//! The course of a search on ranks, from the open database to the published report.

use std::sync::Arc;
use std::time::Instant;

use fleetblast_db::UnprintableHeader;
use fleetblast_db::load::LoaderChoice;
use fleetblast_fleet::config::Config;
use fleetblast_fleet::plan::Layout;

use super::account;
use super::checkpoint::{CheckpointOptions, CheckpointState};
use super::context::RankContext;
use super::ending::finish_checkpoint;
use super::job::RankJob;
use super::job_io::JobIo;
use super::layout::DatabaseCut;
use super::metadata_stream::MetadataStream;
use super::running::{FirstRank, Ranks};
use super::supervisor::Supervisor;
use crate::audience::Audience;
use crate::error::Error;
use crate::fingerprint::VolumeFingerprints;
use crate::interrupt::DrainSignals;
use crate::io_channel::IoChannel;
use crate::plan::Plan;
use crate::processes::Collective;
use crate::search::patterns;
use crate::subjects::SubjectDatabase;
use crate::threads::pool;

/// A search that all processes have agreed on.
pub struct RankSearch<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The database.
    pub subjects: &'a SubjectDatabase,
    /// Groups, partitions and blocks.
    pub layout: &'a Layout,
    /// The partitions of the layout.
    pub cut: DatabaseCut,
    /// How each rank loads its partitions.
    pub loader: LoaderChoice,
    /// Fingerprints of the database, for checkpoints and metadata.
    pub fingerprint: &'a VolumeFingerprints,
    /// The channel to the I/O ranks, in a job that has them.
    pub io_channel: Option<&'a IoChannel>,
    /// Receives warnings and progress.
    pub audience: &'a Arc<dyn Audience>,
    /// When the job started.
    pub start: Instant,
}

impl RankSearch<'_> {
    /// Runs the search on these ranks. `drain` has the signals that end it early.
    ///
    /// # Errors
    /// The error that ends the job early.
    pub fn run(self, mut ranks: impl Ranks, drain: Option<DrainSignals>) -> Result<(), Error> {
        let RankSearch { plan, subjects, layout, audience, .. } = self;
        let early_end = drain.as_ref().map(DrainSignals::early_end);
        let environment = (early_end.as_deref(), audience);
        let open =
            || JobIo::open(plan, subjects, self.fingerprint, layout, self.io_channel, environment);
        let (job_io, checkpoint) = ranks.open_on_first(open)?.unzip();
        let checkpoint = checkpoint.flatten();
        let path = job_io.as_ref().map(|job_io| job_io.output.path().as_os_str().to_owned());
        // There are no queries, or an earlier run has completed the job.
        let Some(path) = ranks.processes().broadcast(path)? else { return ranks.leave() };
        let options = CheckpointOptions::from(plan);
        let checkpoint_state =
            CheckpointState::share(ranks.processes(), &options, checkpoint.as_ref(), &**audience)?;
        let stream = job_io.as_ref().and_then(|job_io| job_io.output.stream.as_ref());
        let stream = stream.map(MetadataStream::observer);
        let DatabaseCut { partitions, topology } = self.cut;
        let occurrences = count_occurrences(ranks.processes(), plan, subjects)?;
        let loader = LoaderChoice { streaming_bytes: layout.streamed, ..self.loader };
        let mut job = RankJob::new(plan, subjects, audience, partitions, loader, occurrences);
        job.stream = stream.clone();
        let config = Arc::new(config(&job, layout, checkpoint_state.as_ref()));
        let (path, hosts) = (path.into(), ranks.hosts());
        let context = RankContext { job, topology, config, path, checkpoint_state, hosts };
        let executor = job_io.map(|job_io| job_io.into_executor(&context.job)).transpose();
        let first = FirstRank {
            executor: ranks.processes().require_all(executor)?,
            supervisor: Supervisor { checkpoint: checkpoint.as_ref(), signals: drain, stream },
        };
        let (is_first, processes) = (ranks.processes().is_first(), ranks.processes().count());
        ranks.run(&context, first, |statistics| {
            if is_first {
                warn_of_odd_headers(statistics.iter().flat_map(|rank| &rank.odd_headers), audience);
                account::render(&context, &statistics, self.start, processes == 1)?;
            }
            Ok(())
        })?;
        finish_checkpoint(checkpoint, plan.records_directory().is_some(), &**audience);
        Ok(())
    }
}

/// Returns the settings of the roles.
fn config(job: &RankJob, layout: &Layout, checkpoint_state: Option<&CheckpointState>) -> Config {
    let (verifies_blocks, config) = (job.verifies_blocks(), layout.config.clone());
    Config {
        verifies_blocks,
        checkpoint: checkpoint_state.is_some_and(|checkpoint_state| checkpoint_state.durable),
        // Late predictions are more accurate, so blocks are not read ahead.
        read_ahead: if verifies_blocks { 0 } else { config.read_ahead },
        ..config
    }
}

/// Counts the occurrences of the plan's pattern in the whole database; 0 without a pattern. Each
/// process counts in an equal part of it. Collective.
fn count_occurrences(
    processes: &impl Collective,
    plan: &Plan,
    subjects: &SubjectDatabase,
) -> Result<u64, Error> {
    if plan.params.pattern().is_none() {
        return Ok(0);
    }
    let own = subjects.searched.partitions(processes.count()).into_iter().nth(processes.number());
    let count = |oids| {
        pool(plan.threads.count)?.install(|| patterns::count_occurrences(plan, subjects, oids))
    };
    let own = processes.require_all(own.map_or(Ok(0), count))?;
    Ok(processes.gather(&own)?.iter().sum())
}

/// Warns, for each volume, of one of the unprintable definition lines that ranks found.
fn warn_of_odd_headers<'a>(
    found: impl Iterator<Item = &'a UnprintableHeader>,
    audience: &Arc<dyn Audience>,
) {
    let mut odd: Vec<&UnprintableHeader> = found.collect();
    odd.sort();
    odd.dedup_by(|later, first| later.file == first.file);
    odd.iter().for_each(|odd| audience.warn(&odd.to_string()));
}
