//! Simulates random jobs and checks them. Every seed must give a correct result.

use std::sync::Arc;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::config::{Config, Heartbeat, Schedule, Strategy};
use crate::end::JobEnd;
use crate::ids::{BlockId, Rank, Time};
use crate::plan::BlockLimits;
use crate::topology::{Topology, TopologyShape};

use super::ledger::Checkpoint;
use super::machine::Machine;
use super::startup::Startup;
use super::workload::{Distribution, Source, Workload};
use super::world::{Faults, Job, Outcome, RunEnd, simulate};

/// Most runs of a job. Faults may end all runs but the last.
const MOST_RUNS: u32 = 4;

/// Simulates the job of a seed. Each run resumes from the checkpoint of the run before, until one
/// run completes the job. Returns the outcomes of the runs.
///
/// # Errors
/// Returns a description of the first violation, with the job.
pub fn simulate_seed(seed: u64, most_ranks: u32) -> Result<Vec<Outcome>, String> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let partitions = *[1, 1, 2, 3, 5, 8, 16, 61].choose(&mut rng).unwrap_or(&1);
    let source = Source::Drawn(distribution(&mut rng));
    // Two of three jobs have blocks with few queries, mostly one.
    let block_residues = *[1, 1, 5000].choose(&mut rng).unwrap_or(&1);
    let batch_residues = rng.random_range(1..2000);
    let cut = BlockLimits { batch_residues, block_residues, block_queries: 1000 };
    let workload = Workload::new(source, cut, partitions, rng.random());
    let config = config(&mut rng, &workload);
    let machine = machine(&mut rng);
    let mut checkpoint = Checkpoint::default();
    let mut outcomes = Vec::new();
    let runs = rng.random_range(1..=MOST_RUNS);
    for number in 1..=runs {
        let topology = Topology::new(shape(&mut rng, most_ranks, partitions));
        let mut job = Job {
            topology: Arc::new(topology),
            config: Arc::new(config.clone()),
            machine: machine.clone(),
            workload: workload.clone(),
            faults: Faults::default(),
            checkpoint: checkpoint.clone(),
            startup: rng.random_bool(0.3).then(Startup::default),
            audit: true,
            seed: rng.random(),
        };
        if number < runs {
            job.faults = faults(&mut rng, &mut job);
        }
        let outcome = simulate(&job);
        check_outcome(&job, &outcome).map_err(|what| {
            format!(
                "seed {seed}, run {number}: {what}\n{:?}\n{:?}\n{:?}",
                job.faults, job.config, job.machine
            )
        })?;
        checkpoint = outcome.checkpoint.clone();
        let completed = outcome.end == RunEnd::Exited(JobEnd::Completed);
        outcomes.push(outcome);
        if completed {
            break;
        }
    }
    Ok(outcomes)
}

/// The strategies from which a job's strategy is drawn.
const STRATEGIES: [Strategy; 4] =
    [Strategy::Merge, Strategy::Individual, Strategy::Collective, Strategy::Records];

fn distribution(rng: &mut Xoshiro256PlusPlus) -> Distribution {
    Distribution {
        queries: *[0, 1, 2, 7, 30, 80].choose(rng).unwrap_or(&1),
        residues: 1000.0,
        residue_spread: rng.random_range(0.0..1.5),
        search_seconds: *[1e-3, 0.1, 10.0].choose(rng).unwrap_or(&1.0),
        query_spread: rng.random_range(0.0..1.0),
        task_spread: rng.random_range(0.0..1.0),
        answer_share: rng.random_range(0.0..0.5),
        passes: vec![1.0; *[1, 1, 2, 5].choose(rng).unwrap_or(&1)],
        predicted: rng.random_bool(0.4),
        rounds: rng.random_range(2..=3),
        subjects: *[0.0, 0.5, 3.0, 100.0].choose(rng).unwrap_or(&3.0),
        most_pieces: rng.random_range(1..6),
        piece_bytes: *[10.0, 1000.0, 30_000.0].choose(rng).unwrap_or(&10.0),
        piece_spread: rng.random_range(0.0..1.0),
        master_bytes: *[0, 100, 50_000].choose(rng).unwrap_or(&0),
        hit_bytes: 1000.0,
        master_seconds: 1e-5,
        work_seconds: 1e-6,
        read_seconds: *[0.0, 1e-8, 1e-5].choose(rng).unwrap_or(&0.0),
        prepare_seconds: *[0.0, 1e-7, 1e-4].choose(rng).unwrap_or(&0.0),
    }
}

