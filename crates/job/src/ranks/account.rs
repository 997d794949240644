//! Accounts for the time of a job: sums over its ranks (`-timing`), and the activities of each rank
//! over time (`-trace`).

use std::collections::BTreeSet;
use std::time::Instant;

use fleetblast_db::UnprintableHeader;
use serde::{Deserialize, Serialize};

use super::context::RankContext;
use super::job::RankJob;
use crate::cost::EncodingCosts;
use crate::error::Error;
use crate::plan::{Plan, Subjects};
use crate::timing::{FleetTiming, Loading, Spread, Timing, Usage};
use crate::trace::{self, Description, Kind, RankTotals, Recorder};

/// The work of a rank, and the CPU time, memory and host of its process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RankStatistics {
    sums: RankTotals,
    cpu_seconds: f64,
    peak_memory_bytes: Option<u64>,
    host: String,
    /// Definition lines with unprintable characters that the process of this rank read.
    pub odd_headers: Vec<UnprintableHeader>,
}

impl RankStatistics {
    /// Collects the statistics of a rank that has ended.
    ///
    /// # Errors
    /// The rank's part of the trace cannot be written.
    pub fn close(job: &RankJob, recorder: &Recorder) -> Result<Self, Error> {
        let sums = recorder.finish().map_err(|error| failure(job.plan, &error))?;
        let Usage { cpu_seconds, peak_memory_bytes } = Usage::now();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let odd_headers = job.subjects.odd_headers();
        Ok(RankStatistics { sums, cpu_seconds, peak_memory_bytes, host, odd_headers })
    }

    fn seconds(&self, kinds: &[Kind]) -> f64 {
        let seconds = kinds.iter().filter_map(|kind| self.sums.seconds.get(kind));
        seconds.fold(0.0, |sum, seconds| sum + seconds)
    }
}

/// Returns the recorder of a rank. It is off unless the plan asks for a trace or for times.
///
/// # Errors
/// The rank's part of the trace cannot be created.
pub fn recorder(plan: &Plan, rank: u32) -> Result<Recorder, Error> {
    let trace = plan.fleet.trace.as_deref();
    if trace.is_none() && plan.timing.is_none() {
        return Ok(Recorder::default());
    }
    Recorder::new(rank, trace).map_err(|error| failure(plan, &error))
}

/// Writes the times and the trace that the plan asks for. `start` is when the ranks started to
/// work. `one_process` says whether all ranks are threads of one process.
///
/// # Errors
/// Files cannot be written.
pub fn render(
    context: &RankContext<RankJob>,
    statistics: &[RankStatistics],
    start: Instant,
    one_process: bool,
) -> Result<(), Error> {
    let plan = context.job.plan;
    if let Some(path) = &plan.timing {
        compute_timing(context, statistics, start, one_process).write(path)?;
    }
    if let Some(path) = &plan.fleet.trace {
        let described = describe_job(context, statistics, start, one_process);
        trace::join(path, &described).map_err(|error| failure(plan, &error))?;
    }
    Ok(())
}

fn failure(plan: &Plan, error: &std::io::Error) -> Error {
    trace::failure(plan.fleet.trace.as_deref().unwrap_or_else(|| "".as_ref()), error)
}

const INPUT: &[Kind] = &[Kind::Load, Kind::Read, Kind::Prepare];
const OUTPUT: &[Kind] = &[Kind::Describe, Kind::Format, Kind::Send, Kind::Write];

fn compute_timing(
    context: &RankContext<RankJob>,
    statistics: &[RankStatistics],
    start: Instant,
    one_process: bool,
) -> Timing {
    let Plan { threads, .. } = *context.job.plan;
    let sum = |kinds: &[Kind]| statistics.iter().map(|rank| rank.seconds(kinds)).sum();
    let searched = &context.job.subjects.searched;
    let mut timing = Timing {
        input_seconds: sum(INPUT),
        search_seconds: sum(&[Kind::Search]),
        traceback_seconds: sum(&[Kind::Align]),
        output_seconds: sum(OUTPUT),
        threads: threads.count * statistics.len(),
        threads_source: threads.source,
        queries: statistics.iter().map(|rank| rank.sums.queries).sum(),
        query_residues: statistics.iter().map(|rank| rank.sums.query_residues).sum(),
        subjects: searched.sequence_count(),
        subject_residues: searched.residue_count(),
        loading: Some(loading_statistics(context, statistics)),
        metadata: statistics
            .iter()
            .filter_map(|rank| rank.sums.metadata.clone())
            .reduce(join_accounts),
        fleet: Some(rank_spreads(context, statistics)),
        ..Timing::default()
    };
    timing.close(start.elapsed(), statistics.len());
    if !one_process {
        timing.cpu_seconds = statistics.iter().map(|rank| rank.cpu_seconds).sum();
        timing.peak_memory_bytes =
            statistics.iter().filter_map(|rank| rank.peak_memory_bytes).max();
    }
    timing
}

