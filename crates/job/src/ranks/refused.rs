//! What ranks do not do yet.

use fleetblast_engine::params::Params;
use fleetblast_fleet::config::Schedule;

use crate::error::{Error, exit};
use crate::plan::{Format, Plan};

/// Refuses by name what ranks would do wrong.
///
/// # Errors
/// A plan for one process.
pub fn refuse(plan: &Plan) -> Result<(), Error> {
    let Some(what) = refused(plan) else { return Ok(()) };
    let (version, program) = (env!("CARGO_PKG_VERSION"), plan.program);
    let message = format!(
        "FleetBLAST {version} does not run {program} with {what} on ranks yet (MPI, -ranks, -plan, -checkpoint); run it in one process"
    );
    Err(Error::new(exit::INPUT, message))
}

fn refused(plan: &Plan) -> Option<String> {
    if plan.metadata.is_some() {
        return Some("-metadata_out".to_owned());
    }
    // All of its header comes before the first line of any query.
    if plan.report.format == Format::Sam {
        return Some("-outfmt 17".to_owned());
    }
    let Params::Nucleotide(params) = &plan.params else { return None };
    if !plan.batch_size.is_adaptive() {
        return None;
    }
    if params.off_diagonal_range > 0 {
        // Two hits beside each other may lie in two queries, and need not be worth anything.
        return Some("-off_diagonal_range".to_owned());
    }
    // Each of several copies of a segment counts.
    if params.common.ungapped {
        return Some("-ungapped".to_owned());
    }
    // Blocks are handed out one by one.
    match plan.fleet.config.schedule {
        Schedule::Dynamic if plan.fleet.wishes.segment_residues.is_some() => {
            Some("-segment_size".to_owned())
        }
        Schedule::Dynamic => None,
        Schedule::Length => Some("-schedule length".to_owned()),
        Schedule::Weight => Some("-schedule weight".to_owned()),
    }
}