fn config(rng: &mut Xoshiro256PlusPlus, workload: &Workload) -> Config {
    let blocks = u64::from(workload.blocks());
    let output: u64 = (0..workload.blocks()).map(BlockId).map(|block| workload.size(block)).sum();
    let write_buffer = *[97, 1000, 64 << 10].choose(rng).unwrap_or(&1000);
    // A trial has no time for more windows than this.
    let write_buffer = write_buffer.max(output / (20 * blocks + 1000));
    let result_memory = write_buffer * rng.random_range(5..40);
    Config {
        strategy: *STRATEGIES.choose(rng).unwrap_or(&Strategy::Merge),
        schedule: *[Schedule::Dynamic, Schedule::Dynamic, Schedule::Length, Schedule::Weight]
            .choose(rng)
            .unwrap_or(&Schedule::Dynamic),
        verifies_blocks: workload.is_predicted(),
        checkpoint: rng.random(),
        write_buffer,
        grain: *[1, 4096, 64 << 10].choose(rng).unwrap_or(&1),
        result_memory,
        waiting_limit: *[0, 10_000, 1 << 40].choose(rng).unwrap_or(&0),
        prefetch: rng.random_range(0..3),
        prefetch_below: Time::from_seconds(*[0.0, 0.1, 1e9].choose(rng).unwrap_or(&0.0)),
        look_ahead: rng.random_range(0.0..3.0),
        most_unfinished_blocks: rng.random_range(1..20),
        most_unfinished_queries: *[1, 3, 1000].choose(rng).unwrap_or(&1),
        segment_queries: *[0, 2, 1000].choose(rng).unwrap_or(&0),
        segment_residues: *[1, 3000, 100_000].choose(rng).unwrap_or(&1),
        total: rng.random_bool(0.5).then(|| workload.total()),
        segment_divisor: rng.random_range(0.5..5.0),
        longest_first: rng.random_range(0.0..10.0),
        read_ahead: *[0, 3000, 1 << 20].choose(rng).unwrap_or(&0),
        heartbeat: None,
        drain_limit: Time::from_seconds(*[1e-3, 1.0, 100.0].choose(rng).unwrap_or(&1.0)),
    }
}

fn machine(rng: &mut Xoshiro256PlusPlus) -> Machine {
    Machine {
        ranks_per_host: rng.random_range(1..9),
        cores_per_host: rng.random_bool(0.3).then(|| rng.random_range(0.5..6.0)),
        threads: 1,
        latency: *[1e-6, 1e-4, 1e-2].choose(rng).unwrap_or(&1e-6),
        jitter: *[0.0, 1e-4, 1e-1].choose(rng).unwrap_or(&0.0),
        bandwidth: *[1e6, 1e8, 1e10].choose(rng).unwrap_or(&1e8),
        message_cost: *[0.0, 1e-6, 1e-4].choose(rng).unwrap_or(&0.0),
        shared_core: rng.random(),
        file_rate: *[1e6, 1e8, 1e10].choose(rng).unwrap_or(&1e8),
        client_rate: *[1e6, 1e8].choose(rng).unwrap_or(&1e8),
        clients: rng.random_range(1..50),
        write_latency: *[0.0, 1e-3].choose(rng).unwrap_or(&0.0),
        open_rate: 1e4,
        blocking_writes: rng.random(),
        memory: u64::MAX,
        spool_rate: 1e8,
        speed: 1.0,
        noise: rng.random_range(0.0..0.5),
        stragglers: rng.random_range(0.0..0.3),
        straggler_factor: rng.random_range(1.0..20.0),
    }
}

fn shape(rng: &mut Xoshiro256PlusPlus, most_ranks: u32, partitions: u32) -> TopologyShape {
    let ranks = match rng.random_range(0..4) {
        0 => rng.random_range(1..=4.min(most_ranks)),
        1 => rng.random_range(1..=most_ranks),
        _ => rng.random_range(1..=16.min(most_ranks)),
    };
    TopologyShape {
        ranks,
        groups: rng.random_range(1..=ranks.min(10)),
        replicas: rng.random_range(1..=4),
        partitions,
        dedicated: rng.random(),
    }
}

/// Draws one fault, at a random time of the job. May set the job's heartbeat.
fn faults(rng: &mut Xoshiro256PlusPlus, job: &mut Job) -> Faults {
    let whole = simulate(&Job { audit: false, ..job.clone() }).report.makespan;
    let time = Time::from_seconds(rng.random_range(0.0..1.2) * whole);
    let rank = Rank(rng.random_range(0..job.topology.ranks));
    // In a job of one rank, no other rank could notice the silence of a dead rank.
    match rng.random_range(0..if job.topology.ranks > 1 { 4 } else { 3 }) {
        0 => Faults { kill: Some(time), ..Faults::default() },
        1 => Faults { drain: Some(time), ..Faults::default() },
        2 => Faults { full_disk: Some((rank, time)), ..Faults::default() },
        _ => {
            let interval = Time::from_seconds(whole / 20.0 + 0.5);
            let limit = Time(interval.0 * 6 + Time::from_seconds(whole).0 / 2);
            let config =
                Config { heartbeat: Some(Heartbeat { interval, limit }), ..(*job.config).clone() };
            job.config = Arc::new(config);
            Faults { death: Some((rank, time)), ..Faults::default() }
        }
    }
}

/// Checks that a run had no violation, and that it ended as its faults allow.
fn check_outcome(job: &Job, outcome: &Outcome) -> Result<(), String> {
    if let Some(first) = outcome.violations.first() {
        return Err(format!("{} violations, the first: {first}", outcome.violations.len()));
    }
    let faults = &job.faults;
    let fine = match &outcome.end {
        RunEnd::Exited(JobEnd::Completed) => true,
        RunEnd::Exited(JobEnd::Drained) => faults.drain.is_some(),
        RunEnd::Killed => faults.kill.is_some(),
        RunEnd::Failed(failure) => {
            let dead = faults.death.map(|(rank, _)| rank);
            let full = faults.full_disk.map(|(rank, _)| rank);
            Some(failure.rank) == dead || Some(failure.rank) == full
        }
        RunEnd::Stuck => false,
    };
    if fine { Ok(()) } else { Err(format!("ended with {:?}", outcome.end)) }
}
