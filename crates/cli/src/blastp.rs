//! A protein search: in this process alone, or on ranks.

use fleetblast_db::load::Method;

use crate::error::{CliError, exit};
use crate::fleet;
use crate::memory;
use crate::plan::Plan;
use crate::run;
use crate::run::output::leave_empty;

/// Runs a protein search.
///
/// # Errors
/// Whatever ends the run early. Where no file was, an empty one is left then, unless a signal ended it.
pub fn run(plan: Plan) -> Result<(), CliError> {
    let out = (!plan.fleet.dry_run).then(|| plan.out.clone());
    let _last = out.clone().map(|out| memory::before_the_end(move || leave_empty(&out)));
    search(plan).inspect_err(|error| {
        if let Some(out) = out.filter(|_| error.exit_code != exit::DRAINED) {
            leave_empty(&out);
        }
    })
}

fn search(plan: Plan) -> Result<(), CliError> {
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
