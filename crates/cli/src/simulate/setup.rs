//! The job to simulate, from the options.

use std::path::Path;
use std::sync::Arc;

use fleetblast_fleet::config::{Config, Schedule, Strategy};
use fleetblast_fleet::sim::machine::Machine;
use fleetblast_fleet::sim::scaling::{Kind, Scale};
use fleetblast_fleet::sim::workload::{Source, Workload};
use fleetblast_fleet::sim::world::Job;
use fleetblast_fleet::topology::{Shape, Topology};

use super::recorded;
use crate::error::{CliError, exit};
use crate::options::values::Values;
use crate::plan;
use crate::trace::Timeline;

/// What is simulated.
pub struct Setup {
    /// The job.
    pub job: Job,
    /// Replicas in each group.
    pub replicas: u32,
    /// Mean seconds to a failure.
    pub failures: Option<f64>,
    /// Wall time of the recorded run, if it was the same search on as many ranks.
    pub recorded: Option<f64>,
}

impl Setup {
    /// A job of a table.
    pub fn of_scale(scale: &Scale) -> Self {
        let job = scale.job();
        Setup { replicas: replicas(&job.topology), job, failures: None, recorded: None }
    }

    /// From the options.
    ///
    /// # Errors
    /// A trace that cannot be read, values that make no sense.
    pub fn new(options: &Values) -> Result<Self, CliError> {
        let mut setup = match options.text("trace") {
            Some(trace) => traced(options, Path::new(&trace))?,
            None => drawn(options),
        };
        adapt_machine(options, &mut setup.job.machine)?;
        setup.failures = positive(options, "failures")?;
        if setup.failures.is_some() {
            // What is kept is known only if every byte is accounted for.
            let config = Config { checkpoint: true, ..(*setup.job.config).clone() };
            setup.job.config = Arc::new(config);
            setup.job.audit = true;
        }
        Ok(setup)
    }
}

/// A word of `-schedule`.
fn schedule(options: &Values) -> Option<Schedule> {
    options.text("schedule").map(|word| match word.to_str() {
        Some("length") => Schedule::Length,
        Some("weight") => Schedule::Weight,
        _ => Schedule::Dynamic,
    })
}

fn strategy(options: &Values) -> Option<Strategy> {
    options.text("output").map(|word| match word.to_str() {
        Some("individual") => Strategy::Individual,
        Some("collective") => Strategy::Collective,
        _ => Strategy::Merge,
    })
}

/// What `-seed` says.
pub fn seed(options: &Values) -> u64 {
    options.integer("seed").unwrap_or(1)
}

/// A search whose task times are those of a trace.
fn traced(options: &Values, path: &Path) -> Result<Setup, CliError> {
    let timeline = Timeline::read(path)?;
    let run = &timeline.description;
    let ranks = options.integer("ranks").unwrap_or(run.ranks);
    let same = ranks == run.ranks;
    let shape = Shape {
        ranks,
        groups: options.integer("groups").unwrap_or(if same { run.groups } else { 1 }),
        replicas: options.integer("replicas").unwrap_or(if same { run.replicas } else { 1 }),
        partitions: options.integer("partitions").unwrap_or(run.partition_residues.len() as u32),
        dedicated: false,
    };
    let trace = recorded::workload(&timeline);
    if trace.blocks.is_empty() {
        let what = format!("Error: {}: nothing was searched in this trace", path.display());
        return Err(CliError::new(exit::INPUT, what));
    }
    let queries = trace.blocks.iter().map(|block| block.weight.sequences).sum::<u64>();
    let per_block = (queries as f64 / trace.blocks.len() as f64).max(1.0);
    let wanted: Option<u32> = options.integer("queries");
    let blocks = wanted.map_or(trace.blocks.len() as u32, |queries| {
        (f64::from(queries) / per_block).ceil() as u32
    });
    let mut machine = match model(options, ranks) {
        Some(machine) => machine,
        None => Machine { cores_per_host: Some(run.cores.into()), ..Machine::local(ranks) },
    };
    machine.threads = run.threads;
    let workload = Workload::new(Source::Recorded(trace, blocks), shape.partitions, seed(options));
    let config = Config {
        strategy: strategy(options).unwrap_or(run.output),
        schedule: schedule(options).unwrap_or(run.schedule),
        heartbeat: None,
        ..Config::default()
    };
    let recorded = Some(timeline.end).filter(|_| same && wanted.is_none());
    Ok(setup(shape, config, machine, workload, seed(options), recorded))
}