fn join_accounts(mut first: EncodingCosts, other: EncodingCosts) -> EncodingCosts {
    first.merge(other);
    first
}

fn loading_statistics(context: &RankContext<RankJob>, statistics: &[RankStatistics]) -> Loading {
    let choice = &context.job.loader;
    let loaded = || statistics.iter().map(|rank| &rank.sums.loaded);
    Loading {
        method: choice.method.name(),
        reason: choice.reason.clone(),
        streamed_through_bytes: choice.streaming_bytes,
        bytes_read: loaded().map(|loaded| loaded.bytes).sum(),
        bytes_received: loaded().map(|loaded| loaded.received).sum(),
        pages: loaded().map(|loaded| loaded.pages.clone()).next().unwrap_or_default(),
        read_seconds: loaded().map(|loaded| loaded.seconds).sum(),
        wait_seconds: loaded().map(|loaded| loaded.wait_seconds).sum(),
    }
}

fn rank_spreads(context: &RankContext<RankJob>, statistics: &[RankStatistics]) -> FleetTiming {
    let spread =
        |value: &dyn Fn(&RankStatistics) -> f64| Spread::from_values(statistics.iter().map(value));
    FleetTiming {
        ranks: context.topology.ranks,
        groups: context.topology.groups.len() as u32,
        partitions: context.topology.partitions,
        input_seconds: spread(&|rank| rank.seconds(INPUT)),
        search_seconds: spread(&|rank| rank.seconds(&[Kind::Search])),
        traceback_seconds: spread(&|rank| rank.seconds(&[Kind::Align])),
        merge_seconds: spread(&|rank| rank.seconds(&[Kind::Merge])),
        output_seconds: spread(&|rank| rank.seconds(OUTPUT)),
        idle_seconds: spread(&|rank| rank.seconds(&[Kind::Wait])),
        tasks: spread(&|rank| rank.sums.tasks as f64),
        messages: spread(&|rank| rank.sums.messages as f64),
        message_bytes: spread(&|rank| rank.sums.message_bytes as f64),
    }
}

fn describe_job(
    context: &RankContext<RankJob>,
    statistics: &[RankStatistics],
    start: Instant,
    one_process: bool,
) -> Description {
    let (plan, topology) = (context.job.plan, &context.topology);
    let searched = &context.job.subjects.searched;
    let residues = |oids| -> u64 {
        let included = searched.included_oids_in(oids).into_iter().flatten();
        included.map(|oid| u64::from(searched.length_of(oid))).sum()
    };
    let replicas = topology.workers.iter().map(|worker| worker.replica + 1).max();
    Description {
        made_by: format!("fleetblast {} {}", env!("CARGO_PKG_VERSION"), plan.program),
        ranks: topology.ranks,
        threads: plan.threads.count as u32,
        cores: plan.threads.cpus as u32,
        one_process,
        hosts: statistics.iter().map(|rank| &rank.host).collect::<BTreeSet<_>>().len() as u32,
        groups: topology.groups.len() as u32,
        replicas: replicas.unwrap_or(1),
        partition_residues: context.job.partitions().map(residues).collect(),
        output: plan.fleet.config.strategy,
        schedule: plan.fleet.config.schedule,
        database: match &plan.subjects {
            Subjects::Database(name) | Subjects::Fasta { name, .. } => name.clone(),
        },
        queries: statistics.iter().map(|rank| rank.sums.queries).sum(),
        query_residues: statistics.iter().map(|rank| rank.sums.query_residues).sum(),
        wall_seconds: start.elapsed().as_secs_f64(),
    }
}
