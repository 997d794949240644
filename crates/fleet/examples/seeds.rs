//! Simulates the random job of each of COUNT seeds, from FIRST on: `seeds FIRST COUNT
//! [MOST_RANKS]`. Stops at the first violation.

use std::process::ExitCode;

use fleetblast_fleet::end::JobEnd;
use fleetblast_fleet::sim::trial;
use fleetblast_fleet::sim::world::RunEnd;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let (Some(Ok(first)), Some(Ok(count))) = (numbers.next(), numbers.next()) else {
        eprintln!("usage: seeds FIRST COUNT [MOST_RANKS]");
        return ExitCode::FAILURE;
    };
    let most_ranks = numbers.next().and_then(Result::ok).unwrap_or(200) as u32;
    let (mut runs, mut completed, mut events) = (0_u64, 0_u64, 0_u64);
    for seed in first..first + count {
        match trial::simulate_seed(seed, most_ranks) {
            Ok(outcomes) => {
                runs += outcomes.len() as u64;
                let whole = |end: &RunEnd| *end == RunEnd::Exited(JobEnd::Completed);
                completed += outcomes.iter().filter(|outcome| whole(&outcome.end)).count() as u64;
                events += outcomes.iter().map(|outcome| outcome.report.events).sum::<u64>();
            }
            Err(what) => {
                eprintln!("{what}");
                return ExitCode::FAILURE;
            }
        }
    }
    println!(
        "{count} seeds from {first}: {runs} runs, {completed} completed, {events} events; all right"
    );
    ExitCode::SUCCESS
}
