//! `fleetblast simulate`: predicts how long a search on many ranks would take. The roles of a
//! search run on a model of a machine; task times come from a trace, or from distributions.

mod recorded;
mod scaling;
mod setup;
mod sites;
mod text;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use fleetblast_fleet::end::{Failure, JobEnd};
use fleetblast_fleet::ids::Time;
use fleetblast_fleet::sim::machine::Machine;
use fleetblast_fleet::sim::report::Report;
use fleetblast_fleet::sim::world::{Faults, Job, RunEnd, simulate};
use fleetblast_job::error::{Error, exit};
use fleetblast_job::standard::print;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use self::setup::Setup;
use crate::options::parse::GivenOptions;
use crate::options::simulate::SimulateOptions;

/// Largest number of runs of a job that failures end again and again. A job that needs more runs is
/// an error.
const MOST_RUNS: u32 = 1000;
/// Largest number of consecutive runs that failures end before a further block is finished.
const MOST_IDLE_RUNS: u32 = 50;

/// Template of the spinner that a terminal shows during a simulation. Without a terminal there is
/// none.
const WATCHED: &str = "{spinner} {msg}, which takes seconds to minutes ({elapsed})";
const TICK: Duration = Duration::from_millis(250);

/// A simulated job.
#[derive(Debug, Serialize)]
struct SimulatedJob {
    /// Report of the run that completed the job.
    report: Report,
    /// Wall time of all runs, in seconds.
    wall_seconds: f64,
    /// Share of the time of all searching cores that they spend on search and answers.
    efficiency: f64,
    /// Number of failures that ended a run.
    failures: u32,
    /// Time of the longest block in seconds; no schedule can be shorter.
    longest_block_seconds: f64,
}

/// Runs `fleetblast simulate`.
///
/// # Errors
/// Options that contradict each other, a trace that cannot be read, figures that cannot be written.
pub fn run(given: &GivenOptions) -> Result<(), Error> {
    let options = SimulateOptions::new(given);
    let json = if options.scaling {
        let lines = scaling::table(&options)?;
        serde_json::to_string_pretty(&lines)
    } else if options.sites {
        let lines = sites::table(&options)?;
        serde_json::to_string_pretty(&lines)
    } else {
        let setup = Setup::new(&options)?;
        let simulated = job(&setup)?;
        print(&text::describe(&setup, &simulated))?;
        serde_json::to_string_pretty(&simulated)
    };
    let Some(path) = options.json.map(PathBuf::from) else { return Ok(()) };
    let failed = |error: &dyn std::fmt::Display| {
        Error::output(format_args!("{error} (-json {})", path.display()))
    };
    fs::write(&path, json.map_err(|error| failed(&error))? + "\n").map_err(|error| failed(&error))
}

/// Simulates a job to its end. After each failure, the job resumes from its checkpoint. A terminal
/// shows the elapsed time.
fn job(setup: &Setup) -> Result<SimulatedJob, Error> {
    show_elapsed_time(&setup.job, || run_to_the_end(setup))
}

/// Calls `simulate`. Meanwhile a terminal shows the elapsed time.
fn show_elapsed_time<T>(job: &Job, simulate: impl FnOnce() -> T) -> T {
    let spinner = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template(WATCHED) {
        spinner.set_style(style);
    }
    spinner.set_message(format!("simulating {} ranks", HumanCount(job.topology.ranks.into())));
    spinner.enable_steady_tick(TICK);
    let simulated = simulate();
    spinner.finish_and_clear();
    simulated
}

fn run_to_the_end(setup: &Setup) -> Result<SimulatedJob, Error> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(setup.job.seed);
    let mut job = setup.job.clone();
    let mut wall_seconds = 0.0;
    let mut idle_runs = 0;
    for failures in 0..MOST_RUNS {
        if let Some(mean) = setup.failures {
            let chance: f64 = rng.random();
            job.faults.kill = Some(Time::from_seconds(-mean * (1.0 - chance).ln()));
        }
        let outcome = simulate(&job);
        wall_seconds += outcome.report.makespan;
        match outcome.end {
            RunEnd::Exited(JobEnd::Completed) => {
                let longest_block_seconds = job.workload.longest_block();
                let report = outcome.report;
                let efficiency = report.efficiency / usable_share(&job.machine, report.ranks);
                return Ok(SimulatedJob {
                    report,
                    wall_seconds,
                    efficiency,
                    failures,
                    longest_block_seconds,
                });
            }
            RunEnd::Killed => {
                let goes_on = outcome.checkpoint.progress() > job.checkpoint.progress();
                idle_runs = if goes_on { 0 } else { idle_runs + 1 };
                if idle_runs == MOST_IDLE_RUNS {
                    return Err(hopeless(failures + 1, wall_seconds));
                }
                job = Job { checkpoint: outcome.checkpoint, faults: Faults::default(), ..job }
            }
            end => return Err(incomplete(&end)),
        }
    }
    Err(hopeless(MOST_RUNS, wall_seconds))
}

fn hopeless(failures: u32, wall_seconds: f64) -> Error {
    let what = format!(
        "Error: after {failures} failures and {wall_seconds:.0} s the simulated job is not complete: -failures leaves \
         too little time"
    );
    Error::new(exit::INPUT, what)
}

fn incomplete(end: &RunEnd) -> Error {
    match end {
        RunEnd::Failed(Failure { rank, cause, .. }) => {
            let what = format!(
                "Error: the simulated job fails on rank {rank}: {cause}; give the machine a shorter -latency, or \
                 more of -bandwidth or -fs_rate"
            );
            Error::new(exit::INPUT, what)
        }
        end => {
            let what = format!("Error: the simulated job did not complete: {end:?}");
            Error::new(exit::UNKNOWN, what)
        }
    }
}

/// Returns the share of all ranks that can search at full speed at once.
fn usable_share(machine: &Machine, ranks: u32) -> f64 {
    let Some(cores) = machine.cores_per_host else { return 1.0 };
    let on_host = f64::from(ranks.min(machine.ranks_per_host));
    (cores / (f64::from(machine.threads.max(1)) * on_host)).min(1.0)
}
