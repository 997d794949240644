//! The job to simulate, built from the options.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use fleetblast_fleet::config::{Config, QueryOrder};
use fleetblast_fleet::payload::Weight;
use fleetblast_fleet::plan::{
    BLOCK_QUERIES, BLOCK_RESIDUES, DatabaseSize, LayoutError, PlanInput, UserSettings,
};
use fleetblast_fleet::sim::machine::Machine;
use fleetblast_fleet::sim::scaling::{MachineKind, Scale};
use fleetblast_fleet::sim::workload::{Source, Trace};
use fleetblast_fleet::sim::world::Job;
use fleetblast_job::error::{Error, exit};
use fleetblast_job::trace::Timeline;

use super::recorded;
use crate::options::load::size;
use crate::options::opt::Opt;
use crate::options::simulate::{BANDWIDTH, FAILURES, FS_RATE, LATENCY, Model, SimulateOptions};

/// Least rate of a network or a file system, in bytes per second.
const LEAST_RATE: u64 = 1 << 20;
/// Least mean time between failures in seconds: no machine even starts a job in less.
const LEAST_FAILURES: f64 = 0.001;
/// Largest number of microseconds, milliseconds or seconds in an option: years of simulated time.
pub const LARGEST_DURATION: f64 = 1e9;

/// A job to simulate.
pub struct Setup {
    /// The job.
    pub job: Job,
    /// Replicas in each group.
    pub replicas: u32,
    /// Least residues of a block of queries.
    pub block_residues: u64,
    /// Mean time between failures in seconds.
    pub failures: Option<f64>,
    /// Wall time of the recorded run, if it was the same search on the same number of ranks.
    pub recorded: Option<f64>,
}

impl Setup {
    /// Builds a job of the scaling table.
    ///
    /// # Errors
    /// An impossible layout.
    pub fn from_scale(scale: &Scale) -> Result<Self, Error> {
        let (plan, job) = scale.job().map_err(|error| layout_error(&error))?;
        let (replicas, block_residues) = (plan.shape.replicas, plan.block_residues);
        Ok(Setup { replicas, block_residues, job, failures: None, recorded: None })
    }

    /// Builds the job from the options.
    ///
    /// # Errors
    /// A trace that cannot be read, invalid values.
    pub fn new(options: &SimulateOptions) -> Result<Self, Error> {
        let mut setup = match &options.trace {
            Some(trace) => setup_from_trace(options, Path::new(trace))?,
            None => Setup::from_scale(&scale(options))?,
        };
        adapt_machine(options, &mut setup.job.machine)?;
        setup.failures = positive(&FAILURES, options.failures)?;
        if let Some(mean) = setup.failures.filter(|&mean| mean < LEAST_FAILURES) {
            let wanted = format!("a number of at least {LEAST_FAILURES}");
            return Err(invalid_value_error(FAILURES.name(), &wanted, &format!("{mean:e}")));
        }
        if setup.failures.is_some() {
            // The bytes in a checkpoint are known only if the simulator accounts for every byte.
            let config = Config { checkpoint: true, ..(*setup.job.config).clone() };
            setup.job.config = Arc::new(config);
            setup.job.audit = true;
        }
        Ok(setup)
    }
}

/// Returns the value of `-seed`, or its default.
pub fn seed(options: &SimulateOptions) -> u64 {
    options.seed.unwrap_or(1)
}

/// Returns the layout that the options ask for.
fn user_settings(options: &SimulateOptions) -> UserSettings {
    UserSettings {
        groups: options.groups,
        replicas: options.replicas,
        partitions: options.partitions,
        block_residues: options.block_residues,
        ..UserSettings::default()
    }
}

/// Returns the error for an impossible layout.
pub fn layout_error(error: &LayoutError) -> Error {
    Error::new(exit::INPUT, format!("Error: {error}"))
}

/// Builds a search with the task times of a trace. The layout is the recorded one for the same
/// number of ranks, else the one that the driver would choose.
fn setup_from_trace(options: &SimulateOptions, path: &Path) -> Result<Setup, Error> {
    let timeline = Timeline::read(path)?;
    let run = &timeline.description;
    let ranks = options.ranks.unwrap_or(run.ranks);
    let same = ranks == run.ranks;
    let trace = recorded::workload(&timeline);
    if trace.blocks.is_empty() {
        let what = format!("Error: {}: this trace has no searched blocks", path.display());
        return Err(Error::new(exit::INPUT, what));
    }
    let wanted = options.queries;
    let (total, blocks) = repeat_blocks(&trace, wanted);
    let mut machine = match model(options, ranks) {
        Some(machine) => machine,
        None => Machine { cores_per_host: Some(run.cores.into()), ..Machine::local(ranks) },
    };
    machine.threads = run.threads;
    let mut user_settings = user_settings(options);
    // Blocks stay as they were recorded.
    user_settings.block_residues = Some((total.residues / u64::from(blocks.max(1))).max(1));
    if same {
        user_settings.groups = user_settings.groups.or(Some(run.groups));
        user_settings.replicas = user_settings.replicas.or(Some(run.replicas));
        user_settings.partitions =
            user_settings.partitions.or(Some(run.partition_residues.len() as u32));
    }
    let residues = run.partition_residues.iter().sum::<u64>();
    let request = PlanInput {
        ranks,
        ranks_per_host: machine.ranks_per_host,
        hosts: ranks.div_ceil(machine.ranks_per_host.max(1)),
        broadcast: ranks > machine.ranks_per_host,
        stream: false,
        threads: run.threads,
        memory: machine.memory,
        // The number of sequences is not recorded; this number is enough for any partition.
        database: DatabaseSize { bytes: residues, residues, sequences: u64::from(u32::MAX) },
        queries: Some(total),
        batch_residues: 1,
        most_block_residues: BLOCK_RESIDUES,
        block_queries: BLOCK_QUERIES,
        user_settings,
    };
    let config = Config {
        strategy: options.output.unwrap_or(run.output),
        schedule: options.schedule.unwrap_or(run.schedule),
        longest_first: QueryOrder::longest_first(options.query_order),
        ..Config::default()
    };
    let plan = request.plan(&config).map_err(|error| layout_error(&error))?;
    let (replicas, block_residues) = (plan.shape.replicas, plan.block_residues);
    let source = Source::Recorded(trace, blocks);
    let mut job = Job::from_layout(&plan, &request, source, machine, seed(options));
    if model(options, ranks).is_none() {
        // A trace begins when all files are open, so no start is simulated.
        job.startup = None;
    }
    let recorded = Some(timeline.end).filter(|_| same && wanted.is_none());
    Ok(Setup { job, replicas, block_residues, failures: None, recorded })
}

