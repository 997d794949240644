//! Scaling runs: `scaling KIND RANKS BLOCKS [dynamic|length|weight] [merge|individual|collective] [GROUP] [dedicated]`.

use std::process::ExitCode;
use std::time::Instant;

use fleetblast_fleet::config::{Schedule, Strategy};
use fleetblast_fleet::sim::scaling::Scale;
use fleetblast_fleet::sim::world::simulate;

fn main() -> ExitCode {
    let Some(scale) = parse(std::env::args().skip(1)) else {
        eprintln!(
            "usage: scaling blue-gene|modern RANKS BLOCKS [dynamic|length|weight] \
             [merge|individual|collective] [GROUP] [dedicated]"
        );
        return ExitCode::FAILURE;
    };
    let start = Instant::now();
    let outcome = simulate(&scale.job());
    println!("{scale:?}\n{:?}\n{:#?}", outcome.end, outcome.report);
    println!("simulated in {:.1} s", start.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Scale> {
    let kind = arguments.next()?;
    let ranks = arguments.next()?.parse().ok()?;
    let mut scale = match kind.as_str() {
        "blue-gene" => Scale::blue_gene(ranks),
        "modern" => Scale::modern(ranks),
        _ => return None,
    };
    scale.blocks = arguments.next()?.parse().ok()?;
    for argument in arguments {
        match argument.as_str() {
            "dynamic" => scale.schedule = Schedule::Dynamic,
            "length" => scale.schedule = Schedule::Length,
            "weight" => scale.schedule = Schedule::Weight,
            "merge" => scale.strategy = Strategy::Merge,
            "individual" => scale.strategy = Strategy::Individual,
            "collective" => scale.strategy = Strategy::Collective,
            "dedicated" => scale.dedicated = true,
            group => scale.group = group.parse().ok()?,
        }
    }
    Some(scale)
}
