//! The results of a simulation, in words and numbers.

use fleetblast_fleet::sim::machine::Machine;
use fleetblast_fleet::sim::report::Report;

use super::SimulatedJob;
use super::setup::Setup;
use crate::report::text::{bytes, count, percent, pluralize, seconds};

/// Utilization of a master, the supermaster or the file system above which it limits the job.
const BUSY: f64 = 0.8;
/// Utilization of the search threads above which only they limit the job.
const WELL_USED: f64 = 0.9;

/// Formats the results of a simulated job.
pub fn describe(setup: &Setup, simulated: &SimulatedJob) -> String {
    let Setup { job, replicas, .. } = setup;
    let report = &simulated.report;
    let lanes = f64::from(report.workers) * report.makespan.max(1e-9);
    let mut text = format!(
        "{} in {} of {}, {}, {} of {} residues; schedule {}, output {}, seed {}\n{}\n\n",
        pluralize(report.ranks.into(), "rank"),
        pluralize(report.groups.into(), "group"),
        pluralize((*replicas).into(), "replica"),
        pluralize(job.topology.partitions.into(), "partition"),
        pluralize(job.workload.blocks().into(), "block"),
        count(setup.block_residues),
        format!("{:?}", job.config.schedule).to_lowercase(),
        format!("{:?}", job.config.strategy).to_lowercase(),
        job.seed,
        machine(&job.machine, report.ranks),
    );
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<24}{value}\n"));
    line("wall time", seconds(simulated.wall_seconds));
    if let Some(recorded) = setup.recorded {
        let ratio = simulated.wall_seconds / recorded - 1.0;
        line(
            "  of the recorded run",
            format!("{} (simulated {:+.1} %)", seconds(recorded), 100.0 * ratio),
        );
    }
    if report.startup > 0.0 {
        let longest = report.phases.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let what = longest.map_or("", |phase| &phase.name);
        line("  start of that", format!("{}, mostly {what}", seconds(report.startup)));
    }
    if setup.failures.is_some() {
        line("  failures", count(simulated.failures.into()));
    }
    line("efficiency", format!("{} of the ranks' time is search", percent(simulated.efficiency)));
    line("limit", limit(simulated));
    line(
        "tail",
        format!(
            "{} lost after ranks' last tasks",
            percent(report.tail / report.makespan.max(1e-9))
        ),
    );
    line(
        "output",
        format!(
            "{} of search threads' time; {} written",
            percent(report.blocked / lanes),
            bytes(report.written as f64)
        ),
    );
    line(
        "busiest master",
        format!(
            "sends {:.1} messages a second, busy {} of the time",
            report.master_messages as f64 / report.makespan.max(1e-9),
            percent(report.master_load)
        ),
    );
    line(
        "supermaster",
        format!(
            "busy {} of the time; reads queries {} of it",
            percent(report.supermaster_load),
            percent(report.reading_load)
        ),
    );
    line("file system", format!("{} of its rate", percent(report.file_load)));
    line(
        "memory waiting",
        format!(
            "{} on a rank at most, {} more in spools; {} waited for an earlier block",
            bytes(report.peak_memory as f64),
            bytes(report.spooled as f64),
            bytes(report.waiting as f64)
        ),
    );
    line(
        "longest block",
        format!("{}, which no schedule can shorten", seconds(simulated.longest_block_seconds)),
    );
    text
}

/// Describes the simulated machine.
fn machine(machine: &Machine, ranks: u32) -> String {
    let per_host = machine.ranks_per_host.min(ranks);
    let cores = match machine.cores_per_host {
        Some(cores) => format!("which share {cores} cores"),
        None => "each with cores of its own".to_owned(),
    };
    format!(
        "assumed: {} of {} with {} each, {cores} (-ranks_per_host, -cores); links of {}/s, messages of {:.1} us; files \
         {}/s",
        pluralize(ranks.div_ceil(per_host.max(1)).into(), "host"),
        pluralize(per_host.into(), "rank"),
        pluralize(machine.threads.into(), "thread"),
        bytes(machine.bandwidth),
        machine.latency * 1e6,
        bytes(machine.file_rate),
    )
}

/// Names the limit of a job's speed.
pub fn limit(simulated: &SimulatedJob) -> String {
    let report = &simulated.report;
    let Report { makespan, workers, .. } = *report;
    let lanes = f64::from(workers) * makespan.max(1e-9);
    let (tail, blocked) = (report.tail / makespan.max(1e-9), report.blocked / lanes);
    if simulated.efficiency >= WELL_USED {
        "search".to_owned()
    } else if report.startup > 0.5 * (1.0 - simulated.efficiency) * makespan {
        "the start, before anything is searched".to_owned()
    } else if report.reading_load >= BUSY {
        "reading of the queries, on rank 0".to_owned()
    } else if report.supermaster_load >= BUSY {
        "the supermaster".to_owned()
    } else if report.master_load >= BUSY {
        "masters".to_owned()
    } else if report.file_load >= BUSY {
        "the file system".to_owned()
    } else if blocked > tail {
        "output, for which search threads wait".to_owned()
    } else if tail >= report.idle / lanes / 2.0 {
        let longest = simulated.longest_block_seconds / makespan.max(1e-9);
        format!("the tail: the longest block alone takes {} of the time", percent(longest))
    } else {
        "ranks wait for tasks".to_owned()
    }
}
