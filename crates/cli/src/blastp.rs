//! A protein search: in this process alone, or on ranks.

use fleetblast_db::load::Method;

use crate::error::CliError;
use crate::fleet;
use crate::plan::Plan;
use crate::run;

/// Runs a protein search.
///
/// # Errors
/// Whatever ends the run early; what was written until then is not the whole report.
pub fn run(plan: Plan) -> Result<(), CliError> {
    // What processes do together, one that is alone among them does too.
    let together = cfg!(feature = "mpi") && plan.load.method == Some(Method::Broadcast);
    let launched = fleetblast_mpi::launched();
    if let Some(launch) = launched.filter(|launch| launch.ranks > 1 || together) {
        return fleet::on_processes(plan, launch);
    }
    match plan.fleet.ranks {
        Some(ranks) => fleet::on_threads(plan, ranks),
        None => run::alone(&plan),
    }
}