/// Returns the total weight and the number of blocks for `wanted` queries, if the blocks of the
/// trace are repeated; without `wanted`, those of the trace.
fn repeat_blocks(trace: &Trace, wanted: Option<u32>) -> (Weight, u32) {
    let sum = |of: fn(&Weight) -> u64| -> u64 {
        trace.blocks.iter().map(|block| of(&block.weight)).sum()
    };
    let (queries, residues) = (sum(|weight| weight.sequences), sum(|weight| weight.residues));
    let recorded = trace.blocks.len() as f64;
    let blocks = wanted
        .map_or(recorded, |wanted| (f64::from(wanted) * recorded / queries.max(1) as f64).ceil());
    let times = blocks / recorded;
    let scaled = |sum: u64| (sum as f64 * times).round() as u64;
    (Weight { sequences: scaled(queries), residues: scaled(residues) }, blocks as u32)
}

/// Builds a search with random task times from the options.
pub fn scale(options: &SimulateOptions) -> Scale {
    let ranks = options.ranks.unwrap_or(4096);
    let model = match options.machine {
        Some(Model::Modern) => Scale::modern(ranks),
        _ => Scale::blue_gene(ranks),
    };
    Scale {
        seed: seed(options),
        schedule: options.schedule.unwrap_or(model.schedule),
        order: options.query_order,
        iterations: options.num_iterations.unwrap_or(model.iterations),
        strategy: options.output.unwrap_or(model.strategy),
        queries: options.queries.unwrap_or(model.queries),
        user_settings: user_settings(options),
        ..model
    }
}

/// Returns the model of the named machine.
fn model(options: &SimulateOptions, ranks: u32) -> Option<Machine> {
    options.machine.map(|model| match model {
        Model::BlueGene => Machine::blue_gene(ranks),
        Model::Modern => Machine::modern(),
        Model::Local => Machine::local(ranks),
    })
}

/// Changes the model of a machine by the options.
///
/// # Errors
/// Invalid values.
pub fn adapt_machine(options: &SimulateOptions, machine: &mut Machine) -> Result<(), Error> {
    if let Some(cores) = options.cores {
        machine.cores_per_host = Some(cores.into());
    }
    if let Some(ranks) = options.ranks_per_host {
        machine.ranks_per_host = ranks;
    }
    if let Some(micros) = positive(&LATENCY, options.latency)? {
        machine.latency = micros * 1e-6;
    }
    if let Some(rate) = rate(&BANDWIDTH, options.bandwidth.as_deref(), LEAST_RATE)? {
        machine.bandwidth = rate;
    }
    if let Some(rate) = rate(&FS_RATE, options.fs_rate.as_deref(), LEAST_RATE)? {
        machine.file_rate = rate;
        machine.client_rate = machine.client_rate.min(rate);
    }
    if let Some(clients) = options.fs_clients {
        machine.clients = clients;
    }
    Ok(())
}

/// Parses an option with a rate in bytes per second, at least `least`.
///
/// # Errors
/// A malformed or smaller rate.
pub fn rate(
    option: &Opt<OsString>,
    text: Option<&OsStr>,
    least: u64,
) -> Result<Option<f64>, Error> {
    let Some(text) = text.map(OsStr::to_string_lossy) else { return Ok(None) };
    match size(&text) {
        Some(bytes) if bytes >= least => Ok(Some(bytes as f64)),
        Some(_) => {
            let wanted = format!("at least {least} bytes a second, such as 12G");
            Err(invalid_value_error(option.name(), &wanted, &text))
        }
        None => Err(invalid_value_error(option.name(), "a rate such as 12G", &text)),
    }
}

/// Checks a value, which must be above 0 and at most [`LARGEST_DURATION`].
fn positive(option: &Opt<f64>, number: Option<f64>) -> Result<Option<f64>, Error> {
    match number {
        Some(number) if number.is_nan() || number <= 0.0 => {
            Err(invalid_value_error(option.name(), "a number above 0", &number.to_string()))
        }
        Some(number) if number > LARGEST_DURATION => Err(invalid_value_error(
            option.name(),
            &format!("a number of at most {LARGEST_DURATION}"),
            &format!("{number:e}"),
        )),
        number => Ok(number),
    }
}

/// Returns the error for an invalid value of an option.
pub fn invalid_value_error(name: &str, wanted: &str, given: &str) -> Error {
    Error::new(exit::INPUT, format!("Error: -{name} needs {wanted}, not '{given}'"))
}

/// Returns the kinds of machines in the scaling table.
pub fn kinds(options: &SimulateOptions) -> Vec<MachineKind> {
    match options.machine {
        None => vec![MachineKind::BlueGene, MachineKind::Modern],
        Some(Model::Modern) => vec![MachineKind::Modern],
        Some(_) => vec![MachineKind::BlueGene],
    }
}
