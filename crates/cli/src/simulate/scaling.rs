//! `-scaling`: how far a search scales, and what limits it.

use fleetblast_fleet::config::Schedule;
use fleetblast_fleet::sim::scaling::{MachineKind, Scale};
use fleetblast_job::error::Error;
use serde::Serialize;

use super::setup::{self, Setup};
use super::{SimulatedJob, job, print, text};
use crate::options::simulate::SimulateOptions;
use crate::report::text::{percent, seconds};

const RANKS: [u32; 3] = [4096, 32_768, 131_072];
const SCHEDULES: [Schedule; 3] = [Schedule::Dynamic, Schedule::Length, Schedule::Weight];
/// Efficiency below which scaling has ended.
const KNEE: f64 = 0.9;

/// A row of the scaling table.
#[derive(Debug, Serialize)]
pub struct ScalingRow {
    scale: Scale,
    simulated: SimulatedJob,
}

/// Simulates the jobs of the scaling table, and prints each row when it is known.
///
/// # Errors
/// A job that does not complete.
pub fn table(options: &SimulateOptions) -> Result<Vec<ScalingRow>, Error> {
    let mut lines = Vec::new();
    let ranks = options.ranks.map_or(RANKS.to_vec(), |ranks| vec![ranks]);
    for kind in setup::kinds(options) {
        print(&format!(
            "{}\n{:>8}  {:<9}{:>16}{:>12}{:>9}{:>9}  limit\n",
            name(kind),
            "ranks",
            "schedule",
            "wall time",
            "efficiency",
            "tail",
            "dynamic"
        ))?;
        let first = lines.len();
        for &ranks in &ranks {
            let dynamic = lines.len();
            for schedule in SCHEDULES {
                let scale = scale(options, kind, ranks, schedule);
                let setup = Setup::from_scale(&scale)?;
                lines.push(ScalingRow { scale, simulated: job(&setup)? });
                print(&format_row(&lines[dynamic], &lines[lines.len() - 1]))?;
            }
        }
        print(&knee(&lines[first..]))?;
    }
    Ok(lines)
}

fn name(kind: MachineKind) -> &'static str {
    match kind {
        MachineKind::BlueGene => "Blue Gene/P: sequences of 1,000 bases against 5.4 billion bases",
        MachineKind::Modern => {
            "Cluster of today: proteins of 333 residues against 240 billion residues"
        }
    }
}

fn scale(options: &SimulateOptions, kind: MachineKind, ranks: u32, schedule: Schedule) -> Scale {
    let model = match kind {
        MachineKind::BlueGene => Scale::blue_gene(ranks),
        MachineKind::Modern => Scale::modern(ranks),
    };
    let queries = options.queries.unwrap_or(model.queries);
    Scale { schedule, queries, seed: setup::seed(options), ..model }
}

/// Formats a row, with its time relative to the dynamic schedule.
fn format_row(dynamic: &ScalingRow, line: &ScalingRow) -> String {
    let report = &line.simulated.report;
    let against = line.simulated.wall_seconds / dynamic.simulated.wall_seconds;
    format!(
        "{:>8}  {:<9}{:>16}{:>12}{:>9}{:>8.2}×  {}\n",
        report.ranks,
        format!("{:?}", line.scale.schedule).to_lowercase(),
        seconds(line.simulated.wall_seconds),
        percent(line.simulated.efficiency),
        percent(report.tail / report.makespan.max(1e-9)),
        against,
        text::limit(&line.simulated),
    )
}

/// Describes the number of ranks at which efficiency falls, and the reason.
fn knee(lines: &[ScalingRow]) -> String {
    let dynamic: Vec<&ScalingRow> =
        lines.iter().filter(|line| line.scale.schedule == Schedule::Dynamic).collect();
    let Some(beyond) = dynamic.iter().find(|line| line.simulated.efficiency < KNEE) else {
        return format!("All within {} efficiency: no knee up to here.\n\n", percent(KNEE));
    };
    let SimulatedJob { report, longest_block_seconds, .. } = &beyond.simulated;
    let ideal = (report.search + report.answer) / f64::from(report.workers);
    format!(
        "The knee is before {} ranks: the work is {} a rank there, the longest block alone takes {}, reading the queries {}.\n\n",
        report.ranks,
        seconds(ideal),
        seconds(*longest_block_seconds),
        seconds(report.reading_load * report.makespan),
    )
}