/// A search whose task times are drawn.
fn drawn(options: &Values) -> Setup {
    let ranks = options.integer("ranks").unwrap_or(4096);
    let mut scale = match is_modern(options) {
        true => Scale::modern(ranks),
        false => Scale::blue_gene(ranks),
    };
    scale.seed = seed(options);
    scale.schedule = schedule(options).unwrap_or(scale.schedule);
    scale.strategy = strategy(options).unwrap_or(scale.strategy);
    if let Some(queries) = options.integer::<u32>("queries") {
        scale.blocks = blocks(&scale, queries);
    }
    let job = scale.job();
    let wished = |name, default: u32| options.integer(name).unwrap_or(default);
    let shape = Shape {
        ranks,
        groups: wished("groups", job.topology.groups.len() as u32),
        replicas: wished("replicas", replicas(&job.topology)),
        partitions: wished("partitions", job.topology.partitions),
        dedicated: false,
    };
    let source = Source::Drawn(scale.distribution());
    let workload = Workload::new(source, shape.partitions, scale.seed);
    let machine = model(options, ranks).unwrap_or(job.machine);
    setup(shape, (*job.config).clone(), machine, workload, scale.seed, None)
}

/// Blocks of so many queries.
pub fn blocks(scale: &Scale, queries: u32) -> u32 {
    u64::from(queries).div_ceil(scale.distribution().sequences) as u32
}

fn replicas(topology: &Topology) -> u32 {
    topology.workers.iter().map(|worker| worker.replica + 1).max().unwrap_or(1)
}

fn setup(
    shape: Shape,
    config: Config,
    machine: Machine,
    workload: Workload,
    seed: u64,
    recorded: Option<f64>,
) -> Setup {
    let job = Job::new(Topology::new(shape), config, machine, workload, seed);
    Setup { replicas: replicas(&job.topology), job, failures: None, recorded }
}

/// True if the machine of today was asked for.
pub fn is_modern(options: &Values) -> bool {
    options.text("machine").is_some_and(|word| word == "modern")
}

/// The machine that was named.
fn model(options: &Values, ranks: u32) -> Option<Machine> {
    let word = options.text("machine")?;
    Some(match word.to_str() {
        Some("bluegene") => Machine::blue_gene(ranks),
        Some("modern") => Machine::modern(),
        _ => Machine::local(ranks),
    })
}

/// Changes a model as the options say.
fn adapt_machine(options: &Values, machine: &mut Machine) -> Result<(), CliError> {
    if let Some(cores) = options.integer::<u32>("cores") {
        machine.cores_per_host = Some(cores.into());
    }
    if let Some(ranks) = options.integer("ranks_per_host") {
        machine.ranks_per_host = ranks;
    }
    if let Some(micros) = positive(options, "latency")? {
        machine.latency = micros * 1e-6;
    }
    if let Some(rate) = rate(options, "bandwidth")? {
        machine.bandwidth = rate;
    }
    if let Some(rate) = rate(options, "fs_rate")? {
        machine.file_rate = rate;
        machine.client_rate = machine.client_rate.min(rate);
    }
    if let Some(clients) = options.integer("fs_clients") {
        machine.clients = clients;
    }
    Ok(())
}

fn rate(options: &Values, name: &str) -> Result<Option<f64>, CliError> {
    let Some(text) = options.text(name) else { return Ok(None) };
    let text = text.to_string_lossy();
    match plan::size(&text) {
        Some(bytes) if bytes > 0 => Ok(Some(bytes as f64)),
        _ => Err(refused(name, "a rate such as 12G", &text)),
    }
}

fn positive(options: &Values, name: &str) -> Result<Option<f64>, CliError> {
    match options.real(name) {
        Some(number) if number.is_nan() || number <= 0.0 => {
            Err(refused(name, "a number above 0", &number.to_string()))
        }
        number => Ok(number),
    }
}

fn refused(name: &str, wanted: &str, given: &str) -> CliError {
    CliError::new(exit::INPUT, format!("Error: -{name} needs {wanted}, not '{given}'"))
}

/// The kinds of machines that a table is of.
pub fn kinds(options: &Values) -> Vec<Kind> {
    match options.text("machine") {
        None => vec![Kind::BlueGene, Kind::Modern],
        Some(_) if is_modern(options) => vec![Kind::Modern],
        Some(_) => vec![Kind::BlueGene],
    }
}
